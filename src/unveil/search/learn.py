"""`learn`: from a complete table to a fitted network in one call."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any

from unveil.errors import DataError, Hint, ModelError, did_you_mean
from unveil.graph.dag import DAG
from unveil.model.fit import fit
from unveil.model.network import Network
from unveil.model.prior import DirichletPrior
from unveil.progress import Progress
from unveil.records import Record
from unveil.score.base import Score
from unveil.score.bdeu import BDeu
from unveil.score.families import FamilyScores
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

__all__ = ["SEARCHES", "Learned", "in_order", "learn"]


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
    **options: Any,
) -> Learned:
    """The network learned from a complete discrete table or another engine, structure first.

    `score` is BDeu with equivalent sample size 1 unless given; `search` is one of `SEARCHES`, and
    `options` go to it. Parameters are posterior means under `prior` (by default the one the score
    implies). The order of the columns does not matter: variables are searched in the order of
    their names.

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
    scores = FamilyScores(_in_order_of_names(data, names), chosen, structure_prior, n_jobs)
    given = {
        "start": start, "constraints": constraints, "seed": seed,
        "progress": progress, "time_limit": time_limit,
    }  # fmt: skip
    result = SEARCHES[search](
        scores, **{k: v for k, v in given.items() if v is not None}, **options
    )
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
