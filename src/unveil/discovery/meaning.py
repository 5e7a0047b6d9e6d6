"""What a hidden variable means: what sets each state apart, and who tells most about it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from unveil.evaluate.joints import joints_in_rows
from unveil.evaluate.profiles import StateProfile, Trait, profiles_of
from unveil.model.network import Network
from unveil.records import Record
from unveil.table.core import Table

__all__ = ["Meaning", "StateProfile", "Trait", "meaning_of"]

Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Meaning(Record):
    """A hidden variable explained.

    `information` ranks the observed variables by the bits they tell about it (mutual
    information); `posterior` has shape (n_rows, n_states). `values[other]` has shape (n_states,
    n_values): how probable each value of another variable is in each state; `overall[other]` how
    probable it is in all rows.
    """

    name: str
    information: dict[str, float]
    profiles: tuple[StateProfile, ...]
    posterior: Matrix = field(repr=False)
    values: dict[str, Matrix] = field(repr=False, default_factory=dict)
    overall: dict[str, Matrix] = field(repr=False, default_factory=dict)


def meaning_of(network: Network, table: Table, name: str, n_traits: int = 4) -> Meaning:
    """What the hidden variable `name` means in the rows it was learned from.

    A row counts for every state as much as the state's posterior there.
    """
    found = joints_in_rows(network, name, table)
    profiles = profiles_of(network, name, found, table.row_weights, n_traits)
    values = {other: _given_state(joint) for other, joint in found.joints.items()}
    overall = {other: joint.sum(axis=0) for other, joint in found.joints.items()}
    return Meaning(name, found.information(), profiles, found.posterior, values, overall)


def _given_state(joint: Matrix) -> Matrix:
    """P(value | state) from P(state, value); zeros in a state that no row has."""
    mass = joint.sum(axis=1, keepdims=True)
    return np.divide(joint, mass, out=np.zeros_like(joint), where=mass > 0)
