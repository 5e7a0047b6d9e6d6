"""Parameters of a network from complete, weighted rows (thesis 2.2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from unveil.errors import DataError
from unveil.graph.dag import DAG
from unveil.model.conditional_gaussian_cpd import fit_gaussian
from unveil.model.cpd import CPD
from unveil.model.network import Network
from unveil.model.prior import DirichletPrior
from unveil.model.table_cpd import TableCPD, n_cells
from unveil.table.core import Table
from unveil.table.variable import Variable

__all__ = ["family_counts", "fit", "table_from_counts"]


def fit(dag: DAG, table: Table, prior: DirichletPrior | None = None) -> Network:
    """The network over `dag` whose tables are estimated from the rows of `table`.

    Without a prior, the maximum likelihood estimate S[x, u] / S[u] (Eq. 2.8); parent
    configurations that no row shows get the uniform distribution. With a prior, the posterior mean
    (S[x, u] + alpha(x, u)) / (S[u] + alpha(u)) (Eq. 2.12). Continuous columns get linear Gaussian
    distributions by least squares. Columns outside the graph are ignored.

    >>> table = Table.from_frame({"x": ["a", "a", "b"]})
    >>> fit(DAG(["x"]), table).cpd("x").values.round(3).tolist()
    [0.667, 0.333]
    >>> from unveil import PseudoCount
    >>> fit(DAG(["x"]), table, PseudoCount(1)).cpd("x").values.tolist()
    [0.6, 0.4]
    """
    _check_columns(dag, table)
    cpds: list[CPD] = []
    for name in dag.nodes:
        variable, parents = table.variable(name), [table.variable(p) for p in dag.parents(name)]
        if not variable.is_discrete:
            cpds.append(fit_gaussian(variable, parents, table))
            continue
        counts = family_counts(table, variable, parents)
        cpds.append(table_from_counts(variable, parents, counts, prior))
    return Network(cpds)


def family_counts(
    table: Table, variable: Variable, parents: Sequence[Variable]
) -> npt.NDArray[np.float64]:
    """S[x, u]: the weight of rows in every cell of the family's table, parents first (Eq. 2.7)."""
    from unveil.kernels.families import push_digit, tally

    counts = np.zeros(n_cells(variable, parents))
    position = np.zeros(table.n_rows, np.int64)
    for v in (*parents, variable):
        push_digit(position, table.column(v.name), v.n_states)
    tally(position, table.row_weights, counts)
    return counts.reshape([v.n_states for v in (*parents, variable)])


def table_from_counts(
    variable: Variable,
    parents: Sequence[Variable],
    counts: npt.NDArray[np.float64],
    prior: DirichletPrior | None = None,
) -> TableCPD:
    """The table estimated from counts: maximum likelihood, or the posterior mean under `prior`."""
    if prior is not None:
        counts = counts + prior.pseudo_counts(variable, parents)
    totals = counts.sum(axis=-1, keepdims=True)
    seen = totals > 0
    uniform = 1.0 / variable.n_states
    return TableCPD(variable, parents, np.where(seen, counts / np.where(seen, totals, 1), uniform))


def _check_columns(dag: DAG, table: Table) -> None:
    for name in dag.nodes:
        continuous = [p for p in dag.parents(name) if not table.variable(p).is_discrete]
        if table.variable(name).is_discrete and continuous:
            raise DataError(
                f"the discrete column {name!r} has the continuous parent {continuous[0]!r}; its "
                "table needs discrete parents. Discretise the parent first (unveil.Discretizer)."
            )
        missing = table.missing(name)
        if missing.any():
            raise DataError(
                f"column {name!r} has {int(missing.sum())} missing cells (the first in row "
                f"{int(missing.argmax()) + 1}); fitting by counting needs complete rows"
            )
