"""`unveil trees`, as a user would call it."""

import json
import re

import numpy as np
import pytest
from trees.cases import GROUPS, rows, two_groups

from unveil import Network
from unveil.cli.app import main


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "rows.csv"
    rows().write(path)
    return path


def test_a_hidden_tree_that_can_be_asked(table, tmp_path, capsys):
    out, kept, all_of_it = (tmp_path / n for n in ("m.json", "kept.csv", "all.json"))
    two_groups().sample(60, seed=5).without(["top", "a", "b"]).write(kept)
    words = ["trees", str(table), "--n-states", "2", "--seed", "1", "-o", str(out)]
    assert main([*words, "--validation", str(kept), "--summary", str(all_of_it)]) == 0
    said = capsys.readouterr().out
    assert "hidden Chow-Liu tree: 6 hidden variables" in said
    assert "a row of validation" in said
    network = Network.load(out)
    assert {v.name for v in network.variables if v.hidden} == {f"H_{n}" for n in rows().names}
    assert json.loads(all_of_it.read_text())["model"] == "hidden Chow-Liu tree"
    assert main(["query", str(out), "--given", "a0=1", "--of", "H_a1"]) == 0


def test_a_hierarchy_from_a_file(table, tmp_path, capsys):
    groups = tmp_path / "groups.json"
    groups.write_text(json.dumps(GROUPS))
    words = ["trees", str(table), "--model", "hierarchy", "--seed", "1", "--validation", "0.2"]
    assert main([*words, "--groups", str(groups), "--n-states", "3"]) == 0
    said = capsys.readouterr().out
    assert "\n  a (3 states)\n    a0\n" in said
    assert main([*words, "--groups", "quadrants:2x3x3", "--max-iterations", "1"]) == 0
    told = capsys.readouterr()
    assert "root (4 states)\n  H1 (4 states)\n    a0\n    a1\n" in told.out
    assert "allow it more with --max-iterations" in told.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--model", "hidden-chow"], "choose one of .* Did you mean 'hidden-chow-liu'"),
        (["--model", "hierarchy"], "a hierarchy needs --groups"),
        (["--groups", "[]"], "--groups are for --model hierarchy"),
        (["--model", "hierarchy", "--groups", '[["a0", "zz"]]'], "names the column 'zz'"),
        (["--model", "hierarchy", "--groups", '[["a0"], ["a0"]]'], "every column is in one group"),
        (["--n-states", "1"], "take at least 2"),
        (["--n-states", "999"], "more than there are rows"),
        (["--model", "mixture-of-trees", "--n-trees", "0"], "a whole number, got 0"),
        (["--validation", "2"], "between 0 and 1"),
        (["--validation", "none.csv"], "none.csv"),
    ],
)
def test_mistakes_get_a_sentence(table, capsys, words, said):
    assert main(["trees", str(table), *words]) == 1
    assert re.search(said, capsys.readouterr().err)


def test_the_limit_of_time_gives_the_best_so_far(table, capsys):
    assert main(["trees", str(table), "--time-limit", "0", "--seed", "1"]) == 0
    assert "(time limit)" in capsys.readouterr().out


def test_gaps_and_continuous_columns(tmp_path, capsys):
    path = tmp_path / "mixed.csv"
    generator = np.random.default_rng(1)
    lines = ["a,b,c"] + [f"{'x' if u < 0.5 else ''},{'y' if u < 0.3 else 'n'},{u:.4f}"
                         for u in generator.random(80)]  # fmt: skip
    path.write_text("\n".join([*lines, "z,y,0.5"]))
    assert main(["trees", str(path), "--discretize", "equal_width", "--seed", "1",
                 "--n-states", "2", "--model", "naive-bayes"]) == 0  # fmt: skip
    assert "class (2 states)" in capsys.readouterr().out
    assert main(["trees", str(path)]) == 1
    assert "--discretize" in capsys.readouterr().err
