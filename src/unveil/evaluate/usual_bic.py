"""BIC as most of the field writes it, to compare with other programs."""

from __future__ import annotations

import math

from unveil.engines.rows import PartedRows
from unveil.infer.parted import bits_over
from unveil.model.network import Network
from unveil.table.core import Table

__all__ = ["usual_bic"]


def usual_bic(network: Network, table: Table | PartedRows) -> float:
    """-2 log L + d log N: the smaller, the better.

    Scores here are log-probabilities, log L - d/2 log N, the larger the better; this is -2 times
    that. d counts the free parameters, N the cases that the rows stand for.

    >>> from unveil import datasets
    >>> asia = datasets.network("asia")
    >>> rows = asia.sample(100, seed=1)
    >>> own = asia.log_likelihood(rows) - asia.n_parameters / 2 * math.log(100)
    >>> math.isclose(usual_bic(asia, rows), -2 * own)
    True
    """
    inside = table.select([n for n in network.names if n in table])
    penalty = network.n_parameters * math.log(max(table.total_weight, 1.0))
    if isinstance(inside, Table):
        return penalty - 2 * network.log_likelihood(inside)
    weight, bits, _ = bits_over(network, inside)
    return penalty + 2 * math.log(2) * bits * weight
