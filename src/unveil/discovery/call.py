"""`discover`: from a table to hidden variables, evidence and meaning in one call."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from unveil.discovery.evidence import Evidence, StrawMan, evidence_for, naive_straw_man
from unveil.discovery.meaning import Meaning, meaning_of
from unveil.discovery.notes import Notes
from unveil.discovery.predictions import cross_validated
from unveil.discovery.procedure import Discovery, Round, discover_networks
from unveil.discovery.settings import Settings
from unveil.errors import DataError
from unveil.evaluate.log_loss import LogLoss, n_cases
from unveil.model.network import Network
from unveil.progress import Progress, StopReason, Ticker
from unveil.records import Record, changed
from unveil.table.core import Table
from unveil.table.door import Data, Weights, ready_table
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

    @property
    def network(self) -> Network:
        """The network with its hidden variables."""
        return self.discovery.network

    @property
    def hidden(self) -> tuple[str, ...]:
        """The names of the hidden variables found."""
        return self.discovery.hidden

    def posteriors(self) -> Table:
        """The rows with the posterior of every hidden state as columns (and the best state).

        Such a column is called `P(H1=0)`, with a stroke after it if the table has one of that name.
        """
        import numpy as np

        from unveil.table.variable import Variable

        out = self.table
        for name, meaning in self.meaning.items():
            variable = self.network.variable(name)
            best = meaning.posterior.argmax(axis=1)
            out = out.with_column(Variable(name, variable.labels), best.astype(np.int64))
            for s, label in enumerate(variable.labels):
                column = f"P({name}={label})"
                while column in self.table:
                    column += "'"
                out = out.with_column(Variable(column), meaning.posterior[:, s])
        return out

    @property
    def summary(self) -> str:
        """What was found, in plain words."""
        found = self.discovery
        if not self.hidden:
            tried = sum(len(r.candidates) for r in found.rounds)
            if not tried and found.stopped != "converged":
                return (
                    f"Nothing was tried: stopped early ({found.stopped}), before any candidate "
                    "was looked at. This says nothing about hidden variables; give it more time, "
                    "fewer columns or fewer rows."
                )
            if found.stopped != "converged":
                return (
                    f"Stopped early ({found.stopped}): of the {tried} candidates tried so far, "
                    "none pays for its parameters."
                )
            return (
                "No hidden variable is warranted: of "
                f"{tried} candidates tried, none pays for its parameters."
            )
        lines = []
        for name in self.hidden:
            variable = self.network.variable(name)
            children = ", ".join(self.network.dag.children(name))
            parents = ", ".join(self.network.dag.parents(name))
            given = f", child of {parents}" if parents else ""
            lines.append(f"{name}: {variable.n_states} states, parent of {children}{given}")
            if name in self.evidence:
                lines += [f"  {sentence}" for sentence in _evidence_words(self.evidence[name])]
            if name in self.meaning:
                lines += [f"  {p.words}" for p in self.meaning[name].profiles]
        return "\n".join(lines)


def discover(
    data: Data,
    *,
    weights: Weights = None,
    drop: Sequence[str] | str = (),
    discretize: str | None = None,
    n_bins: int = 3,
    keep: Collection[str] = (),
    settings: Settings | None = None,
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
    (`max_hidden=1`), say how to look: see `Settings`. `seed` repeats a run, on `n_jobs` processes
    (all cores if not given). `progress` listens.

    `evidence` is asked for by cross-validation in `folds` and by `resamples` resampled tables;
    `straw_men` are simpler explanations to compare with. Stopped early (by the listener or after
    `time_limit` seconds), it reports the best so far; asked to stop, it resamples nothing and
    compares with no straw men. A fifth of a time limit is kept for the evidence. `earlier`,
    `on_round` and `notes` are for going on after an interruption, see `discover_networks`.

    >>> from unveil import datasets
    >>> report = discover(datasets.table("college_plans"), equivalent_sample_size=5.0,
    ...                   max_hidden=1, seed=1, straw_men=False)
    >>> report.hidden
    ('H1',)
    """
    if resamples < 0 or folds < 2:
        raise DataError(
            f"resamples must not be negative and folds at least 2, got {resamples} and {folds}"
        )
    table = ready_table(data, weights, drop, discretize, n_bins, keep)
    settings = changed(settings or Settings(), changes, "discover")
    if not settings.blocks:
        tell_of_order(table)
    ticker = Ticker.of(progress, time_limit)
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
    return DiscoveryReport(found, proofs, meanings, tuple(compared), table, own, stopped)


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


def _evidence_words(proof: Evidence) -> list[str]:
    low, high = proof.interval
    words = [
        f"evidence: {proof.words}",
        f"rows left out are predicted with {proof.held_out.bits:+.4f} bits per row saved "
        f"(95% interval {low:+.4f} to {high:+.4f}; {proof.verdict})",
    ]
    if proof.n_resamples:
        words.append(
            f"still preferred in {proof.stability:.0%} of {proof.n_resamples} resampled tables"
        )
    return words
