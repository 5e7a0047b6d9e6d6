"""Layers for a DAG: every child below its parents, arcs as short as that allows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array

from unveil.graph.order import Links

__all__ = ["folded", "layers_of"]


def layers_of(parents: Links) -> list[int]:
    """The layer of every node, counted from 0 at the top, with the least total length of arcs.

    Minimises the sum of `layer[child] - layer[parent]` subject to each term being at least one
    (Gansner et al., A Technique for Drawing Directed Graphs, 1993, section 2). The constraint
    matrix is that of a network, so the linear program has whole numbers for its answer.

    A root sits right above its nearest child, not at the top of the page:

    >>> layers_of([[], [0], [1, 3], []])
    [0, 1, 2, 1]
    """
    arcs = np.array([(p, c) for c, own in enumerate(parents) for p in own], dtype=np.int64)
    if not len(arcs):
        return [0] * len(parents)
    n_arcs, n_nodes = len(arcs), len(parents)
    signs = np.tile([1.0, -1.0], n_arcs)
    matrix = csr_array((signs, arcs.ravel(), np.arange(0, 2 * n_arcs + 1, 2)), (n_arcs, n_nodes))
    length = np.bincount(arcs[:, 1], minlength=n_nodes) - np.bincount(arcs[:, 0], minlength=n_nodes)
    answer = linprog(length, A_ub=matrix, b_ub=-np.ones(n_arcs), method="highs-ds")
    found = np.rint(answer.x).astype(int)
    return (found - found.min()).tolist()


def folded(
    depth: Sequence[int], parents: Links, widths: Sequence[float], limit: float
) -> list[int]:
    """The layers with those wider than `limit` folded into rows, one below the other.

    A parent with thirty children makes a line of boxes that no page can show. Such a layer becomes
    several; siblings take turns, so that each row spans what the whole layer did.

    >>> folded([0, 1, 1, 1, 1], [[], [0], [0], [0], [0]], widths=[10.0] * 5, limit=20)
    [0, 1, 2, 1, 2]
    """
    result, first = [0] * len(depth), 0
    for level in range(max(depth) + 1):
        members = [v for v, own in enumerate(depth) if own == level]
        members.sort(key=lambda v: (sorted(parents[v]), v))
        n_rows = int(np.ceil(sum(widths[v] for v in members) / limit))
        for turn, v in enumerate(members):
            result[v] = first + turn % n_rows
        first += n_rows
    return result
