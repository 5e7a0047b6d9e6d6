"""Expected counts without completed rows, halves that are dealt, and decisions by all rows."""

from dataclasses import replace

import numpy as np
import pytest

import unveil
from unveil import DAG, Network, TableCPD, Variable
from unveil.discovery.all_rows import Everything, fitted, searched, without
from unveil.discovery.signatures_of_all import n_signatures, stars_at_signatures
from unveil.discovery.stars_of_all import _moved, _star, with_parent
from unveil.discovery.states_of_all import fitted_anew, resized
from unveil.discovery.whole import looked_at
from unveil.em import complete_rows, structural_em
from unveil.em.expected_counts import ExpectedCounts, can_be_shared
from unveil.em.scores import cheeseman_stutz
from unveil.engines import PartedRows
from unveil.engines.cluster import blocks
from unveil.engines.protocol import tree_sum
from unveil.errors import UnveilWarning
from unveil.progress import Ticker
from unveil.search.constraints import Constraints
from unveil.statistics.memory import MemoryStatistics


def star(n_states=2, n_children=5, seed=3, strength=0.8):
    """A hidden parent of binary columns, and one column that only the first has to do with."""
    random = np.random.default_rng(seed)
    hidden = Variable("H", range(n_states), hidden=True)
    columns = [Variable(f"x{i}", [0, 1]) for i in range(n_children + 1)]
    cpds = [TableCPD(hidden, [], np.full(n_states, 1 / n_states))]
    for i, x in enumerate(columns[:-1]):
        high = np.where((np.arange(n_states) + i) % n_states == 0, strength, 1 - strength)
        high = high + 0.05 * random.random(n_states)
        cpds.append(TableCPD(x, [hidden], np.stack([1 - high, high], -1)))
    cpds.append(TableCPD(columns[-1], [columns[0]], np.array([[0.9, 0.1], [0.3, 0.7]])))
    return Network(cpds)


def parts_of(table, n=3):
    return PartedRows.of_tables([table.take(rows) for rows in np.array_split(range(len(table)), n)])


def test_expected_counts_are_those_of_completed_rows():
    asia = unveil.datasets.network("asia")
    rows = asia.sample(400, seed=1).without(["lung", "either"])
    weighted = rows.with_weights(np.random.default_rng(0).integers(1, 4, 400).astype(float))
    for table in (rows, weighted):
        engine = ExpectedCounts(asia, parts_of(table))
        completed = MemoryStatistics(complete_rows(asia, table))
        there = {v.name: i for i, v in enumerate(completed.variables)}
        sets = [["lung"], ["either", "smoke", "lung"], ["xray", "dysp"], ["dysp", "either"]]
        mine = engine.counts([[engine.names.index(n) for n in names] for names in sets])
        for names, counts in zip(sets, mine, strict=True):
            own = completed.counts([[there[n] for n in names]])[0]
            np.testing.assert_allclose(counts, own, atol=1e-9)
    assert not can_be_shared(asia, parts_of(asia.sample(50, seed=1)))


def test_expected_counts_with_and_without_the_columns_around(monkeypatch):
    """Sharing out rows and sharing out tables of counts is the same."""
    asia = unveil.datasets.network("asia")
    rows = parts_of(asia.sample(300, seed=2).without(["lung", "either"]))
    sets = [[6], [7, 0], [0, 6, 7, 3], [2, 5], [1, 7]]
    by_tables = ExpectedCounts(asia, rows).counts(sets)
    monkeypatch.setattr("unveil.em.expected_counts.MOST_CELLS", 0)
    by_rows = ExpectedCounts(asia, rows).counts(sets)
    for one, other in zip(by_tables, by_rows, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-9)


def test_remembered_counts_take_no_further_pass():
    rows = parts_of(unveil.datasets.network("asia").sample(300, seed=2))
    known, half = rows.remembering(), rows.half(1, seed=5).remembering()
    for counted in (known, half):
        first = counted.counts([(0, 3, 5)])[0]
        before = counted.n_passes
        np.testing.assert_array_equal(counted.counts([(5, 0)])[0], first.sum(axis=1).T)
        assert counted.n_passes == before
    np.testing.assert_array_equal(known.counts([(2, 1)])[0], rows.counts([(2, 1)])[0])


def test_a_parent_is_put_in_cleanly():
    """Children have no other parent; arcs into them are turned, and none makes a cycle."""
    table = star().sample(200, seed=1).without("H")
    everything = Everything(parts_of(table), unveil.discovery.Settings(), 1)
    dag = DAG(table.names, [("x5", "x0"), ("x5", "x1"), ("x0", "x1"), ("x1", "x2"), ("x4", "x3")])
    arcs = with_parent(everything, dag, "H", frozenset(["x0", "x1", "x3"]))
    made = DAG(["H", *table.names], arcs)
    assert all(made.parents(x) == ("H",) for x in ("x0", "x1", "x3"))
    assert set(made.parents("x5")) == {"x0", "x1"}
    assert made.has_arc("x1", "x2")
    assert made.has_arc("x3", "x4")


def test_children_come_and_go_by_all_rows():
    """From three of the children and a column that is none, with a pass at most for every move."""
    network = star(n_states=2, n_children=5)
    rows = parts_of(network.sample(20_000, seed=1).without("H"))
    everything = Everything.of(rows, unveil.discovery.Settings(), 1)
    dag = searched(everything, [unveil.fit(DAG(rows.names, []), rows)], Ticker()).dag
    first = _star(everything, dag, network, "H", frozenset(["x0", "x1", "x2", "x5"]))
    first = fitted(first, everything.rows, everything.settings.prior, Ticker())
    before = everything.rows.n_passes
    children, found = _moved(everything, dag, first, "H", Ticker())
    assert children == set(found.dag.children("H")) == {"x0", "x1", "x2", "x3", "x4"}
    assert found.dag.parents("x5") == ("x0",)
    assert everything.score(found) > everything.score(first) + 100
    assert everything.rows.n_passes - before <= 6  # all that may come or go is counted at once


def test_all_rows_show_what_drawn_ones_do_not():
    """A parent of what is linked in their network, with states from some random tables."""
    truth = star(n_states=2, n_children=4, strength=0.7)
    rows = parts_of(truth.sample(30_000, seed=1).without("H"))
    everything = Everything.of(rows, unveil.discovery.Settings(), 1)
    plain = searched(everything, [unveil.fit(DAG(rows.names, []), rows)], Ticker())
    best, *_ = stars_at_signatures(everything, plain.dag, "H", Ticker(), set())
    assert {"x0", "x1", "x2", "x3"} <= set(best.dag.children("H"))
    assert everything.score(best) > everything.score(plain) + 10
    assert n_signatures(everything, plain.dag) >= 1
    bound = replace(everything.settings, constraints=Constraints(forbidden=[("x0", "x1")]))
    assert n_signatures(replace(everything, settings=bound), plain.dag) == 0
    seen = {frozenset(best.dag.children("H"))}
    assert best.dag not in [
        n.dag for n in stars_at_signatures(everything, plain.dag, "H", Ticker(), seen)
    ]


def test_structural_em_in_parts_is_that_of_completed_rows():
    network = star()
    table = network.sample(3000, seed=1).without("H")
    start = Network([cpd if n != "x5" else TableCPD.uniform(network.variable("x5"))
                     for n, cpd in network.cpds.items()])  # fmt: skip
    how = {"seed": 1, "max_rounds": 3, "tolerance": 1e-10, "em_iterations": 200}
    one, other = structural_em(table, start, **how), structural_em(parts_of(table), start, **how)
    assert one.dag == other.dag
    assert one.score == pytest.approx(other.score, rel=1e-9)
    assert one.dag.has_arc("x0", "x5") or one.dag.has_arc("x5", "x0")


@pytest.mark.parametrize("kind", ["single", "whole", "other"])
def test_halves_are_all_rows_once(kind):
    table = unveil.datasets.network("asia").sample(500, seed=1)
    if kind != "single":
        weights = np.random.default_rng(0).integers(0, 9, 500) + (0.25 if kind == "other" else 0.0)
        table = table.with_weights(weights)
    rows = parts_of(table)
    halves = [rows.half(which, seed=3) for which in (0, 1)]
    counts = [half.counts([(0, 2), (5,)]) for half in halves]
    for a, b, both in zip(*counts, rows.counts([(0, 2), (5,)]), strict=True):
        np.testing.assert_allclose(a + b, both)
    assert sum(h.total_weight for h in halves) == pytest.approx(rows.total_weight)
    assert abs(halves[0].total_weight / rows.total_weight - 0.5) < 0.15
    again = rows.half(0, seed=3).select(["asia"]).counts([(0,)])[0]
    np.testing.assert_array_equal(again, halves[0].counts([(0,)])[0])


def test_states_are_chosen_by_all_rows():
    """Two states were found in few rows; all of them ask for the three that there are."""
    truth = star(n_states=3, n_children=6, strength=0.85)
    rows = parts_of(truth.sample(20_000, seed=2).without("H"))
    everything = Everything.of(rows, unveil.discovery.Settings(), 1)
    two = Variable("H", [0, 1], hidden=True)
    dag = DAG(truth.names, truth.dag.arcs)
    start = Network(
        TableCPD.uniform(two if n == "H" else truth.variable(n),
                         [two if p == "H" else truth.variable(p) for p in dag.parents(n)])
        for n in dag.nodes
    )  # fmt: skip
    found = resized(everything, start, "H", Ticker())
    assert found.variable("H").n_states == 3
    assert cheeseman_stutz(found, rows) > cheeseman_stutz(truth, rows) - 100


def test_the_network_without_has_the_same_chance():
    truth = star()
    table = truth.sample(2000, seed=4).without("H")
    everything = Everything(parts_of(table), unveil.discovery.Settings(), 1)
    best = unveil.learn(table, seed=1)
    empty = unveil.fit(DAG(table.names), table)
    assert everything.score(searched(everything, [empty], Ticker())) == pytest.approx(
        best.search.score, rel=1e-10
    )
    other = without(everything, truth, ["H"], Ticker())
    assert other.hidden == ()
    assert everything.score(other) >= best.search.score - 1e-6


def discovered(table, sample, seed=1):
    how = {"max_hidden": 1, "evidence": False, "straw_men": False, "seed": seed, "n_jobs": 1}
    few = {"restarts": 1, "max_candidates": 6, "max_adapted": 3, "max_polished": 2}
    return unveil.discover(table, sample=sample, **few, **how)


def test_all_rows_decide_for_what_is_there_and_against_what_is_not():
    truth = star(n_children=6, strength=0.75)
    found = discovered(truth.sample(20_000, seed=1).without("H"), 400)
    assert found.network.dag.children("H1") == tuple(f"x{i}" for i in range(6))
    assert found.discovery.rounds[-1].confirmation.of_all
    asia = unveil.datasets.network("asia")
    nothing = discovered(asia.sample(20_000, seed=1), 400)
    assert nothing.hidden == ()
    assert nothing.whole is not None
    assert not nothing.whole.is_sure


def test_many_cases_in_memory_decide_as_well(monkeypatch):
    """Without being asked; all rows stay in the report, with what was read beside them."""
    monkeypatch.setattr("unveil.discovery.whole.MANY_CASES", 10_000)
    monkeypatch.setattr("unveil.discovery.whole.DRAWN", 400)
    table = star(n_children=6, strength=0.75).sample(12_000, seed=1).without("H")
    frame = {n: table.column(n).tolist() for n in table.names}
    frame["who"] = [f"r{i}" for i in range(12_000)]
    with pytest.warns(UnveilWarning, match=r"of 12,000 rows.* 400 of them"):
        found = unveil.discover(
            frame, id="who", restarts=1, max_candidates=6, max_adapted=3, max_polished=2,
            max_hidden=1, evidence=False, straw_men=False, seed=1, n_jobs=1,
        )  # fmt: skip
    assert set(found.network.dag.children("H1")) == {f"x{i}" for i in range(6)}
    assert (found.whole.n_cases, found.whole.n_drawn) == (12_000, 400)
    states = found.posteriors()
    assert states.n_rows == 12_000
    assert states.labels("who")[-1] == "r11999"


def test_halves_of_weights_that_are_no_numbers_of_cases():
    """Their cases are dealt one by one, what is left whole; both halves together are all."""
    table = star().sample(40, seed=1).without("H")
    weights = np.r_[np.full(20, 1000.5), np.full(10, 0.25), np.full(10, 1e60)]
    rows = PartedRows.of_tables([table.with_weights(weights)])
    halves = [rows.half(which, seed=3).as_table() for which in (0, 1)]
    assert sum(h.total_weight for h in halves) == pytest.approx(weights.sum())
    small = PartedRows.of_tables([table.take(range(30)).with_weights(weights[:30])])
    first, second = (small.half(which, seed=3).total_weight for which in (0, 1))
    assert first + second == pytest.approx(weights[:30].sum())
    assert abs(first - second) < 0.05 * (first + second)


def test_as_many_as_there_are_are_all():
    table = star().sample(300, seed=1).without("H")
    assert looked_at(table, unveil.discovery.Settings(), 300, 1).everything is None
    assert looked_at(table, unveil.discovery.Settings(), None, 1).rows is table
    some = looked_at(table, unveil.discovery.Settings(), 100, 1)
    assert some.rows.total_weight == 100
    assert some.everything.total_weight == 300


@pytest.mark.parametrize("n", range(1, 40))
def test_blocks_are_branches_of_the_tree(n):
    items = [f"{i} " for i in range(n)]
    add = "({}{})".format
    for workers in (1, 2, 3):
        sums = (tree_sum(iter(block), add) for block in blocks(items, workers))
        assert tree_sum(sums, add) == tree_sum(iter(items), add)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_em_over_groups_does_not_stop_where_it_is_slow(seed):
    """Four states behind four columns: plain EM gains hundredths of a nat for thousands of steps.

    Where it stopped at such a step, three states scored better and were not worth keeping.
    """
    random = np.random.default_rng(304)
    hidden = Variable("H", range(4), hidden=True)
    cpds = [TableCPD(hidden, [], np.array([0.2, 0.3, 0.3, 0.2]))]
    for i, n_states in enumerate((3, 3, 4, 2)):
        values = random.dirichlet(np.ones(n_states), 4)
        cpds.append(TableCPD(Variable(f"q{i}", range(n_states)), [hidden], values))
    network = Network(cpds)
    rows = PartedRows.of_tables([network.sample(500_000, seed=1).without("H").folded()])
    everything = Everything.of(rows, unveil.discovery.Settings(), seed)
    truth = cheeseman_stutz(fitted(network, rows, everything.settings.prior, Ticker()), rows)
    anew = cheeseman_stutz(fitted_anew(everything, network, "H", 4, Ticker()), rows)
    assert anew > truth - 3
