"""The pictures of `discover.py`: Fig. 4.3 and 4.4, the table of 5.4, Fig. 5.2 and 5.3."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["draw"]


def draw(record: dict[str, Any], folder: Path) -> None:
    """The pictures of whatever parts the record has."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    if record.get("figures"):
        draw_figures(record["figures"], folder, plt)
    if record.get("cardinality"):
        draw_cardinality(record["cardinality"], folder, plt)
    if record.get("states"):
        draw_curves(record["states"]["curves"], folder, plt)


def draw_figures(lines: Sequence[dict[str, Any]], folder: Path, plt: Any) -> None:
    """Fig. 4.3 and 4.4: how much better than no hidden variable, in bits per row."""
    labels = {
        "naive": "naive", "original": "original", "two": "2 states",
        "agglomeration": "agglomeration",
    }  # fmt: skip
    figure, axes = plt.subplots(figsize=(9, 4))
    places = np.arange(len(lines))
    for i, (key, label) in enumerate(labels.items()):
        gains = [x["bits"]["none"] - x["bits"][key] for x in lines]
        axes.bar(places + 0.2 * (i - 1.5), gains, 0.2, label=label)
    names = [f"{x['hidden']} {x['rows']:,}" for x in lines]
    axes.set_xticks(places, names, fontsize=7, rotation=45, ha="right")
    axes.axhline(0, color="black", linewidth=0.8)
    axes.set_ylabel("gain over no hidden variable\n(bits per row, unseen rows)")
    axes.legend(fontsize=8)
    save(figure, folder / "discover_figures.png", plt)


def draw_cardinality(part: dict[str, Any], folder: Path, plt: Any) -> None:
    """The table of 5.4 and Fig. 5.3."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), width_ratios=[2, 1])
    table = part["table"]
    places = np.arange(len(table))
    left.plot(
        places, [x["true"] for x in table], "ko", markersize=8, fillstyle="none", label="true"
    )
    left.plot(places, [x["refined"] for x in table], "C0x", label="refined")
    if "em" in table[0]:
        left.plot(places, [x["em"] for x in table], "C1+", label="EM, 5 random starts")
    left.set_xticks(places, [x["variable"] for x in table], rotation=90, fontsize=6)
    left.set_ylabel("states")
    left.legend(fontsize=8)
    sizes = part["sizes"]
    rows = [x["rows"] for x in sizes]
    right.semilogx(rows, [x["exact"] for x in sizes], "o-", label="exact")
    right.semilogx(rows, [x["within_one"] for x in sizes], "s-", label="within one")
    right.set_xlabel("rows")
    right.set_ylabel(f"variables of {len(table)}")
    right.legend(fontsize=8)
    save(figure, folder / "discover_cardinality.png", plt)


def draw_curves(part: dict[str, Any], folder: Path, plt: Any) -> None:
    """Fig. 5.2: the score by number of states."""
    figure, axes = plt.subplots(figsize=(6, 3.5))
    labels = {
        "completed": "completed data", "em_from_tree": "EM from there",
        "em_best_of_five": "best of five EM runs",
    }  # fmt: skip
    for key, label in labels.items():
        scores = np.array(part[key])
        axes.plot(part["states"], scores - scores.max(), "o-", markersize=4, label=label)
    axes.set_ylim(bottom=-400)
    axes.set_xlabel(f"states of {part['variable']} (true: {part['true']})")
    axes.set_ylabel("score less its best, nats")
    axes.legend(fontsize=8)
    save(figure, folder / "discover_curves.png", plt)


def save(figure: Any, path: Path, plt: Any) -> None:
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)
