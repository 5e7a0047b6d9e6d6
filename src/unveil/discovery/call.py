"""`discover`: from a table to hidden variables, evidence and meaning in one call."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any, ClassVar

from unveil.discovery.beside import Beside, beside, rows_with_states
from unveil.discovery.evidence import Evidence, StrawMan, evidence_for, naive_straw_man
from unveil.discovery.meaning import Meaning, meaning_of
from unveil.discovery.naming import StateNames, VariableNames, check_names, named
from unveil.discovery.notes import Notes
from unveil.discovery.predictions import cross_validated
from unveil.discovery.procedure import Discovery, Round, discover_networks
from unveil.discovery.settings import Settings
from unveil.discovery.summary import headline, summary
from unveil.em.completion import complete_rows
from unveil.errors import DataError
from unveil.evaluate.agreement import Agreement, agreement
from unveil.evaluate.arcs import ArcWorth, arc_worth
from unveil.evaluate.log_loss import LogLoss, n_cases
from unveil.model.network import Network
from unveil.progress import Progress, StopReason, Ticker
from unveil.records import Record, changed
from unveil.score.bdeu import BDeu
from unveil.score.families import FamilyScores
from unveil.table.core import Table
from unveil.table.door import Data, Weights, read_and_ready
from unveil.table.order import tell_of_order

__all__ = ["DiscoveryReport", "discover"]

FOR_EVIDENCE = 0.2
"""The share of a time limit that is kept for the evidence."""


@dataclass(frozen=True)
class DiscoveryReport(Record):
    """Everything there is to say about a discovery.

    `straw_men` holds, if they were asked for, the network without hidden variables and the one with
    a hidden parent of everything.
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
    settings: Settings | None = None,
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
    **changes: Any,
) -> DiscoveryReport:
    """Hidden variables of a table or data frame: where they belong, and what they mean.

    `data` is a table, a pandas, polars or Arrow frame, a dict of columns, an array, or the path of
    a file; gaps are fine. `weights` say how often each row counts, as a column's name or one number
    for every row; the columns of `drop` are left out, and so are identifiers and dates unless
    `keep` names them; continuous ones are cut by `discretize` (`equal_frequency`, `equal_width`,
    `kmeans`, `deviation`) into `n_bins` bins. `settings`, or any of its fields by name
    (`changes`, such as `max_hidden=1`), say how to look: see `Settings`. `seed` repeats a run, on
    `n_jobs` processes (all cores if not given). `progress` listens.

    `evidence` is asked for by cross-validation in `folds` and by `resamples` resampled tables;
    `straw_men` are simpler explanations to compare with. Stopped early (by the listener or after
    `time_limit` seconds), it reports the best so far; asked to stop, it resamples nothing and
    compares with no straw men. A fifth of a time limit is kept for the evidence. `earlier`,
    `on_round` and `notes` are for going on after an interruption, see `discover_networks`.

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
    read, table = read_and_ready(data, weights, dict.fromkeys(away), discretize, n_bins, keep)
    settings = changed(settings or Settings(), changes, "discover")
    names = check_names(name, state_names, read.names)
    if not settings.blocks:
        tell_of_order(table)
    searching = ticker.part(share=1.0 - FOR_EVIDENCE if evidence or straw_men else 1.0)
    found = discover_networks(
        table, settings, earlier, None, seed, searching, None, n_jobs, on_round, notes
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
    return named(report if read is table else report.with_rows(read, id, compare), names)


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
    naive = naive_straw_man(found, table, folds, ticker)
    return own, [baseline] if naive is None else [baseline, naive]
