"""Expected statistics of networks with Gaussian variables: the E-step as an engine that counts.

What EM needs of the rows are sufficient statistics: counts of discrete families, moments of
continuous ones. With unseen cells these are expectations under the posterior (thesis Eq. 2.16, for
moments too). They are offered like those of any engine, so the M-step is `unveil.fit`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unveil.errors import DataError
from unveil.infer.gaussian.mixed import Split, log_total
from unveil.infer.gaussian.posterior import gaussian_expected_moments
from unveil.infer.unseen import UnseenCells
from unveil.model.network import Network
from unveil.statistics.moments import ConditionalMoments, GaussianMoments
from unveil.statistics.protocol import Distinct
from unveil.table.core import Table
from unveil.table.variable import Variable

__all__ = ["ExpectedStatistics", "expected_statistics"]

Matrix = npt.NDArray[np.float64]
States = tuple[int, ...]


@dataclass(frozen=True)
class ExpectedStatistics:
    """The expected counts and moments of a network's own families.

    `family_counts` has the counts of (parents ..., child) for every discrete child. `joint` has
    the moments of all continuous variables, in the order of `columns`, for every configuration of
    the selectors (the discrete parents of continuous variables; none: one configuration, `()`).
    `log_likelihood` is the weighted sum of the log-densities of what the rows show, in nats.
    """

    variables: tuple[Variable, ...]
    total_weight: float
    log_likelihood: float
    family_counts: Mapping[tuple[int, ...], Matrix]
    columns: tuple[int, ...]
    selectors: tuple[int, ...]
    joint: Mapping[States, GaussianMoments]

    def counts(self, sets: Sequence[Sequence[int]]) -> list[Matrix]:
        """Expected counts of families of the network; others were not summed over."""
        for members in sets:
            if tuple(members) not in self.family_counts:
                names = ", ".join(self.variables[m].name for m in members)
                raise DataError(f"({names}) is no family of the network that was completed by")
        return [self.family_counts[tuple(members)] for members in sets]

    def distinct(self, members: Sequence[int]) -> Distinct:
        """Not to be had: expectations have no rows."""
        raise DataError("expected statistics have no rows to list")

    def moments(self, members: Sequence[int], by: Sequence[int] = ()) -> ConditionalMoments:
        """Expected moments per configuration of `by`, summed over the other selectors."""
        own = [self.columns.index(m) for m in members]
        axes = [self.selectors.index(v) for v in by]
        shape = tuple(self.variables[v].n_states for v in by)
        found = {s: GaussianMoments.nothing(len(own)) for s in np.ndindex(shape)}
        for states, moments in self.joint.items():
            where = tuple(states[axis] for axis in axes)
            found[where] = found[where] + moments.of_columns(own)
        k = len(own)
        return ConditionalMoments(
            np.array([m.weight for m in found.values()]).reshape(shape),
            np.array([m.mean for m in found.values()]).reshape(*shape, k),
            np.array([m.scatter for m in found.values()]).reshape(*shape, k, k),
        )


def expected_statistics(network: Network, table: Table) -> ExpectedStatistics:
    """The E-step of a network that has continuous variables, discrete ones or not.

    >>> from unveil import Variable
    >>> from unveil.model import LinearGaussianCPD
    >>> x, y = Variable("x"), Variable("y")
    >>> network = Network(
    ...     [LinearGaussianCPD(x, [], 0, [], 1), LinearGaussianCPD(y, [x], 0, [1], 1)])
    >>> found = expected_statistics(network, Table([y], [[2.0]]))
    >>> found.moments([0]).at(()).mean  # E[x | y = 2]
    array([1.])
    """
    place = {name: i for i, name in enumerate(network.names)}
    columns = tuple(i for i, v in enumerate(network.variables) if not v.is_discrete)
    if len(columns) == len(place):
        logs, moments = gaussian_expected_moments(network, table)
        total = float(logs @ table.row_weights)
        return ExpectedStatistics(
            network.variables, table.total_weight, total, {}, columns, (), {(): moments}
        )
    split = Split.of(network)
    cases = split.cases(table)
    log_evidence = log_total(cases, table.n_rows)
    weights = table.row_weights
    seen = weights > 0
    total = float(log_evidence[seen] @ weights[seen])
    joint: dict[States, GaussianMoments] = {}
    rows, masses = [], []
    for case in cases:
        mass = weights[case.rows] * np.exp(case.log_joint - log_evidence[case.rows])
        part = split.at(case.states)
        joint[case.states] = gaussian_expected_moments(part, case.continuous.with_weights(mass))[1]
        rows.append(case.discrete)
        masses.append(mass)
    return ExpectedStatistics(
        network.variables,
        table.total_weight,
        total,
        _discrete_counts(split.tables, rows, masses, place),
        columns,
        tuple(place[name] for name in split.selectors),
        joint,
    )


def _discrete_counts(
    tables: Network, rows: Sequence[Table], masses: Sequence[Matrix], place: Mapping[str, int]
) -> dict[tuple[int, ...], Matrix]:
    """Expected counts of the discrete families, over rows weighted by P(selectors | row)."""
    names = dict.fromkeys(name for part in rows for name in part.names)
    variables = [tables.variable(name) for name in names]
    stacked = [np.concatenate([_codes(part, name) for part in rows]) for name in names]
    whole = Table(variables, stacked, np.concatenate(masses))
    cells = UnseenCells.to_learn_from(tables, whole)
    counts = cells.layout.split(cells.expected(cells.layout.pack(tables)).counts)
    own = [place[name] for name in tables.names]
    return {
        tuple(own[m] for m in family): part
        for family, part in zip(cells.layout.families, counts, strict=True)
    }


def _codes(table: Table, name: str) -> npt.NDArray[np.int64]:
    """The codes of a column, -1 where it is missing."""
    codes = table.column(name).astype(np.int64)
    codes[table.missing(name)] = -1
    return codes
