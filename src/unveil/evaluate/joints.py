"""How the states of a hidden variable go together with the values of others: P(state, value).

By the rows, each counted for every state as much as the state's posterior there, or by the model
alone. At a maximum of the likelihood of complete rows the two agree for every child of a root: EM
is at rest where the tables are the expected counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unveil.infer.posterior import posterior
from unveil.model.network import Network
from unveil.table.core import Table

__all__ = ["Joints", "joints_in_model", "joints_in_rows"]

Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Joints:
    """The share of every state, and its joint with other variables.

    `shares` has shape (n_states,); `joints[other]` has shape (n_states, n_values), over the rows
    that show `other`. `posterior` has shape (n_rows, n_states), and no rows by the model alone.
    """

    shares: Matrix
    joints: dict[str, Matrix]
    posterior: Matrix

    def information(self) -> dict[str, float]:
        """The bits that each variable tells about the state (mutual information), most first."""
        bits = {name: _mutual_information(joint) for name, joint in self.joints.items()}
        return dict(sorted(bits.items(), key=lambda item: -item[1]))


def joints_in_rows(network: Network, name: str, table: Table) -> Joints:
    """How the states of `name` go together with the columns of a table, by its rows."""
    observed = [n for n in network.names if n in table and n != name]
    rows = table.select(observed).conform([network.variable(n) for n in observed])
    states = posterior(network, rows, of=name)[name]
    weighted = states * rows.row_weights[:, None]
    joints = {v.name: _joint(rows, weighted, v.name) for v in rows.variables if v.is_discrete}
    return Joints(weighted.sum(axis=0) / rows.row_weights.sum(), joints, states)


def joints_in_model(network: Network, name: str) -> Joints:
    """How the states of `name` go together with what is not hidden, by the model alone."""
    variable = network.variable(name)
    shares = posterior(network, of=name)[name][0]
    others = [v.name for v in network.variables if v.is_discrete and not v.hidden and v != variable]
    joints = {other: np.zeros((len(shares), network.variable(other).n_states)) for other in others}
    possible = np.flatnonzero(shares > 0)
    if others:
        given = posterior(network, Table([variable], [possible]), of=others)
        for other in others:
            joints[other][possible] = shares[possible, None] * given[other]
    return Joints(shares, joints, np.zeros((0, len(shares))))


def _joint(rows: Table, weighted: Matrix, name: str) -> Matrix:
    seen = ~rows.missing(name)
    codes = rows.column(name)[seen]
    k = rows.variable(name).n_states
    joint = np.stack([np.bincount(codes, w, k) for w in weighted[seen].T])
    return np.asarray(joint / max(joint.sum(), 1e-300))


def _mutual_information(joint: Matrix) -> float:
    """Sum of P(s, x) log2 P(s, x) / P(s) P(x)."""
    independent = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    seen = joint > 0
    return max(0.0, float((joint[seen] * np.log2(joint[seen] / independent[seen])).sum()))
