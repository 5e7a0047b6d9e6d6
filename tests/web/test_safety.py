"""Who may ask, how often, and what a browser may load."""

from dataclasses import replace

import pytest
from fastapi.testclient import TestClient

from unveil.web.app import create_app
from unveil.web.limits import Limits
from unveil.web.safety import Bucket


def test_pages_may_load_from_here_alone(client):
    policy = client.get("/").headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert client.get("/").headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:80",
        "",
        "127.0.0.1.evil.example",
        "[",
        "localhost@evil.example",
    ],
)
def test_other_names_are_turned_away(client, host):
    answer = client.get("/", headers={"host": host})
    assert answer.status_code == 421
    assert "does not answer to the name" in answer.json()["problem"]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:8765", "[::1]:8765"])
def test_our_own_names_are_answered(client, host):
    assert client.get("/", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_other_sites_change_nothing(client, headers):
    answer = client.post("/api/examples/asia", headers=headers)
    assert answer.status_code == 403
    assert client.get("/api/examples", headers=headers).status_code == 200


def test_our_own_pages_may_change_things(client):
    own = {"origin": "http://127.0.0.1", "sec-fetch-site": "same-origin"}
    assert client.post("/api/examples/asia", headers=own).status_code == 200


def test_elsewhere_a_token_is_needed_once(tmp_path):
    app = create_app(tmp_path, Limits(), ("analysis.example",), token="secret")
    with TestClient(app, base_url="http://analysis.example") as asking:
        assert asking.get("/").status_code == 401
        assert asking.get("/?token=wrong").status_code == 401
        assert asking.get("/api/examples").status_code == 401
        answer = asking.get("/?token=secret&x=1", follow_redirects=False)
        assert answer.status_code == 303
        assert answer.headers["location"] == "/?x=1"
        assert "HttpOnly" in answer.headers["set-cookie"]
        assert asking.get("/").status_code == 200


def test_too_many_requests_are_refused(tmp_path):
    limits = replace(Limits(), burst=5, requests=0.001, changes_burst=2, changes=0.001)
    with TestClient(create_app(tmp_path, limits), base_url="http://127.0.0.1") as asking:
        assert [asking.get("/api/examples").status_code for _ in range(6)] == [200] * 5 + [429]
        assert [asking.post("/api/examples/none").status_code for _ in range(3)] == [422, 422, 429]


def test_a_bucket_fills_again():
    bucket = Bucket(rate=2.0, most=1.0)
    assert [bucket.take(t) for t in (0.0, 0.1, 0.61, 0.7)] == [True, False, True, False]
