"""`ib_em`: parameters, numbers of states and all, by following one solution from gamma = 0 to 1."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from unveil.bottleneck.continuation import follow
from unveil.bottleneck.course import Continuation, Place
from unveil.bottleneck.door import Hidden, Task, check_numbers, checked_task, refuse_large
from unveil.bottleneck.exact import Exact, Followed
from unveil.bottleneck.forest import Forest
from unveil.bottleneck.mean_field import MeanField
from unveil.bottleneck.order import in_own_order, put_back
from unveil.bottleneck.result import Bottlenecked, RandomStarts
from unveil.em.align import permute_states
from unveil.em.parametric import fit_em
from unveil.em.starts import network_to_start
from unveil.em.steps import log_prior
from unveil.errors import DataError, SizeError
from unveil.evaluate.folds import deal_cases, parted
from unveil.graph.dag import DAG
from unveil.model.flat import FlatTables
from unveil.model.network import Network
from unveil.model.prior import DirichletPrior
from unveil.model.table_cpd import TableCPD, table_of
from unveil.progress import Progress, Ticker
from unveil.seeds import seed_or_fresh
from unveil.table.core import Table
from unveil.table.door import Data, Weights, as_table
from unveil.table.places import tell
from unveil.table.variable import Variable

__all__ = ["ib_em"]

TIE = 0.001
"""Ends of EM that differ by less than this, in nats per case, are the same."""


def ib_em(
    structure: DAG | Network,
    data: Data,
    prior: DirichletPrior | None = None,
    hidden: Hidden | None = None,
    *,
    posterior: Literal["auto", "exact", "forest", "mean field"] = "auto",
    compression: DAG | None = None,
    end: float = 1.0,
    held_out: float | None = None,
    compare: int = 0,
    max_states: int = 20,
    continuation: Continuation | None = None,
    max_iterations: int = 500,
    tolerance: float = 1e-8,
    seed: int | None = None,
    progress: Progress | None = None,
    time_limit: float | None = None,
    weights: Weights = None,
) -> Bottlenecked:
    """The network over a known structure, by information-bottleneck EM: no restarts.

    `structure` is a graph or a network (of which only the arcs and the states count); variables
    without a column are hidden, and `hidden` says how many states each has, or `None` to have the
    number learned (at most `max_states`), or gives the variable itself. Missing cells are summed
    over. `data` is a table, a frame, an array or a path; `weights` say how often each row counts.
    Parameters are maximum likelihood, or MAP under `prior`.

    gamma goes from 0, where the hidden variables tell nothing, to `end`. At 1 the answer is a fixed
    point of EM, usually among the best that random starts find. Q(T | Y) is `exact` over the joint
    of the hidden variables, exact by walks through a `forest` where several hidden variables form
    one above the columns, or by `mean field` (`posterior`; "auto": whichever is possible, in this
    order, exact up to 500 joint states); `compression` is a graph over the hidden variables by
    which Q(T) is taken apart (Eq. 6.11). How gamma grows is a `Continuation`, given as
    `continuation`.

    With `held_out`, a fraction of the cases is kept aside first, the gamma that predicts them best
    is found, and all rows are then followed up to there. `compare` starts EM so often from random
    parameters to say how many of these ends are better.

    EM settles when it gains less than the part `tolerance` of its objective, or after
    `max_iterations` at one gamma. `seed` repeats a run
    (it hardly matters unless splits come by noise), `progress` listens, `time_limit` (seconds) ends
    it with the best so far, at a smaller gamma, where states may still be alike.

    >>> from unveil import DAG, datasets
    >>> plans = datasets.table("college_plans")
    >>> dag = DAG(["class", *plans.names], [("class", name) for name in plans.names])
    >>> found = ib_em(dag, plans, hidden={"class": 2}, seed=1)
    >>> round(found.log_likelihood, 2), found.gamma
    (-45609.76, 1.0)
    """
    table = as_table(data, weights)
    if compression is not None and posterior == "auto":
        posterior = "exact"
    task = checked_task(structure, table, hidden, posterior, max_states)
    if isinstance(structure, Network):
        known = [n for n in structure.names if n in table]
        table = table.select(known).conform([structure.variable(n) for n in known])
    refuse_large(task, table)
    own, table = in_own_order(task, table)
    if not 0 < end <= 1:
        raise DataError(f"the last gamma is above 0 and at most 1, got {end}")
    check_numbers(compare, max_iterations, tolerance, continuation)
    if compression is not None and set(compression.nodes) != set(task.hidden):
        raise DataError(
            f"the compression is a graph over the hidden variables {', '.join(task.hidden)}; "
            f"it has {', '.join(compression.nodes)}"
        )
    seed = seed_or_fresh(seed)
    settings = continuation or Continuation()
    ticker = Ticker.of(progress, time_limit)
    work = _Work(own, prior, compression, settings, max_iterations, tolerance, seed)
    began = time.process_time()
    course_of_part: tuple[Any, ...] = ()
    if held_out is not None:
        end, course_of_part = _early(work, table, held_out, end, ticker.part("held out", 0.5))
    place, stopped = work.run(table, end, ticker.part(share=0.5 if compare else 1.0))
    network = _finished(work, place)
    course = tuple(
        replace(p, held_out=h.held_out)
        for p, h in zip(place.course, _nearest(course_of_part, place.course), strict=True)
    ) if course_of_part else place.course  # fmt: skip
    seconds = time.process_time() - began
    likelihood, objective = place.look.log_likelihood, place.objective
    if task.posterior == "mean field":
        likelihood = _exact_if_possible(network, table, likelihood)
    network, course = put_back(task, own, network, course)
    random = None
    if compare and ticker.keep_going():
        random = _compared(work, table, network, likelihood, compare, ticker)
    return Bottlenecked(
        network, likelihood, objective, place.gamma, course, task.hidden, task.posterior,
        stopped, seed, random, seconds,
    )  # fmt: skip


class _Work:
    """What is the same for every table that is followed."""

    def __init__(
        self,
        task: Task,
        prior: DirichletPrior | None,
        compression: DAG | None,
        settings: Continuation,
        max_iterations: int,
        tolerance: float,
        seed: int,
    ) -> None:
        self.task, self.prior, self.compression, self.settings = task, prior, compression, settings
        self.max_iterations, self.tolerance, self.seed = max_iterations, tolerance, seed

    def run(
        self,
        table: Table,
        end: float,
        ticker: Ticker,
        judge: Callable[[Network], float] | None = None,
    ) -> tuple[Place, Any]:
        """The course over the rows of a table, and why it ended."""
        task = self.task
        noisy = self.settings.splits == "noise"
        generator = np.random.default_rng(self.seed)
        variables = dict(task.variables)
        for name in task.hidden:
            labels = variables[name].labels
            variables[name] = Variable(name, labels if noisy else labels[:1], hidden=True)
        # With one state each, all starts lead to the same: the seed is for noise.
        first = generator if noisy else np.random.default_rng(0)
        network = network_to_start("random", task.dag, variables, table, None, first)
        if noisy:
            network = _alike(network, task.hidden)
        problem = self.problem(network, table)
        found = follow(
            problem, network, task.states, self.settings, end=end, adapt=task.adapt,
            tolerance=self.tolerance, max_iterations=self.max_iterations, generator=generator,
            ticker=ticker, judge=judge,
        )  # fmt: skip
        return found.state, found.stopped

    def problem(self, network: Network, table: Table) -> Followed:
        """The two steps with the posterior that was asked for."""
        if self.task.posterior != "exact":
            kind = Forest if self.task.posterior == "forest" else MeanField
            return kind(network, table, self.task.hidden, self.prior)
        return Exact(network, table, self.task.hidden, self.prior, self.compression)


def _alike(network: Network, hidden: Sequence[str]) -> Network:
    """All states of hidden variables made the same: the mean over them."""
    cpds = []
    for name, cpd in network.cpds.items():
        values = table_of(cpd).values
        axes = tuple(i for i, p in enumerate(cpd.parents) if p.name in hidden)
        values = np.broadcast_to(values.mean(axis=axes, keepdims=True), values.shape)
        if name in hidden:
            values = np.full(values.shape, 1.0 / values.shape[-1])
        cpds.append(TableCPD(cpd.variable, cpd.parents, values.copy()))
    return Network(cpds)


def _early(
    work: _Work, table: Table, held_out: float, end: float, ticker: Ticker
) -> tuple[float, tuple[Any, ...]]:
    """The gamma at which the cases kept aside are predicted best, and the course that told."""
    share = deal_cases(table, 1, held_out, work.seed)[:, 0]
    rows, aside = parted(table, share)

    def judge(network: Network) -> float:
        return network.log_likelihood(aside) / aside.total_weight

    place, _ = work.run(rows, end, ticker, judge)
    best = max(place.course, key=lambda p: p.held_out or -np.inf)
    return best.gamma, place.course


def _nearest(told: Sequence[Any], course: Sequence[Any]) -> list[Any]:
    """For every point, that of the other course with the nearest gamma."""
    return [min(told, key=lambda p: abs(p.gamma - point.gamma)) for point in course]


def _finished(work: _Work, place: Place) -> Network:
    """The network with each hidden variable's largest state first, under the labels asked for."""
    network: Network = place.problem.network(place.parameters)
    sizes = place.problem.sizes(place.look)
    for name, own in zip(work.task.hidden, sizes, strict=True):
        network = permute_states(network, name, np.argsort(-own, kind="stable"))
        labels = work.task.variables[name].labels[: len(own)]
        network = _relabelled(network, Variable(name, labels, hidden=True))
    return network


def _relabelled(network: Network, variable: Variable) -> Network:
    """The network with other labels for the states of one variable."""
    cpds = []
    for cpd in network.cpds.values():
        own = variable if cpd.variable.name == variable.name else cpd.variable
        parents = [variable if p.name == variable.name else p for p in cpd.parents]
        cpds.append(TableCPD(own, parents, table_of(cpd).values))
    return Network(cpds, network.name, network.description)


def _exact_if_possible(network: Network, table: Table, bound: float) -> float:
    """log P of what the rows show; the bound where the network is too large to sum over."""
    try:
        return float(network.log_likelihood(table))
    except SizeError:
        tell("the likelihood given is mean field's lower bound: the network is too large for more")
        return bound


def _compared(
    work: _Work, table: Table, network: Network, likelihood: float, n_starts: int, ticker: Ticker
) -> RandomStarts:
    """EM from random parameters with as many states, to the same tolerance."""
    layout = FlatTables(network)
    objective = likelihood + log_prior(layout.pack(network), layout.pack_prior(work.prior))
    began = time.process_time()
    hidden = {name: network.variable(name) for name in work.task.hidden}
    found = fit_em(
        work.task.dag, table, work.prior, hidden, n_starts=n_starts, start="random",
        max_iterations=work.max_iterations, tolerance=work.tolerance, seed=work.seed,
        progress=ticker.part("random starts"),
    )  # fmt: skip
    ends = tuple(start.objective for start in found.starts)
    seconds = (time.process_time() - began) / len(ends)
    likelihoods = tuple(start.log_likelihood for start in found.starts)
    return RandomStarts(objective, ends, likelihoods, TIE * table.total_weight, seconds)
