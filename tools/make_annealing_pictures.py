"""Draw the pictures of docs/annealing.md: the toy problem of thesis 3.4, and the course of a run.

python tools/make_annealing_pictures.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
import numpy as np

import unveil
from unveil.anneal import Adversary, Annealing, Geometric, Random
from unveil.anneal.toy import Bumps
from unveil.anneal.weights import tilted

IMAGES = Path(__file__).parent.parent / "docs" / "images"
BLUE, RED, GREY = "#1f5fa8", "#c0392b", "#777777"


def toy(path: Path) -> None:
    """Fig. 3.1: the score before and after the adversary's step."""
    bumps = Bumps([1.0, 5.0], [0.8, 0.2])
    one, five = bumps.maxima()
    cases = [
        (five, 1.5, "cold (T = 1.5), at 5: it stays"),
        (five, 4.0, "T = 4, at 5: the way to 1 is free"),
        (one, 4.0, "T = 4, at 1: it stays"),
    ]
    figure, axes = plt.subplots(1, 3, figsize=(10, 2.8), sharey=True)
    grid = np.linspace(-2, 8, 300)
    for ax, (theta, temperature, title) in zip(axes, cases, strict=True):
        own = bumps.weights
        ratio = Adversary(eta=1.0).ratio(
            own, 0 * own, lambda at=theta: bumps.slopes(at), temperature, np.random.default_rng()
        )
        weights = tilted(own, ratio)
        end = bumps.climb(theta, weights)
        ax.plot(grid, [bumps.score(x) for x in grid], color=BLUE, label="before")
        ax.plot(grid, [bumps.score(x, weights) for x in grid], "--", color=RED, label="after")
        ax.plot([theta], [bumps.score(theta)], "o", color="black", label="where it is")
        ax.plot([end], [bumps.score(end, weights)], "^", color=RED, label="where it climbs to")
        ax.set_title(title, fontsize=10)
        ax.set_xlabel("theta")
    axes[0].set_ylabel("score")
    axes[0].legend(fontsize=8, frameon=False)
    _save(figure, path)


def course(path: Path) -> None:
    """Fig. 3.3, on the training rows: temperature, divergence and scores of two runs."""
    rows = unveil.datasets.network("insurance").sample(1000, seed=4)
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.2))
    for word, way, colour in (("adversary", Adversary(noise=0.5), RED), ("random", Random(), BLUE)):
        chosen = Annealing(way, Geometric(1.0, 0.9, 0.05))
        found = unveil.learn(rows, anneal=chosen, seed=1).search.annealed
        assert found is not None
        steps = np.arange(1, len(found.course) + 1)
        axes[0].plot(steps, [p.divergence for p in found.course], color=colour, label=word)
        axes[1].plot(
            steps, [p.score - found.first_score for p in found.course], ".", color=colour, ms=4
        )
        axes[1].plot(
            steps, [p.best - found.first_score for p in found.course], color=colour, label=word
        )
    axes[0].plot(steps, [p.temperature for p in found.course], color=GREY, label="temperature")
    axes[0].set(xlabel="reweighting", ylabel="nats from the rows' own", title="weights come home")
    axes[1].set(xlabel="reweighting", ylabel="nats", title="score over that of the search alone")
    axes[1].axhline(0.0, color=GREY, lw=0.8)
    for ax in axes:
        ax.legend(fontsize=8, frameon=False)
    _save(figure, path)


def _save(figure: Any, path: Path) -> None:
    for ax in figure.axes:
        ax.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    matplotlib.rcParams["svg.hashsalt"] = "unveil"
    figure.savefig(path, metadata={"Date": None})
    print(f"{path.name} drawn")


if __name__ == "__main__":
    toy(IMAGES / "annealing_toy.svg")
    course(IMAGES / "annealing_course.svg")
