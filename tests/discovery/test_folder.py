"""`RunFolder`: a discovery that a folder remembers (the command line's tests go on from one)."""

import json

import pytest

from unveil import DAG, datasets, fit
from unveil.discovery import RunFolder, Settings
from unveil.discovery.folder import fingerprint
from unveil.discovery.memory import rounds_from_json
from unveil.errors import FormatError, UnveilWarning
from unveil.formats import dumps

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
