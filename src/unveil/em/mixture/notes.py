"""What looks odd about a fitted mixture, and about the choice of the number of classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from unveil.em.mixture.fit import reached, table_values
from unveil.em.parametric import EMStart
from unveil.model.network import Network
from unveil.table.variable import label_text

if TYPE_CHECKING:
    from unveil.em.mixture.choice import MixtureResult

__all__ = ["choice_notes", "notes_on"]

EMPTY_SHARE = 1e-3
"""A class with less than this share of the cases, or less than one case, counts as empty."""
SAME_PROFILE = 0.02
"""Two classes are duplicates when the total variation distance is below this in every column."""


BY_CHANCE = 0.05
"""A gain that chance gives more often than this calls for no further class."""


def choice_notes(found: MixtureResult) -> list[str]:
    """What looks odd about the number of classes that was chosen, in sentences."""
    notes, k = [], found.n_classes
    if found.stopped in ("time limit", "asked to stop"):
        notes.append(f"stopped early ({found.stopped}); these are the best so far")
    if len(found.mixtures) > 1 and k == found.mixtures[-1].n_classes:
        notes.append(f"{k} is the largest number of classes that was tried; try more")
    for mixture in found.mixtures:
        test = mixture.test
        if test is None:
            continue
        if mixture.n_classes == k and test.p_value > BY_CHANCE:
            notes.append(f"chance may have given the last class: {test.words}")
        if mixture.n_classes == k + 1 and test.p_value <= BY_CHANCE:
            notes.append(f"the bootstrap test asks for more classes: {test.words}")
    return notes


def notes_on(network: Network, name: str, starts: Sequence[EMStart], total: float) -> list[str]:
    """What looks odd about a mixture fitted to cases of `total` weight, in sentences."""
    return [*_class_notes(network, name, total), *_start_notes(starts)]


def _class_notes(network: Network, name: str, total: float) -> list[str]:
    labels = [label_text(label) for label in network.variable(name).labels]
    shares = table_values(network, name)
    empty = (shares * total < 1) | (shares < EMPTY_SHARE)
    notes = [
        f"class {labels[c]} is all but empty: {shares[c] * total:.2g} of {total:,.6g} cases"
        for c in np.flatnonzero(empty)
    ]
    distance = _profile_distances(network, name)
    for a in range(len(labels)):
        for b in range(a + 1, len(labels)):
            if distance[a, b] < SAME_PROFILE and not (empty[a] or empty[b]):
                notes.append(
                    f"classes {labels[a]} and {labels[b]} are duplicates: their profiles differ "
                    f"by at most {distance[a, b]:.3f} in every column"
                )
    return notes


def _start_notes(starts: Sequence[EMStart]) -> list[str]:
    notes = []
    best = starts[0]
    if best.stopped != "converged":
        notes.append(f"the best start did not converge ({best.stopped})")
    alone = len(starts) > 1 and not reached(starts[1].objective, best.objective)
    if alone and best.kind != "bottleneck":  # which is meant to end above random starts
        notes.append(f"only one of {len(starts)} starts reached the best: try more starts")
    return notes


def _profile_distances(network: Network, name: str) -> npt.NDArray[np.float64]:
    """For each pair of classes the largest total variation distance over the columns."""
    k = network.variable(name).n_states
    most = np.zeros((k, k))
    for child in network.dag.children(name):
        table = table_values(network, child)
        apart = 0.5 * np.abs(table[:, None, :] - table[None, :, :]).sum(axis=2)
        most = np.maximum(most, apart)
    return most
