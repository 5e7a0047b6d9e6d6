"""Analyses as folders: names that nobody can guess, nothing half written, nothing left over."""

from dataclasses import replace

import pytest

from unveil.web.store import DAY, NoSuchThing, State, Store


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path, keep_days=2)


def test_an_analysis_comes_back_as_it_was(store):
    made = store.create("rows.csv", "table.data")
    assert store.get(made.id) == made
    assert [a.id for a in store.all()] == [made.id]


@pytest.mark.parametrize(
    "key", ["../../etc", "a" * 21, "a" * 23, "..", "", "a/b" * 7 + "a", "é" * 22]
)
def test_names_that_are_none_open_no_file(store, key):
    with pytest.raises(NoSuchThing, match="no such analysis"):
        store.get(key)


def test_names_are_long_and_different(store):
    keys = {store.create("x", "table.data").id for _ in range(20)}
    assert len(keys) == 20
    assert all(len(key) == 22 for key in keys)


def test_deleted_is_gone(store):
    made = store.create("x", "table.data")
    made.table_path.write_text("secret")
    store.delete(made)
    assert list((store.root / "analyses").iterdir()) == []
    with pytest.raises(NoSuchThing):
        store.get(made.id)


def test_what_nobody_looks_at_expires(store):
    old, new = store.create("old", "table.data"), store.create("new", "table.data")
    store.save(replace(old, used=old.used - 3 * DAY))
    assert [a.id for a in store.expired()] == [old.id]
    assert store.touch(store.get(old.id)).used > old.used
    assert list(store.expired()) == []
    assert store.expires(new) == pytest.approx(new.used + 2 * DAY)


def test_jobs_are_numbered_and_remembered(store):
    made = store.create("x", "table.data")
    first, second = (store.add_job(made, "learn", {"seed": s}) for s in (1, 2))
    store.save_job(made, replace(second, state=State.FAILED, problem="no"))
    assert [j.number for j in store.jobs(made)] == [1, 2]
    assert store.job(made, 2).problem == "no"
    assert store.job(made, 2).state.is_over
    assert not first.state.is_over
    with pytest.raises(NoSuchThing, match="no step 3"):
        store.job(made, 3)


def test_a_torn_file_is_no_analysis(store):
    made = store.create("x", "table.data")
    (made.folder / "analysis.json").write_text('{"id": "')
    with pytest.raises(NoSuchThing):
        store.get(made.id)
    assert list(store.all()) == []
