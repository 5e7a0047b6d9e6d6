"""A candidate in the graph of all rows: a hidden parent of columns that have no other.

Where a candidate climbs from some of the children, or from few states, arcs among the columns stand
for what is missing, and stay. So it is put into the graph in a clean way, as in the construction of
4.1: with its children alone, and with what is linked to most of them. From the better of these,
children come and go one at a time: drawn rows may have shown some of them only. Every number of
states is tried (`resized`).
"""

from __future__ import annotations

from collections.abc import Sequence

from unveil.discovery.all_rows import Everything, climbed_by_em, fitted
from unveil.discovery.states_of_all import resized
from unveil.em.expected_counts import ExpectedCounts, can_be_shared
from unveil.em.grouped import can_be_grouped
from unveil.em.steps import em_problem
from unveil.graph.dag import DAG
from unveil.model.fit import fit
from unveil.model.network import Network
from unveil.progress import Ticker

__all__ = ["Children", "put_in", "with_parent"]

Children = frozenset[str]

MOST_TURNED = 4
"""Arcs are turned round where who they lead to then has at most so many parents."""
SHORT = 60
"""Steps of EM for every set of children that is tried."""
PATIENCE = 2
"""So many moves of children in a row may gain nothing."""
LEAST = 0.1
"""A move has to gain so many nats."""


def put_in(
    everything: Everything,
    dag: DAG,
    network: Network,
    name: str,
    ticker: Ticker,
    seen: set[Children],
    walk: bool = True,
) -> list[Network]:
    """The graph of all rows with a hidden parent of its neighbours, and of those near them too.

    And of those that are left when children came and went (`walk`). Not of children `seen` before.
    """
    if not can_be_shared(network, everything.rows):
        return []
    near = set(network.dag.neighbours(name))
    # Arcs stand for it: what is linked to most of its children may be one.
    linked = {x for x in dag.nodes if 2 * len(near & set(dag.neighbours(x))) >= len(near)}
    wanted = dict.fromkeys([frozenset(near), frozenset(near | linked - {name})])
    found = []
    for children in [c for c in wanted if c not in seen]:
        seen.add(children)
        own = _star(everything, dag, network, name, children)
        own = fitted(own, everything.rows, everything.settings.prior, ticker)
        found.append(resized(everything, own, name, ticker))
    if walk and found and ticker.keep_going():
        best = max(found, key=everything.score)
        children, moved = _moved(everything, dag, best, name, ticker)
        if children not in seen:
            seen.add(children)
            found.append(resized(everything, moved, name, ticker))
    return found


def _moved(
    everything: Everything, dag: DAG, network: Network, name: str, ticker: Ticker
) -> tuple[Children, Network]:
    """The best set of children on a walk where one comes or goes at a time, and its network.

    The walk goes on for `PATIENCE` moves that do not help: where two are missing, one alone may
    cost more arcs than it saves. Counts for all that may come or go are taken in one pass.
    """
    children = frozenset(network.dag.children(name))
    best = everything.score(network), children, network
    been, patience = {children}, PATIENCE
    while patience and ticker.keep_going():
        others = [c for c in _one_more_or_less(dag, name, children) if c not in been]
        _count(everything, dag, name, children, others)
        stars = [(c, _star(everything, dag, network, name, c)) for c in others]
        stars = [(c, star) for c, star in stars if can_be_grouped(star, everything.rows)]
        tried = [(c, _shortly_fitted(everything, star, ticker)) for c, star in stars]
        if not tried:
            break
        score, children, network = max(
            ((everything.score(n), c, n) for c, n in tried), key=lambda x: x[0]
        )
        been.add(children)
        patience = PATIENCE if score > best[0] + LEAST else patience - 1
        best = max(best, (score, children, network), key=lambda x: x[0])
    return best[1:]


def _one_more_or_less(dag: DAG, name: str, children: Children) -> list[Children]:
    """The children with one more that is linked to some of them, or with one less of four."""
    linked = {x for child in children for x in dag.neighbours(child)} - children - {name}
    more = [children | {x} for x in sorted(linked)]
    return [*more, *(children - {x} for x in sorted(children) if len(children) > 3)]


def _count(
    everything: Everything, dag: DAG, name: str, around: Children, sets: Sequence[Children]
) -> None:
    """Have all counts that stars with these children take, beside other hidden variables'."""
    place = {n: i for i, n in enumerate(everything.rows.names)}
    wanted: set[Children] = set()
    for children in sets:
        arcs = with_parent(everything, dag, name, children)
        star = DAG([name, *(n for n in dag.nodes if n != name)], arcs)
        wanted |= {frozenset({y, *star.parents(y)}) - {name} for y in dag.nodes}
        wanted.add(around | children)
    shown = [sorted(place[n] for n in s) for s in wanted if s and s <= place.keys()]
    everything.known.counts(sorted(shown))


def _star(
    everything: Everything, dag: DAG, network: Network, name: str, children: Children
) -> Network:
    """The graph of all rows with a hidden parent of these children, as a network completes it."""
    nodes = [name, *(n for n in network.names if n != name)]
    star = DAG(nodes, with_parent(everything, dag, name, children))
    completed = ExpectedCounts(network, everything.rows, everything.known)
    return fit(star, completed, everything.settings.prior)


def _shortly_fitted(everything: Everything, network: Network, ticker: Ticker) -> Network:
    problem = em_problem(network, everything.rows, everything.settings.prior)
    start, weight = problem.pack(network), everything.rows.total_weight
    return problem.unpack(climbed_by_em(problem, start, SHORT, weight, ticker)[0])


def with_parent(
    everything: Everything, dag: DAG, name: str, children: Children
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
