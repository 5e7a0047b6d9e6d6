"""EM for networks of any kinds of distributions: it knows families and their statistics.

The E-step gives an engine of expected counts and moments, the M-step is `unveil.fit` from it, so a
new kind of distribution that says which statistics it needs has EM at once.
"""

from __future__ import annotations

import copy

import numpy as np
import numpy.typing as npt

from unveil.em.lines import Lines, Observed, expected_moments
from unveil.em.steps import log_prior
from unveil.errors import ModelError
from unveil.infer.explain import most_probable
from unveil.infer.gaussian.expected import ExpectedStatistics, expected_statistics
from unveil.model.fit import fit
from unveil.model.flat import FlatTables
from unveil.model.gaussian_cpd import GaussianPrior, LinearGaussianCPD
from unveil.model.network import Network
from unveil.model.prior import DirichletPrior
from unveil.model.units import standardised
from unveil.statistics.moments import GaussianMoments
from unveil.statistics.protocol import Statistics
from unveil.table.core import Table

__all__ = ["FamilyEM"]


class FamilyEM:
    """EM whose parameters are the network itself; `hard` completes rows by their likeliest states.

    A Dirichlet prior speaks of the tables. Of a `GaussianPrior` EM takes the floor under the
    variances; its imagined rows would change from step to step.
    """

    def __init__(
        self,
        network: Network,
        table: Table,
        prior: DirichletPrior | GaussianPrior | None = None,
        hard: bool = False,
    ) -> None:
        if GaussianPrior.of(prior).strength:
            raise ModelError(
                "EM takes the floor of a GaussianPrior (min_variance), not its imagined rows "
                "(strength): leave strength out"
            )
        if table.total_weight <= 0:
            raise ModelError("the weights of all rows are zero; there is nothing to learn from")
        inside = [name for name in network.names if name in table]
        if not inside:
            raise ModelError("the table has none of the network's variables")
        self._table = table.select(inside).conform([network.variable(n) for n in inside])
        self._hidden = [n for n in network.names if n not in table or table.missing(n).all()]
        self._prior, self._hard = prior, hard
        kinds = {type(cpd) for cpd in network.cpds.values()}
        self._lines = kinds == {LinearGaussianCPD} and not hard and table.n_rows > 0
        if self._lines:
            seen = [n for n in inside if n not in self._hidden]
            self._observed = Observed.trusted(self._table.select(seen)) if seen else None
            self._lines = self._observed is not None
        if hard:
            self._refuse_unseen_numbers(network)

    def _refuse_unseen_numbers(self, network: Network) -> None:
        for v in network.variables:
            unseen = v.name not in self._table or self._table.missing(v.name).any()
            if not v.is_discrete and unseen:
                raise ModelError(
                    f"hard EM would put the unseen cells of {v.name!r} at their mean, again and "
                    "again, until no spread is left: it is for unseen discrete cells only"
                )

    def pack(self, network: Network) -> Network:
        """The network."""
        return network

    def unpack(self, parameters: Network) -> Network:
        """The network, its hidden continuous variables in standard units."""
        return standardised(parameters, self._hidden)

    def e_step(self, network: Network) -> tuple[Table | Statistics, float]:
        """Expected statistics of all families, and the log-likelihood of what the rows show."""
        if self._hard:
            best = most_probable(network, self._table)
            return best.table, float(best.log_probability @ self._table.row_weights)
        expected = (
            self._expected_lines(network)
            if self._lines
            else expected_statistics(network, self._table)
        )
        return expected, expected.log_likelihood

    def _expected_lines(self, network: Network) -> ExpectedStatistics:
        """The same for lines alone, all patterns of missing cells at once."""
        assert self._observed is not None
        order = (*self._observed.names, *self._hidden)
        likelihood, moments = expected_moments(Lines.of(network, order), self._observed)
        places = [order.index(name) for name in network.names]
        columns = tuple(range(len(places)))
        joint: dict[tuple[int, ...], GaussianMoments] = {(): moments.of_columns(places)}
        return ExpectedStatistics(
            network.variables, self._table.total_weight, likelihood, {}, columns, (), joint
        )

    def m_step(self, network: Network, expected: Table | Statistics) -> Network:
        """The network of the same structure estimated from them."""
        return fit(network, expected, self._prior)  # type: ignore[arg-type]

    def step(self, parameters: Network) -> tuple[Network, float]:
        """Both steps, and the objective at the network given."""
        expected, log_likelihood = self.e_step(parameters)
        if log_likelihood == -np.inf:
            raise ModelError(
                "some rows have probability zero under the network that EM starts from. Give it "
                "tables without zeros (fit them with a prior)."
            )
        return self.m_step(parameters, expected), log_likelihood + self.log_prior(parameters)

    def log_prior(self, parameters: Network) -> float:
        """Sum of alpha log theta over the tables."""
        tables = [c for c in parameters.cpds.values() if c.variable.is_discrete]
        if self._prior is None or isinstance(self._prior, GaussianPrior) or not tables:
            return 0.0
        layout = FlatTables(Network(tables))
        compact = layout.log_prior_of_compact(layout.own, self._prior)
        return compact + log_prior(layout.own, layout.pack_prior(self._prior))

    @property
    def row_weights(self) -> npt.NDArray[np.float64]:
        """How often each row counts."""
        return self._table.row_weights

    def with_row_weights(self, weights: npt.NDArray[np.float64]) -> FamilyEM:
        """The same with other weights of the same rows."""
        other = copy.copy(self)
        other._table = self._table.with_weights(weights)
        return other

    def row_scores(self, parameters: Network) -> npt.NDArray[np.float64]:
        """The log-density of what each row shows, or of its completion if `hard`."""
        if self._hard:
            return most_probable(parameters, self._table).log_probability
        return parameters.row_log_likelihoods(self._table)
