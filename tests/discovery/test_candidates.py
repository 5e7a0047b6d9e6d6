"""The steps from a place to a network: what they start from and what they may not lose."""

from dataclasses import replace

import numpy as np
import pytest

from unveil import DAG, EquivalentSampleSize, Table, Variable
from unveil.discovery import Settings, discover_networks
from unveil.discovery.adaptation import adapt_candidate, adapted
from unveil.discovery.bench import Bench, complete_hidden
from unveil.discovery.candidates import Place
from unveil.discovery.check import as_parent
from unveil.discovery.meaning import Trait, meaning_of
from unveil.discovery.places import place_of_everything
from unveil.discovery.polish import _merged_states, _split_states, polish_candidate
from unveil.discovery.starts import Star, first_look, started
from unveil.em import cheeseman_stutz
from unveil.errors import SizeError
from unveil.hidden import with_hidden_parent
from unveil.infer import JunctionTree
from unveil.model import facing_away_from, fit
from unveil.progress import Ticker
from unveil.search.learn import learn

PRIOR = EquivalentSampleSize(1.0)
PLACE = Place("H1", tuple("abcde"))


@pytest.fixture(scope="module")
def bench():
    """Rows of a hidden three-state root with a chain among its children: a -> b on top of it."""
    generator = np.random.default_rng(3)
    hidden = generator.integers(3, size=3000)
    columns = []
    for i in range(5):
        source = np.where(generator.random(3000) < 0.5, columns[0], hidden) if i == 1 else hidden
        noise = generator.integers(3, size=3000)
        columns.append(np.where(generator.random(3000) < 0.8, source, noise))
    table = Table([Variable(n, range(3)) for n in "abcde"], columns)
    network = fit(learn(table).dag, table, PRIOR)
    score = cheeseman_stutz(network, table, PRIOR)
    return Bench(network, score, table, table, Settings(), 1)


@pytest.fixture(scope="module")
def looked(bench):
    dag = with_hidden_parent(bench.network.dag, "H1", list("abcde"))
    return first_look(bench, PLACE, dag, Ticker())


def test_gains_are_differences_of_scores(bench, looked):
    for candidate in looked:
        score = cheeseman_stutz(candidate.network, bench.table, PRIOR)
        assert candidate.gain == pytest.approx(score - bench.score)


def test_learned_anew_the_arc_among_the_children_is_there_and_three_states_win(bench, looked):
    anew = max((c for c in looked if c.anew), key=lambda c: c.gain)
    found = adapt_candidate(bench, anew, Ticker())
    assert found.n_states == 3
    assert found.network.dag.adjacent("a", "b")
    assert found.neighbours == set("abcde")
    assert found.network.dag.n_arcs == 6


def test_the_graph_as_constructed_has_no_arcs_among_the_children(bench):
    dag = with_hidden_parent(bench.network.dag, "H1", list("abcde"))
    (best, *_) = first_look(replace(bench, settings=Settings(adapt="em")), PLACE, dag, Ticker())
    assert best.network.dag == DAG([*"abcde", "H1"], [("H1", n) for n in "abcde"])


def test_merging_and_splitting_states_lead_to_each_other(bench, looked):
    by_size = {c.n_states: c for c in looked if c.anew}
    assert [c.n_states for c in _merged_states(bench, by_size[4], Ticker())] == [3, 2]
    (split,) = _split_states(bench, by_size[2], Ticker())
    assert split.n_states == 3
    assert split.gain > by_size[2].gain


def test_polishing_never_lowers_the_score_and_comes_to_rest(bench, looked):
    candidate = adapt_candidate(bench, next(c for c in looked if c.n_states == 2), Ticker())
    gains = [candidate.gain]
    while (better := polish_candidate(bench, candidate, Ticker())) is not candidate:
        candidate = better
        gains.append(candidate.gain)
    assert gains == sorted(gains)
    assert candidate.n_states == 3


def test_networks_too_large_for_a_tree_are_filled_in_and_explained(bench, looked, monkeypatch):
    network = max(looked, key=lambda c: c.gain).network
    before = complete_hidden(network, bench.table, 1)

    def too_large(*arguments, **settings):
        raise SizeError("too large")

    monkeypatch.setattr(JunctionTree, "__init__", too_large)
    fresh = network.map_variables(lambda v: v)
    assert complete_hidden(fresh, bench.table, 1) == before
    assert max(meaning_of(fresh, bench.table, "H1").information.values()) > 0.1


def test_meaning_is_what_the_rows_show(bench, looked):
    """Shares and traits against counting by hand, each row counted by its posterior."""
    network = max(looked, key=lambda c: c.gain).network
    found = meaning_of(network, bench.table, "H1")
    shares = network.posterior(bench.table, of="H1")["H1"]
    for s, profile in enumerate(found.profiles):
        assert profile.share == pytest.approx(shares[:, s].mean())
        assert profile.traits
        for trait in profile.traits:
            codes = bench.table.column(trait.variable)
            has = codes == bench.table.variable(trait.variable).code_of(trait.value)
            assert trait.overall == pytest.approx(has.mean())
            assert trait.share == pytest.approx(shares[has, s].sum() / shares[:, s].sum())
            assert trait.share > trait.overall
            against = f": {trait.share:.0%} against {trait.overall:.0%}"
            assert trait.words.endswith(against)


def test_a_variable_behind_much_of_the_table():
    """Fourteen columns, each a weak sign of the same thing, and two that have no part in it."""
    generator = np.random.default_rng(5)
    hidden = generator.integers(2, size=2000)
    signs = [np.where(generator.random(2000) < 0.3, hidden, generator.integers(2, size=2000))
             for _ in range(14)]  # fmt: skip
    others = list(generator.integers(2, size=(2, 2000)))
    names = [*(f"sign{i}" for i in range(14)), "other0", "other1"]
    table = Table([Variable(n, range(2)) for n in names], [*signs, *others])
    network = fit(learn(table).dag, table, PRIOR)
    score = cheeseman_stutz(network, table, PRIOR)
    bench = Bench(network, score, table, table, Settings(), 1)
    star = Star(place_of_everything(bench, "H1"), 2, "cluster", 1)
    found = adapted(bench, started(bench, star, Ticker()), "full", Ticker())
    assert set(found.children) == set(names[:14])
    assert found.gain == pytest.approx(cheeseman_stutz(found.network, table, PRIOR) - score)
    assert found.gain > 50
    few = Settings(max_hidden=1, max_candidates=1, max_polished=1)
    discovery = discover_networks(table, few, seed=1, n_jobs=1)
    assert set(discovery.network.dag.neighbours("H1")) == set(names[:14])
    assert any(set(c.place.nodes) == set(names) for c in discovery.rounds[0].candidates)


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0.33, "33%"),
        (0.003, "0.3%"),
        (0.0004, "less than 0.1%"),
        (1.0, "100%"),
        (0.998, "99.8%"),
        (0, "0"),
    ],
)
def test_shares_in_words(share, words):
    trait = Trait("x", "yes", share, 0.5)
    assert trait.words.startswith(f"x = yes: {words}")


def test_rows_that_do_not_count_are_typical_of_nothing(bench, looked):
    network = max(looked, key=lambda c: c.gain).network
    weights = np.ones(bench.table.n_rows)
    first = [p.typical_rows[0] for p in meaning_of(network, bench.table, "H1").profiles]
    weights[first] = 0.0
    found = meaning_of(network, bench.table.with_weights(weights), "H1")
    assert not set(first) & {r for p in found.profiles for r in p.typical_rows}


def test_of_equivalent_graphs_the_one_with_the_hidden_variable_as_parent(bench, looked):
    candidate = max(looked, key=lambda c: c.gain)
    first = candidate.children[0]
    away = replace(candidate, network=facing_away_from(candidate.network, [first]))
    back = as_parent(bench, away)
    assert back.network.dag.parents("H1") == ()
    assert back.children == back.network.dag.children("H1")
    assert set(back.children) == set(candidate.network.dag.neighbours("H1"))
    scores = [cheeseman_stutz(c.network, bench.table, PRIOR) for c in (away, back)]
    assert scores[0] == pytest.approx(scores[1], abs=1e-6)
