"""`write_numbers`: continuous hidden parents, as files in a folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from unveil.report.numbers_page import numbers_page

if TYPE_CHECKING:
    from unveil.discovery.continuous import NumbersReport

__all__ = ["write_numbers"]


def write_numbers(
    report: NumbersReport, folder: str | os.PathLike[str], table_name: str = "table"
) -> Path:
    """The page `report.html`, written beside the networks and the values of every row.

    The folder, made if there is none, then has `report.html`, `model.json`, `baseline.json` (the
    network without hidden variables) and `posteriors.csv` (the hidden variables' means and
    standard deviations, row by row).
    """
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    # What cannot be had again comes first: the page can be made from it.
    report.network.save(path / "model.json")
    report.baseline.save(path / "baseline.json")
    report.posteriors().write(path / "posteriors.csv")
    numbers_page(report, table_name).write(path / "report.html")
    return path / "report.html"
