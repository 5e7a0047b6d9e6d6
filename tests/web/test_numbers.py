"""Tables of numbers, and of numbers and states, through all trails."""

import numpy as np
import pytest

import unveil

from .conftest import finished, run, upload


@pytest.fixture(scope="module")
def numbers(busy):
    """Six numbers with one behind them: a network and a discovery, as jobs."""
    draw = np.random.default_rng(2)
    behind = draw.normal(size=(240, 1))
    rows = behind * np.array([1.0, 0.9, -1.0, 1.1, 0.8, 1.0]) + 0.5 * draw.normal(size=(240, 6))
    lines = [",".join(f"{x:.4f}" for x in row) for row in rows]
    key = upload(busy, "\n".join(["a,b,c,d,e,f", *lines]), "numbers.csv")
    assert finished(busy, key, 1)["state"] == "done"
    jobs = {"learn": run(busy, key, "learn"), "discover": run(busy, key, "discover", max_hidden=2)}
    assert {j["state"] for j in jobs.values()} == {"done"}, jobs
    return {"key": key} | jobs


def base(known, task):
    return f"/api/a/{known['key']}/jobs/{known[task]['number']}"


def test_arcs_between_numbers_have_weights_and_boxes_what_is_explained(busy, numbers):
    result = numbers["learn"]["result"]
    picture = busy.get(f"{base(numbers, 'learn')}/picture").json()["after"]
    weights = {(a["parent"], a["child"]): a["weight"] for a in picture["arcs"]}
    assert weights == {(a["parent"], a["child"]): a["weight"] for a in result["arcs"]}
    assert any(w < 0 for w in weights.values())
    checks = {c["name"]: f"R² {c['r_squared']:.2f}" for c in result["checks"]}
    assert {n["name"]: n["caption"] for n in picture["nodes"] if n["caption"]} == checks


def test_what_is_behind_numbers_is_told_with_loadings(busy, numbers):
    result = numbers["discover"]["result"]
    assert (result["numbers"], result["hidden"]) == (True, ["H1"])
    signs = {x["child"]: x["weight"] > 0 for x in result["loadings"]["H1"]}
    assert signs == {name: name != "c" for name in "abcdef"}
    assert result["tried"][0]["kept"]
    picture = busy.get(f"{base(numbers, 'discover')}/picture").json()
    assert any(n["hidden"] and n["states"] is None for n in picture["after"]["nodes"])
    rows = busy.get(f"{base(numbers, 'discover')}/rows").json()
    assert rows["columns"][:2] == ["H1", "H1 (sd)"]
    page = busy.get(f"/a/{numbers['key']}/take").text
    assert "model.json" in page
    assert "model.bif" not in page  # which cannot hold it


def test_a_number_is_seen_done_and_asked_about(busy, numbers):
    network = unveil.formats.loads(
        busy.get(f"{base(numbers, 'discover')}/files/model.json").text, "json"
    )
    question = {"given": {"a": 1.5}, "do": {"b": -2.0}, "target": "H1", "why": True, "next": True,
                "explain": True}  # fmt: skip
    told = busy.post(f"{base(numbers, 'discover')}/ask", json=question).json()
    known = {"a": 1.5, "b": -2.0}
    expected = network.do({"b": -2.0}).posterior(known, of="H1").of("H1")
    assert told["beliefs"]["H1"]["mean"] == pytest.approx(expected["mean"])
    assert told["beliefs"]["a"] == {"mean": 1.5, "deviation": 0.0}
    assert [w["finding"] for w in told["why"]] == ["a"]
    assert {n["name"] for n in told["next"]} <= set("bcdef")
    assert told["log_probability"] is told["explanation"]["probability"] is None


def test_wishes_behind_numbers_are_refused_with_a_sentence(busy, numbers):
    job = run(busy, numbers["key"], "discover", no_parents=["a"])
    assert "behind numbers take no required or forbidden arcs" in job["problem"]


def test_wishes_hold_for_discoveries_and_their_lines(busy, kinds):
    wishes = {"required": [["w", "x"]], "no_parents": ["w"], "no_children": ["z"],
              "tiers": [["w"], ["x", "y"]], "places": [["x", "y", "z"]], "max_hidden": 1,
              "n_states": 2}  # fmt: skip
    job = run(busy, kinds["key"], "discover", seconds=6, **wishes)
    told = busy.get(f"/api/a/{kinds['key']}/jobs/{job['number']}/picture").json()
    for picture in told.values():
        if isinstance(picture, dict):
            arcs = {(a["parent"], a["child"]) for a in picture["arcs"]}
            assert ("w", "x") in arcs
            assert not any(child == "w" and parent in "xyz" for parent, child in arcs)
            assert not any(parent == "z" for parent, _ in arcs)
    lines = busy.get(f"/api/a/{kinds['key']}/jobs/{job['number']}/lines").json()
    for words in ("--require 'w -> x'", "--no-parents w", "--no-children z", "--tier w --tier x,y",
                  "--place x,y,z", "--n-states 2"):  # fmt: skip
        assert words in lines["command"]
    assert "places=[['x', 'y', 'z']]" in lines["python"]
    assert "no_children=['z']" in lines["python"]


def test_columns_that_are_left_out_unasked_are_named_in_python(busy):
    rows = [f"p{i:03d},{'ab'[i % 2]},{'ab'[(i // 2) % 2]}" for i in range(80)]
    key = upload(busy, "\n".join(["id,x,y", *rows]))
    job = run(busy, key, "learn")
    assert any("looks like" in note for note in job["result"]["notes"])
    assert "drop=['id']" in busy.get(f"/api/a/{key}/jobs/{job['number']}/lines").json()["python"]
    nodes = busy.get(f"/api/a/{key}/jobs/{job['number']}/picture").json()["after"]["nodes"]
    assert {n["name"] for n in nodes} == {"x", "y"}
