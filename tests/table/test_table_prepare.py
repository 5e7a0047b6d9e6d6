"""`prepare`: what every door does to a table before learning from it."""

import numpy as np
import pytest

from unveil import datasets
from unveil.errors import DataError, UnveilWarning
from unveil.table import Table, Variable, cut_variables, prepare
from unveil.table.order import likeness_of_neighbours, tell_of_order

X = np.linspace(0.1, 9.7, 40)
MIXED = Table.from_frame({"x": X, "y": X[::-1] * 0.3, "z": ["a", "b"] * 20})


def test_continuous_columns_are_cut_and_the_cuts_kept():
    done = prepare(MIXED, drop=["y"], discretize="equal_frequency", n_bins=4)
    assert done.table.names == ("x", "z")
    assert done.table.variable("x").n_states == 4
    assert done.table.variable("x") == cut_variables(MIXED, ["x"], n_bins=4)[0]
    assert list(done.cuts) == ["x"]


def test_a_discrete_table_stays_as_it_is():
    done = prepare(MIXED, drop=["x", "y"], discretize="kmeans")
    assert (done.table, done.cuts) == (MIXED.select(["z"]), {})


def test_each_face_gets_its_own_advice():
    with pytest.raises(DataError) as refused:
        prepare(MIXED)
    assert str(refused.value).startswith(
        "2 columns are continuous (x, y). Make them discrete with discretize='equal_frequency' "
    )
    assert refused.value.said("command").endswith(
        "Make them discrete with --discretize equal_frequency (or equal_width, kmeans, deviation), "
        "read them as they are with --discrete NAME, or leave them out with --drop NAME."
    )
    nothing = np.full(40, np.nan)
    empty = MIXED.with_column(Variable("a"), nothing).with_column(Variable("b"), nothing)
    with pytest.raises(DataError, match="column 'a' has no values") as refused:
        prepare(empty, discretize="kmeans")
    assert str(refused.value).endswith("leave it out with table.without(['a', 'b'])")
    assert refused.value.said("command").endswith("leave it out with --drop a --drop b")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"drop": ["x", "y", "z"]}, "leaves nothing to learn from"),
        ({"drop": ["q"]}, "no column 'q'"),
        ({"discretize": "luck"}, "discretize is one of equal_width.*, not 'luck'"),
        ({"discretize": "kmeans", "n_bins": 1}, "at least 2"),
    ],
)
def test_refusals(options, sentence):
    with pytest.raises(DataError, match=sentence):
        prepare(MIXED, **options)


def test_identifiers_are_left_out():
    names = Table.from_frame({"id": [f"n{i}" for i in range(60)], "b": ["x", "y"] * 30})
    with pytest.warns(UnveilWarning, match="'id' looks like an identifier and is left out") as told:
        done = prepare(names)
    assert (done.table.names, done.left_out) == (("b",), ("id",))
    assert told[0].message.said("command").endswith("(--discrete id keeps it)")
    with pytest.warns(UnveilWarning, match="'id' has 60 states in 60 rows"):
        assert "id" in prepare(names, keep=["id"]).table
    few = names.take(np.arange(50))  # few rows: nothing is said, or a warning would fail here
    assert prepare(few).table == few


def test_what_is_mostly_different_is_warned_of():
    names = Table.from_frame({"a": [f"n{i % 55}" for i in range(100)], "b": ["x", "y"] * 50})
    with pytest.warns(UnveilWarning, match="'a' has 55 states in 100 rows") as told:
        assert "a" in prepare(names).table
    assert told[0].message.said("command").endswith("(leave it out with --drop a)")


ROWS = np.arange(120)
XY = np.array(["x", "y"])[np.random.default_rng(1).integers(2, size=120)]


@pytest.mark.parametrize(
    ("column", "role"),
    [
        (np.array(["2024-01-01"], "M8[D]")[0] + ROWS // 2, "a date"),
        ([f"{1 + i % 28}.{1 + i // 28}.1999" for i in ROWS], "a date"),
        ([f"2024/03/{1 + i % 30} 12:{i % 60:02}" for i in ROWS], "a date"),
        (ROWS + 1000.0, "a row number"),
        (np.random.default_rng(2).permutation(120), "an identifier"),
    ],
)
def test_columns_that_are_no_variables_are_left_out(column, role):
    table = Table.from_frame({"case_id": column, "b": XY})
    with pytest.warns(UnveilWarning, match=f"'case_id' looks like {role} and is left out"):
        assert prepare(table).table.names == ("b",)


@pytest.mark.parametrize(
    "column",
    [
        np.random.default_rng(2).permutation(120) + 0.5,  # no whole numbers
        [f"2024-01-{1 + i % 3:02}" for i in ROWS],  # a few dates: states as good as any
        [f"{i % 5}-{i % 7}" for i in ROWS],
    ],
)
def test_variables_are_not_left_out(column):
    table = Table.from_frame({"case_id": column, "b": XY})
    assert prepare(table, discretize="kmeans").left_out == ()


def test_what_would_leave_nothing_is_not_left_out():
    table = Table.from_frame({"id": [f"n{i}" for i in range(60)]})
    with pytest.warns(UnveilWarning, match="'id' has 60 states"):
        assert prepare(table).table == table


@pytest.mark.parametrize("name", ["count", "Freq", "n", "whatever"])
def test_counts_of_rows_are_told(name):
    counts = np.random.default_rng(1).integers(500, size=48)
    cells = {"a": np.repeat(range(4), 12), "b": np.tile(np.repeat(range(4), 3), 4)}
    table = Table.from_frame(cells | {"c": np.tile(list("xyz"), 16), name: counts})
    with pytest.warns(UnveilWarning, match=f"'{name}' looks like how often each row") as told:
        prepare(table, discretize="kmeans")
    assert str(told[0].message).endswith(f"read the table with weights={name!r}")
    assert told[0].message.said("command").endswith(f"read the table with --weights {name}")
    (sentence,) = [s for s in table.describe().sentences if repr(name) in s]
    assert f"--weights {name}" in sentence
    assert "identifier" not in sentence


def test_not_every_whole_number_is_a_count():
    table = Table.from_frame({"n": np.arange(60) % 7, "b": ["x", "y"] * 30})  # rows come twice
    prepare(table)
    other = Table.from_frame({"dose": [3, 1, 2, 9], "b": ["x", "y", "z", "u"]})
    prepare(other)


def walk(n_rows, n_columns=4, seed=0):
    steps = np.random.default_rng(seed).normal(size=(n_rows, n_columns)).cumsum(axis=0)
    return Table.from_frame(steps, names=[f"price{i}" for i in range(n_columns)])


def test_rows_in_order_of_time_are_told():
    with pytest.warns(UnveilWarning, match="rows agree 8[0-9]% more than chance") as told:
        tell_of_order(walk(500))
    assert told[0].message.said("command").endswith("--blocks, whole blocks of rows are left out.")
    assert "followed one another in time" in walk(500).describe().sentences[0]


def test_dates_beside_them_do_not_hide_it():
    days = np.datetime64("2020-01-01") + np.arange(500)
    table = Table.from_frame(walk(500).to_dict() | {"day": days, "row": np.arange(500)})
    assert likeness_of_neighbours(table) > 0.5
    assert "followed one another in time" in table.describe().sentences[0]


def test_rows_that_are_merely_sorted_are_not_told(random_seed):
    table = datasets.network("alarm").sample(400, seed=random_seed)
    assert likeness_of_neighbours(table) is None
    order = np.lexsort([table.column(n) for n in ("HR", "BP", "CO")])
    assert likeness_of_neighbours(table.take(order)) is None
    assert likeness_of_neighbours(walk(500).take(np.random.default_rng(1).permutation(500))) is None
    assert likeness_of_neighbours(datasets.table("college_plans").with_weights(None)) is None


def test_weighted_and_few_rows_are_no_series():
    assert likeness_of_neighbours(walk(90)) is None
    assert likeness_of_neighbours(walk(500).with_weights(np.ones(500))) is None
