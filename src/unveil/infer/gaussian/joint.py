"""The joint Gaussian of a network of linear Gaussians (thesis 2.1.3)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from unveil.errors import ModelError, SizeError
from unveil.infer.tree import memory_limit
from unveil.model.gaussian_cpd import LinearGaussianCPD
from unveil.model.network import Network

__all__ = ["JointGaussian", "joint_gaussian"]

Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class JointGaussian:
    """X = mean + deviation, with (I - B) deviation = noise and noise ~ Normal(0, diag(variances)).

    `names` are in topological order; row i of the sparse matrix B (`coefficients`) holds the
    coefficients of variable i, so B is strictly lower triangular. `whitening` is
    W = diag(variances)^-1/2 (I - B): W deviation is standard normal, and W'W is the precision.
    """

    names: tuple[str, ...]
    mean: Matrix
    coefficients: Any
    variances: Matrix

    @cached_property
    def whitening(self) -> Any:
        """W, sparse by columns, shape (n, n): row i is the scaled equation of variable i."""
        n = len(self.names)
        scale = sparse.diags_array(1 / np.sqrt(self.variances))
        return sparse.csc_array(scale @ (sparse.eye_array(n) - self.coefficients))

    @property
    def precision(self) -> Any:
        """The inverse of the covariance, W'W: sparse, nonzero only within families."""
        return sparse.csr_array(self.whitening.T @ self.whitening)

    @cached_property
    def covariance(self) -> Matrix:
        """Shape (n, n), by recursion: Cov(x, earlier) = sum over parents u of b_u Cov(u, earlier).

        And Var(x) = variance + sum over u of b_u Cov(u, x).
        """
        n = len(self.names)
        _refuse_large(n)
        covariance = np.zeros((n, n))
        rows = self.coefficients
        for i in range(n):
            own = slice(rows.indptr[i], rows.indptr[i + 1])
            parents, b = rows.indices[own], rows.data[own]
            covariance[i, :i] = covariance[:i, i] = b @ covariance[parents, :i]
            covariance[i, i] = self.variances[i] + b @ covariance[parents, i]
        return covariance

    def positions(self, names: Iterable[str]) -> npt.NDArray[np.intp]:
        """Where the names stand."""
        place = {name: i for i, name in enumerate(self.names)}
        return np.array([place[name] for name in names], dtype=np.intp)


def joint_gaussian(network: Network, names: Iterable[str] | None = None) -> JointGaussian:
    """The joint Gaussian of `names` and their ancestors (by default of all variables).

    It is kept with the network for the next question.

    >>> from unveil import Variable
    >>> a, b = Variable("a"), Variable("b")
    >>> network = Network(
    ...     [LinearGaussianCPD(a, [], 1, [], 4), LinearGaussianCPD(b, [a], 0, [0.5], 1)])
    >>> joint_gaussian(network).mean
    array([1. , 0.5])
    >>> joint_gaussian(network).covariance
    array([[4., 2.],
           [2., 2.]])
    """
    wanted = network.names if names is None else tuple(names)
    needed = frozenset(wanted) | network.dag.ancestors(*wanted)
    key = ("gaussian", needed)
    joint = network._compiled.get(key)
    if joint is None:
        joint = _build(network, [n for n in network.dag.topological_order if n in needed])
        if len(network._compiled) >= 8:
            network._compiled.clear()
        network._compiled[key] = joint
    return joint


def _build(network: Network, names: list[str]) -> JointGaussian:
    place = {name: i for i, name in enumerate(names)}
    mean, variances = np.zeros(len(names)), np.zeros(len(names))
    rows: list[int] = []
    columns: list[int] = []
    values: list[float] = []
    for i, name in enumerate(names):
        cpd = network.cpd(name)
        if not isinstance(cpd, LinearGaussianCPD):
            raise ModelError(
                f"the joint Gaussian needs linear Gaussian distributions; {name!r} has {cpd.kind}"
            )
        parents = [place[p.name] for p in cpd.parents]
        mean[i] = cpd.intercept + cpd.coefficients @ mean[parents]
        variances[i] = cpd.variance
        rows += [i] * len(parents)
        columns += parents
        values += cpd.coefficients.tolist()
    shape = (len(names), len(names))
    coefficients = sparse.coo_array((values, (rows, columns)), shape=shape, dtype=np.float64)
    return JointGaussian(tuple(names), mean, coefficients.tocsr(), variances)


def _refuse_large(n: int) -> None:
    needed, limit = 3 * 8 * n * n, memory_limit()
    if needed > limit:
        raise SizeError(
            f"the covariance of {n:,} variables needs about {needed / 2**20:,.0f} MiB with its "
            f"working copies; the limit is {limit / 2**20:,.0f} MiB. Ask for fewer variables: "
            "only they, the observed ones and their ancestors are counted."
        )
