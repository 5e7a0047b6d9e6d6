"""The course of information-bottleneck EM: likelihood, information and states against gamma."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from unveil.bottleneck.course import Point
from unveil.errors import DataError
from unveil.files import atomic_write
from unveil.report import colours
from unveil.report.picture import check_picture_target

__all__ = ["draw_course"]


def draw_course(
    course: Sequence[Point], path: str | os.PathLike[str], best_random: float | None = None
) -> None:
    """Save the picture of a course as `path` (.svg, .png, .pdf).

    From top to bottom, against gamma: the log-likelihood with a circle for every step taken (thesis
    Fig. 6.8 a; `best_random`, the best of random EM runs, is a dashed line), I(T; Y) of all hidden
    variables together (Fig. 6.8 b), and how many states the score tells apart (Fig. 6.9).
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    if not course:
        raise DataError("there is no course to draw: it has no points")
    ending = check_picture_target(path)
    figure = Figure(figsize=(6.4, 7.0), layout="constrained")
    FigureCanvasAgg(figure)
    above, middle, below = figure.subplots(3, 1, sharex=True)
    gamma = [p.gamma for p in course]
    above.plot(gamma, [p.log_likelihood for p in course], marker="o", color=colours.MAIN)
    above.set_ylabel("log-likelihood (nats)")
    if best_random is not None:
        above.axhline(best_random, color=colours.MUTED, linestyle="--", linewidth=1)
        above.set_title("dashed: best of random starts", fontsize="small", color=colours.MUTED)
    middle.plot(gamma, [sum(p.information) for p in course], marker="o", color=colours.MAIN)
    middle.set_ylabel("I(T;Y) (nats)")
    below.step(gamma, [sum(p.effective) for p in course], where="post", color=colours.MAIN)
    below.set_ylabel("states told apart")
    below.yaxis.get_major_locator().set_params(integer=True)
    below.set_xlabel("gamma")
    for axes in (above, middle, below):
        axes.grid(color=colours.GRID)
    about: dict[str, Any] = {} if ending == ".png" else {"CreationDate": None}
    if ending == ".svg":
        about = {"Date": None}
    with atomic_write(path, "wb") as file:
        figure.savefig(file, format=ending[1:], metadata=about)
