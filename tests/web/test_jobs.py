"""The queue: bounds, a fair order, stopping, and going on after the server was ended."""

import json
import time
from dataclasses import replace

from fastapi.testclient import TestClient

from unveil.web.app import create_app

from .conftest import LIMITS, finished, upload

SLOW = replace(LIMITS, at_once=1, waiting=3, waiting_each=2)


def served(folder, limits=SLOW):
    return TestClient(create_app(folder, limits), base_url="http://127.0.0.1")


def start(client, key, task, **settings):
    return client.post(f"/api/a/{key}/jobs", json={"task": task, "settings": settings})


def until(client, key, number, state):
    for _ in range(600):
        job = client.get(f"/api/a/{key}/jobs/{number}").json()
        if job["state"] == state:
            return job
        time.sleep(0.05)
    raise AssertionError(job)


def test_the_queue_has_a_bound(tmp_path):
    with served(tmp_path) as client:
        key, other = (client.post("/api/examples/alarm").json()["id"] for _ in range(2))
        codes = [start(client, key, "discover").status_code for _ in range(4)]
        assert 429 in codes
        answer = start(client, key, "discover")
        assert "jobs are waiting" in answer.json()["problem"]
        for analysis in (key, other):
            client.delete(f"/api/a/{analysis}")


def test_a_job_that_waits_is_taken_out(tmp_path):
    with served(tmp_path) as client:
        key = client.post("/api/examples/alarm").json()["id"]
        finished(client, key, 1)
        start(client, key, "discover", seconds=60)
        waiting = start(client, key, "learn").json()
        job = client.post(f"/api/a/{key}/jobs/{waiting['number']}/stop").json()
        assert job["state"] == "stopped"
        assert "before it began" in job["problem"]
        client.delete(f"/api/a/{key}")


def test_stopping_gives_the_best_so_far_and_events_go_on_where_they_were(tmp_path):
    with served(tmp_path) as client:
        key = client.post("/api/examples/alarm").json()["id"]
        finished(client, key, 1)
        number = start(client, key, "discover", seconds=120).json()["number"]
        until(client, key, number, "running")
        log = tmp_path / "analyses" / key / "jobs" / str(number) / "events.jsonl"
        while not log.exists() or log.read_text().count("\n") < 3:
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


def test_a_server_that_was_ended_goes_on(tmp_path):
    with served(tmp_path) as client:
        key = upload(client, "a,b\n1,x\n2,y\n1,x\n2,y\n")
        finished(client, key, 1)
        number = start(client, key, "learn").json()["number"]
    with served(tmp_path) as client:
        assert finished(client, key, number)["state"] == "done"


def test_the_analysis_served_longest_ago_comes_first(tmp_path):
    with served(tmp_path, replace(SLOW, waiting=20, waiting_each=10)) as client:
        text = "a,b\n1,x\n2,y\n"
        one, two = upload(client, text), upload(client, text)
        for key in (one, one, one, two):
            start(client, key, "learn", seconds=5)
        ended = {
            (key, n): finished(client, key, n)["ended"] for key, n in ((one, 2), (one, 4), (two, 2))
        }
        assert ended[two, 2] < ended[one, 4]


def test_a_fault_of_the_program_is_a_sentence(tmp_path):
    with served(tmp_path) as client:
        key = upload(client, "a,b\n1,x\n2,y\n")
        finished(client, key, 1)
        folder = tmp_path / "analyses" / key
        known = json.loads((folder / "analysis.json").read_text())
        (folder / known["file"]).unlink()
        job = finished(client, key, start(client, key, "learn").json()["number"])
        assert job["state"] == "failed"
        assert job["problem"]
