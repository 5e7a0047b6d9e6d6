"""A model learned from columns that were cut takes numbers at every door, from its file too."""

import csv

import numpy as np
import pytest

import unveil
from unveil.cli import main
from unveil.infer import fill_in, with_posteriors


@pytest.fixture(scope="module")
def rows():
    generator = np.random.default_rng(1)
    age = generator.uniform(18, 90, 400).round(1)
    sick = np.where(generator.random(400) < (age > 50) * 0.6 + 0.2, "yes", "no")
    dose = generator.integers(1, 40, 400)
    return {"age": age, "sick": sick, "dose": dose}


@pytest.fixture(scope="module")
def folder(rows, tmp_path_factory):
    """A table in a file, with a copy that has gaps, and models learned from it."""
    place = tmp_path_factory.mktemp("cuts")
    unveil.Table.from_frame(rows).write(place / "rows.csv")
    words = ["--discretize", "equal_frequency", "--n-bins", "3"]
    for ending in ("json", "bif", "xdsl", "net", "xmlbif"):
        model = str(place / f"model.{ending}")
        assert main(["learn", str(place / "rows.csv"), *words, "-o", model]) == 0
    gaps = unveil.Table.from_frame(rows).knock_out(0.2, seed=1)
    gaps.write(place / "gaps.csv")
    return place


@pytest.mark.parametrize("ending", ["json", "bif", "xdsl", "net", "xmlbif"])
def test_cuts_are_in_the_file(folder, rows, ending):
    model = unveil.load(folder / f"model.{ending}")
    table = unveil.Table.from_frame(rows)
    low, high = model.variable("age").cuts
    assert 30 < low < high < 75
    assert model.log_likelihood(table) == pytest.approx(
        unveil.load(folder / "model.json").log_likelihood(table)
    )


def test_the_very_file_can_be_predicted_and_imputed(folder, capsys):
    model, data, out = (str(folder / n) for n in ("model.json", "rows.csv", "out.csv"))
    assert main(["predict", model, data, "--of", "sick", "-o", out]) == 0
    with open(out, encoding="utf-8") as file:
        first = next(csv.DictReader(file))
    assert {"age", "predicted sick", "P(sick=yes)"} <= set(first)
    assert float(first["age"]) > 0
    assert main(["impute", model, str(folder / "gaps.csv"), "-o", out]) == 0
    assert "0 empty cells" not in capsys.readouterr().out
    with open(out, encoding="utf-8") as file, open(folder / "gaps.csv", encoding="utf-8") as gaps:
        pairs = [
            (a["age"], b["age"]) for a, b in zip(*map(csv.DictReader, (file, gaps)), strict=True)
        ]
    assert all(float(now) == float(before) for now, before in pairs if before)
    labels = unveil.load(model).variable("age").states
    assert all(now in labels for now, before in pairs if not before)


def test_questions_are_asked_with_numbers(folder, capsys):
    model = str(folder / "model.json")
    label = unveil.load(model).variable("age").states[1]
    answers = []
    for finding in ("age=54", f"age={label}", "age= 54.0 "):
        assert main(["query", model, "--given", finding, "--of", "sick"]) == 0
        answers.append(capsys.readouterr().out)
    assert len(set(answers)) == 1
    assert main(["query", model, "--given", "age=old"]) == 1
    assert "'age' has no state 'old'" in capsys.readouterr().err


def test_in_python(folder, rows):
    model = unveil.load(folder / "model.json")
    table = unveil.Table.from_frame(rows)
    few = unveil.Table.from_frame({"age": [20, 54, 88], "dose": [3, 9, 30]})
    assert model.posterior({"age": 54}, of="sick")["sick"][0] == pytest.approx(
        model.posterior(few.select(["age"]), of="sick")["sick"][1]
    )
    assert unveil.log_loss(model, table).bits > 0
    assert len(model.predict(few, "sick")) == 3
    assert with_posteriors(model, few).labels("age") == [20, 54, 88]
    assert fill_in(model, few) == few
    assert model.do({"age": 54}).dag.parents("age") == ()


def test_estimators(rows):
    frame = unveil.Table.from_frame(rows).to_pandas()
    model = unveil.BayesianNetwork(discretize="kmeans", random_state=1).fit(frame)
    assert set(model.cuts_) == {"age", "dose"}
    said = model.network_.predict(unveil.Table.from_frame(rows), "sick")
    assert said == model.network_.predict(frame, "sick")
    coarse = unveil.Discretizer(method="kmeans").fit(frame)
    assert coarse.cuts_ == model.cuts_
    cut = coarse.transform(frame)
    assert cut["age"].cat.categories.tolist() == list(model.network_.variable("age").states)
    assert model.network_.predict(cut, "sick") == said
