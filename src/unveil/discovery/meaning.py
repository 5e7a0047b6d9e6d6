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


@dataclass(frozen=True)
class Meaning(Record):
    """A hidden variable explained.

    `information` ranks the observed variables by the bits they tell about it (mutual
    information); `posterior` has shape (n_rows, n_states).
    """

    name: str
    information: dict[str, float]
    profiles: tuple[StateProfile, ...]
    posterior: npt.NDArray[np.float64] = field(repr=False)


def meaning_of(network: Network, table: Table, name: str, n_traits: int = 4) -> Meaning:
    """What the hidden variable `name` means in the rows it was learned from.

    A row counts for every state as much as the state's posterior there.
    """
    found = joints_in_rows(network, name, table)
    profiles = profiles_of(network, name, found, table.row_weights, n_traits)
    return Meaning(name, found.information(), profiles, found.posterior)
