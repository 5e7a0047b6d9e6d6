"""Semi-cliques: the structural signature a hidden variable leaves behind (thesis 4.1).

When a common parent is missing, its children become connected to each other. A semi-clique is a
set of nodes each of which is linked to at least half of the set (Definition 4.1.2, with the leeway
of exactly one half).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from unveil.graph.dag import DAG

__all__ = ["SemiClique", "adjacency", "find_semi_cliques", "neighbourhoods"]


@dataclass(frozen=True)
class SemiClique:
    """A set of nodes that may be the children of a hidden variable.

    `density` is the share of its pairs that are linked (weighted by confidence, if given);
    `promise` orders candidates: the number of links inside.
    """

    nodes: tuple[str, ...]
    density: float
    promise: float


def find_semi_cliques(
    dag: DAG,
    min_size: int = 3,
    max_size: int = 12,
    confidence: npt.NDArray[np.float64] | None = None,
    threshold: float = 0.2,
) -> tuple[SemiClique, ...]:
    """All semi-cliques grown from the 3-cliques of a graph, the most promising first (Algorithm 5).

    Every 3-clique is a seed and is expanded greedily while the set stays a semi-clique: the best
    linked node first, and node after node in their order, as Algorithm 5 is written. Each finds
    some sets that the other does not; equal results are kept once, and none inside another. Sets
    have `min_size` to `max_size` nodes. With `confidence` (how sure each pair of nodes is linked,
    in the order of the graph's nodes, as from `bootstrap_arcs(...).adjacent`), links count by their
    confidence and seeds need only `threshold` on each side: a soft signature for sparse data, where
    a single learned graph misses links (the wish of 4.3 and 8.4).

    >>> dag = DAG(list("ABCDE"), [("A", "B"), ("A", "C"), ("B", "C"), ("B", "D"), ("C", "D")])
    >>> [s.nodes for s in find_semi_cliques(dag)]
    [('A', 'B', 'C', 'D')]
    """
    links = adjacency(dag) if confidence is None else np.asarray(confidence, dtype=np.float64)
    least = 1.0 if confidence is None else threshold
    found: dict[frozenset[int], SemiClique] = {}
    for seed in _triangles(links, least):
        for nodes in (_expand(seed, links, max_size), _expand_in_order(seed, links, max_size)):
            if len(nodes) >= min_size and nodes not in found:
                found[nodes] = _describe(nodes, links, dag.nodes)
    maximal = [s for key, s in found.items() if not any(key < other for other in found)]
    return tuple(sorted(maximal, key=lambda s: (-s.promise, s.nodes)))


def neighbourhoods(dag: DAG, min_size: int = 3, max_size: int = 8) -> tuple[SemiClique, ...]:
    """Every node with its neighbours, of a size that a hidden variable could stand behind."""
    links = adjacency(dag)
    found = [
        _describe(frozenset([i, *np.flatnonzero(row).tolist()]), links, dag.nodes)
        for i, row in enumerate(links)
        if min_size <= row.sum() + 1 <= max_size
    ]
    return tuple(sorted(found, key=lambda s: (-s.promise, s.nodes)))


def adjacency(dag: DAG) -> npt.NDArray[np.float64]:
    """1 where two nodes are joined by an arc, in the order of the graph's nodes."""
    links = np.zeros((dag.n_nodes, dag.n_nodes))
    for parent, child in dag.arcs:
        i, j = dag.position(parent), dag.position(child)
        links[i, j] = links[j, i] = 1.0
    return links


def _triangles(links: npt.NDArray[np.float64], least: float) -> list[frozenset[int]]:
    """All 3-cliques, the best linked first."""
    near = [set(np.flatnonzero(row >= least).tolist()) for row in links]
    seeds = [
        (a, b, c)
        for a in range(len(links))
        for b in near[a]
        if a < b
        for c in near[a] & near[b]
        if b < c
    ]
    return [
        frozenset(s)
        for s in sorted(seeds, key=lambda s: (-sum(links[i, j] for i, j in combinations(s, 2)), s))
    ]


def _expand(seed: frozenset[int], links: npt.NDArray[np.float64], most: int) -> frozenset[int]:
    """Grow a seed greedily while it stays a semi-clique (procedure ExpandClique)."""
    nodes = set(seed)
    while len(nodes) < most:
        inside = sorted(nodes)
        weight = links[:, inside].sum(axis=1)
        weight[inside] = -1.0
        for x in np.argsort(-weight, kind="stable"):
            if weight[x] <= 0:
                return frozenset(nodes)
            if _is_semi_clique([*inside, int(x)], links):
                nodes.add(int(x))
                break
        else:
            break
    return frozenset(nodes)


def _expand_in_order(
    seed: frozenset[int], links: npt.NDArray[np.float64], most: int
) -> frozenset[int]:
    """Grow a seed by every node in turn that leaves it a semi-clique, until none does."""
    nodes = set(seed)
    grown = True
    while grown:
        grown = False
        near = np.flatnonzero(links[:, sorted(nodes)].sum(axis=1) > 0).tolist()
        for x in near:
            if x in nodes or len(nodes) >= most:
                continue
            if _is_semi_clique(sorted({*nodes, x}), links):
                nodes.add(x)
                grown = True
    return frozenset(nodes)


def _is_semi_clique(nodes: Sequence[int], links: npt.NDArray[np.float64]) -> bool:
    """Whether every node is linked to at least half of the set."""
    inside = links[np.ix_(nodes, nodes)].sum(axis=1)
    return bool((inside >= len(nodes) / 2 - 1e-9).all())


def _describe(
    nodes: frozenset[int], links: npt.NDArray[np.float64], names: Sequence[str]
) -> SemiClique:
    inside = sorted(nodes)
    total = float(links[np.ix_(inside, inside)].sum() / 2)
    pairs = len(inside) * (len(inside) - 1) / 2
    return SemiClique(tuple(names[i] for i in inside), total / pairs, total)
