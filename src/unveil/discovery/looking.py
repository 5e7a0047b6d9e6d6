"""One round of looking for a hidden variable: places, candidates, and which of them is best."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from unveil.discovery.adapting import (
    Adapt,
    adapt_candidate,
    as_parent,
    with_cardinalities,
    with_gaps,
)
from unveil.discovery.evaluation import PAYS, Bench, Candidate, check_candidate
from unveil.discovery.observed import n_random_starts
from unveil.discovery.polishing import polish_candidate
from unveil.discovery.settings import Settings
from unveil.discovery.starting import first_look, random_candidate, wide_candidate
from unveil.discovery.workers import Work, Workers
from unveil.errors import SizeError
from unveil.evaluate.bootstrap import bootstrap_arcs
from unveil.graph.dag import DAG
from unveil.hidden.candidate import fresh_name, with_hidden_parent
from unveil.hidden.semi_cliques import SemiClique, find_semi_cliques, neighbourhoods
from unveil.score.bdeu import BDeu
from unveil.search.constraints import Constraints
from unveil.search.learn import learn

__all__ = ["choose_best", "look_for_hidden"]

WIDE_SIZES = (2, 3, 4, 5, 6)
"""Numbers of states that a parent of everything begins with."""
TOO_LARGE = "too large for exact inference"
CHECKED_AT_LEAST = 2
"""So many of the best candidates are checked even when the work was stopped before."""


Each = Callable[[Work, Sequence[object], str, float], list[Candidate]]
"""Does some work with every item of a phase, which may take a share of the time that is left."""


def look_for_hidden(
    bench: Bench, settings: Settings, workers: Workers, number: int
) -> list[Candidate]:
    """All candidates of round `number`, the best first.

    Every place gets a first look; the best of each place are adapted; the best of those, and of
    what was started elsewhere, are polished. With a time limit each of these takes only a share of
    what is left, so that something comes of the most promising.
    """

    def each(work: Work, items: Sequence[object], phase: str, share: float) -> list[Candidate]:
        found = workers.in_turn(work, bench, items, f"round {number}: {phase}", share)
        return [c for of_item in found for c in of_item]

    name = fresh_name([*bench.network.names, *bench.table.names])
    adapted = _started_elsewhere(bench, settings, name, each)
    going = bench.ticker.keep_going()
    cliques = _signatures(bench, settings)[: settings.max_candidates] if going else ()
    look = partial(_look_at, name=name, adapt=settings.adapt)
    looked = each(look, [clique.nodes for clique in cliques], "first look", 0.4)
    chosen = _worth_adapting(looked, settings.max_adapted)
    done = each(partial(_adapt, adapt=settings.adapt), chosen, "adapting", 0.4)
    if not done and not adapted:
        # Stopped before: at least the most promising is seen to.
        done = [c for first in chosen[:1] for c in _adapt(bench, first, settings.adapt)]
    rest = [c for c in looked if all(c is not p for p in chosen[: len(done)])]
    adapted += done
    if settings.adapt == "full":
        best = _foremost(adapted, settings.max_polished)
        rest += [c for c in adapted if all(c is not p for p in best)]
        adapted = _polished(best, lambda pool: each(_polish, pool, "polishing", 0.6))
    adapted.sort(key=lambda c: -c.gain)
    check = partial(_check_predictions, adapt=settings.adapt)
    checked = each(check, adapted, "checking", 1.0)
    while len(checked) < min(CHECKED_AT_LEAST, len(adapted)):
        checked += check(bench, adapted[len(checked)])
    rest += adapted[len(checked) :]
    if bench.glanced is not bench.table:
        rest = [replace(c, verdict=f"{c.verdict} (scored with gaps filled in)") for c in rest]
    return sorted([*checked, *rest], key=lambda c: (c.network is None, -c.gain))


def _started_elsewhere(bench: Bench, settings: Settings, name: str, each: Each) -> list[Candidate]:
    """Candidates that begin at no signature: as a parent of everything, and in random places."""
    if bench.network.hidden or settings.adapt != "full":
        return []
    sizes = WIDE_SIZES if settings.n_states is None else (settings.n_states,)
    found = each(partial(_start_wide, name=name), sizes, "a parent of everything", 0.2)
    starts = range(n_random_starts(bench.table, settings.restarts))
    return found + each(partial(_start_at_random, name=name), starts, "random starts", 0.2)


def _look_at(bench: Bench, nodes: Sequence[str], name: str, adapt: Adapt) -> list[Candidate]:
    graphs = {
        with_hidden_parent(bench.network.dag, name, nodes, max_parents=most): None
        for most in (3, 0)
    }
    found: list[Candidate] = []
    for dag in graphs:
        if not bench.childless(dag):
            try:
                found += first_look(bench, dag, name, nodes, adapt)
            except SizeError:
                found.append(_too_large(name, nodes))
    return found


def _adapt(bench: Bench, candidate: Candidate, adapt: Adapt) -> list[Candidate]:
    try:
        return [adapt_candidate(bench, candidate, adapt)]
    except SizeError:
        return [replace(candidate, network=None, verdict=TOO_LARGE)]


def _start_wide(bench: Bench, k: int, name: str) -> list[Candidate]:
    try:
        return [wide_candidate(bench, k, name)]
    except SizeError:
        return [_too_large(name, bench.table.names, k)]


def _start_at_random(bench: Bench, seed: int, name: str) -> list[Candidate]:
    try:
        return [random_candidate(bench, name, seed)]
    except SizeError:
        return [_too_large(name, ())]


def _too_large(name: str, children: Sequence[str], n_states: int = 1) -> Candidate:
    """What is listed of a candidate that was given up before it had a network."""
    place = frozenset(children)
    return Candidate(name, tuple(children), n_states, 0.0, None, None, {}, TOO_LARGE, place)


def _polish(bench: Bench, candidate: Candidate) -> list[Candidate]:
    return [polish_candidate(bench, candidate)]


def _check_predictions(bench: Bench, candidate: Candidate, adapt: Adapt) -> list[Candidate]:
    try:
        checked = check_candidate(bench, as_parent(bench, with_gaps(bench, candidate, adapt)))
    except SizeError:
        return [replace(candidate, network=None, verdict=TOO_LARGE)]
    return [with_cardinalities(bench, checked) if checked.verdict == PAYS else checked]


def _polished(
    pool: list[Candidate], turn: Callable[[Sequence[Candidate]], list[Candidate]], most: int = 6
) -> list[Candidate]:
    """The candidates polished turn by turn while they change; equal ones go on as one."""
    done: list[Candidate] = []
    for _ in range(most):
        polished = turn(pool)
        same = [
            (new.gain, new.verdict) == (old.gain, old.verdict)
            for new, old in zip(polished, pool, strict=False)
        ]
        done += [c for c, still in zip(polished, same, strict=True) if still]
        done += pool[len(polished) :]
        pool = []
        for c, still in zip(polished, same, strict=True):
            if not still and not any(_alike(c, other) for other in [*done, *pool]):
                pool.append(c)
        if not pool:
            break
    return done + pool


def _alike(a: Candidate, b: Candidate) -> bool:
    """Whether two candidates are the same: states, place and (nearly) score."""
    assert a.network is not None
    assert b.network is not None
    near = a.n_states == b.n_states and abs(a.gain - b.gain) < 0.1
    return near and a.network.dag.neighbours(a.name) == b.network.dag.neighbours(b.name)


def _worth_adapting(looked: Sequence[Candidate], most: int) -> list[Candidate]:
    """The best candidates of every kind: they cannot be compared before they are adapted.

    With few states the graph as constructed fits badly and ranks low, but often ends up best.
    """
    built = [c for c in looked if c.network is not None and not c.anew]
    chosen = _foremost(built, most)
    small = [c for c in built if c.n_states == 2 and all(c is not p for p in chosen)]
    anew = [c for c in looked if c.anew]
    return [*chosen, *_foremost(small, most), *_foremost(anew, 2 * most)]


def _foremost(candidates: Sequence[Candidate], most: int) -> list[Candidate]:
    """The best candidates, each place (set of neighbours) once before any comes twice."""
    ranked = sorted((c for c in candidates if c.network is not None), key=lambda c: -c.gain)
    seen: dict[frozenset[str], int] = {}
    turns = []
    for c in ranked:
        assert c.network is not None
        place = frozenset(c.network.dag.neighbours(c.name))
        turns.append(seen.get(place, 0))
        seen[place] = turns[-1] + 1
    order = sorted(range(len(ranked)), key=lambda i: turns[i])
    return [ranked[i] for i in order[:most]]


def _signatures(bench: Bench, settings: Settings) -> tuple[SemiClique, ...]:
    """Sets of suspected children, the most promising first.

    Semi-cliques of the network itself, and of the graph that plain tabu climbing finds on the same
    rows: it is denser than the default search's, which is what leaves signatures (4.2 used it).
    Then every variable with its neighbours, the other half of the signature (4.3: many parents,
    many children).
    """
    network, seed = bench.network, bench.seed
    rows = bench.completed.select(network.dag.nodes)
    score = BDeu(settings.ess)
    if settings.soft:
        sure = bootstrap_arcs(rows, lambda sample: learn(sample, score).dag, settings.soft, seed)
        found = list(find_semi_cliques(network.dag, confidence=sure.adjacent))
    else:
        found = list(find_semi_cliques(network.dag))
    limits = Constraints(max_parents=settings.max_parents)
    for other in (score, BDeu(10 * settings.ess)):
        climbed = learn(rows, other, "tabu", constraints=limits)
        found += find_semi_cliques(_in_order(climbed.dag, network.dag))
    found += neighbourhoods(network.dag)
    unique: dict[frozenset[str], SemiClique] = {}
    for clique in found:
        unique.setdefault(frozenset(clique.nodes), clique)
    return tuple(unique.values())


def _in_order(dag: DAG, other: DAG) -> DAG:
    return DAG(other.nodes, dag.arcs)


def choose_best(candidates: Sequence[Candidate], settings: Settings) -> Candidate | None:
    """The candidate to keep: the best of those that are not redundant.

    Both the Cheeseman-Stutz score and cross-validation have to speak for it. The best of many is
    large by luck: with equal prior odds for each of n places, both have to gain more than log n.
    Scores that differ by less than that are a tie, and predictions decide.
    """
    places = {c.place for c in candidates}
    luck = float(np.log(max(len(places), 1)))
    good = [
        c for c in candidates
        if c.network is not None and c.verdict == PAYS and c.predicted > luck
        and c.gain > max(settings.min_gain, luck)
    ]  # fmt: skip
    best = max((c.gain for c in good), default=0.0)
    return max((c for c in good if c.gain >= best - luck), key=lambda c: c.predicted, default=None)
