"""Lines on a page: weights on arcs, shares explained on nodes, residual checks."""

from __future__ import annotations

from collections.abc import Sequence

from unveil.evaluate.paths import LineCheck, PathDiagram
from unveil.graph.names import Pair
from unveil.report.page import Cell, Page

__all__ = ["CHECK_HEAD", "add_checks", "check_rows", "node_captions", "path_labels"]

MOST_LABELS = 150
"""With more arcs, numbers beside them would cover the picture."""


def path_labels(paths: PathDiagram | None) -> dict[Pair, str]:
    """The standardised weight beside each arc."""
    if paths is None or len(paths.weights) > MOST_LABELS:
        return {}
    return {arc: f"{weight:+.2f}" for arc, weight in paths.weights.items()}


def node_captions(paths: PathDiagram | None) -> dict[str, str]:
    """The share of variance explained, behind the name of each variable that has parents."""
    if paths is None:
        return {}
    return {name: f"R² {share:.2f}" for name, share in paths.r_squared.items()}


def add_checks(page: Page, paths: PathDiagram | None) -> None:
    """A table of residual checks."""
    if paths is None or not paths.checks:
        return
    page.section("What the lines explain, and what they leave")
    page.text(
        "R² is the share of a variable's variance that its parents explain. What is left should "
        "look like noise: symmetric, without heavy tails, without a bend."
    )
    page.table(CHECK_HEAD, check_rows(paths.checks))


CHECK_HEAD = [
    "variable", "R²", "residuals", "skewness", "excess kurtosis", "bend", "farthest (sd)"
]  # fmt: skip


def check_rows(checks: Sequence[LineCheck]) -> list[list[Cell]]:
    """Residual checks as rows of a table."""
    return [
        [c.name, round(c.r_squared, 3), c.words, round(c.skewness, 2), round(c.kurtosis, 2),
         round(c.bend, 2), f"{c.largest:+.1f} in row {c.row:,}"]
        for c in checks
    ]  # fmt: skip
