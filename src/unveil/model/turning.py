"""The same distribution over an equivalent graph: covered arcs turned by Bayes' rule."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unveil.graph.turning import turned_away_from, turns_towards
from unveil.model.network import Network
from unveil.model.table_cpd import TableCPD, table_of

__all__ = ["facing_away_from"]


def facing_away_from(network: Network, names: Sequence[str]) -> Network:
    """The network of tables with arcs leading away from `names` wherever equivalence allows it.

    The joint distribution stays the same.

    >>> from unveil import DAG, Variable, fit, Table
    >>> rows = Table.from_frame({"a": [0, 0, 1, 1], "h": [0, 1, 1, 1]}, kinds="discrete")
    >>> chain = fit(DAG(["a", "h"], [("a", "h")]), rows)
    >>> facing_away_from(chain, ["h"]).dag
    DAG(h -> a)
    """
    tables = {name: table_of(cpd, "to turn arcs") for name, cpd in network.cpds.items()}
    target = turned_away_from(network.dag, names)
    for parent, child in turns_towards(network.dag, target):
        tables[parent], tables[child] = _turned(tables[parent], tables[child])
    return Network([tables[n] for n in network.names], network.name, network.description)


def _turned(upper: TableCPD, lower: TableCPD) -> tuple[TableCPD, TableCPD]:
    """P(x | y, u) and P(y | u) from P(x | u) and P(y | x, u)."""
    above = list(upper.parents)
    axes = [lower.parents.index(v) for v in (*above, upper.variable)]
    given_x = np.transpose(lower.values, [*axes, len(axes)])
    joint = upper.values[..., None] * given_x
    of_y = joint.sum(axis=-2)
    with np.errstate(invalid="ignore", divide="ignore"):
        of_x = np.swapaxes(joint / of_y[..., None, :], -1, -2)
    of_x = np.where(np.isfinite(of_x), of_x, 1.0 / upper.variable.n_states)
    of_x /= of_x.sum(axis=-1, keepdims=True)
    return (
        TableCPD(upper.variable, [*above, lower.variable], of_x),
        TableCPD(lower.variable, above, of_y / of_y.sum(axis=-1, keepdims=True)),
    )
