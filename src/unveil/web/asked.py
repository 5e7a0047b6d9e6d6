"""`Asked`: what a person said about the columns of a table, checked before anything is made of it.

It holds for every step of an analysis: how columns are read, which are left out, how numbers are
cut, which column weighs the rows.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from unveil.table.core import Table
from unveil.table.cuts import CUTTERS

__all__ = ["Asked", "Kind"]

Kind = Literal["discrete", "text", "continuous"]
"""What a column can be told to be."""
Cut = Literal["", "equal_frequency", "equal_width", "kmeans", "deviation"]

assert set(CUTTERS) >= {"equal_frequency", "equal_width", "kmeans", "deviation"}


class Asked(BaseModel):
    """What to do with the columns before anything is learned.

    `cut` makes continuous columns discrete, in `bins` bins; empty, they stay as they are.
    `leave_out` are columns that nothing is learned from, `keep` those that stay although they look
    like identifiers or dates, `weights` says how often each row counts, `who` says who a row is,
    `target` is the column to be predicted.
    """

    model_config = ConfigDict(extra="forbid")

    kinds: dict[str, Kind] = Field(default_factory=dict)
    leave_out: list[str] = Field(default_factory=list)
    keep: list[str] = Field(default_factory=list)
    weights: str = ""
    who: str = ""
    target: str = ""
    cut: Cut = ""
    bins: int = Field(default=3, ge=2, le=20)

    def read(self, path: Path, max_bytes: int) -> Table:
        """The table as it was asked for, with all its columns."""
        return Table.read(
            path, kinds=self.kinds or None, weights=self.weights or None, max_bytes=max_bytes
        )

    def preparing(self) -> dict[str, Any]:
        """The arguments by which every call of the library prepares a table."""
        away = dict.fromkeys([*self.leave_out, *([self.who] if self.who else [])])
        return {
            "drop": list(away),
            "keep": list(self.keep),
            "discretize": self.cut or None,
            "n_bins": self.bins,
        }
