"""Hidden states have no names: put those of one network in the order of another's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.model.compact import CompactCPD
from unveil.model.cpd import CPD
from unveil.model.network import Network
from unveil.model.table_cpd import TableCPD

__all__ = ["align_states", "permute_states"]


def align_states(network: Network, reference: Network, hidden: Sequence[str]) -> Network:
    """The same network with its hidden states ordered as in `reference`.

    For each hidden variable H the order p is chosen that brings the tables of its children X
    closest: the p with the least sum over states h of D(p(h), h), where

        D(g, h) = sum over X, x and its other parents u of (P(x | g, u) - P'(x | h, u))^2

    and P' is the reference (an assignment problem, solved exactly). A hidden child can only be
    compared once its own states are in order, so all are gone through again until nothing changes.
    """
    for _ in range(len(hidden) + 1):
        before = network
        for name in hidden:
            network = _aligned(network, reference, name)
        if network is before:
            break
    return network


def _aligned(network: Network, reference: Network, name: str) -> Network:
    from scipy.optimize import linear_sum_assignment

    n_states = network.variable(name).n_states
    cost = np.zeros((n_states, n_states))
    for child in network.dag.children(name):
        cost += _distances(network, reference, name, child)
    # order[h] is the own state that becomes state h: the least sum over h of D(order[h], h).
    _, order = linear_sum_assignment(cost.T)
    if (order == np.arange(n_states)).all():
        return network
    return permute_states(network, name, order)


def _distances(
    network: Network, reference: Network, name: str, child: str
) -> npt.NDArray[np.float64]:
    """The part of D(g, h) that one child has: g a state here, h one of the reference."""
    own, other = (_numbers(source.cpd(child), name) for source in (network, reference))
    return ((own[:, None, :] - other[None, :, :]) ** 2).sum(axis=2)


def _numbers(cpd: Any, parent: str) -> npt.NDArray[np.float64]:
    """What tells a parent's states apart, a row for each: probabilities, or lines.

    Lines are taken in units of the child's noise, so that a child's own unit does not matter.
    """
    axis = _axis(cpd, parent)
    if cpd.variable.is_discrete:
        parts = [cpd.values]
    else:
        intercepts, coefficients, variances = cpd.lines
        parts = [x / np.sqrt(variances.mean()) for x in (intercepts[..., None], coefficients)]
    rows = [np.moveaxis(x, axis, 0).reshape(x.shape[axis], -1) for x in parts]
    return np.concatenate(rows, axis=1)


def _axis(cpd: Any, name: str) -> int:
    """The axis of a discrete variable in a family's numbers."""
    members = [v.name for v in (*cpd.parents, cpd.variable) if v.is_discrete]
    return members.index(name)


def permute_states(network: Network, name: str, order: npt.ArrayLike) -> Network:
    """The same distribution with state i of a variable being what was state order[i]."""
    places = np.asarray(order)
    cpds: list[CPD] = []
    for cpd in network.cpds.values():
        if name in {v.name for v in (*cpd.parents, cpd.variable)}:
            cpds.append(_permuted(cpd, name, places))
        else:
            cpds.append(cpd)
    return Network(cpds, network.name, network.description)


def _permuted(cpd: Any, name: str, places: npt.NDArray[Any]) -> CPD:
    axis = _axis(cpd, name)
    if isinstance(cpd, CompactCPD):
        return cpd.permuted(axis, places.tolist())
    if cpd.variable.is_discrete:
        return TableCPD(cpd.variable, cpd.parents, np.take(cpd.values, places, axis=axis))
    lines = [np.take(x, places, axis=axis) for x in cpd.lines]
    found: CPD = cpd.with_lines(cpd.parents, *lines)
    return found
