"""EM for a structure with hidden variables: restarts, steps on parts of the rows, validation.

From every start, EM first goes over parts of the rows (`stepwise.py`) where there are many, then
over all of them (`em/loop.py`'s rule of stopping), accelerated. With rows for validation it ends
when these are predicted worse for a while, and where they were predicted best.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from unveil.em.squared import squared_steps
from unveil.em.steps import TableEM
from unveil.errors import DataError
from unveil.graph.dag import DAG
from unveil.infer.unseen import UnseenCells
from unveil.model.network import Network
from unveil.model.prior import DirichletPrior
from unveil.model.table_cpd import TableCPD
from unveil.progress import Step, StopReason, Ticker, run
from unveil.records import Record
from unveil.table.core import Table
from unveil.table.variable import Variable
from unveil.trees.shape import outline
from unveil.trees.stepwise import stepwise_em

__all__ = ["HiddenTree", "TreeSettings", "TreeStart", "fit_structure", "random_network"]

Vector = npt.NDArray[np.float64]
FIRM = 0.1
"""The part of a column's own shares in the table from which EM starts."""


@dataclass(frozen=True)
class TreeSettings:
    """How often EM starts and when it ends.

    `epochs` is how often it first goes over all rows in parts of `batch_size`. `patience` is for
    how many steps rows for validation may be predicted no better.
    """

    n_starts: int = 1
    max_iterations: int = 500
    tolerance: float = 1e-7
    epochs: int = 0
    batch_size: int = 200
    patience: int = 10


@dataclass(frozen=True)
class TreeStart(Record):
    """Where EM went from one start: in nats, and per row for validation."""

    log_likelihood: float
    objective: float
    validation: float | None
    n_iterations: int
    stopped: StopReason


@dataclass(frozen=True)
class HiddenTree(Record):
    """A model with hidden variables, how well it fits, and how EM found it.

    `objective` is what EM climbed (nats): the log-likelihood plus the log prior; `trace` is its
    course in the best start. `validation` is the mean log-probability of a row kept for
    validation, if there were any; then the best start is the best by that.
    """

    told: ClassVar = ("n_parameters", "outline")

    model: str
    network: Network
    log_likelihood: float
    objective: float
    validation: float | None
    trace: tuple[float, ...]
    stopped: StopReason
    starts: tuple[TreeStart, ...]
    seed: int
    total_weight: float = field(default=0.0, repr=False)

    @property
    def n_parameters(self) -> int:
        """The number of free parameters."""
        return self.network.n_parameters

    @property
    def hidden(self) -> dict[str, Variable]:
        """The hidden variables by name."""
        return {v.name: v for v in self.network.variables if v.hidden}

    @property
    def outline(self) -> str:
        """The tree as indented text."""
        return outline(self.network.dag, self.hidden)

    def __str__(self) -> str:
        n = max(self.total_weight, 1.0)
        judged = "" if self.validation is None else f", {self.validation:,.4f} a row of validation"
        return (
            f"{self.model}: {len(self.hidden)} hidden variables, {self.n_parameters:,} parameters, "
            f"log-likelihood {self.log_likelihood:,.2f} nats ({self.log_likelihood / n:,.4f} a "
            f"row{judged}) after {len(self.trace)} iterations ({self.stopped}), best of "
            f"{len(self.starts)} starts"
        )


Start = Callable[[np.random.Generator], Network]


def fit_structure(
    model: str,
    start: Start,
    table: Table,
    prior: DirichletPrior | None,
    settings: TreeSettings,
    seed: int,
    ticker: Ticker,
    validation: Table | None = None,
) -> HiddenTree:
    """The network with the parameters EM finds, from `settings.n_starts` networks of `start`."""
    found: list[tuple[TreeStart, Vector, tuple[float, ...]]] = []
    problem: TableEM | None = None
    for i, own in enumerate(np.random.SeedSequence(seed).spawn(settings.n_starts)):
        generator = np.random.default_rng(own)
        first = start(generator)
        problem = problem or TableEM(first, table, prior)
        judge = _judge(first, validation)
        parameters = problem.pack(first)
        if settings.epochs:
            parameters = stepwise_em(
                problem, table, parameters, settings.epochs, settings.batch_size, generator,
                ticker.part(f"start {i + 1}"), judge,
            )  # fmt: skip
        found.append(_climb(problem, parameters, settings, ticker.part(f"start {i + 1}"), judge))
        if not ticker.keep_going():
            break
    assert problem is not None
    found.sort(key=lambda f: -(f[0].objective if f[0].validation is None else f[0].validation))
    best, parameters, trace = found[0]
    stopped = ticker.reason or best.stopped
    return HiddenTree(
        model, problem.unpack(parameters), best.log_likelihood, best.objective, best.validation,
        trace, stopped, tuple(f[0] for f in found), seed, table.total_weight,
    )  # fmt: skip


def random_network(
    dag: DAG, variables: Mapping[str, Variable], table: Table, generator: np.random.Generator
) -> Network:
    """Random tables for EM to start from; those of columns lean a little to the columns' shares."""
    cpds = []
    for name in dag.nodes:
        own, parents = variables[name], [variables[p] for p in dag.parents(name)]
        shape = [v.n_states for v in parents]
        values = generator.dirichlet(np.ones(own.n_states), shape)
        share = np.full(own.n_states, 1.0 / own.n_states)
        if name in table:
            shown = ~table.missing(name)
            counts = np.bincount(table.column(name)[shown], table.row_weights[shown], own.n_states)
            share = (counts + 0.5) / (counts + 0.5).sum()
        cpds.append(TableCPD(own, parents, (1 - FIRM) * values + FIRM * share))
    return Network(cpds)


Judge = Callable[[Vector], float]


def _judge(network: Network, validation: Table | None) -> Judge | None:
    """The mean log-probability of the rows kept for validation, as a function of the tables."""
    if validation is None:
        return None
    cells = UnseenCells.to_learn_from(network, validation)
    return lambda tables: float(
        cells.log_probabilities(tables) @ cells.rows.weights / cells.total_weight
    )


@dataclass(frozen=True)
class _State:
    """Tables that were judged, better ones, and the best so far by the rows for validation."""

    tables: Vector
    better: Vector
    objective: float
    best: Vector
    best_objective: float
    best_validation: float
    iteration: int = 0
    since: int = 0


def _climb(
    problem: TableEM, start: Vector, settings: TreeSettings, ticker: Ticker, judge: Judge | None
) -> tuple[TreeStart, Vector, tuple[float, ...]]:
    """EM over all rows, until it gains little or the rows for validation are predicted worse."""
    step = squared_steps(problem.step, problem.layout.normalised)

    def iteration(state: _State) -> tuple[_State, Step]:
        better, objective = step(state.better)
        number = state.iteration + 1
        change = objective - state.objective if state.iteration else float("inf")
        now = replace(
            state, tables=state.better, better=better, objective=objective, iteration=number
        )
        detail = ""
        if judge is not None:
            value = judge(now.tables)
            detail = f"{value:,.4f} a row of validation"
            if value > now.best_validation:
                now = replace(
                    now, best=now.tables, best_objective=objective, best_validation=value, since=0
                )
            else:
                now = replace(now, since=now.since + 1)
        return now, Step("EM", number, objective, change, detail=detail)

    def settled(state: _State, info: Step) -> StopReason | None:
        if state.since >= settings.patience:
            return "stalled"
        gained = info.change > settings.tolerance * (1.0 + abs(info.objective))
        return None if gained or state.iteration == 1 else "converged"

    first = _State(start, start, -np.inf, start, -np.inf, -np.inf)
    done = run(iteration, first, settled, ticker, settings.max_iterations)
    state, trace = done.state, tuple(info.objective for info in done.trace)
    tables, objective = state.tables, state.objective
    if judge is not None:
        tables, objective = state.best, state.best_objective
    outcome = TreeStart(
        objective - problem.log_prior(tables), objective,
        None if judge is None else state.best_validation, len(trace), done.stopped,
    )  # fmt: skip
    return outcome, tables, trace


def checked_settings(settings: TreeSettings) -> TreeSettings:
    """The settings, after making sure that they can be used."""
    for word, least in (("n_starts", 1), ("max_iterations", 1), ("epochs", 0), ("batch_size", 1),
                        ("patience", 1)):  # fmt: skip
        value: Any = getattr(settings, word)
        if not (isinstance(value, (int, np.integer)) and value >= least):
            raise DataError(f"{word} is a whole number from {least}, got {value}")
    if not settings.tolerance >= 0:
        raise DataError(f"tolerance is zero or a little more, got {settings.tolerance}")
    return settings
