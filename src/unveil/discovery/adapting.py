"""From a place for a hidden variable to a network around it (thesis 4.1, third phase, and 8.2).

Three ways. `em` leaves the graph as constructed, `blanket` lets structural EM change what is around
the variable: both as in the thesis. `full` also takes from the construction no more than the states
it gives to the rows: all arcs are learned anew with these states as a column, and structural EM
goes on from there, everywhere. The graph as constructed has no arcs among the children and the
parents of a proxy, and structural EM stays near it; learned anew, the variable often comes out with
the place and the few states that it truly has. Neither start is always the better one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import combinations
from typing import Literal

import numpy as np
import numpy.typing as npt

from unveil.discovery.evaluation import PAYS, Bench, Candidate, redundancy
from unveil.discovery.observed import learn_complete
from unveil.em.align import permute_states
from unveil.em.completion import complete_rows
from unveil.em.parametric import fit_em
from unveil.em.short import short_em
from unveil.em.structural import structural_em
from unveil.errors import SizeError
from unveil.graph.dag import DAG
from unveil.hidden.agglomeration import Agglomeration, agglomerate_states
from unveil.hidden.candidate import naive_graph
from unveil.hidden.cardinality import choose_cardinality, completed_fit
from unveil.model.network import Network
from unveil.model.turning import facing_away_from
from unveil.score.bdeu import BDeu
from unveil.search.constraints import Constraints
from unveil.table.core import Table
from unveil.table.variable import Variable

__all__ = [
    "Adapt",
    "adapt_candidate",
    "as_parent",
    "first_look",
    "polish_candidate",
    "random_candidate",
    "wide_candidate",
    "with_cardinalities",
    "with_gaps",
]

Adapt = Literal["em", "blanket", "full"]

NEGLIGIBLE = 1e-3
"""Completions of a row that are less probable do not count while arcs are searched for."""


def first_look(
    bench: Bench, dag: DAG, name: str, children: Sequence[str], adapt: Adapt
) -> list[Candidate]:
    """A place at the numbers of states worth a try, by EM alone; the best first."""
    found = _as_constructed(bench, dag, name, children, even_collapsed=adapt == "full")
    tree = found[0].agglomeration
    assert tree is not None
    if bench.too_many_parents(dag):
        words = "has more parents than are allowed, as constructed"
        found = [replace(found[0], network=None, verdict=words)]
    if adapt == "full":
        found += _anew(bench, tree, name, children)
    return sorted(found, key=lambda c: (c.network is None, -c.gain))


def _anew(bench: Bench, tree: Agglomeration, name: str, children: Sequence[str]) -> list[Candidate]:
    """Candidates of two, three and four states from one tree of merges, all arcs learned anew.

    More states come later, one at a time, where they pay.
    """
    wanted = (2, 3, 4) if bench.n_states is None else (bench.n_states,)
    blank = Candidate(name, tuple(children), 1, 0.0, None, tree, {}, "", frozenset(children))
    return [
        c for k in wanted if k <= tree.n_initial
        for c in _from_states(bench, blank, tree.states(k), k)
    ]  # fmt: skip


def _from_states(
    bench: Bench, candidate: Candidate, states: npt.NDArray[np.int64], k: int
) -> list[Candidate]:
    """The candidate with these states of the rows, all arcs learned anew, after a short EM."""
    name = candidate.name
    column = Variable(name, range(k), hidden=True)
    network = _learned(bench, bench.completed.with_column(column, states), name, restarts=0)
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


def _as_constructed(
    bench: Bench, dag: DAG, name: str, children: Sequence[str], even_collapsed: bool
) -> list[Candidate]:
    """Candidates with the graph as constructed.

    Their numbers of states are the one that `choose_cardinality` prefers, and two and three from
    the same tree of merges: the graph as constructed is crude and often asks for too many, or for
    a single state (then it is the end of this place, unless `even_collapsed`).
    """
    found = choose_cardinality(bench.completed, dag, name, score_sample_size=bench.prior.size)
    tree, fixed, where = found.agglomeration, bench.n_states, frozenset(children)
    wanted = {found.n_states, 2, 3} if fixed is None else {fixed}
    wanted = {k for k in wanted if 2 <= k <= tree.n_initial}
    if not wanted or (found.n_states < 2 and fixed is None and not even_collapsed):
        words = "agglomeration leaves a single state: nothing hidden here"
        if fixed is not None:
            words = (
                f"the rows around it differ in {tree.n_initial} ways, too few for {fixed} states"
            )
        return [Candidate(name, tuple(children), 1, 0.0, None, tree, found.refined, words, where)]
    looked = []
    for k in sorted(wanted):
        fitted = _with_states(bench, dag, name, tree, k)
        gain, words = bench.gain_at_a_glance(fitted), "fitted by EM"
        looked.append(
            Candidate(name, tuple(children), k, gain, fitted, tree, found.refined, words, where)
        )
    return looked


def adapt_candidate(bench: Bench, candidate: Candidate, adapt: Adapt) -> Candidate:
    """The candidate after structural EM: around it, everywhere if learned anew, or not (`em`).

    When the structure around it has settled, the number of states is chosen anew for it, and the
    structure adapted again, while that helps. (One learned anew gets other numbers of states when
    it is polished.)
    """
    if candidate.anew:
        return _adapted(bench, candidate, "full")
    adapt = "em" if adapt == "em" else "blanket"
    best = _adapted(bench, candidate, adapt)
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
        network = _with_states(bench, dag, name, found.agglomeration, found.n_states)
        fresh = replace(best, n_states=found.n_states, network=network)
        again = _adapted(bench, fresh, adapt)
        if again.gain <= best.gain + 1e-6:
            break
        best = again
    return best


def with_gaps(bench: Bench, candidate: Candidate, adapt: Adapt) -> Candidate:
    """The candidate adapted to the rows as they are; the same if they have no gaps."""
    if candidate.network is None or bench.glanced is bench.table:
        return candidate
    as_they_are = replace(bench, completed=bench.table)
    return _adapted(as_they_are, candidate, adapt, max_rounds=5)


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


def wide_candidate(bench: Bench, k: int, name: str) -> Candidate:
    """A candidate that begins as the parent of everything, with k states of clustered rows.

    The signature is local; a variable behind much of the table (the mood of a market, a social
    class) leaves many small ones. Structural EM takes from it what others explain better.
    """
    names = bench.glanced.names
    start = fit_em(
        naive_graph(names, name), bench.glanced, bench.prior, {name: k}, start="cluster",
        max_iterations=50, tolerance=1e-6, seed=bench.seed,
    ).network  # fmt: skip
    candidate = Candidate(name, names, k, 0.0, start, None, {}, "", frozenset(names))
    return _adapted(bench, candidate, "full")


def random_candidate(bench: Bench, name: str, seed: int) -> Candidate:
    """A candidate from a random place: structural EM with no arcs but those of the variable.

    For tables small enough to afford many: there the signature says little (all is linked to all),
    and the best place may differ much from the graph without the variable.
    """
    generator = np.random.default_rng([bench.seed, seed])
    names = bench.glanced.names
    size = int(generator.integers(2, min(len(names), 6) + 1))
    kids = [names[i] for i in sorted(generator.permutation(len(names))[:size])]
    dag = DAG([*names, name], [(name, kid) for kid in kids])
    k = bench.n_states or 2 + seed % 2
    start = fit_em(
        dag, bench.glanced, bench.prior, {name: k}, max_iterations=50, tolerance=1e-6, seed=seed
    ).network
    candidate = Candidate(name, tuple(kids), k, 0.0, start, None, {}, "", frozenset(kids))
    return _adapted(bench, candidate, "full")


def polish_candidate(bench: Bench, candidate: Candidate) -> Candidate:
    """The candidate after a larger change, if one helps, or as it was (so call it again).

    What is tried: structural EM everywhere from the present graph and from the graph that a search
    from nothing finds on the completed rows; one state more, one state fewer from a new tree of
    merges; two states made one or one made two, with all arcs learned anew.
    """
    better = candidate
    for start in _larger_changes(bench, candidate):
        if not bench.ticker.keep_going():
            break
        try:
            found = _adapted(bench, start, "full")
        except SizeError:
            continue
        if found.verdict != PAYS and candidate.verdict == PAYS:
            continue
        if found.gain > better.gain + 0.1 or (found.verdict == PAYS != better.verdict):
            better = found
    return better


def _larger_changes(bench: Bench, candidate: Candidate) -> Iterator[Candidate]:
    yield candidate
    for change in (_relearned, _neighbouring_states, _merged_states, _split_states):
        if bench.ticker.keep_going():
            with suppress(SizeError):
                yield from change(bench, candidate)


def _relearned(bench: Bench, candidate: Candidate) -> list[Candidate]:
    """The candidate with all arcs learned anew on the rows as its network completes them."""
    assert candidate.network is not None
    completed = complete_rows(
        candidate.network, bench.glanced, cap=32, draws=8, seed=bench.seed, negligible=NEGLIGIBLE
    )
    network = _learned(bench, completed, candidate.name, restarts=1)
    return [] if network is None else [replace(candidate, network=network)]


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


def _merged_states(bench: Bench, candidate: Candidate, max_states: int = 8) -> list[Candidate]:
    """The candidate with fewer states and all arcs learned anew: one for each number of states.

    Where arcs around the variable are missing, it needs more states to make up for them. Fewer
    states bring the arcs back, but only if they are learned again. The best pair is made one, then
    the best pair of those left, down to two states: on the way it may get worse before it gets
    better.
    """
    assert candidate.network is not None
    if bench.n_states is not None or candidate.n_states > max_states:
        return []
    found: list[Candidate] = []
    now = candidate
    while now.n_states > 2:
        assert now.network is not None
        states = now.network.posterior(bench.glanced, of=now.name)[now.name].argmax(axis=1)
        merged = []
        for i, j in combinations(range(now.n_states), 2):
            fewer = np.where(states == j, i, np.where(states > j, states - 1, states))
            merged += _from_states(bench, candidate, fewer, now.n_states - 1)
        if not merged:
            break
        now = max(merged, key=lambda c: c.gain)
        found.append(now)
    return found


def _split_states(bench: Bench, candidate: Candidate, max_states: int = 6) -> list[Candidate]:
    """The candidate with one of its states made two and all arcs learned anew: the best of them.

    The rows of the state are parted as agglomeration parts them when it sees no others.
    """
    assert candidate.network is not None
    network, name, k = candidate.network, candidate.name, candidate.n_states
    if bench.n_states is not None or k >= max_states or redundancy(network, name):
        return []
    states = network.posterior(bench.glanced, of=name)[name].argmax(axis=1)
    found = []
    for state in range(k):
        inside = np.flatnonzero(states == state)
        if len(inside) < 2:
            continue
        tree = agglomerate_states(bench.completed.take(inside), network.dag, name)
        if tree.n_initial >= 2:
            more = states.copy()
            more[inside[tree.states(2) == 1]] = k
            found += _from_states(bench, candidate, more, k + 1)
    return sorted(found, key=lambda c: -c.gain)[:1]


def _learned(bench: Bench, completed: Table, name: str, restarts: int) -> Network | None:
    """The best network of completed rows; `None` if a hidden variable would have no child."""
    network = learn_complete(
        completed, bench.prior, bench.max_parents, restarts, bench.seed,
        time_limit=bench.ticker.time_left(),
    )  # fmt: skip
    if not network.dag.children(name) or bench.childless(network.dag):
        return None
    return _named_as_before(bench, network, name)


def _with_states(
    bench: Bench, dag: DAG, name: str, tree: Agglomeration, k: int, iterations: int = 30
) -> Network:
    """The network in which the hidden variable has the k states of a tree of merges, after EM."""
    start = completed_fit(bench.completed, dag, name, tree.states(k), k, bench.prior)
    return short_em(_named_as_before(bench, start, name), bench.glanced, bench.prior, iterations)


def _named_as_before(bench: Bench, network: Network, name: str) -> Network:
    """The network with earlier hidden variables marked as such: as columns they were not."""
    return network.map_variables(lambda v: v if v.name == name else bench.network.variable(v.name))


def _adapted(bench: Bench, candidate: Candidate, adapt: Adapt, max_rounds: int = 12) -> Candidate:
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
