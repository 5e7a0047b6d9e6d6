"""Rows that are drawn to look for candidates in, and what all rows say in the end.

What is kept is decided in every round by all rows (`among_all`). Here are the drawing, before, and
the report on all rows, afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from unveil.discovery.all_rows import Everything
from unveil.discovery.among_all import first_standing
from unveil.discovery.halves import saved_by
from unveil.discovery.meaning import meaning_of
from unveil.discovery.settings import Settings
from unveil.engines.rows import PartedRows
from unveil.evaluate.log_loss import LogLoss
from unveil.infer.parted import bits_over
from unveil.progress import Ticker
from unveil.records import Record
from unveil.table.core import Table
from unveil.table.places import tell

if TYPE_CHECKING:
    from unveil.discovery.call import DiscoveryReport

__all__ = ["AllRows", "Looked", "drawn_rows", "in_memory", "in_parts", "looked_at", "on_all_rows"]

DRAWN = 10_000
"""So many rows are drawn to look for candidates in, unless another number is asked for.

They need only show where something may be hidden: all rows decide.
"""
DRAWN_NUMBERS = 50_000
"""The same of continuous columns, where nothing is judged on all rows."""
MANY = 200_000
"""Of more different rows than these some are drawn, also where all would fit in memory."""
MANY_CASES = 20_000
"""And of more cases than these, whether they differ or not.

With so many cases every arc that stands in for a hidden variable pays, and so do ever more states
of it: what is found by climbing among all rows ends at a part of what there is, and takes longer.
"""


@dataclass(frozen=True)
class AllRows(Record):
    """What all rows say of what was found in some of them.

    The networks have structure and parameters from all rows. `without` are the bits per row of the
    one without hidden variables; `saved` are the bits per row that hidden variables save, each half
    of the rows predicted with parameters of the other, `error` its standard error. The scores are
    in nats; `n_passes` tells how often the rows were gone over for all this.
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
        drawn = (
            f"Candidates were looked for in {self.n_drawn:,.0f} rows drawn from "
            f"{self.n_cases:,.0f}."
        )
        if not self.is_sure:
            return f"{drawn} All rows confirm none of them."
        return (
            f"{drawn} All rows confirm what was found in those drawn: {self.gain:+,.1f} nats of "
            "score over the best network without hidden variables that all rows gave, and "
            f"{self.saved:+.6f} bits per row (standard error {self.error:.6f}) on rows left out, "
            f"each half predicted from the other ({self.without:.4f} bits)."
        )


@dataclass(frozen=True)
class Looked:
    """The rows that candidates are looked for in, and all of them, if these are more."""

    rows: Table
    everything: PartedRows | None = None


def looked_at(table: Table, settings: Settings, sample: int | None, seed: int) -> Looked:
    """Where in a table to look: among all rows, or among so many, or 10,000 of many cases.

    Where blocks of neighbouring rows are left out, and for the bottleneck, none are drawn unasked.
    """
    plain = not settings.blocks and settings.method_for(table) == "signatures"
    if sample is None and not (plain and table.total_weight > MANY_CASES):
        return Looked(table)
    rows = drawn_rows(table, sample, seed)
    if rows.total_weight >= table.total_weight:
        return Looked(table)
    return Looked(rows, in_parts(table.folded()))


def in_memory(rows: Table | PartedRows) -> Table | PartedRows:
    """Rows that were read in pieces as a table, if they fit and not too many are different."""
    if isinstance(rows, Table):
        return rows
    discrete = all(v.is_discrete for v in rows.variables)
    many = (discrete and rows.n_stored > MANY) or not rows.fits()
    return rows if many else rows.as_table()


def drawn_rows(rows: Table | PartedRows, n_rows: int | None, seed: int) -> Table:
    """Cases to look for candidates in, drawn by the seed; told, unless a number was asked for."""
    discrete = all(v.is_discrete for v in rows.variables)
    if n_rows is None:
        n_rows = DRAWN if discrete else DRAWN_NUMBERS
        tell(
            f"of {rows.total_weight:,.12g} rows, candidates are looked for in {n_rows:,} of them, "
            f"drawn at random{', and judged on all rows' if discrete else ''}"
        )
    return in_parts(rows).sample(n_rows, seed, cases=discrete)


def on_all_rows(
    report: DiscoveryReport,
    rows: Table | PartedRows,
    ticker: Ticker | None = None,
    table: Table | None = None,
) -> DiscoveryReport:
    """The report with the networks of all rows, and what these say of them.

    `table` has all rows, if they are in memory: the report then has them instead of those drawn.
    """
    rows, ticker = in_parts(rows), Ticker.of(ticker)
    found = report.discovery
    everything = Everything.of(rows, found.settings, found.seed)
    standing = found.standing
    if standing is None:
        part = ticker.part("all rows")
        standing = first_standing(everything, found.baseline, found.network, part)
    saved = LogLoss(0.0, 0.0, np.zeros(1), np.ones(1))
    if found.hidden:
        saved = saved_by(everything, standing.network, standing.baseline, ticker)
    network = standing.network if found.hidden else standing.baseline
    score = standing.score if found.hidden else standing.baseline_score
    weight, without, _ = bits_over(standing.baseline, rows)
    whole = AllRows(
        weight, report.table.total_weight, without, saved.bits, saved.standard_error,
        standing.baseline_score, score, bool(found.hidden), rows.n_passes,
    )  # fmt: skip
    again = replace(
        found, network=network, score=score, baseline=standing.baseline,
        baseline_score=standing.baseline_score,
    )  # fmt: skip
    table = report.table if table is None else table
    meanings = {name: meaning_of(network, table, name) for name in found.hidden}
    return replace(report, discovery=again, meaning=meanings, whole=whole, table=table)


def in_parts(rows: Table | PartedRows) -> PartedRows:
    """The rows in parts; a table in memory is one."""
    return PartedRows.of_tables([rows]) if isinstance(rows, Table) else rows
