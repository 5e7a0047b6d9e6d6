"""`write_discovery`: what was found, as files in a folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from unveil.report.discover_page import discover_page

if TYPE_CHECKING:
    from unveil.discovery import DiscoveryReport

__all__ = ["write_discovery"]


def write_discovery(
    report: DiscoveryReport, folder: str | os.PathLike[str], table_name: str = "table"
) -> Path:
    """The page `report.html`, written beside the networks and the posterior of every row.

    The folder, made if there is none, then has `report.html`, `model.json`, `baseline.json` (the
    network without hidden variables) and `posteriors.csv`.
    """
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    # What cannot be had again comes first: the page can be made from it.
    report.network.save(path / "model.json")
    report.discovery.baseline.save(path / "baseline.json")
    report.posteriors().write(path / "posteriors.csv")
    discover_page(report, table_name).write(path / "report.html")
    return path / "report.html"
