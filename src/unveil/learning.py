"""`learn` and `fit`: from a table to a network in one call, with or without missing cells.

A complete table is counted; one with gaps goes through EM, structural EM if the graph is not known.
The answer is the same record either way.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from unveil.em.completion import complete_rows
from unveil.em.parametric import fit_em
from unveil.em.refit import refit
from unveil.em.structural import StructuralResult, structural_em
from unveil.errors import DataError, ModelError, UnveilWarning, did_you_mean
from unveil.graph.dag import DAG
from unveil.model.fit import fit as fit_complete
from unveil.model.network import Network
from unveil.model.prior import DirichletPrior, EquivalentSampleSize
from unveil.progress import Listener, Progress
from unveil.score import SCORES, BDeu
from unveil.score.base import Score
from unveil.score.families import FamilyScores
from unveil.score.structure import StructurePrior
from unveil.search.constraints import Constraints
from unveil.search.learn import SEARCHES, Learned
from unveil.search.learn import learn as learn_complete
from unveil.search.result import SearchResult
from unveil.statistics.protocol import Statistics
from unveil.table.core import Table
from unveil.table.door import Data, Weights, as_table, is_engine, ready_table
from unveil.table.options import Unknown
from unveil.table.prepare import prepare
from unveil.table.variable import Variable

__all__ = ["fit", "learn", "score_named"]

DEFAULT_SEARCH = "combined"
DEFAULT_SIZE = 1.0
"""The equivalent sample size of scores and priors when nothing is said."""


def learn(
    data: Data | Statistics,
    score: Score | str | None = None,
    search: str = DEFAULT_SEARCH,
    *,
    weights: Weights = None,
    drop: Sequence[str] | str = (),
    discretize: str | None = None,
    n_bins: int = 3,
    keep: Collection[str] = (),
    equivalent_sample_size: float | None = None,
    max_parents: int | None = None,
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
    """The network learned from a table: structure and parameters, gaps or none.

    `data` is a table, a pandas, polars or Arrow frame, a dict of columns, an array, the path of a
    file, or an engine of `unveil.statistics`. `weights` say how often each row counts, as a
    column's name or one number for every row; the columns of `drop` are left out, and so are
    identifiers and dates unless `keep` names them; continuous ones are cut by `discretize`
    (`equal_frequency`, `equal_width`, `kmeans`, `deviation`) into `n_bins` bins.

    `score` is BDeu unless given, as a score or by its name in `unveil.score.SCORES`;
    `equivalent_sample_size` is that of BDeu, 1 unless given. A complete table is searched by
    `search`, one of `unveil.search.SEARCHES` (see `unveil.search.learn`); one with missing cells by
    structural EM (`structural_em`), whose score is that of what was observed. `max_parents` and
    `constraints` limit the graph, `structure_prior` says which graphs are likely beforehand,
    `start` is where the search begins. `options` go to the one that does the work. Parameters are
    posterior means under `prior`, by default the one that the score implies.

    `seed` repeats a run, `progress` listens, `time_limit` (seconds) ends the work with the best so
    far, `n_jobs` is how many threads count (all cores if not given).

    `Learned.scores` are those of the rows; with gaps, of the rows as completed under the network.

    >>> from unveil import datasets
    >>> rows = datasets.network("asia").sample(1000, seed=1)
    >>> learn(rows).search.search, learn(rows.knock_out(0.1, seed=2), seed=1).search.search
    ('combined search', 'structural EM')
    >>> learn(rows.to_pandas(), "bic", max_parents=1).network.n_parameters
    14
    """
    if search not in SEARCHES:
        raise ModelError(
            f"there is no search {search!r}; choose one of {', '.join(SEARCHES)}."
            + did_you_mean(search, SEARCHES)
        )
    chosen = _chosen_score(score, equivalent_sample_size)
    table = data if is_engine(data) else ready_table(data, weights, drop, discretize, n_bins, keep)
    shared: dict[str, Any] = {
        "constraints": _limits(constraints, max_parents), "start": start, "prior": prior,
        "seed": seed, "progress": progress, "time_limit": time_limit, "n_jobs": n_jobs,
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


def fit(
    structure: DAG | Network,
    data: Data | Statistics,
    prior: DirichletPrior | None = None,
    *,
    weights: Weights = None,
    discretize: str | None = None,
    n_bins: int = 3,
    equivalent_sample_size: float | None = None,
    maximum_likelihood: bool = False,
    hidden: Mapping[str, int | Variable] | None = None,
    unknown: Unknown = "error",
    n_starts: int = 5,
    max_iterations: int = 500,
    tolerance: float = 1e-8,
    seed: int | None = None,
    progress: Progress | None = None,
    time_limit: float | None = None,
) -> Network:
    """The network over a known structure, with parameters from rows with or without gaps.

    `structure` is a graph, or a network, whose states are then kept; `unknown` says whether another
    label is an `error` or a `missing` cell. `data`, `weights`, `discretize` and `n_bins` are as in
    `learn`; columns outside the structure are ignored. Complete rows are counted (see
    `unveil.model.fit`). Missing cells, and variables that have no column (`hidden` says how many
    states they have, unless the structure is a network), are summed over by EM, from `n_starts`
    starts, the first at the parameters of a network. It ends after `max_iterations` or when it
    gains less than the part `tolerance` of its objective. `seed` repeats a run, `progress` listens,
    `time_limit` (seconds) ends it with the best so far. `fit_em` also tells how EM went.

    Parameters are posterior means (with gaps: MAP) under `prior`, by default an
    `equivalent_sample_size` of 1, as on the command line; `maximum_likelihood` takes none. That of
    Gaussian distributions is maximum likelihood in any case.

    >>> from unveil import datasets
    >>> asia = datasets.network("asia")
    >>> rows = asia.sample(500, seed=1)
    >>> fit(asia.dag, rows.to_pandas()).n_parameters
    18
    >>> fit(asia, rows.knock_out(0.1, seed=1), seed=1).names == asia.names
    True
    """
    prior = _chosen_prior(prior, equivalent_sample_size, maximum_likelihood)
    dag = structure.dag if isinstance(structure, Network) else structure
    if is_engine(data):
        return fit_complete(dag, data, prior)
    like = structure if isinstance(structure, Network) else None
    table = as_table(data, weights, like=like, unknown=unknown)
    if discretize is not None:
        table = prepare(table, discretize=discretize, n_bins=n_bins, keep=table.names).table
    unseen = [n for n in dag.nodes if n not in table]
    if not hidden and not unseen and table.select(dag.nodes).is_complete:
        return fit_complete(dag, table, prior)
    options: dict[str, Any] = {
        "n_starts": n_starts, "max_iterations": max_iterations, "tolerance": tolerance,
        "seed": seed, "progress": progress, "time_limit": time_limit,
    }  # fmt: skip
    if isinstance(structure, Network) and not hidden:
        inside = [n for n in dag.nodes if n in table]
        return refit(structure, table.select(inside), prior, unknown=unknown, **options).network
    return fit_em(structure, table, prior, hidden, **options).network


def score_named(name: str, equivalent_sample_size: float = 1.0) -> Score:
    """The score that `SCORES` has under this name; the size is for `bdeu` and ignored by others.

    >>> score_named("bdeu", 5.0), score_named("bic").name
    (BDeu(equivalent_sample_size=5.0), 'bic')
    """
    if name not in SCORES:
        raise DataError(
            f"there is no score {name!r}; choose one of {', '.join(SCORES)}."
            + did_you_mean(name, SCORES)
        )
    made: Score = BDeu(equivalent_sample_size) if name == "bdeu" else SCORES[name]()
    return made


def _chosen_score(score: Score | str | None, size: float | None) -> Score:
    if isinstance(score, str) or score is None:
        return score_named(score or "bdeu", DEFAULT_SIZE if size is None else size)
    if size is not None:
        raise DataError(
            f"equivalent_sample_size is for a score given by its name; {score!r} has its own"
        )
    return score


def _chosen_prior(
    prior: DirichletPrior | None, size: float | None, maximum_likelihood: bool
) -> DirichletPrior | None:
    """The one prior that was asked for: the usual one unless something else is said."""
    said = {
        "a prior": prior is not None,
        "an equivalent sample size": size is not None,
        "maximum likelihood": maximum_likelihood,
    }
    if sum(said.values()) > 1:
        both = " and ".join(words for words, given in said.items() if given)
        raise DataError(f"{both} exclude one another; give one of them")
    if prior is not None or maximum_likelihood:
        return prior
    return EquivalentSampleSize(DEFAULT_SIZE if size is None else size)


def _limits(constraints: Constraints | None, max_parents: int | None) -> Constraints | None:
    if max_parents is None:
        return constraints
    if constraints is not None and constraints.max_parents not in (None, max_parents):
        raise DataError(
            f"at most {max_parents} parents contradict the constraints, which say "
            f"{constraints.max_parents}; give it once"
        )
    return replace(constraints or Constraints(), max_parents=max_parents)


def _as_learned(found: StructuralResult, table: Table, score: Score, n_jobs: int | None) -> Learned:
    """What structural EM found, in the shape of an ordinary search's result."""
    completed = complete_rows(found.network, table, seed=found.seed)
    scores = FamilyScores(completed.select(sorted(completed.names)), score, n_jobs=n_jobs)
    result = SearchResult(
        found.dag, found.score, score.name, "structural EM", found.trace, found.stopped,
        found.seed, found.trace[-1].elapsed, scores.n_scored,
    )  # fmt: skip
    return Learned(found.network, result, scores)
