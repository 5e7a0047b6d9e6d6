"""Places where a hidden variable may be missing: signatures, everything at once, or anywhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np

from unveil.discovery.bench import Bench
from unveil.discovery.candidates import Place
from unveil.discovery.patience import inside
from unveil.discovery.promise import Promise
from unveil.evaluate.bootstrap import bootstrap_arcs
from unveil.graph.dag import DAG
from unveil.hidden.semi_cliques import find_semi_cliques, neighbourhoods
from unveil.hidden.signatures import faint_signatures
from unveil.progress import Ticker
from unveil.score.bdeu import BDeu
from unveil.search.learn import learn

__all__ = ["in_turns", "place_of_everything", "places_with_a_signature", "random_place"]

T = TypeVar("T")


def places_with_a_signature(bench: Bench, name: str, ticker: Ticker) -> tuple[Place, ...]:
    """Sets of suspected children, the most promising first.

    Those that were asked for; then, in turns, clear signatures, faint ones, and every variable with
    its neighbours. Clear are semi-cliques of the network itself and of the graph that plain tabu
    climbing finds on the same rows: it is denser than the default search's, which is what leaves
    signatures (4.2 used it). Faint are nodes that are linked as a path, parts of neighbourhoods
    (4.3: many parents, many children) and semi-cliques that overlap, taken together; they are many,
    and come in the order of what they promise.
    """
    network, settings = bench.network, bench.settings
    rows = bench.completed.select(network.dag.nodes)
    score, most = settings.criterion, settings.max_children
    confidence = None
    if settings.soft:
        confidence = bootstrap_arcs(
            rows, lambda sample: learn(sample, score).dag, settings.soft, bench.seed,
            **inside(ticker),
        ).adjacent  # fmt: skip
    cliques = list(find_semi_cliques(network.dag, max_size=most, confidence=confidence))
    for other in (score, BDeu(10 * settings.equivalent_sample_size)):
        climbed = learn(rows, other, "tabu", constraints=bench.limits(network), **inside(ticker))
        cliques += find_semi_cliques(_in_order(climbed.dag, network.dag), max_size=most)
    clear = dict.fromkeys(frozenset(clique.nodes) for clique in cliques)
    around = [frozenset(found.nodes) for found in neighbourhoods(network.dag)]
    faint = Promise(bench, name).in_order(faint_signatures(network.dag, cliques, most), ticker)
    asked = dict.fromkeys(frozenset(place) for place in settings.places)
    order = [*asked, *in_turns(list(clear), faint, around)]
    position = network.dag.position
    return tuple(Place(name, tuple(sorted(nodes, key=position))) for nodes in dict.fromkeys(order))


def in_turns(*lists: Sequence[T]) -> Iterator[T]:
    """An entry of each in turns, while they have any.

    >>> list(in_turns([1, 2, 3], [10], [100, 200]))
    [1, 10, 100, 2, 200, 3]
    """
    for turn in range(max(map(len, lists), default=0)):
        yield from (entries[turn] for entries in lists if turn < len(entries))


def place_of_everything(bench: Bench, name: str) -> Place:
    """Behind all columns that differ from row to row.

    The signature is local; a variable behind much of the table (the mood of a market, a social
    class) leaves many small ones. A column of a single state would be a child for nothing.
    """
    differing = tuple(v.name for v in bench.glanced.variables if v.n_states > 1)
    return Place(name, differing or bench.glanced.names, "cluster")


def random_place(bench: Bench, name: str, number: int) -> Place:
    """Behind two to six columns drawn at random; every `number` gives others.

    For tables small enough to afford many: there the signature says little (all is linked to all),
    and the best place may differ much from the graph without the variable.
    """
    generator = np.random.default_rng([bench.seed, number])
    names = bench.glanced.names
    size = int(generator.integers(2, min(len(names), 6) + 1))
    nodes = tuple(names[i] for i in sorted(generator.permutation(len(names))[:size]))
    return Place(name, nodes, "random")


def _in_order(dag: DAG, other: DAG) -> DAG:
    return DAG(other.nodes, dag.arcs)
