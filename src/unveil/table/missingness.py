"""What is missing from a table, and whether it looks random (thesis 2.4).

EM treats gaps as missing at random: whether a cell is missing may depend on what the row shows,
not on what it hides. No test can tell whether that holds; but a column that goes missing more
often for some values of another is at least not missing *completely* at random, and worth a look.
`missing_as_state` is the way out that the thesis names: missing becomes a state of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from unveil.errors import DataError
from unveil.table.core import Column, Table
from unveil.table.fold import row_groups
from unveil.table.gaps import ColumnGaps, GapHint, GapPair, GapPattern, MissingnessReport
from unveil.table.variable import Label, Variable, label_text

__all__ = ["EMPTY_STATE", "empty_as_state", "missing_as_state", "missingness"]

Vector = npt.NDArray[np.float64]

EMPTY_STATE = "(empty)"
"""The state of a model's variable that stands for an empty cell; see `empty_as_state`."""

N_BINS = 4
"""A continuous column is looked at in so many parts of about equal weight."""


def missingness(table: Table, level: float = 0.01, most_patterns: int = 10) -> MissingnessReport:
    """What is missing from a table and whether it looks random, with sentences to print.

    Two columns go missing together when the correlation phi of their missing indicators is beyond
    chance (N phi^2 is chi-square with one degree of freedom). A hint is a G-test of a missing
    indicator against the values of another column, over the rows that show the other.

    >>> gaps = [None if job == "no" and i % 3 else "x" for i, job in enumerate(["no", "yes"] * 60)]
    >>> table = Table.from_frame({"job": ["no", "yes"] * 60, "pay": gaps})
    >>> missingness(table).hints[0].words
    '`pay` is missing more often when job = no (67% against 0%)'
    """
    if not 0 < level < 1:
        raise DataError(f"the level must be between 0 and 1, got {level}")
    weights, total = table.row_weights, table.total_weight
    if total <= 0:
        raise DataError("the weights of all rows are zero; there is nothing to look at")
    gone = np.array([table.missing(name) for name in table.names])
    shares = gone @ weights / total
    columns = [
        ColumnGaps(name, int(lacks.sum()), float(share))
        for name, lacks, share in zip(table.names, gone, shares, strict=True)
    ]
    patterns = _patterns(table.names, gone, weights)
    return MissingnessReport(
        n_rows=table.n_rows,
        n_columns=table.n_columns,
        n_cells=int(gone.sum()),
        cell_share=float(shares.mean()),
        row_share=float(weights[gone.any(axis=0)].sum() / total),
        columns=tuple(sorted(columns, key=lambda c: -c.share)),
        patterns=patterns[:most_patterns],
        n_patterns=len(patterns),
        together=_together(table.names, gone, weights, level),
        hints=_hints(table, gone, level),
        level=level,
    )


def missing_as_state(
    table: Table, names: Iterable[str] | str | None = None, label: Label = "missing"
) -> Table:
    """The table with missing cells of discrete columns turned into a state of its own.

    Only the named columns are changed, by default all discrete ones that have gaps. For a column
    of numbers the label stands beside them as it is.

    >>> table = missing_as_state(Table.from_frame({"x": ["a", None, "b"]}))
    >>> table.labels("x"), table.is_complete
    (['a', 'missing', 'b'], True)
    """
    if names is None:
        chosen = [v.name for v in table.variables if v.is_discrete and table.missing(v.name).any()]
    else:
        chosen = [names] if isinstance(names, str) else list(names)
    for name in chosen:
        variable, missing = table.variable(name), table.missing(name)
        if label in variable.labels:
            raise DataError(
                f"column {name!r} has a state {label!r} already; choose another label for missing"
            )
        wider = Variable(name, [*variable.labels, label], variable.hidden, variable.cuts)
        codes = np.where(missing, variable.n_states, table.column(name).astype(np.int64))
        table = table.with_column(wider, codes)
    return table


def empty_as_state(table: Table) -> Table:
    """The table with empty cells in the state "(empty)" of every column that has such a state.

    A model that was learned with empty cells as a state of their own has variables with it;
    `missing_as_state(table, label=EMPTY_STATE)` is how they come by it.

    >>> table = Table.from_frame({"x": ["a", None]}).like([Variable("x", ["a", EMPTY_STATE])])
    >>> empty_as_state(table).labels("x")
    ['a', '(empty)']
    """
    for variable in table.variables:
        if variable.states is not None and EMPTY_STATE in variable.states:
            missing = table.missing(variable.name)
            if missing.any():
                code = variable.states.index(EMPTY_STATE)
                codes = np.where(missing, code, table.column(variable.name).astype(np.int64))
                table = table.with_column(variable, codes)
    return table


def _patterns(
    names: tuple[str, ...], gone: npt.NDArray[np.bool_], weights: Vector
) -> tuple[GapPattern, ...]:
    """Which columns lack a value together, commonest first."""
    first, group = row_groups([lacks.astype(np.uint8) for lacks in gone])
    mass = np.bincount(group, weights, len(first)) / weights.sum()
    found = [
        GapPattern(tuple(n for n, g in zip(names, gone[:, row], strict=True) if g), float(share))
        for row, share in zip(first, mass, strict=True)
    ]
    return tuple(sorted(found, key=lambda p: -p.share))


def _together(
    names: tuple[str, ...], gone: npt.NDArray[np.bool_], weights: Vector, level: float
) -> tuple[GapPair, ...]:
    """Pairs of columns whose gaps are correlated beyond chance, strongest first."""
    from scipy.stats import chi2

    total = weights.sum()
    shares = gone @ weights / total
    varied = np.flatnonzero((shares > 0) & (shares < 1))
    inside = gone[varied].astype(np.float64)
    p = shares[varied]
    both = (inside * weights) @ inside.T / total
    phi = (both - np.outer(p, p)) / np.sqrt(np.outer(p * (1 - p), p * (1 - p)))
    pairs = [
        GapPair(
            names[varied[i]], names[varied[j]], float(phi[i, j]),
            float(chi2.sf(total * phi[i, j] ** 2, 1)),
        )
        for i in range(len(varied))
        for j in range(i + 1, len(varied))
    ]  # fmt: skip
    kept = _discoveries([pair.p_value for pair in pairs], level)
    return tuple(sorted((pairs[i] for i in kept), key=lambda pair: -abs(pair.phi)))


def _hints(table: Table, gone: npt.NDArray[np.bool_], level: float) -> tuple[GapHint, ...]:
    """What in other columns goes with a gap, the clearest first."""
    looked_at = [_parts(table, name) for name in table.names]
    tested = []
    for i, column in enumerate(table.names):
        if not gone[i].any() or gone[i].all():
            continue
        for j, given in enumerate(table.names):
            values, codes = looked_at[j]
            if i != j and len(values) > 1:
                tested.append(_tested(column, given, values, codes, gone[i], table.row_weights))
    found = [hint for hint in tested if hint is not None]
    kept = _discoveries([hint.p_value for hint in found], level)
    return tuple(sorted((found[i] for i in kept), key=lambda h: (h.p_value, -h.rate)))


def _tested(
    column: str, given: str, values: list[str], codes: Column, gone: Column, weights: Vector
) -> GapHint | None:
    """The G-test of a missing indicator against another column, where the other is shown."""
    from scipy.stats import chi2

    shown = codes >= 0
    counts = np.zeros((len(values), 2))
    np.add.at(counts, (codes[shown], gone[shown].astype(np.intp)), weights[shown])
    seen = counts.sum(axis=1) > 0
    gaps = counts[:, 1].sum()
    if seen.sum() < 2 or gaps in (0, counts.sum()):
        return None
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    used = counts > 0
    g = 2 * float((counts[used] * np.log(counts[used] / expected[used])).sum())
    # The value that explains most: where gaps exceed what was to be expected by the most cases.
    top = int((counts[:, 1] - expected[:, 1]).argmax())
    rest = counts.sum(axis=0) - counts[top]
    return GapHint(
        column, given, values[top],
        rate=float(counts[top, 1] / counts[top].sum()),
        rate_otherwise=float(rest[1] / rest.sum()),
        p_value=float(chi2.sf(g, int(seen.sum()) - 1)),
    )  # fmt: skip


def _parts(table: Table, name: str) -> tuple[list[str], npt.NDArray[np.int64]]:
    """A column as a few named parts and their codes, -1 where missing."""
    variable, column, missing = table.variable(name), table.column(name), table.missing(name)
    if variable.is_discrete:
        codes = np.where(missing, -1, column.astype(np.int64))
        return [label_text(label) for label in variable.labels], codes
    if missing.all():
        return [], np.full(len(column), -1)
    cuts = np.unique(np.quantile(column[~missing], np.linspace(0, 1, N_BINS + 1)[1:-1]))
    codes = np.where(missing, -1, np.searchsorted(cuts, column, side="left"))
    edges = [f"{cut:.4g}" for cut in cuts]
    inner = [f"{a} to {b}" for a, b in pairwise(edges)]
    return [f"up to {edges[0]}", *inner, f"above {edges[-1]}"], codes


def _discoveries(p_values: list[float], level: float) -> list[int]:
    """The places of those that survive Benjamini and Hochberg's (1995) step-up procedure."""
    order = np.argsort(p_values, kind="stable")
    n = len(order)
    passed = [rank for rank, i in enumerate(order, 1) if p_values[i] <= level * rank / n]
    return [int(i) for i in order[: max(passed, default=0)]]
