"""`unveil fit` and `unveil cluster`, as a user would call them."""

import json
import math

import numpy as np
import pytest

from unveil import Network, Table, datasets
from unveil.cli.app import app, main
from unveil.cli.cluster import _numbers, cluster
from unveil.cli.fit import fit
from unveil.errors import DataError
from unveil.evaluate import usual_bic

for command in (fit, cluster):
    if command.__name__ not in {c.name or c.callback.__name__ for c in app.registered_commands}:
        app.command()(command)


@pytest.fixture
def asia_rows(tmp_path):
    path = tmp_path / "asia.csv"
    datasets.network("asia").sample(400, seed=1).write(path)
    return path


def test_complete_table_is_counted(asia_rows, tmp_path, capsys):
    out = tmp_path / "fitted.json"
    assert (
        main(["fit", "--structure", "asia", str(asia_rows), "-o", str(out), "--maximum-likelihood"])
        == 0
    )
    said = capsys.readouterr().out
    assert "complete table, counted (maximum likelihood)" in said
    table = Table.read(asia_rows)
    fitted = Network.load(out)
    assert f"log-likelihood: {fitted.log_likelihood(table):,.4f} nats" in said
    assert fitted.cpd("smoke").values[0] == pytest.approx(
        np.mean([x == "yes" for x in table.labels("smoke")])
    )


def test_gaps_and_hidden_variables_go_through_em(asia_rows, tmp_path, capsys):
    holes = tmp_path / "holes.csv"
    Table.read(asia_rows).without("either").knock_out(0.1, seed=2).write(holes)
    out = tmp_path / "fitted.json"
    words = [
        "fit",
        "--structure",
        "asia",
        str(holes),
        "-o",
        str(out),
        "--n-starts",
        "2",
        "--seed",
        "3",
    ]
    assert main(words) == 0
    said = capsys.readouterr().out
    assert "7 of 8 variables" in said
    assert "EM (posterior mean, equivalent sample size 1)" in said
    assert "seed 3" in said
    assert math.isfinite(Network.load(out).log_likelihood(Table.read(holes)))


def test_a_table_without_the_variables_is_refused(tmp_path, capsys):
    other = tmp_path / "other.csv"
    other.write_text("a,b\n1,2\n2,1\n")
    assert main(["fit", "--structure", "asia", str(other)]) == 1
    assert "none of the structure's variables" in capsys.readouterr().err


def test_cluster_prints_the_choice_and_writes_files(tmp_path, capsys):
    generator = np.random.default_rng(1)
    side = generator.random(600) < 0.6
    flips = generator.random((5, 600)) < 0.1
    columns = {f"q{i}": np.where(side ^ flip, "yes", "no") for i, flip in enumerate(flips)}
    data, model, classes = tmp_path / "d.csv", tmp_path / "m.json", tmp_path / "c.csv"
    Table.from_frame(columns).write(data)
    words = ["cluster", str(data), "--n-classes", "1..3", "--n-starts", "4", "--seed", "1",
             "-o", str(model), "--assignments", str(classes)]  # fmt: skip
    assert main(words) == 0
    said = capsys.readouterr().out
    assert "2 classes chosen by bic (seed 1)" in said
    assert "2 *" in said
    assert "class = 1, " in said
    assert "q0 = yes: " in said
    assigned = Table.read(classes)
    assert assigned.names == (*columns, "class", "P(class)")
    agree = np.mean((np.array(assigned.labels("class")) == 1) == side)
    assert agree > 0.95
    assert Network.load(model).hidden == ("class",)
    # BIC on the usual scale stands beside ours.
    assert "usual BIC" in said
    (chosen,) = [line.split() for line in said.splitlines() if line.startswith("2 *")]
    ours, theirs = (float(x.replace(",", "")) for x in chosen[4:6])
    assert theirs == pytest.approx(-2 * ours, abs=0.02)
    assert theirs == pytest.approx(usual_bic(Network.load(model), Table.read(data)), abs=0.01)


def test_numbers_of_classes():
    assert _numbers("4") == [4]
    assert _numbers("2..4") == [2, 3, 4]
    assert _numbers("1,3..5") == [1, 3, 4, 5]
    for words in ("", "x", "0..2", "5..2"):
        with pytest.raises(DataError, match=r"a range like 2\.\.10"):
            _numbers(words)


@pytest.mark.parametrize("command", ["fit", "cluster"])
def test_commands_have_help(command, capsys):
    assert main([command, "--help"]) == 0
    assert "Usage" in capsys.readouterr().out


@pytest.fixture
def answers(tmp_path):
    generator = np.random.default_rng(1)
    side = generator.random(300) < 0.6
    flips = generator.random((4, 300)) < 0.1
    columns = {f"q{i}": np.where(side ^ flip, "yes", "no") for i, flip in enumerate(flips)}
    path = tmp_path / "answers.csv"
    Table.from_frame(columns).write(path)
    return path


def test_cluster_says_how_well_classes_fit(answers, tmp_path, capsys):
    summary = tmp_path / "s.json"
    words = ["cluster", str(answers), "--n-classes", "1,2", "--n-starts", "2", "--seed", "1",
             "--bootstrap", "3", "--summary", str(summary)]  # fmt: skip
    assert main(words) == 0
    said = capsys.readouterr().out
    figures = json.loads(summary.read_text(encoding="utf-8"))
    best = figures["mixtures"][1]
    assert f"G2 {best['goodness']['g2']:.2f} (p = " in said
    assert "6 degrees of freedom" in said
    assert f"relative entropy {best['certainty']['relative_entropy']:.3f}" in said
    assert "bootstrap test: 2 classes against 1" in said
    assert "p = 0.250 from 3 samples" in said
    errors = figures["standard_errors"]
    assert f"{best['shares'][0]:.3f} ({errors['shares'][0]:.3f})" in said
    for error in errors["columns"]["q0"]:
        assert f" ({error[1]:.3f})" in said
    assert "residual" in said


def test_cluster_names_the_variable_and_its_classes(answers, tmp_path, capsys):
    model = tmp_path / "m.json"
    words = ["cluster", str(answers), "--n-starts", "2", "--seed", "1", "-o", str(model)]
    assert main([*words, "--name", "mood", "--state-names", "good,bad"]) == 0
    assert "mood = good, " in capsys.readouterr().out
    assert Network.load(model).variable("mood").labels == ("good", "bad")
    assert main([*words, "--name", "class=mood", "--state-names", "mood=good,bad"]) == 0
    assert "mood = bad, " in capsys.readouterr().out
    assert main([*words, "--state-names", "a,b,c", "--n-classes", "2,3"]) == 0
    assert "are names for 3 classes, and 2 were chosen" in capsys.readouterr().err
    assert main([*words, "--state-names", "a,b,c", "--n-classes", "2"]) == 1
    assert "3 names of classes were given" in capsys.readouterr().err
    assert main([*words, "--name", "mood=good,bad"]) == 1
    assert "the names of its classes go into --state-names low,high" in capsys.readouterr().err
    assert main([*words, "--state-names", "good,"]) == 1
    assert "a name for every state" in capsys.readouterr().err


def test_convert_names_variables_and_states(answers, tmp_path, capsys):
    target = tmp_path / "named.json"
    words = ["convert", "asia", str(target)]
    assert main([*words, "--name", "either=shadow", "--state-names", "shadow=seen,unseen",
                 "--state-names", "smoke=yes!,no!"]) == 0  # fmt: skip
    named = Network.load(target)
    assert named.variable("shadow").labels == ("seen", "unseen")
    assert named.variable("smoke").labels == ("yes!", "no!")
    assert main([*words, "--name", "either=shadow", "--state-names", "either=seen,unseen"]) == 0
    assert Network.load(target) == named.relabelled({"smoke": ["yes", "no"]})
    capsys.readouterr()
    for wrong, why in (
        (["--name", "either"], "give it as --name H1=severity"),
        (["--name", "H7=shadow"], "H7"),
        (["--state-names", "either=a,b,c"], "has 2 states; 3 names were given"),
    ):
        assert main([*words, *wrong]) == 1
        assert why in capsys.readouterr().err
    assert main(["convert", str(answers), str(tmp_path / "t.csv"), "--name", "q0=q"]) == 1
    assert "is a table; --name and --state-names are for the variables" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["learn"],
        ["fit", "--structure", "asia", "--n-starts", "1", "--accelerate"],
        ["cluster", "--n-classes", "2", "--n-starts", "1"],
    ],
)
def test_weights_can_be_annealed(tmp_path, capsys, words):
    file = tmp_path / "holes.csv"
    datasets.network("asia").sample(60, seed=1).knock_out(0.1, seed=1).write(file)
    command = [words[0], str(file), *words[1:], "--seed", "1", "--anneal"]
    assert main([*command, "random"]) == 0
    said = capsys.readouterr().out
    told = {"cluster": "weights annealed (random)"}.get(words[0], "weight annealing (random)")
    assert told in said
    assert main([*command, "hot"]) == 1
    assert "annealed by adversary or random, not 'hot'" in capsys.readouterr().err


def test_complete_rows_are_not_annealed(tmp_path, capsys):
    file = tmp_path / "whole.csv"
    datasets.network("asia").sample(40, seed=1).write(file)
    assert main(["fit", str(file), "--structure", "asia", "--anneal", "random"]) == 0
    assert "nothing to anneal" in capsys.readouterr().err
