"""Mutual information of all pairs of columns, and the Chow-Liu tree over them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.table.core import Table

__all__ = ["chow_liu_parents", "indicators", "mutual_information"]

Matrix = npt.NDArray[np.float64]
Vector = npt.NDArray[np.float64]


def indicators(table: Table) -> tuple[Matrix, npt.NDArray[np.int64]]:
    """A column for every state of every column, one where a row shows it; and where each begins.

    A missing cell is zero for all states. Shape (n_rows, n_states in all).
    """
    sizes = [v.n_states for v in table.variables]
    first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    out = np.zeros((table.n_rows, int(first[-1])))
    for name, start in zip(table.names, first[:-1], strict=True):
        shown = np.flatnonzero(~table.missing(name))
        out[shown, start + table.column(name)[shown]] = 1.0
    return out, first[:-1]


def mutual_information(
    shown: Matrix, first: npt.NDArray[np.int64], weights: Vector, pseudo_count: float = 0.0
) -> Matrix:
    """I(x; y) in nats for all pairs of columns, (n, n), from the rows that show both.

    With counts N(x, y), all of them by one product of matrices:
    I = sum over x, y of N(x, y) / N log(N(x, y) N / (N(x) N(y))).
    """
    counts = shown.T @ (shown * weights[:, None]) + pseudo_count
    x = np.add.reduceat(counts, first, axis=1)  # N(x) among the rows that show the other column
    n = np.add.reduceat(x, first, axis=0)
    sizes = np.diff(np.append(first, len(counts)))
    x = np.repeat(x, sizes, axis=1)
    y = x.T
    whole = np.repeat(np.repeat(n, sizes, axis=0), sizes, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = counts / whole * np.log(counts * whole / (x * y))
    terms[counts <= 0] = 0.0
    found = np.add.reduceat(np.add.reduceat(terms, first, axis=0), first, axis=1)
    np.fill_diagonal(found, 0.0)
    return np.asarray(np.maximum(found, 0.0), np.float64)


def chow_liu_parents(information: Matrix) -> list[int]:
    """The parent of every column in the maximum spanning tree, -1 for the root.

    The root is a centre of the tree, from which no column is far; ties go to the first columns.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree

    n = len(information)
    if n == 1:
        return [-1]
    cost = information.max() + 1.0 - information  # positive: a zero would be no edge
    np.fill_diagonal(cost, 0.0)
    tree: Any = minimum_spanning_tree(csr_array(cost))
    end = breadth_first_order(tree, 0, directed=False)[0][-1]
    order, before = breadth_first_order(tree, end, directed=False)
    path = [int(order[-1])]
    while before[path[-1]] >= 0:
        path.append(int(before[path[-1]]))
    _, parents = breadth_first_order(tree, path[len(path) // 2], directed=False)
    return [max(int(p), -1) for p in parents]
