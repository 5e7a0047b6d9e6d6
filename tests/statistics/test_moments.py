"""Moments of weighted rows: exact arithmetic, merging, columns that say nothing."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil.statistics import (
    ConditionalMoments,
    GaussianMoments,
    MemoryStatistics,
    RememberedMoments,
    moments,
    redundant_columns,
)
from unveil.table import Table, Variable


def exact(values, weights):
    """Mean and scatter in fractions, without any rounding."""
    rows = [[Fraction(float(v)) for v in row] for row in values]
    masses = [Fraction(float(w)) for w in weights]
    total = sum(masses)
    n = len(rows[0])
    mean = [sum(w * r[i] for w, r in zip(masses, rows, strict=True)) / total for i in range(n)]
    scatter = [
        [
            sum(
                w * (r[i] - mean[i]) * (r[j] - mean[j])
                for w, r in zip(masses, rows, strict=True)
            )
            for j in range(n)
        ]
        for i in range(n)
    ]  # fmt: skip
    as_floats = [[float(cell) for cell in row] for row in scatter]
    return float(total), np.array([float(m) for m in mean]), np.array(as_floats)


def check(found, values, weights, rel=1e-9):
    total, mean, scatter = exact(values, weights)
    assert found.weight == pytest.approx(total, rel=1e-12)
    np.testing.assert_allclose(found.mean, mean, rtol=1e-14)
    np.testing.assert_allclose(found.scatter, scatter, rtol=rel, atol=rel * np.abs(scatter).max())


@pytest.mark.parametrize("origin", [0.0, 1e6, -1e12])
@pytest.mark.parametrize("block", [1, 1 << 20])
def test_columns_far_from_zero_keep_their_digits(monkeypatch, origin, block):
    monkeypatch.setattr(moments, "BLOCK", block)  # 512 rows at a time, or all
    random = np.random.default_rng(1)
    values = np.round(random.normal(size=(1200, 3)) * 64) / 64 + origin
    weights = random.uniform(0, 2, 1200)
    check(GaussianMoments.of_rows(values, weights), values, weights)


@given(st.integers(0, 10**6), st.integers(1, 39))
@settings(max_examples=25, deadline=None)
def test_parts_add_up(seed, cut):
    random = np.random.default_rng(seed)
    values, weights = random.normal(size=(40, 3)) + 50, random.uniform(0, 2, 40)
    weights[random.random(40) < 0.2] = 0.0
    halves = [GaussianMoments.of_rows(values[s], weights[s])
              for s in (slice(cut), slice(cut, None))]  # fmt: skip
    check(halves[0] + halves[1], values, weights)
    check((halves[1] + halves[0]).of_columns([2, 0]), values[:, [2, 0]], weights)


@given(st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_moments_of_configurations(seed):
    random = np.random.default_rng(seed)
    values, weights = random.normal(size=(60, 2)) - 1e5, random.uniform(0.1, 2, 60)
    where = random.integers(5, size=60)
    found = ConditionalMoments.of_rows(values, weights, where, (2, 3))
    for cell in range(6):
        here = where == cell
        if not here.any():
            assert found.weights.flat[cell] == 0
            continue
        check(found.at(np.unravel_index(cell, (2, 3))), values[here], weights[here], 1e-7)
    check(found.pooled(), values, weights, 1e-7)
    check(found.of_columns([1]).pooled(), values[:, [1]], weights, 1e-7)


def test_rows_are_read_once():
    table = Table(
        [Variable("a"), Variable("s", ["u", "v"]), Variable("b")],
        [np.arange(6.0), np.array([0, 1, 0, 1, 0, 1]), np.arange(6.0) ** 2],
    )
    engine = MemoryStatistics(table)
    asked = []

    class Watched:
        variables, total_weight = engine.variables, engine.total_weight

        def moments(self, members, by=()):
            asked.append((list(members), tuple(by)))
            return engine.moments(members, by)

    known = RememberedMoments(Watched())
    for members, by in [([2], ()), ([0, 2], ()), ([2, 0], (1,)), ([0], (1,))]:
        expected = engine.moments(members, by)
        found = known.moments(members, by)
        np.testing.assert_allclose(found.means, expected.means)
        np.testing.assert_allclose(found.scatters, expected.scatters)
    assert asked == [([0, 2], ()), ([0, 2], (1,))]


def names_of(found):
    return {r.name: r.of for r in found}


def test_columns_that_say_nothing_of_their_own():
    random = np.random.default_rng(2)
    a, b, c = random.normal(size=(3, 40)) + 1e4
    columns = {"a": a, "b": b, "copy": a, "hot": np.full(40, 36.6), "sum": 2 * a - b, "c": c}
    columns["near"] = c + 1e-3 * random.normal(size=40)
    values = np.array(list(columns.values())).T
    found = redundant_columns(list(columns), GaussianMoments.of_rows(values, np.ones(40)))
    assert names_of(found) == {"copy": ("a",), "hot": (), "sum": ("a", "b")}
    assert "36.6 in every row" in str(found[1])
    assert "sum of multiples of 'a', 'b'" in str(found[2])


@pytest.mark.parametrize("n_rows", [2, 3, 5])
def test_with_few_rows_only_copies_are_told(n_rows):
    random = np.random.default_rng(3)
    values = random.normal(size=(n_rows, 8))
    values[:, 7] = 3 * values[:, 2] + 1
    names = list("abcdefgh")
    found = redundant_columns(names, GaussianMoments.of_rows(values, np.ones(n_rows)))
    copies = {"h": ("c",)} if n_rows > 2 else {}
    assert {n: of for n, of in names_of(found).items() if len(of) == 1} == copies
