"""Larger changes to a candidate that has settled: what structural EM does not come to by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from unveil.discovery.adaptation import NEGLIGIBLE, adapted
from unveil.discovery.bench import Bench
from unveil.discovery.candidates import Candidate, Verdict
from unveil.discovery.redundancy import redundancy
from unveil.discovery.states import from_states, learned_anew, named_as_before, with_states
from unveil.em.completion import complete_rows
from unveil.errors import ModelError
from unveil.graph.dag import DAG
from unveil.hidden.agglomeration import agglomerate_states
from unveil.model.beside import fit_beside
from unveil.progress import Ticker
from unveil.search.legal import made_legal
from unveil.table.core import Table

__all__ = ["move_children", "polish_candidate", "polished_in_turns", "relearned"]

MOST_MOVES = 3
"""So often children are moved, at most."""
MOST_TURNED = 2
"""So many of the variables that come before the hidden one are tried as its children at a time."""


def polished_in_turns(
    pool: Sequence[Candidate],
    turn: Callable[[Sequence[Candidate]], Sequence[Candidate]],
    most: int = 6,
) -> list[Candidate]:
    """The candidates polished turn by turn while they change; equal ones go on as one.

    `turn` polishes each once; stopped early, it gives only the first of them.
    """
    done: list[Candidate] = []
    for _ in range(most):
        polished = turn(pool)
        done += pool[len(polished) :]
        moving: list[Candidate] = []
        for new, old in zip(polished, pool, strict=False):
            (done if _same(new, old) else moving).append(new)
        pool = []
        for c in moving:
            if not any(_alike(c, other) for other in [*done, *pool]):
                pool.append(c)
        if not pool:
            break
    return [*done, *pool]


def _same(a: Candidate, b: Candidate) -> bool:
    """Whether polishing changed nothing."""
    return (a.gain, a.verdict, a.detail) == (b.gain, b.verdict, b.detail)


def _alike(a: Candidate, b: Candidate) -> bool:
    """Whether two candidates are the same: states, place and (nearly) score."""
    near = a.n_states == b.n_states and abs(a.gain - b.gain) < 0.1
    return near and a.neighbours == b.neighbours


def polish_candidate(bench: Bench, candidate: Candidate, ticker: Ticker) -> Candidate:
    """The candidate after a larger change, if one helps, or as it was (so call it again).

    What is tried: structural EM everywhere from the present graph and from the graph that a search
    from nothing finds on the completed rows (the first with annealed weights, if the settings ask
    for it); one state more, one state fewer from a new tree of
    merges; two states made one or one made two, with all arcs learned anew; a child that now comes
    before it.
    """
    return _best_of(bench, candidate, _larger_changes(bench, candidate, ticker), ticker)


def move_children(bench: Bench, candidate: Candidate, ticker: Ticker) -> Candidate:
    """The candidate with a child more, a child fewer or one for another, while that helps."""
    for _ in range(MOST_MOVES):
        moved = _best_of(bench, candidate, _moved_children(bench, candidate, ticker), ticker)
        if moved is candidate:
            break
        candidate = moved
    return candidate


def _best_of(
    bench: Bench, candidate: Candidate, starts: Iterable[Candidate], ticker: Ticker
) -> Candidate:
    """The best of what structural EM makes of each start, if it is better than the candidate."""
    better = candidate
    for number, start in enumerate(starts):
        if not ticker.keep_going():
            break
        word = bench.settings.anneal if number == 0 else None
        try:
            found = adapted(bench, start, "full", ticker, anneal=word)
        except MemoryError:
            continue
        pays = found.verdict is Verdict.PAYS
        if candidate.verdict is Verdict.PAYS and not pays:
            continue
        first_to_pay = pays and better.verdict is not Verdict.PAYS
        if found.gain > better.gain + 0.1 or first_to_pay:
            better = found
    return better


def _larger_changes(bench: Bench, candidate: Candidate, ticker: Ticker) -> Iterator[Candidate]:
    yield candidate
    for change in CHANGES:
        if ticker.keep_going():
            with suppress(MemoryError):
                yield from change(bench, candidate, ticker)


def relearned(bench: Bench, candidate: Candidate, ticker: Ticker) -> list[Candidate]:
    """The candidate with all arcs learned anew on the rows as its network completes them."""
    network = learned_anew(bench, _as_completed(bench, candidate), candidate.name, 1, ticker)
    return [] if network is None else [replace(candidate, network=network)]


def _neighbouring_states(bench: Bench, candidate: Candidate, ticker: Ticker) -> list[Candidate]:
    """The candidate with one state fewer and with one more, from a new tree of merges."""
    network, name = candidate.network, candidate.name
    if bench.n_states is not None or redundancy(network, name):
        return []
    tree = agglomerate_states(bench.completed, network.dag, name, score=bench.settings.other_score)
    near = [k for k in (candidate.n_states - 1, candidate.n_states + 1) if 2 <= k <= tree.n_initial]
    return [
        replace(
            candidate,
            agglomeration=tree,
            network=with_states(bench, network.dag, name, tree, k, ticker),
        )
        for k in near
    ]


def _merged_states(
    bench: Bench, candidate: Candidate, ticker: Ticker, max_states: int = 8
) -> list[Candidate]:
    """The candidate with fewer states and all arcs learned anew: one for each number of states.

    Where arcs around the variable are missing, it needs more states to make up for them. Fewer
    states bring the arcs back, but only if they are learned again. The best pair is made one, then
    the best pair of those left, down to two states: on the way it may get worse before it gets
    better.
    """
    if bench.n_states is not None or candidate.n_states > max_states:
        return []
    found: list[Candidate] = []
    now = candidate
    while now.n_states > 2 and ticker.keep_going():
        states = now.network.posterior(bench.glanced, of=now.name)[now.name].argmax(axis=1)
        merged = []
        for i, j in combinations(range(now.n_states), 2):
            fewer = np.where(states == j, i, np.where(states > j, states - 1, states))
            merged += _anew(bench, candidate, fewer, now.n_states - 1, ticker)
        if not merged:
            break
        now = max(merged, key=lambda c: c.gain)
        found.append(now)
    return found


def _split_states(
    bench: Bench, candidate: Candidate, ticker: Ticker, max_states: int = 8
) -> list[Candidate]:
    """The candidate with one of its states made two and all arcs learned anew: the best.

    The rows of the state are parted as agglomeration parts them when it sees no others.
    """
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
            found += _anew(bench, candidate, more, k + 1, ticker)
    return sorted(found, key=lambda c: -c.gain)[:1]


def _moved_children(bench: Bench, candidate: Candidate, ticker: Ticker) -> list[Candidate]:
    """The candidate with one child more, one fewer, and one for another: the likeliest of each.

    Structural EM sees only what the present states say of such a move; the states change with it.
    So the moves that cost least on the rows as completed are made, and EM then has its say.
    """
    name, children = candidate.name, set(candidate.children)
    completed = _as_completed(bench, candidate)
    free, _ = _gains_of_children(bench, candidate, completed)
    least = min((n for n in free if n in children), key=free.__getitem__, default=None)
    most = max((n for n in free if n not in children), key=free.__getitem__, default=None)
    found = []
    for gone, new in ((least, None), (None, most), (least, most)):
        if (gone is None and new is None) or (gone and not new and len(children) < 3):
            continue
        dag = candidate.network.dag
        arcs = [arc for arc in dag.arcs if arc != (name, gone)]
        arcs += [(name, new)] if new is not None else []
        found.append(_with_graph(bench, candidate, DAG(dag.nodes, arcs), completed))
    return found


def _turned_children(bench: Bench, candidate: Candidate, ticker: Ticker) -> list[Candidate]:
    """The candidate as a parent of what now comes before it, arcs turned round to make that legal.

    Which of two columns comes first is often decided by others, and a child that comes before the
    variable is out of reach of single moves. Those that the completed rows speak for are tried.
    """
    completed = _as_completed(bench, candidate)
    _, above = _gains_of_children(bench, candidate, completed)
    likely = sorted((n for n in above if above[n] > 0), key=lambda n: -above[n])
    before, name = candidate.network.dag, candidate.name
    limits = bench.limits(candidate.network)
    found = []
    for new in likely[:MOST_TURNED]:
        own = [(p, name) for p in before.parents(name) if p != new]
        own += [(name, child) for child in (*before.children(name), new)]
        try:
            rules = replace(limits, required=[*limits.required, *own]).rules(before.nodes)
        except ModelError:
            continue
        turned = made_legal(before, rules, before.nodes)
        found.append(_with_graph(bench, candidate, turned, completed))
    return found


def _as_completed(bench: Bench, candidate: Candidate) -> Table:
    """The rows as the candidate's network completes them."""
    return complete_rows(
        candidate.network, bench.glanced, cap=32, draws=8, seed=bench.seed, negligible=NEGLIGIBLE
    )


def _gains_of_children(
    bench: Bench, candidate: Candidate, completed: Table
) -> tuple[dict[str, float], dict[str, float]]:
    """What every variable gains, on the completed rows, by having this one as a parent (nats).

    First of those that may have it as the graph is, then of those that come before it in the graph.
    """
    dag, name, names = candidate.network.dag, candidate.name, sorted(candidate.network.names)
    scores = bench.settings.families(completed.select(names), bench.glanced)
    rules = bench.limits(candidate.network).rules(names)
    place = {n: i for i, n in enumerate(names)}
    free, above = dict[str, float](), dict[str, float]()
    for n in names:
        full = len(dag.parents(n)) >= rules.max_parents[place[n]] and not dag.has_arc(name, n)
        if n == name or full or not rules.allowed[place[n], place[name]]:
            continue
        now = {place[p] for p in dag.parents(n)}
        with_it, without = tuple(sorted(now | {place[name]})), tuple(sorted(now - {place[name]}))
        more, fewer = scores.many([(place[n], with_it), (place[n], without)])
        (above if n in dag.ancestors(name) else free)[n] = float(more - fewer)
    return free, above


def _with_graph(bench: Bench, candidate: Candidate, dag: DAG, completed: Table) -> Candidate:
    """The candidate with this graph, its parameters from the completed rows."""
    network = fit_beside(bench.glanced, completed, dag, bench.prior)
    return replace(candidate, network=named_as_before(bench, network, candidate.name))


def _anew(
    bench: Bench, candidate: Candidate, states: npt.NDArray[np.int64], k: int, ticker: Ticker
) -> list[Candidate]:
    """The candidate with these states of the rows, arcs learned anew, where that can be."""
    before, name = candidate.network.dag, candidate.name
    around = before.markov_blanket(name)
    network = from_states(bench, name, states, k, before, around, ticker)
    if network is None:
        return []
    gain = bench.gain_at_a_glance(network)
    verdict = Verdict.FITTED_ANEW
    return [replace(candidate, network=network, gain=gain, anew=True, verdict=verdict, detail="")]


CHANGES = (relearned, _turned_children, _neighbouring_states, _merged_states, _split_states)
