"""How long a step may take is told as a range, which learns from steps that are done."""

import pytest

from unveil.web.forecast import ENOUGH, LAWS, Forecasts, Size, guess

from .conftest import upload

SMALL, LARGE = Size(100, 5, "states"), Size(100_000, 200, "states")


@pytest.mark.parametrize("task", ["learn", "discover", "cluster", "classify"])
def test_more_rows_and_columns_take_longer(tmp_path, task):
    low, high = Forecasts(tmp_path).of(task, SMALL)
    assert 0 < low < high
    assert guess(task, SMALL) < guess(task, LARGE)
    assert Forecasts(tmp_path).of(task, Size(100, 5, "gaps"))[0] > 0


def test_a_server_learns_how_slow_it_is(tmp_path):
    forecasts = Forecasts(tmp_path)
    for i in range(ENOUGH):
        forecasts.learn("learn", SMALL, 10 * guess("learn", SMALL) + i)
    low, _ = Forecasts(tmp_path).of("learn", LARGE)
    assert low >= 10 * guess("learn", LARGE) * (1 - 1e-3)
    assert Forecasts(tmp_path).of("nothing", LARGE) is None


def test_a_broken_file_of_timings_is_none(tmp_path):
    (tmp_path / "timings.json").write_text('{"learn states": "fast"')
    assert Forecasts(tmp_path).of("learn", SMALL) == Forecasts(tmp_path / "other").of(
        "learn", SMALL
    )


def test_what_laws_were_wrong_by_is_sorted():
    assert all(list(law.wrong) == sorted(law.wrong) for law in LAWS.values())


def test_pages_are_told(busy, plans):
    told = busy.get(f"/api/a/{plans['key']}/forecast").json()
    assert told["size"] == {"rows": 128, "columns": 5, "kind": "states"}
    assert set(told["seconds"]) == {"learn", "discover", "cluster", "classify"}
    key = upload(busy, "nothing")
    assert busy.get(f"/api/a/{key}/forecast").status_code == 200
