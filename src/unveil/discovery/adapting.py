"""From a place for a hidden variable to a network around it (thesis 4.1, third phase, and 8.2).

Three ways. `em` leaves the graph as constructed, `blanket` lets structural EM change what is around
the variable: both as in the thesis. `full` also takes from the construction no more than the states
it gives to the rows: all arcs are learned anew with these states as a column, and structural EM
goes on from there, everywhere. The graph as constructed has no arcs among the children and the
parents of a proxy, and structural EM stays near it; learned anew, the variable often comes out with
the place and the few states that it truly has. Neither start is always the better one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from unveil.discovery.evaluation import PAYS, Bench, Candidate, redundancy
from unveil.discovery.observed import learn_complete
from unveil.em.align import permute_states
from unveil.em.short import short_em
from unveil.em.structural import structural_em
from unveil.graph.dag import DAG
from unveil.hidden.agglomeration import Agglomeration
from unveil.hidden.cardinality import choose_cardinality, completed_fit
from unveil.model.network import Network
from unveil.model.turning import facing_away_from
from unveil.score.bdeu import BDeu
from unveil.search.constraints import Constraints
from unveil.table.core import Table
from unveil.table.variable import Variable

__all__ = [
    "NEGLIGIBLE",
    "Adapt",
    "adapt_candidate",
    "adapted",
    "as_parent",
    "from_states",
    "learned_anew",
    "with_cardinalities",
    "with_gaps",
    "with_states",
]

Adapt = Literal["em", "blanket", "full"]

NEGLIGIBLE = 1e-3
"""Completions of a row that are less probable do not count while arcs are searched for."""


def adapt_candidate(bench: Bench, candidate: Candidate, adapt: Adapt) -> Candidate:
    """The candidate after structural EM: around it, everywhere if learned anew, or not (`em`).

    When the structure around it has settled, the number of states is chosen anew for it, and the
    structure adapted again, while that helps. (One learned anew gets other numbers of states when
    it is polished.)
    """
    if candidate.anew:
        return adapted(bench, candidate, "full")
    adapt = "em" if adapt == "em" else "blanket"
    best = adapted(bench, candidate, adapt)
    for _ in range(3):
        if bench.n_states is not None or not bench.ticker.keep_going():
            break
        assert best.network is not None
        dag, name = best.network.dag, best.name
        if redundancy(best.network, name):
            break
        found = choose_cardinality(bench.completed, dag, name, score_sample_size=bench.prior.size)
        best = replace(best, agglomeration=found.agglomeration, refined=found.refined)
        if found.n_states < 2 or found.n_states == best.n_states:
            break
        network = with_states(bench, dag, name, found.agglomeration, found.n_states)
        fresh = replace(best, n_states=found.n_states, network=network)
        again = adapted(bench, fresh, adapt)
        if again.gain <= best.gain + 1e-6:
            break
        best = again
    return best


def with_gaps(bench: Bench, candidate: Candidate, adapt: Adapt) -> Candidate:
    """The candidate adapted to the rows as they are; the same if they have no gaps."""
    if candidate.network is None or bench.glanced is bench.table:
        return candidate
    as_they_are = replace(bench, completed=bench.table)
    return adapted(as_they_are, candidate, adapt, max_rounds=5)


def as_parent(bench: Bench, candidate: Candidate) -> Candidate:
    """The candidate in the equivalent graph that makes hidden variables parents where it can.

    Scores and predictions are the same; it is easier to read.
    """
    if candidate.network is None:
        return candidate
    network = facing_away_from(candidate.network, [*bench.network.hidden, candidate.name])
    return replace(candidate, network=network, children=network.dag.children(candidate.name))


def with_cardinalities(bench: Bench, candidate: Candidate) -> Candidate:
    """The candidate with the tree of merges and the scores by number of states of its own graph."""
    assert candidate.network is not None
    dag, name = candidate.network.dag, candidate.name
    found = choose_cardinality(bench.completed, dag, name, score_sample_size=bench.prior.size)
    return replace(candidate, agglomeration=found.agglomeration, refined=found.refined)


def from_states(
    bench: Bench, candidate: Candidate, states: npt.NDArray[np.int64], k: int
) -> list[Candidate]:
    """The candidate with these states of the rows, all arcs learned anew, after a short EM."""
    name = candidate.name
    column = Variable(name, range(k), hidden=True)
    network = learned_anew(bench, bench.completed.with_column(column, states), name, restarts=0)
    if network is None:
        return []
    network = short_em(network, bench.glanced, bench.prior, 15)
    return [
        replace(
            candidate, children=network.dag.children(name), n_states=k,
            gain=bench.gain_at_a_glance(network), network=network, anew=True,
            verdict="fitted by EM, all arcs learned anew",
        )
    ]  # fmt: skip


def learned_anew(bench: Bench, completed: Table, name: str, restarts: int) -> Network | None:
    """The best network of completed rows; `None` if a hidden variable would have no child."""
    network = learn_complete(
        completed, bench.prior, bench.max_parents, restarts, bench.seed,
        time_limit=bench.ticker.time_left(),
    )  # fmt: skip
    if not network.dag.children(name) or bench.childless(network.dag):
        return None
    return _named_as_before(bench, network, name)


def with_states(
    bench: Bench, dag: DAG, name: str, tree: Agglomeration, k: int, iterations: int = 30
) -> Network:
    """The network in which the hidden variable has the k states of a tree of merges, after EM."""
    start = completed_fit(bench.completed, dag, name, tree.states(k), k, bench.prior)
    return short_em(_named_as_before(bench, start, name), bench.glanced, bench.prior, iterations)


def _named_as_before(bench: Bench, network: Network, name: str) -> Network:
    """The network with earlier hidden variables marked as such: as columns they were not."""
    return network.map_variables(lambda v: v if v.name == name else bench.network.variable(v.name))


def adapted(bench: Bench, candidate: Candidate, adapt: Adapt, max_rounds: int = 12) -> Candidate:
    """The candidate after structural EM of the kind asked for and EM, with its gain and verdict."""
    assert candidate.network is not None
    network, name = candidate.network, candidate.name
    if adapt != "em":
        around = {name, *network.dag.markov_blanket(name)}
        limits = Constraints(
            max_parents=bench.max_parents, changeable=None if adapt == "full" else sorted(around)
        )
        network = structural_em(
            bench.glanced, network, BDeu(bench.prior.size), prior=bench.prior, constraints=limits,
            max_rounds=max_rounds, em_iterations=30, negligible=NEGLIGIBLE, seed=bench.seed,
            time_limit=bench.ticker.time_left(),
        ).network  # fmt: skip
    network = _by_size(short_em(network, bench.glanced, bench.prior, 200, 1e-8), name)
    gain = bench.gain_at_a_glance(network)
    words = redundancy(network, name) or (PAYS if gain > 0 else "does not pay for its parameters")
    for earlier in bench.network.hidden:
        if redundancy(network, earlier):
            words = f"makes {earlier} {redundancy(network, earlier)}"
    return replace(
        candidate, children=network.dag.children(name), n_states=network.variable(name).n_states,
        gain=gain, network=network, verdict=words,
    )  # fmt: skip


def _by_size(network: Network, name: str) -> Network:
    """The network with the states of a hidden variable ordered from the commonest."""
    share = network.posterior(of=name)[name][0]
    return permute_states(network, name, np.argsort(-share, kind="stable"))
