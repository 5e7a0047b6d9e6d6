"""What a description says, and each kind of oddity."""

import numpy as np
import pytest

from unveil.table import Table, Variable, describe


def sentences(column, **options):
    """The sentences about one column of a table."""
    return " / ".join(describe(Table.from_frame({"x": column}, **options)).columns[0].oddities)


def test_a_plain_table():
    table = Table.from_frame({"x": ["a", "a", "b", None], "y": [0.5, 1.5, 2.5, 4.5]})
    found = describe(table.with_weights([1, 1, 2, 4]))
    x, y = found.columns
    assert (x.kind, x.n_states, x.n_distinct, x.n_missing, x.missing_share) == (
        "discrete",
        2,
        2,
        1,
        0.5,
    )
    assert x.common == (("a", 0.5), ("b", 0.5))
    assert (y.kind, y.n_states, y.minimum, y.mean, y.maximum) == (
        "continuous",
        None,
        0.5,
        3.125,
        4.5,
    )
    assert (found.n_rows, found.total_weight, found.n_missing, found.n_distinct_rows) == (
        4,
        8,
        1,
        4,
    )
    assert found.sentences == ("column 'x': 1 state seen in one row only: 'b'",)


rows = np.arange(200)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (["a"] * 5, "constant: every row holds 'a'"),
        ([2.5] * 5, "constant: every row holds 2.5"),
        (["a"] * 199 + ["b"], "nearly constant: all rows but 1 hold 'a'"),
        ([f"id{i}" for i in rows], "every row holds a different label, like an identifier"),
        ([f"s{i % 60}" for i in rows], "many states (60)"),
        (["a", "a", "b", "c", "c"], "1 state seen in one row only: 'b'"),
        (["Yes", "yes", "no", " yes", "Yes"], "'Yes', 'yes' differ only by case or spaces"),
        ([str(i % 30) for i in rows] + ["unknown"], "numbers kept as text because of 'unknown'"),
        ([f"{i % 9},5" for i in rows], "decimal commas"),
        (rows + 7, "counts up by one"),
        (rows**2, "whole numbers, different in every row"),
        (rows % 4 + 0.5, "only 4 distinct numbers"),
        ([0.0] * 100 + [i / 7 for i in rows], "one number, 0, fills 34% of the cells"),
        (["a", None, None, "b"], "more than half"),
    ],
)
def test_column_oddities(column, words):
    if words == "more than half":
        column = [*column, None]
    found = sentences(column)
    assert words in found.replace("' yes', ", "").replace(", ' yes'", "")


def test_a_column_of_missing_cells():
    table = Table.from_frame({"x": ["a", "b"]}).hide("x")
    assert "all cells are missing" in describe(table).columns[0].oddities[0]


def test_states_never_seen():
    table = Table([Variable("x", "abc")], [np.array([0, 1, 0, 1], np.uint8)])
    assert describe(table).columns[0].oddities == ("1 state never seen",)


def test_table_oddities():
    wide = Table.from_frame({f"x{i}": [0, 1] for i in range(3)})
    assert "more columns (3) than rows (2)" in describe(wide).oddities[0]
    twins = Table.from_frame({"x": list("aabba"), "y": [1, 1, 0, 0, 1], "z": [0, 1, 0, 1, 1]})
    assert "the columns 'x', 'y' say the same" in " ".join(describe(twins).oddities)
    assert "'z'" not in " ".join(describe(twins).oddities)
    reals = Table.from_frame({"x": [0.5, 1.5, 2.5], "y": [0.5, 1.5, 2.5], "z": [1.5, 2.5, 3.5]})
    assert "the columns 'x', 'y' say" in " ".join(describe(reals).oddities)
    many = Table.from_frame({"x": [0, 1] * 50})
    assert "only 2 of the 100 rows are different" in describe(many).oddities[0]


def test_an_empty_column_is_told_as_learning_takes_it():
    # Numbers that nobody ever saw are refused by `learn`; states that are declared may be hidden.
    table = Table.from_frame({"x": [0.5, 1.5, 2.5], "s": ["a", "b", "a"]}).hide(["x", "s"])
    numbers, states = (c.oddities[0] for c in describe(table).columns)
    assert "leave it out" in numbers
    assert "never observed" in states
