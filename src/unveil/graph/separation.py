"""d-separation: which independencies a DAG promises (Elidan, thesis 2.1.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unveil.errors import ModelError
from unveil.graph.names import Names, as_names
from unveil.graph.order import Links

if TYPE_CHECKING:
    from unveil.graph.dag import DAG

__all__ = ["d_separated", "reachable"]


def d_separated(dag: DAG, xs: Names, ys: Names, given: Names = ()) -> bool:
    """Whether every trail between `xs` and `ys` is blocked by `given`.

    A trail is blocked by an observed node in the middle of a chain or a fork, or by a collider
    `U -> W <- V` where neither `W` nor a descendant of `W` is observed. Then every distribution
    that factorises over the DAG makes `xs` and `ys` independent given `given`. Takes time linear
    in the size of the graph. The three sets must not overlap.

    >>> from unveil.graph import DAG
    >>> alarm = DAG(["B", "E", "A"], [("B", "A"), ("E", "A")])
    >>> d_separated(alarm, "B", "E"), d_separated(alarm, "B", "E", given="A")
    (True, False)
    """
    xs, ys, given = as_names(xs), as_names(ys), as_names(given)
    shared = (set(xs) & set(ys)) | (set(xs) & set(given)) | (set(ys) & set(given))
    if shared:
        raise ModelError(
            f"xs, ys and given must not overlap, but {sorted(shared)} are in more than one of them"
        )
    for name in ys:
        dag.position(name)
    return reachable(dag, xs, given).isdisjoint(ys)


def reachable(dag: DAG, xs: Names, given: Names = ()) -> frozenset[str]:
    """The nodes outside `given` that an active trail leads to from `xs`, unobserved `xs` included.

    The Bayes ball of Shachter (1998): through an unobserved node it passes, except from parent to
    parent; an observed node bounces it from parent to parents and stops it otherwise.

    >>> from unveil.graph import DAG
    >>> chain = DAG(["A", "B", "C"], [("A", "B"), ("B", "C")])
    >>> sorted(reachable(chain, "A")), sorted(reachable(chain, "A", given="B"))
    (['A', 'B', 'C'], ['A'])
    """
    starts = {dag.position(name) for name in as_names(xs)}
    observed = {dag.position(name) for name in as_names(given)}
    reached = _reachable(dag.parent_positions, dag.child_positions, starts, observed)
    return frozenset(dag.nodes[position] for position in reached)


def _reachable(parents: Links, children: Links, starts: set[int], observed: set[int]) -> set[int]:
    # A visit is (node, whether the ball came from a child); a start acts as if it came from one.
    # A collider opened by an observed descendant needs no rule of its own: the ball rolls down to
    # the descendant, bounces, and comes back up.
    to_visit = [(start, True) for start in starts]
    visited = set()
    while to_visit:
        visit = to_visit.pop()
        if visit in visited:
            continue
        visited.add(visit)
        node, from_child = visit
        seen = node in observed
        if from_child != seen:
            to_visit.extend((parent, True) for parent in parents[node])
        if not seen:
            to_visit.extend((child, False) for child in children[node])
    return {node for node, _ in visited} - observed
