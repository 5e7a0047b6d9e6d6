"""What the terminal shows: plain text and tables on standard output, notes on standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

__all__ = ["complain", "note", "say", "show_table"]


def say(text: str = "") -> None:
    """A line on standard output."""
    print(text)


def note(text: str) -> None:
    """Something worth knowing, on standard error."""
    print(f"note: {text}", file=sys.stderr)


def complain(text: str) -> None:
    """What went wrong, on standard error."""
    print(f"unveil: {text}", file=sys.stderr)


def show_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table that fits the terminal; long cells are folded."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in head:
        grid.add_column(name, overflow="fold")
    for row in rows:
        grid.add_row(*(Text(cell) for cell in row))
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=160)
    console.print(grid)
