"""What a search gives back: the graph, its score, and how it got there."""

from __future__ import annotations

from dataclasses import dataclass

from unveil.graph.dag import DAG
from unveil.progress import Step, StopReason
from unveil.records import Record

__all__ = ["SearchResult"]


@dataclass(frozen=True)
class SearchResult(Record):
    """The best graph a search found; `score` is in nats.

    `trace` holds every improvement of the best score, `n_scored` counts the families computed,
    `stopped` says why the search ended and `seed` repeats it.
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

    def __str__(self) -> str:
        return (
            f"{self.search}: {self.dag.n_arcs} arcs, {self.score_name} {self.score:,.2f} "
            f"({self.stopped}, {self.elapsed:.2f} s)"
        )
