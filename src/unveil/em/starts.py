"""Where EM starts: random parameters, hard clusters of the rows, or given ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from unveil.errors import DataError
from unveil.graph.dag import DAG
from unveil.model.cpd import CPD
from unveil.model.fit import family_statistics, table_from_counts
from unveil.model.gaussian_cpd import GaussianPrior
from unveil.model.kinds import kind_for
from unveil.model.network import Network
from unveil.model.prior import PseudoCount
from unveil.model.table_cpd import TableCPD
from unveil.statistics.counting import family_counts
from unveil.statistics.memory import as_statistics
from unveil.table.core import Table
from unveil.table.variable import Variable

__all__ = ["START_KINDS", "cluster_rows", "network_to_start"]

START_KINDS = ("random", "cluster", "given")
MANY_ROWS = 50_000
"""So many rows are enough to find the centres of clusters."""
LLOYD_ROUNDS = 20


def network_to_start(
    kind: str,
    dag: DAG,
    variables: Mapping[str, Variable],
    table: Table,
    given: Network | None,
    generator: np.random.Generator,
) -> Network:
    """Parameters for EM to start from.

    Families whose columns the table has are fitted to the rows that show them whole; the rest are
    drawn at random, or fitted after a hard clustering of the rows (`cluster`). In networks with
    continuous variables unseen columns are always guessed: discrete ones by clusters (around rows
    drawn far apart, for a random start), continuous ones by a mixture of the columns around them
    (at random, or the principal component).
    """
    if kind == "given":
        assert given is not None
        return given
    known = table.select([n for n in dag.nodes if n in table])
    known = known.conform([variables[n] for n in known.names])
    numbers = any(not variable.is_discrete for variable in variables.values())
    if kind == "cluster" or numbers:
        rounds = LLOYD_ROUNDS if kind == "cluster" else 0
        for name in dag.nodes:
            if name not in known or known.missing(name).all():
                around = [n for n in sorted(dag.markov_blanket(name)) if n in known]
                column = _guessed(variables[name], known, around, rounds, generator)
                known = known.with_column(variables[name], column)
    cpds = [
        _family(variables[n], [variables[p] for p in dag.parents(n)], known, generator)
        for n in dag.nodes
    ]
    return Network(cpds)


def _family(
    variable: Variable, parents: Sequence[Variable], table: Table, generator: np.random.Generator
) -> CPD:
    names = [v.name for v in (*parents, variable)]
    shown = np.zeros(table.n_rows, bool)
    if all(n in table for n in names):
        shown = ~np.any([table.missing(n) for n in names], axis=0)
    if not variable.is_discrete:
        return _line(variable, parents, table, shown)
    if shown.any():
        counts = family_counts(table.take(shown), variable, parents)
        return table_from_counts(variable, parents, counts, PseudoCount(0.5))
    shape = [v.n_states for v in (*parents, variable)]
    return TableCPD(variable, parents, generator.dirichlet(np.ones(shape[-1]), shape[:-1]))


def _line(
    variable: Variable, parents: Sequence[Variable], table: Table, shown: npt.NDArray[np.bool_]
) -> CPD:
    """A Gaussian family fitted to the rows that show it, parents' effects shrunk a little."""
    rows = table.take(shown)
    if rows.n_rows < 2 or rows.total_weight <= 0:
        raise DataError(
            f"no two rows show {variable.name!r} together with all its parents, so EM does not "
            "know where to start. Give a network as the start."
        )
    spread = float(np.var(rows.column(variable.name)))
    floor = max(1e-6 * spread, 1e-12)
    kind = kind_for(variable, parents)
    statistics = as_statistics(rows.select([v.name for v in (*parents, variable)]))
    known = family_statistics(statistics, [(variable, parents)], [kind])
    return kind.estimate(variable, parents, known[0], GaussianPrior(1.0, floor))


def _guessed(
    variable: Variable,
    table: Table,
    around: Sequence[str],
    rounds: int,
    generator: np.random.Generator,
) -> npt.NDArray[np.int64] | npt.NDArray[np.float64]:
    """A column for a variable that no row shows, guessed from those around it."""
    if variable.is_discrete:
        return cluster_rows(table, around, variable.n_states, generator, rounds)
    points = _points(table, around) if around else np.zeros((table.n_rows, 0), np.float32)
    points = points - points.mean(axis=0)
    if not points.any():
        return generator.normal(size=table.n_rows)
    mixture = generator.normal(size=points.shape[1])
    if rounds:
        mixture = np.linalg.svd(points, full_matrices=False)[2][0]
    value = points @ mixture
    return np.asarray(value / value.std(), np.float64) if value.std() > 0 else value


def cluster_rows(
    table: Table,
    names: Sequence[str],
    n_clusters: int,
    generator: np.random.Generator,
    rounds: int = LLOYD_ROUNDS,
) -> npt.NDArray[np.int64]:
    """A hard cluster for every row: K-modes on the named columns, missing cells ignored.

    Lloyd's algorithm (as K-means) with the rows' states as indicator vectors and numbers in
    standard units, from centres drawn far apart (as k-means++). Without `rounds`, the nearest of
    these centres. Of many rows, some that are drawn give the centres.
    """
    if not names:
        return generator.integers(n_clusters, size=table.n_rows)
    points = _points(table, names)
    weights = _in_reach(table.row_weights)
    if table.n_rows <= MANY_ROWS:
        return _lloyd(points, weights, n_clusters, generator, rounds)[0]
    some = np.sort(generator.choice(table.n_rows, MANY_ROWS, replace=False))
    centres = _lloyd(points[some], weights[some], n_clusters, generator, rounds)[1]
    return _nearest(points, centres)


def _lloyd(
    points: npt.NDArray[np.float32],
    weights: npt.NDArray[np.float32],
    n_clusters: int,
    generator: np.random.Generator,
    rounds: int,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
    """The cluster of every point, and the centres."""
    centres = _far_apart(points, weights, n_clusters, generator)
    labels = np.full(len(points), -1)
    for _ in range(max(rounds, 1)):
        nearest = _nearest(points, centres)
        if (nearest == labels).all():
            break
        labels = nearest
        for k in range(n_clusters):
            inside = labels == k
            total = weights[inside].sum()
            if total > 0:
                centres[k] = weights[inside] @ points[inside] / total
    return labels.astype(np.int64), centres


def _nearest(
    points: npt.NDArray[np.float32], centres: npt.NDArray[np.float32]
) -> npt.NDArray[np.int64]:
    distance = (centres**2).sum(axis=1)[None, :] - 2 * points @ centres.T
    return distance.argmin(axis=1).astype(np.int64)


def _in_reach(weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    """The weights by a power of two, the largest near one: single precision has a short reach."""
    most = weights.max(initial=0.0)
    if most == 0:
        return np.ones(len(weights), np.float32)  # nobody counts, so all do
    return np.ldexp(weights, -np.frexp(most)[1]).astype(np.float32)


def _points(table: Table, names: Sequence[str]) -> npt.NDArray[np.float32]:
    """The rows as points: an indicator for every state, numbers in standard units, gaps zero."""
    blocks = []
    for name in names:
        variable, column, missing = table.variable(name), table.column(name), table.missing(name)
        present = np.flatnonzero(~missing)
        if variable.is_discrete:
            block = np.zeros((table.n_rows, variable.n_states), np.float32)
            block[present, column[present]] = 1.0
        else:
            block = np.zeros((table.n_rows, 1), np.float32)
            seen = column[present]
            spread = seen.std() if seen.size else 0.0
            block[present, 0] = (seen - seen.mean()) / spread if spread > 0 else 0.0
        blocks.append(block)
    return np.concatenate(blocks, axis=1)


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
