"""Laplace's approximation: close to closed forms and to sums over all completions."""

import numpy as np
import pytest
from scipy.special import betaln

from unveil import DAG, BDeu, EquivalentSampleSize, Network, Table, TableCPD, Variable, datasets
from unveil.em import fit_em, structural_em
from unveil.em.laplace import laplace
from unveil.errors import ModelError, SizeError
from unveil.model import fit
from unveil.score import FamilyScores


def test_a_coin_in_closed_form():
    """One binary variable: the exact answer is a ratio of beta functions; errors fall as 1 / n."""
    errors = []
    for n in (100, 10_000):
        rows = Table([Variable("x", [0, 1])], [np.repeat([0, 1], [n // 4, n - n // 4])])
        network = fit(DAG(["x"]), rows, EquivalentSampleSize(2))
        exact = betaln(n // 4 + 1, n - n // 4 + 1) - betaln(1, 1)
        errors.append(abs(laplace(network, rows, EquivalentSampleSize(2)) - exact))
    assert errors[0] < 0.01
    assert errors[1] < errors[0] / 20


def test_complete_rows_of_a_network():
    asia = datasets.network("asia")
    rows, prior = asia.sample(20_000, seed=1), EquivalentSampleSize(50)
    exact = FamilyScores(rows, BDeu(50)).total(asia.dag)
    assert laplace(fit(asia.dag, rows, prior), rows, prior) == pytest.approx(exact, abs=1)


def test_a_cell_missing_now_and_then():
    """With few cells missing it lies between the exact scores with and without those rows."""
    x, y = Variable("x", [0, 1]), Variable("y", [0, 1])
    truth = Network([TableCPD(x, [], [0.3, 0.7]), TableCPD(y, [x], [[0.8, 0.2], [0.4, 0.6]])])
    rows, prior = truth.sample(2000, seed=1), EquivalentSampleSize(4)
    gaps = rows.knock_out(0.02, seed=2)
    fitted = fit_em(truth.dag, gaps, prior, tolerance=1e-13, max_iterations=2000, seed=1).network
    whole = gaps.take(~(gaps.missing("x") | gaps.missing("y")))
    low = FamilyScores(rows, BDeu(4)).total(truth.dag)
    high = FamilyScores(whole, BDeu(4)).total(truth.dag)
    assert low < laplace(fitted, gaps, prior) < high


def test_it_says_when_it_does_not_apply():
    asia = datasets.network("asia")
    with pytest.raises(ModelError, match="without zeros"):
        laplace(asia, asia.sample(50, seed=1))
    with pytest.raises(SizeError, match="509 parameters"):
        laplace(datasets.network("alarm"), datasets.network("alarm").sample(10, seed=1))


def test_restarts_of_structural_em_are_never_worse():
    rows = datasets.network("asia").sample(400, seed=1).knock_out(0.15, seed=2)
    plain = structural_em(rows, seed=1)
    again = structural_em(rows, seed=1, restarts=2)
    assert again.score >= plain.score
    assert again.score == structural_em(rows, seed=1, restarts=2).score
    assert len(again.trace) > len(plain.trace)
