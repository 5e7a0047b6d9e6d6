"""EM over rows in parts: every step is one pass that brings back expected statistics.

`PartedTableEM` and `PartedFamilyEM` are `TableEM` and `FamilyEM` without rows in memory; the
objective, the M-step and the loop are theirs. Where only hidden variables are unseen, and few
columns touch them, `unveil.em.grouped` needs one pass for all steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.em.families import FamilyEM
from unveil.em.starts import network_to_start
from unveil.em.steps import Problem, TableEM
from unveil.engines.rows import SAMPLE_ROWS, PartedRows
from unveil.errors import DataError, ModelError
from unveil.graph.dag import DAG
from unveil.infer.gaussian.expected import ExpectedStatistics, expected_statistics
from unveil.infer.parted import Structure, expected_over
from unveil.infer.parts import LightPasses
from unveil.infer.unseen import Expected
from unveil.model.fit import table_from_counts
from unveil.model.gaussian_cpd import GaussianPrior
from unveil.model.network import Network
from unveil.model.prior import DirichletPrior, PseudoCount
from unveil.model.table_cpd import TableCPD
from unveil.statistics.counting import family_counts
from unveil.table.core import Table
from unveil.table.variable import Variable

__all__ = ["PartedFamilyEM", "PartedTableEM", "parted_problem", "parted_start", "unseen_in"]

Vector = npt.NDArray[np.float64]


def parted_problem(
    network: Network, rows: PartedRows, prior: DirichletPrior | None, hard: bool = False
) -> Problem[Any]:
    """The two steps for this network over rows in parts."""
    if rows.total_weight <= 0:
        raise DataError("the weights of all rows are zero; there is nothing to learn from")
    if not any(name in rows for name in network.names):
        raise DataError("the table has none of the network's variables")
    if network.is_discrete:
        from unveil.em.grouped import GroupedTableEM, can_be_grouped

        kind = GroupedTableEM if can_be_grouped(network, rows) else PartedTableEM
        return kind(network, rows, prior, hard)
    if hard:
        raise ModelError("hard EM over rows in parts is for discrete columns; leave hard out")
    return PartedFamilyEM(network, rows, prior)


class PartedTableEM(TableEM):
    """EM for a network of tables over rows in parts."""

    def __init__(
        self,
        network: Network,
        rows: PartedRows,
        prior: DirichletPrior | None = None,
        hard: bool = False,
    ) -> None:
        self._structure, self._rows = Structure(network), rows
        self._hold(self._structure.layout, prior, hard)

    def e_step(self, tables: Vector) -> Expected:
        """Expected counts of all parts, and the log-likelihood: one pass."""
        return expected_over(self._structure, self._rows, tables, self.hard)

    @property
    def light_passes(self) -> LightPasses | None:
        """None: every pass goes over all parts."""
        return None

    @property
    def row_weights(self) -> Vector:
        """Not to be had: rows are not here."""
        raise _no_rows()

    def with_row_weights(self, weights: Vector) -> TableEM:
        """Not to be had: rows are not here."""
        raise _no_rows()

    def row_scores(self, parameters: Vector) -> Vector:
        """Not to be had: rows are not here."""
        raise _no_rows()


class PartedFamilyEM(FamilyEM):
    """EM for networks of any kinds of distributions over rows in parts."""

    def __init__(
        self,
        network: Network,
        rows: PartedRows,
        prior: DirichletPrior | GaussianPrior | None = None,
    ) -> None:
        if GaussianPrior.of(prior).strength:
            raise ModelError(
                "EM takes the floor of a GaussianPrior (min_variance), not its imagined rows "
                "(strength): leave strength out"
            )
        self._parted = rows.select([n for n in rows.names if n in network.names])
        self._hidden = unseen_in(network, rows)
        self._prior, self._hard = prior, False

    def e_step(self, network: Network) -> tuple[ExpectedStatistics, float]:
        """Expected statistics of all families over all parts, and the log-likelihood."""
        found = self._parted.sum(_expected_statistics, network, add=_added)
        return found, found.log_likelihood

    @property
    def row_weights(self) -> Vector:
        """Not to be had: rows are not here."""
        raise _no_rows()

    def with_row_weights(self, weights: Vector) -> FamilyEM:
        """Not to be had: rows are not here."""
        raise _no_rows()

    def row_scores(self, parameters: Network) -> Vector:
        """Not to be had: rows are not here."""
        raise _no_rows()


def unseen_in(network: Network, rows: Table | PartedRows) -> list[str]:
    """The variables that no row shows."""
    if isinstance(rows, Table):
        return [n for n in network.names if n not in rows or rows.missing(n).all()]
    return [n for n in network.names if n not in rows or rows.missing_cells[n] >= rows.n_rows]


def parted_start(
    kind: str,
    dag: DAG,
    variables: Mapping[str, Variable],
    rows: PartedRows,
    given: Network | None,
    generator: np.random.Generator,
) -> Network:
    """Parameters for EM to start from, as `network_to_start` has them.

    A random start fits what all rows show, as in memory; one by clusters, and any start with
    continuous variables, looks at rows that are drawn from all parts.
    """
    if kind == "given":
        assert given is not None
        return given
    if kind != "random" or any(not v.is_discrete for v in variables.values()):
        seed = int(generator.integers(2**31))
        some = rows.sample(SAMPLE_ROWS, seed)
        return network_to_start(kind, dag, variables, some, given, generator)
    families = [(variables[n], tuple(variables[p] for p in dag.parents(n))) for n in dag.nodes]
    shown = [f for f in families if all(v.name in rows for v in (f[0], *f[1]))]
    inside = rows.select([n for n in rows.names if n in variables])
    counts = iter(inside.sum(_shown_counts, shown) if shown else [])
    cpds = []
    for family in families:
        found = next(counts) if family in shown else None
        cpds.append(_first_table(*family, found, generator))
    return Network(cpds)


def _first_table(
    variable: Variable,
    parents: Sequence[Variable],
    found: Any,
    generator: np.random.Generator,
) -> TableCPD:
    if found is not None and found[1] > 0:
        return table_from_counts(variable, parents, found[0], PseudoCount(0.5))
    shape = [v.n_states for v in (*parents, variable)]
    return TableCPD(variable, parents, generator.dirichlet(np.ones(shape[-1]), shape[:-1]))


def _shown_counts(
    table: Table, families: list[tuple[Variable, tuple[Variable, ...]]]
) -> list[tuple[Any, int]]:
    """The counts of every family in the rows that show it whole, and how many these are."""
    known = table.conform([v for v in _all_of(families) if v.name in table])
    found = []
    for variable, parents in families:
        names = [v.name for v in (*parents, variable)]
        shown = ~np.any([known.missing(n) for n in names], axis=0)
        rows = known if shown.all() else known.take(shown)
        found.append((family_counts(rows, variable, parents), int(shown.sum())))
    return found


def _all_of(families: list[tuple[Variable, tuple[Variable, ...]]]) -> list[Variable]:
    return list({v.name: v for x, parents in families for v in (x, *parents)}.values())


def _expected_statistics(table: Table, network: Network) -> ExpectedStatistics:
    inside = [network.variable(n) for n in table.names]
    return expected_statistics(network, table.conform(inside))


def _added(a: ExpectedStatistics, b: ExpectedStatistics) -> ExpectedStatistics:
    """The expected statistics of both."""
    joint = dict(a.joint)
    for states, moments in b.joint.items():
        joint[states] = joint[states] + moments if states in joint else moments
    return replace(
        a,
        total_weight=a.total_weight + b.total_weight,
        log_likelihood=a.log_likelihood + b.log_likelihood,
        family_counts={k: a.family_counts[k] + b.family_counts[k] for k in a.family_counts},
        joint=joint,
    )


def _no_rows() -> DataError:
    return DataError(
        "annealing changes the weights of single rows, which must be in memory for it; leave "
        "anneal out, or allow more memory"
    )
