"""The replace-parent move of hierarchies (thesis 6.7), and the place under another structure.

Every column and every hidden variable goes to the hidden parent under which it scores best; a
hidden variable that is left with one child or none is removed. Given the factors Q(t_i | y), each
move changes one family, and its score follows from the expected counts of a pair.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from unveil.bottleneck.course import Place
from unveil.bottleneck.expected import (
    PairCounts,
    factors_of,
    family_score,
    pair_counts,
    smoothed,
)
from unveil.bottleneck.mean_field import FieldParameters, MeanField
from unveil.graph.dag import DAG
from unveil.model.network import Network
from unveil.model.table_cpd import TableCPD

__all__ = ["moved", "pruned", "rebuilt"]

Matrix = npt.NDArray[np.float64]


def moved(place: Place, generator: np.random.Generator, information: float = 0.0) -> Place:
    """Every column and hidden variable under the hidden parent where it scores best (6.7).

    A hidden variable keeps its children until I(T; Y) is beyond `information` of log |T|: before,
    it tells nothing yet, and whoever tells something first would take them all.
    """
    problem: MeanField = place.problem
    if len(problem.hidden) < 2:
        return place
    network = problem.network(place.look.parameters)
    dag = network.dag
    counts = pair_counts(problem, place.look.parameters)
    for name in [*problem.table.names, *problem.hidden]:
        if name not in network.names or not dag.parents(name):
            continue
        above = problem.hidden.index(dag.parents(name)[0])
        if place.look.information[above] < information * np.log(problem.shape[above]) or (
            information and problem.shape[above] < 2
        ):
            continue
        scores = {
            h: family_score(counts(name, h), problem.prior)
            for h in problem.hidden
            if h != name and not _below(dag, h, name)
        }
        now = dag.parents(name)[0]
        best = max(scores, key=lambda h: scores[h])
        if scores[best] > scores[now] + 1e-6:
            dag = DAG(dag.nodes, [(p, c) for p, c in dag.arcs if c != name] + [(best, name)])
    if set(dag.arcs) == set(network.dag.arcs):
        return place
    return _with_dag(place, dag, problem.hidden, counts, generator)


def pruned(place: Place, generator: np.random.Generator) -> Place:
    """Hidden variables with one child or none are removed; the child goes to their parent."""
    while True:
        problem: MeanField = place.problem
        dag = problem.layout.network.dag
        spare = [h for h in problem.hidden if len(dag.children(h)) <= 1]
        if not spare or len(problem.hidden) == 1:
            return place
        name = spare[0]
        above, below = dag.parents(name), dag.children(name)
        arcs = [(p, c) for p, c in dag.arcs if name not in (p, c)]
        arcs += [(p, c) for p in above for c in below]
        left = DAG([n for n in dag.nodes if n != name], arcs)
        hidden = tuple(h for h in problem.hidden if h != name)
        counts = pair_counts(problem, place.look.parameters)
        place = _with_dag(place, left, hidden, counts, generator)


def rebuilt(
    place: Place,
    network: Network,
    hidden: tuple[str, ...],
    factors: dict[str, Matrix],
    generator: np.random.Generator,
) -> Place:
    """The same rows and factors under another structure."""
    old = place.problem
    made = MeanField(network, old.table, hidden, old.prior)
    q = made.parameters(network).q
    for v in made.unseen.tolist():
        first, k = int(made.plan.at[v]), int(made.plan.n_states[v])
        q[:, first : first + k] = factors[made.layout.names[v]]
    parameters = FieldParameters(made.layout.pack(network), made._commons(q), q)
    vectors = tuple(made.begin(j, generator) for j in range(len(hidden)))
    look = made.look(parameters, place.gamma)
    return replace(place, problem=made, parameters=parameters, vectors=vectors, look=look)


def _with_dag(
    place: Place,
    dag: DAG,
    hidden: tuple[str, ...],
    counts: PairCounts,
    generator: np.random.Generator,
) -> Place:
    """The place under another graph, tables from the factors as they are."""
    problem: MeanField = place.problem
    network = problem.network(place.look.parameters)
    cpds = []
    for name in dag.nodes:
        variable = network.variable(name)
        parents = [network.variable(p) for p in dag.parents(name)]
        n = counts(name, parents[0].name) if parents else counts(name, name).diagonal()
        cpds.append(TableCPD(variable, parents, smoothed(n, problem.prior, variable, parents)))
    factors = {
        name: own
        for name, own in factors_of(problem, place.look.parameters).items()
        if name in dag.nodes
    }
    return rebuilt(place, Network(cpds), hidden, factors, generator)


def _below(dag: DAG, name: str, top: str) -> bool:
    """Whether a node is a descendant of another in a hierarchy."""
    while True:
        parents = dag.parents(name)
        if not parents:
            return False
        if parents[0] == top:
            return True
        name = parents[0]
