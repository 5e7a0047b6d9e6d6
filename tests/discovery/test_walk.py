"""Walks over graphs with hidden roots: children come and go."""

from itertools import pairwise

import numpy as np
import pytest

from unveil import DAG, Table, Variable
from unveil.discovery.continuous.adapting import adapted
from unveil.discovery.continuous.kicks import kicked
from unveil.discovery.continuous.merge import merged
from unveil.discovery.continuous.procedure import baseline_graph
from unveil.discovery.continuous.settings import NumberSettings
from unveil.discovery.continuous.walk import walked
from unveil.discovery.continuous.walks import as_one, walks
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


def test_kicks_lead_where_no_walk_leads(rows, monkeypatch):
    truth = fitted_graph(rows, chain(TRUE), ["H"])
    baseline = baseline_graph(rows, SETTINGS)
    with monkeypatch.context() as patch:
        patch.setattr("unveil.discovery.continuous.walks.kicked", lambda graph, *_: graph)
        ends = walks(baseline, [], rows, SETTINGS, Ticker())
    assert max(g.score for g in ends) < truth.score - 5
    best = max(walks(baseline, [], rows, SETTINGS, Ticker()), key=lambda g: g.score)
    assert sorted(best.dag.children(best.hidden[0])) == TRUE
    assert best.score > truth.score - 0.01
    # The same again every time.
    end = min(ends, key=lambda g: g.score)
    one, other = (kicked(end, rows, SETTINGS, Ticker()) for _ in range(2))
    assert one.dag == other.dag


@pytest.fixture(scope="module")
def star():
    """Ten columns below one root."""
    generator = np.random.default_rng(4)
    h = generator.normal(size=500)
    x = [h * (-1) ** i * (0.5 + 0.05 * i) + generator.normal(size=500) for i in range(10)]
    return Observed.of(Table([Variable(n) for n in NAMES], x))


def test_two_halves_of_a_root_are_made_one(star):
    halves = [*(("G", n) for n in NAMES[:5]), *(("H", n) for n in NAMES[5:])]
    links = [(NAMES[0], NAMES[5]), (NAMES[1], NAMES[6])]
    two = fitted_graph(star, DAG([*NAMES, "G", "H"], [*halves, *links]), ["G", "H"])
    best = merged(two, star, SETTINGS, Ticker())[0]
    assert len(best.hidden) == 1
    assert len(best.dag.children(best.hidden[0])) == 10
    assert best.score > two.score + 10
    assert as_one(two, star, SETTINGS, Ticker()).score >= best.score


def test_roots_that_are_two_stay_two(star):
    values = star.values.copy()
    values[:, 5:] = np.random.default_rng(5).permutation(values[:, 5:])
    apart = Observed.of(Table([Variable(n) for n in NAMES], list(values.T)))
    halves = [*(("G", n) for n in NAMES[:5]), *(("H", n) for n in NAMES[5:])]
    two = fitted_graph(apart, DAG([*NAMES, "G", "H"], halves), ["G", "H"])
    assert as_one(two, apart, SETTINGS, Ticker()) is two
