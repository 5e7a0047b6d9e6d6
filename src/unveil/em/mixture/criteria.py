"""Further criteria for the number of classes (`003`: approximating the marginal likelihood).

- `completion`: max over C^n of log P(X^n, C^n | M), by probabilistic K-means from the mixture on;
- `laplace`: Laplace's approximation of the log marginal likelihood, at the mixture's MAP;
- `effective-bic`: BIC with the number of parameters that the rows can tell apart (thesis 5.1).

Each is computed when it is asked for; all are in nats, higher is better.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from unveil.em.laplace import laplace
from unveil.em.mixture.k_means import completed_by
from unveil.errors import ModelError, SizeError
from unveil.model.network import Network
from unveil.model.prior import DirichletPrior
from unveil.model.table_cpd import table_of
from unveil.table.core import Table

__all__ = ["CRITERIA", "criterion", "mixture_dimension"]

MOST_PARAMETERS = 600
"""Ranks of more parameters take too long."""
ALL_CELLS = 2048
"""So many joint configurations are listed; of more, some are drawn."""


def criterion(
    score: str,
    log_likelihood: float,
    at_map: Network,
    root: str,
    table: Table,
    prior: DirichletPrior,
) -> float:
    """What a criterion says of a mixture; minus infinity where it does not apply.

    `at_map` has the parameters that EM ends with under `prior`.
    """
    return CRITERIA[score](log_likelihood, at_map, root, table, prior)


def _completion(
    log_likelihood: float, at_map: Network, root: str, table: Table, prior: DirichletPrior
) -> float:
    return completed_by(at_map, root, table, prior).log_probability


def _laplace(
    log_likelihood: float, at_map: Network, root: str, table: Table, prior: DirichletPrior
) -> float:
    """Minus infinity where the parameters are no proper maximum: classes that are not there.

    log k! is added: the same mixture has so many maxima, one for every order of the classes.
    """
    try:
        return laplace(at_map, table, prior) + math.lgamma(at_map.variable(root).n_states + 1)
    except (ModelError, SizeError):
        return -math.inf


def _effective_bic(
    log_likelihood: float, at_map: Network, root: str, table: Table, prior: DirichletPrior
) -> float:
    try:
        dimension = mixture_dimension(at_map, root)
    except SizeError:
        return -math.inf
    return log_likelihood - 0.5 * dimension * math.log(table.total_weight)


CRITERIA: dict[str, Callable[[float, Network, str, Table, DirichletPrior], float]] = {
    "completion": _completion,
    "laplace": _laplace,
    "effective-bic": _effective_bic,
}
"""Criteria by the name of the score."""


def mixture_dimension(network: Network, root: str, seed: int = 0) -> int:
    """How many parameters of a mixture complete rows can tell apart (thesis 5.1).

    The rank of the Jacobian of P(x) with respect to the free parameters, at random parameters
    (Geiger, Heckerman and Meek 1996). Of many joint configurations x some are drawn, four for each
    parameter: enough for the rank unless they are few of a kind.

    >>> from unveil import Network, TableCPD, Variable
    >>> h = Variable("h", [0, 1], hidden=True)
    >>> columns = [Variable(c, [0, 1]) for c in "xy"]
    >>> pair = Network([TableCPD.uniform(h), *(TableCPD.uniform(x, [h]) for x in columns)])
    >>> pair.n_parameters, mixture_dimension(pair, "h")
    (5, 3)
    """
    if network.n_parameters > MOST_PARAMETERS:
        raise SizeError(
            f"the effective dimension of {network.n_parameters} parameters takes too long; it is "
            f"for at most {MOST_PARAMETERS}"
        )
    generator = np.random.default_rng(seed)
    k = network.variable(root).n_states
    sizes = [table_of(c).values.shape[-1] for n, c in network.cpds.items() if n != root]
    shares = generator.dirichlet(np.full(k, 3.0))
    tables = [generator.dirichlet(np.full(r, 3.0), k) for r in sizes]
    cells = _cells(sizes, network.n_parameters, generator)
    given = [table[:, x] for table, x in zip(tables, cells, strict=True)]  # (k, n_cells) each
    whole = np.prod(given, axis=0)
    # d P(x) / d log theta, one column per free parameter: scaling columns leaves the rank alone.
    columns = [(whole[:-1] - whole[-1:])]
    for table, x in zip(tables, cells, strict=True):
        share = shares[:, None] * whole / table[:, x]
        for s in range(table.shape[1] - 1):
            columns.append(share * ((x == s) * 1.0 - (x == table.shape[1] - 1)))
    jacobian = np.concatenate(columns).T / (shares @ whole)[:, None]
    # Sums over all cells are one: of the cells drawn nothing is known to add up.
    return int(np.linalg.matrix_rank(jacobian, tol=1e-8 * max(jacobian.shape)))


def _cells(
    sizes: list[int], n_parameters: int, generator: np.random.Generator
) -> list[npt.NDArray[np.int64]]:
    """All joint configurations of the columns, or some; an array per column."""
    total = math.prod(sizes)
    if total <= ALL_CELLS:
        places = np.arange(total)
        return [np.asarray(x, np.int64) for x in np.unravel_index(places, sizes)]
    return [generator.integers(r, size=max(4 * n_parameters, 200)) for r in sizes]
