"""Merges: the score difference against the score itself, the loss against the Lagrangian."""

import numpy as np
import pytest

from unveil import EquivalentSampleSize, datasets
from unveil.bottleneck.cardinality import _score_pairs, _stacked, merge_losses, merge_scores
from unveil.bottleneck.exact import Exact
from unveil.bottleneck.lagrangian import Completed
from unveil.score import BDeu

from .cases import PRIOR, asia_rows, classes, started

GAMMA = 0.7


@pytest.fixture(scope="module")
def four():
    """Four states in a network of three classes, not yet settled."""
    network, rows = classes(3, 5, 300)
    problem = Exact(network, rows, ["class"], PRIOR)
    look = problem.look(started(problem, rows), GAMMA)
    growth = problem.growth(look, 0, problem.begin(0, np.random.default_rng(0)), 20)
    wide, now = problem.split(look, 0, 1, growth, 0.5)
    for _ in range(3):
        now, _ = wide.step(now, GAMMA)
    return wide, wide.look(now, GAMMA)


def dirichlet(n, a):
    """log of the marginal likelihood of counts, rows being configurations of parents."""
    from scipy.special import gammaln

    whole = gammaln(a.sum(axis=-1)) - gammaln((n + a).sum(axis=-1))
    return float((whole + (gammaln(n + a) - gammaln(a)).sum(axis=-1)).sum())


def test_score_differences_are_differences_of_scores(four):
    """6.8: of all families of T, with its states i and j apart and as one."""
    problem, look = four
    counts = look.tangent.completed.counts
    found = _score_pairs(*_stacked(problem, counts, 0, PRIOR))
    tables = problem.layout.split(counts)
    alphas = problem.layout.split(problem.layout.pack_prior(PRIOR))

    def score(groups):
        total = 0.0
        for n, a in zip(tables, alphas, strict=True):
            merged = [np.stack([x[g].sum(axis=0) for g in groups]) for x in (n, a)]
            total += dirichlet(*merged)
        return total

    apart = score([[0], [1], [2], [3]])
    assert found[1, 3] == pytest.approx(score([[0], [1, 3], [2]]) - apart)
    assert found[0, 2] == pytest.approx(score([[0, 2], [1], [3]]) - apart)
    assert (found[np.tril_indices(4)] == -np.inf).all()


def test_losses_are_differences_of_the_lagrangian(four):
    """-L of the merged Q(T | Y) (Eq. 6.26), with the parameters that are best for it."""
    problem, look = four
    losses = merge_losses(problem, look.tangent.completed, 0, GAMMA)
    q = look.tangent.completed.posteriors[0]
    bare = Exact(problem.layout.network, problem.table, ["class"])

    def value(posterior):
        """-L times the number of cases at the best parameters for a posterior."""
        w = bare.rows.parts[0].weights[:, None]
        counts = bare.rows.parts[0].counted(posterior * w)
        tables = bare.layout.normalised(counts[: bare.layout.size])
        joint = (posterior * w).sum(axis=0) / bare.n_cases
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = bare.rows.parts[0].collected(bare.rows.longer(np.log(tables)))
            terms = GAMMA * logs + (1 - GAMMA) * np.log(joint) - np.log(posterior)
        return float((w * np.where(posterior > 0, posterior * terms, 0.0)).sum())

    merged = q.copy()
    merged[:, 1] += merged[:, 3]
    merged[:, 3] = 0
    assert losses[1, 3] == pytest.approx(value(q) - value(merged), rel=1e-8)
    assert losses[1, 3] >= 0


def test_two_halves_of_a_state_are_one():
    """A state and its copy had better be one, and nothing is lost by it."""
    network, rows = classes(2, 5, 300)
    problem = Exact(network, rows, ["class"], PRIOR)
    look = problem.look(problem.parameters(network), 1.0)
    growth = problem.growth(look, 0, problem.begin(0, np.random.default_rng(0)), 5)
    wide, now = problem.split(look, 0, 0, growth, 1e-9)
    there = wide.look(now, 1.0)
    scores = merge_scores(wide, there.tangent.completed, 0)
    losses = merge_losses(wide, there.tangent.completed, 0, 1.0)
    assert scores.argmax() == 2  # states 0 and 2
    assert scores[0, 2] > 0
    assert losses[0, 2] == pytest.approx(0.0, abs=1e-6)
    assert wide.effective(there, 0) == 2


def test_merging_undoes_a_split():
    rows = asia_rows(True)
    problem = Exact(datasets.network("asia"), rows, ["lung", "either"], EquivalentSampleSize(1.0))
    look = problem.look(started(problem, rows), 1.0)
    growth = problem.growth(look, 1, problem.begin(1, np.random.default_rng(0)), 3)
    wide, now = problem.split(look, 1, 0, growth, 1e-9)
    assert wide.shape == (2, 3)
    back, again = wide.merge(wide.look(now, 1.0), 1, 0, 2)
    assert back.shape == (2, 2)
    after = problem.m_step(look.tangent.completed)  # families of the merged variable are estimated
    names = problem.layout.names
    three = [problem.layout.split(p.tables) for p in (again, after, look.parameters)]
    families = problem.layout.families
    for family, one, estimated, plain in zip(families, *three, strict=True):
        merged = names.index("either") in family
        # Three states share the prior otherwise than two.
        np.testing.assert_allclose(one, estimated if merged else plain, atol=0.05)


def test_an_exchange_keeps_the_number_of_states(four):
    problem, look = four
    growth = problem.growth(look, 0, problem.begin(0, np.random.default_rng(0)), 5)
    gains, pair = problem.gains(look, 0, growth)
    assert (gains > -0.1).all()  # not below zero by more than the prior takes
    moved = problem.exchange(look, 0, 0, (1, 3), pair)
    np.testing.assert_allclose(problem.layout.row_sums(moved.tables), 1.0)
    assert moved.common.sum() == pytest.approx(1.0)
    assert moved.common[1] == pytest.approx(look.parameters.common[[1, 3]].sum())


def test_prior_of_the_problem_is_that_of_the_score(four):
    problem, look = four
    own = merge_scores(problem, look.tangent.completed, 0)
    assert BDeu(PRIOR.size).prior == PRIOR
    np.testing.assert_allclose(own, merge_scores(problem, look.tangent.completed, 0, PRIOR))
    assert isinstance(look.tangent.completed, Completed)
