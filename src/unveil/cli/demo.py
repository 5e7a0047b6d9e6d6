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
    say(
        f"$ unveil discover {data} --weights weight --no-parents SEX,SES --no-children CP "
        f"--equivalent-sample-size 5 --max-hidden 1 --seed 1 -o {output}"
    )
    discover(
        data=data, output=output, weights="weight", no_parents=["SEX,SES"], no_children=["CP"],
        equivalent_sample_size=5.0, max_hidden=1, seed=1, resume=False,
    )  # fmt: skip
