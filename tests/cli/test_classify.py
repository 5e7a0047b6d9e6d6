"""`unveil classify` from a table to a folder: files, refusals, stopping, going on."""

import contextlib

import numpy as np
import pytest

from unveil import Table, datasets, load
from unveil.cli import main

FILES = ["model.json", "predictions.csv", "report.html", "state.json"]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "asia.csv"
    rows = datasets.network("asia").sample(250, seed=1)
    rows.knock_out(0.03, seed=1).write(path)
    return path


@pytest.fixture
def run(capsys):
    def run(*words):
        code = main([str(word) for word in words])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return code, out, err

    return run


def test_a_folder_with_everything(run, data, tmp_path):
    out = tmp_path / "out"
    code, said, _ = run("classify", data, "--class", "dysp", "-o", out, "--seed", 1, "--folds", 3)
    assert code == 0
    assert "accuracy" in said
    assert "default" in said
    assert sorted(p.name for p in out.iterdir()) == FILES
    network = load(out / "model.json")
    assert "dysp" in network.names
    predicted = Table.read(out / "predictions.csv")
    assert predicted.n_rows == 250
    assert {"predicted dysp", "P(dysp=yes)", "P(dysp=no)"} <= set(predicted.names)
    shares = predicted.column("P(dysp=yes)") + predicted.column("P(dysp=no)")
    np.testing.assert_allclose(shares.astype(float), 1.0)
    page = (out / "report.html").read_text()
    for words in ("How well it predicts", "What tells the class", "Why: some rows", "was tried"):
        assert words in page
    assert "http" not in page.replace("http://www.w3.org", "")
    code, said, told = run("classify", data, "--class", "dysp", "-o", out, "--folds", 3)
    assert code == 0
    assert "going on from the run" in told


def test_new_rows_are_predicted(run, data, tmp_path):
    new = tmp_path / "new.csv"
    new.write_text("bronc,either,note\nyes,no,hello\nno,no,\nodd,no,there\n")
    out = tmp_path / "out"
    words = ("--model", "naive", "--parameters", "generative", "--predict", new, "-o", out)
    code, _, told = run("classify", data, "--class", "dysp", *words)
    assert code == 0
    assert "'odd'" in told
    assert Table.read(out / "predictions.csv").labels("predicted dysp")[:2] == ["yes", "no"]


def test_bad_input_is_answered_with_a_sentence(run, data, tmp_path):
    for words, sentence in (
        (("--class", "dispnoea"), "no column 'dispnoea'"),
        (("--class", "dysp", "--model", "tann"), "Did you mean 'tan'?"),
        (("--class", "dysp", "--model", "network", "--parameters", "discriminative"), "are for"),
        (("--class", "dysp", "--drop", "dysp"), "no column 'dysp'"),
    ):
        code, _, told = run("classify", data, "-o", tmp_path / "out", *words)
        assert code == 1, words
        assert sentence in told
    one = tmp_path / "one.csv"
    one.write_text("a,y\n1,x\n2,x\n")
    code, _, told = run("classify", one, "--class", "y", "-o", tmp_path / "out")
    assert code == 1
    assert "one class only" in told


def test_stopped_and_taken_up_again(run, data, tmp_path, monkeypatch):
    @contextlib.contextmanager
    def stopping(unit=""):
        yield lambda step: not step.phase.startswith("tree-augmented")

    out = tmp_path / "out"
    words = ("classify", data, "--class", "dysp", "-o", out, "--seed", 1, "--folds", 3)
    with monkeypatch.context() as patch:
        patch.setattr("unveil.cli.classify.live_progress", stopping)
        code, _, told = run(*words)
    assert code == 0
    assert "stopped early (asked to stop)" in told
    assert "Stopped early" in (out / "report.html").read_text()
    code, _, told = run(*words)
    assert code == 0
    assert "going on from the run" in told
    assert "stopped early" not in told
