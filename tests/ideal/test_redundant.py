"""Columns that say nothing of their own are told and left out, with shortlists and curves, too."""

import numpy as np
import pytest

import unveil
from unveil.errors import DataError, UnveilWarning


def columns():
    a, b, e = np.random.default_rng(1).normal(size=(3, 80))
    return {"a": a, "b": b, "c": a - b + e}


@pytest.mark.parametrize("options", [{"ideal": 2}, {"family": "sigmoid"}], ids=str)
def test_a_column_of_one_value_is_left_out(options):
    with pytest.warns(UnveilWarning, match="'k' has the value 3.5 in every row; it is left out"):
        found = unveil.learn(columns() | {"k": np.full(80, 3.5)}, search="hill-climbing", **options)
    assert set(found.network.names) == {"a", "b", "c"}


@pytest.mark.parametrize("more", ["copy", "sum"])
def test_functions_of_others_are_left_out_of_lines(more):
    rows = columns()
    rows["z"] = 3 * rows["a"] if more == "copy" else rows["a"] + rows["b"]
    with pytest.warns(UnveilWarning, match="column 'z' is .* it is left out"):
        assert "z" not in unveil.learn(rows, ideal=2).network.names


def test_curves_keep_copies():
    rows = columns()
    rows["z"] = 3 * rows["a"]
    found = unveil.learn(rows, family="sigmoid", search="hill-climbing")
    assert found.dag.adjacent("a", "z")
    assert np.isfinite(found.score)


def test_nothing_varies():
    with pytest.raises(DataError, match="no column varies"):
        unveil.learn({"a": np.full(9, 1.5), "b": np.full(9, 2.5)}, family="sigmoid")
