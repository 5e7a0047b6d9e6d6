"""The probability table of a variable on a page."""

from __future__ import annotations

import numpy as np

from unveil.model.compact import CompactCPD
from unveil.model.cpd import CPD
from unveil.model.table_cpd import table_of
from unveil.model.tree_cpd import TreeCPD
from unveil.report.context_tree import context_tree
from unveil.report.page import Cell, Page
from unveil.table.variable import label_text

__all__ = ["MOST_STATES", "add_distribution", "family"]

MOST_ROWS = 50
"""Rows of a probability table that a page shows."""
MOST_STATES = 24
"""A variable with more states gets no chart and no table: nobody reads a page of numbers."""


def add_distribution(page: Page, cpd: CPD) -> None:
    """The table of P(variable | parents), a row for every combination of the parents' states.

    Without parents there is nothing to add: its chart says it all.
    """
    if not cpd.variable.is_discrete or cpd.variable.n_states > MOST_STATES:
        page.text(*cpd.describe().splitlines()[:MOST_ROWS])
        return
    if not cpd.parents:
        return
    if isinstance(cpd, CompactCPD):
        _add_compact(page, cpd)
        return
    cpd = table_of(cpd)
    shown = min(cpd.n_parent_rows, MOST_ROWS)
    digits = np.array(np.unravel_index(np.arange(shown), [v.n_states for v in cpd.parents])).T
    rows: list[list[Cell]] = [
        [label_text(v.labels[d]) for v, d in zip(cpd.parents, own, strict=True)]
        + [round(float(p), 4) for p in chances]
        for own, chances in zip(digits, cpd.rows[:shown], strict=True)
    ]
    head = [v.name for v in cpd.parents] + [label_text(s) for s in cpd.variable.labels]
    page.table(head, rows, caption=family(cpd), shaded=True)
    if shown < cpd.n_parent_rows:
        page.text(f"The first {shown} of {cpd.n_parent_rows:,} rows; the model file has them all.")


def _add_compact(page: Page, cpd: CompactCPD) -> None:
    """A tree as a drawing; of other compact distributions, the words."""
    drawing = context_tree(cpd) if isinstance(cpd, TreeCPD) else ""
    head, *lines = cpd.describe().splitlines()
    if drawing:
        page.figure(drawing, f"{head}. Each bar shows {', '.join(_labels(cpd))}, in this order.")
        return
    page.text(f"{head}:")
    page.items(lines[:MOST_ROWS])
    if len(lines) > MOST_ROWS:
        page.text(f"The first {MOST_ROWS} of {len(lines):,} lines; the model file has them all.")


def _labels(cpd: CompactCPD) -> list[str]:
    return [label_text(s) for s in cpd.variable.labels]


def family(cpd: CPD) -> str:
    """A distribution as it is written: `P(child | parents)`."""
    given = ", ".join(p.name for p in cpd.parents)
    return f"P({cpd.variable.name} | {given})" if given else f"P({cpd.variable.name})"
