"""`fit_curves`: a network of non-linear families from complete weighted rows (thesis 7.5)."""

from __future__ import annotations

import numpy as np

from unveil.errors import DataError
from unveil.graph.dag import DAG
from unveil.model.cpd import CPD
from unveil.model.curve_fit import Fitter
from unveil.model.curves import Curve
from unveil.model.gaussian_cpd import LinearGaussianCPD
from unveil.model.network import Network
from unveil.model.nonlinear_cpd import NonlinearCPD
from unveil.table.core import Table

__all__ = ["continuous_rows", "curve_cpd", "fit_curves"]


def fit_curves(dag: DAG, table: Table, curve: Curve) -> Network:
    """The network over `dag` whose families are maximum likelihood curves; columns outside of it
    are ignored.

    A variable without parents and with additive noise is a plain Gaussian.

    >>> u = np.linspace(-3, 3, 50)
    >>> noise = 0.1 * np.sin(40 * u)
    >>> table = Table.from_frame({"u": u, "x": np.tanh(2 * u) + noise})
    >>> found = fit_curves(DAG(["u", "x"], [("u", "x")]), table, Curve("sigmoid")).cpd("x")
    >>> round(float(found.weights[0]))  # tanh(2 u) is a sigmoid of 4 u
    4
    """
    values, weights = continuous_rows(table.select(dag.nodes))
    place = {name: i for i, name in enumerate(dag.nodes)}
    fitter = Fitter(values, weights, curve, dag.nodes)
    return Network(curve_cpd(table, name, dag.parents(name), fitter, place) for name in dag.nodes)


def curve_cpd(
    table: Table, name: str, parents: tuple[str, ...], fitter: Fitter, place: dict[str, int]
) -> CPD:
    """One family, fitted to the rows that `fitter` holds."""
    variable, own = table.variable(name), [table.variable(p) for p in parents]
    found = fitter.fit(place[name], [place[p] for p in parents])
    if not own and not fitter.curve.positive:
        return LinearGaussianCPD(variable, [], found.low, [], found.variance)
    return NonlinearCPD(
        variable, own, fitter.curve, found.low, found.high, found.offsets, found.weights,
        found.variance,
    )  # fmt: skip


def continuous_rows(table: Table) -> tuple[np.ndarray, np.ndarray]:
    """The cells, shape (n_columns, n_rows), and the weights of a complete continuous table."""
    for variable in table.variables:
        if variable.is_discrete:
            raise DataError(
                f"column {variable.name!r} is discrete; curves are for continuous columns only"
            )
        missing = table.missing(variable.name)
        if missing.any():
            raise DataError(
                f"column {variable.name!r} has {int(missing.sum())} missing cells (the first in "
                f"row {int(missing.argmax()) + 1}); fitting by rows needs complete ones"
            )
    if table.n_rows == 0 or table.total_weight <= 0:
        raise DataError("the table has no rows to learn from, or all weigh nothing")
    values = np.array([table.column(name) for name in table.names], np.float64)
    if not np.isfinite(values).all():
        name = table.names[int(np.argmin(np.isfinite(values).all(axis=1)))]
        raise DataError(f"column {name!r} has an infinite value; leave such rows out")
    return values, np.asarray(table.row_weights, np.float64)
