"""Servers to ask, and two analyses in which everything was done once."""

import asyncio
import json
import time
from dataclasses import replace

import numpy as np
import pytest
from fastapi.testclient import TestClient

from unveil.web.app import create_app
from unveil.web.jobs import Jobs
from unveil.web.limits import Limits
from unveil.web.worker import Telling, do

LIMITS = Limits(
    changes=1000.0, changes_burst=10_000, requests=1000.0, burst=10_000, at_once=2, free_bytes=0
)


@pytest.fixture(scope="session")
def limits():
    """Limits that do not hold up the tests."""
    return LIMITS


def served(folder, limits=LIMITS):
    """A server, as a context."""
    return TestClient(create_app(folder, limits), base_url="http://127.0.0.1")


@pytest.fixture
def client(tmp_path):
    """A server with nothing in it."""
    with served(tmp_path) as asking:
        yield asking


class JobsHere(Jobs):
    """Jobs that are done in threads of this process, much faster; but for those to be stopped."""

    apart = ()

    async def _process(self, key, analysis, job):
        if job.task in self.apart:
            return await super()._process(key, analysis, job)
        told = self._told(analysis, job)
        with Telling(analysis.job_folder(job.number) / "events.jsonl") as telling:
            return await asyncio.to_thread(do, json.loads(json.dumps(told)), telling)


def app_here(folder, apart=()):
    """A server whose jobs, but for the tasks `apart`, are done in threads."""
    app = create_app(folder, LIMITS)
    server = app.state.server
    server.jobs = JobsHere(server.store, replace(LIMITS, at_once=1))
    server.jobs.apart = apart
    return app


@pytest.fixture(scope="session")
def busy(tmp_path_factory):
    """A server for the whole session, with jobs in threads."""
    app = app_here(tmp_path_factory.mktemp("server"))
    with TestClient(app, base_url="http://127.0.0.1") as asking:
        yield asking


def finished(client, key, number, seconds=300):
    """A job when it is over."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        job = client.get(f"/api/a/{key}/jobs/{number}").json()
        if job["state"] in ("done", "stopped", "failed"):
            return job
        time.sleep(0.1)
    raise AssertionError(f"job {number} did not end: {job}")


def start(client, key, task, **settings):
    """The answer to starting a job."""
    return client.post(f"/api/a/{key}/jobs", json={"task": task, "settings": settings})


def run(client, key, task, **settings):
    """A job, started and waited for."""
    answer = start(client, key, task, **settings)
    assert answer.status_code == 200, answer.text
    return finished(client, key, answer.json()["number"])


def upload(client, text, name="rows.csv"):
    """A new analysis of a text."""
    answer = client.post("/api/analyses", params={"name": name}, content=text.encode())
    assert answer.status_code == 200, answer.text
    return answer.json()["id"]


def rows_of_kinds(n=200):
    """A table with something behind it: four answers that depend on an unseen kind of row."""
    draw = np.random.default_rng(3)
    kind = draw.integers(0, 2, n)
    cells = draw.random((n, 4)) < np.where(kind, 0.9, 0.1)[:, None]
    lines = [",".join("yes" if cell else "no" for cell in row) for row in cells]
    return "\n".join(["w,x,y,z", *lines]) + "\n"


@pytest.fixture(scope="session")
def plans(busy):
    """The college plans with a network and classes, as jobs."""
    key = busy.post("/api/examples/college_plans").json()["id"]
    assert finished(busy, key, 1)["state"] == "done"
    jobs = {
        "learn": run(busy, key, "learn", average=10),
        "cluster": run(busy, key, "cluster", most=2),
    }
    assert {j["state"] for j in jobs.values()} == {"done"}, jobs
    return {"key": key} | jobs


@pytest.fixture(scope="session")
def kinds(busy):
    """A small table with a hidden variable found and a column predicted, as jobs."""
    key = upload(busy, rows_of_kinds(), "kinds.csv")
    assert finished(busy, key, 1)["state"] == "done"
    jobs = {
        "discover": run(busy, key, "discover", max_hidden=1),
        "classify": run(busy, key, "classify", target="x", model="naive"),
    }
    assert {j["state"] for j in jobs.values()} == {"done"}, jobs
    return {"key": key} | jobs


def base(known, task):
    """The address of a job of one of these."""
    return f"/api/a/{known['key']}/jobs/{known[task]['number']}"
