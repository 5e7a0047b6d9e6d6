"""How the best graph depends on the equivalent sample size, as a picture."""

from __future__ import annotations

import os
from typing import Any

from unveil.files import atomic_write
from unveil.report import colours
from unveil.report.picture import check_picture_target
from unveil.search.sensitivity import Sensitivity

__all__ = ["draw_sensitivity"]

MOST_CURVES = 12
"""Graphs beyond so many are left out of the lower panel."""


def draw_sensitivity(found: Sensitivity, path: str | os.PathLike[str]) -> None:
    """Save the picture of `found` as `path` (.svg, .png, .pdf).

    Above, the number of arcs of the best graph for each equivalent sample size; below, how far the
    score of each of these graphs lies under the best one there (Silander and Myllymaki 2007,
    Figures 1 and 2). A dashed line stands at the size that B-Course takes.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    ending = check_picture_target(path)
    figure = Figure(figsize=(6.4, 6.0), layout="constrained")
    FigureCanvasAgg(figure)
    above, below = figure.subplots(2, 1, sharex=True)
    above.plot(found.sizes, found.n_arcs, marker="o", color=colours.MAIN)
    above.set_ylabel("arcs of the best graph")
    top = [max(row[i] for row in found.scores) for i in range(len(found.sizes))]
    for number, row in enumerate(found.scores[:MOST_CURVES]):
        loss = [s - t for s, t in zip(row, top, strict=True)]
        below.plot(found.sizes, loss, marker=".", label=f"graph {number + 1}")
    below.set_ylabel("score below the best (nats)")
    below.set_yscale("symlog", linthresh=1.0)
    below.set_xlabel("equivalent sample size")
    figure.legend(loc="outside lower center", fontsize="small", ncols=6)
    for axes in (above, below):
        axes.set_xscale("log")
        axes.axvline(found.b_course, color=colours.MUTED, linestyle="--", linewidth=1)
        axes.grid(color=colours.GRID)
    above.set_title("dashed: B-Course's choice", fontsize="small", color=colours.MUTED)
    about: dict[str, Any] = {} if ending == ".png" else {"CreationDate": None}
    if ending == ".svg":
        about = {"Date": None}
    with atomic_write(path, "wb") as file:
        figure.savefig(file, format=ending[1:], metadata=about)
