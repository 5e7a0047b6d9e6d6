"""Settings that searches share: their time, how numbers are cut, and what is known beforehand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from unveil.errors import DataError
from unveil.web.asked import Cut
from unveil.web.work import TaskSettings, Work

if TYPE_CHECKING:
    from unveil.search import Constraints
    from unveil.table import Table

__all__ = ["Cutting", "Ready", "Searching"]

MOST_WISHES = 10_000
Wishes = list[tuple[str, str]]
Anneal = Literal["", "random", "adversary"]


@dataclass(frozen=True)
class Ready:
    """A table as it was read, the same ready to learn from, and what was said on the way."""

    whole: Table
    table: Table
    notes: list[str]
    is_cut: bool


class Cutting(TaskSettings):
    """Settings of whatever numbers may have to be cut for; nothing said, the table's hold."""

    seconds: float = Field(default=300.0, gt=0)
    cut: Cut | None = None
    bins: int | None = Field(default=None, ge=2, le=20)

    def ready(self, work: Work) -> Ready:
        """The table as it was read, the same ready to learn from, and what was said on the way."""
        from unveil.table.prepare import prepare

        asked = self.preparing(work)

        def made() -> tuple[Table, Table]:
            whole = work.table()
            return whole, prepare(whole, **asked, numbers=True).table

        notes, (whole, table) = work.heard(made)
        return Ready(whole, table, notes, is_cut=asked["discretize"] is not None)

    def preparing(self, work: Work) -> dict[str, Any]:
        """The arguments by which the library prepares the table."""
        asked = work.asked.preparing()
        if self.cut is not None:
            asked["discretize"] = self.cut or None
        return asked | ({"n_bins": self.bins} if self.bins is not None else {})


class Searching(Cutting):
    """Settings of a search for networks; arcs are (parent, child)."""

    equivalent_sample_size: float = Field(default=1.0, gt=0, le=1e6)
    max_parents: int | None = Field(default=None, ge=1, le=20)
    anneal: Anneal = ""
    required: Wishes = Field(default_factory=list, max_length=MOST_WISHES)
    forbidden: Wishes = Field(default_factory=list, max_length=MOST_WISHES)
    tiers: list[list[str]] = Field(default_factory=list, max_length=MOST_WISHES)
    no_parents: list[str] = Field(default_factory=list, max_length=MOST_WISHES)
    no_children: list[str] = Field(default_factory=list, max_length=MOST_WISHES)

    def constraints(self) -> Constraints:
        """What a person knows beforehand, as the library says it."""
        from unveil.search import Constraints

        return Constraints(**{name: getattr(self, name) for name in WISHES})

    def refuse_wishes(self) -> None:
        """Say that nothing known beforehand can be honoured here."""
        if any(getattr(self, name) for name in WISHES):
            raise DataError(
                "hidden variables behind numbers take no required or forbidden arcs, tiers, or "
                "columns without parents or children. Take them back, or cut the numbers."
            )


WISHES = ("required", "forbidden", "tiers", "no_parents", "no_children")
"""The fields of `Searching` that say what is known beforehand."""
