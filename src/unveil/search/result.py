"""What a search gives back: the graph, its score, and how it got there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from unveil.anneal.loop import Annealed
from unveil.graph.dag import DAG
from unveil.progress import Step, StopReason, Ticker
from unveil.records import Record
from unveil.score.protocol import Families

__all__ = ["SearchResult"]


@dataclass(frozen=True)
class SearchResult(Record):
    """The best graph a search found; `score` is in nats.

    `trace` holds every improvement of the best score, `n_scored` counts the families computed,
    `stopped` says why the search ended and `seed` repeats it. `annealed` is the course of the
    weights, if they were annealed.
    """

    dag: DAG
    score: float
    score_name: str
    search: str
    trace: tuple[Step, ...]
    stopped: StopReason
    seed: int | None
    elapsed: float
    n_scored: int
    annealed: Annealed[Any] | None = None

    @classmethod
    def made(
        cls,
        scores: Families,
        ticker: Ticker,
        search: str,
        dag: DAG,
        score: float,
        trace: Iterable[Step],
        seed: int | None = None,
        stopped: StopReason = "converged",
    ) -> SearchResult:
        """What a search over `scores` ends with; why it stopped, unless the ticker knows better."""
        return cls(
            dag=dag,
            score=score,
            score_name=scores.score_name,
            search=search,
            trace=tuple(trace),
            stopped=ticker.reason or stopped,
            seed=seed,
            elapsed=ticker.elapsed,
            n_scored=scores.n_scored,
        )

    def __str__(self) -> str:
        return (
            f"{self.search}: {self.dag.n_arcs} arcs, {self.score_name} {self.score:,.2f} "
            f"({self.stopped}, {self.elapsed:.2f} s)"
        )
