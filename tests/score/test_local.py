"""Local structure: scores of groups against formulas, plain recursions and enumeration."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaln, xlogy

from unveil import BIC, K2, BDe, BDeu, EquivalentSampleSize, PriorNetwork, datasets, learn
from unveil.errors import DataError, ModelError
from unveil.model import DefaultTableCPD, Split, TableCPD, TreeCPD, fit
from unveil.model.local import chosen_rows, grown_tree
from unveil.score import (
    AIC,
    MDL,
    FactorisedNML,
    FamilyScores,
    LocalScores,
    QuotientNML,
    Sample,
    best_local,
    local_score,
)
from unveil.score.local import LOCAL, _group_term, local_penalty, naming
from unveil.statistics.counting import family_counts

from .tables import random_table, tables, tables_with_dags

SCORES = [BDeu(1.0), BDeu(7.0), BIC(), AIC(), MDL(), K2(), FactorisedNML()]
every_score = pytest.mark.parametrize("score", SCORES, ids=lambda s: f"{s.name}")


def family_of(seed, cards=(3, 2, 3, 2), n_rows=120, weights="fractional"):
    table = random_table(seed, cards, n_rows, weights)
    *parents, child = table.variables
    sample = Sample(table.total_weight, len(cards))
    return child, parents, family_counts(table, child, parents), sample


def full_tree(parents):
    """A leaf for every configuration."""
    numbers = itertools.count()

    def below(i):
        if i == len(parents):
            return next(numbers)
        return Split(i, tuple(((s,), below(i + 1)) for s in range(parents[i].n_states)))

    return below(0)


def uniform_tree(child, parents, tree):
    n_leaves = len(_leaves(tree))
    return TreeCPD(child, parents, tree, np.full((n_leaves, child.n_states), 1 / child.n_states))


def _leaves(tree):
    return [tree] if isinstance(tree, int) else [x for _, t in tree.branches for x in _leaves(t)]


@every_score
def test_a_group_for_every_configuration_is_the_table(score, random_seed):
    child, parents, counts, sample = family_of(random_seed)
    table = score.family(child, parents, counts, sample)
    full = uniform_tree(child, parents, full_tree(parents))
    everything = list(itertools.product(*(range(p.n_states) for p in parents)))
    listed = DefaultTableCPD.uniform(child, parents, np.array(everything))
    for cpd in (full, listed):
        assert local_score(cpd, counts, score, sample, structure=0.0) == pytest.approx(table)
        plain = TableCPD.estimate(child, parents, counts, score.prior)
        fitted = cpd.refitted(counts, score.prior)
        np.testing.assert_allclose(fitted.values, plain.values, rtol=1e-12)
        assert fitted.n_parameters == plain.n_parameters


@every_score
def test_one_group_for_all_is_the_family_without_parents(score, random_seed):
    child, parents, counts, sample = family_of(random_seed)
    alone = score.family(child, [], counts.sum(axis=(0, 1, 2)), sample)
    arcs = 3 * math.log(4) if isinstance(score, MDL) else 0.0
    for cpd in (TreeCPD.estimate, DefaultTableCPD.estimate):
        empty = TreeCPD(child, parents, 0, np.full((1, 2), 0.5))
        if cpd is DefaultTableCPD.estimate:
            empty = DefaultTableCPD.uniform(child, parents, np.zeros((0, 3), np.int64))
        found = local_score(empty, counts, score, sample, structure=0.0)
        assert found == pytest.approx(alone - arcs)


def test_the_prior_of_a_group_is_that_of_its_rows_together(random_seed):
    """BDe with a prior network: pseudo-counts of configurations add up."""
    table = random_table(random_seed, (2, 3, 2), 60)
    a, b, c = table.variables
    scores = BDe(PriorNetwork(fit(_graph(table), table, EquivalentSampleSize(3)), 5.0))
    counts, sample = family_counts(table, c, [a, b]), Sample(60, 3)
    tree = TreeCPD(c, [a, b], Split(1, (((0, 2), 0), ((1,), 1))), np.full((2, 2), 0.5))
    alpha = scores.prior.pseudo_counts(c, [a, b])
    expected = 0.0
    for states in ([0, 2], [1]):
        n, m = (x[:, states].sum(axis=(0, 1)) for x in (counts, alpha))
        expected += (gammaln(n + m) - gammaln(m)).sum()
        expected -= gammaln((n + m).sum()) - gammaln(m.sum())
    assert local_score(tree, counts, scores, sample, structure=0.0) == pytest.approx(expected)
    found = best_local(c, [a, b], counts, scores, sample)
    assert found.score >= found.table_score


def _graph(table):
    from unveil import DAG

    names = table.names
    return DAG.from_parents({n: names[:i] for i, n in enumerate(names)})


def plain_tree(rows, cards, worth):
    """Trees by recursion: the best split of all, then what is below, then cut back if it pays."""

    def grow(listed, available):
        size = math.prod(len(a) for a in available)
        leaf = worth(sum(rows[u] for u in listed) if listed else np.zeros(rows_width), size)
        counts = sum(rows[u] for u in listed) if listed else np.zeros(rows_width)
        if len(listed) < 2 or (counts > 0).sum() < 2:
            return leaf
        best, choices = None, 0
        for v, states in enumerate(available):
            k = len(states)
            if k < 2:
                continue
            splits = [[[s] for s in states]]
            if k > 2:
                splits += [[[s], [t for t in states if t != s]] for s in states]
            if k > 3:
                splits += [[states[:i], states[i:]] for i in range(2, k - 1)]
            choices += len(splits)
            for parts in splits:
                inside = [[u for u in listed if u[v] in part] for part in parts]
                if sum(bool(x) for x in inside) < 2:
                    continue
                total = sum(
                    worth(sum((rows[u] for u in own), np.zeros(rows_width)), size * len(part) / k)
                    for own, part in zip(inside, parts, strict=True)
                )
                if best is None or total > best[0]:
                    best = total, v, parts, inside
        if best is None:
            return leaf
        _, v, parts, inside = best
        below = -math.log(choices)
        for part, own in zip(parts, inside, strict=True):
            below += grow(own, [*available[:v], part, *available[v + 1 :]])
        return max(leaf, below)

    rows_width = len(next(iter(rows.values())))
    return grow(list(rows), [list(range(c)) for c in cards])


@pytest.mark.parametrize("score", [BDeu(1.0), BIC()], ids=["bdeu", "bic"])
@given(st.integers(0, 10**6), st.lists(st.integers(2, 5), min_size=1, max_size=3))
@settings(max_examples=25, deadline=None)
def test_trees_grow_as_the_plain_recursion_does(score, seed, cards):
    child, parents, counts, sample = family_of(seed, (*cards, 3), 60, "ones")
    cells = counts.size

    def worth(n, size):
        if isinstance(score, BIC):
            return float((xlogy(n, n)).sum() - xlogy(n.sum(), n.sum())) - math.log(60) / 2 * 2
        alpha = size * 1.0 / cells
        inner = (gammaln(n + alpha) - gammaln(alpha)).sum()
        return float(inner - gammaln(n.sum() + 3 * alpha) + gammaln(3 * alpha))

    rows = {u: counts[u] for u in np.ndindex(*counts.shape[:-1]) if counts[u].any()}
    term, pseudo, _ = _group_term(score, child, parents, sample, 1.0)
    tree, n_leaves, found = grown_tree(child, parents, counts, term, pseudo)
    assert found == pytest.approx(plain_tree(rows, cards, worth), rel=1e-9)
    cpd = TreeCPD(child, parents, tree, np.full((n_leaves, 3), 1 / 3))
    again = local_score(cpd, counts, score, sample) + naming(len(parents), sample)
    assert found == pytest.approx(again, rel=1e-9)


@given(st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_default_rows_by_trying_all(seed):
    child, parents, counts, sample = family_of(seed, (2, 3, 2), 40, "ones")
    term, pseudo, _ = _group_term(BDeu(1.0), child, parents, sample, 1.0)
    given_rows, found = chosen_rows(child, parents, counts, term, pseudo)
    named = naming(2, sample)

    def score_of(rows):
        cpd = DefaultTableCPD.uniform(child, parents, np.array(rows, int).reshape(-1, 2))
        return local_score(cpd, counts, BDeu(1.0), sample) + named

    assert found == pytest.approx(score_of(given_rows.tolist()), rel=1e-9)
    everything = list(itertools.product(range(2), range(3)))
    best = max(
        score_of(list(rows)) for k in range(7) for rows in itertools.combinations(everything, k)
    )
    assert score_of([]) - 1e-9 <= found <= best + 1e-9
    one_row = max(score_of([row]) for row in everything if counts[row].any())
    assert found >= one_row - 1e-9


@given(tables_with_dags(max_variables=4), st.sampled_from(SCORES), st.sampled_from(LOCAL))
@settings(max_examples=40, deadline=None)
def test_a_chosen_structure_is_never_below_the_table_or_one_group(both, score, local):
    table, dag = both
    scores = LocalScores(table, score, local=local)
    plain = FamilyScores(table, score)
    own, other = scores.per_family(dag), plain.per_family(dag)
    place = {n: i for i, n in enumerate(table.names)}
    for name in dag.nodes:
        assert own[name] >= other[name] - 1e-9 * (1 + abs(other[name]))
        family = scores.family_of(place[name], [place[p] for p in dag.parents(name)])
        assert family.score == pytest.approx(own[name], rel=1e-9, abs=1e-9)
        counts = family_counts(table, family.cpd.variable, family.cpd.parents)
        again = local_score(family.cpd, counts, score, scores.sample)
        assert again == pytest.approx(own[name], rel=1e-6, abs=1e-6)
        if score.name == "bic" and hasattr(family.cpd, "table"):
            parts = local_penalty(family.cpd, score, scores.sample)
            likelihood = fitted_likelihood(family.cpd.refitted(counts), counts)
            assert likelihood - parts == pytest.approx(own[name], rel=1e-6, abs=1e-4)


def fitted_likelihood(cpd, counts):
    used = counts > 0
    return float(counts[used] @ np.log(cpd.values[used]))


@given(tables(max_variables=4, weights=("ones",)), st.sampled_from(["bdeu", "bic"]))
@settings(max_examples=15, deadline=None)
def test_a_weight_of_two_is_the_row_twice(table, name):
    score = {"bdeu": BDeu(1.0), "bic": BIC()}[name]
    twice = table.take(np.repeat(np.arange(table.n_rows), 2))
    heavy = table.with_weights(np.full(table.n_rows, 2.0))
    dag = _graph(table)
    first, second = (LocalScores(t, score).total(dag) for t in (twice, heavy))
    assert first == pytest.approx(second, rel=1e-9)


def test_a_context_is_found():
    """A parent that matters only where another has one value (thesis 2.1.3: rain and forecast)."""
    random = np.random.default_rng(1)
    rain, forecast = random.integers(2, size=(2, 3000))
    chance = np.where(rain == 1, 0.9, np.where(forecast == 1, 0.6, 0.1))
    umbrella = (random.random(3000) < chance).astype(int)
    table = {"rain": rain, "forecast": forecast, "umbrella": umbrella}
    from unveil import Constraints, Table

    rows = Table.from_frame(table, kinds="discrete")
    limits = Constraints(tiers=[["rain", "forecast"], ["umbrella"]])
    learned = learn(rows, local="tree", constraints=limits)
    cpd = learned.network.cpd("umbrella")
    assert cpd.kind == "tree"
    assert cpd.n_groups == 3
    plain = learn(rows, constraints=limits)
    assert learned.score > plain.score
    assert learned.network.n_parameters < plain.network.n_parameters


def test_plain_tables_are_what_they_were():
    rows = datasets.network("asia").sample(500, seed=1)
    assert learn(rows).network == learn(rows, local="table").network


@pytest.mark.parametrize("search", ["combined", "hill-climbing", "tabu", "exact", "annealing"])
def test_every_search_takes_it(search):
    rows = datasets.network("asia").sample(400, seed=1)
    found = learn(rows, "bic", search, local="auto", seed=1)
    assert found.score >= learn(rows, "bic", search, seed=1).score - 1e-6
    assert found.scores.total(found.dag) == pytest.approx(found.score)


def test_odd_tables():
    from unveil import Table

    for frame in ({"x": [1]}, {"x": [1, 1, 1], "y": ["a", "b", "a"]}, {"x": [0, 1], "y": [0, 1]}):
        assert learn(Table.from_frame(frame, kinds="discrete"), local="auto").network.names


def test_what_cannot_be_is_refused():
    rows = datasets.network("asia").sample(100, seed=1)
    with pytest.raises(DataError, match=r"no local structure 'trees'.*Did you mean 'tree'"):
        learn(rows, local="trees")
    with pytest.raises(ModelError, match="qnml"):
        learn(rows, QuotientNML(), local="tree")
