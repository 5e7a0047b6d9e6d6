"""What a hidden variable means: what sets each state apart, and who tells most about it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unveil.infer.posterior import posterior
from unveil.model.network import Network
from unveil.table.core import Table
from unveil.table.variable import Label, label_text

__all__ = ["Meaning", "StateProfile", "Trait", "meaning_of"]

CLEARLY = 1.05
"""A value that is not so many times as common in a state is no trait of it."""


@dataclass(frozen=True)
class Trait:
    """A value that is commoner in a state than overall."""

    variable: str
    value: Label
    share: float
    overall: float

    @property
    def words(self) -> str:
        """The trait as a phrase, such as 'IQ = high 2.1 times as often (38% against 18%)'."""
        what = f"{self.variable} = {label_text(self.value)}"
        shares = f"({_percent(self.share)} against {_percent(self.overall)} overall)"
        return f"{what} {self.share / self.overall:.1f} times as often {shares}"


@dataclass(frozen=True)
class StateProfile:
    """One state: how common it is, what sets it apart, and the rows most typical of it."""

    state: Label
    share: float
    traits: tuple[Trait, ...]
    typical_rows: tuple[int, ...]

    @property
    def words(self) -> str:
        """The profile as a sentence."""
        traits = "; ".join(t.words for t in self.traits) or "nothing sets it apart"
        return f"state {label_text(self.state)}, {_percent(self.share)} of rows: {traits}"


@dataclass(frozen=True)
class Meaning:
    """A hidden variable explained.

    `information` ranks the observed variables by the bits they tell about it (mutual
    information); `posterior` has shape (n_rows, n_states).
    """

    name: str
    information: dict[str, float]
    profiles: tuple[StateProfile, ...]
    posterior: npt.NDArray[np.float64]


def meaning_of(network: Network, table: Table, name: str, n_traits: int = 4) -> Meaning:
    """What the hidden variable `name` means in the rows it was learned from.

    A row counts for every state as much as the state's posterior there.
    """
    variable = network.variable(name)
    observed = [n for n in network.names if n in table]
    given = table.select(observed).conform([network.variable(n) for n in observed])
    shares = posterior(network, given, of=name)[name]
    information, joints = {}, {}
    for other in observed:
        joint = joints[other] = _joint(network, given, shares, other)
        independent = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
        seen = joint > 0
        information[other] = max(
            0.0, float((joint[seen] * np.log2(joint[seen] / independent[seen])).sum())
        )
    ranked = dict(sorted(information.items(), key=lambda item: -item[1]))
    weights = table.row_weights
    total = weights @ shares / weights.sum()
    near = [n for n in ranked if n in network.dag.markov_blanket(name)] or list(ranked)
    profiles = tuple(
        StateProfile(
            label,
            float(total[s]),
            _traits(network, joints, near, s, n_traits),
            tuple(r for r in np.argsort(-shares[:, s], kind="stable").tolist() if weights[r] > 0)[
                :3
            ],
        )
        for s, label in enumerate(variable.labels)
    )
    return Meaning(name, ranked, profiles, shares)


def _joint(
    network: Network, rows: Table, shares: npt.NDArray[np.float64], other: str
) -> npt.NDArray[np.float64]:
    """The share of rows (of those that show `other`) in every state with every value of `other`."""
    seen = ~rows.missing(other)
    codes = rows.column(other)[seen]
    weighted = shares[seen] * rows.row_weights[seen, None]
    k = network.variable(other).n_states
    joint = np.stack([np.bincount(codes, w, k) for w in weighted.T])
    return np.asarray(joint / max(joint.sum(), 1e-300))


def _traits(
    network: Network,
    joints: dict[str, npt.NDArray[np.float64]],
    names: list[str],
    state: int,
    most: int,
) -> tuple[Trait, ...]:
    """The values whose share in the state exceeds that overall most, one per variable."""
    found = []
    for name in names:
        joint = joints[name]
        mass = joint[state].sum()
        if mass <= 0:
            continue
        inside, overall = joint[state] / mass, joint.sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            tells = np.where(inside > 0, inside * np.log2(inside / overall), 0.0)
        value = int((inside - overall).argmax())
        trait = Trait(
            name, network.variable(name).labels[value], float(inside[value]), float(overall[value])
        )
        found.append((float(tells.sum()), trait))
    found.sort(key=lambda pair: -pair[0])
    telling = [t for bits, t in found if bits > 0.01 and t.share >= CLEARLY * t.overall]
    return tuple(telling[:most])


def _percent(share: float) -> str:
    """A share as people write it: whole percents, or more digits near none and all."""
    if 0 < share < 0.0005:
        return "less than 0.1%"
    if 0.9995 < share < 1:
        return "more than 99.9%"
    return f"{share:.1%}" if 0 < share < 0.005 or 0.995 < share < 1 else f"{share:.0%}"
