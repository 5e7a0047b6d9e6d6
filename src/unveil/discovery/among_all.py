"""Found in some rows, decided by all: candidates of drawn rows judged where all rows count.

Drawn rows are few, so a variable that is there may fail to be confirmed among them; and behind few
columns, with many rows, arcs between all of them predict as well as it does: what it saves is their
many parameters, which rows left out show faintly, and the score shows plainly. So what was found in
drawn rows goes to all of them, beside what their own network shows. The network without
it is searched for among all rows, from their counts, also from where the candidate ended. The
candidate climbs by structural EM over all rows and has its number of states chosen there. Then the
rule is that of `confirm`: the score of all rows, and rows left out: of two halves each is predicted
with parameters of the other, beside rivals.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from unveil.discovery.all_rows import Everything, climbed, fitted, searched, without
from unveil.discovery.candidates import Candidate, Place, Refused, Verdict
from unveil.discovery.choice import foremost, n_places
from unveil.discovery.confirmation import Confirmation
from unveil.discovery.halves import proven_by_halves
from unveil.discovery.redundancy import redundancy
from unveil.discovery.settings import Settings
from unveil.discovery.signatures_of_all import n_signatures, stars_at_signatures
from unveil.discovery.stars_of_all import Children, put_in
from unveil.graph.dag import DAG
from unveil.hidden.candidate import fresh_name
from unveil.model.network import Network
from unveil.progress import Ticker
from unveil.records import Record

__all__ = ["Judged", "Standing", "first_standing", "for_drawn", "judged_among_all"]

TAKEN = 3
"""So many candidates of drawn rows are taken to all rows, in every round."""
LOOKED = {"max_candidates": 15, "max_adapted": 3, "max_polished": 2}
"""So many at most are looked at in drawn rows, adapted and polished there: all rows do the rest."""
TURNS = 3
"""So often a candidate is put into the graph of all rows, at most."""
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
    """Where things stand after a round: who was best, on all rows, and whether it holds.

    The best may be none of those tried in drawn rows: its network is then that of all rows.
    """

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
    dag = standing.network.dag
    screened: list[tuple[float, Candidate, Network]] = []
    seen: set[Children] = set()
    for candidate in _worth_taking(tried):
        ticker.offer("", 0, standing.score, detail=f"{candidate.n_states} states, all rows")
        own = fitted(candidate.network, rows, settings.prior, ticker)
        starts = put_in(everything, dag, own, candidate.name, ticker, seen)
        screened += [(everything.score(n), candidate, n) for n in [own, *starts]]
        if not ticker.keep_going():
            break
    for candidate in _at_signatures(everything, dag, ticker, seen):
        starts = put_in(everything, dag, candidate.network, candidate.name, ticker, seen)
        screened += [(everything.score(n), candidate, n) for n in starts]
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
    if all(best is not c for c in tried):
        best = replace(best, network=found)
    if not ticker.keep_going():
        return Judged(standing, best)
    gain = score - standing.score
    places = n_places(tried) + n_signatures(everything, dag)
    lucky = math.log(max(places, 1) / everything.settings.max_luck)
    proof = proven_by_halves(everything, standing.network, found, gain, lucky, ticker)
    if proof.is_sure:
        standing = replace(standing, network=found, score=score)
    return Judged(standing, best, proof)


def _at_signatures(
    everything: Everything, dag: DAG, ticker: Ticker, seen: set[Children]
) -> list[Candidate]:
    """Candidates that the network of all rows shows, and drawn rows may not."""
    if not ticker.keep_going():
        return []
    ticker.offer("", 0, float("nan"), detail="signatures in all rows")
    name = fresh_name([*dag.nodes, *everything.rows.names])
    return [
        Candidate(place=Place(name, network.dag.children(name)), network=network)
        for network in stars_at_signatures(everything, dag, name, ticker, seen)
    ]


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
        starts = put_in(everything, standing.network.dag, best, name, ticker, seen)
        if not starts or not ticker.keep_going():
            break
        first = max(starts, key=everything.score)
    return best


def _with_better(everything: Everything, standing: Standing, network: Network) -> Standing:
    """The standing with a network without the candidate, if it is better."""
    score = everything.score(network)
    if score <= standing.score:
        return standing
    plain = not standing.network.hidden
    better = replace(standing, network=network, score=score)
    return replace(better, baseline=network, baseline_score=score) if plain else better
