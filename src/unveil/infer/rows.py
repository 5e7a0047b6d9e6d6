"""Rows as inference reads them: coded as the network says, and grouped by what they lack.

A table is prepared once. What was worked out stays with it (tables never change), so that the many
short runs of a search for hidden variables, and the many questions about one table, share it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.errors import DataError
from unveil.infer.evidence import Likelihoods, soft_evidence
from unveil.infer.tree import Evidence
from unveil.model.network import Network
from unveil.table.core import Table, code_dtype, missing_code, recoded
from unveil.table.fold import row_groups
from unveil.table.variable import Variable

__all__ = ["Patterns", "Rows", "prepared_rows", "remembered"]

Vector = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]

MOST_KEPT, KEPT_ROWS = 32, 2_000_000
"""So many preparations, and so many plans, are kept with a table; fewer, and at least two, where
it has so many rows that together they would be more than these."""


@dataclass(frozen=True)
class Patterns:
    """The patterns of gaps: what each lacks, which one every row has, how many rows have each.

    `lacks` has shape (n_variables, n_patterns), in the order of the network's variables.
    """

    lacks: npt.NDArray[np.bool_]
    member: Places
    sizes: Places

    def unseen(self, pattern: int) -> tuple[int, ...]:
        """The numbers of the variables that a pattern lacks."""
        return tuple(np.flatnonzero(self.lacks[:, pattern]).tolist())

    def rows(self, chosen: npt.NDArray[np.bool_]) -> Places:
        """The rows that have one of the chosen patterns."""
        return np.flatnonzero(chosen[self.member])


@dataclass(frozen=True)
class Rows:
    """What each row shows of a network's variables, its weight, and the patterns of gaps.

    `which[r]` is the place here of row r of the table: equal rows may be one here, and rows of
    weight zero may be left out (-1).
    """

    evidence: Evidence
    weights: Vector
    patterns: Patterns
    which: Places

    @property
    def codes(self) -> Any:
        """Codes of shape (n_variables, n_rows); `evidence.missing` where nothing is seen."""
        return self.evidence.codes

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.evidence.n_rows

    @property
    def total_weight(self) -> float:
        """The sum of the weights."""
        return float(self.weights.sum())

    @property
    def is_soft(self) -> bool:
        """Whether there is soft evidence."""
        return bool((self.evidence.soft_first >= 0).any())

    def folded_weights(self, weights: npt.ArrayLike) -> Vector:
        """Other weights of the table's rows, added up as the rows are here."""
        given = np.asarray(weights, np.float64)
        if given.shape != self.which.shape:
            raise DataError(f"{len(self.which):,} rows need as many weights, got {given.shape}")
        inside = self.which >= 0
        return np.bincount(self.which[inside], given[inside], self.n_rows).astype(np.float64)


def prepared_rows(
    network: Network,
    table: Table,
    fold: bool = False,
    likelihoods: Likelihoods | None = None,
) -> Rows:
    """The rows of a table for a network; variables without a column are unseen in every row.

    With `fold`, for learning: equal rows become one, rows of weight zero are left out, and a table
    without any weight or without any of the network's variables is refused.
    """
    places = {name: i for i, name in enumerate(network.names)}
    inside = tuple(network.variable(name) for name in table.names if name in places)
    if fold and not inside:
        raise DataError("the table has none of the network's variables")
    known = remembered(table, "rows", (fold, inside), lambda: _coded(table, inside, fold))
    wide = code_dtype(max(v.n_states for v in network.variables))
    missing = missing_code(wide)
    codes = np.full((len(places), known.n_rows), missing, wide)
    own = [places[v.name] for v in inside]
    for place, column in zip(own, known.columns, strict=True):
        codes[place] = recoded(column, wide)
    lacks = np.ones((len(places), known.lacks.shape[1]), bool)
    lacks[own] = known.lacks
    patterns = Patterns(lacks, known.member, known.sizes)
    soft = soft_evidence(network, network.names, likelihoods or {}, known.n_rows)
    return Rows(Evidence(codes, missing, *soft), known.weights, patterns, known.which)


def remembered(table: Table, kind: str, key: Any, make: Any) -> Any:
    """What `make` gives, kept with the table under `key`; of every kind the last few are kept."""
    kept: dict[Any, Any] = table._cache.setdefault(kind, {})
    if key in kept:
        found = kept.pop(key)
    else:
        found = make()
        if len(kept) >= max(2, min(MOST_KEPT, KEPT_ROWS // max(1, table.n_rows))):
            kept.pop(next(iter(kept)))
    kept[key] = found
    return found


@dataclass(frozen=True)
class _Coded:
    """The columns that a network knows, in the table's order, and their patterns of gaps."""

    columns: tuple[Any, ...]
    weights: Vector
    which: Places
    lacks: npt.NDArray[np.bool_]
    member: Places
    sizes: Places

    @property
    def n_rows(self) -> int:
        return len(self.weights)


def _coded(table: Table, variables: Sequence[Variable], fold: bool) -> _Coded:
    which = np.arange(table.n_rows)
    weights = table.row_weights
    columns: list[Any] = []
    missing = np.zeros((0, table.n_rows), bool)
    if variables:
        known = table.select([v.name for v in variables]).conform(variables)
        columns = [known.column(v.name) for v in variables]
        missing = np.array([known.missing(v.name) for v in variables])
    if fold:
        first, which = row_groups(columns)
        weights = np.bincount(which, table.weights, len(first)).astype(np.float64)
        if not weights.sum() > 0:
            raise DataError("the weights of all rows are zero; there is nothing to learn from")
        kept = weights > 0
        first, weights = first[kept], weights[kept]
        which = np.where(kept, np.cumsum(kept) - 1, -1)[which]
        columns = [column[first] for column in columns]
        missing = missing[:, first]
    return _Coded(tuple(columns), weights, which, *_patterns(missing))


def _patterns(
    missing: npt.NDArray[np.bool_],
) -> tuple[npt.NDArray[np.bool_], Places, Places]:
    """The different columns of a matrix (n_columns, n_rows), who has which, and how many do."""
    n_rows = missing.shape[1]
    if n_rows == 0 or not missing.any():
        once = min(n_rows, 1)
        return missing[:, :once], np.zeros(n_rows, np.intp), np.full(once, n_rows)
    bits = np.ascontiguousarray(np.packbits(missing, axis=0).T)
    keys = bits.view(np.dtype((np.void, bits.shape[1]))).ravel()
    _, first, member = np.unique(keys, return_index=True, return_inverse=True)
    return missing[:, first], member.reshape(-1), np.bincount(member.reshape(-1))
