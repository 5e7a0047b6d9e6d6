"""`discover_numbers`: from a table with numbers to hidden parents, evidence and loadings."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from unveil.discovery.beside import Beside, beside
from unveil.discovery.continuous.curved import curve_kind, find_curved_parents
from unveil.discovery.continuous.evidence import Judge
from unveil.discovery.continuous.given import beyond_states
from unveil.discovery.continuous.kinds import Kind, LineKind
from unveil.discovery.continuous.loadings import loadings_of
from unveil.discovery.continuous.procedure import Found, find_hidden_parents
from unveil.discovery.continuous.report import NumbersReport
from unveil.discovery.continuous.settings import NumberSettings
from unveil.discovery.evidence import Evidence, StrawMan
from unveil.em.lines import Observed
from unveil.errors import DataError, UnveilWarning
from unveil.evaluate.folds import n_cases
from unveil.evaluate.log_loss import LogLoss
from unveil.progress import Progress, Ticker
from unveil.seeds import seed_or_fresh
from unveil.statistics.redundant import redundant_columns
from unveil.table.core import Table

__all__ = ["discover_numbers"]

FOR_EVIDENCE = 0.4
"""The share of a time limit that is kept for the evidence."""


def discover_numbers(
    table: Table,
    settings: NumberSettings | None = None,
    *,
    evidence: bool = True,
    compare: bool = True,
    resamples: int = 10,
    folds: int = 5,
    seed: int | None = None,
    progress: Progress | None = None,
    time_limit: float | None = None,
) -> NumbersReport:
    """Hidden parents of the continuous columns of a table, gaps or none.

    `settings` say how to look; `evidence` is asked for by cross-validation in `folds` and by
    `resamples` resampled tables; `compare` is with simpler explanations. Stopped early (by the
    listener `progress`, or after `time_limit` seconds), it reports the best so far. `seed` repeats
    a run. Columns of one value and exact linear functions of others are left out with a warning.
    Beside columns with states, hidden parents are looked for beyond what these say of the numbers
    (`given.py`); the report's table then has what is left of them.

    >>> generator = np.random.default_rng(1)
    >>> h = generator.normal(size=(400, 1))
    >>> from unveil import Variable
    >>> x = h + 0.7 * generator.normal(size=(400, 6))
    >>> table = Table([Variable(n) for n in "abcdef"], list(x.T))
    >>> report = discover_numbers(table, seed=1, resamples=0, compare=False)
    >>> report.hidden, len(report.network.dag.children("H1"))
    (('H1',), 6)
    """
    settings = settings or NumberSettings()
    seed = seed_or_fresh(seed)
    whole, beyond = table, beyond_states(table)
    table = _usable(beyond.table)
    ticker = Ticker.of(progress, time_limit)
    share = 1.0 - FOR_EVIDENCE if evidence or compare else 1.0
    observed = Observed.of(table)
    lines = LineKind(table, observed, settings)
    kind, found = _looked(lines, ticker.part(share=share))
    network = kind.network(found.graph)
    folds = min(folds, n_cases(table))
    if found.stopped == "asked to stop" or folds < 2:
        compare, resamples = False, 0
        evidence = evidence and folds >= 2
    judge = Judge(found, kind, lines, folds, seed)
    own: LogLoss | None = None
    proofs: dict[str, Evidence] = {}
    men: tuple[StrawMan, ...] = ()
    if evidence or compare:
        own = judge.predicted(found.graph, ticker)
    if evidence and own is not None:
        for name in found.graph.hidden:
            proof = judge.evidence_for(name, own, resamples, ticker)
            if proof is not None:
                proofs[name] = proof
    if compare and own is not None and ticker.keep_going():
        men = judge.straw_men(ticker.part("straw men"))
    stopped = found.stopped if found.stopped != "converged" else ticker.reason or "converged"
    return NumbersReport(
        network, kind.network(found.baseline), found.graph.score, found.baseline.score,
        found.needed, proofs, loadings_of(network, table), men, settings, seed, ticker.elapsed,
        table, own, stopped, found.tried, left_out=found.left_out,
        given=beyond.given, beside=beside(whole, table) if beyond.given else Beside(),
    )  # fmt: skip


def _looked(lines: LineKind, ticker: Ticker) -> tuple[Kind, Found[Any]]:
    """What was found by lines, or by the curves that were asked for, and who fits such graphs."""
    curve = lines.settings.curve
    if curve is None:
        return lines, find_hidden_parents(lines.observed, lines.settings, ticker)
    kind = curve_kind(lines.table, lines.settings, curve)
    return kind, find_curved_parents(kind, lines.observed, ticker)


def _usable(table: Table) -> Table:
    """The table without columns that say nothing of their own; each is told."""
    if table.n_rows < 3:
        raise DataError(
            f"the table has {table.n_rows} row{'s' * (table.n_rows != 1)}; looking for hidden "
            "variables needs 3"
        )
    for name in table.names:
        if table.missing(name).all():
            raise DataError(f"column {name!r} has no values, so nothing can be learned about it")
    constant = [n for n in table.names if _is_constant(table.column(n))]
    left = [n for n in table.names if n not in constant]
    if not left:
        raise DataError("no column varies, so there is nothing to learn")
    for name in constant:
        _tell(f"column {name!r} has the same value in every row; it is left out")
    kept = table.select(left) if constant else table
    observed = Observed.of(kept)
    if observed.moments is not None:
        away = redundant_columns(list(kept.names), observed.moments)
        for one in away:
            _tell(f"{one}; it is left out")
        if away:
            gone = {one.name for one in away}
            kept = kept.select([n for n in kept.names if n not in gone])
    return kept


def _is_constant(column: np.ndarray) -> bool:
    seen = column[~np.isnan(column)]
    if not seen.size:
        return True
    return bool(np.ptp(seen) <= 8 * np.finfo(float).eps * np.abs(seen).max())


def _tell(words: str) -> None:
    warnings.warn(UnveilWarning(words), stacklevel=4)
