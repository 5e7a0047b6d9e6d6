"""What a hidden variable gains at a place at a glance: to look at the best places first.

Before anything else is done, a binary hidden parent is put behind the place in the part of the
network around it, its states from agglomeration, and EM takes a few steps. What the score of that
part gains is no bound (the graph as constructed is crude, other arcs and more states come later),
but a few milliseconds of work put a place that is right before a hundred others. Large places, for
which the graph as constructed says little, have their links to speak for them.
"""

from __future__ import annotations

from collections.abc import Sequence

from unveil.discovery.bench import Bench
from unveil.em.short import short_em
from unveil.hidden.agglomeration import agglomerate_states
from unveil.hidden.candidate import with_hidden_parent
from unveil.hidden.cardinality import all_observed, completed_fit, local_graph
from unveil.progress import Ticker

__all__ = ["Promise"]

STEPS, INITIAL = 8, 40
"""Steps of EM, and initial states of agglomeration at most."""


class Promise:
    """What places of one network promise."""

    def __init__(self, bench: Bench, name: str) -> None:
        self._bench, self._name = bench, name
        self._rows = all_observed(bench.completed)
        self._order = sorted(bench.network.names)
        self._scores = bench.settings.families(self._rows.select(self._order))

    def in_order(self, places: Sequence[frozenset[str]], ticker: Ticker) -> list[frozenset[str]]:
        """The places, the most promising first; those there was no time for are left out."""
        gains = {
            nodes: self.of(sorted(nodes)) for nodes in dict.fromkeys(places) if ticker.keep_going()
        }
        return sorted(gains, key=lambda nodes: (-gains[nodes], sorted(nodes)))

    def of(self, nodes: Sequence[str]) -> float:
        """What a binary hidden parent of the nodes gains around it, in nats, at a glance."""
        bench, name = self._bench, self._name
        now = bench.network.dag
        around = local_graph(with_hidden_parent(now, name, nodes, max_parents=0), name)
        tree = agglomerate_states(
            self._rows, around, name, cap=INITIAL, score=bench.settings.other_score
        )
        if tree.n_initial < 2:
            return float("-inf")
        first = completed_fit(self._rows, around, name, tree.states(2), 2, bench.prior)
        seen = [n for n in around.nodes if n != name]
        rows = self._rows.select(seen)
        found = bench.settings.score_of(short_em(first, rows, bench.prior, STEPS), rows)
        families = [self._family(n, now.parents(n) if n in nodes else ()) for n in seen]
        return found - float(sum(self._scores.many(families)))

    def _family(self, child: str, parents: Sequence[str]) -> tuple[int, tuple[int, ...]]:
        place = self._order.index
        return place(child), tuple(sorted(place(p) for p in parents))
