"""`refit`: parameters for a known structure, from rows with or without gaps."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from unveil.em.parametric import EMResult, fit_em
from unveil.engines.rows import PartedRows
from unveil.errors import DataError, UnveilWarning, did_you_mean
from unveil.graph.dag import DAG
from unveil.model.compact import CompactCPD
from unveil.model.cpd import CPD
from unveil.model.fit import fit
from unveil.model.network import Network
from unveil.model.prior import DirichletPrior
from unveil.model.table_cpd import table_of
from unveil.records import Record
from unveil.table.core import Table
from unveil.table.door import Data, Weights, as_table
from unveil.table.options import Unknown
from unveil.table.variable import Variable

if TYPE_CHECKING:
    from unveil.bottleneck.result import Bottlenecked

__all__ = ["Refitted", "refit"]

METHODS = ("em", "bottleneck")
BLEND = 0.001
"""The share of the uniform distribution in tables that have zeros, where EM starts with a prior."""


@dataclass(frozen=True)
class Refitted(Record):
    """The network with its new parameters, the rows as they were used, and how EM went.

    `em` is `None` where the table was complete and counting was enough, and where the bottleneck
    was asked for; `bottleneck` then says how that went.
    """

    network: Network
    em: EMResult | None
    table: Table | PartedRows = field(repr=False)
    bottleneck: Bottlenecked | None = None


def refit(
    model: Network,
    data: Data,
    prior: DirichletPrior | None = None,
    *,
    weights: Weights = None,
    unknown: Unknown = "error",
    declared: Collection[str] = (),
    method: str = "em",
    **options: Any,
) -> Refitted:
    """The arcs of `model` with parameters learned from a table.

    A table that has all variables and no gaps is counted. Missing cells, and variables that have no
    column, are summed over by EM, which starts at the model's own parameters; `options` are those
    of `fit_em`. Columns are read by the states of the model, those named in `declared` by their
    own; `unknown` says what another label is. Columns that the model does not have are left out,
    with a warning. With `method="bottleneck"` hidden variables are led to their parameters by
    information-bottleneck EM, and `options` are those of `unveil.ib_em`.

    >>> from unveil import datasets
    >>> asia = datasets.network("asia")
    >>> rows = asia.sample(300, seed=1)
    >>> refit(asia, rows).em is None, refit(asia, rows.knock_out(0.1), seed=1).em.stopped
    (True, 'converged')
    """
    if method not in METHODS:
        raise DataError(
            f"parameters are found by one of {', '.join(METHODS)}, not {method!r}."
            + did_you_mean(method, METHODS)
        )
    rows = data if isinstance(data, PartedRows) else as_table(data, weights)
    known = _known_columns(model, rows, unknown, declared)
    if method == "bottleneck":
        known = known.as_table() if isinstance(known, PartedRows) else known
        return _by_bottleneck(model, known, prior, options)
    if known.n_columns == len(model.names) and known.is_complete:
        return Refitted(fit(model, known, prior), None, known)
    first, hidden = _first(model, known, prior)
    found = fit_em(first, known, prior, hidden, **options)
    return Refitted(found.network, found, known)


def _by_bottleneck(
    model: Network, table: Table, prior: DirichletPrior | None, options: dict[str, Any]
) -> Refitted:
    from unveil.bottleneck import ib_em

    unseen: dict[str, Variable | None] = {
        n: model.variable(n) for n in model.names if n not in table
    }
    if options.pop("adapt_states", False):
        unseen = dict.fromkeys(unseen)
    found = ib_em(model.dag, table, prior, unseen, **options)
    return Refitted(found.network, None, table, found)


def _known_columns(
    model: Network, table: Table | PartedRows, unknown: Unknown, declared: Collection[str]
) -> Table | PartedRows:
    """The columns that the model has, coded by its states or by those declared."""
    inside = [name for name in model.names if name in table]
    if not inside:
        raise DataError(
            f"the table has none of the structure's variables ({', '.join(model.names[:6])}, ...); "
            f"its columns are {', '.join(table.names[:6])}"
        )
    outside = [name for name in table.names if name not in inside]
    if outside:
        _tell(f"columns that the structure does not have are left out: {', '.join(outside)}")
    variables = [(table if n in declared else model).variable(n) for n in inside]
    return table.select(inside).conform(variables, unknown=unknown)


def _first(
    model: Network, table: Table | PartedRows, prior: DirichletPrior | None
) -> tuple[Network | DAG, Mapping[str, Variable] | None]:
    """Where EM starts: at the model's parameters, unless the states are others."""
    if all(model.variable(n).states == table.variable(n).states for n in table.names):
        return model if prior is None else _without_zeros(model), None
    _tell("other states than the structure has were declared: EM starts from random parameters")
    return model.dag, {n: model.variable(n) for n in model.names if n not in table}


def _without_zeros(model: Network) -> Network:
    """The model's parameters without zeros, which no prior could ever have meant."""
    tables = [c for c in model.cpds.values() if c.variable.is_discrete]
    zeros = {c.variable.name for c in tables if (table_of(c).values == 0).any()}
    cpds = [_blended(cpd) if name in zeros else cpd for name, cpd in model.cpds.items()]
    return Network(cpds, model.name, model.description)


def _blended(cpd: CPD) -> CPD:
    table = table_of(cpd).without_zeros(BLEND)
    return cpd.with_values(table.values) if isinstance(cpd, CompactCPD) else table


def _tell(message: str) -> None:
    warnings.warn(UnveilWarning(message), stacklevel=4)
