"""The arcs of a network on a page: a table, the strongest first, and widths for a picture."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Protocol

from unveil.graph.names import Pair
from unveil.report.page import Cell, Page

__all__ = ["ArcRecord", "add_arcs", "ranked", "strengths"]


class ArcRecord(Protocol):
    """An arc and what speaks for it."""

    @property
    def parent(self) -> str:
        """The parent."""

    @property
    def child(self) -> str:
        """The child."""

    @property
    def loss(self) -> float:
        """The nats that the score loses when the arc is removed."""

    @property
    def words(self) -> str:
        """A sentence about the arc."""

    @property
    def confidence(self) -> float | None:
        """The share of bootstrap samples that have the arc; `None` if none were drawn."""


def ranked(arcs: Iterable[ArcRecord]) -> list[ArcRecord]:
    """The arcs, the strongest first."""
    return sorted(arcs, key=lambda arc: (-_rank(arc.loss), arc.parent, arc.child))


def add_arcs(page: Page, arcs: Sequence[ArcRecord], where: str = "") -> None:
    """The table of arcs, and what its numbers are; `where` says in which rows, if not as read."""
    if not arcs:
        page.text(
            "No arc was worth its price: the table gives no reason to connect any two variables."
        )
        return
    sampled = any(arc.confidence is not None for arc in arcs)
    page.text(
        f"Strength is what the score loses{where}, in bits, when the arc is taken out and nothing "
        "else changes."
        + (" Confidence is the share of resampled tables in which the arc was found." * sampled)
        + " Click a heading to sort."
    )
    head = ["from", "to", "strength (bits)", *["confidence"] * sampled, "in words"]
    rows: list[list[Cell]] = [
        [a.parent, a.child, a.loss / math.log(2), *[a.confidence] * sampled, a.words] for a in arcs
    ]
    page.table(head, rows, sortable=True)


def strengths(arcs: Iterable[ArcRecord]) -> dict[Pair, float]:
    """Losses scaled to 0..1 by their square roots, so that one giant does not thin the rest."""
    losses = {(a.parent, a.child): max(0.0, _rank(a.loss)) for a in arcs}
    finite = [loss for loss in losses.values() if loss < math.inf]
    most = max(finite, default=0.0) or 1.0
    return {arc: math.sqrt(min(loss, most) / most) for arc, loss in losses.items()}


def _rank(loss: float) -> float:
    return -math.inf if math.isnan(loss) else loss
