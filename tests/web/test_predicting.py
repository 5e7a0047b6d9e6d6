"""The classification trail: how well, other rows, and why."""

import pytest

import unveil

from .conftest import base, finished, rows_of_kinds


def test_how_well_it_does_is_said(kinds):
    found = kinds["classify"]["result"]
    judged = found["judgement"]
    assert (found["target"], found["words"]) == ("x", "naive Bayes")
    assert judged["accuracy"] > judged["default_rate"] + 0.2
    assert sum(map(sum, judged["confusion"])) == 200
    assert {i["predictor"] for i in found["importances"]} == {"w", "y", "z"}


def test_rows_of_another_file_are_predicted_and_explained(busy, kinds):
    sent = b"w,y,z,more\nyes,yes,yes,1\nno,no,no,2\nmaybe,,no,3\n"
    answer = busy.post(
        f"{base(kinds, 'classify')}/predictions", params={"name": "others.csv"}, content=sent
    )
    job = finished(busy, kinds["key"], answer.json()["number"])
    assert job["state"] == "done", job
    assert (job["result"]["name"], job["result"]["n_rows"]) == ("others.csv", 3)
    own = f"/api/a/{kinds['key']}/jobs/{job['number']}"
    rows = busy.get(f"{own}/rows").json()
    assert rows["columns"][0] == "predicted x"
    assert [row[0] for row in rows["rows"]] == ["yes", "no", "no"]
    network = unveil.formats.loads(
        busy.get(f"{base(kinds, 'classify')}/files/model.json").text, "json"
    )
    for row, (w, y, z) in enumerate([("yes",) * 3, ("no",) * 3, (None, None, "no")]):
        told = busy.get(f"{own}/explain", params={"row": row}).json()
        why = unveil.Classifier(network, "x").explain({"w": [w], "y": [y], "z": [z]})
        assert told["label"] == why.label
        assert told["probability"] == pytest.approx(why.probability)
        assert told["after"] == pytest.approx(
            told["before"] + sum(weight["bits"] for weight in told["weights"])
        )
    assert busy.get(f"{own}/explain", params={"row": 3}).status_code == 422
    assert "--predict others.csv" in busy.get(f"{own}/lines").json()["command"]


def test_a_file_without_the_columns_is_refused(busy, kinds):
    answer = busy.post(f"{base(kinds, 'classify')}/predictions", content=b"q\n1\n2\n")
    job = finished(busy, kinds["key"], answer.json()["number"])
    assert job["state"] == "failed"
    assert "none of the predictors" in job["problem"]


def test_only_classifiers_predict(busy, kinds):
    rows = rows_of_kinds(2).encode()
    answer = busy.post(f"/api/a/{kinds['key']}/jobs/1/predictions", content=rows)
    assert answer.status_code == 404
    empty = busy.post(f"{base(kinds, 'classify')}/predictions", content=b"")
    assert empty.status_code == 422
    assert busy.get(f"{base(kinds, 'discover')}/explain").status_code == 422
