"""`prepare`: what every door does to a table before learning from it."""

import numpy as np
import pytest

from unveil.errors import DataError, UnveilWarning
from unveil.table import Discretizer, Table, Variable, prepare

X = np.linspace(0.1, 9.7, 40)
MIXED = Table.from_frame({"x": X, "y": X[::-1] * 0.3, "z": ["a", "b"] * 20})


def test_continuous_columns_are_cut_and_the_cuts_kept():
    done = prepare(MIXED, drop=["y"], discretize="equal_frequency", n_bins=4)
    assert done.table.names == ("x", "z")
    assert done.table.variable("x").n_states == 4
    assert done.discretizer == Discretizer.fit(MIXED, ["x"], method="equal_frequency", n_bins=4)


def test_a_discrete_table_stays_as_it_is():
    done = prepare(MIXED, drop=["x", "y"], discretize="kmeans")
    assert (done.table, done.discretizer) == (MIXED.select(["z"]), None)


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


def test_identifiers_are_warned_of():
    names = Table.from_frame({"id": [f"n{i}" for i in range(60)], "b": ["x", "y"] * 30})
    with pytest.warns(UnveilWarning, match="'id' has 60 states in 60 rows") as told:
        prepare(names)
    assert told[0].message.said("command").endswith("(leave it out with --drop id)")
    prepare(names.take(np.arange(50)))  # few rows: nothing is said, or a warning would fail here
