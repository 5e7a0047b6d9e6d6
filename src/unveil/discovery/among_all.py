"""Found in some rows, decided by all: candidates of drawn rows judged where all rows count.

Drawn rows are few, so a variable that is there may fail to be confirmed among them; and behind few
columns, with many rows, arcs between all of them predict as well as it does: what it saves is their
many parameters, which rows left out show faintly, and the score shows plainly. So what was found in
drawn rows goes to all of them. The network without it is searched for among all rows, from their
counts, also from where the candidate ended. The candidate climbs by structural EM over all rows and
has its number of states chosen there. Then the rule is that of `confirm`: the score of all rows,
and rows left out: of two halves each is predicted with parameters of the other, beside rivals.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from unveil.discovery.all_rows import (
    Everything,
    climbed,
    fitted,
    in_form_of,
    searched,
    without,
)
from unveil.discovery.candidates import Candidate, Refused, Verdict
from unveil.discovery.choice import foremost, n_places
from unveil.discovery.confirm import Confirmation
from unveil.discovery.redundancy import redundancy
from unveil.discovery.rivals import RIVALS, Rival
from unveil.discovery.settings import Settings
from unveil.discovery.states_of_all import resized
from unveil.em.expected_counts import ExpectedCounts, can_be_shared
from unveil.em.grouped import can_be_grouped, counted_sets
from unveil.engines.on_parts import added
from unveil.evaluate.log_loss import LogLoss
from unveil.graph.dag import DAG
from unveil.model.fit import fit
from unveil.model.network import Network
from unveil.progress import Ticker
from unveil.records import Record
from unveil.table.core import Table

__all__ = ["Judged", "Standing", "first_standing", "for_drawn", "judged_among_all", "saved_by"]

Numbers = npt.NDArray[np.float64]

TAKEN = 3
"""So many candidates of drawn rows are taken to all rows, in every round."""
LOOKED = {"max_candidates": 15, "max_adapted": 3, "max_polished": 2}
"""So many at most are looked at in drawn rows, adapted and polished there: all rows do the rest."""
TURNS = 3
"""So often a candidate is put into the graph of all rows, at most."""
MOST_TURNED = 4
"""Arcs are turned round where who they lead to then has at most so many parents."""
LEAST = 0.1
"""A turn has to gain so many nats for another one."""


@dataclass(frozen=True)
class Standing(Record):
    """The best network of all rows so far and the one without hidden variables, with scores."""

    network: Network
    score: float
    baseline: Network
    baseline_score: float


@dataclass(frozen=True)
class Judged:
    """Where things stand after a round: who was best, on all rows, and whether it holds."""

    standing: Standing
    best: Candidate | None = None
    proof: Confirmation | None = None

    @property
    def is_kept(self) -> bool:
        """Whether the best candidate holds."""
        return self.proof is not None and self.proof.is_sure


def for_drawn(settings: Settings) -> Settings:
    """The settings by which drawn rows are looked at: what all rows judge needs no polish there."""
    fewer = {name: min(most, getattr(settings, name)) for name, most in LOOKED.items()}
    return replace(settings, **fewer)


def first_standing(
    everything: Everything, baseline: Network, network: Network, ticker: Ticker
) -> Standing:
    """The networks of all rows that come of those of the drawn rows."""
    plain = searched(everything, [baseline], ticker)
    score = everything.score(plain)
    if not network.hidden:
        return Standing(plain, score, plain, score)
    found = climbed(everything, network, ticker)
    return Standing(found, everything.score(found), plain, score)


def judged_among_all(
    everything: Everything,
    standing: Standing,
    tried: Sequence[Candidate | Refused],
    ticker: Ticker,
) -> Judged:
    """The best of what was tried in drawn rows, on all rows, and whether it holds there."""
    settings, rows = everything.settings, everything.rows
    screened: list[tuple[float, Candidate, Network]] = []
    seen: set[frozenset[str]] = set()
    for candidate in _worth_taking(tried):
        ticker.offer("", 0, standing.score, detail=f"{candidate.n_states} states, all rows")
        own = fitted(candidate.network, rows, settings.prior, ticker)
        starts = _put_in(everything, standing.network.dag, own, candidate.name, ticker, seen)
        screened += [(everything.score(n), candidate, n) for n in [own, *starts]]
        if not ticker.keep_going():
            break
    screened.sort(key=lambda x: -x[0])
    # A climb takes tens of passes, so the best goes first, and mostly alone.
    for _, best, first in screened:
        found = _adapted(everything, standing, first, best.name, ticker, seen)
        if not _is_superfluous(everything, found, best.name):
            break
    else:
        return Judged(standing)
    score = everything.score(found)
    names = [n for n in found.hidden if n not in standing.network.names]
    standing = _with_better(everything, standing, without(everything, found, names, ticker))
    if not ticker.keep_going():
        return Judged(standing, best)
    gain = score - standing.score
    lucky = math.log(max(n_places(tried), 1) / everything.settings.max_luck)
    proof = _proven(everything, standing.network, found, gain, lucky, ticker)
    if proof.is_sure:
        standing = replace(standing, network=found, score=score)
    return Judged(standing, best, proof)


def _is_superfluous(everything: Everything, network: Network, name: str) -> bool:
    """Whether a hidden variable says nothing, or no more than an arc, unless asked for there."""
    near = frozenset(network.dag.neighbours(name))
    asked = near in {frozenset(place) for place in everything.settings.places}
    return bool(redundancy(network, name)) or (len(near) < 3 and not asked)


def _worth_taking(tried: Sequence[Candidate | Refused]) -> list[Candidate]:
    """The best candidates, each set of neighbours once before any comes twice.

    Whether they pay is for all rows to say: a faint one does not among those that were drawn.
    """
    verdicts = (Verdict.PAYS, Verdict.PREDICTS_NO_BETTER, Verdict.DOES_NOT_PAY)
    settled = [c for c in tried if isinstance(c, Candidate) and c.verdict in verdicts]
    return foremost(settled, TAKEN)


def _adapted(
    everything: Everything,
    standing: Standing,
    first: Network,
    name: str,
    ticker: Ticker,
    seen: set[frozenset[str]],
) -> Network:
    """A candidate on all rows, in turns: climbing, and put into their graph in a clean way.

    A climb from few states, or from some of the children, puts arcs among them that stand for what
    is missing, and keeps them. So it begins without these, with the states that are best then.
    """
    best, score = first, -math.inf
    for _ in range(TURNS):
        found = climbed(everything, first, ticker)
        own = everything.score(found)
        if own <= score + LEAST:
            break
        best, score = found, own
        starts = _put_in(everything, standing.network.dag, best, name, ticker, seen)
        if not starts or not ticker.keep_going():
            break
        first = max(starts, key=everything.score)
    return best


def _put_in(
    everything: Everything,
    dag: DAG,
    network: Network,
    name: str,
    ticker: Ticker,
    seen: set[frozenset[str]],
) -> list[Network]:
    """The graph of all rows with a hidden parent of its neighbours, and of those near them too.

    Not of children that were `seen` before.
    """
    if not can_be_shared(network, everything.rows):
        return []
    completed = ExpectedCounts(network, everything.rows, everything.known)
    near = set(network.dag.neighbours(name))
    # Arcs stand for it: what is linked to most of its children may be one.
    linked = {x for x in dag.nodes if 2 * len(near & set(dag.neighbours(x))) >= len(near)}
    found = []
    for children in dict.fromkeys([frozenset(near), frozenset(near | linked - {name})]):
        if children in seen:
            continue
        seen.add(children)
        nodes = [name, *(n for n in network.names if n != name)]
        star = DAG(nodes, _with_parent(everything, dag, name, children))
        own = fit(star, completed, everything.settings.prior)
        own = fitted(own, everything.rows, everything.settings.prior, ticker)
        found.append(resized(everything, own, name, ticker))
    return found


def _with_parent(
    everything: Everything, dag: DAG, name: str, children: frozenset[str]
) -> list[tuple[str, str]]:
    """The arcs of a graph with a hidden parent of some nodes, who have no other parents.

    Arcs into them may stand for it too. They are turned, so that the children come before all
    others, where nothing forbids that and who they lead to then has few parents; else left out.
    """
    limits = everything.settings.limits()
    most = min(limits.max_parents or MOST_TURNED, MOST_TURNED) if limits.only_max_parents else 0
    outside = [(x, y) for x, y in dag.arcs if y not in children and name not in (x, y)]
    parents = {y: {x for x, z in outside if z == y} for y in dag.nodes}
    for x, y in dag.arcs:
        if y in children and x not in children | {name} and len(parents[x] | {y}) <= most:
            parents[x].add(y)
    turned = [(x, y) for y in dag.nodes for x in sorted(parents[y])]
    return [*turned, *((name, x) for x in sorted(children))]


def _with_better(everything: Everything, standing: Standing, network: Network) -> Standing:
    """The standing with a network without the candidate, if it is better."""
    score = everything.score(network)
    if score <= standing.score:
        return standing
    plain = not standing.network.hidden
    better = replace(standing, network=network, score=score)
    return replace(better, baseline=network, baseline_score=score) if plain else better


# Rows left out ------------------------------------------------------------------------------------


def saved_by(everything: Everything, found: Network, plain: Network, ticker: Ticker) -> LogLoss:
    """The bits per row that one network saves over another on rows left out."""
    return _left_out(everything, [(None, plain), (None, found)], ticker).saved(1, 0)


def _proven(
    everything: Everything,
    plain: Network,
    found: Network,
    gain: float,
    lucky: float,
    ticker: Ticker,
) -> Confirmation:
    """What all rows say of a network with a further hidden variable beside the one without."""
    rivals = {r: in_form_of(r, everything, plain, ticker) for r in RIVALS}
    known = [(r, n) for r, n in rivals.items() if n is not None]
    losses = _left_out(everything, [(None, plain), (None, found), *known], ticker)
    proof = Confirmation(
        losses.saved(1, 0), 2, 2, gain, lucky, max_luck=everything.settings.max_luck, of_all=True
    )
    if proof.saved.bits <= 0 or not known:
        return proof
    best = max(range(2, 2 + len(known)), key=lambda i: losses.saved(i, 0).bits)
    if losses.saved(best, 0).bits <= 0:
        return proof
    rival, network = known[best - 2]
    beyond = losses.saved(1, best)
    formed = in_form_of(rival, everything, found, ticker)
    if formed is not None:
        pair = _left_out(everything, [(rival, network), (rival, formed)], ticker)
        beyond = max(beyond, pair.saved(1, 0), key=lambda saved: saved.bits)
    return replace(proof, rival=rival, without=losses.saved(best, 0), beyond=beyond)


@dataclass(frozen=True)
class _Losses:
    """Sums over all rows of bits and of products of bits, for some networks.

    Bits are those beyond the first network's: their squares would drown the differences.
    """

    weight: float
    sums: Numbers
    products: Numbers

    def saved(self, better: int, worse: int) -> LogLoss:
        """What one network saves over another, with its error."""
        mean = float(self.sums[worse] - self.sums[better]) / self.weight
        both = self.products[[better, worse]][:, [better, worse]]
        squares = float(both[0, 0] + both[1, 1] - 2 * both[0, 1])
        variance = max(0.0, squares - self.weight * mean**2) / max(self.weight - 1, 1)
        error = math.sqrt(variance / self.weight)
        return LogLoss(mean, error, np.array([mean]), np.array([self.weight]))


def _left_out(
    everything: Everything, networks: Sequence[tuple[Rival | None, Network]], ticker: Ticker
) -> _Losses:
    """Each half of the rows predicted with parameters of the other."""
    settings, halves = everything.settings, everything.halves
    sets = [
        s for _, n in networks if can_be_grouped(n, halves[0]) for s in counted_sets(n, halves[0])
    ]
    found = []
    for test, train in (halves, halves[::-1]):
        train.counts(sets)  # all at once
        known = []
        for rival, network in networks:
            prior = (settings if rival is None else rival.settings(settings)).prior
            known.append(fitted(network, train, prior, ticker))
        found.append(test.sum(_bits_and_products, known))
    weight, sums, products = added(*found)
    return _Losses(weight, sums, products)


def _bits_and_products(table: Table, networks: list[Network]) -> tuple[float, Numbers, Numbers]:
    weights = table.row_weights
    bits = np.array([-n.row_log_likelihoods(table) / math.log(2) for n in networks])
    bits -= bits[0].copy()
    return float(weights.sum()), bits @ weights, (bits * weights) @ bits.T
