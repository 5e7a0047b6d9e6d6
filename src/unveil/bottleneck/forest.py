"""Hidden variables in a forest: Q(T | Y) exact, Q(T) taken apart by the forest (Eq. 6.11).

In a hierarchy every variable has at most one parent, and all parents are hidden. With the forest
itself as G_in, Q(T) = prod over i of Q(t_i | t_pa(i)) and the E-step

    Q(t | y)  prop. to  prod over i of Q(t_i | t_pa(i))^(1 - gamma) P(t_i | t_pa(i))^gamma
                        times prod over columns of P(x[y] | t)^gamma

is one walk up and down the forest, as fast as that of EM and without mean field's loss. At
gamma = 1 it is EM itself. Where a state splits is still found as if the other hidden variables'
posteriors were given (`mean_field.OneOf`): that only says where to begin.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from unveil.bottleneck.exact import Look
from unveil.bottleneck.mean_field import FieldParameters, MeanField, marginal_information
from unveil.graph.dag import DAG
from unveil.infer.forest import ForestModel
from unveil.model.network import Network
from unveil.model.prior import DirichletPrior
from unveil.table.core import Table

__all__ = ["Forest", "is_forest"]

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]


def is_forest(dag: DAG, hidden: Sequence[str]) -> bool:
    """Whether nothing has two parents and just the hidden variables have children.

    >>> is_forest(DAG(["T", "a", "b"], [("T", "a"), ("T", "b")]), ["T"])
    True
    """
    parents = [dag.parents(name) for name in dag.nodes]
    inner = {p for own in parents for p in own}
    return all(len(own) <= 1 for own in parents) and inner == set(hidden)


class Forest(MeanField):
    """IB-EM's two steps with an exact posterior in a forest of hidden variables.

    `common` of its parameters is Q(t_i | t_pa(i)), laid out like the tables.
    """

    def __init__(
        self,
        network: Network,
        table: Table,
        hidden: Sequence[str],
        prior: DirichletPrior | None = None,
        like: MeanField | None = None,
    ) -> None:
        super().__init__(network, table, hidden, prior, like)
        self.model = ForestModel(network)
        taken = np.empty(self.width, np.int64)
        for h, v in enumerate(self.model.hidden):
            k, at, there = self.shape[self.places.index(v)], self.plan.at[v], self.model.place[h]
            taken[at : at + k] = np.arange(there, there + k)
        self._taken = taken
        links = self.model.link_entries
        self._links = links[links < self.layout.size]

    def _commons(self, q: Matrix, tables: Vector, counts: Vector | None = None) -> Vector:
        """Q(t_i | t_pa(i)) from expected counts; P's own where there are none yet."""
        common = tables.copy()
        if counts is not None:
            common[self._links] = self.layout.normalised(counts)[self._links]
        return common

    def e_step(
        self, parameters: FieldParameters, gamma: float, sweeps: int = 1
    ) -> tuple[Matrix, Vector, float]:
        """Posteriors of every hidden variable, expected counts, and -L in nats for all cases."""
        tables, mixed = parameters.tables, self.mixed(parameters, gamma)
        model, n = self.model, len(self.weights)
        posterior = np.empty((n, model.width))
        log_z, links, leaves = model._run(mixed, self.codes, self.weights, 0, n, posterior)
        counts = model.counts(mixed, tables, links, leaves)
        q = posterior[:, self._taken] / self.weights[:, None]
        return q, counts, float(self.weights @ log_z)

    def mixed(self, parameters: FieldParameters, gamma: float) -> Vector:
        """The factors of the E-step: tables to the power gamma, Q(t_i | t_pa(i)) to the rest."""
        if gamma == 1:
            return parameters.tables
        mixed = np.asarray(parameters.tables**gamma, np.float64)
        mixed[self._links] *= parameters.common[self._links] ** (1 - gamma)
        return mixed

    def look(self, parameters: FieldParameters, gamma: float) -> Look:
        q, counts, objective = self.e_step(parameters, gamma)
        there = parameters._replace(q=q)
        if gamma < 1:
            all_rows = self.model.log_likelihoods(parameters.tables, self.codes)
            objective = float(self.weights @ all_rows)
        return Look(
            there, gamma, marginal_information(self, q), objective, self.views(there, counts, gamma)
        )
