"""`learn`: from a table to a network in one call, with or without missing cells.

A complete table is counted and searched; one with gaps goes through structural EM. The answer is
the same record either way.
"""

from __future__ import annotations

import warnings
from typing import Any

from unveil.em.completion import complete_rows
from unveil.em.structural import StructuralResult, structural_em
from unveil.errors import DataError, ModelError, UnveilWarning
from unveil.graph.dag import DAG
from unveil.model.prior import DirichletPrior
from unveil.progress import Listener
from unveil.score import SCORES, BDeu
from unveil.score.base import Score
from unveil.score.families import FamilyScores
from unveil.score.structure import StructurePrior
from unveil.search.constraints import Constraints
from unveil.search.learn import SEARCHES, Learned
from unveil.search.learn import learn as learn_complete
from unveil.search.result import SearchResult
from unveil.table.core import Table

__all__ = ["learn", "score_named"]

DEFAULT_SEARCH = "combined"


def learn(
    table: Table,
    score: Score | str | None = None,
    search: str = DEFAULT_SEARCH,
    *,
    constraints: Constraints | None = None,
    structure_prior: StructurePrior | None = None,
    start: DAG | None = None,
    prior: DirichletPrior | None = None,
    seed: int | None = None,
    progress: Listener | None = None,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    **options: Any,
) -> Learned:
    """The network learned from a discrete table: structure and parameters, gaps or none.

    `score` is BDeu with equivalent sample size 1 unless given, as a score or by its name in
    `unveil.score.SCORES`. A complete table is searched by `search`, one of `unveil.search.SEARCHES`
    (see `unveil.search.learn`); one with missing cells by structural EM (`structural_em`), whose
    score is that of what was observed. `options` go to the one that does the work. Parameters are
    posterior means under `prior`, by default the one that the score implies.

    `Learned.scores` are those of the rows; with gaps, of the rows as completed under the network.

    >>> from unveil import datasets
    >>> rows = datasets.network("asia").sample(1000, seed=1)
    >>> learn(rows).search.search, learn(rows.knock_out(0.1, seed=2), seed=1).search.search
    ('combined search', 'structural EM')
    """
    if search not in SEARCHES:
        raise ModelError(f"there is no search {search!r}; choose one of {', '.join(SEARCHES)}")
    chosen = score_named(score) if isinstance(score, str) else score or BDeu(1.0)
    shared: dict[str, Any] = {
        "constraints": constraints, "start": start, "prior": prior, "seed": seed,
        "progress": progress, "time_limit": time_limit, "n_jobs": n_jobs,
    }  # fmt: skip
    if not isinstance(table, Table) or table.is_complete:
        return learn_complete(
            table, chosen, search, structure_prior=structure_prior, **shared, **options
        )
    if structure_prior is not None:
        raise DataError(
            "structural EM knows no structure prior, and the table has missing cells; leave "
            "structure_prior out or fill the cells in"
        )
    if search != DEFAULT_SEARCH:
        warnings.warn(
            UnveilWarning(
                f"{table.n_missing:,} cells are missing: structural EM has a search of its own, "
                f"{search!r} is not used"
            ),
            stacklevel=2,
        )
    found = structural_em(table, score=chosen, **shared, **options)
    return _as_learned(found, table, chosen, n_jobs)


def score_named(name: str, equivalent_sample_size: float = 1.0) -> Score:
    """The score that `SCORES` has under this name; the size is for `bdeu` and ignored by others.

    >>> score_named("bdeu", 5.0), score_named("bic").name
    (BDeu(equivalent_sample_size=5.0), 'bic')
    """
    if name not in SCORES:
        raise DataError(f"there is no score {name!r}; choose one of {', '.join(SCORES)}")
    made: Score = BDeu(equivalent_sample_size) if name == "bdeu" else SCORES[name]()
    return made


def _as_learned(found: StructuralResult, table: Table, score: Score, n_jobs: int | None) -> Learned:
    """What structural EM found, in the shape of an ordinary search's result."""
    completed = complete_rows(found.network, table, seed=found.seed)
    scores = FamilyScores(completed.select(sorted(completed.names)), score, n_jobs=n_jobs)
    result = SearchResult(
        found.dag, found.score, score.name, "structural EM", found.trace, found.stopped,
        found.seed, found.trace[-1].elapsed, scores.n_scored,
    )  # fmt: skip
    return Learned(found.network, result, scores)
