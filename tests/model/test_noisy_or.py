"""Noisy-or against the enumeration of what each cause does, another optimiser and an integral."""

import itertools

import numpy as np
import pytest
from scipy.integrate import nquad
from scipy.optimize import minimize
from scipy.special import betaln, expit

from unveil import EquivalentSampleSize, Network, TableCPD, Variable, fit_em
from unveil.errors import ModelError
from unveil.kernels.noisy_or import fit_noisy_or, noisy_or_objective
from unveil.model import NoisyOrCPD

A, B, C = Variable("a", [0, 1]), Variable("b", [0, 1, 2]), Variable("c", ["off", "on"])
X = Variable("x", ["no", "yes"])
CPD = NoisyOrCPD(X, [A, B, C], 1, [0, 2, 1], [[0, 0.7], [0.25, 0.6, 0], [0.5, 0]], 0.1)


def test_probabilities_by_enumerating_what_causes_do():
    """Every cause works or fails on its own; the effect is there if anything worked."""
    for u in itertools.product(range(2), range(3), range(2)):
        chances = [CPD.leak, *(link[s] for link, s in zip(CPD.links, u, strict=True))]
        total = 0.0
        for works in itertools.product([False, True], repeat=4):
            p = np.prod([c if w else 1 - c for c, w in zip(chances, works, strict=True)])
            total += p * any(works)
        assert CPD.values[u][1] == pytest.approx(total, abs=1e-14)


def random_counts(seed, n=200):
    random = np.random.default_rng(seed)
    return random.multinomial(n, random.dirichlet(np.ones(24))).reshape(2, 3, 2, 2) * 1.0


def case(counts):
    """What the kernel is given for the neutral states of `CPD`."""
    numbers = [np.array([0, 1]), np.array([2, 3, 0]), np.array([4, 0])]
    causes = [[n[s] for n, s in zip(numbers, u, strict=True)] for u in np.ndindex(2, 3, 2)]
    rows = counts.reshape(-1, 2)
    return np.array(causes), np.ascontiguousarray(rows[:, 0]), np.ascontiguousarray(rows[:, 1])


def test_the_objective_by_its_formula(random_seed):
    random = np.random.default_rng(random_seed)
    causes, absent, present = case(random_counts(random_seed))
    b = -random.gamma(1.0, size=5)
    eta = [b[0] + sum(b[j] for j in row if j) for row in causes]
    expected = absent @ eta + present @ np.log(1 - np.exp(eta))
    expected += 0.5 * (b + np.log(1 - np.exp(b))).sum()
    assert noisy_or_objective(b, causes, absent, present, 0.5) == pytest.approx(expected)
    assert noisy_or_objective(np.array([0.1, *b[1:]]), causes, absent, present, 0.5) == -np.inf


@pytest.mark.parametrize("a", [0.5, 1e-9])
def test_no_other_parameters_fit_better(a, random_seed):
    causes, absent, present = case(random_counts(random_seed))
    value, b, _ = fit_noisy_or(causes, absent, present, 5, a)
    assert noisy_or_objective(b, causes, absent, present, a) == pytest.approx(value)

    def minus(t):
        return -noisy_or_objective(np.log(expit(t)), causes, absent, present, a)

    other = minimize(minus, np.zeros(5), method="L-BFGS-B", bounds=[(-20, 20)] * 5)
    assert value >= -other.fun - 1e-6


def test_true_parameters_are_found():
    roots = [TableCPD.uniform(v) for v in (A, B, C)]
    rows = Network([*roots, CPD]).sample(50_000, seed=1)
    from unveil.statistics.counting import family_counts

    found = NoisyOrCPD.estimate(X, [A, B, C], family_counts(rows, X, [A, B, C]))
    assert (found.effect, found.neutral) == (CPD.effect, CPD.neutral)
    np.testing.assert_allclose(found.values, CPD.values, atol=0.02)


def test_evidence_is_close_to_the_integral():
    counts = np.array([[[30.0, 10.0], [14.0, 22.0]], [[11.0, 25.0], [5.0, 40.0]]])
    cpd = NoisyOrCPD(X, [A, C], 1, [0, 0], [[0, 0.5], [0, 0.5]], 0.5)
    fit = cpd.fit_to(counts, EquivalentSampleSize(1.0))
    rows, effects = counts.reshape(-1, 2), [(0, 0), (0, 1), (1, 0), (1, 1)]

    def density(*q):
        eta = [np.log(q[0]) + i * np.log(q[1]) + j * np.log(q[2]) for i, j in effects]
        log_p = rows[:, 0] @ eta + rows[:, 1] @ np.log(-np.expm1(eta))
        prior = sum(-0.5 * np.log(x) - 0.5 * np.log1p(-x) - betaln(0.5, 0.5) for x in q)
        return np.exp(log_p + prior + 90)

    edge = (1e-9, 1 - 1e-9)
    total = nquad(density, [edge] * 3, opts={"epsrel": 1e-3, "limit": 60})[0]
    assert fit.log_evidence(0.5) == pytest.approx(np.log(total) - 90, abs=0.25)


def test_tables_give_their_parameters_back():
    assert CPD.with_values(CPD.values).to_dict()["links"] == [
        pytest.approx(link.tolist()) for link in CPD.links
    ]
    certain = NoisyOrCPD(X, [A], 1, [0], [[0, 0.0]], 1.0)
    np.testing.assert_array_equal(certain.with_values(certain.values).values, certain.values)


def test_states_in_another_order():
    for axis, order in ((0, [1, 0]), (1, [2, 0, 1]), (3, [1, 0])):
        permuted = CPD.permuted(axis, order)
        np.testing.assert_allclose(permuted.values, np.take(CPD.values, order, axis=axis))


@pytest.mark.parametrize("prior", [None, EquivalentSampleSize(1.0)])
def test_em_never_falls_and_stays_a_noisy_or(prior):
    network = Network([*(TableCPD.uniform(v) for v in (A, B, C)), CPD])
    rows = network.sample(300, seed=1).knock_out(0.3, seed=2)
    found = fit_em(network, rows, prior, max_iterations=15)
    assert (np.diff(found.trace) >= -1e-6).all()
    assert found.network.cpd("x").kind == "noisy_or"
    assert found.log_likelihood >= network.log_likelihood(rows) - (0.0 if prior is None else 2.0)


def test_what_is_no_noisy_or_is_refused():
    with pytest.raises(ModelError, match="two states"):
        NoisyOrCPD(B, [A], 1, [0], [[0, 0.5]])
    with pytest.raises(ModelError, match="neutral state must be 0"):
        NoisyOrCPD(X, [A], 1, [0], [[0.1, 0.5]])
    with pytest.raises(ModelError, match="probabilities"):
        NoisyOrCPD(X, [A], 1, [0], [[0, 1.5]])
    with pytest.raises(ModelError, match="expected 2 numbers"):
        NoisyOrCPD.from_dict(X, [A], {"effect": 1, "leak": 0.1, "neutral": [0], "links": [[0]]})
