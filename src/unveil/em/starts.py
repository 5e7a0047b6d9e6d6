"""Where EM starts: random parameters, hard clusters of the rows, or given ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from unveil.errors import DataError
from unveil.graph.dag import DAG
from unveil.model.fit import table_from_counts
from unveil.model.network import Network
from unveil.model.prior import PseudoCount
from unveil.model.table_cpd import TableCPD
from unveil.statistics.counting import family_counts
from unveil.table.core import Table
from unveil.table.variable import Variable

__all__ = ["START_KINDS", "cluster_rows", "network_to_start"]

START_KINDS = ("random", "cluster", "given")


def network_to_start(
    kind: str,
    dag: DAG,
    variables: Mapping[str, Variable],
    table: Table,
    given: Network | None,
    generator: np.random.Generator,
) -> Network:
    """Parameters for EM to start from.

    Families whose columns the table has are counted from the rows that show them whole; the rest
    are drawn at random, or counted after a hard clustering of the rows (`cluster`).
    """
    if kind == "given":
        assert given is not None
        return given
    known = table.select([n for n in dag.nodes if n in table])
    known = known.conform([variables[n] for n in known.names])
    if kind == "cluster":
        for name in dag.nodes:
            if name not in known or known.missing(name).all():
                around = [n for n in sorted(dag.markov_blanket(name)) if n in known]
                codes = cluster_rows(known, around, variables[name].n_states, generator)
                known = known.with_column(variables[name], codes)
    cpds = [
        _family(variables[n], [variables[p] for p in dag.parents(n)], known, generator)
        for n in dag.nodes
    ]
    return Network(cpds)


def _family(
    variable: Variable, parents: Sequence[Variable], table: Table, generator: np.random.Generator
) -> TableCPD:
    names = [v.name for v in (*parents, variable)]
    if all(n in table for n in names):
        shown = ~np.any([table.missing(n) for n in names], axis=0)
        if shown.any():
            counts = family_counts(table.take(shown), variable, parents)
            return table_from_counts(variable, parents, counts, PseudoCount(0.5))
    shape = [v.n_states for v in (*parents, variable)]
    return TableCPD(variable, parents, generator.dirichlet(np.ones(shape[-1]), shape[:-1]))


def cluster_rows(
    table: Table, names: Sequence[str], n_clusters: int, generator: np.random.Generator
) -> npt.NDArray[np.int64]:
    """A hard cluster for every row: K-modes on the named columns, missing cells ignored.

    Lloyd's algorithm (as K-means) with the rows' states as indicator vectors, from centres drawn
    far apart (as k-means++).
    """
    if not names:
        return generator.integers(n_clusters, size=table.n_rows)
    blocks = []
    for name in names:
        variable = table.variable(name)
        if not variable.is_discrete:
            raise DataError(f"clustering for EM needs discrete columns; {name!r} is continuous")
        codes, missing = table.column(name), table.missing(name)
        block = np.zeros((table.n_rows, variable.n_states), np.float32)
        block[np.flatnonzero(~missing), codes[~missing]] = 1.0
        blocks.append(block)
    points = np.concatenate(blocks, axis=1)
    weights = table.row_weights.astype(np.float32)
    centres = _far_apart(points, weights, n_clusters, generator)
    labels = np.full(table.n_rows, -1)
    for _ in range(20):
        distance = (centres**2).sum(axis=1)[None, :] - 2 * points @ centres.T
        nearest = distance.argmin(axis=1)
        if (nearest == labels).all():
            break
        labels = nearest
        for k in range(n_clusters):
            inside = labels == k
            total = weights[inside].sum()
            if total > 0:
                centres[k] = weights[inside] @ points[inside] / total
    return labels.astype(np.int64)


def _far_apart(
    points: npt.NDArray[np.float32],
    weights: npt.NDArray[np.float32],
    n_clusters: int,
    generator: np.random.Generator,
) -> npt.NDArray[np.float32]:
    chosen = [int(generator.choice(len(points), p=_shares(weights)))]
    nearest = ((points - points[chosen[0]]) ** 2).sum(axis=1)
    while len(chosen) < n_clusters:
        mass = nearest * weights
        share = _shares(mass if mass.sum() > 0 else weights)
        chosen.append(int(generator.choice(len(points), p=share)))
        nearest = np.minimum(nearest, ((points - points[chosen[-1]]) ** 2).sum(axis=1))
    return points[chosen].copy()


def _shares(mass: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    wide = mass.astype(np.float64)
    return wide / wide.sum()
