"""EM that re-estimates the tables after each part of the rows (Cappe and Moulines 2009).

Expected counts s of the whole table are kept as a running mean, s <- (1 - g) s + g n/b s_b with s_b
those of b of the n rows, and tables are estimated from s after every part. The weight g of the
newest part falls from `FIRST` to `LAST`. One time over all rows is worth many steps of EM in the
beginning; the objective may fall now and then, so EM over all rows follows.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from unveil.em.steps import TableEM
from unveil.infer.unseen import UnseenCells
from unveil.progress import Ticker
from unveil.table.core import Table

__all__ = ["stepwise_em"]

Vector = npt.NDArray[np.float64]
FIRST, LAST = 0.9, 0.05


def stepwise_em(
    problem: TableEM,
    table: Table,
    tables: Vector,
    epochs: int,
    batch_size: int,
    generator: np.random.Generator,
    ticker: Ticker,
    judge: Callable[[Vector], float] | None = None,
) -> Vector:
    """Better tables after going over all rows `epochs` times, `batch_size` of them at a time.

    With `judge`, the best by it of those after each time.
    """
    batches = _batches(problem, table, batch_size, generator)
    n_steps = epochs * len(batches)
    counts: Vector | None = None
    best, best_value, done = tables, -np.inf, 0
    for epoch in range(epochs):
        log_likelihood = 0.0
        for b in generator.permutation(len(batches)):
            found = batches[b].expected(tables)
            log_likelihood += found.log_likelihood
            scaled = found.counts * (table.total_weight / batches[b].total_weight)
            newest = FIRST + (LAST - FIRST) * done / n_steps
            counts = scaled if counts is None else (1 - newest) * counts + newest * scaled
            tables = problem.layout.estimated(counts, problem.prior, problem.alpha)
            done += 1
            if not ticker.keep_going():
                break
        if judge is not None:
            value = judge(tables)
            if value > best_value:
                best, best_value = tables, value
        if not ticker.offer("EM by parts of the rows", epoch + 1, log_likelihood):
            break
    return tables if judge is None else best


def _batches(
    problem: TableEM, table: Table, batch_size: int, generator: np.random.Generator
) -> list[UnseenCells]:
    """The rows dealt at random into parts of about equal size; equal rows are not folded first.

    Rows that count as many are so rather spread over the parts, which are then alike.
    """
    order = generator.permutation(np.flatnonzero(table.row_weights > 0))
    parts = np.array_split(order, max(1, round(len(order) / batch_size)))
    return [
        UnseenCells.to_learn_from(problem.layout.network, table.take(np.sort(part)))
        for part in parts
    ]
