"""`unveil datasets`: what comes with unveil."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unveil.cli.outputs import writes_any
from unveil.cli.screen import say, show_table

__all__ = ["datasets"]


def datasets(
    name: Annotated[str | None, typer.Argument(help="One to describe or write.")] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write it to this file.", callback=writes_any),
    ] = None,
) -> None:
    """List the bundled networks and tables, describe one, or write it to a file."""
    from unveil import datasets as room

    if name is None:
        show_table(
            ["name", "kind", "what it is"],
            [(entry.name, entry.kind, entry.title) for entry in room.catalogue()],
        )
        return
    entry = room.entry(name)
    if output is None:
        say(room.network(name).describe() if entry.kind == "network" else repr(room.table(name)))
        say(f"source: {entry.source}")
    elif entry.kind == "network":
        room.network(name).save(output)
        say(f"{output}: {room.network(name)!r}")
    else:
        from unveil.table import write_table

        write_table(room.table(name), output)
        say(f"{output}: {room.table(name)!r}")
