"""How the score of a graph changes with the weight of each row (thesis 3.5.1)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from unveil.errors import DataError, ModelError
from unveil.graph.dag import DAG
from unveil.kernels.scoring import DIRICHLET, FACTORISED_NML, log_complexity
from unveil.score.base import Sample, Score
from unveil.statistics.counting import positions
from unveil.statistics.memory import MemoryStatistics, as_statistics
from unveil.statistics.protocol import Statistics
from unveil.table.core import Table

__all__ = ["cell_slopes", "weight_gradient"]


def weight_gradient(data: Table | Statistics, dag: DAG, score: Score) -> npt.NDArray[np.float64]:
    """The slope d Score / d w for every row of a complete table or engine, shape (n_rows,).

    For Dirichlet scores, the sum over families of
    psi(S[x, u] + alpha(x, u)) - psi(S[u] + alpha(u)) at the row's own x and u (3.5.1); for
    penalised likelihoods, log(S[x, u] / S[u]) less the slope of the penalty in the total weight.

    >>> from unveil.score import BDeu
    >>> table = Table.from_frame({"x": ["a", "a", "b"]})
    >>> weight_gradient(table, DAG(["x"]), BDeu(2)).round(4).tolist()
    [-0.5833, -0.5833, -1.0833]
    """
    statistics = as_statistics(data)
    place = {v.name: i for i, v in enumerate(statistics.variables)}
    sample = Sample(statistics.total_weight, len(dag.nodes))
    families = [[place[n] for n in (*dag.parents(name), name)] for name in dag.nodes]
    slopes = []
    for members, counts in zip(families, statistics.counts(families), strict=True):
        slope = cell_slopes(score, counts) - _penalty_slope(score, counts, sample)
        slopes.append(slope.ravel()[_cells(statistics, members, counts.shape)])
    return np.sum(slopes, axis=0)


def _cells(
    statistics: Statistics, members: list[int], shape: tuple[int, ...]
) -> npt.NDArray[np.int64]:
    """The cell of every row in the joint table of the members."""
    if isinstance(statistics, MemoryStatistics):
        return statistics.cells(members)
    found = statistics.distinct(members)
    if found.which is None:
        raise DataError(
            "the slope of every row needs an engine that has its rows in order; this one does not "
            "say which row shows what. Read the rows into a Table."
        )
    return positions([*found.codes.T], shape, len(found.codes))[found.which]


def cell_slopes(score: Score, counts: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The derivative of the data term with respect to the count of each cell."""
    from scipy.special import digamma

    term = score.term
    if term is None:
        raise ModelError(f"the score {score.name!r} does not offer a gradient; take BDeu or BIC")
    rows = counts.sum(axis=-1, keepdims=True)
    if term.mode == DIRICHLET:
        alpha = term.alpha / counts.size if term.spread else term.alpha
        return np.asarray(digamma(counts + alpha) - digamma(rows + alpha * counts.shape[-1]))
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = np.where(counts > 0, np.log(counts) - np.log(rows), -np.inf)
    if term.mode == FACTORISED_NML:
        slopes = slopes - _complexity_slopes(rows, counts.shape[-1])
    return slopes


def _complexity_slopes(rows: npt.NDArray[np.float64], n_states: int) -> npt.NDArray[np.float64]:
    step = 1e-5
    higher = [log_complexity(n * (1 + step), float(n_states)) for n in rows.ravel()]
    lower = [log_complexity(n * (1 - step), float(n_states)) for n in rows.ravel()]
    width = 2 * step * np.where(rows.ravel() > 0, rows.ravel(), 1.0)
    return ((np.array(higher) - np.array(lower)) / width).reshape(rows.shape)


def _penalty_slope(score: Score, counts: npt.NDArray[np.float64], sample: Sample) -> float:
    """The slope of the penalty in the total weight, by a central difference."""
    step = 1e-5 * sample.total_weight
    r = float(counts.shape[-1])
    shape = counts.size / r, r, float(counts.ndim - 1)
    ends = [Sample(sample.total_weight + h, sample.n_variables) for h in (step, -step)]
    higher, lower = (float(score.penalty(*shape, end)) for end in ends)
    return (higher - lower) / (2 * step)
