"""From a first network to the one around a candidate (thesis 4.1, third phase, and 8.2).

Three ways. `em` leaves the graph as constructed, `blanket` lets structural EM change what is around
the variable: both as in the thesis. `full` also takes from the construction no more than the states
it gives to the rows: arcs are learned anew with these states as a column, and structural EM goes on
from there, everywhere. The graph as constructed has no arcs among the children and the parents of a
proxy, and structural EM stays near it; learned anew, the variable often comes out with the place
and the few states that it truly has. Neither start is always the better one.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from unveil.discovery.bench import Bench
from unveil.discovery.candidates import Candidate, Verdict
from unveil.discovery.patience import inside, steps_of
from unveil.discovery.redundancy import redundancy
from unveil.discovery.settings import Adapt
from unveil.discovery.states import with_states
from unveil.em.align import permute_states
from unveil.em.short import short_em
from unveil.em.structural import structural_em
from unveil.hidden.cardinality import choose_cardinality
from unveil.model.network import Network
from unveil.progress import Ticker

__all__ = ["NEGLIGIBLE", "adapt_candidate", "adapted"]

NEGLIGIBLE = 1e-3
"""Completions of a row that are less probable do not count while arcs are searched for."""


def adapt_candidate(bench: Bench, candidate: Candidate, ticker: Ticker) -> Candidate:
    """The candidate after structural EM: around it, everywhere if learned anew, or not (`em`).

    When the structure around it has settled, the number of states is chosen anew for it, and the
    structure adapted again, while that helps. (One learned anew gets other numbers of states when
    it is polished.)
    """
    if candidate.anew:
        return adapted(bench, candidate, "full", ticker)
    adapt: Adapt = "em" if bench.settings.adapt == "em" else "blanket"
    best = adapted(bench, candidate, adapt, ticker)
    for _ in range(3):
        if bench.n_states is not None or not ticker.keep_going():
            break
        dag, name = best.network.dag, best.name
        if redundancy(best.network, name):
            break
        found = choose_cardinality(
            bench.completed,
            dag,
            name,
            score_sample_size=bench.prior.size,
            score=bench.settings.other_score,
            **inside(ticker),
        )
        best = replace(best, agglomeration=found.agglomeration, refined=found.refined)
        if found.n_states < 2 or found.n_states == best.n_states:
            break
        network = with_states(bench, dag, name, found.agglomeration, found.n_states, ticker)
        again = adapted(bench, replace(best, network=network), adapt, ticker)
        if again.gain <= best.gain + 1e-6:
            break
        best = again
    return best


def adapted(
    bench: Bench,
    candidate: Candidate,
    adapt: Adapt,
    ticker: Ticker,
    max_rounds: int = 12,
    anneal: str | None = None,
) -> Candidate:
    """The candidate after structural EM of the kind asked for and EM, with its gain and verdict."""
    network, name = candidate.network, candidate.name
    if adapt != "em":
        around = {name, *network.dag.markov_blanket(name)}
        limits = bench.limits(network)
        if adapt != "full":
            limits = replace(limits, changeable=sorted(around))
        network = structural_em(
            bench.glanced, network, bench.settings.criterion, prior=bench.prior, constraints=limits,
            max_rounds=max_rounds, em_iterations=30, negligible=NEGLIGIBLE, seed=bench.seed,
            structure_prior=bench.settings.structure_prior, anneal=anneal,
            **inside(ticker),
        ).network  # fmt: skip
    network = _by_size(
        short_em(network, bench.glanced, bench.prior, 200, 1e-8, steps_of(ticker)), name
    )
    gain = bench.gain_at_a_glance(network)
    verdict, detail = _verdict(bench, network, name, gain)
    return replace(candidate, network=network, gain=gain, verdict=verdict, detail=detail)


def _verdict(bench: Bench, network: Network, name: str, gain: float) -> tuple[Verdict, str]:
    """Whether it pays, and if not, why; earlier hidden variables must not become redundant."""
    for earlier in reversed(bench.network.hidden):
        if why := redundancy(network, earlier):
            return Verdict.MAKES_REDUNDANT, f"{earlier}, {why}"
    if why := redundancy(network, name) or _mere_arc(bench, network, name):
        return Verdict.REDUNDANT, why
    return (Verdict.PAYS if gain > 0 else Verdict.DOES_NOT_PAY), ""


def _mere_arc(bench: Bench, network: Network, name: str) -> str:
    """Why a hidden variable between two others says no more than an arc, in words.

    Without it they depend on each other, as by an arc, and nothing else changes: what it gains is
    that of a shorter table. Where a place of two was asked for, it may be what was meant.
    """
    near = sorted(network.dag.neighbours(name))
    if len(near) != 2 or frozenset(near) in {frozenset(place) for place in bench.settings.places}:
        return ""
    return f"it only stands for an arc between {near[0]} and {near[1]}"


def _by_size(network: Network, name: str) -> Network:
    """The network with the states of a hidden variable ordered from the commonest."""
    share = network.posterior(of=name)[name][0]
    return permute_states(network, name, np.argsort(-share, kind="stable"))
