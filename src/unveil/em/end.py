"""EM from where a network is to where it ends, for all who only want the end.

A search for hidden variables makes thousands of short runs of EM, most of them on a few hundred
rows that differ. Where every row lacks the same variables, a kernel takes all steps of a run
(`unveil.kernels.em`); elsewhere the one loop does, step by step.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from unveil.em.loop import run_em, warn_of_fall
from unveil.em.steps import Problem, TableEM, impossible_rows
from unveil.infer.parts import LightPasses
from unveil.kernels.em import GOES_ON, IMPOSSIBLE, em_steps
from unveil.progress import Ticker

__all__ = ["end_of_em"]

P = TypeVar("P")
Vector = npt.NDArray[np.float64]

ROWS_AT_ONCE = 2_000_000
"""After steps over so many rows the ticker is asked whether to go on."""


def end_of_em(
    problem: Problem[P],
    start: P,
    max_iterations: int,
    tolerance: float,
    ticker: Ticker | None = None,
    constant: float = 0.0,
) -> tuple[P, float]:
    """The parameters that EM reaches from `start`, and the objective there, as `run_em` has them.

    `constant` is added to the objective, of which `tolerance` is a share.
    """
    ticker = ticker or Ticker()
    passes = problem.light_passes if isinstance(problem, TableEM) else None
    if passes is not None:
        tables: Any = start
        return _in_one_go(problem, passes, tables, max_iterations, tolerance, ticker, constant)

    def shifted(parameters: P) -> tuple[P, float]:
        better, objective = problem.step(parameters)
        return better, objective + constant

    found = run_em(shifted, start, max_iterations, tolerance, ticker)
    return found.parameters, found.objective


def _in_one_go(
    em: Any,
    passes: LightPasses,
    start: Vector,
    max_iterations: int,
    tolerance: float,
    ticker: Ticker,
    constant: float,
) -> tuple[Any, float]:
    """The end of EM over these rows."""
    layout, n_rows = passes.layout, passes.codes.shape[1]
    at_once = max(1, ROWS_AT_ONCE // max(1, n_rows))
    judged, better = start.copy(), start.copy()
    objective, n_done, change, status = -np.inf, 0, np.inf, GOES_ON
    while status == GOES_ON and n_done < max_iterations:
        n_done, objective, change, status = em_steps(
            layout.plan, passes.entries, layout.first, layout.row, passes.codes, passes.weights,
            passes.shown, em.alpha, em.layout.row_edges, judged, better, objective, n_done,
            min(max_iterations, n_done + at_once), tolerance, constant,
        )  # fmt: skip
        if status == IMPOSSIBLE:
            raise impossible_rows()
        warn_of_fall(change, objective, n_done)
        if not ticker.offer("EM", n_done, objective, change):
            break
    return judged, objective
