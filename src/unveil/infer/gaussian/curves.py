"""What follows from partly seen rows where some families are curves: the nearest Gaussian (7.4).

The posterior of unseen cells behind curves has no closed form. Each row gets the normal
distribution that maximises a bound of its log-likelihood (`unveil.kernels.curve_posterior`):
better than mean field, since unseen cells of a row may depend on one another, and exact for lines.
It is what EM needs, and is known for sigmoid and hyperbolic curves with additive noise. Questions
are answered by weighted draws (`curve_draws.py`), for curves and noise of any kind.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.errors import ModelError
from unveil.infer.answer import Posterior
from unveil.infer.gaussian.curve_draws import Nearest, drawn_posterior, row_draws
from unveil.kernels.curve_posterior import LINE, curve_posteriors, curve_squares
from unveil.model.cpd import CPD
from unveil.model.curves import LINKS
from unveil.model.gaussian_cpd import LinearGaussianCPD
from unveil.model.network import Network
from unveil.model.nonlinear_cpd import NonlinearCPD
from unveil.statistics.memory import refuse_infinite
from unveil.table.core import Table

__all__ = [
    "CurveModel", "RowPosteriors", "curve_covariance", "curve_fill_in",
    "curve_log_likelihoods", "curve_posterior", "has_curves", "row_posteriors",
]  # fmt: skip

Matrix = npt.NDArray[np.float64]

POINTS, SHARES = np.polynomial.hermite_e.hermegauss(21)
SHARES = SHARES / SHARES.sum()
MAX_STEPS, TOLERANCE = 200, 1e-9


def has_curves(network: Network) -> bool:
    """Whether some family is a curve."""
    return any(isinstance(cpd, NonlinearCPD) for cpd in network.cpds.values())


@dataclass(frozen=True, eq=False)
class CurveModel:
    """Lines and curves as arrays; see `curve_posteriors`."""

    names: tuple[str, ...]
    model: Matrix
    starts: npt.NDArray[np.int64]
    parents: npt.NDArray[np.int64]
    weights: Matrix

    @classmethod
    def of(cls, network: Network, names: Sequence[str] | None = None) -> CurveModel:
        """Those of a network, or of some of its variables and all their ancestors."""
        wanted = network.names if names is None else tuple(names)
        needed = {*wanted, *network.dag.ancestors(*wanted)}
        order = tuple(n for n in network.dag.topological_order if n in needed)
        place = {name: i for i, name in enumerate(order)}
        model = np.zeros((len(order), 5))
        starts, parents, weights = [0], list[int](), list[float]()
        for i, name in enumerate(order):
            cpd = network.cpd(name)
            model[i], own = _row(cpd)
            parents += [place[p.name] for p in cpd.parents]
            weights += own
            starts.append(len(parents))
        return cls(
            order, model, np.array(starts, np.int64), np.array(parents, np.int64),
            np.array(weights, np.float64),
        )  # fmt: skip

    def with_family(self, place: int, cpd: CPD) -> CurveModel:
        """The same with other parameters of one family, whose parents stay."""
        model, weights = self.model.copy(), self.weights.copy()
        model[place], weights[self.starts[place] : self.starts[place + 1]] = _row(cpd)
        return replace(self, model=model, weights=weights)

    @property
    def arrays(self) -> tuple[Any, Any, Any, Any]:
        """What the kernels take first."""
        return self.model, self.starts, self.parents, self.weights


@dataclass(frozen=True, eq=False)
class RowPosteriors:
    """A normal distribution of the unseen cells of every row, and the bound of its log-likelihood.

    - `means`, shape (n_rows, n): cells seen, or posterior means
    - `covariances`, (n_rows, most, most): of the unseen cells of a row, in ascending order
    - `unseen`, (n_rows, n), and `bounds`, (n_rows,), in nats
    """

    model: CurveModel
    means: Matrix
    covariances: Matrix
    unseen: npt.NDArray[np.uint8]
    bounds: Matrix

    def variances(self) -> Matrix:
        """Posterior variances, zero where a cell is seen, shape (n_rows, n)."""
        out = np.zeros(self.means.shape)
        for d, rows, hidden in self._alike():
            out[rows[:, None], hidden] = self.covariances[rows, :d, :d].diagonal(axis1=1, axis2=2)
        return out

    def squares(self, cpd: CPD, row_weights: Matrix) -> float:
        """The sum over rows of E[(x - g)^2], the variable's family being `cpd`.

        Its parents are the model's, in the same order.
        """
        place = self.model.names.index(cpd.variable.name)
        other = self.model.with_family(place, cpd)
        return float(
            curve_squares(
                place, *other.arrays, self.unseen, self.means, self.covariances, POINTS, SHARES,
                row_weights,
            )
        )  # fmt: skip

    def completed(self, network: Network, weights: Matrix) -> Table:
        """Rows that have the same means and covariances: 2 d points for d unseen cells.

        They lie at m +- sqrt(d) times the columns of a root of the covariance, and share the weight
        of their row.
        """
        seen = np.flatnonzero(~self.unseen.any(axis=1))
        cells, shares = [self.means[seen]], [weights[seen]]
        for d, rows, hidden in self._alike():
            root = np.linalg.cholesky(self.covariances[rows, :d, :d]) * np.sqrt(d)
            steps = np.concatenate([root, -root], axis=2).transpose(0, 2, 1)
            points = np.repeat(self.means[rows][:, None, :], 2 * d, axis=1)
            points[np.arange(len(rows))[:, None, None], np.arange(2 * d)[:, None],
                   hidden[:, None, :]] += steps  # fmt: skip
            cells.append(points.reshape(-1, points.shape[2]))
            shares.append(np.repeat(weights[rows] / (2 * d), 2 * d))
        values = np.concatenate(cells)
        variables = [network.variable(n) for n in self.model.names]
        return Table(variables, list(np.ascontiguousarray(values.T)), np.concatenate(shares))

    def _alike(self) -> Iterator[tuple[int, npt.NDArray[np.intp], npt.NDArray[np.intp]]]:
        """Rows by the number d of their unseen cells: d, the rows, and which cells (n, d)."""
        sizes = self.unseen.sum(axis=1)
        for d in np.unique(sizes[sizes > 0]).tolist():
            rows = np.flatnonzero(sizes == d)
            yield d, rows, np.nonzero(self.unseen[rows])[1].reshape(-1, d)


def row_posteriors(
    network: Network,
    table: Table,
    targets: Sequence[str] | None = None,
    start: RowPosteriors | None = None,
) -> RowPosteriors:
    """The nearest Gaussian of every row, about the targets (all variables) and what is seen.

    It starts at `start`, which must be about the same cells, or where the parents take the
    children, row by row.
    """
    columns = _columns(network, table)
    seen = [n for n, column in columns.items() if not np.isnan(column).all()]
    wanted = network.names if targets is None else (*seen, *targets)
    model = CurveModel.of(network, wanted or network.names[:1])
    n = len(model.names)
    values = np.full((table.n_rows, n), np.nan)
    for i, name in enumerate(model.names):
        if name in columns:
            values[:, i] = columns[name]
    unseen = np.isnan(values).astype(np.uint8)
    most = int(unseen.sum(axis=1).max(initial=0))
    if start is not None:
        means, covariances = start.means.copy(), start.covariances.copy()
    else:
        means, covariances = _first(network, model, values, unseen, most)
    bounds = np.empty(table.n_rows)
    curve_posteriors(
        *model.arrays, unseen, POINTS, SHARES, MAX_STEPS, TOLERANCE, means, covariances, bounds
    )
    return RowPosteriors(model, means, covariances, unseen, bounds)


def curve_posterior(network: Network, table: Table, targets: Sequence[str]) -> Posterior:
    """Means, variances and log-evidence by weighted draws."""
    columns = _columns(network, table)
    return drawn_posterior(network, columns, table.n_rows, targets, _nearest(network))


def curve_log_likelihoods(network: Network, table: Table) -> Matrix:
    """The log-density of what each row shows; a lower bound where its causes are unseen.

    Where no bound is known, it is found by weighted draws.
    """
    columns = _columns(network, table)
    shown = [n for n, column in columns.items() if not np.isnan(column).all()]
    above = {*shown, *network.dag.ancestors(*shown)}
    if not any(_by_draws_only(network.cpd(name)) for name in above):
        return row_posteriors(network, table, []).bounds
    return drawn_posterior(network, columns, table.n_rows, [], _nearest(network)).log_evidence


def curve_fill_in(
    network: Network, table: Table, generator: np.random.Generator | None = None
) -> Table:
    """The network's variables, unseen cells filled in by posterior means, or by draws."""
    columns = _columns(network, table)
    filled = {name: np.empty(table.n_rows) for name in network.names}
    for found in row_draws(network, columns, table.n_rows, network.names, _nearest(network)):
        drawn = None if generator is None else found.one_each(generator)
        for i, name in enumerate(found.names):
            if i not in found.unseen:
                filled[name][found.rows] = columns[name][found.rows]
            elif drawn is not None:
                filled[name][found.rows] = drawn[:, i]
            else:
                filled[name][found.rows] = found.moments(name)[0]
    return Table(network.variables, list(filled.values()), table.weights)


def curve_covariance(network: Network, table: Table, names: Sequence[str]) -> Matrix:
    """The posterior covariance of unseen variables, given a row."""
    (found,) = row_draws(network, _columns(network, table), 1, names, _nearest(network))
    return found.covariance(names)


def _nearest(network: Network) -> Nearest:
    """Who knows the nearest Gaussians of rows, if they are known for such curves."""

    def near(names: Sequence[str], values: Matrix) -> RowPosteriors | None:
        if any(_by_draws_only(network.cpd(name)) for name in names):
            return None
        rows = Table([network.variable(n) for n in names], list(values.T.copy()))
        return row_posteriors(network, rows, names)

    return near


def _by_draws_only(cpd: Any) -> bool:
    if not isinstance(cpd, NonlinearCPD):
        return False
    if not cpd.parents:
        return cpd.curve.noise == "log-normal"
    return cpd.curve.positive or cpd.curve.link == "reaction"


def _columns(network: Network, table: Table) -> dict[str, Matrix]:
    """The table's columns for the network's variables, NaN where missing."""
    inside = [v for v in network.variables if v.name in table]
    known = table.select([v.name for v in inside]).conform(inside) if inside else table
    columns = {v.name: np.asarray(known.column(v.name), np.float64) for v in inside}
    for name, column in columns.items():
        refuse_infinite(name, column)
    return columns


def _row(cpd: Any) -> tuple[list[float], list[float]]:
    """(kind, low, span, offset, variance) of a family, and its weights."""
    if isinstance(cpd, LinearGaussianCPD):
        return [LINE, 0.0, 0.0, cpd.intercept, cpd.variance], list(cpd.coefficients)
    if not isinstance(cpd, NonlinearCPD):
        raise ModelError(
            f"{cpd.variable.name!r} has a {cpd.kind} distribution; unseen cells beside curves are "
            "for lines and curves only"
        )
    if _by_draws_only(cpd):
        raise ModelError(
            f"{cpd.variable.name!r} follows a {cpd.curve.link} curve with {cpd.curve.noise} noise; "
            "learning from rows with unseen cells is for sigmoid and hyperbolic curves with "
            "additive noise. Complete rows can be learned from; rows with unseen cells can be "
            "asked about, scored and filled in."
        )
    if not cpd.parents:  # a level, and normal noise
        scale = cpd.low if cpd.curve.noise == "multiplicative" else 1.0
        return [LINE, 0.0, 0.0, cpd.low, cpd.variance * scale**2], []
    kind, offset = float(LINKS[cpd.curve.link]), float(cpd.offsets[0])
    return [kind, cpd.low, cpd.high - cpd.low, offset, cpd.variance], list(cpd.weights)


def _first(
    network: Network, model: CurveModel, values: Matrix, unseen: Any, most: int
) -> tuple[Matrix, Matrix]:
    """Means where the parents take them, and the noise of each family as variance."""
    means = values.copy()
    place = {name: i for i, name in enumerate(model.names)}
    for i, name in enumerate(model.names):
        cpd = network.cpd(name)
        gaps = unseen[:, i] > 0
        if gaps.any():
            parents = [means[gaps, place[p.name]] for p in cpd.parents]
            if isinstance(cpd, NonlinearCPD):
                means[gaps, i] = cpd.means(parents, int(gaps.sum()))
            else:
                assert isinstance(cpd, LinearGaussianCPD)
                means[gaps, i] = cpd.intercept
                for b, column in zip(cpd.coefficients, parents, strict=True):
                    means[gaps, i] += b * column
    covariances = np.zeros((len(values), most, most))
    ranks = np.cumsum(unseen, axis=1) - 1
    rows, columns = np.nonzero(unseen)
    at = ranks[rows, columns]
    covariances[rows, at, at] = model.model[columns, 4]
    return means, covariances
