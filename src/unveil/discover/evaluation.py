"""What a candidate is worth: cardinality, EM, and structure adapted around it (thesis 4.1, 8.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from unveil.discover.observed import learn_complete
from unveil.em.align import permute_states
from unveil.em.completion import complete_rows
from unveil.em.scores import hidden_scores
from unveil.em.structural import structural_em
from unveil.graph.dag import DAG
from unveil.hidden.agglomeration import Agglomeration, agglomerate_states
from unveil.hidden.cardinality import choose_cardinality, completed_fit, short_em
from unveil.infer.explain import most_probable
from unveil.model.network import Network
from unveil.model.prior import EquivalentSampleSize
from unveil.model.table_cpd import TableCPD
from unveil.progress import Ticker
from unveil.score.bdeu import BDeu
from unveil.search.constraints import Constraints
from unveil.table.core import Table

__all__ = [
    "Adapt",
    "Bench",
    "Candidate",
    "adapt_candidate",
    "complete_hidden",
    "first_look",
    "polish_candidate",
    "redundancy",
]

Adapt = Literal["em", "blanket", "full"]


@dataclass(frozen=True)
class Candidate:
    """A hidden variable that was tried: where, with how many states, and what it scored.

    `gain` is the Cheeseman-Stutz score less that of the network without it, in nats. `verdict`
    says in words what became of it. `agglomeration` holds the merge tree it came from, `place` the
    set of nodes it was first put behind.
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


def first_look(
    bench: Bench, dag: DAG, name: str, children: Sequence[str], iterations: int = 30
) -> list[Candidate]:
    """A candidate by EM alone with the graph as constructed, at the cardinalities worth a try.

    These are the one that `choose_cardinality` prefers, and two and three states from the same
    tree of merges: the graph as constructed is crude and often asks for too many. The best first.
    """
    found = choose_cardinality(bench.completed, dag, name, score_sample_size=bench.prior.size)
    tree, fixed = found.agglomeration, bench.n_states
    wanted = {found.n_states, 2, 3} if fixed is None else {fixed}
    wanted = {k for k in wanted if 2 <= k <= tree.n_initial}
    if not wanted or (found.n_states < 2 and fixed is None):
        words = "agglomeration leaves a single state: nothing hidden here"
        where = frozenset(children)
        return [Candidate(name, tuple(children), 1, 0.0, None, tree, found.refined, words, where)]
    looked = []
    for k in sorted(wanted):
        fitted = _with_states(bench, dag, name, tree, k, iterations)
        looked.append(
            Candidate(
                name,
                tuple(children),
                k,
                bench.score_of(fitted),
                fitted,
                tree,
                found.refined,
                "fitted by EM",
                frozenset(children),
            )  # fmt: skip
        )
    return sorted(looked, key=lambda c: -c.gain)


def adapt_candidate(bench: Bench, candidate: Candidate, adapt: Adapt) -> Candidate:
    """The candidate after structural EM around it (`blanket`), everywhere (`full`), or not (`em`).

    When the structure has settled, the number of states is chosen anew for it, and the structure
    adapted again, while that helps.
    """
    best = _adapted(bench, candidate, adapt)
    for _ in range(3):
        if bench.n_states is not None or not bench.ticker.keep_going():
            break
        assert best.network is not None
        dag, name = best.network.dag, best.name
        if redundancy(best.network, name):
            break
        found = choose_cardinality(bench.completed, dag, name, score_sample_size=bench.prior.size)
        if found.n_states < 2 or found.n_states == best.n_states:
            break
        network = _with_states(bench, dag, name, found.agglomeration, found.n_states)
        fresh = replace(
            best, n_states=found.n_states, network=network, agglomeration=found.agglomeration,
            refined=found.refined,
        )  # fmt: skip
        again = _adapted(bench, fresh, adapt)
        if again.gain <= best.gain + 1e-6:
            break
        best = again
    return best


def polish_candidate(bench: Bench, candidate: Candidate, max_turns: int = 6) -> Candidate:
    """The candidate after changes that reach beyond its blanket, while any of them helps.

    A turn tries structural EM everywhere, from the present graph and from the graph that a search
    from nothing finds on the completed rows; and, with them, one state fewer and one more.
    Structural EM alone stays near its start, and the graph as constructed is a crude start.
    """
    best = candidate
    for _ in range(max_turns):
        starts = [best, *_relearned(bench, best), *_neighbouring_states(bench, best)]
        better = best
        for start in starts:
            if not bench.ticker.keep_going():
                break
            found = _adapted(bench, start, "full")
            if found.verdict != "kept" and best.verdict == "kept":
                continue
            if found.gain > better.gain or (found.verdict == "kept" != better.verdict):
                better = found
        if better.gain <= best.gain + 0.1 and better.verdict == best.verdict:
            break
        best = better
    return best


def _relearned(bench: Bench, candidate: Candidate) -> list[Candidate]:
    """The candidate with all arcs learned anew on the rows as its network completes them."""
    assert candidate.network is not None
    network, name = candidate.network, candidate.name
    completed = complete_rows(network, bench.table, cap=32, draws=8, seed=bench.seed)
    learned = learn_complete(
        completed, bench.prior, bench.max_parents, 2, bench.seed,
        time_limit=bench.ticker.time_left(),
    )  # fmt: skip
    childless = any(not learned.dag.children(h) for h in (name, *bench.network.hidden))
    return [] if childless else [replace(candidate, network=learned)]


def _neighbouring_states(bench: Bench, candidate: Candidate) -> list[Candidate]:
    """The candidate with one state fewer and with one more, from a new tree of merges."""
    assert candidate.network is not None
    network, name = candidate.network, candidate.name
    if bench.n_states is not None or redundancy(network, name):
        return []
    tree = agglomerate_states(bench.completed, network.dag, name)
    near = [k for k in (candidate.n_states - 1, candidate.n_states + 1) if 2 <= k <= tree.n_initial]
    return [
        replace(
            candidate, n_states=k, agglomeration=tree,
            network=_with_states(bench, network.dag, name, tree, k),
        )
        for k in near
    ]  # fmt: skip


def _with_states(
    bench: Bench, dag: DAG, name: str, tree: Agglomeration, k: int, iterations: int = 30
) -> Network:
    """The network in which the hidden variable has the k states of a tree of merges, after EM."""
    start = completed_fit(bench.completed, dag, name, tree.states(k), k, bench.prior)
    start = start.map_variables(lambda v: v if v.name == name else bench.network.variable(v.name))
    return short_em(start, bench.table, bench.prior, iterations)


def _adapted(bench: Bench, candidate: Candidate, adapt: Adapt) -> Candidate:
    assert candidate.network is not None
    network, name = candidate.network, candidate.name
    if adapt != "em":
        around = {name, *network.dag.markov_blanket(name)}
        limits = Constraints(
            max_parents=bench.max_parents, changeable=None if adapt == "full" else sorted(around)
        )
        network = structural_em(
            bench.table, network, BDeu(bench.prior.size), prior=bench.prior, constraints=limits,
            max_rounds=12, em_iterations=30, seed=bench.seed, time_limit=bench.ticker.time_left(),
        ).network  # fmt: skip
    network = _by_size(short_em(network, bench.table, bench.prior, 200, 1e-8), name)
    gain = bench.score_of(network)
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
