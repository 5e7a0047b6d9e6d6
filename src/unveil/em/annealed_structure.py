"""Structural EM with weight annealing (thesis 3.5.3): one round under every reweighting.

A round here looks for its arcs anew. Rows completed by a network speak for the arcs that it has,
those to hidden variables above all, so a search that goes on from its graph stays around it,
whatever the weights.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np
import numpy.typing as npt

from unveil.anneal import Adversary, Annealed, Annealing, Geometric, Random, anneal
from unveil.em.scores import expected_families
from unveil.em.steps import TableEM
from unveil.errors import SizeError
from unveil.infer.unseen import UnseenCells
from unveil.kernels.scoring import LIKELIHOOD
from unveil.model.flat import FlatTables
from unveil.model.network import Network
from unveil.progress import Ticker
from unveil.score.base import Sample, Score
from unveil.score.gradient import cell_slopes
from unveil.score.structure import log_prior_of
from unveil.table.core import Table

if TYPE_CHECKING:
    from unveil.em.structural import StructuralEM

__all__ = ["ANNEALINGS", "NetworkLearner", "annealed_structure", "observed_slopes"]

Vector = npt.NDArray[np.float64]

ANNEALINGS = {
    "adversary": Annealing(Adversary(noise=0.5), Geometric(0.1, 0.85, 0.01)),
    "random": Annealing(Random(), Geometric(1.0, 0.85, 0.05)),
}
"""What `anneal="adversary"` and `"random"` mean for structural EM."""

ITERATIONS = 20
"""So many iterations of EM under every reweighting, before the arcs are searched for."""
DRAWS = 2
"""So many draws complete a row that has too many completions: weights change faster than eight
draws could tell."""
AT_LEAST = 3
"""So many iterations of EM under the rows' own weights, before a network is judged."""
NUDGE = 1e-4
"""Expectations are differences of log-probabilities at tables nudged by this part."""


class NetworkLearner:
    """Structural EM as annealing sees it: hypotheses are networks, equal rows are one."""

    def __init__(self, method: StructuralEM) -> None:
        self._method = replace(method, table=method.table.folded())
        self._table = self._method.table
        self._own = self._table.row_weights

    @property
    def weights(self) -> Vector:
        """The weights of the distinct rows."""
        return self._own

    def optimise(self, hypothesis: Network, weights: Vector, ticker: Ticker) -> Network:
        """A few iterations of EM, and a new graph for the rows completed by them."""
        method = self._hasty(weights)
        em = TableEM(hypothesis, self._table, method.prior)
        em = em.with_row_weights(em.cells.rows.folded_weights(weights))
        tables = em.pack(hypothesis)
        for _ in range(ITERATIONS):
            tables, _ = em.step(tables)
        network = em.unpack(tables)
        found = method.improved(network, ticker, anew=True)
        # Under odd weights a graph can turn out that nobody could sum over: the last one stays.
        return found if found is not None and self._fits(found) else network

    def finish(self, hypothesis: Network, ticker: Ticker) -> Network:
        """The same graph with parameters for the rows' own weights, by EM.

        The Cheeseman-Stutz score hardly minds parameters that were learned under other weights (it
        is a bound for the graph, whatever the completions), but predictions do: so a few iterations
        are made even if time is up.
        """
        em = TableEM(hypothesis, self._table, self._method.prior)
        tables = em.pack(hypothesis)
        for _ in range(AT_LEAST):
            tables, _ = em.step(tables)
        return self._method.parameters(em.unpack(tables), ticker)

    def score(self, hypothesis: Network, weights: Vector) -> float:
        """The score on what was observed, under these weights."""
        method = self._method
        expected = expected_families(hypothesis, self._table, weights)
        value = method.score.judge(expected, Sample(float(weights.sum()), len(hypothesis.names)))
        return value + log_prior_of(method.settings.structure_prior, hypothesis.dag)

    def slopes(self, hypothesis: Network, weights: Vector) -> Vector:
        """d score / d w for every distinct row."""
        return observed_slopes(hypothesis, self._table, self._method.score, weights)

    def _fits(self, network: Network) -> bool:
        """Whether what the rows do not show can be summed over."""
        try:
            UnseenCells.to_learn_from(network, self._table)
        except SizeError:
            return False
        return True

    def _hasty(self, weights: Vector) -> StructuralEM:
        """The method under these weights, with few draws, others every time.

        Their seed comes from the weights, so that a course taken up again goes on as it would.
        """
        method, table = self._method, self._table.with_weights(weights)
        settings = replace(method.settings, draws=min(DRAWS, method.settings.draws))
        seed = method.seed ^ crc32(weights.tobytes())
        return replace(method, table=table, seed=seed, settings=settings)


def observed_slopes(
    network: Network, table: Table, score: Score, weights: Vector | None = None
) -> Vector:
    """The slope of a network's score on incomplete rows in the weight of each row, (n_rows,).

    A likelihood is additive: the slope is log P(row), less that of the penalty, which is the same
    for all rows and left out. The Cheeseman-Stutz score of a Bayesian one has expected counts S, so

        log P(row) + sum over families of E[psi(S[x, u] + alpha) - psi(S[u] + alpha) - log theta],

    with the expectation over what the row does not show (thesis 3.5.1, where theta is left out).

    >>> from unveil import BIC, datasets
    >>> asia = datasets.network("asia")
    >>> rows = asia.sample(3, seed=1).knock_out(0.3, seed=1)
    >>> slopes = observed_slopes(asia, rows, BIC())
    >>> bool(np.allclose(slopes, asia.row_log_likelihoods(rows)))
    True
    """
    cells = UnseenCells.to_learn_from(network, table)
    given = table.row_weights if weights is None else weights
    cells = cells.with_weights(given)
    flat = FlatTables(network)
    tables = flat.pack(network)
    slopes = cells.log_probabilities(tables)
    term = score.term
    if term is None or term.mode != LIKELIHOOD:
        counts = flat.split(cells.expected(tables).counts)
        steep = np.concatenate([cell_slopes(score, family).ravel() for family in counts])
        with np.errstate(divide="ignore"):
            steep = np.where(tables > 0, steep - np.log(tables), 0.0)
        slopes = slopes + _expected(cells, tables, steep)
    return np.asarray(np.where(cells.rows.which >= 0, slopes[cells.rows.which], 0.0))


def _expected(cells: UnseenCells, tables: Vector, values: Vector) -> Vector:
    """E[sum of `values` at the cells that the completed row agrees with], for every row.

    It is the slope of log sum_h P(row, h) exp(t values(row, h)) at t = 0: a difference of two
    log-probabilities, exact for any plan to sum over what is not seen.
    """
    size = NUDGE / max(1.0, float(np.abs(values).max()))
    up = cells.log_probabilities(tables * np.exp(size * values))
    down = cells.log_probabilities(tables * np.exp(-size * values))
    return np.asarray((up - down) / (2 * size))


def annealed_structure(
    method: StructuralEM,
    network: Network,
    annealing: Annealing,
    seed: int,
    ticker: Ticker,
) -> Annealed[Network]:
    """The best network on a course of annealed weights that begins at `network`."""
    return anneal(
        NetworkLearner(method), network, annealing.reweighting, annealing.cooling,
        polish=True, cycles=annealing.cycles, seed=seed, progress=ticker,
    )  # fmt: skip
