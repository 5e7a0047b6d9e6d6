"""Parameters by EM: maximum likelihood or MAP from rows with missing cells and hidden variables.

Thesis 2.4.1: the two steps are in `steps.py`, the loop in `loop.py`; here are the starts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from unveil.anneal.choice import Annealing, annealing_named
from unveil.anneal.loop import Annealed
from unveil.em.align import align_states
from unveil.em.annealed import ANNEALINGS, annealed_em
from unveil.em.loop import EMRun, run_em
from unveil.em.parted import parted_start, unseen_in
from unveil.em.squared import squared_steps
from unveil.em.starts import START_KINDS, network_to_start
from unveil.em.steps import TableEM, em_problem
from unveil.engines.door import Memory, rows_of
from unveil.engines.rows import PartedRows
from unveil.errors import DataError, Hint, did_you_mean
from unveil.graph.dag import DAG
from unveil.model.network import Network
from unveil.model.prior import DirichletPrior
from unveil.progress import Progress, StopReason, Ticker
from unveil.records import Record
from unveil.seeds import seed_or_fresh
from unveil.table.core import Table
from unveil.table.door import Data, Weights
from unveil.table.variable import Variable

if TYPE_CHECKING:
    from unveil.bottleneck.course import Point

__all__ = ["EMResult", "EMStart", "fit_em", "variables_of"]


@dataclass(frozen=True)
class EMStart(Record):
    """The outcome of one start: where EM went from there."""

    kind: str
    log_likelihood: float
    objective: float
    n_iterations: int
    stopped: StopReason
    network: Network = field(repr=False)
    course: tuple[Point, ...] = ()
    """The course of gamma, if the bottleneck led there."""


@dataclass(frozen=True)
class EMResult(Record):
    """The best of all starts, and every start's outcome, best first.

    `objective` is what EM climbed (nats): the log-likelihood, plus the log prior with a prior;
    `trace` is its course in the best start. Hidden states of all starts are in the same order.
    With annealed weights, `annealed` is their course, and where it ended counts as one more start.
    """

    network: Network
    log_likelihood: float
    objective: float
    trace: tuple[float, ...]
    stopped: StopReason
    starts: tuple[EMStart, ...]
    seed: int | None
    annealed: Annealed[Any] | None = None

    def __str__(self) -> str:
        return (
            f"log-likelihood {self.log_likelihood:,.4f} nats after {len(self.trace)} iterations "
            f"({self.stopped}), best of {len(self.starts)} starts"
        )


def fit_em(
    structure: DAG | Network,
    data: Data,
    prior: DirichletPrior | None = None,
    hidden: Mapping[str, int | Variable] | None = None,
    n_starts: int = 1,
    start: Literal["random", "cluster", "given"] | None = None,
    max_iterations: int = 500,
    tolerance: float = 1e-8,
    hard: bool = False,
    seed: int | None = None,
    progress: Progress | None = None,
    time_limit: float | None = None,
    *,
    weights: Weights = None,
    anneal: Annealing | str | None = None,
    accelerate: bool = False,
    memory: Memory = None,
    engine: str | None = None,
) -> EMResult:
    """The network over a known structure with parameters from incomplete rows, by EM.

    `structure` is a graph (`hidden` then says how many states the variables without a column
    have, or gives the variable itself, which may be continuous) or a network, whose parameters are
    the first start unless `start` says otherwise. Other starts are random, or by hard clustering
    of the rows. `hard` completes every row by its most probable explanation instead of averaging
    over all. `data` is a table, a frame, an array or a path, or rows that are read in pieces
    (`unveil.open_rows` tells of these, and of `memory` and `engine`): where they do not fit, every
    step is one pass over their parts. `weights` say how often each row counts.

    Parameters are maximum likelihood, or MAP under `prior`. EM starts `n_starts` times and ends
    after `max_iterations` or when it gains less than the part `tolerance` of its objective. With
    `anneal` ("adversary", "random" or an `unveil.anneal.Annealing`) it then goes on from the best
    start while the weights of the rows are annealed, for about ten times the work. `accelerate`
    makes three steps of EM at a time and goes further on their way (for networks of tables; the
    objective still never falls), which pays where EM is slow. `seed` repeats a run, `progress`
    listens, `time_limit` (seconds) ends it with the best so far.

    >>> from unveil import datasets
    >>> asia = datasets.network("asia")
    >>> rows = asia.sample(500, seed=1).knock_out(0.2, seed=2)
    >>> result = fit_em(asia.dag, rows, seed=3)
    >>> result.stopped, result.log_likelihood > asia.log_likelihood(rows)
    ('converged', True)
    """
    table = rows_of(data, weights, memory, engine)
    annealing = annealing_named(anneal, ANNEALINGS)
    if annealing is not None and isinstance(table, PartedRows):
        table = table.as_table()
    if n_starts < 1:
        raise DataError(f"EM needs at least one start, got {n_starts}")
    kind = start or ("given" if isinstance(structure, Network) else "random")
    if kind not in START_KINDS:
        raise DataError(
            f"a start is one of {', '.join(START_KINDS)}, not {kind!r}."
            + did_you_mean(kind, START_KINDS)
        )
    if kind == "given" and not isinstance(structure, Network):
        raise DataError("a given start needs a network with parameters, not only a graph")
    seed = seed_or_fresh(seed)
    variables = variables_of(structure, table, dict(hidden or {}))
    dag = structure.dag if isinstance(structure, Network) else structure
    ticker = Ticker.of(progress, time_limit)
    given = structure if isinstance(structure, Network) else None
    first_of: Any = network_to_start if isinstance(table, Table) else parted_start
    any_start = given or first_of("random", dag, variables, table, None, np.random.default_rng(0))
    problem = em_problem(any_start, table, prior, hard)
    step: Any = problem.step
    if accelerate and isinstance(problem, TableEM) and not hard:
        step = squared_steps(problem.step, problem.layout.normalised)
    outcomes: list[tuple[EMStart, EMRun[Any]]] = []

    def outcome(kind: str, run: EMRun[Any]) -> tuple[EMStart, EMRun[Any]]:
        likelihood = run.objective - problem.log_prior(run.parameters)
        network = problem.unpack(run.parameters)
        return EMStart(kind, likelihood, run.objective, run.n_iterations, run.stopped, network), run

    for i, own in enumerate(np.random.SeedSequence(seed).spawn(n_starts)):
        now = kind if i == 0 or kind != "given" else "random"
        first = first_of(now, dag, variables, table, given, np.random.default_rng(own))
        parameters = problem.pack(first)
        run = run_em(step, parameters, max_iterations, tolerance, ticker, f"EM, start {i + 1}")
        outcomes.append(outcome(now, run))
        if not ticker.keep_going():
            break
    outcomes.sort(key=lambda pair: -pair[0].objective)
    found: Annealed[Any] | None = None
    if annealing is not None and ticker.keep_going():
        found = annealed_em(
            problem, outcomes[0][1].parameters, annealing, max_iterations, tolerance, seed, ticker
        )
        course = (*(p.score for p in found.course), found.score)
        end = EMRun(found.hypothesis, found.score, course, found.stopped)
        outcomes.insert(0, outcome(f"annealed ({found.reweighting})", end))
    best, run = outcomes[0]
    starts = [best, *(_aligned(o, best.network, table) for o, _ in outcomes[1:])]
    return EMResult(
        best.network, best.log_likelihood, best.objective, run.trace, best.stopped,
        tuple(starts), seed, found,
    )  # fmt: skip


def variables_of(
    structure: DAG | Network, table: Table | PartedRows, hidden: Mapping[str, int | Variable]
) -> dict[str, Variable]:
    """The variable behind every node: from the network, the table, or the word on hidden ones."""
    if isinstance(structure, Network):
        return {v.name: v for v in structure.variables}
    found = {}
    for name in structure.nodes:
        if name in hidden:
            given = hidden[name]
            states = range(given) if isinstance(given, int) else given.states
            found[name] = Variable(name, states, hidden=True)
        elif name in table:
            found[name] = table.variable(name)
        else:
            raise DataError(
                f"the table has no column {name!r}.",
                hint=Hint(f"If it is hidden, say how many states it has: hidden={{{name!r}: 2}}"),
            )
    return found


def _aligned(outcome: EMStart, reference: Network, table: Table | PartedRows) -> EMStart:
    """The same outcome with the states of its hidden variables in the order of the reference."""
    unseen = [n for n in unseen_in(reference, table) if reference.variable(n).is_discrete]
    network = align_states(outcome.network, reference, unseen)
    return replace(outcome, network=network)
