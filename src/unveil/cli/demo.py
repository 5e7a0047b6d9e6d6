"""`unveil demo`: the main job on a bundled table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unveil.cli.outputs import writes_folder
from unveil.cli.screen import say

__all__ = ["demo"]


def demo(
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="Where to put the results.", callback=writes_folder),
    ] = Path("out/demo"),
) -> None:
    """Find what is hidden behind the college plans of 10,318 students."""
    from unveil import datasets
    from unveil.cli.discover import discover
    from unveil.table import write_table

    output.mkdir(parents=True, exist_ok=True)
    data = output / "college_plans.csv"
    write_table(datasets.table("college_plans"), data)
    say(f"$ unveil discover {data} --weights weight --seed 1 -o {output}")
    discover(data=data, output=output, weights="weight", seed=1, resume=False)
