"""The trails by their JSON twin: read, learn, discover, ask, take along, delete."""

import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

import unveil
from unveil.cli import main
from unveil.web.pages import LIBRARY, TRAILS

from .conftest import base, finished, rows_of_kinds, run, served, upload

WEB = Path(unveil.__file__).parent / "web"
ODD = "<script>alert(1)</script>"
PAGES = [f"/{trail.path}" if trail.path else "" for trail in TRAILS]


def test_examples_are_listed(client):
    assert "college_plans" in [e["name"] for e in client.get("/api/examples").json()]


def test_what_was_understood_and_what_a_person_corrects(busy):
    key = upload(busy, "who,x,y,n\nAnn,1.5,a,2\nBo,,b,3\nCy,2.5,a,4\n")
    job = finished(busy, key, 1)
    assert [(c["name"], c["kind"], c["n_missing"]) for c in job["result"]["columns"]] == [
        ("who", "discrete", 0), ("x", "continuous", 1), ("y", "discrete", 0), ("n", "discrete", 0),
    ]  # fmt: skip
    assert job["result"]["preview"][1] == ["Bo", None, "b", 3]
    asked = {"kinds": {"x": "text"}, "weights": "n", "cut": "equal_width", "bins": 2}
    answer = busy.put(f"/api/a/{key}/asked", json=asked)
    job = finished(busy, key, answer.json()["number"])
    assert job["result"]["is_weighted"]
    assert job["result"]["total_weight"] == 9
    assert [c["kind"] for c in job["result"]["columns"]] == ["discrete"] * 3


@pytest.mark.parametrize(
    ("text", "words"), [("PK\x03\x04 nonsense", "Excel"), ("a,a\n1,2\n", "both called 'a'")]
)
def test_tables_that_are_none_are_answered_with_a_sentence(busy, text, words):
    key = upload(busy, text, "my table.csv")
    job = finished(busy, key, 1)
    assert job["state"] == "failed"
    assert words in job["problem"]
    assert "/" not in job["problem"].replace("my table.csv", "").replace("and/or", "")


def test_an_empty_file_and_one_that_is_too_large_leave_nothing(tmp_path, limits):
    small = replace(limits, upload_bytes=1000)
    with served(tmp_path, small) as asking:
        for content, status, words in (
            (b"", 422, "empty"), (b"x" * 1001, 413, "larger than"), (b"x" * 5000, 413, "larger"),
        ):  # fmt: skip
            answer = asking.post("/api/analyses", content=content)
            assert (answer.status_code, words in answer.json()["problem"]) == (status, True)
    assert list((tmp_path / "analyses").iterdir()) == []


def test_too_many_columns_are_refused(tmp_path, limits):
    with served(tmp_path, replace(limits, max_columns=2)) as asking:
        job = finished(asking, upload(asking, "a,b,c\n1,2,3\n"), 1)
    assert "3 columns, and this server takes 2" in job["problem"]


def test_the_network_is_that_of_the_library(busy, plans, tmp_path):
    saved = busy.get(f"{base(plans, 'learn')}/files/model.json")
    unveil.datasets.table("college_plans").write(tmp_path / "plans.csv")
    learned = unveil.learn(tmp_path / "plans.csv", weights="weight", seed=1)
    assert unveil.formats.loads(saved.text, "json") == learned.network
    arcs = plans["learn"]["result"]["arcs"]
    assert arcs == sorted(arcs, key=lambda a: -a["loss"])


def test_wishes_are_honoured_and_nodes_stay(busy, plans):
    first = busy.get(f"{base(plans, 'learn')}/picture").json()["after"]
    job = run(busy, plans["key"], "learn", forbidden=[["CP", "PE"]], required=[["SEX", "IQ"]])
    arcs = [(a["parent"], a["child"]) for a in job["result"]["arcs"]]
    assert ("SEX", "IQ") in arcs
    assert ("CP", "PE") not in arcs
    second = busy.get(f"/api/a/{plans['key']}/jobs/{job['number']}/picture").json()["after"]
    places = [{n["name"]: (n["x"], n["y"]) for n in drawn["nodes"]} for drawn in (first, second)]
    assert places[0] == places[1]


def test_a_neighbourhood_is_a_variable_and_its_blanket(busy, plans):
    picture = busy.get(f"{base(plans, 'learn')}/picture", params={"around": "SEX"}).json()["after"]
    network = unveil.formats.loads(
        busy.get(f"{base(plans, 'learn')}/files/model.json").text, "json"
    )
    assert {n["name"] for n in picture["nodes"]} == network.dag.markov_blanket("SEX") | {"SEX"}
    answer = busy.get(f"{base(plans, 'learn')}/picture", params={"around": "nobody"})
    assert answer.status_code == 422


def test_before_and_after_share_their_places(busy, kinds):
    told = busy.get(f"{base(kinds, 'discover')}/picture").json()
    where = {n["name"]: (n["x"], n["y"]) for n in told["after"]["nodes"]}
    assert all(where[n["name"]] == (n["x"], n["y"]) for n in told["before"]["nodes"])
    assert any(n["hidden"] for n in told["after"]["nodes"])
    result = kinds["discover"]["result"]
    assert result["hidden"] == ["H1"]
    assert any(tried["kept"] for tried in result["tried"])


def test_answers_are_those_of_the_library(busy, plans):
    network = unveil.formats.loads(
        busy.get(f"{base(plans, 'learn')}/files/model.json").text, "json"
    )
    question = {
        "given": {"PE": 0}, "do": {"SES": 1}, "target": "CP", "why": True, "next": True,
        "explain": True,
    }  # fmt: skip
    told = busy.post(f"{base(plans, 'learn')}/ask", json=question).json()
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
    answer = busy.post(f"{base(plans, 'learn')}/ask", json=question)
    assert answer.status_code == 422
    assert words in answer.json()["problem"]


def test_everything_can_be_taken_along(busy, kinds):
    names = [f"model.{e}" for e in ("json", "bif", "xmlbif", "net", "xdsl", "uai", "dot")]
    names += ["picture.svg", "picture.png", "picture.pdf", "report.html", "result.json"]
    for name in [*names, "posteriors.csv"]:
        answer = busy.get(f"{base(kinds, 'discover')}/files/{name}")
        assert answer.status_code == 200
        assert len(answer.content) > 100
        assert "attachment" in answer.headers["content-disposition"]


@pytest.mark.parametrize(
    "name", ["job.json", "..%2Fjob.json", "state.json", "model.exe", "output.txt"]
)
def test_nothing_else_can_be_taken(busy, kinds, name):
    assert busy.get(f"{base(kinds, 'discover')}/files/{name}").status_code == 404


def test_a_report_on_its_own_has_no_origin(busy, kinds):
    shown = busy.get(f"{base(kinds, 'discover')}/files/report.html?show=true")
    assert shown.headers["content-security-policy"].startswith("sandbox allow-scripts;")
    assert "content-disposition" not in shown.headers


def test_arcs_are_averaged_over_the_best_networks(plans):
    result = plans["learn"]["result"]
    assert result["n_averaged"] == 10
    sure = {(a["parent"], a["child"]): a["joined"] for a in result["arcs"]}
    assert all(0.5 < share <= 1 for share in sure.values())
    assert any(share > 0.999 for share in sure.values())


def test_rows_are_sorted_and_paged(busy, plans):
    address = f"{base(plans, 'cluster')}/rows"
    told = busy.get(address).json()
    sorted_ = busy.get(address, params={"sort": told["columns"][1], "down": True}).json()
    assert told["columns"][1].startswith("P(")
    values = [row[1] for row in sorted_["rows"]]
    assert values == sorted(values, reverse=True)
    assert told["numbers"] == list(range(50))
    first = sorted_["numbers"][0]
    page = busy.get(address, params={"page": first // 50 + 1}).json()
    assert page["rows"][first % 50] == sorted_["rows"][0]
    assert told["n_rows"] == 128
    assert len(busy.get(address, params={"page": 3}).json()["rows"]) == 28
    assert busy.get(address, params={"sort": "nothing"}).status_code == 422


@pytest.mark.parametrize("task", ["learn", "cluster", "discover", "classify"])
def test_lines_give_the_same(busy, plans, kinds, task, tmp_path, monkeypatch):
    known = plans if task in plans else kinds
    told = busy.get(f"{base(known, task)}/lines").json()
    monkeypatch.chdir(tmp_path)
    unveil.datasets.table("college_plans").write("college_plans.csv")
    (tmp_path / "kinds.csv").write_text(rows_of_kinds())
    saved = unveil.formats.loads(busy.get(f"{base(known, task)}/files/model.json").text, "json")
    if task != "discover":  # one run of it is enough
        assert main(shlex.split(told["command"])[1:]) == 0
        assert saved == unveil.load("found/model.json" if task == "classify" else "model.json")
    else:
        assert told["command"].startswith("unveil discover kinds.csv --equivalent-sample-size 1 ")
    scope = {}
    exec(told["python"].replace("print(found)", ""), scope)
    assert scope["found"].network == saved


def test_odd_names_are_harmless(busy):
    key = upload(busy, f'"{ODD}",y\n"{ODD}",a\nb,b\n"{ODD}",a\nb,b\n', f"{ODD}.csv")
    finished(busy, key, 1)
    job = run(busy, key, "learn")
    assert job["state"] == "done"
    for page in PAGES:
        assert ODD not in busy.get(f"/a/{key}{page}").text
    assert ODD not in busy.get(f"/api/a/{key}/jobs/{job['number']}/files/report.html").text


def test_what_is_not_there_is_said(busy, plans):
    nobody = "A" * 22
    for path in (
        f"/a/{nobody}", f"/api/a/{nobody}", f"/api/a/{nobody}/jobs/1/events",
        f"/api/a/{plans['key']}/jobs/999", "/nowhere", "/library/nothing",
        f"/a/{plans['key']}/nothing",
    ):  # fmt: skip
        assert busy.get(path).status_code == 404
    assert "That did not work" in busy.get(f"/a/{nobody}").text


def test_wrong_settings_are_told(busy, plans):
    for task, settings, words in (
        ("learn", {"seconds": -1}, "seconds"),
        ("learn", {"nonsense": 1}, "nonsense"),
        ("discover", {"required": [["a", "b", "c"]]}, "required"),
        ("nothing", {}, "no task"),
    ):
        answer = busy.post(f"/api/a/{plans['key']}/jobs", json={"task": task, "settings": settings})
        assert answer.status_code == 422
        assert words in answer.json()["problem"]
    job = run(busy, plans["key"], "learn", required=[["SEX", "nobody"]])
    assert "nobody" in job["problem"]


def test_numbers_in_the_way_are_told_with_what_to_do(busy):
    lines = [f"{i}.5,{'ab'[i % 2]},{'' if i % 7 == 0 else i % 3}" for i in range(40)]
    key = upload(busy, "\n".join(["how long,kind,part", *lines]))
    job = run(busy, key, "cluster", most=2)
    assert "discretise it first, with the choice for numbers on this page." in job["problem"]
    job = run(busy, key, "cluster", most=2, cut="equal_width", bins=2)
    assert job["state"] == "done"
    lines = busy.get(f"/api/a/{key}/jobs/{job['number']}/lines").json()
    assert "--discretize equal_width --n-bins 2" in lines["command"]


def test_every_page_and_text_can_be_read(busy, plans):
    for page in PAGES:
        assert busy.get(f"/a/{plans['key']}{page}").status_code == 200
    for name in LIBRARY:
        text = busy.get(f"/library/{name}").text
        assert "<h1>" in text
        for picture in re.findall(r'<img [^>]*src="([^"]+)"', text)[1:]:
            assert busy.get(f"/library/{picture}").headers["content-type"] == "image/svg+xml"


def test_words_on_pages_are_in_the_glossary(busy):
    glossary = busy.get("/library/glossary").text
    sources = [p for kind in ("templates", "static") for p in (WEB / kind).iterdir()]
    linked = {
        word for p in sources for word in re.findall(r"/library/glossary#([\w-]+)", p.read_text())
    }
    assert "arc" in linked
    assert [word for word in linked if f'<tr id="{word}">' not in glossary] == []
