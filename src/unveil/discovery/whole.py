"""Found in some rows, judged on all: hidden variables of tables that do not fit.

Candidates are looked for in rows that are drawn by the seed, as many as can be worked on. What is
kept there is then taken to all rows: how well it predicts them beside the network without hidden
variables (both with the parameters of the drawn rows, so the others are new to them), EM over all
parts, and the scores there. Both keep the structure that the drawn rows gave them: from all rows,
either side could have got more arcs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from unveil.discovery.confirm import luck_in_errors
from unveil.discovery.meaning import meaning_of
from unveil.discovery.settings import Settings
from unveil.em.loop import run_em
from unveil.em.steps import em_problem
from unveil.engines.rows import PartedRows
from unveil.model.network import Network
from unveil.progress import Ticker
from unveil.records import Record
from unveil.table.core import Table
from unveil.table.places import tell

if TYPE_CHECKING:
    from unveil.discovery.call import DiscoveryReport

__all__ = ["AllRows", "drawn_rows", "on_all_rows"]

DRAWN = 50_000
"""So many rows are drawn to look for candidates in, unless another number is asked for."""
ITERATIONS, TOLERANCE = 100, 1e-7


@dataclass(frozen=True)
class AllRows(Record):
    """What all rows say of networks that were found in some of them.

    `saved` are the bits per row that the hidden variables save, with parameters from the drawn rows
    alone, `error` its standard error. The scores are of networks fitted to all rows, in nats;
    `n_passes` tells how often these were gone over.
    """

    told: ClassVar = ("gain", "words")

    n_cases: float
    n_drawn: float
    without: float
    saved: float
    error: float
    score_without: float
    score: float
    is_sure: bool
    n_passes: int

    @property
    def gain(self) -> float:
        """How much better the score is than without hidden variables, in nats."""
        return self.score - self.score_without

    @property
    def words(self) -> str:
        """The same in a sentence or two."""
        verdict = (
            "All rows confirm what was found in those drawn"
            if self.is_sure
            else "All rows do NOT confirm what was found in those drawn"
        )
        return (
            f"Candidates were looked for in {self.n_drawn:,.0f} rows drawn from "
            f"{self.n_cases:,.0f}. {verdict}: {self.saved:+.4f} bits per row saved (standard error "
            f"{self.error:.4f}) over the network without hidden variables that those rows gave "
            f"({self.without:.4f} bits), {self.gain:+,.1f} nats of score with parameters from all "
            "rows."
        )


def drawn_rows(rows: Table | PartedRows, n_rows: int | None, seed: int) -> Table:
    """Rows to look for candidates in, drawn by the seed; told, unless a number was asked for."""
    if n_rows is None:
        tell(
            f"{rows.n_rows:,} rows do not fit in memory: candidates are looked for in {DRAWN:,} of "
            "them, drawn at random, and judged on all rows"
        )
    if isinstance(rows, Table):
        rows = PartedRows.of_tables([rows])
    return rows.sample(n_rows or DRAWN, seed)


def on_all_rows(
    report: DiscoveryReport, rows: Table | PartedRows, ticker: Ticker | None = None
) -> DiscoveryReport:
    """The report with its networks fitted to all rows, and what these say of them."""
    if isinstance(rows, Table):
        rows = PartedRows.of_tables([rows])
    found, settings = report.discovery, report.discovery.settings
    before = rows.n_passes
    ticker = Ticker.of(ticker)
    weight, without, saved, error = _paired(found.baseline, found.network, rows)
    baseline = _fitted(found.baseline, rows, settings, ticker.part("all rows, without"))
    network = baseline
    if found.hidden:
        network = _fitted(found.network, rows, settings, ticker.part("all rows"))
    scores = settings.score_of(baseline, rows), settings.score_of(network, rows)
    sure = saved > luck_in_errors(settings.max_luck) * error and scores[1] > scores[0]
    whole = AllRows(
        weight, report.table.total_weight, without, saved, error, *scores,
        bool(found.hidden) and sure, rows.n_passes - before,
    )  # fmt: skip
    if found.hidden and not sure:
        tell(whole.words)
    again = replace(
        found, network=network, score=scores[1], baseline=baseline, baseline_score=scores[0]
    )
    meanings = {name: meaning_of(network, report.table, name) for name in found.hidden}
    return replace(report, discovery=again, meaning=meanings, whole=whole)


def _fitted(network: Network, rows: PartedRows, settings: Settings, ticker: Ticker) -> Network:
    """The same graph with parameters from all rows, by EM from those it has."""
    problem = em_problem(network, rows, settings.prior)
    start = problem.pack(network)
    return problem.unpack(run_em(problem.step, start, ITERATIONS, TOLERANCE, ticker).parameters)


def _paired(worse: Network, better: Network, rows: PartedRows) -> tuple[float, float, float, float]:
    """The weight of all rows, the bits of the first, what the second saves, and its error."""
    weight, bits, saved, squares = rows.sum(_differences, worse, better)
    mean = saved / weight
    variance = max(0.0, squares - weight * mean * mean) / max(weight - 1, 1)
    return float(weight), float(bits / weight), float(mean), math.sqrt(variance / weight)


def _differences(table: Table, worse: Network, better: Network) -> npt.NDArray[np.float64]:
    weights = table.row_weights
    bits = -worse.row_log_likelihoods(table) / math.log(2)
    saved = bits + better.row_log_likelihoods(table) / math.log(2)
    return np.array([weights.sum(), bits @ weights, saved @ weights, (saved * saved) @ weights])
