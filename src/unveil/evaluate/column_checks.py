"""Does a network with hidden parents describe its columns? Each predicted from all the others.

Where a column's parents are hidden, there is no residual to look at: what the hidden parent is
taken to be in a row already heeds the column. So every column is predicted from the other columns
of its row. What is left should look like noise, as after a line (`path_diagram`).
"""

from __future__ import annotations

import numpy as np

from unveil.evaluate.paths import LineCheck, checked
from unveil.model.network import Network
from unveil.table.core import Table
from unveil.table.door import Data, Weights, as_table

__all__ = ["column_checks"]

MOST_ROWS = 2000
"""So many rows are looked at, evenly spread over all."""


def column_checks(
    network: Network, data: Data, *, weights: Weights = None
) -> tuple[LineCheck, ...]:
    """A check of every continuous column that is linked to something: predicted from the others.

    `data` is a table, a frame, an array or a path, `weights` say how often each row counts. The
    share of variance explained (`r_squared`) is that which the other columns explain.

    >>> from unveil import DAG, Variable, fit
    >>> generator = np.random.default_rng(1)
    >>> h = generator.normal(size=500)
    >>> rows = {n: h + 0.5 * generator.normal(size=500) for n in "abc"}
    >>> graph = DAG([*"abc", "H"], [("H", n) for n in "abc"])
    >>> network = fit(graph, rows, hidden={"H": Variable("H")}, seed=1)
    >>> [(c.name, round(c.r_squared, 1), c.words) for c in column_checks(network, rows)]
    [('a', 0.7, 'looks like noise'), ('b', 0.7, 'looks like noise'), ('c', 0.7, 'looks like noise')]
    """
    table = as_table(data, weights, like=None if isinstance(data, Table) else network)
    step = max(1, -(-table.n_rows // MOST_ROWS))
    rows = np.arange(0, table.n_rows, step)
    some = table.take(rows)
    found = []
    for name in network.names:
        linked = network.dag.parents(name) or network.dag.children(name)
        if name not in some or network.variable(name).is_discrete or not linked:
            continue
        seen = np.flatnonzero(~some.missing(name) & (some.row_weights > 0))
        others = [n for n in some.names if n != name]
        if seen.size < 2 or not others:
            continue
        told = network.posterior(some.select(others).take(seen), of=name)
        found.append(
            checked(
                name, rows[seen], some.row_weights[seen], np.asarray(some.column(name)[seen]),
                np.asarray(told.means[name]), np.sqrt(np.asarray(told.variances[name])),
            )
        )  # fmt: skip
    return tuple(found)
