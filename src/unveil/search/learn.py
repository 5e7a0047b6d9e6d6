"""`learn`: from a complete table to a fitted network in one call.

Discrete columns get tables, continuous ones linear Gaussians; see `unveil.score.families_for`.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any

from unveil.anneal.choice import Annealing, annealing_named
from unveil.errors import DataError, Hint, ModelError, UnveilWarning, did_you_mean
from unveil.graph.dag import DAG
from unveil.model.fit import fit
from unveil.model.gaussian_cpd import GaussianPrior
from unveil.model.mixed_prior import MixedPrior
from unveil.model.network import Network
from unveil.model.prior import DirichletPrior, EquivalentSampleSize
from unveil.model.tree_cpd import TreeCPD
from unveil.progress import Progress, Ticker
from unveil.records import Record
from unveil.score.base import Score
from unveil.score.bdeu import BDeu
from unveil.score.bic import BIC
from unveil.score.choose import AnyFamilies, families_for
from unveil.score.families import FamilyScores
from unveil.score.gaussian import GaussianScore
from unveil.score.local import LocalScores, local_kinds
from unveil.score.mdl import MDL
from unveil.score.mixed_families import BORROWED
from unveil.score.protocol import Families
from unveil.score.structure import StructurePrior
from unveil.search.annealed import ANNEALINGS, annealed_search
from unveil.search.annealing import simulated_annealing
from unveil.search.chow_liu import chow_liu
from unveil.search.combined import combined_search
from unveil.search.constraints import Constraints
from unveil.search.equivalence_search import equivalence_search
from unveil.search.exact import exact_search
from unveil.search.hill_climbing import hill_climbing
from unveil.search.order_search import order_search
from unveil.search.result import SearchResult
from unveil.statistics.memory import as_statistics
from unveil.statistics.protocol import Statistics
from unveil.statistics.redundant import redundant_columns
from unveil.statistics.remembered_moments import RememberedMoments
from unveil.statistics.selected import SelectedStatistics
from unveil.table.core import Table

__all__ = ["SEARCHES", "Learned", "default_score", "fit_local", "in_order", "learn"]


@dataclass(frozen=True)
class Learned(Record):
    """A learned network, how its graph was found, and the scores it was found with."""

    network: Network
    search: SearchResult
    scores: AnyFamilies = field(repr=False)

    @property
    def dag(self) -> DAG:
        """The graph."""
        return self.network.dag

    @property
    def score(self) -> float:
        """The score of the graph, in nats."""
        return self.search.score

    def __str__(self) -> str:
        return f"{self.network!r} by {self.search}"


def learn(
    data: Table | Statistics,
    score: Score | GaussianScore | None = None,
    search: str = "combined",
    *,
    constraints: Constraints | None = None,
    structure_prior: StructurePrior | None = None,
    start: DAG | None = None,
    prior: DirichletPrior | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    local: str = "table",
    anneal: Annealing | str | None = None,
    **options: Any,
) -> Learned:
    """The network learned from a complete table or another engine, structure first.

    `score` is BDeu with equivalent sample size 1 unless given, where columns are continuous BIC, or
    MDL if there are few rows (`default_score`);
    `search` is one of `SEARCHES`, and `options` go to it. Parameters of tables are posterior means
    under `prior` (by default the one the score implies), those of linear Gaussians least squares.
    The order of the columns does not matter: variables are searched in the order of their names.
    Continuous columns of one value, and exact linear functions of others, are left out with a
    warning. With another word for `local` than `table` (see
    `unveil.score.local.LOCAL`), families with local structure compete with plain tables, and the
    search begins at the best graph for plain tables (unless `start` says where). With `anneal`
    ("adversary", "random" or an `Annealing`) the search goes on from where it ends while the
    weights of the rows are annealed (thesis Ch. 3), for some tens of times the work.

    >>> from unveil import datasets
    >>> learned = learn(datasets.network("asia").sample(5000, seed=1))
    >>> learned.dag.has_arc("lung", "either") or learned.dag.has_arc("either", "lung")
    True
    """
    if search not in SEARCHES:
        raise ModelError(
            f"there is no search {search!r}; choose one of {', '.join(SEARCHES)}."
            + did_you_mean(search, SEARCHES)
        )
    _check_options(search, options)
    names = [v.name for v in data.variables]
    numbers = not all(v.is_discrete for v in data.variables)
    chosen = default_score(data) if score is None else score
    rows = _in_order_of_names(data, names)
    rows = _without_redundant(rows, n_jobs) if numbers else rows
    scores = families_for(rows, chosen, structure_prior, n_jobs)
    given: dict[str, Any] = {
        "start": start, "constraints": constraints, "seed": seed,
        "progress": progress, "time_limit": time_limit,
    }  # fmt: skip
    given = {k: v for k, v in given.items() if v is not None}
    if local_kinds(local):
        if not isinstance(scores, FamilyScores):
            raise DataError(
                f"local structure ({local}) is for tables of discrete columns; leave it out, or "
                "make the continuous columns discrete"
            )
        if anneal is not None:
            raise DataError("weights are annealed around plain tables; leave local or anneal out")
        compact = LocalScores(rows, scores.score, structure_prior, n_jobs, local)
        result = _two_searches(search, scores, compact, given, options)
        network = fit_local(in_order(result.dag, names), compact, prior)
        while network.dag.n_arcs < result.dag.n_arcs:  # parents that nothing depends on are gone
            result = replace(result, dag=network.dag, score=compact.total(network.dag))
            network = fit_local(network.dag, compact, prior)
        return Learned(network, replace(result, dag=network.dag), compact)
    annealing = annealing_named(anneal, ANNEALINGS)
    if annealing is None:
        result = SEARCHES[search](scores, **given, **options)
    elif search in WITHOUT_START or not isinstance(scores, FamilyScores):
        what = f"{search!r} does not" if search in WITHOUT_START else "and of discrete columns"
        raise ModelError(
            f"the weights of rows can be annealed around a search that starts from a graph, {what}."
            " Leave anneal out, or take another search."
        )
    else:
        result = annealed_search(SEARCHES[search], scores, annealing, **given, **options)
    dag = in_order(result.dag, [name for name in names if name in scores.names])
    believed: Any = prior or getattr(chosen, "prior", None)
    if numbers:
        believed = MixedPrior(believed or EquivalentSampleSize(1), GaussianPrior(borrowed=BORROWED))
    counted = scores.statistics if isinstance(scores, FamilyScores) else rows
    network = fit(dag, counted, believed)
    return Learned(network, replace(result, dag=dag), scores)


def default_score(data: Table | Statistics) -> Score:
    """BDeu with one imagined row for discrete columns; where some are continuous, BIC, or MDL if
    there are fewer than `FEW` rows for each column.

    BIC does not ask among how many graphs a graph was chosen. With few rows for many columns the
    best of them has many arcs that are luck; MDL, which pays log n for every parent, predicts rows
    left out better then (docs/continuous.md).
    """
    if all(v.is_discrete for v in data.variables):
        return BDeu(1.0)
    return MDL() if data.total_weight < FEW * len(data.variables) else BIC()


FEW = 5
"""Rows for each column, below which continuous tables are scored by MDL unless told otherwise."""


def _check_options(search: str, options: Mapping[str, Any]) -> None:
    """Refuse options that the search does not have."""
    _, *known = inspect.signature(SEARCHES[search]).parameters
    for option in options:
        if option not in known:
            raise DataError(
                f"the search {search!r} has no option {option!r}; it has {', '.join(known)}."
                + did_you_mean(option, known)
            )


def _two_searches(
    search: str,
    plain: FamilyScores,
    compact: LocalScores,
    given: dict[str, Any],
    options: dict[str, Any],
) -> SearchResult:
    """The search over families with local structure, begun where the one over tables ended."""
    ticker = Ticker.of(given.pop("progress", None), given.pop("time_limit", None))
    given["progress"] = ticker
    if "start" not in given and search in STARTED:
        first = SEARCHES[search](
            plain, **{**given, "progress": ticker.part("plain tables", share=0.5)}, **options
        )
        given["start"] = first.dag
    found = SEARCHES[search](compact, **given, **options)
    return replace(found, elapsed=ticker.elapsed)


def fit_local(
    dag: DAG,
    scores: LocalScores,
    prior: DirichletPrior | None = None,
    keep: Collection[str] = (),
) -> Network:
    """The network over `dag` with the best local structure in every family.

    Parents that a tree never asks for are left out of the graph, unless they are among those to
    `keep`: nothing depends on them.
    """
    place = {name: i for i, name in enumerate(scores.names)}
    cpds = []
    for name in dag.nodes:
        cpd = scores.family_of(place[name], [place[p] for p in dag.parents(name)], prior).cpd
        if isinstance(cpd, TreeCPD) and len(cpd.used) < len(cpd.parents):
            cpd = cpd.with_parents([p for p in cpd.parents if p in cpd.used or p.name in keep])
        cpds.append(cpd)
    return Network(cpds)


def in_order(dag: DAG, names: Sequence[str]) -> DAG:
    """The same graph with nodes and parents in the order of `names`."""
    place = {name: i for i, name in enumerate(names)}
    return DAG.from_parents({n: sorted(dag.parents(n), key=place.__getitem__) for n in names})


def _in_order_of_names(data: Table | Statistics, names: Sequence[str]) -> Table | Statistics:
    order = sorted(names)
    if isinstance(data, Table):
        return data.select(order)
    return SelectedStatistics(data, [names.index(name) for name in order])


def _without_redundant(data: Table | Statistics, n_jobs: int | None) -> Statistics:
    """The engine without continuous columns that say nothing of their own; each is told."""
    engine = RememberedMoments(as_statistics(data, n_jobs))
    if engine.total_weight <= 0:
        raise DataError("there are no rows to learn from, or all of them have the weight 0")
    names = [engine.variables[i].name for i in engine.continuous]
    found = redundant_columns(names, engine.all_moments().at(()))
    if not found:
        return engine
    if len(found) == len(engine.variables):
        raise DataError(
            "no column varies, so there is nothing to learn: "
            + "; ".join(str(redundant) for redundant in found[:3])
        )
    for redundant in found:
        warnings.warn(
            UnveilWarning(
                f"{redundant}; it is left out"
                + (f" (without {redundant.of[0]!r} it would stay)" if redundant.of else "")
            ),
            stacklevel=4,
        )
    away = {redundant.name for redundant in found}
    kept = [i for i, v in enumerate(engine.variables) if v.name not in away]
    if isinstance(data, Table):
        return RememberedMoments(
            as_statistics(data.select([engine.variables[i].name for i in kept]), n_jobs)
        )
    return RememberedMoments(SelectedStatistics(data, kept))


def _without(name: str, function: Callable[..., SearchResult], *unused: str) -> Any:
    """The search, refusing options it cannot honour instead of ignoring them."""

    @wraps(function)
    def search(scores: Families, **options: Any) -> SearchResult:
        for option in unused:
            if option in options and option != "seed":
                raise DataError(f"{name} search cannot take the option {option!r}")
            options.pop(option, None)
        return function(scores, **options)

    return search


@wraps(equivalence_search)
def _equivalence(scores: Families, **options: Any) -> SearchResult:
    constraints = options.pop("constraints", None) or Constraints()
    if not constraints.only_max_parents:
        raise ModelError(
            "equivalence search knows no limit but max_parents; with other constraints take",
            hint=Hint("search='combined' or 'hill-climbing'", "--search combined or hill-climbing"),
        )
    return equivalence_search(scores, max_parents=constraints.max_parents, **options)


@wraps(hill_climbing)
def _tabu(scores: Families, **options: Any) -> SearchResult:
    return hill_climbing(scores, **{"tabu": 20, **options})


SEARCHES: dict[str, Callable[..., SearchResult]] = {
    "combined": combined_search,
    "hill-climbing": hill_climbing,
    "tabu": _tabu,
    "equivalence": _without("equivalence", _equivalence, "seed"),
    "exact": _without("exact", exact_search, "seed", "start"),
    "chow-liu": _without("Chow-Liu", chow_liu, "seed", "start", "constraints", "time_limit"),
    "order": order_search,
    "annealing": simulated_annealing,
}
"""Searches by the name `learn` and the command line know them under."""

STARTED = ("combined", "hill-climbing", "tabu", "annealing")
"""Searches that can begin at a graph."""
WITHOUT_START = ("exact", "chow-liu")
"""Those that begin nowhere, and have no local maxima to get out of."""
