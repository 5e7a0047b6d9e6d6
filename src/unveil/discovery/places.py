"""Places where a hidden variable may be missing: signatures, everything at once, or anywhere."""

from __future__ import annotations

import numpy as np

from unveil.discovery.bench import Bench
from unveil.discovery.candidates import Place
from unveil.discovery.patience import inside
from unveil.evaluate.bootstrap import bootstrap_arcs
from unveil.graph.dag import DAG
from unveil.hidden.semi_cliques import find_semi_cliques, neighbourhoods
from unveil.progress import Ticker
from unveil.score.bdeu import BDeu
from unveil.search.constraints import Constraints
from unveil.search.learn import learn

__all__ = ["place_of_everything", "places_with_a_signature", "random_place"]


def places_with_a_signature(bench: Bench, name: str, ticker: Ticker) -> tuple[Place, ...]:
    """Sets of suspected children, the most promising first.

    Semi-cliques of the network itself, and of the graph that plain tabu climbing finds on the same
    rows: it is denser than the default search's, which is what leaves signatures (4.2 used it).
    Then every variable with its neighbours, the other half of the signature (4.3: many parents,
    many children).
    """
    network, settings = bench.network, bench.settings
    rows = bench.completed.select(network.dag.nodes)
    score = BDeu(settings.equivalent_sample_size)
    confidence = None
    if settings.soft:
        confidence = bootstrap_arcs(
            rows, lambda sample: learn(sample, score).dag, settings.soft, bench.seed,
            **inside(ticker),
        ).adjacent  # fmt: skip
    found = list(find_semi_cliques(network.dag, confidence=confidence))
    limits = Constraints(max_parents=settings.max_parents)
    for other in (score, BDeu(10 * settings.equivalent_sample_size)):
        climbed = learn(rows, other, "tabu", constraints=limits, **inside(ticker))
        found += find_semi_cliques(_in_order(climbed.dag, network.dag))
    found += neighbourhoods(network.dag)
    unique: dict[frozenset[str], Place] = {}
    for clique in found:
        unique.setdefault(frozenset(clique.nodes), Place(name, clique.nodes))
    return tuple(unique.values())


def place_of_everything(bench: Bench, name: str) -> Place:
    """Behind all columns that differ from row to row.

    The signature is local; a variable behind much of the table (the mood of a market, a social
    class) leaves many small ones. A column of a single state would be a child for nothing.
    """
    differing = tuple(v.name for v in bench.glanced.variables if v.n_states > 1)
    return Place(name, differing or bench.glanced.names)


def random_place(bench: Bench, name: str, number: int) -> Place:
    """Behind two to six columns drawn at random; every `number` gives others.

    For tables small enough to afford many: there the signature says little (all is linked to all),
    and the best place may differ much from the graph without the variable.
    """
    generator = np.random.default_rng([bench.seed, number])
    names = bench.glanced.names
    size = int(generator.integers(2, min(len(names), 6) + 1))
    return Place(name, tuple(names[i] for i in sorted(generator.permutation(len(names))[:size])))


def _in_order(dag: DAG, other: DAG) -> DAG:
    return DAG(other.nodes, dag.arcs)
