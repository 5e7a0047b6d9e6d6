"""Hidden variables and their states are called as people say, everywhere in what is found."""

import json

import numpy as np
import pytest

from unveil import Settings, Table, discover, load
from unveil.cli import main
from unveil.errors import DataError, UnveilWarning

QUICK = Settings(max_hidden=1, max_candidates=2, max_adapted=1, max_polished=1, restarts=0)


def answers(n=500):
    """Four answers that one thing of two states is behind."""
    generator = np.random.default_rng(3)
    ill = generator.integers(2, size=n)
    copied = generator.random((4, n)) < 0.85
    columns = {name: np.where(copied[i], ill, 1 - ill) for i, name in enumerate("abcd")}
    return Table.from_frame({**columns, "ill": np.where(ill == 1, "yes", "no").tolist()})


@pytest.fixture(scope="module")
def report():
    return discover(
        answers(), settings=QUICK, compare=["ill"], seed=1, resamples=0, straw_men=False, n_jobs=1
    )


@pytest.fixture(scope="module")
def named(report):
    return report.named({"H1": "severity"}, {"severity": ["low", "high"]})


def test_the_new_name_is_everywhere_and_the_old_one_nowhere(report, named):
    assert report.hidden == ("H1",)
    assert named.hidden == ("severity",)
    assert named.network.variable("severity").labels == ("low", "high")
    assert list(named.evidence) == list(named.meaning) == ["severity"]
    assert [p.state for p in named.meaning["severity"].profiles] == ["low", "high"]
    assert named.posteriors().names[-3:] == ("severity", "P(severity=low)", "P(severity=high)")
    assert named.agreements[0].name == "severity"
    assert named.agreements[0].states == ("low", "high")
    assert "H1" not in named.summary
    assert "severity" in named.summary
    kept = named.discovery.rounds[0].kept
    assert kept.name == "severity"
    assert any(c is kept for c in named.discovery.rounds[0].candidates)


def test_names_change_no_number(report, named):
    rows = report.table
    assert named.network.log_likelihood(rows) == report.network.log_likelihood(rows)
    assert named.discovery.score == report.discovery.score
    old, new = report.posteriors(), named.posteriors()
    assert np.array_equal(old.column("P(H1=0)"), new.column("P(severity=low)"))


def test_the_page_says_the_new_name(named, tmp_path):
    named.save(tmp_path)
    page = (tmp_path / "report.html").read_text()
    assert "severity: is it warranted?" in page
    assert "H1:" not in page
    assert load(tmp_path / "model.json").hidden == ("severity",)


def test_names_can_be_given_at_once(report):
    found = discover(
        answers(), settings=QUICK, compare=["ill"], seed=1, resamples=0, straw_men=False, n_jobs=1,
        name={"H1": "severity"}, state_names={"H1": ["low", "high"]},
    )  # fmt: skip
    assert found.network == report.named({"H1": "severity"}, {"H1": ["low", "high"]}).network


def test_a_name_that_is_taken_is_refused_before_the_work():
    with pytest.raises(DataError, match="has a column 'a'"):
        discover(answers(), name={"H1": "a"}, time_limit=0)
    with pytest.raises(DataError, match="both be called 'x'"):
        discover(answers(), name={"H1": "x", "H2": "x"}, time_limit=0)
    with pytest.raises(DataError, match="names that differ"):
        discover(answers(), state_names={"H1": ["x", "x"]}, time_limit=0)


def test_names_for_what_was_not_found_are_told_of_and_lose_nothing(report):
    with pytest.warns(UnveilWarning, match="no hidden variable H2 was found"):
        assert report.named({"H2": "x"}) is report
    with pytest.warns(UnveilWarning, match="has 2 states, and 3 names"):
        assert report.named({"H1": "x"}, {"x": ["a", "b", "c"]}).hidden == ("x",)


def test_the_command_names_and_can_be_taken_up_again(tmp_path, capsys):
    data, out = tmp_path / "answers.csv", tmp_path / "out"
    answers(1500).without("ill").write(data)
    words = ["discover", str(data), "-o", str(out), "--seed", "1", "--resamples", "0",
             "--no-straw-men", "--n-jobs", "1", "--max-hidden", "1",
             "--max-luck", "0.4"]  # fmt: skip
    assert main([*words, "--name", "H1=severity", "--state-names", "severity=low,high"]) == 0
    assert "severity: 2 states" in capsys.readouterr().out
    assert load(out / "model.json").variable("severity").labels == ("low", "high")
    kept = json.loads((out / "state.json").read_text())["rounds"]
    assert "H1" in json.dumps(kept)
    assert "severity" not in json.dumps(kept)
    assert main([*words, "--name", "severity"]) == 1
    assert "--name H1=severity" in capsys.readouterr().err
