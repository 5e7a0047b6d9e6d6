"""The replace-parent move of hierarchies (thesis 6.7), and the place under another structure.

Columns and hidden variables go to the hidden parent under which they are at home (`attaching.py`);
a hidden variable that is left with one child or none is removed.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from unveil.bottleneck.attaching import Homes
from unveil.bottleneck.course import Place
from unveil.bottleneck.expected import PairCounts, factors_of, pair_counts, smoothed
from unveil.bottleneck.mean_field import FieldParameters, MeanField
from unveil.graph.dag import DAG
from unveil.model.network import Network
from unveil.model.table_cpd import TableCPD, table_of

__all__ = ["moved", "rebuilt"]

Matrix = npt.NDArray[np.float64]


def moved(
    place: Place, generator: np.random.Generator, information: float = 0.0, most: int | None = None
) -> Place:
    """Columns and hidden variables under the hidden parent where they are at home (6.7).

    At most `most` of them move, those that gain most. A hidden variable keeps its children until
    I(T; Y) is beyond `information` of log |T|: before, it tells nothing yet, and whoever tells
    something first would take them all. Hidden variables that are left with one child or none are
    removed.
    """
    problem: MeanField = place.problem
    if len(problem.hidden) < 2:
        return place
    network = problem.network(place.look.parameters)
    dag = network.dag
    homes = Homes(problem, place.look.parameters, place.gamma)
    moves = []
    for name in [*problem.table.names, *problem.hidden]:
        if name not in network.names or not dag.parents(name):
            continue
        now = dag.parents(name)[0]
        above = problem.hidden.index(now)
        if place.look.information[above] < information * np.log(problem.shape[above]) or (
            information and problem.shape[above] < 2
        ):
            continue
        worth = homes.scores(
            name, [h for h in problem.hidden if h != name and not _below(dag, h, name)]
        )
        best = max(worth, key=lambda h: worth[h])
        if worth[best] > worth[now] + 1e-6 * abs(worth[now]):
            moves.append((worth[best] - worth[now], name, best))
    for _, name, best in sorted(moves, reverse=True)[:most]:
        if best != name and not _below(dag, best, name):
            dag = DAG(dag.nodes, [(p, c) for p, c in dag.arcs if c != name] + [(best, name)])
    if not moves:
        return place
    dag, hidden = _without_spare(dag, problem.hidden)
    counts = pair_counts(problem, place.look.parameters)
    return _with_dag(place, dag, hidden, counts, generator)


def _without_spare(dag: DAG, hidden: tuple[str, ...]) -> tuple[DAG, tuple[str, ...]]:
    """Without hidden variables of one child or none; the child goes to their parent."""
    while True:
        spare = [h for h in hidden if len(dag.children(h)) <= 1]
        if not spare or len(hidden) == 1:
            return dag, hidden
        name = spare[0]
        above, below = dag.parents(name), dag.children(name)
        arcs = [(p, c) for p, c in dag.arcs if name not in (p, c)]
        arcs += [(p, c) for p in above for c in below]
        dag = DAG([n for n in dag.nodes if n != name], arcs)
        hidden = tuple(h for h in hidden if h != name)


def rebuilt(
    place: Place,
    network: Network,
    hidden: tuple[str, ...],
    factors: dict[str, Matrix],
    generator: np.random.Generator,
) -> Place:
    """The same rows and factors under another structure."""
    old = place.problem
    made = type(old)(network, old.table, hidden, old.prior)
    q = made.parameters(network).q
    for v in made.unseen.tolist():
        first, k = int(made.plan.at[v]), int(made.plan.n_states[v])
        q[:, first : first + k] = factors[made.layout.names[v]]
    tables = made.layout.pack(network)
    parameters = FieldParameters(tables, made._commons(q, tables), q)
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
    """The place under another graph; families that are new get tables from the factors."""
    problem: MeanField = place.problem
    network = problem.network(place.look.parameters)
    cpds = []
    for name in dag.nodes:
        if dag.parents(name) == network.dag.parents(name):
            cpds.append(table_of(network.cpd(name)))
            continue
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
