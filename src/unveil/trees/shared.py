"""Mixtures of trees that share their structure: a hidden class and a tree within the classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt

from unveil.errors import DataError
from unveil.graph.dag import DAG
from unveil.model.network import Network
from unveil.model.table_cpd import TableCPD, table_of
from unveil.table.core import Table
from unveil.table.variable import Variable
from unveil.trees.door import Work
from unveil.trees.fit import HiddenTree, TreeSettings, fit_structure, random_network
from unveil.trees.information import chow_liu_parents, indicators, mutual_information

__all__ = ["shared_trees"]

Matrix = npt.NDArray[np.float64]
MODEL = "mixture of trees"


def shared_trees(work: Work, root: Variable, settings: TreeSettings, rounds: int) -> HiddenTree:
    """Classes first, then the tree within them and EM, until the tree stays the same."""
    if rounds < 1:
        raise DataError(f"rounds is a whole number from 1, got {rounds}")
    table = work.table
    variables = {root.name: root, **{v.name: v for v in table.variables}}
    classes = _graph(root.name, table.names, [-1] * table.n_columns)
    found = fit_structure(
        MODEL, partial(random_network, classes, variables, table), table, work.prior, settings,
        work.seed, work.ticker.part("classes", share=0.4), work.validation,
    )  # fmt: skip
    dag = classes
    for r in range(rounds):
        if not work.ticker.keep_going():
            break
        posterior = found.network.posterior(table, of=root.name)[root.name]
        parents = chow_liu_parents(_conditional_information(table, posterior))
        new = _graph(root.name, table.names, parents)
        if new == dag:
            break
        start = _with_arcs(found.network, new, table, posterior)
        # One start, which goes on from the classes found, over all rows.
        once = replace(settings, n_starts=1, epochs=0)
        tried = fit_structure(
            MODEL, lambda _, start=start: start, table, work.prior, once, work.seed,  # type: ignore[misc]
            work.ticker.part(f"tree {r + 1}"), work.validation,
        )  # fmt: skip
        if _worth(tried) <= _worth(found):
            break
        found, dag = replace(tried, starts=(*tried.starts, *found.starts)), new
    return replace(found, stopped=work.ticker.reason or found.stopped)


def _worth(found: HiddenTree) -> float:
    return found.objective if found.validation is None else found.validation


def _graph(root: str, names: Sequence[str], parents: Sequence[int]) -> DAG:
    """The class above all columns, and the tree among these."""
    arcs = [(root, name) for name in names]
    arcs += [(names[p], name) for name, p in zip(names, parents, strict=True) if p >= 0]
    return DAG([root, *names], arcs)


def _conditional_information(table: Table, posterior: Matrix) -> Matrix:
    """I(x; y | class) for all pairs: that of each class by its share (Meila and Jordan 2000)."""
    shown, first = indicators(table)
    mass = posterior * table.row_weights[:, None]
    total: Matrix = np.zeros((table.n_columns, table.n_columns))
    for own in mass.T:
        if own.sum() > 0:
            total += own.sum() / mass.sum() * mutual_information(shown, first, own)
    return total


def _with_arcs(network: Network, dag: DAG, table: Table, posterior: Matrix) -> Network:
    """The network on the new graph: P(x | class, parent) counted from the rows and posteriors."""
    root = dag.nodes[0]
    cpds = [table_of(network.cpd(root))]
    weights = posterior * table.row_weights[:, None]
    for name in dag.nodes[1:]:
        variable = table.variable(name)
        parents = [network.variable(p) for p in dag.parents(name)]
        before = _class_table(network, name, root)
        shape = [v.n_states for v in parents]
        counts = np.empty([*shape, variable.n_states])
        counts[...] = np.expand_dims(before, tuple(range(1, len(shape))))  # one case as before
        among = [p for p in dag.parents(name) if p != root]
        shown = ~np.any([table.missing(n) for n in (*among, name)], axis=0)
        codes = [table.column(n)[shown].astype(np.intp) for n in (*among, name)]
        for c in range(posterior.shape[1]):
            np.add.at(counts[c], tuple(codes), weights[shown, c])
        cpds.append(TableCPD(variable, parents, counts / counts.sum(axis=-1, keepdims=True)))
    return Network(cpds)


def _class_table(network: Network, name: str, root: str) -> Matrix:
    """P(x | class), a parent among the columns averaged over without weight."""
    cpd = table_of(network.cpd(name))
    values = cpd.values
    for axis in reversed(range(len(cpd.parents))):
        if cpd.parents[axis].name != root:
            values = values.mean(axis=axis)
    return np.asarray(values, np.float64)
