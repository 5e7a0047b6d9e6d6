"""`before_after`: two networks drawn with every node in the same place, and what changed marked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from unveil.graph.dag import DAG
from unveil.graph.names import Pair
from unveil.model.network import Network
from unveil.report.layout import Layout, layout
from unveil.report.picture import Look, Picture, box_widths, picture_of

__all__ = ["Change", "before_after", "change_of", "shared_places"]


@dataclass(frozen=True)
class Change:
    """The arcs of one graph that the other does not have, and those that point the other way."""

    added: tuple[Pair, ...]
    removed: tuple[Pair, ...]
    turned: tuple[Pair, ...]
    """As they point afterwards."""


def change_of(before: DAG, after: DAG) -> Change:
    """What changed from one graph to the other.

    >>> chain = DAG(["A", "B", "C"], [("A", "B"), ("B", "C")])
    >>> change = change_of(chain, DAG(["A", "B", "C", "H"], [("B", "A"), ("H", "C")]))
    >>> change.added, change.removed, change.turned
    ((('H', 'C'),), (('B', 'C'),), (('B', 'A'),))
    """
    old, new = set(before.arcs), set(after.arcs)
    return Change(
        tuple(arc for arc in after.arcs if arc not in old and arc[::-1] not in old),
        tuple(arc for arc in before.arcs if arc not in new and arc[::-1] not in new),
        tuple(arc for arc in after.arcs if arc[::-1] in old),
    )


def before_after(
    before: Network,
    after: Network,
    strength: Mapping[Pair, float] | None = None,
    tips: Mapping[Pair, str] | None = None,
) -> tuple[Picture, Picture]:
    """The picture of a network, and that of the network it became.

    Arcs that go are dashed in the first; new ones stand out in the second, and so do those that
    were turned. `strength` and `tips` are for the arcs of the second, as for `draw`.
    """
    change = change_of(before.dag, after.dag)
    places = shared_places(after.dag, change.removed)
    gone: dict[Pair, Look] = dict.fromkeys(change.removed, "gone")
    new: dict[Pair, Look] = dict.fromkeys(change.added, "marked")
    new |= dict.fromkeys(change.turned, "turned")
    return (
        picture_of(before, places, looks=gone),
        picture_of(after, places, strength, after.hidden, tips=tips, looks=new),
    )


def shared_places(after: DAG, removed: tuple[Pair, ...]) -> Layout:
    """Places for the nodes of the later graph and all arcs of both.

    Arcs that went away are laid down the later graph's order, whichever way they pointed: so all
    arcs together have no cycle.
    """
    rank = {name: i for i, name in enumerate(after.topological_order)}
    extra = [(a, b) if rank[a] < rank[b] else (b, a) for a, b in removed]
    together = DAG(after.nodes, [*after.arcs, *extra])
    return layout(together, box_widths(together))
