"""`discover`: from a table to hidden variables, evidence and meaning in one call."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any, ClassVar

from unveil.discovery.beside import Beside, beside, rows_with_states
from unveil.discovery.continuous import NumberSettings, NumbersReport, discover_numbers
from unveil.discovery.continuous.given import has_enough_numbers
from unveil.discovery.evidence import (
    Evidence,
    StrawMan,
    compact_straw_man,
    evidence_for,
    naive_straw_man,
)
from unveil.discovery.meaning import Meaning, meaning_of
from unveil.discovery.naming import StateNames, VariableNames, check_names, named
from unveil.discovery.notes import Notes
from unveil.discovery.predictions import cross_validated
from unveil.discovery.procedure import Discovery, Round, discover_networks
from unveil.discovery.settings import Settings
from unveil.discovery.summary import headline, summary
from unveil.discovery.whole import AllRows, drawn_rows, in_memory, looked_at, on_all_rows
from unveil.em.completion import complete_rows
from unveil.engines.door import Memory, opened
from unveil.engines.rows import PartedRows
from unveil.errors import DataError, Hint
from unveil.evaluate.agreement import Agreement, agreement
from unveil.evaluate.arcs import ArcWorth, arc_worth
from unveil.evaluate.log_loss import LogLoss, n_cases
from unveil.model.network import Network
from unveil.progress import Progress, StopReason, Ticker
from unveil.records import Record, changed
from unveil.score.bdeu import BDeu
from unveil.score.families import FamilyScores
from unveil.seeds import seed_or_fresh
from unveil.table.core import Table
from unveil.table.door import Data, Weights, read_and_ready
from unveil.table.order import tell_of_order
from unveil.table.places import tell
from unveil.table.prepare import undecided

__all__ = ["DiscoveryReport", "discover", "discover_states", "is_numbers", "refuse_states"]

FOR_EVIDENCE = 0.2
"""The share of a time limit that is kept for the evidence."""


@dataclass(frozen=True)
class DiscoveryReport(Record):
    """Everything there is to say about a discovery.

    `straw_men` holds, if they were asked for, the network without hidden variables, the same with
    compact tables (where some have local structure) and the one with a hidden parent of everything.
    """

    told: ClassVar = ("hidden", "summary")

    discovery: Discovery
    evidence: dict[str, Evidence]
    meaning: dict[str, Meaning]
    straw_men: tuple[StrawMan, ...]
    table: Table = field(repr=False)
    held_out: LogLoss | None = None
    """The log-loss of what was found, by the same cross-validation as the straw men's."""
    stopped: StopReason = "converged"
    """Why the work ended, evidence included."""
    beside: Beside = field(default=Beside(), repr=False)
    """Columns that nothing was learned from, to find the rows again."""
    agreements: tuple[Agreement, ...] = ()
    """The hidden states beside columns that were kept out to compare with."""
    whole: AllRows | None = None
    """What all rows say, if candidates were looked for in some of them."""

    @property
    def network(self) -> Network:
        """The network with its hidden variables."""
        return self.discovery.network

    @property
    def hidden(self) -> tuple[str, ...]:
        """The names of the hidden variables found."""
        return self.discovery.hidden

    def save(self, path: str | PathLike[str], table_name: str = "table") -> None:
        """Write the report, the networks and the posterior of every row into the folder `path`."""
        from unveil.report.discover_folder import write_discovery

        write_discovery(self, path, table_name)

    def __str__(self) -> str:
        return self.summary

    def posteriors(self) -> Table:
        """The rows with the posterior of every hidden state as columns (and the best state).

        Such a column is called `P(H1=0)`, with a stroke after it if the table has one of that name.
        Columns that were kept out stand beside the rows, their identifier first.
        """
        return rows_with_states(self.table, self.beside, self.network, self.meaning)

    def arcs(self) -> tuple[ArcWorth, ...]:
        """What every arc of the network is worth, with hidden states and gaps filled in.

        Every row is replaced by its completions, weighted by their posterior.
        """
        rows = complete_rows(
            self.network,
            self.table.folded(),
            cap=32,
            draws=8,
            seed=self.discovery.seed,
            negligible=1e-3,
        )
        size = self.discovery.settings.equivalent_sample_size
        return arc_worth(
            FamilyScores(rows.select(self.network.names), BDeu(size)), self.network.dag
        )

    def with_rows(
        self, read: Table, id: str | None = None, compare: Sequence[str] = ()
    ) -> DiscoveryReport:
        """The report with names for the rows, from the table as it was read.

        All its columns that were not learned from, or not as they were read, travel into
        `posteriors()`; `id` names the rows; the hidden states are compared with every column of
        `compare`.
        """
        found = [
            agreement(
                name, self.network.variable(name).labels, meaning.posterior,
                read.with_weights(self.table.weights), column,
            )
            for name, meaning in self.meaning.items()
            for column in compare
        ]  # fmt: skip
        return replace(self, beside=beside(read, self.table, id), agreements=tuple(found))

    def named(
        self, name: VariableNames | None = None, state_names: StateNames | None = None
    ) -> DiscoveryReport:
        """The report with hidden variables and their states called so, in their order.

        >>> from unveil import datasets
        >>> plans = datasets.table("college_plans")
        >>> report = discover(plans, max_hidden=1, seed=1, evidence=False, straw_men=False)
        >>> report.named({"H1": "home"}).hidden
        ('home',)
        """
        columns = [n for n in self.network.names if n not in self.hidden]
        return named(self, check_names(name, state_names, columns))

    @property
    def summary(self) -> str:
        """What was found, in plain words."""
        return summary(self)

    @property
    def headline(self) -> str:
        """The same in a sentence or two."""
        return headline(self)


def discover(
    data: Data,
    *,
    weights: Weights = None,
    drop: Sequence[str] | str = (),
    discretize: str | None = None,
    n_bins: int = 3,
    keep: Collection[str] = (),
    settings: Settings | NumberSettings | None = None,
    id: str | None = None,
    compare: Sequence[str] = (),
    name: VariableNames | None = None,
    state_names: StateNames | None = None,
    evidence: bool = True,
    straw_men: bool = True,
    resamples: int = 10,
    folds: int = 5,
    earlier: Sequence[Round] = (),
    seed: int | None = None,
    progress: Progress | None = None,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    on_round: Callable[[Sequence[Round]], None] | None = None,
    notes: Notes | None = None,
    sample: int | None = None,
    memory: Memory = None,
    engine: str | None = None,
    **changes: Any,
) -> DiscoveryReport | NumbersReport:
    """Hidden variables of a table or data frame: where they belong, and what they mean.

    A table of continuous columns, unless they are cut, is looked at for continuous hidden parents:
    `settings` are then a `NumberSettings`, and the answer is a `NumbersReport`
    (see `unveil.discovery.discover_numbers`). Beside three or more continuous columns, those with
    states are held fixed: hidden parents are looked for beyond what they say of the numbers. All
    other tables have discrete hidden variables.

    `data` is a table, a pandas, polars or Arrow frame, a dict of columns, an array, or the path of
    a file; gaps are fine. `weights` say how often each row counts, as a column's name or one number
    for every row; the columns of `drop` are left out, and so are identifiers and dates unless
    `keep` names them; continuous ones are cut by `discretize` (`equal_frequency`, `equal_width`,
    `kmeans`, `deviation`) into `n_bins` bins. `settings`, or any of its fields by name
    (`changes`, such as `max_hidden=1`), say how to look: see `Settings`. `seed` repeats a run, on
    `n_jobs` processes (all cores if not given). `progress` listens.

    `evidence` is asked for by `resamples` resampled tables, beside the cross-validation that
    decided; `straw_men` are simpler explanations to compare with, by cross-validation in `folds`.
    Stopped early (by the listener or after `time_limit` seconds), it reports the best so far; asked
    to stop, it resamples nothing and compares with no straw men. A fifth of a time limit is kept
    for the evidence. `earlier`,
    `on_round` and `notes` are for going on after an interruption, see `discover_networks`.

    Of more than 20,000 cases, or if a `sample` of so many is asked for, candidates are looked for
    in rows drawn by the seed (10,000), and all rows decide what is kept: `report.whole`. Resampling
    and straw men are those of the drawn rows. A `sample` of as many as there are looks in all. Rows
    that are read in pieces (`unveil.open_rows` tells of these, of `memory` and of `engine`) are a
    table if they fit in memory and are at most 200,000 different ones.

    Nothing is learned from `id` either, which says who a row is, nor from the columns of `compare`,
    with which the hidden states are cross-tabulated. Whatever was left out travels into
    `report.posteriors()`. `name` says what to call hidden variables (`{"H1": "severity"}`),
    `state_names` what to call their states, in order (`{"severity": ["low", "high"]}`); the report
    does it afterwards too, see `DiscoveryReport.named`.

    >>> from unveil import datasets
    >>> report = discover(datasets.table("college_plans"), max_hidden=1, seed=1, straw_men=False)
    >>> report.hidden
    ('H1',)
    """
    if resamples < 0 or folds < 2:
        raise DataError(
            f"resamples must not be negative and folds at least 2, got {resamples} and {folds}"
        )
    ticker = Ticker.of(progress, time_limit)
    away = [*([drop] if isinstance(drop, str) else drop), *compare, *([] if id is None else [id])]
    ready = discretize, n_bins, keep
    rows = _rows_in_pieces(data, weights, away, ready, id, compare, memory, engine)
    if seed is None and (rows is not None or sample is not None):
        seed = seed_or_fresh(None)
    if isinstance(rows, PartedRows):
        read = table = drawn_rows(rows, sample, seed or 0)
        rows = rows if table.total_weight < rows.total_weight else None
        drawn, sample = rows is not None, None
    else:
        if rows is None:
            read, table = read_and_ready(data, weights, dict.fromkeys(away), *ready, numbers=True)
        else:
            read = table = rows
        drawn, rows = sample is not None and sample < table.total_weight, None
        if drawn and is_numbers(table, discretize):
            read = table = drawn_rows(table, sample, seed or 0)
    if is_numbers(table, discretize):
        refuse_states(compare, state_names)
        found_numbers = _discover_numbers(
            read, table, settings, changes, id, evidence=evidence, compare=straw_men,
            resamples=resamples, folds=folds, seed=seed, progress=ticker,
        )  # fmt: skip
        if drawn:
            tell("the factors are those of the drawn rows; they were not judged on all rows")
        return found_numbers.named(name or {})
    if isinstance(settings, NumberSettings):
        raise DataError("NumberSettings are for tables of continuous columns; give a Settings")
    settings = changed(settings or Settings(), changes, "discover")
    names = check_names(name, state_names, read.names)
    report = discover_states(
        table, settings, rows, evidence=evidence, straw_men=straw_men, resamples=resamples,
        folds=folds, earlier=earlier, seed=seed, progress=ticker, n_jobs=n_jobs, on_round=on_round,
        notes=notes, sample=sample,
    )  # fmt: skip
    return named(report if read is table else report.with_rows(read, id, compare), names)


def discover_states(
    table: Table,
    settings: Settings,
    everything: PartedRows | None = None,
    *,
    sample: int | None = None,
    evidence: bool = True,
    straw_men: bool = True,
    resamples: int = 10,
    folds: int = 5,
    earlier: Sequence[Round] = (),
    seed: int | None = None,
    progress: Progress | None = None,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    on_round: Callable[[Sequence[Round]], None] | None = None,
    notes: Notes | None = None,
) -> DiscoveryReport:
    """The same of a discrete table that is ready.

    If its rows are drawn from `everything`, what is found there is judged on all rows. So it is
    if a `sample` of so many is to be drawn here, or if there are many cases (`looked_at`).
    """
    ticker = Ticker.of(progress, time_limit)
    if not settings.blocks:
        tell_of_order(table)
    whole, rows = None, everything
    if everything is None:
        seed = seed_or_fresh(seed)
        looked = looked_at(table, settings, sample, seed)
        whole = table if looked.everything is not None else None
        table, rows = looked.rows, looked.everything
    searching = ticker.part(share=1.0 - FOR_EVIDENCE if evidence or straw_men else 1.0)
    found = discover_networks(
        table, settings, earlier, None, seed, searching, None, n_jobs, on_round, notes, rows
    )
    proofs = {}
    folds = min(folds, n_cases(table))
    if folds < 2:
        evidence = straw_men = False
    if found.stopped == "asked to stop":
        straw_men, resamples = False, 0
    if evidence:
        for r in found.rounds:
            if r.kept is not None:
                proof = evidence_for(r, table, found.settings, found.seed, folds, resamples, ticker)
                if proof is not None:
                    proofs[r.kept.name] = proof
    meanings = {name: meaning_of(found.network, table, name) for name in found.hidden}
    compared: list[StrawMan] = []
    own: LogLoss | None = None
    if straw_men and ticker.keep_going():
        own, compared = _straw_men(found, table, folds, ticker.part("straw men"))
    stopped = found.stopped if found.stopped != "converged" else ticker.reason or "converged"
    report = DiscoveryReport(found, proofs, meanings, tuple(compared), table, own, stopped)
    return report if rows is None else on_all_rows(report, rows, ticker, whole)


def _rows_in_pieces(
    data: Data, weights: Weights, drop: Sequence[str], ready: Any, id: str | None,
    compare: Sequence[str], memory: Memory, engine: str | None,
) -> Table | PartedRows | None:  # fmt: skip
    """The rows of a source that is read in pieces; `None` for anything else."""
    discretize, n_bins, keep = ready
    found = opened(
        data, weights, memory, engine, drop=drop, discretize=discretize, n_bins=n_bins, keep=keep
    )
    if found is data and not isinstance(data, PartedRows):
        return None
    if id is not None or compare:
        raise DataError(
            "id and compare are for tables in memory; rows that are read in pieces are predicted, "
            "beside all their columns, with",
            hint=Hint("unveil.infer.write_posteriors.", "unveil predict."),
        )
    rows: Table | PartedRows = found
    return in_memory(rows)


def is_numbers(table: Table, discretize: str | None = None) -> bool:
    """Whether hidden variables are to be continuous: there are numbers, and they stay so.

    Beside columns with states there must be enough of them (`beyond_states`).
    """
    continuous = [v.name for v in table.variables if not v.is_discrete]
    mixed = 0 < len(continuous) < table.n_columns
    if mixed and not has_enough_numbers(table):
        raise undecided(continuous, [v.name for v in table.variables if v.is_discrete])
    return bool(continuous) and discretize is None


def refuse_states(compare: object, state_names: object) -> None:
    """Continuous hidden variables have no states to compare or to name."""
    for what, given in (("compare", compare), ("state names", state_names)):
        if given:
            raise DataError(f"{what}: continuous hidden variables have no states; leave it out")


def _discover_numbers(
    read: Table, table: Table, settings: object, changes: dict[str, Any], id: str | None,
    **options: Any,
) -> NumbersReport:  # fmt: skip
    if isinstance(settings, Settings):
        raise DataError("Settings are for discrete tables; for continuous ones give NumberSettings")
    given = settings if isinstance(settings, NumberSettings) else NumberSettings()
    chosen = changed(given, changes, "discover (continuous columns)")
    if not chosen.blocks:
        tell_of_order(table)
    report = discover_numbers(table, chosen, **options)
    return report if read is table else report.with_rows(read, id)


def _straw_men(
    found: Discovery, table: Table, folds: int, ticker: Ticker
) -> tuple[LogLoss | None, list[StrawMan]]:
    """How what was found predicts rows left out, and simpler explanations beside it, in time."""
    ticker.offer("", 0, float("nan"))
    rest = found.settings, folds, found.seed, ticker
    own = cross_validated(found.network, table, *rest)
    held_out = own and cross_validated(found.baseline, table, *rest)
    if held_out is None:
        return None, []
    baseline = StrawMan("no hidden variable", found.baseline, found.baseline_score, held_out)
    others = [
        straw_man(found, table, folds, ticker) for straw_man in (compact_straw_man, naive_straw_man)
    ]
    return own, [baseline, *(other for other in others if other is not None)]
