"""Gaussian families in other units, and with a parent held at a value.

Nothing tells the scale, the origin and the sign of a variable that nobody measured: x = 2 h and
x = h with h twice as wide are the same model of x. So they are fixed: noise of variance one,
intercept zero, and the children's weights positive on the whole.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol, cast

import numpy as np
import numpy.typing as npt

from unveil.model.cpd import CPD
from unveil.model.gaussian_cpd import LinearGaussianCPD
from unveil.model.network import Network
from unveil.table.variable import Variable

__all__ = ["held", "rescaled", "standardised"]

Lines = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64]]


class Gaussian(Protocol):
    """A continuous family: lines (intercepts, coefficients, variances), one per configuration."""

    @property
    def continuous_parents(self) -> tuple[Variable, ...]:
        """The parents that enter the mean."""

    @property
    def lines(self) -> Lines:
        """Intercepts, coefficients (the parents last) and variances, an axis per selector."""

    def with_lines(self, parents: Sequence[Variable], *lines: Any) -> CPD:
        """The same family with other lines."""


def standardised(network: Network, names: Sequence[str]) -> Network:
    """The same distribution of everything else, with each of these variables in standard units.

    Only linear Gaussian ones are changed: given its discrete parents, a variable may differ in
    scale from one state to another, so no one unit fits.

    >>> from unveil import Variable
    >>> h, x = Variable("h", hidden=True), Variable("x")
    >>> wide = Network([LinearGaussianCPD(h, [], 1, [], 4), LinearGaussianCPD(x, [h], 0, [-3], 1)])
    >>> print(standardised(wide, ["h"]).cpd("x").describe())
    P(x | h) = Normal(-3 + 6 h, variance 1)
    """
    cpds = dict(network.cpds)
    for name in names:
        own = cpds[name]
        if isinstance(own, LinearGaussianCPD):
            children = [cpds[child] for child in network.dag.children(name)]
            scale = math.sqrt(own.variance)
            if sum(_pull(child, name) for child in children) < 0:
                scale = -scale
            for child in children:
                cpds[child.variable.name] = rescaled(child, name, own.intercept, scale)
            coefficients = own.coefficients / scale
            cpds[name] = LinearGaussianCPD(own.variable, own.parents, 0.0, coefficients, 1.0)
    return Network(cpds.values(), network.name, network.description)


def rescaled(cpd: CPD, parent: str, origin: float, scale: float) -> CPD:
    """The family whose parent u is now given as (u - origin) / scale."""
    own, family = _place(cpd, parent), cast("Gaussian", cpd)
    intercepts, coefficients, variances = family.lines
    changed = coefficients.copy()
    changed[..., own] *= scale
    return family.with_lines(
        cpd.parents, intercepts + origin * coefficients[..., own], changed, variances
    )


def held(cpd: CPD, parent: str, value: float) -> CPD:
    """The family once a parent is held at a value: the arc goes, its effect stays."""
    own, family = _place(cpd, parent), cast("Gaussian", cpd)
    intercepts, coefficients, variances = family.lines
    parents = [p for p in cpd.parents if p.name != parent]
    rest = np.delete(coefficients, own, axis=-1)
    return family.with_lines(parents, intercepts + value * coefficients[..., own], rest, variances)


def _pull(cpd: CPD, parent: str) -> float:
    """How strongly a parent pulls upwards, in units of the child's noise."""
    _, coefficients, variances = cast("Gaussian", cpd).lines
    return float(np.sum(coefficients[..., _place(cpd, parent)] / np.sqrt(variances)))


def _place(cpd: CPD, parent: str) -> int:
    return [p.name for p in cast("Gaussian", cpd).continuous_parents].index(parent)
