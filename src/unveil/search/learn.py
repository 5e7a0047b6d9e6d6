"""`learn`: from a complete table to a fitted network in one call."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any

from unveil.errors import DataError, Hint, ModelError, did_you_mean
from unveil.graph.dag import DAG
from unveil.model.fit import fit
from unveil.model.network import Network
from unveil.model.prior import DirichletPrior
from unveil.model.tree_cpd import TreeCPD
from unveil.progress import Progress, Ticker
from unveil.records import Record
from unveil.score.base import Score
from unveil.score.bdeu import BDeu
from unveil.score.families import FamilyScores
from unveil.score.local import LocalScores, local_kinds
from unveil.score.protocol import Families
from unveil.score.structure import StructurePrior
from unveil.search.annealing import simulated_annealing
from unveil.search.chow_liu import chow_liu
from unveil.search.combined import combined_search
from unveil.search.constraints import Constraints
from unveil.search.equivalence_search import equivalence_search
from unveil.search.exact import exact_search
from unveil.search.hill_climbing import hill_climbing
from unveil.search.result import SearchResult
from unveil.statistics.protocol import Statistics
from unveil.statistics.selected import SelectedStatistics
from unveil.table.core import Table

__all__ = ["SEARCHES", "Learned", "fit_local", "in_order", "learn"]


@dataclass(frozen=True)
class Learned(Record):
    """A learned network, how its graph was found, and the scores it was found with."""

    network: Network
    search: SearchResult
    scores: FamilyScores = field(repr=False)

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
    score: Score | None = None,
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
    **options: Any,
) -> Learned:
    """The network learned from a complete discrete table or another engine, structure first.

    `score` is BDeu with equivalent sample size 1 unless given; `search` is one of `SEARCHES`, and
    `options` go to it. Parameters are posterior means under `prior` (by default the one the score
    implies). The order of the columns does not matter: variables are searched in the order of
    their names. With another word for `local` than `table` (see `unveil.score.local.LOCAL`),
    families with local structure compete with plain tables, and the search begins at the best graph
    for plain tables (unless `start` says where).

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
    chosen = BDeu(1.0) if score is None else score
    names = [v.name for v in data.variables]
    ordered = _in_order_of_names(data, names)
    given = {
        "start": start, "constraints": constraints, "seed": seed,
        "progress": progress, "time_limit": time_limit,
    }  # fmt: skip
    given = {k: v for k, v in given.items() if v is not None}
    scores = FamilyScores(ordered, chosen, structure_prior, n_jobs)
    if local_kinds(local):
        compact = LocalScores(ordered, chosen, structure_prior, n_jobs, local)
        result = _two_searches(search, scores, compact, given, options)
        network = fit_local(in_order(result.dag, names), compact, prior)
        while network.dag.n_arcs < result.dag.n_arcs:  # parents that nothing depends on are gone
            result = replace(result, dag=network.dag, score=compact.total(network.dag))
            network = fit_local(network.dag, compact, prior)
        return Learned(network, replace(result, dag=network.dag), compact)
    result = SEARCHES[search](scores, **given, **options)
    dag = in_order(result.dag, names)
    network = fit(dag, scores.statistics, prior or chosen.prior)
    return Learned(network, replace(result, dag=dag), scores)


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
    "annealing": simulated_annealing,
}
"""Searches by the name `learn` and the command line know them under."""

STARTED = ("combined", "hill-climbing", "tabu", "annealing")
"""Searches that can begin at a graph."""
