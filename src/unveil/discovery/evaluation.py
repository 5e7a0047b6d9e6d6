"""What a candidate is worth: its score, its predictions of rows left out, and redundancy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from unveil.em.completion import complete_rows
from unveil.em.scores import hidden_scores
from unveil.em.short import short_em
from unveil.evaluate.log_loss import fold_tables, n_cases
from unveil.graph.dag import DAG
from unveil.hidden.agglomeration import Agglomeration
from unveil.infer.explain import most_probable
from unveil.model.fit import fit
from unveil.model.network import Network
from unveil.model.prior import EquivalentSampleSize
from unveil.model.table_cpd import TableCPD
from unveil.progress import Ticker
from unveil.table.core import Table

__all__ = [
    "FORGETTING",
    "PAYS",
    "Bench",
    "Candidate",
    "check_candidate",
    "complete_hidden",
    "left_out_log_likelihood",
    "redundancy",
]


PAYS = "pays for its parameters"
"""The verdict on a candidate that could be kept."""
FORGETTING = (300, 1e-8)
"""Iterations at most, and tolerance, of EM on the rows of a fold."""


@dataclass(frozen=True)
class Candidate:
    """A hidden variable that was tried: where, with how many states, and what it scored.

    `gain` is the Cheeseman-Stutz score less that of the network without it, in nats (of a candidate
    that was given up before it met the gaps of a table, on rows with the gaps filled in). `verdict`
    says in words what became of it. `agglomeration` holds the merge tree it came from, `place` the
    set of nodes it was first put behind; `anew` says that all arcs were learned anew from its
    states. `predicted` is the cross-validated gain in log-likelihood of the same rows (nats), for
    candidates that could be kept.
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
    anew: bool = False
    predicted: float = float("nan")


def complete_hidden(network: Network, table: Table, seed: int) -> Table:
    """The rows with gaps and hidden variables filled in (not always in the same order).

    Gaps are filled by a draw from their posterior: their most probable explanation would make
    everything look more regular than it is. Rows that lack hidden variables only get that.
    """
    observed = table.select([n for n in network.names if n in table])
    if not observed.is_complete:
        return complete_rows(network, observed, cap=1, draws=1, seed=seed)
    if len(observed.names) == len(network.names):
        return observed.conform(network.variables)
    return most_probable(network, observed).table


@dataclass(frozen=True)
class Bench:
    """What every candidate of a round is tried against.

    `network` is the one without the candidate, with Cheeseman-Stutz score `score` on `table`;
    `completed` are the same rows with gaps and earlier hidden variables filled in. `n_states`
    fixes the number of states. Candidates are tried on `glanced`, the rows with their gaps filled
    in: EM then sums over hidden variables only, which may be a thousand times less work. What comes
    out best is fitted and scored again with the gaps.
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

    @cached_property
    def glanced(self) -> Table:
        """The rows to try candidates on: without gaps."""
        return self.table if self.table.is_complete else self.completed.select(self.table.names)

    @cached_property
    def _glanced_score(self) -> float:
        if self.glanced is self.table:
            return self.score
        return hidden_scores(self.network, self.glanced, self.prior).cheeseman_stutz

    def gain_at_a_glance(self, network: Network) -> float:
        """The gain of a network over the one without the candidate on `glanced`, in nats."""
        score = hidden_scores(network, self.glanced, self.prior).cheeseman_stutz
        return score - self._glanced_score

    def childless(self, dag: DAG) -> list[str]:
        """The earlier hidden variables that would have no child in this graph."""
        return [h for h in self.network.hidden if not dag.children(h)]

    def too_many_parents(self, dag: DAG) -> bool:
        """Whether some variable has more parents than are allowed."""
        most = self.max_parents
        return most is not None and any(len(dag.parents(n)) > most for n in dag.nodes)


def check_candidate(bench: Bench, candidate: Candidate) -> Candidate:
    """The candidate with its cross-validated gain, if it could be kept.

    Cheeseman-Stutz rates some variables too high that explain a chance pattern; rows that were
    left out show it. The structure stays, the parameters are estimated without the fold.
    """
    if candidate.network is None or candidate.verdict != PAYS or n_cases(bench.table) < 5:
        return candidate
    gain = left_out_log_likelihood(bench, candidate.network)
    gain -= left_out_log_likelihood(bench, bench.network)
    words = PAYS if gain > 0 else "does not predict left-out rows better"
    return replace(candidate, predicted=gain, verdict=words)


def left_out_log_likelihood(bench: Bench, network: Network, n_folds: int = 5) -> float:
    """The log-likelihood of every row under parameters from the other folds, summed (nats).

    EM goes on long enough to forget where it began: at parameters that knew the rows left out.
    """
    observed = bench.table.select([n for n in network.names if n in bench.table])
    complete = observed.is_complete and observed.n_columns == len(network.names)
    total = 0.0
    for inside, outside in fold_tables(observed, n_folds, bench.seed):
        if complete:
            fitted = fit(network.dag, inside, bench.prior)
        else:
            fitted = short_em(network, inside, bench.prior, *FORGETTING)
        total += float(outside.row_weights @ fitted.row_log_likelihoods(outside))
    return total


def redundancy(network: Network, name: str) -> str:
    """Why a hidden variable is superfluous, in words; empty if it is not."""
    variable = network.variable(name)
    children = network.dag.children(name)
    if variable.n_states < 2:
        return "redundant: it has a single state"
    neighbours = len(network.dag.neighbours(name))
    if not children or neighbours < 2:
        return "redundant: it is linked to a single variable"
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
