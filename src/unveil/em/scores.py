"""Scores of networks with unseen variables: Cheeseman-Stutz, BIC, AIC, effective dimension.

With hidden data the marginal likelihood has no closed form. Cheeseman and Stutz (1996) take it
exactly for the completed data and correct by the ratio of likelihoods at the same parameters:

    log P(D | G) ~ log P(D* | G) - log P(D* | theta, G) + log P(D | theta, G),

where D* has the expected counts at theta as its counts (thesis Ch. 4, 5; Chickering and Heckerman
1997). For complete data it is the exact Bayesian score.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unveil.em.grouped import GroupedTableEM, can_be_grouped
from unveil.engines.rows import PartedRows
from unveil.infer.parted import Structure, expected_over
from unveil.infer.unseen import Expected, UnseenCells
from unveil.model.compact import CompactCPD
from unveil.model.flat import FlatTables
from unveil.model.network import Network
from unveil.model.prior import DirichletPrior, EquivalentSampleSize
from unveil.score.base import Sample
from unveil.score.bde import BDe
from unveil.score.incomplete import ExpectedFamilies, ExpectedFamily
from unveil.score.local import local_score
from unveil.table.core import Table

__all__ = [
    "HiddenScores",
    "cheeseman_stutz",
    "effective_dimension",
    "expected_families",
    "hidden_scores",
]


@dataclass(frozen=True)
class HiddenScores:
    """What a network is worth on incomplete rows, all in nats, higher is better."""

    log_likelihood: float
    bic: float
    aic: float
    cheeseman_stutz: float
    n_parameters: int


def hidden_scores(
    network: Network, table: Table | PartedRows, prior: DirichletPrior | None = None
) -> HiddenScores:
    """All scores of a network at its parameters; best called where EM has converged.

    `prior` is that of the Cheeseman-Stutz score: BDeu with equivalent sample size 1 by default.
    """
    flat = FlatTables(network)
    tables = flat.pack(network)
    expected = _expected(network, table, tables)
    chosen = prior or EquivalentSampleSize(1.0)
    complete = _log_marginal(flat, expected.counts, flat.pack_prior(chosen))
    sample = Sample(table.total_weight, len(network.names))
    for v, counts in enumerate(flat.split(expected.counts)):
        if v in flat.compact:
            complete += local_score(flat.compact[v], counts, BDe(chosen), sample)
    used = expected.counts > 0
    at_tables = float(expected.counts[used] @ np.log(tables[used]))
    n, d = table.total_weight, network.n_parameters
    return HiddenScores(
        log_likelihood=expected.log_likelihood,
        bic=expected.log_likelihood - 0.5 * d * math.log(n),
        aic=expected.log_likelihood - d,
        cheeseman_stutz=complete - at_tables + expected.log_likelihood,
        n_parameters=d,
    )


def expected_families(
    network: Network,
    table: Table | PartedRows,
    weights: npt.NDArray[np.float64] | None = None,
) -> ExpectedFamilies:
    """What a score needs to judge a network on incomplete rows, their own weights or others."""
    flat = FlatTables(network)
    if weights is None or not isinstance(table, Table):
        expected = _expected(network, table, flat.pack(network))
    else:
        cells = UnseenCells.to_learn_from(network, table).with_weights(weights)
        expected = cells.expected(flat.pack(network))
    families = [
        ExpectedFamily(
            cpd.variable, cpd.parents, counts, at, cpd if isinstance(cpd, CompactCPD) else None
        )
        for cpd, counts, at in zip(
            network.cpds.values(),
            flat.split(expected.counts),
            flat.split(flat.pack(network)),
            strict=True,
        )
    ]
    return ExpectedFamilies(expected.log_likelihood, families)


def cheeseman_stutz(
    network: Network, table: Table | PartedRows, prior: DirichletPrior | None = None
) -> float:
    """The Cheeseman-Stutz approximation of log P(table | graph), in nats.

    >>> from unveil import BDeu, EquivalentSampleSize, datasets, fit
    >>> from unveil.score import FamilyScores
    >>> asia = datasets.network("asia")
    >>> rows = asia.sample(100, seed=1)
    >>> fitted = fit(asia.dag, rows, EquivalentSampleSize(1))
    >>> exact = FamilyScores(rows, BDeu(1)).total(asia.dag)
    >>> abs(cheeseman_stutz(fitted, rows) - exact) < 1e-8
    True
    """
    return hidden_scores(network, table, prior).cheeseman_stutz


def _expected(
    network: Network, table: Table | PartedRows, tables: npt.NDArray[np.float64]
) -> Expected:
    """Expected counts and log-likelihood; where rows in parts can be grouped, from the groups."""
    if isinstance(table, PartedRows) and network.is_discrete and can_be_grouped(network, table):
        return GroupedTableEM(network, table).e_step(tables)
    return expected_over(Structure(network), table, tables)


def _log_marginal(
    flat: FlatTables, counts: npt.NDArray[np.float64], alpha: npt.NDArray[np.float64]
) -> float:
    """The log marginal likelihood of counts under Dirichlet priors, all families (Eq. 2.15)."""
    # Cells that a prior network deems impossible have no pseudo-counts (as in `BDe`).
    counts = np.where(alpha > 0, counts, 0.0)
    return _log_rising(counts, alpha) - _log_rising(flat.row_sums(counts), flat.row_sums(alpha))


def _log_rising(n: npt.NDArray[np.float64], alpha: npt.NDArray[np.float64]) -> float:
    """The sum of log Gamma(alpha + n) - log Gamma(alpha)."""
    from scipy.special import gammaln

    some = n > 0
    n, alpha = n[some], alpha[some]
    return float((gammaln(alpha + n) - gammaln(alpha)).sum())


def effective_dimension(
    network: Network, table_names: list[str] | None = None, seed: int = 0
) -> int:
    """The number of parameters that the observed variables can tell apart (thesis 5.1).

    The rank of the Jacobian of the observed joint distribution with respect to the free
    parameters, at random parameters (Geiger, Heckerman and Meek 1996). For small models only: all
    joint configurations of the observed variables are listed.

    >>> from unveil import DAG, Network, TableCPD, Variable
    >>> h = Variable("h", [0, 1], hidden=True)
    >>> x, y = Variable("x", [0, 1]), Variable("y", [0, 1])
    >>> pair = Network([TableCPD.uniform(h), TableCPD.uniform(x, [h]), TableCPD.uniform(y, [h])])
    >>> pair.n_parameters, effective_dimension(pair)
    (5, 3)
    """
    from unveil.em.jacobian import observed_jacobian

    observed = table_names or [v.name for v in network.variables if not v.hidden]
    jacobian = observed_jacobian(network, observed, seed)
    return int(np.linalg.matrix_rank(jacobian, tol=1e-9 * max(jacobian.shape)))
