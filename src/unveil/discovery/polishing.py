"""Larger changes to a candidate that has settled: what structural EM does not come to by itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import combinations

import numpy as np

from unveil.discovery.adapting import (
    NEGLIGIBLE,
    adapted,
    from_states,
    learned_anew,
    with_states,
)
from unveil.discovery.evaluation import PAYS, Bench, Candidate, redundancy
from unveil.em.completion import complete_rows
from unveil.errors import SizeError
from unveil.hidden.agglomeration import agglomerate_states

__all__ = ["polish_candidate"]


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
            found = adapted(bench, start, "full")
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
    network = learned_anew(bench, completed, candidate.name, restarts=1)
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
            network=with_states(bench, network.dag, name, tree, k),
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
            merged += from_states(bench, candidate, fewer, now.n_states - 1)
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
            found += from_states(bench, candidate, more, k + 1)
    return sorted(found, key=lambda c: -c.gain)[:1]
