"""`mixture_of_networks`: a hidden class whose states have a structure each, by EM and search.

With at most one parent per column it is the mixture of trees of Meila and Jordan (2000), else one
of Bayesian networks (Thiesson, Meek, Chickering and Heckerman 1998): rows are shared out among the
components by their posteriors, each component is learned from its share, and so on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Unpack

import numpy as np
import numpy.typing as npt

from unveil.em.steps import log_prior
from unveil.errors import DataError, Hint
from unveil.graph.dag import DAG
from unveil.model.flat import FlatTables
from unveil.model.network import Network
from unveil.model.prior import DirichletPrior, EquivalentSampleSize
from unveil.progress import StopReason, Ticker
from unveil.records import Record
from unveil.score.bdeu import BDeu
from unveil.score.families import FamilyScores
from unveil.search.chow_liu import chow_liu
from unveil.search.constraints import Constraints
from unveil.search.hill_climbing import hill_climbing
from unveil.table.core import Table
from unveil.table.door import Data
from unveil.trees.call import naive_bayes
from unveil.trees.door import Work, checked_states
from unveil.trees.fit import TreeSettings, random_network
from unveil.trees.mixture import NetworkMixture
from unveil.trees.options import TreeOptions, checked_options, takes_options

__all__ = ["NetworksFound", "mixture_of_networks"]

Matrix = npt.NDArray[np.float64]
Vector = npt.NDArray[np.float64]
STEPS = 10
"""So many steps of EM with the same structures between two searches."""


@dataclass(frozen=True)
class NetworksFound(Record):
    """The mixture, how well it fits, and its course: one figure for every structure tried.

    `trace` is the log-likelihood plus the log prior after each round of search and EM;
    `validation` the mean log-probability of a row kept for validation, if there were any.
    """

    told: ClassVar = ("n_parameters",)

    mixture: NetworkMixture = field(repr=False)
    log_likelihood: float
    validation: float | None
    trace: tuple[float, ...]
    stopped: StopReason
    seed: int

    @property
    def n_parameters(self) -> int:
        """The number of free parameters."""
        return self.mixture.n_parameters

    def __str__(self) -> str:
        judged = "" if self.validation is None else f", {self.validation:,.4f} a row of validation"
        return (
            f"{self.mixture}, log-likelihood {self.log_likelihood:,.2f} nats{judged}, after "
            f"{len(self.trace)} rounds ({self.stopped})"
        )


@takes_options
def mixture_of_networks(
    data: Data,
    n_components: int = 2,
    *,
    max_parents: int | None = 5,
    rounds: int = 10,
    **how: Unpack[TreeOptions],
) -> NetworksFound:
    """A mixture whose components have a structure of their own, each learned from its share.

    It starts from latent classes; then each component's structure is searched for (by BDeu; with
    `max_parents=1` the best tree) over the rows weighted by their posteriors, EM re-estimates
    shares and tables, and so on, at most `rounds` times, until the objective or the prediction of
    rows for `validation` gets no better. The table has to be complete. For the rest see
    `hidden_chow_liu`; it has one start.

    >>> from unveil import datasets
    >>> found = mixture_of_networks(datasets.table("college_plans"), 2, rounds=2, seed=1)
    >>> len(found.mixture.components), len(found.mixture.columns)
    (2, 5)
    """
    work, settings = checked_options(data, **how)
    checked_states(n_components, work.table, "components")
    if rounds < 1:
        raise DataError(f"rounds is a whole number from 1, got {rounds}")
    if not work.table.is_complete:
        raise DataError(
            f"{work.table.n_missing:,} cells are missing, and structures are searched for in "
            "complete tables only; fill them in, leave those rows out, or take a model that sums "
            "over them, such as",
            hint=Hint("hidden_chow_liu", "--model hidden-chow-liu"),
        )
    table = work.table.folded()
    classes = naive_bayes(
        table, n_components, seed=work.seed, prior=work.prior, max_iterations=50, epochs=0,
        progress=work.ticker.part("classes", share=0.3), n_starts=settings.n_starts,
        tolerance=1e-5, validation=work.validation,
    )  # fmt: skip
    (root,) = classes.hidden
    posterior = classes.network.posterior(table, of=root)[root]
    return _rounds(_Task(table, work, settings, max_parents), posterior, rounds)


@dataclass(frozen=True)
class _Task:
    table: Table
    work: Work
    settings: TreeSettings
    max_parents: int | None

    @property
    def prior(self) -> DirichletPrior:
        return self.work.prior or EquivalentSampleSize(1.0)

    @property
    def score(self) -> BDeu:
        size = self.prior.size if isinstance(self.prior, EquivalentSampleSize) else 1.0
        return BDeu(size)


def _rounds(task: _Task, posterior: Matrix, rounds: int) -> NetworksFound:
    """Search and EM in turn; the best so far is what counts."""
    ticker = task.work.ticker
    graphs: list[DAG | None] = [None] * posterior.shape[1]
    best: tuple[float, NetworkMixture, float, float | None] | None = None
    trace: list[float] = []
    stopped: StopReason = "iteration cap"
    for r in range(rounds):
        found = [
            _structure(task, posterior[:, c], graph, ticker.part(f"round {r + 1}"))
            for c, graph in enumerate(graphs)
        ]
        same = found == graphs
        graphs = list(found)
        mixture, posterior, objective, likelihood = _em(task, found, posterior)
        trace.append(objective)
        validation = None
        if task.work.validation is not None:
            kept = task.work.validation
            validation = mixture.log_likelihood(kept) / kept.total_weight
        worth = objective if validation is None else validation
        ticker.offer("mixture of networks", r + 1, objective)
        better = best is None or worth > best[0] + 1e-6 * abs(best[0])
        if best is None or worth > best[0]:
            best = worth, mixture, likelihood, validation
        if same or not better:
            stopped = "converged" if validation is None or same else "stalled"
            break
        if not ticker.keep_going():
            break
    assert best is not None
    _, mixture, likelihood, validation = best
    return NetworksFound(
        mixture, likelihood, validation, tuple(trace), ticker.reason or stopped, task.work.seed
    )


def _structure(task: _Task, posterior: Vector, before: DAG | None, ticker: Ticker) -> DAG:
    """The best graph found for the rows weighted by their posterior."""
    weights = task.table.row_weights * posterior
    rows = task.table.with_weights(weights)
    heavy = weights > 1e-9 * weights.max()
    scores = FamilyScores(rows.take(heavy) if not heavy.all() else rows, task.score)
    if task.max_parents == 1:
        return chow_liu(scores).dag
    limits = Constraints(max_parents=task.max_parents)
    start = before if before is not None else chow_liu(scores).dag
    return hill_climbing(scores, constraints=limits, start=start, progress=ticker).dag


def _em(
    task: _Task, graphs: Sequence[DAG], posterior: Matrix
) -> tuple[NetworkMixture, Matrix, float, float]:
    """Steps of EM with these graphs: shares and tables in turn with posteriors."""
    table, prior = task.table, task.prior
    components = [_Component(graph, table, prior) for graph in graphs]
    weights = table.row_weights
    objective = likelihood = -np.inf
    for _ in range(STEPS):
        mass = posterior * weights[:, None]
        shares = (mass.sum(axis=0) + 1.0 / len(graphs)) / (weights.sum() + 1.0)
        for component, own in zip(components, mass.T, strict=True):
            component.fit(np.ascontiguousarray(own))
        joint = np.column_stack([c.log_probabilities() for c in components]) + np.log(shares)
        total = np.logaddexp.reduce(joint, axis=1)
        posterior = np.exp(joint - total[:, None])
        likelihood = float(total @ weights)
        before, objective = objective, likelihood + sum(c.log_prior() for c in components)
        objective += float(np.log(shares).mean())
        if objective - before <= task.settings.tolerance * (1 + abs(objective)):
            break
    networks = tuple(c.network for c in components)
    mixture = NetworkMixture(tuple((shares / shares.sum()).tolist()), networks)
    return mixture, posterior, objective, likelihood


class _Component:
    """A graph with tables, over the rows of one table."""

    def __init__(self, graph: DAG, table: Table, prior: DirichletPrior) -> None:
        variables = {v.name: v for v in table.variables}
        self._layout = FlatTables(random_network(graph, variables, table, np.random.default_rng(0)))
        wide = np.result_type(*[table.column(n).dtype for n in graph.nodes])
        self._codes = np.array([table.column(n).astype(wide) for n in self._layout.names])
        self._prior, self._alpha = prior, self._layout.pack_prior(prior)
        self._tables = np.zeros(0)

    def fit(self, weights: Vector) -> None:
        """Estimate the tables from the rows with these weights."""
        counts = self._layout.count(self._codes, weights)
        self._tables = self._layout.estimated(counts, self._prior, self._alpha)

    @property
    def network(self) -> Network:
        return self._layout.unpack(self._tables)

    def log_probabilities(self) -> Vector:
        total = np.zeros(self._codes.shape[1])
        self._layout.add_log_probabilities(total, self._tables, self._codes)
        return total

    def log_prior(self) -> float:
        return log_prior(self._tables, self._alpha)
