"""Random DAGs, for tests, simulations and restarts."""

from __future__ import annotations

from typing import Any

import numpy as np

from unveil.errors import ModelError
from unveil.graph.dag import DAG
from unveil.graph.names import Names, as_names
from unveil.seeds import generator_of

__all__ = ["random_dag"]


def random_dag(
    nodes: int | Names,
    *,
    expected_arcs: float | None = None,
    arc_probability: float | None = None,
    max_parents: int | None = None,
    seed: int | np.random.Generator | None = None,
) -> DAG:
    """A DAG whose arcs run along a random order of the nodes, each with the same probability.

    Parameters
    ----------
    nodes : the names, or how many nodes to make (then called X1, X2, ...).
    expected_arcs : the mean number of arcs; by default as many as there are nodes, or all that fit.
    arc_probability : the probability of each possible arc, instead of `expected_arcs`.
    max_parents : a node that drew more parents keeps this many of them, chosen at random, which
        lowers the mean number of arcs.
    seed : a number or a generator for a repeatable draw; None for a fresh one.

    This is the Erdős–Rényi model on an order; it is not uniform over DAGs.

    >>> random_dag(4, expected_arcs=3, seed=1) == random_dag(4, expected_arcs=3, seed=1)
    True
    >>> random_dag(["A", "B", "C"], arc_probability=1.0, seed=0).n_arcs
    3
    """
    names = _numbered_names(nodes) if isinstance(nodes, int | np.integer) else as_names(nodes)
    probability = _arc_probability(len(names), expected_arcs, arc_probability)
    if max_parents is not None and max_parents < 0:
        raise ModelError(f"max_parents must be 0 or more; got {max_parents}")
    generator = generator_of(seed)
    order = generator.permutation(len(names))
    arcs = []
    for place, child in enumerate(order):
        parents = order[:place][generator.random(place) < probability]
        if max_parents is not None and len(parents) > max_parents:
            parents = generator.choice(parents, size=max_parents, replace=False)
        arcs += [(names[parent], names[child]) for parent in np.sort(parents)]
    return DAG(names, arcs)


def _numbered_names(n_nodes: int | np.integer[Any]) -> tuple[str, ...]:
    if n_nodes < 0:
        raise ModelError(f"a graph has 0 or more nodes; got {n_nodes}")
    return tuple(f"X{number}" for number in range(1, int(n_nodes) + 1))


def _arc_probability(
    n_nodes: int, expected_arcs: float | None, arc_probability: float | None
) -> float:
    if expected_arcs is not None and arc_probability is not None:
        raise ModelError("give expected_arcs or arc_probability, not both")
    if arc_probability is not None:
        if not 0 <= arc_probability <= 1:
            raise ModelError(f"arc_probability must lie between 0 and 1; got {arc_probability}")
        return arc_probability
    most = n_nodes * (n_nodes - 1) // 2
    if expected_arcs is None:
        expected_arcs = min(n_nodes, most)
    if not 0 <= expected_arcs <= most:
        raise ModelError(
            f"a DAG over {n_nodes} nodes has between 0 and {most} arcs; "
            f"expected_arcs is {expected_arcs}"
        )
    return expected_arcs / most if most else 0.0
