"""`unveil demo`: the main job on a bundled table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unveil.cli.screen import say

__all__ = ["demo"]


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to put the results.")] = Path(
        "out/demo"
    ),
) -> None:
    """Learn a network of college plans from the answers of 10,318 students."""
    from unveil import datasets
    from unveil.cli.learn import learn
    from unveil.table import write_table

    output.mkdir(parents=True, exist_ok=True)
    data = output / "college_plans.csv"
    write_table(datasets.table("college_plans"), data)
    say(f"$ unveil learn {data} --weights weight --ess 5 --search exact")
    learn(
        data,
        weights="weight",
        ess=5.0,
        search="exact",
        output=output / "network.json",
        picture=output / "network.png",
        page=output / "network.html",
    )
