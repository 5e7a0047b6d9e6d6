"""How the answer depends on the equivalent sample size of BDeu (Silander and Myllymaki 2007).

The size is a prior's only number, and the best graph depends on it more than one would like: the
number of arcs grows with it (their Figure 1), and graphs that are best for one size are not for
another (Figure 2). B-Course takes half the mean number of states (`b_course_sample_size`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from unveil.errors import DataError
from unveil.graph.dag import DAG
from unveil.graph.equivalence import completed_pdag
from unveil.progress import Progress, Ticker
from unveil.records import Record
from unveil.score.bdeu import BDeu, b_course_sample_size
from unveil.score.families import FamilyScores
from unveil.search.learn import learn
from unveil.table.core import Table

__all__ = ["SIZES", "Sensitivity", "sample_size_sensitivity"]

SIZES = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
"""The equivalent sample sizes that are tried when nothing is said."""


@dataclass(frozen=True)
class Sensitivity(Record):
    """The best graph for each equivalent sample size.

    `graphs` are those that are different, `best` says which one was found for each of the `sizes`;
    `scores` has the BDeu score in nats of every graph (a row) at every size. `b_course` is the size
    that B-Course would take.
    """

    sizes: tuple[float, ...]
    best: tuple[int, ...]
    graphs: tuple[DAG, ...]
    scores: tuple[tuple[float, ...], ...]
    b_course: float

    @property
    def n_arcs(self) -> tuple[int, ...]:
        """The number of arcs of the best graph for each size."""
        return tuple(self.graphs[i].n_arcs for i in self.best)

    def __str__(self) -> str:
        """A line for each size."""
        lines = [
            f"equivalent sample size {size:g}: {arcs} arcs, graph {i + 1}, "
            f"bdeu {self.scores[i][place]:,.2f}"
            for place, (size, arcs, i) in enumerate(
                zip(self.sizes, self.n_arcs, self.best, strict=True)
            )
        ]
        n = len(self.graphs)
        said = f"{n} different graph{'s' * (n != 1)}; B-Course would take {self.b_course:.3g}"
        return "\n".join([*lines, said])


def sample_size_sensitivity(
    table: Table,
    sizes: Sequence[float] | None = None,
    *,
    progress: Progress | None = None,
    time_limit: float | None = None,
    **settings: Any,
) -> Sensitivity:
    """The best graph of a complete table for several equivalent sample sizes.

    `sizes` are `SIZES` and the one of B-Course unless given. `settings` are those of
    `unveil.search.learn` (`search`, `constraints`, `n_jobs`, ...). Graphs of one equivalence class
    are one: what differs are independences. `progress` listens; with a `time_limit` (seconds) the
    sizes that were reached are told.

    >>> from unveil import datasets
    >>> rows = datasets.network("asia").sample(500, seed=1)
    >>> found = sample_size_sensitivity(rows, [0.1, 100])
    >>> found.n_arcs[0] < found.n_arcs[1]
    True
    """
    b_course = b_course_sample_size(table.variables)
    wanted = sorted({*SIZES, round(b_course, 3)} if sizes is None else set(sizes))
    if not wanted:
        raise DataError("give at least one equivalent sample size")
    ticker = Ticker.of(progress, time_limit)
    done: list[float] = []
    graphs: list[DAG] = []
    best: list[int] = []
    classes: list[Any] = []
    for i, size in enumerate(wanted):
        part = ticker.part(f"equivalent sample size {size:g}", share=1 / (len(wanted) - i))
        found = learn(table, BDeu(size), progress=part, **settings).dag
        own = completed_pdag(found)
        if own not in classes:
            classes.append(own)
            graphs.append(found)
        best.append(classes.index(own))
        done.append(size)
        if not ticker.keep_going():
            break
    scores = [[FamilyScores(table, BDeu(size)).total(g) for size in done] for g in graphs]
    return Sensitivity(tuple(done), tuple(best), tuple(graphs), tuple(map(tuple, scores)), b_course)
