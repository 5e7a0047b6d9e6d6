"""How probable a hidden variable and its links are, over the best structures of a round.

Resampling asks what other rows would have said; averaging asks what else these rows say. The
structures are the network without the variable and the best few candidates, each weighted by the
exponential of its score (`unveil.evaluate.averaging`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from unveil.discovery.candidates import Candidate, Refused
from unveil.evaluate.averaging import arc_probabilities, structure_weights
from unveil.graph.dag import DAG
from unveil.records import Record

__all__ = ["Averaged", "averaged"]

MOST = 10


@dataclass(frozen=True)
class Averaged(Record):
    """What the best structures of a round say together.

    `hidden` is how probable it is that there is a hidden variable, `links` how probable it is that
    a column is linked to it, `states` how probable each number of its states is; the last two given
    that there is one. `n_structures` were averaged over.
    """

    hidden: float
    links: dict[str, float]
    states: dict[int, float]
    n_structures: int


def averaged(
    before: DAG, tried: Sequence[Candidate | Refused], most: int = MOST
) -> Averaged | None:
    """The average over the network without the variable and the best candidates; `None` without.

    Candidates whose gain is on other rows (gaps filled in) are left out.
    """
    fair = [c for c in tried if isinstance(c, Candidate) and not c.filled_in]
    best = sorted(fair, key=lambda c: -c.gain)[:most]
    if not best:
        return None
    gains = [c.gain for c in best]
    share = structure_weights([0.0, *gains])
    states: dict[int, float] = {}
    for candidate, weight in zip(best, structure_weights(gains), strict=True):
        states[candidate.n_states] = states.get(candidate.n_states, 0.0) + float(weight)
    arcs = arc_probabilities([c.network.dag for c in best], gains)
    name = best[0].name
    links = {
        n: arcs.get((name, n), 0.0) + arcs.get((n, name), 0.0)
        for n in before.nodes
        if (name, n) in arcs or (n, name) in arcs
    }
    by_size = dict(sorted(states.items()))
    return Averaged(1.0 - float(share[0]), links, by_size, len(best) + 1)
