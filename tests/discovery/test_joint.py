"""Several hidden variables together: earlier ones are chosen again, by the score."""

import numpy as np
import pytest

from unveil import Table, Variable
from unveil.discovery import Settings
from unveil.discovery.bench import Bench
from unveil.discovery.candidates import Candidate, Place
from unveil.discovery.joint import polished_together
from unveil.em import fit_em
from unveil.graph import DAG
from unveil.progress import Ticker

SETTINGS = Settings(max_polished=2)


def two_moods(n_rows=900, seed=11):
    """Three columns of one mood and three of another, which has nothing to do with it."""
    generator = np.random.default_rng(seed)
    columns = {}
    for names in ("abc", "def"):
        odds = np.where(generator.integers(0, 2, n_rows) == 1, 0.9, 0.15)
        columns |= {n: (generator.random(n_rows) < odds).astype(int) for n in names}
    return Table([Variable(n, [0, 1]) for n in columns], list(columns.values()))


def fitted(table, children, n_states):
    dag = DAG([*table.names, *children], [(h, c) for h, cs in children.items() for c in cs])
    return fit_em(dag, table, SETTINGS.prior, n_states, n_starts=4, seed=1).network


@pytest.fixture(scope="module")
def case():
    """H1 took a column that is not its own, and a state for it, while it was alone; H2 arrives."""
    table = two_moods()
    alone = fitted(table, {"H1": "abcd"}, {"H1": 3})
    both = fitted(table, {"H1": "abcd", "H2": "def"}, {"H1": 3, "H2": 2})
    bench = Bench.of(alone, SETTINGS.score_of(alone, table), table, SETTINGS, 1)
    gain = SETTINGS.score_of(both, table) - bench.score
    return bench, Candidate(place=Place("H2", tuple("def")), network=both, gain=gain)


def test_the_first_gives_back_what_is_the_seconds(case):
    bench, candidate = case
    found = polished_together(bench, candidate, Ticker())
    sizes = {h: found.network.variable(h).n_states for h in ("H1", "H2")}
    near = {frozenset(found.network.dag.neighbours(h)) for h in sizes}
    assert sizes == {"H1": 2, "H2": 2}
    assert near == {frozenset("abc"), frozenset("def")}


def test_its_gain_is_the_difference_of_two_scores(case):
    bench, candidate = case
    found = polished_together(bench, candidate, Ticker())
    assert found.gain > candidate.gain
    score = SETTINGS.score_of(found.network, bench.table)
    assert found.gain == pytest.approx(score - bench.score, abs=1e-6)


def test_one_alone_or_without_time_stays_as_it_is(case):
    bench, candidate = case
    assert polished_together(bench, candidate, Ticker(time_limit=0.0)) is candidate
    table = bench.table
    star = fitted(table, {"H1": "abc"}, {"H1": 2})
    first = Bench.of(fitted(table, {}, {}), 0.0, table, SETTINGS, 1)
    only = Candidate(place=Place("H1", tuple("abc")), network=star, gain=1.0)
    assert polished_together(first, only, Ticker()) is only
