"""Hierarchies of hidden variables, learned from the rows: new ones, their children, their states.

Thesis 6.7, 6.10 and 6.11. The continuation begins with one hidden parent of all columns, or with a
hierarchy that is given. Between its steps hidden variables are added where columns are left
unexplained (`enrichment.py`), children move to the parent under which they score best
(`replacing.py`), and all of it is kept if -L+ is higher.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np

from unveil.bottleneck.continuation import Follower
from unveil.bottleneck.course import Continuation, Place
from unveil.bottleneck.ending import trimmed
from unveil.bottleneck.enrichment import candidates, enriched
from unveil.bottleneck.forest import Forest
from unveil.bottleneck.mean_field import MeanField
from unveil.bottleneck.replacing import moved
from unveil.bottleneck.result import Bottlenecked
from unveil.em.parametric import fit_em
from unveil.em.starts import network_to_start
from unveil.errors import DataError, Hint, did_you_mean
from unveil.graph.dag import DAG
from unveil.model.network import Network
from unveil.model.prior import DirichletPrior, EquivalentSampleSize
from unveil.progress import Progress, Run, Step, StopReason, Ticker, run
from unveil.table.core import Table
from unveil.table.door import Data, Weights, as_table
from unveil.table.places import free_name
from unveil.table.variable import Variable

__all__ = ["learn_hierarchy"]

FIRST = 15
"""So many steps a new hidden variable has to show what it is worth."""
TRIES = 4
"""So many new hidden variables are tried before gamma grows further."""
ROUNDS = 5
"""At the last gamma, structure and states change at most so often in turn."""
AGAIN = 1.25
"""After one was refused, the next is tried when gamma has grown by this factor."""


def learn_hierarchy(
    data: Data,
    n_states: int | None = 2,
    prior: DirichletPrior | None = None,
    *,
    start: DAG | None = None,
    root: str = "H1",
    enrich: bool = True,
    replace_parents: bool = True,
    max_hidden: int = 10,
    information: float = 0.2,
    entropy: float = 0.5,
    max_states: int = 10,
    continuation: Continuation | None = None,
    max_iterations: int = 300,
    tolerance: float = 1e-7,
    seed: int | None = None,
    progress: Progress | None = None,
    time_limit: float | None = None,
    weights: Weights = None,
) -> Bottlenecked:
    """A hierarchy of hidden variables over the columns of a table, by information-bottleneck EM.

    Every column has one parent, a hidden variable; hidden variables have at most one. Each has
    `n_states`, or as many as the score tells apart (`None`, at most `max_states`). It begins with
    one parent of all columns, called `root`, or with the hierarchy `start` (nodes without a column
    are hidden).
    Unless `enrich` is off, a hidden variable may get a new one below it once I(T; Y) is beyond
    `information` of log |T|, for three columns whose entropy given T is at least `entropy` of the
    most there can be; there will be at most `max_hidden`. Unless `replace_parents` is off, columns
    and hidden variables move to the parent under which they score best. The continuation is by mean
    field; from where it ends exact EM goes on. The `prior`, an equivalent sample size of 1 unless
    another is given, is that of scores, too. The rest is as in `ib_em`: `data`, `weights`,
    `continuation`, `max_iterations`, `tolerance`, `seed`, `progress`, `time_limit`.

    >>> from unveil import datasets
    >>> found = learn_hierarchy(datasets.table("college_plans"), seed=1)
    >>> found.gamma
    1.0
    """
    table = as_table(data, weights)
    _check(table, n_states, max_hidden, information, entropy)
    dag = _checked_start(start, root, table)
    if seed is None:
        seed = int(np.random.default_rng().integers(2**31))
    generator, ticker = np.random.default_rng(seed), Ticker.of(progress, time_limit)
    prior = prior or EquivalentSampleSize(1.0)
    began = time.process_time()
    hidden = [name for name in dag.nodes if name not in table]
    variables = {v.name: v for v in table.variables}
    variables |= {name: Variable(name, [0], hidden=True) for name in hidden}
    network = network_to_start("random", dag, variables, table, None, generator)
    problem = Forest(network, table, hidden, prior)
    most = max_states if n_states is None else n_states
    follower = Follower(
        continuation or Continuation(), [most] * len(hidden), 1.0, n_states is None,
        tolerance, max_iterations, generator, ticker,
    )  # fmt: skip
    grower = _Grower(follower, most, max_hidden if enrich else 0, information, entropy)
    grower.moves = replace_parents
    found = grower.run(problem, network)
    place = found.state
    final = place.problem.network(place.parameters)
    likelihood, objective = float(final.log_likelihood(table)), place.objective
    if place.gamma >= 1 and ticker.keep_going():
        exact = fit_em(
            final, table, prior, max_iterations=max_iterations, tolerance=tolerance, seed=seed,
            progress=ticker,
        )  # fmt: skip
        final, likelihood = exact.network, exact.log_likelihood
        objective = exact.objective
    return Bottlenecked(
        final, likelihood, objective, place.gamma, place.course, place.problem.hidden,
        "mean field", found.stopped, seed, None, time.process_time() - began,
    )  # fmt: skip


def _checked_start(start: DAG | None, root: str, table: Table) -> DAG:
    """The hierarchy to begin with: that which was given, or one parent of all columns."""
    if start is None:
        root = free_name(root, table.names)
        return DAG([root, *table.names], [(root, name) for name in table.names])
    lacking = [name for name in table.names if name not in start.nodes]
    if lacking:
        raise DataError(
            f"the hierarchy to start with has no {lacking[0]!r}, which is a column."
            + did_you_mean(lacking[0], start.nodes)
        )
    for name in start.nodes:
        parents = start.parents(name)
        if len(parents) > 1 or any(p in table for p in parents):
            raise DataError(
                f"{name!r} has the parents {', '.join(parents)}; in a hierarchy everything has at "
                "most one parent, which is hidden"
            )
        if name in table and not parents:
            raise DataError(f"the column {name!r} has no parent; in a hierarchy every column has")
        if name not in table and not start.children(name):
            raise DataError(f"the hidden variable {name!r} has no children, so no row tells of it")
    return start


def _check(
    table: Table, n_states: int | None, max_hidden: int, information: float, entropy: float
) -> None:
    for variable in table.variables:
        if not variable.is_discrete:
            raise DataError(
                f"column {variable.name!r} is continuous; a hierarchy needs discrete columns. "
                "Leave it out or discretise it first, with",
                hint=Hint("unveil.Discretizer", "--discretize"),
            )
    if table.n_columns < 2:
        raise DataError("a hierarchy needs at least two columns")
    if n_states is not None and (isinstance(n_states, bool) or n_states < 2):
        raise DataError(f"hidden variables need a whole number of states from 2, got {n_states!r}")
    if max_hidden < 1:
        raise DataError(f"there is at least one hidden variable; max_hidden is {max_hidden}")
    for name, value in (("information", information), ("entropy", entropy)):
        if not 0 < value <= 1:
            raise DataError(f"{name} is a part between 0 and 1, got {value}")


class _Grower:
    """The continuation with changes of structure between its steps."""

    moves = True
    """Whether children may move to other parents."""

    def __init__(
        self, follower: Follower, most: int, max_hidden: int, information: float, entropy: float
    ) -> None:
        self.follower, self.most, self.max_hidden = follower, most, max_hidden
        self.information, self.entropy = information, entropy
        self.again = 0.0

    def run(self, problem: MeanField, network: Network) -> Run[Place]:
        first = self.follower.first(problem, problem.parameters(network))

        def step(place: Place) -> tuple[Place, Step]:
            place, info = self.follower.stepped(place)
            if place.gamma < 1:
                place = self.improved(place)
            return place, info

        def done(place: Place, info: Step) -> StopReason | None:
            return "converged" if place.gamma >= 1 else None

        if first.gamma >= 1:
            return Run(self.follower.ended(first), (), "converged")
        found = run(step, first, done, self.follower.ticker)
        place = self.finished(found.state)
        place = replace(place, course=place.course[:-1])
        return replace(found, state=self.follower.recorded(place, found.state.course[-1].what))

    def finished(self, place: Place) -> Place:
        """The last gamma: hidden variables, their children and states, until nothing changes."""
        for _ in range(ROUNDS):
            self.again, before = 0.0, _described(place)
            place = self.improved(place)
            if self.follower.adapt:
                place = trimmed(self.follower, place, self.follower.states)
            if _described(place) == before or not self.follower.ticker.keep_going():
                break
        return self.settled(place, self.follower.tolerance)

    def improved(self, place: Place) -> Place:
        """New hidden variables where they are worth most, and children where they score best."""
        if not self.follower.ticker.keep_going():
            return place
        place = self.arranged(self.settled(place, 1e-6), 1e-6)
        while self.may_enrich(place):
            other = self.with_one_more(place)
            if other is None:
                self.again = AGAIN * place.gamma
                break
            place = other
        return self.grown(place)

    def with_one_more(self, place: Place) -> Place | None:
        """The place with the first of some new hidden variables that pays, if one does."""
        adapt, generator = self.follower.adapt, self.follower.generator
        place = self.settled(place, 1e-6)
        for i, chosen in candidates(place, self.information, self.entropy, TRIES):
            n_states = 2 if adapt else place.problem.shape[i]
            other = self.grown(enriched(place, i, chosen, n_states, generator))
            other = self.settled(other, 1e-5, FIRST)
            other = self.arranged(other, 1e-5, FIRST)
            if other.objective > place.objective + _price(place, other):
                return other
        self.grown(place)
        return None

    def may_enrich(self, place: Place) -> bool:
        """Whether another hidden variable may be tried now."""
        room = len(place.problem.hidden) < self.max_hidden and place.gamma >= self.again
        return room and self.follower.ticker.keep_going()

    def arranged(self, place: Place, tolerance: float, most: int | None = None) -> Place:
        """Children under other parents, if that is better: all that ask for it, or the first."""
        if not self.moves or len(place.problem.hidden) < 2:
            return place
        generator = self.follower.generator
        least = self.information if place.gamma < 1 else 0.0
        for at_once in (None, 1):
            other = self.grown(moved(place, generator, least, at_once))
            if other.problem is place.problem:
                break
            other = self.settled(other, tolerance, most)
            if other.objective > place.objective + _price(place, other):
                return other
        return self.grown(place)

    def grown(self, place: Place) -> Place:
        """The same place; every hidden variable that it has may have as many states as any."""
        self.follower.states = (self.most,) * len(place.problem.hidden)
        return place

    def settled(self, place: Place, tolerance: float, most: int | None = None) -> Place:
        """The fixed point at the same gamma, for what may be another structure."""
        found = self.follower.settle(place.problem, place.parameters, place.gamma, tolerance, most)
        return self.follower.at(place, *found)


def _described(place: Place) -> tuple[Any, ...]:
    """The arcs and the numbers of states."""
    return frozenset(place.problem.layout.network.dag.arcs), place.problem.shape


def _price(before: Place, after: Place) -> float:
    """What more parameters have to gain: half of log N each (BIC), as much as gamma lets through.

    The Lagrangian itself does not ask how many parameters P has (6.7). Below zero where a hidden
    variable of fewer states than its parent's spares parameters.
    """
    counts = [p.problem.layout.network.n_parameters for p in (before, after)]
    price = 0.5 * (counts[1] - counts[0]) * np.log(before.problem.n_cases)
    return float(before.gamma * price)
