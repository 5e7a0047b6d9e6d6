"""Why a hidden variable may be superfluous: one state, one neighbour, or states that are alike."""

from __future__ import annotations

import numpy as np

from unveil.model.network import Network
from unveil.model.table_cpd import table_of

__all__ = ["redundancy"]


def redundancy(network: Network, name: str) -> str:
    """Why a hidden variable is superfluous, in words; empty if it is not."""
    variable = network.variable(name)
    children = network.dag.children(name)
    if variable.n_states < 2:
        return "it has a single state"
    neighbours = len(network.dag.neighbours(name))
    if not children or neighbours < 2:
        return "it is linked to a single variable"
    twins = _equal_states(network, name)
    return f"its states {twins[0]} and {twins[1]} are the same" if twins else ""


def _equal_states(network: Network, name: str, tolerance: float = 0.01) -> tuple[int, int] | None:
    """Two states under which all children behave alike."""
    k = network.variable(name).n_states
    distance = np.zeros((k, k))
    for child in network.dag.children(name):
        cpd = table_of(network.cpd(child))
        axis = [v.name for v in cpd.parents].index(name)
        rows = np.moveaxis(cpd.values, axis, 0).reshape(k, -1, cpd.variable.n_states)
        gap = np.abs(rows[:, None] - rows[None, :]).sum(axis=-1).max(axis=-1) / 2
        distance = np.maximum(distance, gap)
    alike = np.argwhere((distance < tolerance) & ~np.eye(k, dtype=bool))
    return (int(alike[0][0]), int(alike[0][1])) if len(alike) else None
