"""Structural EM for tables with discrete and continuous columns, and gaps (thesis 2.3, 7.4).

Families of a mixed network have no common expected statistics that would be small enough to keep.
So a step of structural EM draws the unseen cells a few times from their posterior and searches over
the completed rows; the parameters of the graph found are then fitted by exact EM, and a step is
taken only if it raises the exact score of what was observed. Draws guide, they do not judge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unveil.em.starts import network_to_start
from unveil.em.steps import em_problem
from unveil.errors import DataError, SizeError
from unveil.graph.dag import DAG
from unveil.infer.explain import draw_missing
from unveil.model.fit import fit
from unveil.model.gaussian_cpd import GaussianPrior
from unveil.model.mixed_prior import MixedPrior
from unveil.model.network import Network
from unveil.model.prior import DirichletPrior, EquivalentSampleSize
from unveil.progress import Progress, Step, StopReason, Ticker
from unveil.score.base import Sample
from unveil.score.choose import AnyFamilies, families_for
from unveil.score.mixed_families import BORROWED
from unveil.score.structure import StructurePrior
from unveil.search.combined import combined_search
from unveil.search.constraints import Constraints
from unveil.table.core import Table, recoded

__all__ = ["MixedStructure", "completed", "mixed_structural_em"]

PHASE = "structural EM"
DRAWS = 5
"""So many completions of every row with gaps."""
PATIENCE = 2
"""So many rounds in a row may bring nothing: other draws may ask for other arcs."""
STEPS, TOLERANCE = 100, 1e-6
"""Where EM for the parameters of one graph ends."""


@dataclass(frozen=True, eq=False)
class MixedStructure:
    """The best network, the score of what was observed (nats), and scores of completed rows."""

    network: Network
    score: float
    scores: AnyFamilies
    trace: tuple[Step, ...]
    stopped: StopReason


def mixed_structural_em(
    table: Table,
    score: Any,
    constraints: Constraints | None = None,
    structure_prior: StructurePrior | None = None,
    start: DAG | None = None,
    prior: DirichletPrior | None = None,
    max_rounds: int = 20,
    seed: int | np.random.Generator | None = None,
    progress: Progress | None = None,
    time_limit: float | None = None,
) -> MixedStructure:
    """The network of a mixed table with gaps.

    `score` is a log-likelihood less a cost of parameters (BIC, AIC, MDL). It begins at `start`, or
    without arcs, and ends when `PATIENCE` rounds brought nothing, or after `max_rounds`.
    """
    if not hasattr(score, "cost"):
        raise DataError(
            f"with missing cells, tables with continuous columns are scored by bic, aic, mdl or "
            f"likelihood, not by {score.name}"
        )
    ticker = Ticker.of(progress, time_limit)
    generator = np.random.default_rng(seed)
    believed: Any = MixedPrior(prior or EquivalentSampleSize(1), GaussianPrior(borrowed=BORROWED))
    rules = constraints or Constraints()
    first = start or DAG(table.names, rules.required)
    variables = {v.name: v for v in table.variables}
    begun = network_to_start("random", first, variables, table, None, np.random.default_rng(0))
    best = _fitted(begun, table, believed, ticker)
    value = _observed_score(best, table, score, structure_prior)
    trace, misses, round_, reason = [Step(PHASE, 0, value, 0.0)], 0, 0, "iteration cap"
    scores = families_for(_by_name(completed(best, table, generator)), score, structure_prior)
    while round_ < max_rounds and ticker.keep_going():
        round_ += 1
        found = combined_search(
            scores, start=_ordered(best.dag, scores.names), constraints=constraints,
            progress=ticker.part(),
        )  # fmt: skip
        offered, gain = _tried(found.dag, best, table, believed, ticker), -np.inf
        if offered is not None:
            gain = _observed_score(offered, table, score, structure_prior) - value
        if offered is not None and gain > 1e-6 * abs(value):
            best, value, misses = offered, value + gain, 0
        else:
            misses += 1
        step = Step(PHASE, round_, value, max(gain, 0.0), elapsed=ticker.elapsed)
        trace.append(step)
        ticker.tell(step)
        if misses > PATIENCE:
            reason = "converged"
            break
        scores = families_for(_by_name(completed(best, table, generator)), score, structure_prior)
    return MixedStructure(best, value, scores, tuple(trace), ticker.reason or reason)  # type: ignore[arg-type]


def completed(
    network: Network, table: Table, generator: np.random.Generator, draws: int = DRAWS
) -> Table:
    """Complete rows as they are, and `draws` completions of every other, each with its share.

    >>> from unveil import Variable
    >>> from unveil.model import LinearGaussianCPD
    >>> network = Network([LinearGaussianCPD(Variable("x"), [], 0, [], 1)])
    >>> rows = completed(network, Table([Variable("x")], [[0.5, np.nan]]), np.random.default_rng(1))
    >>> rows.n_rows, round(float(rows.total_weight), 9), rows.is_complete
    (6, 2.0, True)
    """
    rows = table.select(network.names).conform(network.variables)
    gaps = np.zeros(table.n_rows, bool)
    for name in rows.names:
        gaps |= rows.missing(name)
    parts, weights = [rows.take(~gaps)], [table.row_weights[~gaps]]
    unseen = rows.take(gaps)
    for _ in range(draws if gaps.any() else 0):
        parts.append(draw_missing(network, unseen, generator).select(network.names))
        weights.append(table.row_weights[gaps] / draws)
    columns = []
    for name in network.names:
        kind = parts[0].column(name).dtype
        columns.append(np.concatenate([recoded(p.column(name), kind) for p in parts]))
    return Table(network.variables, columns, np.concatenate(weights))


def _fitted(network: Network, table: Table, prior: Any, ticker: Ticker) -> Network:
    """The parameters that EM finds from those given, as long as it gains.

    A configuration of discrete parents with few rows borrows from all others, as much as they
    scatter now: no fixed prior, so the objective may fall by a little near its end, and EM stops.
    """
    problem = em_problem(network, table, prior)
    best, reached = network, -np.inf
    for _ in range(STEPS):
        better, objective = problem.step(network)
        if objective <= reached + TOLERANCE * abs(objective):
            return network if objective > reached else best
        best, reached = network, objective
        network = better
        if not ticker.keep_going():
            break
    return best


def _tried(dag: DAG, current: Network, table: Table, prior: Any, ticker: Ticker) -> Network | None:
    """The graph fitted to what was observed; `None` if it is the present one, or has so many
    unseen discrete parents that their configurations cannot be summed over.
    """
    ordered = _ordered(dag, current.names)
    if ordered == current.dag:
        return None
    rows = completed(current, table, np.random.default_rng(1))
    try:
        return _fitted(fit(ordered, rows, prior), table, prior, ticker)
    except SizeError:
        return None


def _observed_score(
    network: Network, table: Table, score: Any, structure_prior: StructurePrior | None
) -> float:
    """The log-likelihood of what was observed, less the cost of parameters."""
    sample = Sample(table.total_weight, table.n_columns)
    cost = score.cost(float(network.n_parameters), float(network.dag.n_arcs), sample)
    value = float(network.log_likelihood(table)) - float(cost)
    if structure_prior is not None:
        value += sum(structure_prior.family(n, network.dag.parents(n)) for n in network.names)
    return value


def _by_name(table: Table) -> Table:
    return table.select(sorted(table.names))


def _ordered(dag: DAG, names: tuple[str, ...] | Any) -> DAG:
    place = {name: i for i, name in enumerate(names)}
    return DAG.from_parents({n: sorted(dag.parents(n), key=place.__getitem__) for n in names})
