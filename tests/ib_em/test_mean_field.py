"""Mean field: with one hidden variable it is exact; -L+ never falls; its factors are the best."""

import itertools

import numpy as np
import pytest

from unveil import EquivalentSampleSize, datasets, ib_em
from unveil.bottleneck.enrichment import _entropy_given, subset_entropies
from unveil.bottleneck.exact import Exact
from unveil.bottleneck.hierarchy import learn_hierarchy
from unveil.bottleneck.lagrangian import Parameters
from unveil.bottleneck.mean_field import MeanField
from unveil.errors import DataError
from unveil.kernels.bottleneck_field import field_collected, field_counted

from .cases import PRIOR, asia_rows, classes
from .hierarchies import one_parent, two_groups

ASIA = datasets.network("asia")
HIDDEN = ("lung", "either")


@pytest.mark.parametrize("gamma", [0.3, 1.0])
def test_one_hidden_variable_is_exact(gamma):
    network, rows = classes(3, 4, 200)
    rows = rows.knock_out(0.2, seed=1)  # gaps in columns without children
    exact, field = (kind(network, rows, ["class"], PRIOR) for kind in (Exact, MeanField))
    own, other = exact.parameters(network), field.parameters(network)
    own = Parameters(own.tables, other.common)
    for _ in range(4):
        own, objective = exact.step(own, gamma)
        other, bound = field.step(other, gamma)
        assert bound == pytest.approx(objective, rel=1e-12)
        np.testing.assert_allclose(other.tables, own.tables, rtol=1e-10)
    one, two = exact.look(own, gamma), field.look(other, gamma)
    assert two.information == pytest.approx(one.information)
    start = exact.begin(0, np.random.default_rng(0))
    growths = [p.growth(x, 0, start, 20) for p, x in ((exact, one), (field, two))]
    # Tables of unseen cells move with their parameters in one and stay in the other.
    np.testing.assert_allclose(growths[0].values, growths[1].values, atol=0.2)
    assert two.log_likelihood == pytest.approx(one.log_likelihood, abs=5)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("gamma", [0.2, 0.7, 1.0])
def test_minus_l_never_falls(gamma, missing):
    rows = asia_rows(missing)
    problem = MeanField(ASIA, rows, HIDDEN, PRIOR)
    now, last = problem.parameters(ASIA), -np.inf
    for _ in range(20):
        now, objective = problem.step(now, gamma)
        assert objective >= last - 1e-9 * (1 + abs(objective))
        last = objective


def test_the_bound_is_below_the_likelihood():
    rows = asia_rows(True)
    problem = MeanField(ASIA, rows, HIDDEN)
    bound = problem.look(problem.parameters(ASIA), 1.0).log_likelihood
    assert bound < ASIA.log_likelihood(rows)


def test_factors_by_enumeration():
    """Proposition 6.4.1, and expected values and counts, by summing over everything."""
    rows = asia_rows(False, 40)
    problem = MeanField(ASIA, rows, HIDDEN, PRIOR)
    now = problem.parameters(ASIA)
    random = np.random.default_rng(0)
    q = np.column_stack([random.dirichlet(np.ones(2), len(now.q)) for _ in range(2)])
    values = random.normal(size=problem.layout.size)
    out = np.empty((len(q), 2))
    field_collected(problem.plan, values, problem.places[1], problem.codes, q, out)
    mass = random.random((len(q), 2))
    counts = np.zeros(problem.layout.size)
    field_counted(problem.plan, mass, problem.places[1], problem.codes, q, counts)
    expected, tallied = np.zeros_like(out), np.zeros_like(counts)
    for r, t in itertools.product(range(len(q)), itertools.product(range(2), repeat=2)):
        codes = problem.codes[:, r].astype(int)
        codes[problem.places] = t
        for f, family in enumerate(problem.layout.families):
            if problem.places[1] in family:
                shape = problem.layout.shapes[f]
                cell = problem.layout.first[f] + np.ravel_multi_index(codes[list(family)], shape)
                weight = q[r, t[0]] if problem.places[0] in family else (t[0] == 0)
                expected[r, t[1]] += weight * values[cell]
                tallied[cell] += weight * mass[r, t[1]]
    np.testing.assert_allclose(out, expected, rtol=1e-12)
    np.testing.assert_allclose(counts, tallied, rtol=1e-12)


def test_a_run():
    rows = asia_rows(False, 500)
    field = ib_em(ASIA, rows, PRIOR, posterior="mean field", seed=0, compare=2)
    exact = ib_em(ASIA, rows, PRIOR, posterior="exact", seed=0)
    assert field.posterior == "mean field"
    assert field.log_likelihood == pytest.approx(field.network.log_likelihood(rows))
    assert field.log_likelihood > exact.log_likelihood - 5


# Hierarchies -------------------------------------------------------------------------------------


def test_a_hierarchy_is_found_again():
    """Two groups of columns, each with a hidden parent (Fig. 6.13)."""
    truth, rows = two_groups()
    found = learn_hierarchy(rows, 2, seed=0)
    groups = {frozenset(c for c in found.network.dag.children(h) if c in rows)
              for h in found.hidden}  # fmt: skip
    assert groups == {frozenset(f"a{i}" for i in range(4)), frozenset(f"b{i}" for i in range(4))}
    assert found.log_likelihood > truth.log_likelihood(rows) - 5


def test_the_bound_of_a_new_hidden_variable(random_seed):
    """Proposition 6.10.1, on random Q(T2 | Y) with the parameters that are best for it."""
    random = np.random.default_rng(random_seed)
    for _ in range(20):
        x = random.integers(0, 2, (60, 3))
        q1, q2 = random.dirichlet(np.ones(2), 60), random.dirichlet(np.ones(3) / 3, 60)
        bound = -_entropy_given(list(x.T), [2, 2, 2], q1)
        value = -_conditional(q1.T @ q2)
        for column in x.T:
            value -= _conditional(np.array([q2[column == s].sum(axis=0) for s in (0, 1)]).T)
        assert value <= bound + 1e-9


def _conditional(counts):
    """H(column | row) of a table of counts, in nats."""
    rows = counts.sum(axis=1, keepdims=True)
    p = counts / rows
    return float(-(counts * np.log(np.where(p > 0, p, 1.0))).sum() / counts.sum())


def test_subsets_that_a_variable_does_not_explain_come_first():
    _, rows = two_groups()
    network = one_parent(rows)
    problem = MeanField(network, rows, ["T1"], PRIOR)
    now = problem.parameters(network)
    for _ in range(30):
        now, _ = problem.step(now, 1.0)
    best, share, gain = subset_entropies(problem, now, 0, list(rows.names))[0]
    assert {name[0] for name in best} in ({"a"}, {"b"})
    assert 0 < share <= 1
    assert gain > 0


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"n_states": 1}, "from 2, got 1"),
        ({"max_hidden": 0}, "max_hidden is 0"),
        ({"entropy": 2}, "entropy is a part between 0 and 1, got 2"),
    ],
)
def test_sentences(options, sentence):
    with pytest.raises(DataError, match=sentence):
        learn_hierarchy(datasets.table("college_plans"), **options)


def test_states_of_a_hierarchy_are_learned():
    _, rows = two_groups(300)
    found = learn_hierarchy(rows, None, EquivalentSampleSize(1.0), max_states=3, seed=0)
    assert all(1 <= n <= 3 for n in found.n_states.values())
