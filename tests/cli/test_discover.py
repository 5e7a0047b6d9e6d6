"""`unveil discover` from a table to a folder, interrupted and resumed; and the demo."""

import contextlib
import errno
import json
import re
from pathlib import Path

import pytest

from unveil import Network, Table, TableCPD, Variable, datasets, load
from unveil.cli import main

QUICK = ["--max-hidden", "1", "--seed", "1", "--resamples", "1", "--no-straw-men", "--n-jobs", "1",
         "--max-luck", "0.4"]  # fmt: skip
FILES = ["baseline.json", "log.jsonl", "model.json", "posteriors.csv", "report.html", "state.json"]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Five answers that one thing behind them explains."""
    hidden = Variable("h", ["a", "b"])
    answers = [
        TableCPD(Variable(f"x{i}", ["no", "yes"]), [hidden], [[0.9, 0.1], [0.15, 0.85]])
        for i in range(5)
    ]
    network = Network([TableCPD(hidden, [], [0.5, 0.5]), *answers])
    path = tmp_path_factory.mktemp("data") / "answers.csv"
    network.sample(600, seed=1).without("h").write(path)
    return path


@pytest.fixture
def run(capsys):
    def run(*words):
        code = main([str(word) for word in words])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return code, out, err

    return run


def stop_when(monkeypatch, phase):
    """As if someone pressed Ctrl-C when the work comes to this phase."""

    @contextlib.contextmanager
    def stopping(unit=""):
        yield lambda step: not step.phase.startswith(phase)

    monkeypatch.setattr("unveil.cli.discover.live_progress", stopping)


def phases(folder):
    return [json.loads(line)["phase"] for line in (folder / "log.jsonl").read_text().splitlines()]


def sections(folder):
    return re.findall(r"<h2[^>]*>(.*?)</h2>", (folder / "report.html").read_text())


def test_from_a_table_to_a_report(run, data, tmp_path):
    folder = tmp_path / "new" / "out"
    code, out, err = run("discover", data, "-o", folder, *QUICK)
    assert (code, err) == (0, "")
    assert out.startswith("H1: 2 states, parent of x0, x1")
    assert "with H1 than without" in out
    assert out.endswith(f"the report is {folder / 'report.html'}\n")
    assert sorted(p.name for p in folder.iterdir()) == FILES
    page = (folder / "report.html").read_text()
    assert page.lstrip().lower().startswith("<!doctype html>")
    assert "answers.csv" in page
    assert "H1" in page
    network = load(folder / "model.json")
    assert network.hidden == ("H1",)
    # Joined to every answer, in whatever direction: a star is one class whoever its root is.
    assert {frozenset(arc) for arc in network.dag.arcs} == {
        frozenset(["H1", f"x{i}"]) for i in range(5)
    }
    assert load(folder / "baseline.json").hidden == ()
    posteriors = Table.read(folder / "posteriors.csv")
    assert posteriors.n_rows == 600
    assert {"H1", "P(H1=0)", "P(H1=1)"} < set(posteriors.names)
    total = posteriors.column("P(H1=0)") + posteriors.column("P(H1=1)")
    assert total == pytest.approx(1, abs=1e-9)
    expected = network.posterior(Table.read(data), of="H1")["H1"]
    assert posteriors.column("P(H1=1)") == pytest.approx(expected[:, 1], abs=1e-9)
    assert phases(folder)[0] == "learning a network of what was observed"
    assert json.loads((folder / "state.json").read_text())["finished"] is True
    # Finished: a second run starts afresh, and by its seed finds the same.
    again_code, again, again_err = run("discover", data, "-o", folder, *QUICK)
    assert (again_code, again_err) == (0, "")
    assert again == out


def test_an_interrupted_run_goes_on_where_it_stopped(run, data, tmp_path, monkeypatch):
    words = ["discover", data, "-o", tmp_path, *QUICK, "--max-hidden", "2"]
    with monkeypatch.context() as patch:
        stop_when(patch, "round 2")
        code, _, err = run(*words)
    assert code == 0
    assert err == "note: stopped early (asked to stop); run again to go on from here\n"
    assert load(tmp_path / "model.json").hidden == ("H1",)
    assert sorted(p.name for p in tmp_path.iterdir()) == FILES
    known = len(phases(tmp_path))
    code, out, err = run(*words)
    assert code == 0
    assert err == f"note: going on from the run in {tmp_path} (use --no-resume to start afresh)\n"
    assert "H1" in load(tmp_path / "model.json").hidden
    assert "learning a network of what was observed" not in phases(tmp_path)[known:]
    assert json.loads((tmp_path / "state.json").read_text())["finished"] is True
    # What was found before the interruption is reported like everything else.
    assert "with H1 than without" in out
    page = sections(tmp_path)
    for words in ("is it warranted?", "what does it mean?", "how many states?"):
        assert f"H1: {words}" in page


def test_what_a_round_found_outlives_the_program(run, data, tmp_path, monkeypatch):
    """Killed in the second round, the folder knows of the first."""
    words = ["discover", data, "-o", tmp_path, *QUICK, "--max-hidden", "2"]

    @contextlib.contextmanager
    def dying(unit=""):
        def listener(step):
            if step.phase.startswith("round 2"):
                raise KeyboardInterrupt
            return True

        yield listener

    with monkeypatch.context() as patch:
        patch.setattr("unveil.cli.discover.live_progress", dying)
        assert run(*words)[0] == 130
    assert not (tmp_path / "report.html").exists()
    code, out, err = run(*words)
    assert code == 0
    assert "going on from the run" in err
    assert out.startswith("H1: 2 states")


@pytest.mark.parametrize(
    "change", [["--equivalent-sample-size", "2"], ["--no-resume"], ["--drop", "x4"]]
)
def test_another_question_starts_afresh(run, data, tmp_path, monkeypatch, change):
    words = ["discover", data, "-o", tmp_path, *QUICK, "--max-hidden", "2"]
    with monkeypatch.context() as patch:
        stop_when(patch, "round 2")
        run(*words)
    before = (tmp_path / "state.json").read_text()
    _, _, err = run(*words, "--time-limit", "0")
    assert "going on" in err
    (tmp_path / "state.json").write_text(before)
    _, _, err = run(*words, *change, "--time-limit", "0")
    assert "going on" not in err
    assert phases(tmp_path) == ["learning a network of what was observed", "round 1"]


def test_stopped_before_the_first_round_nothing_half_done_is_kept(run, data, tmp_path):
    """A network without hidden variables that was cut short would flatter the hidden ones."""
    fresh = run("discover", data, "-o", tmp_path / "fresh", *QUICK)[1]
    code, _, err = run("discover", data, "-o", tmp_path / "cut", *QUICK, "--time-limit", "0")
    assert code == 0
    assert "note: stopped early (time limit)" in err
    assert (tmp_path / "cut" / "report.html").exists()
    resumed = run("discover", data, "-o", tmp_path / "cut", *QUICK)[1]
    assert resumed.splitlines()[:3] == fresh.splitlines()[:3]


@pytest.mark.parametrize("memory", ["{ half of", "[]", "7", "{}", '{"fingerprint": 1}'])
def test_a_broken_memory_is_forgotten(run, data, tmp_path, memory):
    (tmp_path / "state.json").write_text(memory)
    code, _, err = run("discover", data, "-o", tmp_path, *QUICK, "--time-limit", "0")
    assert code == 0
    if memory != '{"fingerprint": 1}':
        assert f"note: {tmp_path / 'state.json'} cannot be read; starting afresh\n" in err


def test_nothing_hidden(run, tmp_path):
    (tmp_path / "t.csv").write_text("a,b,c\n" + "x,p,1\ny,q,0\nx,q,0\ny,p,1\n" * 20)
    code, out, _ = run("discover", tmp_path / "t.csv", "-o", tmp_path / "o", *QUICK)
    assert code == 0
    assert "No hidden variable is warranted" in out
    assert (tmp_path / "o" / "report.html").exists()


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["--adapt", "magic"], 1, "adapt is one of em, blanket, full, not 'magic'"),
        (["--ess=0"], 1, "must be a positive number, got 0.0"),
        (["--max-hidden", "0"], 2, "'--max-hidden'"),
        (["--n-states", "1"], 2, "'--n-states'"),
        (["--weights", "nope"], 1, "there is no column 'nope'"),
    ],
)
def test_refusals(run, data, tmp_path, words, code, sentence):
    got, _, err = run("discover", data, "-o", tmp_path / "o", *QUICK, *words)
    assert got == code
    assert sentence in err
    assert not (tmp_path / "o" / "report.html").exists()


def test_the_demo_discovers_the_college_plans(run, tmp_path, monkeypatch):
    """The real call is long; here it is only seen that the demo asks for the right thing."""
    asked = {}
    monkeypatch.setattr("unveil.cli.discover.discover", lambda **words: asked.update(words))
    code, out, _ = run("demo", "-o", tmp_path)
    assert code == 0
    assert Table.read(asked["data"], weights=asked["weights"]).total_weight == 10_318
    assert (asked["output"], asked["seed"]) == (tmp_path, 1)
    assert (asked["no_parents"], asked["no_children"]) == (["SEX,SES"], ["CP"])
    first, *_ = out.splitlines()
    assert first.startswith(f"$ unveil discover {asked['data']} --weights weight ")
    # The same options as in the README: what one finds, the other finds too.
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    options = first.split("--weights weight ")[1].split(" -o ")[0]
    assert f"unveil discover plans.csv --weights weight {options} --output found\n" in readme


def test_rows_keep_their_names(run, data, tmp_path):
    table = Table.read(data)
    answers = ["no" if x == "no" else "yes" for x in table.labels("x0")]
    numbers = [100.25 + 3 * i for i in range(600)]
    rows = {"who": [f"p{i}" for i in range(600)], **{n: table.labels(n) for n in table.names}}
    rows |= {"age": numbers, "remark": ["a", "b"] * 300, "same": answers}
    Table.from_frame(rows).write(tmp_path / "rows.csv")
    code, out, _ = run(
        "discover", tmp_path / "rows.csv", "-o", tmp_path / "o", *QUICK, "--id", "who",
        "--drop", "remark", "--compare", "same", "--discretize", "equal_frequency",
        "--adapt", "blanket", "--n-states", "2",
    )  # fmt: skip
    assert code == 0
    assert "H1 beside same: guessing same from H1 is right in " in out
    written = Table.read(tmp_path / "o" / "posteriors.csv")
    assert written.names[0] == "who"
    assert {"remark", "same", "age", "age (number)"} < set(written.names)
    assert written.labels("age (number)") == numbers
    assert written.labels("who") == rows["who"]
    assert not {"who", "remark", "same"} & set(load(tmp_path / "o" / "model.json").names)
    assert "H1 beside same" in (tmp_path / "o" / "report.html").read_text()


def test_going_on_keeps_the_seed(run, data, tmp_path, monkeypatch):
    unseeded = ["--max-hidden", "2", "--resamples", "1", "--no-straw-men", "--n-jobs", "1"]
    words = ["discover", data, "-o", tmp_path, *unseeded]
    with monkeypatch.context() as patch:
        stop_when(patch, "round 2")
        run(*words)
    state = json.loads((tmp_path / "state.json").read_text())
    (tmp_path / "state.json").write_text(json.dumps(state))
    assert "going on" not in run(*words, "--seed", state["seed"] + 1, "--time-limit", "0")[2]
    (tmp_path / "state.json").write_text(json.dumps(state))
    assert "going on" in run(*words)[2]
    assert json.loads((tmp_path / "state.json").read_text())["seed"] == state["seed"]


def test_stopped_during_the_evidence_the_work_is_not_finished(run, data, tmp_path, monkeypatch):
    words = ["discover", data, "-o", tmp_path, *QUICK]
    with monkeypatch.context() as patch:
        stop_when(patch, "evidence")
        _, out, err = run(*words)
    assert "stopped early (asked to stop)" in err
    assert out.startswith("H1: 2 states")
    assert json.loads((tmp_path / "state.json").read_text())["finished"] is False


def test_results_that_could_not_be_written_are_not_lost(run, data, tmp_path, monkeypatch):
    """The disk is full when the rows are written: what was found is had again without the work."""
    words = ["discover", data, "-o", tmp_path, *QUICK]
    with monkeypatch.context() as patch:

        def full(*_, **__):
            raise OSError(errno.ENOSPC, "No space left on device", "posteriors.csv")

        patch.setattr("unveil.report.discover_folder.discover_page", full)
        code, _, err = run(*words)
    assert code == 1
    assert "No space left on device" in err
    state = json.loads((tmp_path / "state.json").read_text())
    assert state["finished"] is False
    assert len(state["rounds"]) == 1
    done = len(phases(tmp_path))
    code, out, err = run(*words)
    assert code == 0
    assert "going on from the run" in err
    assert out.startswith("H1: 2 states")
    assert "round 1" not in " ".join(phases(tmp_path)[done:])
    assert (tmp_path / "report.html").exists()


def test_discover_with_annealed_weights(tmp_path, capsys):
    file = tmp_path / "plans.csv"
    datasets.network("asia").sample(80, seed=1).knock_out(0.05, seed=1).write(file)
    words = ["discover", str(file), "-o", str(tmp_path / "out"), "--max-hidden", "1", "--seed", "1"]
    words += ["--resamples", "0", "--no-straw-men", "--n-jobs", "1", "--time-limit", "3"]
    assert main([*words, "--anneal", "random"]) == 0
    assert main([*words, "--anneal", "hot"]) == 1
    assert "not 'hot'" in capsys.readouterr().err
