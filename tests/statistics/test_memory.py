"""Counting in memory: against enumeration, and what it refuses."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from score.tables import random_table, tables

from unveil.errors import DataError, SizeError
from unveil.statistics import MemoryStatistics
from unveil.table import Table, Variable


@given(tables(), st.data())
@settings(max_examples=40, deadline=None)
def test_counts_by_enumeration(table, data):
    n = len(table.names)
    members = data.draw(st.permutations(range(n)))[: data.draw(st.integers(1, n))]
    (counts,) = MemoryStatistics(table).counts([members])
    columns = [table.column(table.names[m]) for m in members]
    for cell in product(*(range(size) for size in counts.shape)):
        here = np.logical_and.reduce([c == s for c, s in zip(columns, cell, strict=True)])
        assert counts[cell] == pytest.approx(table.row_weights[here].sum())


def test_bitmaps_only_where_every_weight_is_one():
    table = random_table(0, (2, 3), 70)
    assert MemoryStatistics(table).rows.bits.shape == (5, 2)
    assert MemoryStatistics(table.with_weights(np.ones(70))).rows.bits.shape == (5, 2)
    assert MemoryStatistics(table.with_weights(np.full(70, 0.5))).rows.bits.shape == (5, 0)


def test_many_states_take_wider_codes():
    variable = Variable("A", range(300))
    table = Table([variable, Variable("B", [0, 1])], [np.arange(300), np.arange(300) % 2])
    statistics = MemoryStatistics(table)
    assert statistics.rows.codes.dtype == np.uint16
    assert statistics.counts([[0, 1]])[0][299].tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"x": [1.5, 2.25, 3.0]}, "column 'x' is continuous"),
        ({"x": ["a", None, "b"]}, r"column 'x' has 1 missing cells \(the first in row 2\)"),
    ],
)
def test_refused_columns(columns, words):
    with pytest.raises(DataError, match=words):
        MemoryStatistics(Table.from_frame(columns)).counts([[0]])


def test_refused_rows_and_sizes():
    table = random_table(0, (2, 2), 4)
    with pytest.raises(DataError, match="no rows"):
        MemoryStatistics(table.take([])).check_learnable()
    with pytest.raises(DataError, match="all rows are zero"):
        MemoryStatistics(table.with_weights(np.zeros(4))).check_learnable()
    wide = Table([Variable(n, range(1000)) for n in "ABC"], [np.zeros(2, int)] * 3)
    with pytest.raises(SizeError, match="A, B, C would have 1,000,000,000 cells"):
        MemoryStatistics(wide).counts([[0, 1, 2]])
