"""Lines of a network as people read them: standardised weights, shares explained, residual checks.

The weight of an arc u -> x is its coefficient in standard deviations, b sd(u) / sd(x); R^2 is the
share of a variable's variance that its parents explain. A line says what it says only if what it
leaves looks like noise: without lean, without heavy tails, without a bend.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from unveil.graph.names import Pair
from unveil.model.network import Network
from unveil.records import Record
from unveil.table.core import Table
from unveil.table.door import Data, Weights, as_table

__all__ = ["LineCheck", "PathDiagram", "checked", "path_diagram"]

Numbers = npt.NDArray[np.float64]

SKEWED, HEAVY, BENT = 1.0, 2.0, 0.2
"""From here on a check has something to say: of the skewness of residuals, of their excess
kurtosis, and of their correlation with the square of what the line predicts."""


@dataclass(frozen=True)
class LineCheck(Record):
    """How well a line explains a variable, and what it leaves.

    `r_squared` is the share of variance explained; `skewness`, `kurtosis` (excess, 0 for a normal)
    and `bend` (the correlation with the squared prediction) are those of the residuals, in units of
    their standard deviation; `largest` is the residual farthest from zero, in row `row` (from 1).
    """

    name: str
    r_squared: float
    skewness: float
    kurtosis: float
    bend: float
    largest: float
    row: int
    words: str


@dataclass(frozen=True)
class PathDiagram(Record):
    """The `weights` of arcs between continuous variables, in standard deviations, and the `checks`.

    A variable whose line depends on discrete parents has the mean of its weights, each line by the
    rows that it holds for.
    """

    weights: Mapping[Pair, float]
    checks: tuple[LineCheck, ...]

    @property
    def r_squared(self) -> dict[str, float]:
        """The share of variance explained, by name, of every variable that has parents."""
        return {check.name: check.r_squared for check in self.checks}


def path_diagram(network: Network, data: Data, *, weights: Weights = None) -> PathDiagram:
    """Standardised weights, R^2 and residual checks of a network's continuous variables.

    `data` is a table, a frame, an array or a path, `weights` say how often each row counts. Rows
    that lack a value of a family are left out for that family.

    >>> generator = np.random.default_rng(1)
    >>> u = generator.normal(size=1000)
    >>> table = Table.from_frame({"u": u, "x": 0.6 * u + 0.8 * generator.normal(size=1000)})
    >>> from unveil import DAG, fit
    >>> paths = path_diagram(fit(DAG(["u", "x"], [("u", "x")]), table), table)
    >>> round(paths.weights["u", "x"], 1), round(paths.r_squared["x"], 1), paths.checks[0].words
    (0.6, 0.4, 'looks like noise')
    """
    table = as_table(data, weights, like=None if isinstance(data, Table) else network)
    found: dict[Pair, float] = {}
    checks = []
    for cpd in network.cpds.values():
        seen = [v.name for v in (cpd.variable, *cpd.parents) if v.name in table]
        if cpd.variable.is_discrete or not cpd.parents or len(seen) <= len(cpd.parents):
            continue
        if not hasattr(cpd, "lines"):
            continue
        whole = ~np.any([table.missing(name) for name in seen], axis=0) & (table.row_weights > 0)
        rows = np.flatnonzero(whole)
        if rows.size > 1:
            family = _Family(cast("Any", cpd), table, rows)
            found |= family.weights
            checks.append(family.check())
    return PathDiagram(found, tuple(checks))


class _Family:
    """A continuous variable, its line or lines, and the rows that show all of it."""

    def __init__(self, cpd: Any, table: Table, rows: npt.NDArray[np.intp]) -> None:
        self.name, self.rows = cpd.variable.name, rows
        self.mass = table.row_weights[rows] / table.row_weights[rows].sum()
        self.values = table.column(self.name)[rows]
        intercepts, coefficients, variances = cpd.lines
        states = tuple(
            table.column(p.name)[rows].astype(np.intp) for p in cpd.parents if p.is_discrete
        )
        slopes = coefficients[states] if states else np.tile(coefficients, (rows.size, 1))
        self.predicted = np.broadcast_to(intercepts[states], rows.shape).astype(np.float64)
        self.weights = {}
        spread = self._spread(self.values)
        for place, parent in enumerate(cpd.continuous_parents):
            column = table.column(parent.name)[rows]
            self.predicted = self.predicted + slopes[:, place] * column
            weight = float(self.mass @ slopes[:, place]) * self._spread(column)
            self.weights[parent.name, self.name] = weight / spread if spread else 0.0
        self.noise = np.sqrt(np.broadcast_to(variances[states], rows.shape))

    def check(self) -> LineCheck:
        """What the residuals say."""
        return checked(self.name, self.rows, self.mass, self.values, self.predicted, self.noise)

    def _spread(self, values: Numbers) -> float:
        return _spread(self.mass, values)


def checked(
    name: str, rows: npt.NDArray[np.intp], weights: Numbers, values: Numbers, predicted: Numbers,
    noise: Numbers,
) -> LineCheck:  # fmt: skip
    """What is left of `values` after what was predicted, `noise` being its standard deviation."""
    mass = weights / weights.sum()
    left = values - predicted
    total = _spread(mass, values) ** 2
    r_squared = 1 - float(mass @ left**2) / total if total else 0.0
    z = left / noise
    centred = (z - float(mass @ z)) / (_spread(mass, z) or 1.0)
    skewness, kurtosis = float(mass @ centred**3), float(mass @ centred**4) - 3
    bend = _correlation(mass, centred, (predicted - float(mass @ predicted)) ** 2)
    far = int(np.abs(z).argmax())
    words = _words(skewness, kurtosis, bend)
    row = int(rows[far]) + 1
    return LineCheck(name, r_squared, skewness, kurtosis, bend, float(z[far]), row, words)


def _spread(mass: Numbers, values: Numbers) -> float:
    return float(np.sqrt(mass @ (values - float(mass @ values)) ** 2))


def _correlation(mass: Numbers, first: Numbers, second: Numbers) -> float:
    spread = _spread(mass, first) * _spread(mass, second)
    product = mass @ ((first - mass @ first) * (second - mass @ second))
    return float(product) / spread if spread else 0.0


def _words(skewness: float, kurtosis: float, bend: float) -> str:
    """What a person should know of the residuals."""
    said = []
    if abs(bend) > BENT:
        said.append("bent: a curve would fit better than a line")
    if abs(skewness) > SKEWED:
        said.append(f"leans to {'large' if skewness > 0 else 'small'} values: try logarithms")
    if kurtosis > HEAVY:
        said.append("heavy tails: a few rows are far off")
    return "; ".join(said) or "looks like noise"
