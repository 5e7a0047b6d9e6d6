"""Completed data: incomplete rows as their possible completions, weighted by their posterior.

Then structural EM is ordinary search over a weighted table.
"""

from __future__ import annotations

import math
from typing import overload

import numpy as np
import numpy.typing as npt

from unveil.engines.coding import folded
from unveil.engines.rows import PartedRows
from unveil.infer.answer import refuse_impossible
from unveil.infer.plan import Use
from unveil.infer.posterior import cells_for
from unveil.infer.reduced import ReducedModel
from unveil.model.flat import FlatTables
from unveil.model.network import Network
from unveil.table.core import Table, code_dtype

__all__ = ["complete_rows"]

Codes = npt.NDArray[np.int64]

BLOCK_CELLS = 1 << 22
"""So many cells of completed rows are weighed at once."""


@overload
def complete_rows(
    network: Network, table: Table, cap: int = ..., draws: int = ...,
    seed: int | np.random.Generator | None = ..., negligible: float = ...,
) -> Table: ...  # fmt: skip
@overload
def complete_rows(
    network: Network, table: PartedRows, cap: int = ..., draws: int = ...,
    seed: int | np.random.Generator | None = ..., negligible: float = ...,
) -> PartedRows: ...  # fmt: skip
def complete_rows(
    network: Network,
    table: Table | PartedRows,
    cap: int = 64,
    draws: int = 16,
    seed: int | np.random.Generator | None = None,
    negligible: float = 0.0,
) -> Table | PartedRows:
    """The table with every incomplete row replaced by its weighted completions.

    Rows with at most `cap` possible completions get all of them, weighted by their exact
    posterior; rows with more get `draws` posterior draws of equal weight. Completions that are less
    probable than `negligible` are left out, and the others of the row get their weight. The total
    weight stays; rows of weight zero are left out. Rows in parts are completed part by part, each
    with draws of its own.

    >>> from unveil import datasets
    >>> asia = datasets.network("asia")
    >>> rows = asia.sample(10, seed=1).knock_out(0.2, seed=2)
    >>> completed = complete_rows(asia, rows)
    >>> completed.is_complete, round(completed.total_weight, 9)
    (True, 10.0)
    """
    if isinstance(table, PartedRows):
        seeds = np.random.default_rng(seed).integers(2**31, size=len(table.parts)).tolist()
        known_to = table.select([n for n in table.names if n in network.names])
        return known_to.transformed(_complete_part, network, cap, draws, negligible, own=seeds)
    names = network.names
    if not (table.row_weights > 0).all():
        table = table.take(table.row_weights > 0)
    inside = [n for n in names if n in table]
    known = table.select(inside).conform([network.variable(n) for n in inside])
    n_states = np.array([v.n_states for v in network.variables], dtype=np.float64)
    hidden = [n for n in names if n not in known]
    if known.is_complete and math.prod(network.variable(n).n_states for n in hidden) <= cap:
        tables, beside = FlatTables(network).own, ReducedModel(network, hidden)
        if tables.all() and beside.fits:
            return _weighed(network, known, beside, tables, negligible)
    missing = np.array(
        [known.missing(n) if n in known else np.ones(table.n_rows, bool) for n in names]
    )
    codes = np.array(
        [known.column(n) if n in known else np.zeros(table.n_rows, np.uint8) for n in names],
        dtype=np.int64,
    )
    n_completions = np.exp(np.log(n_states) @ missing)
    exact = n_completions <= cap + 0.5
    weights = known.row_weights
    parts = [
        _enumerate(network, codes[:, rows], missing[:, rows], weights[rows], negligible)
        for rows in _in_blocks(np.flatnonzero(exact), n_completions[exact] * len(names))
    ]
    if not exact.all():
        parts.append(_draw(network, known.take(~exact), draws, np.random.default_rng(seed)))
    cells = np.concatenate([p[0] for p in parts], axis=1)
    mass = np.concatenate([p[1] for p in parts])
    return Table(network.variables, list(cells), mass)


def _weighed(
    network: Network,
    known: Table,
    beside: ReducedModel,
    tables: npt.NDArray[np.float64],
    negligible: float,
) -> Table:
    """Rows that lack hidden variables and nothing else, with all configurations of those.

    The families that hold a hidden variable say all about its posterior, so it is the same in all
    rows that are alike there. No row is impossible, for no table has zeros.
    """
    if not beside.unseen:
        columns = [known.column(n) for n in network.names]
        return Table._trusted(network.variables, columns, known.row_weights)
    codes = np.array(
        [known.column(n) if n in known else np.zeros(known.n_rows, np.uint8) for n in network.names]
    )
    first, group = beside.alike(codes)
    share = beside.posterior(tables, np.ascontiguousarray(codes[:, first]))[1]
    kept = (share > negligible) | (share == share.max(axis=1, keepdims=True))
    kept &= share > 0
    # P(h | row), and the weight of what is left out to the others
    share /= np.where(kept, share, 0.0).sum(axis=1, keepdims=True)
    row, which = np.nonzero(kept[group])
    # Completion h counts w_row P(h | row), so sums over the table are those of Eq. 2.16.
    mass = known.row_weights[row] * share[group[row], which]
    states = dict(zip(beside.unseen, np.unravel_index(which, beside.shape), strict=True))
    columns = [
        known.column(v.name)[row]
        if v.name in known
        else states[v.name].astype(code_dtype(v.n_states))
        for v in network.variables
    ]
    return Table._trusted(network.variables, columns, mass)


def _complete_part(
    table: Table, seed: int, network: Network, cap: int, draws: int, negligible: float
) -> list[Table]:
    """A part's completed rows, equal ones folded, in tables of no more rows than it has."""
    rows = folded(complete_rows(network, table, cap, draws, seed, negligible))
    size = max(table.n_rows, 1 << 12)
    starts = range(0, max(rows.n_rows, 1), size)
    return [rows.take(np.arange(s, min(s + size, rows.n_rows))) for s in starts]


def _in_blocks(
    rows: npt.NDArray[np.intp], cells: npt.NDArray[np.float64]
) -> list[npt.NDArray[np.intp]]:
    """The rows in blocks that need a moderate number of cells each; one block at least.

    All completions of all rows at once may need more memory than there is; most are negligible.
    """
    block = (np.cumsum(cells) // BLOCK_CELLS).astype(np.int64)
    return np.split(rows, np.flatnonzero(np.diff(block)) + 1)


def _enumerate(
    network: Network,
    codes: npt.NDArray[np.int64],
    missing: npt.NDArray[np.bool_],
    weights: npt.NDArray[np.float64],
    negligible: float,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """All completions of every row, weighted by their posterior; impossible ones left out."""
    sizes = np.array([v.n_states for v in network.variables])
    counts = np.where(missing, sizes[:, None], 1).prod(axis=0)
    row = np.repeat(np.arange(codes.shape[1]), counts)
    first = np.cumsum(counts) - counts
    place = np.arange(row.size) - first[row]
    cells = codes[:, row]
    # Completion number `place` of a row: its digits, in mixed radix, are the states of the gaps.
    for v in range(len(sizes) - 1, -1, -1):
        gaps = missing[v, row]
        cells[v] = np.where(gaps, place % sizes[v], cells[v])
        place = np.where(gaps, place // sizes[v], place)
    logs = network.row_log_likelihoods(Table(network.variables, list(cells)))
    most = np.full(codes.shape[1], -np.inf)
    np.maximum.at(most, row, logs)
    refuse_impossible(most)
    # P(h | row) = P(h, row) / sum over completions h' of P(h', row), in logs until the end
    share = np.exp(logs - most[row])
    share /= np.bincount(row, share, codes.shape[1])[row]
    kept = (share > negligible) | (logs == most[row])
    row, share = row[kept], share[kept]
    # Completion h counts w_row P(h | row), so sums over the table are those of Eq. 2.16.
    mass = share * (weights / np.bincount(row, share, codes.shape[1]))[row]
    possible = mass > 0
    return cells[:, kept][:, possible], mass[possible]


def _draw(
    network: Network, table: Table, draws: int, generator: np.random.Generator
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    plan = cells_for(network, network.names, table, {}, Use(trees_first=True))
    cells, mass = [], []
    for _ in range(draws):
        log_z, drawn = plan.draws(plan.layout.own, generator)
        refuse_impossible(log_z)
        cells.append(drawn)
        mass.append(table.row_weights / draws)
    return np.concatenate(cells, axis=1), np.concatenate(mass)
