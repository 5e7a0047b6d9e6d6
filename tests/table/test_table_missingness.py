"""The report on gaps: no alarm for random ones, the right hint for others."""

import numpy as np
import pytest

from unveil import Table, datasets
from unveil.errors import DataError
from unveil.table.missingness import missing_as_state, missingness


def test_random_gaps_give_no_hints():
    alarms = 0
    for seed in range(40):
        table = datasets.network("asia").sample(500, seed=seed).knock_out(0.15, seed=1000 + seed)
        report = missingness(table)
        alarms += bool(report.hints) + bool(report.together)
    # 80 families of tests, each with a false alarm in about 1 of 100.
    assert alarms <= 5


def employed(n_rows: int = 2000) -> Table:
    """Income missing far more often for those without work; age and mood have nothing to do."""
    generator = np.random.default_rng(1)
    works = generator.random(n_rows) < 0.7
    gone = generator.random(n_rows) < np.where(works, 0.04, 0.38)
    income = np.where(generator.random(n_rows) < 0.5, "high", "low").astype(object)
    income[gone] = None
    return Table.from_frame(
        {
            "employed": np.where(works, "yes", "no"),
            "income": income,
            "mood": generator.choice(["good", "bad"], n_rows),
            "age": generator.normal(40, 10, n_rows),
        }
    )


def test_gaps_that_depend_on_another_column_are_hinted_at():
    report = missingness(employed())
    (hint,) = report.hints
    assert (hint.column, hint.given, hint.value) == ("income", "employed", "no")
    assert hint.rate == pytest.approx(0.38, abs=0.04)
    assert hint.rate_otherwise == pytest.approx(0.04, abs=0.02)
    assert hint.words.startswith("`income` is missing more often when employed = no (")
    assert hint.words in report.sentences
    assert "missing_as_state" in str(report)


def test_a_continuous_column_can_explain_gaps():
    generator = np.random.default_rng(2)
    age = generator.normal(40, 10, 1500)
    answer = generator.choice(["a", "b"], 1500).astype(object)
    answer[(age > 47) & (generator.random(1500) < 0.5)] = None
    (hint,) = missingness(Table.from_frame({"age": age, "answer": answer})).hints
    assert (hint.given, hint.column) == ("age", "answer")
    assert hint.value.startswith("above 4")


def test_columns_that_go_missing_together():
    generator = np.random.default_rng(3)
    table = datasets.network("asia").sample(800, seed=3)
    both = generator.random(800) < 0.2
    columns = {n: np.array(table.labels(n), dtype=object) for n in ("xray", "dysp", "smoke")}
    columns["xray"][both] = columns["dysp"][both] = None
    report = missingness(Table.from_frame(columns))
    (pair,) = report.together
    assert {pair.first, pair.second} == {"xray", "dysp"}
    assert pair.phi == pytest.approx(1.0)
    assert "go missing together (phi +1.00)" in pair.words
    assert [p.names for p in report.patterns] == [(), ("xray", "dysp")]
    assert report.patterns[1].share == pytest.approx(both.mean())


def test_amounts_are_weighted():
    table = Table.from_frame({"x": ["a", None, "b"], "y": [0, 1, 1]}).with_weights([1, 2, 1])
    report = missingness(table)
    assert (report.n_cells, report.row_share, report.cell_share) == (1, 0.5, 0.25)
    assert [(c.name, c.n_missing, c.share) for c in report.columns] == [
        ("x", 1, 0.5),
        ("y", 0, 0.0),
    ]


def test_a_complete_table_says_so():
    assert missingness(Table.from_frame({"x": ["a", "b"]})).sentences == ("no cell is missing",)


def test_a_column_without_any_value():
    table = Table.from_frame({"x": ["a", "b"] * 20, "y": [0, 1] * 20}).knock_out(1.0, names=["y"])
    report = missingness(table)
    assert report.columns[0].share == 1.0
    assert report.hints == ()


def test_missing_becomes_a_state():
    table = Table.from_frame({"x": ["a", None, "b"], "y": [1, 2, None], "z": [0, 1, 0]})
    stated = missing_as_state(table)
    assert stated.labels("x") == ["a", "missing", "b"]
    assert stated.labels("y") == [1, 2, "missing"]
    assert stated.variable("z") == table.variable("z")
    assert missing_as_state(table, "x").missing("y").sum() == 1
    assert missing_as_state(table, ["z"], label="?").variable("z").labels == (0, 1, "?")
    with pytest.raises(DataError, match="has a state 'a' already"):
        missing_as_state(table, label="a")


def test_many_states_keep_room_for_missing():
    table = Table.from_frame({"x": [f"s{i}" for i in range(255)] + [None]})
    assert missing_as_state(table).labels("x")[-1] == "missing"


def test_levels_and_weights_are_checked():
    table = Table.from_frame({"x": ["a", None]})
    with pytest.raises(DataError, match="level must be between 0 and 1, got 2"):
        missingness(table, level=2)
    with pytest.raises(DataError, match="weights of all rows are zero"):
        missingness(table.with_weights([0.0, 0.0]))
