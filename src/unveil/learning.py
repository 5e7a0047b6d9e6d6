"""`learn` and `fit`: from a table to a network in one call, with or without missing cells.

A complete table is counted; one with gaps goes through EM, structural EM if the graph is not known.
The answer is the same record either way.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from unveil.anneal.choice import Annealing
from unveil.em.completion import complete_rows
from unveil.em.parametric import fit_em
from unveil.em.refit import refit
from unveil.em.structural import StructuralResult, structural_em
from unveil.engines.door import Memory, opened
from unveil.engines.installed import source_names
from unveil.engines.recognise import is_source
from unveil.engines.rows import PartedRows
from unveil.errors import DataError, Hint, ModelError, UnveilWarning, did_you_mean
from unveil.graph.dag import DAG
from unveil.ideal.learn import (
    learn_mixed_with_gaps,
    learn_numbers,
    learn_with_gaps,
    needs_ideal,
)
from unveil.model.curves import Curve
from unveil.model.fit import fit as fit_complete
from unveil.model.network import Network
from unveil.model.prior import DirichletPrior, EquivalentSampleSize
from unveil.progress import Listener, Progress
from unveil.score import GAUSSIAN_SCORES, SCORES, BDeu, BGe
from unveil.score.base import Score
from unveil.score.bdeu import b_course_sample_size
from unveil.score.families import FamilyScores
from unveil.score.gaussian import GaussianScore
from unveil.score.local import LocalScores, local_kinds
from unveil.score.structure import StructurePrior
from unveil.search.constraints import Constraints
from unveil.search.learn import SEARCHES, Learned, default_score
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
    score: Score | GaussianScore | str | None = None,
    search: str = DEFAULT_SEARCH,
    *,
    weights: Weights = None,
    drop: Sequence[str] | str = (),
    discretize: str | None = None,
    n_bins: int = 3,
    keep: Collection[str] = (),
    equivalent_sample_size: float | Literal["b-course"] | None = None,
    max_parents: int | None = None,
    constraints: Constraints | None = None,
    structure_prior: StructurePrior | None = None,
    start: DAG | None = None,
    prior: DirichletPrior | None = None,
    family: str | Curve | None = None,
    ideal: int | None = None,
    seed: int | None = None,
    progress: Listener | None = None,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    local: str = "table",
    anneal: Annealing | str | None = None,
    memory: Memory = None,
    engine: str | None = None,
    **options: Any,
) -> Learned:
    """The network learned from a table: structure and parameters, gaps or none.

    `data` is a table, a pandas, polars or Arrow frame, a dict of columns, an array, the path of a
    file, an engine of `unveil.statistics`, or rows that are read in pieces: a folder of Parquet, a
    DuckDB file or relation, a pyarrow dataset, a Dask data frame (see `unveil.open_rows`, also for
    `memory`, a ceiling such as `"2GiB"`, and `engine`). `weights` say how often each row counts, as
    a column's name or one number for every row; the columns of `drop` are left out, and so are
    identifiers and dates unless `keep` names them. Continuous columns get linear Gaussian
    distributions, unless they are cut by `discretize` (`equal_frequency`, `equal_width`, `kmeans`,
    `deviation`) into `n_bins` bins; columns of one value and exact linear functions of others are
    left out with a warning.

    `score` is BDeu unless given, BIC where columns are continuous, or MDL if there are fewer than
    five rows for each column then: a score or its name in `unveil.score.SCORES` or, for continuous
    columns, `unveil.score.GAUSSIAN_SCORES`.
    `equivalent_sample_size` is that of BDeu or BGe, 1 unless given; `b-course` is
    half the mean number of states, as B-Course takes it. A complete table is searched by
    `search`, one of `unveil.search.SEARCHES` (see `unveil.search.learn`); one with missing cells by
    structural EM (`structural_em`), whose score is that of what was observed. `max_parents` and
    `constraints` limit the graph, `structure_prior` says which graphs are likely beforehand,
    `start` is where the search begins. `options` go to the one that does the work. Parameters are
    posterior means under `prior`, by default the one that the score implies.

    `local` is what families may be made of: plain tables (`table`), or also trees of contexts
    (`tree`), default tables (`default`), `noisy-or`, or whichever of these scores best (`auto`);
    plain tables always compete.

    `family` says how continuous columns depend on their parents: `linear` unless given, or a curve
    of `unveil.model.curves.FAMILIES`, such as `sigmoid`. With `ideal`, only so many additions per
    family are scored, those most like the ideal parent (`unveil.ideal`): quicker where every score
    is a fit.

    `anneal="adversary"` or `"random"` (or an `unveil.anneal.Annealing`) then gets the search, or
    structural EM, out of its local maximum by reweighting the rows; the score never falls by it.
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
    ready: dict[str, Any] = {
        "drop": drop, "discretize": discretize, "n_bins": n_bins, "keep": keep,
    }  # fmt: skip
    table = opened(data, weights, memory, engine, n_jobs=n_jobs, **ready)
    if table is data and not is_engine(table):
        table = ready_table(data, weights, numbers=True, **ready)
    if equivalent_sample_size == "b-course":
        equivalent_sample_size = b_course_sample_size(table.variables)
    chosen = _chosen_score(score, equivalent_sample_size, table)
    shared: dict[str, Any] = {
        "constraints": _limits(constraints, max_parents), "start": start, "prior": prior,
        "seed": seed, "progress": progress, "time_limit": time_limit, "n_jobs": n_jobs,
        "anneal": anneal,
    }  # fmt: skip
    if isinstance(table, PartedRows) and (table.fits() or anneal is not None):
        table = table.as_table()
    if needs_ideal(family, ideal) and not isinstance(table, Table):
        raise DataError("curves and ideal parents need the rows of a table, not an engine")
    if isinstance(table, Table) and not any(v.is_discrete for v in table.variables):
        if anneal is not None:
            raise DataError("weights are annealed for discrete columns only; leave anneal out")
        if needs_ideal(family, ideal) and (table.is_complete or family not in (None, "linear")):
            return learn_numbers(
                table, chosen, search, family, ideal, structure_prior=structure_prior,
                **_known(shared, "prior", "n_jobs", "anneal"), **options,
            )  # fmt: skip
        if not table.is_complete and structure_prior is None and search == DEFAULT_SEARCH:
            return learn_with_gaps(
                table, chosen, ideal, **_known(shared, "prior", "n_jobs", "anneal")
            )
    elif needs_ideal(family, ideal):
        raise DataError(
            "family and ideal are for tables whose columns are all continuous; leave discrete "
            "columns out, or learn without them"
        )
    if not isinstance(table, Table | PartedRows) or table.is_complete:
        return learn_complete(
            table, chosen, search, structure_prior=structure_prior, local=local, **shared, **options
        )
    if search != DEFAULT_SEARCH:
        warnings.warn(
            UnveilWarning(
                f"{table.n_missing:,} cells are missing: structural EM has a search of its own, "
                f"{search!r} is not used"
            ),
            stacklevel=2,
        )
    if not all(v.is_discrete for v in table.variables):
        if anneal is not None or local_kinds(local):
            raise DataError(
                "annealing and local structure are for discrete columns only; leave them out"
            )
        if isinstance(table, PartedRows):
            raise DataError(
                f"{table.n_missing:,} cells are missing among columns of both kinds, and the rows "
                "are read in parts; leave those rows out, or cut continuous columns with",
                hint=Hint("discretize=.", "--discretize.", "the choice for numbers on this page."),
            )
        return learn_mixed_with_gaps(
            table, chosen, structure_prior=structure_prior, **_known(shared, "n_jobs", "anneal")
        )
    found = structural_em(
        table, score=chosen, structure_prior=structure_prior, local=local, **shared, **options
    )
    return _as_learned(found, table, chosen, structure_prior, n_jobs, local)


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
    anneal: Annealing | str | None = None,
    accelerate: bool = False,
    memory: Memory = None,
    engine: str | None = None,
) -> Network:
    """The network over a known structure, with parameters from rows with or without gaps.

    `structure` is a graph, or a network, whose states and compact distributions are then kept;
    `unknown` says whether another label is an `error` or a `missing` cell. `data`, `weights`,
    `discretize`, `n_bins`, `memory` and `engine` are as in `learn`; columns outside the structure
    are ignored. Complete rows are counted (see `unveil.model.fit`). Missing cells, and variables
    that have no column (`hidden` says how many states they have, unless the structure is a
    network), are summed over by EM, from `n_starts` starts, the first at the parameters of a
    network. It ends after `max_iterations` or when it gains less than the part `tolerance` of its
    objective. `anneal` ("adversary" or "random") then gets it out of its local maximum by annealing
    the weights of the rows, `accelerate` makes its steps longer. `seed` repeats a run, `progress`
    listens, `time_limit` (seconds) ends it with the best so far. `fit_em` also tells how EM went.

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
    like = structure if isinstance(structure, Network) else None
    table: Any = data
    if is_source(data, memory, engine):
        names = set(source_names(data, engine))
        table = opened(
            data, weights, memory, engine, like=like, unknown=unknown, discretize=discretize,
            n_bins=n_bins, keep=dag.nodes, columns=[n for n in dag.nodes if n in names] or None,
        )  # fmt: skip
    elif is_engine(data) and not isinstance(data, PartedRows):
        return fit_complete(structure, data, prior)
    elif not isinstance(data, PartedRows):
        opened(data, weights, memory, engine)
        table = as_table(data, weights, like=like, unknown=unknown)
        if discretize is not None:
            table = prepare(table, discretize=discretize, n_bins=n_bins, keep=table.names).table
    if isinstance(table, PartedRows) and table.fits():
        table = table.as_table()
    unseen = [n for n in dag.nodes if n not in table]
    if not hidden and not unseen and table.select(list(dag.nodes)).is_complete:
        return fit_complete(structure, table, prior)
    options: dict[str, Any] = {
        "n_starts": n_starts, "max_iterations": max_iterations, "tolerance": tolerance,
        "seed": seed, "progress": progress, "time_limit": time_limit,
        "anneal": anneal, "accelerate": accelerate,
    }  # fmt: skip
    if isinstance(structure, Network) and not hidden:
        inside = [n for n in dag.nodes if n in table]
        return refit(structure, table.select(inside), prior, unknown=unknown, **options).network
    return fit_em(structure, table, prior, hidden, **options).network


def score_named(name: str, equivalent_sample_size: float = 1.0) -> Any:
    """The score of this name in `SCORES` or `GAUSSIAN_SCORES`.

    The size is that of `bdeu` and `bge`, and ignored by others.

    >>> score_named("bdeu", 5.0), score_named("bic").name
    (BDeu(equivalent_sample_size=5.0), 'bic')
    """
    known = SCORES | GAUSSIAN_SCORES
    if name not in known:
        raise DataError(
            f"there is no score {name!r}; choose one of {', '.join(known)}."
            + did_you_mean(name, known)
        )
    sized: dict[str, Any] = {"bdeu": BDeu, "bge": BGe}
    return sized[name](equivalent_sample_size) if name in sized else known[name]()


def _known(options: dict[str, Any], *without: str) -> dict[str, Any]:
    return {k: v for k, v in options.items() if k not in without}


def _chosen_score(
    score: Score | GaussianScore | str | None, size: float | None, data: Table | Statistics
) -> Any:
    if isinstance(score, str) or score is None:
        name = score or default_score(data).name
        return score_named(name, DEFAULT_SIZE if size is None else size)
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


def _as_learned(
    found: StructuralResult,
    table: Table | PartedRows,
    score: Score,
    structure_prior: StructurePrior | None,
    n_jobs: int | None,
    local: str,
) -> Learned:
    """What structural EM found, in the shape of an ordinary search's result."""
    completed = complete_rows(found.network, table, seed=found.seed)
    ordered = completed.select(sorted(completed.names))
    scores = FamilyScores(ordered, score, structure_prior, n_jobs=n_jobs)
    if local_kinds(local):
        scores = LocalScores(ordered, score, structure_prior, n_jobs, local)
    result = SearchResult(
        found.dag, found.score, score.name, "structural EM", found.trace, found.stopped,
        found.seed, found.trace[-1].elapsed, scores.n_scored, found.annealed,
    )  # fmt: skip
    return Learned(found.network, result, scores)
