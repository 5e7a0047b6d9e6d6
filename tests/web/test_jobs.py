"""The queue: bounds, a fair order, stopping, and going on after the server was ended."""

import asyncio
import time
from dataclasses import replace

import pytest

from unveil.web.jobs import Jobs, TooMany
from unveil.web.store import State, Store

from .conftest import LIMITS, finished, rows_of_kinds, served, start, upload

SLOW = replace(LIMITS, at_once=1, waiting=3, waiting_each=2)


def queue(tmp_path, monkeypatch, limits=SLOW):
    """A queue whose jobs do nothing until they are let go, and the order in which they began."""
    began = []

    async def process(self, key, analysis, job):
        began.append((analysis.name, job.number))
        await asyncio.sleep(0.01)
        return 0

    monkeypatch.setattr(Jobs, "_process", process)
    store = Store(tmp_path)
    return Jobs(store, limits), store, began


async def idle(jobs):
    while jobs._queue or jobs._running:
        await asyncio.sleep(0.01)


def test_the_queue_has_a_bound_for_all_and_for_each(tmp_path, monkeypatch):
    jobs, store, _ = queue(tmp_path, monkeypatch)
    one, two = (store.create(name, "table.data") for name in ("one", "two"))
    for analysis in (one, one, two):
        jobs.submit(analysis, "learn", {})
    with pytest.raises(TooMany, match="3 jobs are waiting, 2 of them yours"):
        jobs.submit(one, "learn", {})
    with pytest.raises(TooMany, match="3 jobs are waiting, 1 of them yours"):
        jobs.submit(two, "learn", {})
    jobs = Jobs(store, replace(SLOW, jobs_each=2))
    with pytest.raises(TooMany, match="2 steps, as many as it may"):
        jobs.submit(one, "learn", {})


def test_the_analysis_served_longest_ago_comes_first(tmp_path, monkeypatch):
    jobs, store, began = queue(tmp_path, monkeypatch, replace(SLOW, waiting=9, waiting_each=9))
    one, two = (store.create(name, "table.data") for name in ("one", "two"))
    for analysis in (one, one, one, two):
        jobs.submit(analysis, "learn", {})

    async def work():
        await jobs.start()
        await idle(jobs)
        await jobs.close()

    asyncio.run(work())
    names = [name for name, _ in began]
    assert sorted(names) == ["one"] * 3 + ["two"]
    assert names.index("two") < 2
    assert [n for name, n in began if name == "one"] == [1, 2, 3]


def test_a_job_that_waits_is_taken_out(tmp_path, monkeypatch):
    jobs, store, began = queue(tmp_path, monkeypatch)
    analysis = store.create("one", "table.data")
    job = jobs.stop(analysis, jobs.submit(analysis, "learn", {}))
    assert job.state is State.STOPPED
    assert "before it began" in job.problem
    assert began == []


def test_stopping_gives_the_best_so_far_and_events_go_on_where_they_were(tmp_path):
    with served(tmp_path, SLOW) as client:
        key = client.post("/api/examples/alarm").json()["id"]
        number = start(client, key, "discover", seconds=120).json()["number"]
        log = tmp_path / "analyses" / key / "jobs" / str(number) / "events.jsonl"
        until = time.monotonic() + 240
        while (not log.exists() or log.read_text().count("\n") < 3) and time.monotonic() < until:
            time.sleep(0.05)
        client.post(f"/api/a/{key}/jobs/{number}/stop")
        job = finished(client, key, number)
        assert job["state"] == "stopped"
        assert job["result"]["stopped"] == "asked to stop"
        base = f"/api/a/{key}/jobs/{number}/events"
        events = client.get(base).text
        assert events.count("event: step") == log.read_text().count("\n")
        assert '"state": "stopped"' in events
        later = client.get(base, headers={"last-event-id": "2"}).text
        assert later.count("event: step") == events.count("event: step") - 2


def test_a_server_that_was_ended_in_the_middle_goes_on(tmp_path):
    with served(tmp_path, SLOW) as client:
        key = upload(client, rows_of_kinds(40))
        number = start(client, key, "learn").json()["number"]
    with served(tmp_path, SLOW) as client:
        assert finished(client, key, number)["state"] == "done"


def test_deleting_ends_what_runs_and_is_whole(tmp_path):
    with served(tmp_path, SLOW) as client:
        key = client.post("/api/examples/alarm").json()["id"]
        number = start(client, key, "discover", seconds=120).json()["number"]
        while client.get(f"/api/a/{key}/jobs/{number}").json()["state"] == "queued":
            time.sleep(0.05)
        assert client.delete(f"/api/a/{key}").json() == {"deleted": key}
        assert client.get(f"/a/{key}").status_code == 404
        jobs = client.app.state.server.jobs
        assert not jobs._processes
        assert list((tmp_path / "analyses").iterdir()) == []


def test_a_table_that_is_gone_is_a_sentence(tmp_path):
    with served(tmp_path, SLOW) as client:
        key = client.post("/api/analyses", content=b"a,b\n1,x\n2,y\n").json()["id"]
        (tmp_path / "analyses" / key / "table.data").unlink()
        job = finished(client, key, 1)
        assert job["state"] == "failed"
        assert job["problem"]
