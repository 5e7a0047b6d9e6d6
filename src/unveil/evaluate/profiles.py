"""What sets each state of a hidden variable apart: the values that are commoner there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from unveil.evaluate.joints import Joints, joints_in_model, joints_in_rows
from unveil.model.network import Network
from unveil.records import Record
from unveil.table.core import Table
from unveil.table.variable import Label, label_text

__all__ = ["StateProfile", "Trait", "profiles_of", "state_profiles"]

CLEARLY = 1.05
"""A value that is not so many times as common in a state is no trait of it."""
TELLING = 0.01
"""Nor is one of a variable whose distribution in the state is so near, in bits, to that overall."""

Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Trait(Record):
    """A value that is commoner in a state (`share`) than overall."""

    variable: str
    value: Label
    share: float
    overall: float

    @property
    def words(self) -> str:
        """The trait as a phrase, such as 'IQ = high: 38% against 18%'."""
        shares = f"{_percent(self.share)} against {_percent(self.overall)}"
        return f"{self.variable} = {label_text(self.value)}: {shares}"


@dataclass(frozen=True)
class StateProfile(Record):
    """One state: how common it is, what sets it apart, and the rows most typical of it.

    `typical_rows` is empty if the profile was taken from the model alone.
    """

    told: ClassVar = ("words",)

    variable: str
    state: Label
    share: float
    traits: tuple[Trait, ...]
    typical_rows: tuple[int, ...] = ()

    @property
    def words(self) -> str:
        """The profile in words, such as 'class = 1, 60% of rows. IQ = high: 38% against 18%'."""
        traits = "; ".join(t.words for t in self.traits) or "Nothing sets it apart"
        state = f"{self.variable} = {label_text(self.state)}"
        return f"{state}, {_percent(self.share)} of rows. {traits}"


def state_profiles(
    network: Network, name: str, table: Table | None = None, n_traits: int = 4
) -> tuple[StateProfile, ...]:
    """What sets every state of `name` apart, in the order of the states.

    With a table, a row counts for every state as much as the state's posterior there; without one
    the model alone is asked.

    >>> from unveil import datasets
    >>> for profile in state_profiles(datasets.network("asia"), "smoke"):
    ...     print(profile.words)
    smoke = yes, 50% of rows. bronc = yes: 60% against 45%; lung = yes: 10% against 6%
    smoke = no, 50% of rows. bronc = no: 70% against 55%
    """
    if table is None:
        return profiles_of(network, name, joints_in_model(network, name), n_traits=n_traits)
    found = joints_in_rows(network, name, table)
    return profiles_of(network, name, found, table.row_weights, n_traits)


def profiles_of(
    network: Network, name: str, found: Joints, weights: Matrix | None = None, n_traits: int = 4
) -> tuple[StateProfile, ...]:
    """The same from the joints; `weights` are those of the rows they were counted in.

    Traits are sought in the Markov blanket, or everywhere if nothing in it was seen.
    """
    ranked = list(found.information())
    near = [n for n in ranked if n in network.dag.markov_blanket(name)] or ranked
    return tuple(
        StateProfile(
            name,
            label,
            float(found.shares[s]),
            _traits(network, {n: found.joints[n] for n in near}, s, n_traits),
            () if weights is None else _typical_rows(found.posterior[:, s], weights),
        )
        for s, label in enumerate(network.variable(name).labels)
    )


def _typical_rows(probability: Matrix, weights: Matrix, most: int = 3) -> tuple[int, ...]:
    """The rows of some weight in which a state is most probable, the most typical first."""
    order = np.argsort(-probability, kind="stable")
    return tuple(order[weights[order] > 0][:most].tolist())


def _traits(
    network: Network, joints: dict[str, Matrix], state: int, most: int
) -> tuple[Trait, ...]:
    """The value of each variable whose share gains most in the state, by what the variable tells.

    A variable is ranked by the divergence of its distribution p in the state from q overall, the
    sum of p log2(p / q).
    """
    found = []
    for name, joint in joints.items():
        mass = joint[state].sum()
        if mass <= 0:
            continue
        inside, overall = joint[state] / mass, joint.sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            tells = np.where(inside > 0, inside * np.log2(inside / overall), 0.0)
        value = int((inside - overall).argmax())
        label = network.variable(name).labels[value]
        trait = Trait(name, label, float(inside[value]), float(overall[value]))
        found.append((float(tells.sum()), trait))
    found.sort(key=lambda pair: -pair[0])
    telling = [t for bits, t in found if bits > TELLING and t.share >= CLEARLY * t.overall]
    return tuple(telling[:most])


def _percent(share: float) -> str:
    """A share as people write it: whole percents, or more digits near none and all."""
    if 0 < share < 0.0005:
        return "less than 0.1%"
    if 0.9995 < share < 1:
        return "more than 99.9%"
    return f"{share:.1%}" if 0 < share < 0.005 or 0.995 < share < 1 else f"{share:.0%}"
