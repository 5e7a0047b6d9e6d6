"""Hierarchies of hidden variables, learned from the rows: new ones, their children, their states.

Thesis 6.7, 6.10 and 6.11. The continuation begins with one hidden parent of all columns, or with a
hierarchy that is given. Between its steps hidden variables are added where columns are left
unexplained (`enrichment.py`), children move to the parent where they are at home
(`replacing.py`), and all of it is kept if -L+ is higher by more than its parameters cost
(`growing.py`).
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from unveil.bottleneck.continuation import Follower
from unveil.bottleneck.course import Continuation, Place
from unveil.bottleneck.forest import Forest
from unveil.bottleneck.growing import Grower
from unveil.bottleneck.result import Bottlenecked
from unveil.bottleneck.weighing import place_score
from unveil.em.starts import network_to_start
from unveil.errors import DataError, Hint, did_you_mean
from unveil.graph.dag import DAG
from unveil.model.network import Network
from unveil.model.prior import DirichletPrior, EquivalentSampleSize
from unveil.progress import Progress, Run, Ticker
from unveil.seeds import seed_or_fresh
from unveil.table.core import Table
from unveil.table.door import Data, Weights, as_table
from unveil.table.places import free_name
from unveil.table.variable import Variable

__all__ = ["learn_hierarchy"]

NUMBERS = (2, 3, 4, 5, 6, 8)
"""Numbers of states from which their adaptation may begin, besides the most there may be."""


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
    `n_states`, or as many as AIC3 asks for (`None`, at most `max_states`; several courses). It
    begins with one parent of all columns, called `root`, or with the hierarchy `start` (nodes
    without a column are hidden).
    Unless `enrich` is off, a hidden variable may get a new one below it once I(T; Y) is beyond
    `information` of log |T|, for three columns whose entropy given T is at least `entropy` of
    their own; there will be at most `max_hidden`. Unless `replace_parents` is off, columns and
    hidden variables move to the parent where they are most likely. The posterior is exact, through
    the forest; the end is one of EM's. The `prior`, an equivalent sample size of 1 unless
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
    seed = seed_or_fresh(seed)
    ticker, began = Ticker.of(progress, time_limit), time.process_time()
    prior = prior or EquivalentSampleSize(1.0)
    hidden = [name for name in dag.nodes if name not in table]
    variables = {v.name: v for v in table.variables}
    variables |= {name: Variable(name, [0], hidden=True) for name in hidden}
    network = network_to_start("random", dag, variables, table, None, np.random.default_rng(0))
    problem = Forest(network, table, hidden, prior)

    def grower(most: int) -> Grower:
        follower = Follower(
            continuation or Continuation(), [most] * len(hidden), 1.0, False, tolerance,
            max_iterations, np.random.default_rng(seed), ticker,
        )  # fmt: skip
        limit = max_hidden if enrich else 0
        return Grower(follower, most, limit, information, entropy, replace_parents)

    if n_states is None:
        found = _with_states(grower, problem, network, max_states, ticker)
    else:
        found = grower(n_states).run(problem, network)
    place = found.state
    final = place.problem.network(place.parameters)
    return Bottlenecked(
        final, float(final.log_likelihood(table)), place.objective, place.gamma, place.course,
        place.problem.hidden, "forest", found.stopped, seed, None, time.process_time() - began,
    )  # fmt: skip


def _with_states(
    grower: Callable[[int], Grower], problem: Forest, network: Network, most: int, ticker: Ticker
) -> Run[Place]:
    """The best of courses with more and more states, then as many of each as the score asks for.

    A course with k states of every hidden variable is judged by AIC3 (`weighing.py`), and no more
    are followed when that was worse twice. From the best, states are added and merged one by one
    (6.8).
    """
    best: tuple[float, Run[Place]] | None = None
    worse = 0
    for k in [k for k in NUMBERS if k < most] + [most]:
        found = grower(k).run(problem, network)
        value = place_score(found.state)
        if best is None or value > best[0]:
            best, worse = (value, found), 0
        else:
            worse += 1
        if worse == 2 or not ticker.keep_going():
            break
    assert best is not None
    if best[1].state.gamma < 1 or not ticker.keep_going():
        return best[1]
    return grower(most).adapted(best[1])


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
    if 0 < table.total_weight < (n_states or 2):
        raise DataError(
            f"hidden variables of {n_states or 2} states need as many cases, and the rows count as "
            f"{table.total_weight:,.6g}; take fewer states or more rows"
        )
    if max_hidden < 1:
        raise DataError(f"there is at least one hidden variable; max_hidden is {max_hidden}")
    for name, value in (("information", information), ("entropy", entropy)):
        if not 0 < value <= 1:
            raise DataError(f"{name} is a part between 0 and 1, got {value}")
