"""The trails by their JSON twin: read, learn, discover, ask, take along, delete."""

import shlex
from dataclasses import replace

import pytest
from fastapi.testclient import TestClient

import unveil
from unveil.cli import main
from unveil.web.app import create_app

from .conftest import finished, run, upload

ODD = "<script>alert(1)</script>"


def test_examples_are_listed(client):
    assert "college_plans" in [e["name"] for e in client.get("/api/examples").json()]


def test_what_was_understood_of_a_table(busy):
    key = upload(busy, "who,x,y\nAnn,1.5,a\nBo,,b\nCy,2.5,a\n")
    job = finished(busy, key, 1)
    assert job["state"] == "done"
    assert [(c["name"], c["kind"], c["n_missing"]) for c in job["result"]["columns"]] == [
        ("who", "discrete", 0), ("x", "continuous", 1), ("y", "discrete", 0),
    ]  # fmt: skip
    assert job["result"]["preview"][1] == ["Bo", None, "b"]


def test_what_a_person_corrects_is_done(busy):
    key = upload(busy, "x,n\n1,2\n2,3\n1,4\n")
    asked = {"kinds": {"x": "text"}, "weights": "n", "cut": "equal_width", "bins": 2}
    answer = busy.put(f"/api/a/{key}/asked", json=asked)
    job = finished(busy, key, answer.json()["number"])
    assert job["result"]["is_weighted"]
    assert job["result"]["total_weight"] == 9
    assert [c["common"][0][0] for c in job["result"]["columns"]] == ["1"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("PK\x03\x04 nonsense", "Excel"),
        ("a,a\n1,2\n", "both called 'a'"),
    ],
)
def test_tables_that_are_none_are_answered_with_a_sentence(busy, text, words):
    key = upload(busy, text, "my table.csv")
    job = finished(busy, key, 1)
    assert job["state"] == "failed"
    assert words in job["problem"]
    assert "/" not in job["problem"].replace("my table.csv", "").replace("and/or", "")


def test_an_empty_file_and_one_that_is_too_large_leave_nothing(tmp_path, limits):
    small = replace(limits, upload_bytes=1000)
    with TestClient(create_app(tmp_path, small), base_url="http://127.0.0.1") as asking:
        for content, status, words in ((b"", 422, "empty"), (b"x" * 1001, 413, "larger than")):
            answer = asking.post("/api/analyses", content=content)
            assert (answer.status_code, words in answer.json()["problem"]) == (status, True)
    assert list((tmp_path / "analyses").iterdir()) == []


def test_too_many_columns_are_refused(tmp_path, limits):
    few = replace(limits, max_columns=2)
    with TestClient(create_app(tmp_path, few), base_url="http://127.0.0.1") as asking:
        job = finished(asking, upload(asking, "a,b,c\n1,2,3\n"), 1)
    assert "3 columns, and this server takes 2" in job["problem"]


def test_the_network_is_that_of_the_library(busy, plans, tmp_path):
    saved = busy.get(f"/api/a/{plans['key']}/jobs/{plans['learn']['number']}/files/model.json")
    unveil.datasets.table("college_plans").write(tmp_path / "plans.csv")
    learned = unveil.learn(tmp_path / "plans.csv", weights="weight", seed=1)
    assert unveil.formats.loads(saved.text, "json") == learned.network
    arcs = plans["learn"]["result"]["arcs"]
    assert arcs == sorted(arcs, key=lambda a: -a["loss"])


def test_wishes_are_honoured(busy, plans):
    job = run(busy, plans["key"], "learn", forbidden=[["CP", "PE"]], required=[["SEX", "IQ"]])
    arcs = [(a["parent"], a["child"]) for a in job["result"]["arcs"]]
    assert ("SEX", "IQ") in arcs
    assert ("CP", "PE") not in arcs


def test_a_picture_keeps_its_places(busy, plans):
    base = f"/api/a/{plans['key']}/jobs"
    again = run(busy, plans["key"], "learn", required=[["SEX", "SES"]])
    first = busy.get(f"{base}/{plans['learn']['number']}/picture").json()["after"]
    second = busy.get(f"{base}/{again['number']}/picture").json()["after"]
    places = [
        {n["name"]: (n["x"], n["y"]) for n in picture["nodes"]} for picture in (first, second)
    ]
    assert places[0] == places[1]


def test_before_and_after_share_their_places(busy, plans):
    told = busy.get(f"/api/a/{plans['key']}/jobs/{plans['discover']['number']}/picture").json()
    where = {n["name"]: (n["x"], n["y"]) for n in told["after"]["nodes"]}
    assert all(where[n["name"]] == (n["x"], n["y"]) for n in told["before"]["nodes"])
    assert any(n["hidden"] for n in told["after"]["nodes"])


def test_answers_are_those_of_the_library(busy, plans):
    number = plans["discover"]["number"]
    saved = busy.get(f"/api/a/{plans['key']}/jobs/{number}/files/model.json").text
    network = unveil.formats.loads(saved, "json")
    question = {
        "given": {"PE": 0},
        "do": {"SES": 1},
        "target": "CP",
        "why": True,
        "next": True,
        "explain": True,
    }
    told = busy.post(f"/api/a/{plans['key']}/jobs/{number}/ask", json=question).json()
    ses, pe = network.variable("SES").labels[1], network.variable("PE").labels[0]
    expected = network.do({"SES": ses}).posterior({"SES": ses, "PE": pe}, of="CP")["CP"][0]
    assert told["beliefs"]["CP"]["p"] == pytest.approx(list(expected), abs=1e-6)
    assert told["beliefs"]["PE"]["p"][0] == 1
    assert [w["finding"] for w in told["why"]] == ["PE"]
    assert told["explanation"]["states"]["PE"] == pe


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ({"given": {"nobody": 0}}, "nobody"),
        ({"given": {"SEX": 7}}, "0 to 1"),
        ({"likely": {"SEX": [1.0]}}, "a number for every state"),
        ({"nonsense": 1}, "nonsense"),
    ],
)
def test_wrong_questions_are_answered_with_a_sentence(busy, plans, question, words):
    answer = busy.post(f"/api/a/{plans['key']}/jobs/{plans['learn']['number']}/ask", json=question)
    assert answer.status_code == 422
    assert words in answer.json()["problem"]


@pytest.mark.parametrize(
    "name",
    [
        "model.json",
        "model.bif",
        "model.xmlbif",
        "model.net",
        "model.xdsl",
        "model.uai",
        "model.dot",
        "picture.svg",
        "picture.png",
        "picture.pdf",
        "report.html",
        "result.json",
    ],
)
def test_everything_can_be_taken_along(busy, plans, name):
    answer = busy.get(f"/api/a/{plans['key']}/jobs/{plans['discover']['number']}/files/{name}")
    assert answer.status_code == 200
    assert len(answer.content) > 100
    assert "attachment" in answer.headers["content-disposition"]


@pytest.mark.parametrize(
    "name", ["job.json", "..%2Fjob.json", "state.json", "model.exe", "output.txt"]
)
def test_nothing_else_can_be_taken(busy, plans, name):
    answer = busy.get(f"/api/a/{plans['key']}/jobs/{plans['discover']['number']}/files/{name}")
    assert answer.status_code == 404


def test_a_report_on_its_own_has_no_origin(busy, plans):
    base = f"/api/a/{plans['key']}/jobs/{plans['discover']['number']}/files"
    shown = busy.get(f"{base}/report.html?show=true")
    assert shown.headers["content-security-policy"].startswith("sandbox allow-scripts;")
    assert "content-disposition" not in shown.headers


def test_rows_are_sorted_and_paged(busy, plans):
    base = f"/api/a/{plans['key']}/jobs/{plans['cluster']['number']}/rows"
    told = busy.get(base).json()
    best = told["columns"][-1]
    sorted_ = busy.get(base, params={"sort": best, "down": True}).json()
    values = [row[-1] for row in sorted_["rows"]]
    assert values == sorted(values, reverse=True)
    assert told["n_rows"] == 128
    assert len(busy.get(base, params={"page": 3}).json()["rows"]) == 28
    assert busy.get(base, params={"sort": "nothing"}).status_code == 422


@pytest.mark.parametrize("task", ["learn", "discover", "cluster"])
def test_lines_give_the_same(busy, plans, task, tmp_path, monkeypatch):
    told = busy.get(f"/api/a/{plans['key']}/jobs/{plans[task]['number']}/lines").json()
    monkeypatch.chdir(tmp_path)
    unveil.datasets.table("college_plans").write("college_plans.csv")
    assert main(shlex.split(told["command"])[1:]) == 0
    saved = unveil.load("found/model.json" if task == "discover" else "model.json")
    base = f"/api/a/{plans['key']}/jobs/{plans[task]['number']}/files/model.json"
    assert saved == unveil.formats.loads(busy.get(base).text, "json")
    scope = {}
    exec(told["python"].replace("print(found)", ""), scope)
    assert scope["found"].network == saved


def test_odd_names_are_harmless(busy):
    key = upload(busy, f'"{ODD}",y\n"{ODD}",a\nb,b\n"{ODD}",a\nb,b\n', f"{ODD}.csv")
    finished(busy, key, 1)
    job = run(busy, key, "learn")
    assert job["state"] == "done"
    for page in ("", "/dependences", "/hidden", "/classes", "/playground", "/rows", "/take"):
        text = busy.get(f"/a/{key}{page}").text
        assert ODD not in text
    assert ODD not in busy.get(f"/api/a/{key}/jobs/{job['number']}/files/report.html").text


def test_what_is_not_there_is_said(busy, plans):
    nobody = "A" * 22
    for path in (
        f"/a/{nobody}",
        f"/api/a/{nobody}",
        f"/api/a/{plans['key']}/jobs/999",
        "/nowhere",
        "/library/nothing",
    ):
        assert busy.get(path).status_code == 404
    assert "That did not work" in busy.get(f"/a/{nobody}").text


def test_wrong_settings_are_told(busy, plans):
    for task, settings, words in (
        ("learn", {"seconds": -1}, "seconds"),
        ("learn", {"nonsense": 1}, "nonsense"),
        ("nothing", {}, "no task"),
    ):
        answer = busy.post(f"/api/a/{plans['key']}/jobs", json={"task": task, "settings": settings})
        assert answer.status_code == 422
        assert words in answer.json()["problem"]
    job = run(busy, plans["key"], "learn", required=[["SEX", "nobody"]])
    assert "nobody" in job["problem"]


def test_deleting_is_at_once_and_whole(busy):
    key = upload(busy, "a,b\n1,2\n2,1\n")
    finished(busy, key, 1)
    assert busy.delete(f"/api/a/{key}").json() == {"deleted": key}
    assert busy.get(f"/a/{key}").status_code == 404


def test_every_page_and_text_can_be_read(busy, plans):
    for page in ("", "/dependences", "/hidden", "/classes", "/playground", "/rows", "/take"):
        assert busy.get(f"/a/{plans['key']}{page}").status_code == 200
    from unveil.web.pages import LIBRARY

    for name in LIBRARY:
        assert "<h1>" in busy.get(f"/library/{name}").text
