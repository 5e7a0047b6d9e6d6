"""Continuous families in other units, and with a parent held at a value.

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
from unveil.model.curves import squash
from unveil.model.gaussian_cpd import LinearGaussianCPD
from unveil.model.network import Network
from unveil.model.nonlinear_cpd import NonlinearCPD
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
    if isinstance(cpd, NonlinearCPD):
        at = _at(cpd, parent)
        weights, offsets = cpd.weights.copy(), cpd.offsets.copy()
        offsets[at if cpd.curve.link == "reaction" else 0] += origin * weights[at]
        weights[at] *= scale
        return _curve(cpd, cpd.parents, cpd.high, offsets, weights)
    own, family = _place(cpd, parent), cast("Gaussian", cpd)
    intercepts, coefficients, variances = family.lines
    changed = coefficients.copy()
    changed[..., own] *= scale
    return family.with_lines(
        cpd.parents, intercepts + origin * coefficients[..., own], changed, variances
    )


def held(cpd: CPD, parent: str, value: float) -> CPD:
    """The family once a parent is held at a value: the arc goes, its effect stays.

    In a curve of a sum it goes into the offset; in a reaction its factor goes into the height. A
    curve without parents is a level.

    >>> from unveil.model import Curve
    >>> x, u = Variable("x"), Variable("u")
    >>> bent = NonlinearCPD(x, [u], Curve("sigmoid"), -1, 1, [0], [4], 0.25)
    >>> print(held(bent, "u", 0.0).describe())
    P(x) = Normal(0, variance 0.25)
    """
    if isinstance(cpd, NonlinearCPD):
        return _held_curve(cpd, parent, value)
    own, family = _place(cpd, parent), cast("Gaussian", cpd)
    intercepts, coefficients, variances = family.lines
    parents = [p for p in cpd.parents if p.name != parent]
    rest = np.delete(coefficients, own, axis=-1)
    return family.with_lines(parents, intercepts + value * coefficients[..., own], rest, variances)


def _held_curve(cpd: NonlinearCPD, parent: str, value: float) -> NonlinearCPD:
    at = _at(cpd, parent)
    rest = [p for p in cpd.parents if p.name != parent]
    weights, own = np.delete(cpd.weights, at), cpd.weights[at] * value
    if cpd.curve.link == "reaction":
        factor = float(squash("sigmoid", np.array(cpd.offsets[at] + own))[0])
        offsets, high = np.delete(cpd.offsets, at), cpd.low + (cpd.high - cpd.low) * factor
    else:
        offsets, high = cpd.offsets + own, cpd.high
    if rest:
        return _curve(cpd, rest, high, offsets, weights)
    if cpd.curve.link != "reaction":
        share = float(squash(cpd.curve.link, offsets)[0][0])
        high = cpd.low + (cpd.high - cpd.low) * share
    none = np.zeros(0)
    return NonlinearCPD(cpd.variable, [], cpd.curve, high, high, none, none, cpd.variance)


def _curve(
    cpd: NonlinearCPD, parents: Sequence[Variable], high: float, offsets: Any, weights: Any
) -> NonlinearCPD:
    return NonlinearCPD(
        cpd.variable, parents, cpd.curve, cpd.low, high, offsets, weights, cpd.variance
    )


def _at(cpd: CPD, parent: str) -> int:
    return [p.name for p in cpd.parents].index(parent)


def _pull(cpd: CPD, parent: str) -> float:
    """How strongly a parent pulls upwards, in units of the child's noise."""
    if isinstance(cpd, NonlinearCPD):
        slope = float(cpd.weights[_at(cpd, parent)]) * (cpd.high - cpd.low)
        return slope / math.sqrt(cpd.variance)
    _, coefficients, variances = cast("Gaussian", cpd).lines
    return float(np.sum(coefficients[..., _place(cpd, parent)] / np.sqrt(variances)))


def _place(cpd: CPD, parent: str) -> int:
    return [p.name for p in cast("Gaussian", cpd).continuous_parents].index(parent)
