"""What a candidate is worth: its score, its predictions of rows left out, and redundancy."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from unveil.em.scores import hidden_scores
from unveil.hidden.agglomeration import Agglomeration
from unveil.hidden.cardinality import short_em
from unveil.infer.explain import most_probable
from unveil.model.fit import fit
from unveil.model.network import Network
from unveil.model.prior import EquivalentSampleSize
from unveil.model.table_cpd import TableCPD
from unveil.progress import Ticker
from unveil.table.core import Table

__all__ = [
    "PAYS",
    "Bench",
    "Candidate",
    "check_candidate",
    "complete_hidden",
    "fold_weights",
    "left_out_log_likelihood",
    "redundancy",
]


PAYS = "pays for its parameters"
"""The verdict on a candidate that could be kept."""


@dataclass(frozen=True)
class Candidate:
    """A hidden variable that was tried: where, with how many states, and what it scored.

    `gain` is the Cheeseman-Stutz score less that of the network without it, in nats. `verdict`
    says in words what became of it. `agglomeration` holds the merge tree it came from, `place` the
    set of nodes it was first put behind. `predicted` is the cross-validated gain in log-likelihood
    of the same rows (nats), for candidates that could be kept.
    """

    name: str
    children: tuple[str, ...]
    n_states: int
    gain: float
    network: Network | None
    agglomeration: Agglomeration | None
    refined: dict[int, float]
    verdict: str
    place: frozenset[str] = frozenset()
    predicted: float = float("nan")


def complete_hidden(network: Network, table: Table) -> Table:
    """The rows with every gap and hidden variable filled by its most probable explanation."""
    observed = table.select([n for n in network.names if n in table])
    if observed.is_complete and len(observed.names) == len(network.names):
        return observed.conform(network.variables)
    return most_probable(network, observed).table


@dataclass(frozen=True)
class Bench:
    """What every candidate of a round is tried against.

    `network` is the one without the candidate, with Cheeseman-Stutz score `score` on `table`;
    `completed` are the same rows with gaps and earlier hidden variables filled in. `n_states`
    fixes the number of states.
    """

    network: Network
    score: float
    table: Table
    completed: Table
    prior: EquivalentSampleSize
    max_parents: int | None
    n_states: int | None
    seed: int
    ticker: Ticker

    def score_of(self, network: Network) -> float:
        """The gain of a network over the one without the candidate, in nats."""
        return hidden_scores(network, self.table, self.prior).cheeseman_stutz - self.score


def check_candidate(bench: Bench, candidate: Candidate) -> Candidate:
    """The candidate with its cross-validated gain, if it could be kept.

    Cheeseman-Stutz rates some variables too high that explain a chance pattern; rows that were
    left out show it. The structure stays, the parameters are estimated without the fold.
    """
    if candidate.network is None or candidate.verdict != PAYS:
        return candidate
    gain = left_out_log_likelihood(bench, candidate.network)
    gain -= left_out_log_likelihood(bench, bench.network)
    words = PAYS if gain > 0 else "does not predict left-out rows better"
    return replace(candidate, predicted=gain, verdict=words)


def left_out_log_likelihood(bench: Bench, network: Network, n_folds: int = 5) -> float:
    """The log-likelihood of every row under parameters from the other folds, summed (nats)."""
    table, total = bench.table, 0.0
    observed = [n for n in network.names if n in table]
    complete = table.is_complete and len(observed) == len(network.names)
    for share in fold_weights(table, n_folds, bench.seed):
        rest = table.row_weights - share
        inside, outside = table.take(rest > 0), table.take(share > 0)
        inside = inside.with_weights(rest[rest > 0])
        if complete:
            fitted = fit(network.dag, inside.select(network.names), bench.prior)
        else:
            fitted = short_em(network, inside, bench.prior, 30)
        total += float(share[share > 0] @ fitted.row_log_likelihoods(outside.select(observed)))
    return total


def fold_weights(table: Table, n_folds: int, seed: int) -> npt.NDArray[np.float64]:
    """How much of every row's weight lies in each fold, shape (n_folds, n_rows).

    A row of weight 3 is three rows: each goes to a fold of its own accord. Plain rows are dealt
    out evenly.
    """
    generator = np.random.default_rng(seed)
    weights = table.row_weights
    if (weights == 1).all():
        fold = np.arange(table.n_rows) % n_folds
        return np.eye(n_folds)[:, generator.permutation(fold)]
    whole = np.floor(weights).astype(np.int64)
    shares = generator.multinomial(whole, np.full(n_folds, 1 / n_folds)).T.astype(np.float64)
    rest = generator.integers(n_folds, size=table.n_rows)
    shares[rest, np.arange(table.n_rows)] += weights - whole
    return shares


def redundancy(network: Network, name: str) -> str:
    """Why a hidden variable is superfluous, in words; empty if it is not."""
    variable = network.variable(name)
    children = network.dag.children(name)
    if variable.n_states < 2:
        return "redundant: it has a single state"
    neighbours = len(network.dag.neighbours(name))
    if not children or neighbours < 2:
        return "redundant: it is linked to a single variable"
    if len(children) == 1 and not network.dag.parents(name):
        return "redundant: it has a single child and no parent"
    twins = _equal_states(network, name)
    return f"redundant: its states {twins[0]} and {twins[1]} are the same" if twins else ""


def _equal_states(network: Network, name: str, tolerance: float = 0.01) -> tuple[int, int] | None:
    """Two states under which all children behave alike."""
    k = network.variable(name).n_states
    distance = np.zeros((k, k))
    for child in network.dag.children(name):
        cpd = network.cpd(child)
        assert isinstance(cpd, TableCPD)
        axis = [v.name for v in cpd.parents].index(name)
        rows = np.moveaxis(cpd.values, axis, 0).reshape(k, -1, cpd.variable.n_states)
        gap = np.abs(rows[:, None] - rows[None, :]).sum(axis=-1).max(axis=-1) / 2
        distance = np.maximum(distance, gap)
    alike = np.argwhere((distance < tolerance) & ~np.eye(k, dtype=bool))
    return (int(alike[0][0]), int(alike[0][1])) if len(alike) else None
