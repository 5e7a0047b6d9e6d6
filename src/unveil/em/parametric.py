"""Parameters by EM: maximum likelihood or MAP from rows with missing cells and hidden variables.

Thesis 2.4.1. With a prior, the M-step is the posterior mean (S + alpha) / (S[u] + alpha[u]), which
maximises log P(D | theta) + sum alpha log theta: MAP in the natural parameters, so the objective
never falls even for pseudo-counts below one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from unveil.em.align import align_states
from unveil.em.expectation import Expectation, Expected
from unveil.model.flat import FlatTables
from unveil.em.hard import HardExpectation
from unveil.em.loop import EMRun, run_em
from unveil.em.starts import START_KINDS, network_to_start
from unveil.errors import DataError, Hint, ModelError
from unveil.graph.dag import DAG
from unveil.model.network import Network
from unveil.model.prior import DirichletPrior
from unveil.progress import Listener, StopReason, Ticker
from unveil.records import Record
from unveil.table.core import Table
from unveil.table.variable import Variable

__all__ = ["EMResult", "EMStart", "em_step", "fit_em", "log_prior", "unseen_names", "variables_of"]

Vector = npt.NDArray[np.float64]


@dataclass(frozen=True)
class EMStart(Record):
    """The outcome of one start: where EM went from there."""

    kind: str
    log_likelihood: float
    objective: float
    n_iterations: int
    stopped: StopReason
    network: Network = field(repr=False)


@dataclass(frozen=True)
class EMResult(Record):
    """The best of all starts, and every start's outcome, best first.

    `objective` is what EM climbed (nats): the log-likelihood, plus the log prior with a prior;
    `trace` is its course in the best start. Hidden states of all starts are in the same order.
    """

    network: Network
    log_likelihood: float
    objective: float
    trace: tuple[float, ...]
    stopped: StopReason
    starts: tuple[EMStart, ...]
    seed: int | None

    def __str__(self) -> str:
        return (
            f"log-likelihood {self.log_likelihood:,.4f} nats after {len(self.trace)} iterations "
            f"({self.stopped}), best of {len(self.starts)} starts"
        )


def fit_em(
    structure: DAG | Network,
    table: Table,
    prior: DirichletPrior | None = None,
    hidden: Mapping[str, int | Variable] | None = None,
    n_starts: int = 1,
    start: Literal["random", "cluster", "given"] | None = None,
    max_iterations: int = 500,
    tolerance: float = 1e-8,
    hard: bool = False,
    seed: int | None = None,
    progress: Listener | None = None,
    time_limit: float | None = None,
) -> EMResult:
    """The network over a known structure with parameters from incomplete rows, by EM.

    `structure` is a graph (`hidden` then says how many states the variables without a column
    have) or a network, whose parameters are the first start unless `start` says otherwise.
    Other starts are random, or by hard clustering of the rows. `hard` completes every row by its
    most probable explanation instead of averaging over all.

    >>> from unveil import datasets
    >>> asia = datasets.network("asia")
    >>> rows = asia.sample(500, seed=1).knock_out(0.2, seed=2)
    >>> result = fit_em(asia.dag, rows, seed=3)
    >>> result.stopped, result.log_likelihood > asia.log_likelihood(rows)
    ('converged', True)
    """
    if n_starts < 1:
        raise DataError(f"EM needs at least one start, got {n_starts}")
    kind = start or ("given" if isinstance(structure, Network) else "random")
    if kind not in START_KINDS:
        raise DataError(f"a start is one of {', '.join(START_KINDS)}, not {kind!r}")
    if kind == "given" and not isinstance(structure, Network):
        raise DataError("a given start needs a network with parameters, not only a graph")
    if seed is None:
        seed = int(np.random.default_rng().integers(2**31))
    variables = variables_of(structure, table, dict(hidden or {}))
    dag = structure.dag if isinstance(structure, Network) else structure
    ticker = Ticker(progress, time_limit)
    seeds = np.random.SeedSequence(seed).spawn(n_starts)
    given = structure if isinstance(structure, Network) else None
    outcomes: list[tuple[EMStart, EMRun[Vector]]] = []
    flat = FlatTables(
        network_to_start("random", dag, variables, table, given, np.random.default_rng(0))
    )
    expectation = HardExpectation(flat, table) if hard else Expectation(flat, table)
    step = em_step(expectation, flat, prior)
    for i, generator in enumerate(np.random.default_rng(s) for s in seeds):
        now = kind if i == 0 or kind != "given" else "random"
        first = flat.pack(network_to_start(now, dag, variables, table, given, generator))
        run = run_em(step, first, max_iterations, tolerance, ticker, f"EM, start {i + 1}")
        likelihood = run.objective - log_prior(run.parameters, flat.pack_prior(prior))
        network = flat.unpack(run.parameters)
        outcome = EMStart(now, likelihood, run.objective, run.n_iterations, run.stopped, network)
        outcomes.append((outcome, run))
        if not ticker.keep_going():
            break
    outcomes.sort(key=lambda pair: -pair[0].objective)
    best, run = outcomes[0]
    starts = [best, *(_aligned(o, best.network, table) for o, _ in outcomes[1:])]
    return EMResult(
        best.network, best.log_likelihood, best.objective, run.trace, best.stopped,
        tuple(starts), seed,
    )  # fmt: skip


def em_step(
    expectation: Callable[[Vector], Expected], flat: FlatTables, prior: DirichletPrior | None
) -> Callable[[Vector], tuple[Vector, float]]:
    """One EM step over tables as a vector: better tables, and the objective at those given."""
    alpha = flat.pack_prior(prior)

    def step(tables: Vector) -> tuple[Vector, float]:
        expected = expectation(tables)
        if expected.log_likelihood == -np.inf:
            raise ModelError(
                "some rows have probability zero under the network that EM starts from. Give it "
                "tables without zeros (fit them with a prior).",
                hint=Hint("Or take start='random'."),
            )
        objective = expected.log_likelihood + log_prior(tables, alpha)
        return flat.normalised(expected.counts + alpha), objective

    return step


def log_prior(tables: Vector, alpha: Vector) -> float:
    """Sum of alpha log theta, the prior's part of the objective (0 where alpha is 0)."""
    used = alpha > 0
    with np.errstate(divide="ignore"):
        return float(alpha[used] @ np.log(tables[used]))


def variables_of(
    structure: DAG | Network, table: Table, hidden: Mapping[str, int | Variable]
) -> dict[str, Variable]:
    """The variable behind every node: from the network, the table, or the word on hidden ones."""
    if isinstance(structure, Network):
        return {v.name: v for v in structure.variables}
    found = {}
    for name in structure.nodes:
        if name in hidden:
            given = hidden[name]
            states = range(given) if isinstance(given, int) else given.labels
            found[name] = Variable(name, states, hidden=True)
        elif name in table:
            found[name] = table.variable(name)
        else:
            raise DataError(
                f"the table has no column {name!r}.",
                hint=Hint(f"If it is hidden, say how many states it has: hidden={{{name!r}: 2}}"),
            )
    return found


def _aligned(outcome: EMStart, reference: Network, table: Table) -> EMStart:
    """The same outcome with the states of its hidden variables in the order of the reference."""
    unseen = [n for n in reference.names if n not in table or table.missing(n).all()]
    network = align_states(outcome.network, reference, unseen)
    return EMStart(
        outcome.kind, outcome.log_likelihood, outcome.objective, outcome.n_iterations,
        outcome.stopped, network,
    )  # fmt: skip


def unseen_names(network: Network, table: Table) -> Sequence[str]:
    """The variables that no row of the table shows."""
    return [n for n in network.names if n not in table or table.missing(n).all()]
