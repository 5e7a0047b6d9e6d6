"""The derivative of the observed joint distribution with respect to a network's parameters."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from unveil.errors import SizeError
from unveil.model.flat import FlatTables
from unveil.model.network import Network

__all__ = ["observed_jacobian"]

MAX_ENTRIES = 50_000_000


def observed_jacobian(
    network: Network, observed: Sequence[str], seed: int = 0
) -> npt.NDArray[np.float64]:
    """D P(observed configuration) / d free parameter, shape (n_configurations, n_parameters).

    At tables drawn at random, where the rank is that of almost all parameters.
    """
    flat = FlatTables(network)
    sizes = [network.variable(name).n_states for name in network.names]
    n_joint = math.prod(sizes)
    n_observed = math.prod(network.variable(name).n_states for name in observed)
    if n_joint * len(sizes) > MAX_ENTRIES or n_observed * network.n_parameters > MAX_ENTRIES:
        raise SizeError(
            f"the effective dimension lists all {n_joint:,} joint configurations of the network; "
            "it is for small models only"
        )
    generator = np.random.default_rng(seed)
    theta = flat.normalised(generator.gamma(1.0, size=flat.size) + 0.05)
    cells = np.array(np.unravel_index(np.arange(n_joint), sizes))
    entry = np.array(
        [flat.first[v] + np.ravel_multi_index(cells[list(f)], flat.shapes[v])
         for v, f in enumerate(flat.families)]
    )  # fmt: skip
    joint = theta[entry].prod(axis=0)
    place = [network.names.index(name) for name in observed]
    row = np.ravel_multi_index(cells[place], [sizes[p] for p in place])
    full = np.zeros((n_observed, flat.size))
    for e in entry:
        np.add.at(full, (row, e), joint / theta[e])
    return _free(flat, full)


def _free(flat: FlatTables, full: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Columns for free parameters: the last state of each row gives what the others take."""
    columns = []
    for a, b, shape in zip(flat.first, flat.first[1:], flat.shapes, strict=False):
        block = full[:, a:b].reshape(len(full), -1, shape[-1])
        columns.append((block[:, :, :-1] - block[:, :, -1:]).reshape(len(full), -1))
    return np.concatenate(columns, axis=1)
