"""Walks over graphs with hidden roots: children come and go."""

from itertools import pairwise

import numpy as np
import pytest

from unveil import DAG, Table, Variable
from unveil.discovery.continuous.adapting import adapted
from unveil.discovery.continuous.procedure import baseline_graph
from unveil.discovery.continuous.settings import NumberSettings
from unveil.discovery.continuous.walk import walked
from unveil.discovery.continuous.walks import walks
from unveil.em.line_structure import fitted_graph
from unveil.em.lines import Observed
from unveil.ideal import luck
from unveil.progress import Ticker

SETTINGS = NumberSettings()
NAMES = [f"x{i}" for i in range(10)]
TRUE = ["x1", "x3", "x4", "x6", "x7", "x9"]


@pytest.fixture(scope="module")
def rows():
    """Six columns that share a root, and arcs of their own, in units that differ."""
    generator = np.random.default_rng(11)
    h = generator.normal(size=800)
    x = np.zeros((10, 800))
    for i in range(10):
        x[i] = generator.normal(size=800)
        if i:
            x[i] += 0.6 * x[i - 1] * (-1) ** i
        if NAMES[i] in TRUE:
            x[i] += 0.7 * h
    x *= 10.0 ** generator.uniform(-2, 2, size=(10, 1))
    x += 10.0 ** generator.uniform(0, 3, size=(10, 1))
    return Observed.of(Table([Variable(n) for n in NAMES], list(x)))


def chain(children):
    return DAG([*NAMES, "H"], [*pairwise(NAMES), *(("H", c) for c in children)])


def test_children_are_exchanged_until_they_are_the_true_ones(rows):
    begun = fitted_graph(rows, chain(["x0", "x2", "x4", "x5"]), ["H"])
    ended = walked(begun, rows, SETTINGS, Ticker(), 10)
    truth = fitted_graph(rows, chain(TRUE), ["H"])
    assert sorted(ended.dag.children("H")) == TRUE
    assert ended.score >= truth.score - 0.01
    assert adapted(begun, rows, SETTINGS, None).score < ended.score - 10


def test_a_walk_never_ends_below_where_it_began(rows):
    truth = fitted_graph(rows, chain(TRUE), ["H"])
    for patience in (0, 1, 5):
        assert walked(truth, rows, SETTINGS, Ticker(), patience).score >= truth.score - 0.01


@pytest.mark.parametrize("most", [1, 2])
def test_limits_are_kept(rows, most):
    begun = fitted_graph(rows, DAG([*NAMES, "H"], [("H", c) for c in TRUE[:3]]), ["H"])
    ended = walked(begun, rows, NumberSettings(max_parents=most), Ticker(), 8)
    assert max(len(ended.dag.parents(n)) for n in NAMES) == most
    assert len(ended.dag.children("H")) >= 3
    assert not ended.dag.parents("H")


def test_there_are_no_walks_with_gaps(rows):
    values = rows.values.copy()
    values[0, 0] = np.nan
    holed = Observed.of(Table([Variable(n) for n in NAMES], list(values.T)))
    alone = fitted_graph(holed, DAG(NAMES))
    assert walks(alone, [], holed, SETTINGS, Ticker()) == []


def test_wide_starts_find_the_root(rows):
    baseline = baseline_graph(rows, SETTINGS)
    best = max(walks(baseline, [], rows, SETTINGS, Ticker()), key=lambda g: g.score)
    (h,) = best.hidden
    assert len({*TRUE} & {*best.dag.children(h)}) >= 4
    assert best.score > baseline.score + luck(10, len(best.dag.children(h)))
