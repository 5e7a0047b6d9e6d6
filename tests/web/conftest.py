"""A server to ask, with one analysis in which everything was done once."""

import io
import time

import pytest
from fastapi.testclient import TestClient

from unveil import datasets
from unveil.web.app import create_app
from unveil.web.limits import Limits

LIMITS = Limits(changes=1000.0, changes_burst=10_000, requests=1000.0, burst=10_000, at_once=2)


@pytest.fixture(scope="session")
def limits():
    """Limits that do not hold up the tests."""
    return LIMITS


@pytest.fixture
def client(tmp_path):
    """A server with nothing in it."""
    with TestClient(create_app(tmp_path, LIMITS), base_url="http://127.0.0.1") as asking:
        yield asking


@pytest.fixture(scope="session")
def busy(tmp_path_factory):
    """A server for the whole session."""
    folder = tmp_path_factory.mktemp("server")
    with TestClient(create_app(folder, LIMITS), base_url="http://127.0.0.1") as asking:
        yield asking


def finished(client, key, number, seconds=120):
    """A job when it is over."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        job = client.get(f"/api/a/{key}/jobs/{number}").json()
        if job["state"] in ("done", "stopped", "failed"):
            return job
        time.sleep(0.05)
    raise AssertionError(f"job {number} did not end: {job}")


def run(client, key, task, **settings):
    """A job, started and waited for."""
    answer = client.post(f"/api/a/{key}/jobs", json={"task": task, "settings": settings})
    assert answer.status_code == 200, answer.text
    return finished(client, key, answer.json()["number"])


def upload(client, text, name="rows.csv"):
    """A new analysis of a text."""
    answer = client.post(
        "/api/analyses", params={"name": name}, content=io.BytesIO(text.encode()).read()
    )
    assert answer.status_code == 200, answer.text
    return answer.json()["id"]


@pytest.fixture(scope="session")
def plans(busy):
    """The college plans with a network, hidden variables and classes, as numbers of jobs."""
    key = busy.post("/api/examples/college_plans").json()["id"]
    assert finished(busy, key, 1)["state"] == "done"
    learned = run(busy, key, "learn")
    found = run(busy, key, "discover", max_hidden=1)
    classes = run(busy, key, "cluster", most=2)
    assert [j["state"] for j in (learned, found, classes)] == ["done"] * 3, (
        learned,
        found,
        classes,
    )
    return {"key": key, "learn": learned, "discover": found, "cluster": classes}


@pytest.fixture(scope="session")
def asia():
    """The network that examples are drawn from."""
    return datasets.network("asia")
