"""`loadings_of`: what hidden variables do to their children, in standard units and in bits."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unveil.model.gaussian_cpd import LinearGaussianCPD
from unveil.model.network import Network
from unveil.model.nonlinear_cpd import NonlinearCPD
from unveil.records import Record
from unveil.table.core import Table

__all__ = ["Loading", "arc_weights", "loadings_of"]

Numbers = npt.NDArray[np.float64]

POINTS, SHARES = np.polynomial.hermite_e.hermegauss(21)
SHARES = SHARES / SHARES.sum()
MOST_ROWS = 2000
"""Slopes of curves are averaged over so many rows at most, evenly spread."""


@dataclass(frozen=True)
class Loading(Record):
    """What a hidden variable does to one of its children.

    `weight` is in standard units (the child's standard deviations per standard deviation of the
    hidden variable; for a curve, its slope on average), `bits` what knowing the hidden variable
    saves per row about the child, its other parents known: 1/2 log2(1 + weight^2 / noise variance),
    or the mean of 1/2 log2(1 + Var g / noise variance) for a curve g.
    """

    child: str
    weight: float
    bits: float


def loadings_of(network: Network, table: Table) -> dict[str, tuple[Loading, ...]]:
    """The loadings of every hidden variable, the strongest first."""
    rows = _rows(network, table)
    spread = {n: float(np.nanstd(table.column(n))) for n in table.names}
    found = {}
    for hidden in network.hidden:
        own = [_loading(network, hidden, child, rows, spread[child])
               for child in network.dag.children(hidden)]  # fmt: skip
        found[hidden] = tuple(sorted(own, key=lambda loading: -loading.bits))
    return found


def arc_weights(network: Network, table: Table) -> dict[tuple[str, str], float]:
    """The weight of every arc in standard deviations of the child per one of the parent.

    Of a curve, the slope on average.
    """
    rows = _rows(network, table)
    spread = {n: float(np.nanstd(table.column(n))) for n in table.names}
    found = {}
    for name, cpd in network.cpds.items():
        for place, parent in enumerate(cpd.parents):
            slope = _slope(cpd, place, rows)
            if slope is not None:
                scale = spread.get(parent.name, 1.0) / spread.get(name, 1.0)
                found[parent.name, name] = slope * scale
    for hidden, own in loadings_of(network, table).items():
        found |= {(hidden, loading.child): loading.weight for loading in own}
    return found


def _slope(cpd: object, place: int, rows: dict[str, Numbers]) -> float | None:
    """How a parent moves the child on average over rows; `None` for what is no line or curve."""
    if isinstance(cpd, LinearGaussianCPD):
        return float(cpd.coefficients[place])
    if not isinstance(cpd, NonlinearCPD):
        return None
    columns = [rows[p.name] for p in cpd.parents]
    step = 1e-4 * max(float(np.std(columns[place])), 1e-12)
    ends = []
    for sign in (1.0, -1.0):
        moved = [c + sign * step * (i == place) for i, c in enumerate(columns)]
        ends.append(cpd.means(moved, len(columns[0])))
    return float(np.mean(ends[0] - ends[1]) / (2 * step))


def _loading(
    network: Network, hidden: str, child: str, rows: dict[str, Numbers], spread: float
) -> Loading:
    cpd = network.cpd(child)
    place = [p.name for p in cpd.parents].index(hidden)
    if isinstance(cpd, LinearGaussianCPD):
        weight = float(cpd.coefficients[place])
        return Loading(child, weight / spread, 0.5 * math.log2(1 + weight**2 / cpd.variance))
    assert isinstance(cpd, NonlinearCPD)
    others = [rows[p.name] for p in cpd.parents]
    n, k = len(others[0]), len(POINTS)
    inputs = [np.repeat(c, k) for c in others]
    inputs[place] = np.tile(POINTS, n)
    g = cpd.means(inputs, n * k).reshape(n, k)
    # For a standard normal h, the mean slope of g is its covariance with h (Stein).
    slope = float(np.mean(g @ (SHARES * POINTS)))
    variance = np.square(g - (g @ SHARES)[:, None]) @ SHARES
    return Loading(
        child, slope / spread, float(np.mean(0.5 * np.log2(1 + variance / cpd.variance)))
    )


def _rows(network: Network, table: Table) -> dict[str, Numbers]:
    """Values of all variables in some rows, unseen ones by posterior means; none for lines."""
    if not any(isinstance(cpd, NonlinearCPD) for cpd in network.cpds.values()):
        return {}
    step = -(-table.n_rows // MOST_ROWS)
    some = table.take(np.arange(0, table.n_rows, step))
    unseen = [n for n in network.names if n not in some or some.missing(n).any()]
    means = network.posterior(some, of=unseen).means if unseen else {}
    return {
        n: np.asarray(means[n] if n in means else some.column(n), np.float64) for n in network.names
    }
