"""Options that limit the graph: arcs, tiers, columns without parents or children."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from unveil.cli.options import columns_named
from unveil.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Collection

    from unveil.search import Constraints

__all__ = ["ArcPenalty", "Forbid", "NoChildren", "NoParents", "Require", "Tier", "constraints_of"]

Require = Annotated[
    list[str] | None, typer.Option(help="An arc that must be there, as 'A -> B'; repeatable.")
]
Forbid = Annotated[
    list[str] | None, typer.Option(help="An arc that must not be there, as 'A -> B'; repeatable.")
]
Tier = Annotated[
    list[str] | None,
    typer.Option(help="Variables of one point in time, 'A,B,C'; repeat in order of time."),
]
NoParents = Annotated[
    list[str] | None,
    typer.Option(help="Columns that no other leads to: a name, or 'A,B'; repeatable."),
]
NoChildren = Annotated[
    list[str] | None,
    typer.Option(help="Columns that lead to no other: a name, or 'A,B'; repeatable."),
]
ArcPenalty = Annotated[
    float, typer.Option(min=0, help="What every arc costs beforehand, in nats: a structure prior.")
]


def constraints_of(
    known: Collection[str],
    require: list[str] | None = None,
    forbid: list[str] | None = None,
    tiers: list[str] | None = None,
    no_parents: list[str] | None = None,
    no_children: list[str] | None = None,
    max_parents: int | None = None,
) -> Constraints:
    """The constraints that the options stand for; `known` are the names of the columns."""
    from unveil.search import Constraints

    return Constraints(
        required=[_arc(word) for word in require or ()],
        forbidden=[_arc(word) for word in forbid or ()],
        tiers=[columns_named([tier], known) for tier in tiers or ()],
        no_parents=columns_named(no_parents, known),
        no_children=columns_named(no_children, known),
        max_parents=max_parents,
    )


def _arc(words: str) -> tuple[str, str]:
    parent, arrow, child = words.partition("->")
    if not arrow or not parent.strip() or not child.strip():
        raise DataError(f"an arc is written as 'A -> B', not {words!r}")
    return parent.strip(), child.strip()
