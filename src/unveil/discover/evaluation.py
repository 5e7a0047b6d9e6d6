"""What a candidate is worth: cardinality, EM, and structure adapted around it (thesis 4.1, 8.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from unveil.em.align import permute_states
from unveil.em.scores import hidden_scores
from unveil.em.structural import structural_em
from unveil.graph.dag import DAG
from unveil.hidden.agglomeration import Agglomeration
from unveil.hidden.cardinality import choose_cardinality, completed_fit, short_em
from unveil.infer.explain import most_probable
from unveil.model.network import Network
from unveil.model.prior import EquivalentSampleSize
from unveil.model.table_cpd import TableCPD
from unveil.progress import Ticker
from unveil.score.bdeu import BDeu
from unveil.search.constraints import Constraints
from unveil.table.core import Table

__all__ = ["Adapt", "Candidate", "adapt_candidate", "complete_hidden", "first_look", "redundancy"]

Adapt = Literal["em", "blanket", "full"]


@dataclass(frozen=True)
class Candidate:
    """A hidden variable that was tried: where, with how many states, and what it scored.

    `gain` is the Cheeseman-Stutz score less that of the network without it, in nats. `verdict`
    says in words what became of it. `agglomeration` holds the merge tree it came from.
    """

    name: str
    children: tuple[str, ...]
    n_states: int
    gain: float
    network: Network | None
    agglomeration: Agglomeration | None
    refined: dict[int, float]
    verdict: str


def complete_hidden(network: Network, table: Table) -> Table:
    """The rows with every gap and hidden variable filled by its most probable explanation."""
    observed = table.select([n for n in network.names if n in table])
    if observed.is_complete and len(observed.names) == len(network.names):
        return observed.conform(network.variables)
    return most_probable(network, observed).table


def first_look(
    network: Network,
    completed: Table,
    table: Table,
    dag: DAG,
    name: str,
    children: Sequence[str],
    base_score: float,
    prior: EquivalentSampleSize,
    n_states: int | None,
    iterations: int = 30,
) -> list[Candidate]:
    """A candidate by EM alone with the graph as constructed, at the cardinalities worth a try.

    These are the one that `choose_cardinality` prefers, and two and three states from the same
    tree of merges: the graph as constructed is crude and often asks for too many.
    """
    found = choose_cardinality(completed, dag, name, score_sample_size=prior.size)
    tree = found.agglomeration
    wanted = {found.n_states, 2, 3} if n_states is None else {n_states}
    wanted = {k for k in wanted if 2 <= k <= tree.n_initial}
    if not wanted or (found.n_states < 2 and n_states is None):
        words = "agglomeration leaves a single state: nothing hidden here"
        return [Candidate(name, tuple(children), 1, 0.0, None, tree, found.refined, words)]
    looked = []
    for k in sorted(wanted):
        start = completed_fit(completed, dag, name, tree.states(k), k, prior)
        start = start.map_variables(lambda v: v if v.name == name else network.variable(v.name))
        fitted = short_em(start, table, prior, iterations)
        gain = hidden_scores(fitted, table, prior).cheeseman_stutz - base_score
        looked.append(
            Candidate(name, tuple(children), k, gain, fitted, tree, found.refined, "fitted by EM")
        )
    return looked


def adapt_candidate(
    candidate: Candidate,
    completed: Table,
    table: Table,
    base_score: float,
    prior: EquivalentSampleSize,
    adapt: Adapt,
    max_parents: int | None,
    fixed_states: bool,
    seed: int,
    ticker: Ticker,
) -> Candidate:
    """The candidate after structural EM around it (`blanket`), everywhere (`full`), or not (`em`).

    When the structure has settled, the number of states is chosen anew for it, and the structure
    adapted again, while that helps.
    """
    best = _adapted(candidate, table, base_score, prior, adapt, max_parents, seed, ticker)
    for _ in range(3):
        if fixed_states or best.network is None or not ticker.keep_going():
            break
        network, name = best.network, best.name
        if redundancy(network, name):
            break
        found = choose_cardinality(completed, network.dag, name, score_sample_size=prior.size)
        if found.n_states < 2 or found.n_states == network.variable(name).n_states:
            break
        start = completed_fit(completed, network.dag, name, found.codes, found.n_states, prior)
        start = start.map_variables(lambda v: v if v.name == name else network.variable(v.name))
        fresh = replace(
            best, n_states=found.n_states, network=short_em(start, table, prior, 30),
            agglomeration=found.agglomeration, refined=found.refined,
        )  # fmt: skip
        again = _adapted(fresh, table, base_score, prior, adapt, max_parents, seed, ticker)
        if again.gain <= best.gain + 1e-6:
            break
        best = again
    return best


def _adapted(
    candidate: Candidate,
    table: Table,
    base_score: float,
    prior: EquivalentSampleSize,
    adapt: Adapt,
    max_parents: int | None,
    seed: int,
    ticker: Ticker,
) -> Candidate:
    assert candidate.network is not None
    network, name = candidate.network, candidate.name
    if adapt != "em":
        around = {name, *network.dag.markov_blanket(name)}
        limits = Constraints(
            max_parents=max_parents, changeable=None if adapt == "full" else sorted(around)
        )
        network = structural_em(
            table, network, BDeu(prior.size), prior=prior, constraints=limits, max_rounds=12,
            em_iterations=30, seed=seed, time_limit=ticker.time_left(),
        ).network  # fmt: skip
    network = _by_size(short_em(network, table, prior, 200, 1e-8), name)
    gain = hidden_scores(network, table, prior).cheeseman_stutz - base_score
    words = redundancy(network, name) or ("kept" if gain > 0 else "does not pay for its parameters")
    return replace(
        candidate, children=network.dag.children(name), n_states=network.variable(name).n_states,
        gain=gain, network=network, verdict=words,
    )  # fmt: skip


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


def _by_size(network: Network, name: str) -> Network:
    """The network with the states of a hidden variable ordered from the commonest."""
    share = network.posterior(of=name)[name][0]
    return permute_states(network, name, np.argsort(-share, kind="stable"))
