"""Candidates put into the graph as parents of columns that have no other."""

import numpy as np

from unveil import Table, Variable
from unveil.discovery import Settings
from unveil.discovery.bench import Bench
from unveil.discovery.candidates import Candidate, Place, Verdict
from unveil.discovery.cleanly import put_cleanly
from unveil.em import fit_em
from unveil.graph import DAG
from unveil.progress import Ticker
from unveil.search.constraints import Constraints
from unveil.search.learn import learn


def of_three_moods(n_rows=3000):
    """Five columns that depend on a mood of three kinds, and one that depends on the first."""
    generator = np.random.default_rng(4)
    mood = generator.integers(0, 3, n_rows)
    odds = generator.dirichlet(np.full(3, 0.5), [5, 3]) * 0.9 + 0.1 / 3
    columns = {
        f"x{i}": (generator.random(n_rows)[:, None] > odds[i][mood].cumsum(1)[:, :2]).sum(1)
        for i in range(5)
    }
    columns["y"] = np.where(generator.random(n_rows) < 0.8, columns["x0"], 0)
    return Table([Variable(n, [0, 1, 2]) for n in columns], list(columns.values()))


def with_some_children(settings):
    """A hidden parent of two states behind three of the five, their other arcs as they were."""
    table = of_three_moods()
    network = learn(table).network
    bench = Bench.of(network, settings.score_of(network, table), table, settings, 1)
    some = ["x0", "x1", "x2"]
    arcs = [(a, b) for a, b in network.dag.arcs if not (a in some and b in some)]
    dag = DAG([*table.names, "H1"], [*arcs, *(("H1", n) for n in some)])
    found = fit_em(dag, table, settings.prior, {"H1": 2}, n_starts=2, seed=1).network
    gain = settings.score_of(found, table) - bench.score
    return bench, Candidate(place=Place("H1", tuple(some)), network=found, gain=gain)


def test_children_and_states_that_were_missing_come():
    bench, candidate = with_some_children(Settings())
    (found,) = put_cleanly(bench, candidate, Ticker())
    assert found.verdict is Verdict.PAYS
    assert found.gain > max(candidate.gain, 0) + 50
    assert (set(found.children), found.n_states) == ({f"x{i}" for i in range(5)}, 3)
    assert put_cleanly(bench, found, Ticker()) == []  # no better than it is


def test_not_under_constraints():
    bound = Settings(constraints=Constraints(forbidden=[("x0", "x1")]))
    assert put_cleanly(*with_some_children(bound), Ticker()) == []
