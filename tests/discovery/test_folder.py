"""`RunFolder`: a discovery that a folder remembers (the command line's tests go on from one)."""

import errno
import json
import os
import re
import warnings

import pytest

from unveil import DAG, datasets
from unveil.discovery import RunFolder, Settings, folder, phases
from unveil.discovery.folder import RESULTS, fingerprint
from unveil.discovery.memory import rounds_from_json
from unveil.errors import DataError, FormatError, UnveilWarning
from unveil.formats import dumps
from unveil.model import fit
from unveil.report import write_discovery

PLANS = datasets.table("college_plans")


def test_what_was_stopped_can_go_on_with_its_seed(tmp_path):
    first = RunFolder(tmp_path / "new", PLANS)
    report = first.discover(time_limit=0)
    first.close(report)
    state = json.loads((tmp_path / "new" / "state.json").read_text())
    assert (state["finished"], state["seed"], state["rounds"]) == (False, first.seed, [])
    assert RunFolder(tmp_path / "new", PLANS).seed == first.seed
    assert RunFolder(tmp_path / "new", PLANS, seed=first.seed + 1).seed == first.seed + 1


def test_every_step_is_logged_and_told(tmp_path):
    steps = []
    RunFolder(tmp_path, PLANS, seed=1).discover(progress=steps.append, time_limit=0)
    lines = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert [line["phase"] for line in lines] == [step.phase for step in steps]


def test_another_table_or_setting_is_another_question():
    one = fingerprint(PLANS, Settings())
    others = [
        fingerprint(PLANS.without("SEX"), Settings()),
        fingerprint(PLANS.with_weights(PLANS.row_weights * 2), Settings()),
        fingerprint(PLANS, Settings(max_hidden=1)),
    ]
    assert fingerprint(datasets.table("college_plans"), Settings()) == one
    assert len({one, *others}) == 4


def test_a_damaged_memory_is_warned_of(tmp_path):
    (tmp_path / "state.json").write_text("{ half of")
    with pytest.warns(UnveilWarning, match="cannot be read; starting afresh"):
        assert RunFolder(tmp_path, PLANS).earlier == ()
    assert RunFolder(tmp_path, PLANS, resume=False).earlier == ()


@pytest.mark.parametrize("content", ["[]", "7", "[" * 100_000, '{"name": "package"}', "\0"])
def test_a_memory_that_is_not_ours_is_warned_of(tmp_path, content):
    (tmp_path / "state.json").write_text(content)
    with pytest.warns(UnveilWarning, match="cannot be read; starting afresh"):
        assert RunFolder(tmp_path, PLANS).earlier == ()


def test_a_folder_in_place_of_the_memory_is_warned_of(tmp_path):
    (tmp_path / "state.json").mkdir()
    with pytest.warns(UnveilWarning, match="cannot be read; starting afresh"):
        RunFolder(tmp_path, PLANS)


def test_rounds_about_other_columns_are_refused():
    network = dumps(fit(DAG(["SEX"]), PLANS.select(["SEX"])), "json")
    record = {"before": network, "score_before": 0.0, "candidates": [], "kept": None}
    with pytest.raises(FormatError, match="not about the columns of the table"):
        rounds_from_json([record], PLANS, 1)


# Within a round ----------------------------------------------------------------------------------

QUICK = Settings(max_hidden=1, max_candidates=4, max_adapted=2, max_polished=2, restarts=3)
CALL = {"evidence": False, "straw_men": False, "n_jobs": 1}
ROWS = datasets.network("asia").sample(300, seed=1)


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """The files of a run that nobody interrupted."""
    path = tmp_path_factory.mktemp("fresh")
    with pytest.MonkeyPatch.context() as patch:
        worked = items_worked_on(patch)
        first = RunFolder(path, ROWS, QUICK, seed=1)
        report = first.discover(**CALL)
    write_discovery(report, path)
    first.close(report)
    return path, sum(worked)


def items_worked_on(patch):
    """A list that grows by the number of items of every piece of work."""
    numbers = []
    results = phases.Workers._results

    def counted(self, work, bench, items, ticker):
        numbers.append(len(items))
        return results(self, work, bench, items, ticker)

    patch.setattr(phases.Workers, "_results", counted)
    return numbers


class Killed(BaseException):
    """As if the program ended at once."""


def killed_at(phase, path, monkeypatch):
    """The folder as a run leaves it that is killed when it comes to this phase."""
    state = []

    def listener(step):
        if phase in step.phase and step.iteration > 1:
            state.append((path / "state.json").read_bytes())
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(folder, "SECONDS", 0.0)
        patch.setattr(folder, "COST", 1e9)
        with pytest.raises(Killed):
            RunFolder(path, ROWS, QUICK, seed=1).discover(progress=listener, **CALL)
    (path / "state.json").write_bytes(state[0])


@pytest.mark.parametrize("phase", ["first look", "adapting", "polishing", "checking"])
def test_killed_within_a_round_it_goes_on_to_the_same_bytes(fresh, tmp_path, monkeypatch, phase):
    killed_at(phase, tmp_path, monkeypatch)
    n_known = len(json.loads((tmp_path / "state.json").read_text())["notes"])
    assert n_known > 1
    fresh, n_items = fresh
    worked = items_worked_on(monkeypatch)
    monkeypatch.setattr("unveil.discovery.procedure.learn_observed", lambda *_: 1 / 0)
    again = RunFolder(tmp_path, ROWS, QUICK)
    assert again.resumed
    assert again.seed == 1
    report = again.discover(**CALL)
    write_discovery(report, tmp_path)
    again.close(report)
    for name in ("model.json", "baseline.json", "posteriors.csv"):
        assert (tmp_path / name).read_bytes() == (fresh / name).read_bytes(), name
    pages = [
        re.sub(r">[\d.,]+ s<", "><", (path / "report.html").read_text())
        for path in (fresh, tmp_path)
    ]
    assert pages[0] == pages[1]
    assert json.loads((tmp_path / "state.json").read_text())["notes"] == {}
    assert sum(worked) + n_known - 1 == n_items  # the network of what was observed is noted, too


def test_damaged_notes_are_warned_of(fresh, tmp_path, monkeypatch):
    killed_at("adapting", tmp_path, monkeypatch)
    state = json.loads((tmp_path / "state.json").read_text())
    for damage in ([7], {"baseline": "half a net"}, {"key": [{"name": "H1"}]}, {"key": 7}):
        (tmp_path / "state.json").write_text(json.dumps(state | {"notes": damage}))
        with pytest.warns(UnveilWarning, match="cannot be read; starting afresh"):
            assert not RunFolder(tmp_path, ROWS, QUICK).resumed


def test_no_room_for_the_state_is_no_reason_to_stop(tmp_path, monkeypatch, fresh):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    run = RunFolder(tmp_path, ROWS, QUICK, seed=1)
    heard = []
    monkeypatch.setattr("unveil.discovery.folder.atomic_write", full)
    monkeypatch.setattr("unveil.discovery.folder.os.write", full)
    with pytest.warns(UnveilWarning, match="No space left on device") as caught:
        report = run.discover(progress=heard.append, **CALL)
    assert len(caught) == 1
    assert report.stopped == "converged"
    assert heard[-1].phase.startswith("round")  # the listener is not blamed


# One run at a time -------------------------------------------------------------------------------


def test_a_folder_in_use_is_refused(tmp_path):
    first = RunFolder(tmp_path, PLANS)
    with pytest.raises(DataError, match="another run is at work in this folder"):
        RunFolder(tmp_path, PLANS)
    first.close(first.discover(time_limit=0))
    RunFolder(tmp_path, PLANS)


def test_a_link_in_place_of_the_log_is_not_followed(tmp_path):
    (tmp_path / "precious").write_text("as it was")
    out = tmp_path / "out"
    out.mkdir()
    (out / "log.jsonl").symlink_to(tmp_path / "precious")
    with pytest.raises(OSError, match="no plain file"):
        RunFolder(out, PLANS)
    assert (tmp_path / "precious").read_text() == "as it was"


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError, match="this is a file"):
        RunFolder(tmp_path / "file" / "deep", PLANS)


def finished(path, table, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run = RunFolder(path, table, QUICK, **options)
        report = run.discover(time_limit=0, **CALL)
        write_discovery(report, path)
        run.save(report.discovery.rounds, finished=True)
        run._unlock()
    return [str(w.message) for w in caught]


def everything(path):
    return {f.name: f.read_bytes() for f in path.iterdir() if f.is_file()}


def test_results_of_another_run_are_set_aside(tmp_path):
    assert finished(tmp_path, PLANS, seed=1) == []
    (tmp_path / "mine.txt").write_text("mine")
    assert sorted(everything(tmp_path)) == sorted([*RESULTS, "mine.txt"])
    before = everything(tmp_path)
    del before["mine.txt"]
    # The same question with the same seed has the same answer; all others are others.
    assert finished(tmp_path, PLANS, seed=1, resume=False) == []
    assert not (tmp_path / "earlier-1").exists()
    before = {name: (tmp_path / name).read_bytes() for name in RESULTS}
    (said,) = finished(tmp_path, ROWS, seed=1)
    assert said == (
        f"{tmp_path} held the results of another run; they are in {tmp_path / 'earlier-1'} now"
    )
    assert everything(tmp_path / "earlier-1") == before
    assert (tmp_path / "mine.txt").read_text() == "mine"
    assert len(finished(tmp_path, ROWS, seed=2)) == 1
    assert (tmp_path / "earlier-2" / "model.json").exists()


def test_a_file_of_somebody_else_is_set_aside_too(tmp_path):
    (tmp_path / "model.json").write_text("a model of mine")
    assert len(finished(tmp_path, PLANS)) == 1
    assert (tmp_path / "earlier-1" / "model.json").read_text() == "a model of mine"
    assert os.listdir(tmp_path / "earlier-1") == ["model.json"]


def test_the_model_is_written_before_the_report(tmp_path, monkeypatch):
    def breaks(*_):
        raise ZeroDivisionError

    monkeypatch.setattr("unveil.report.discover_folder.discover_page", breaks)
    report = RunFolder(tmp_path, PLANS, QUICK, seed=1).discover(time_limit=0, **CALL)
    with pytest.raises(ZeroDivisionError):
        write_discovery(report, tmp_path)
    assert {"model.json", "baseline.json", "posteriors.csv"} < set(os.listdir(tmp_path))
