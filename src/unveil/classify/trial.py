"""Recipes tried: every row predicted by networks learned without it, and the best recipe kept."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from unveil.classify.classifier import Classifier
from unveil.classify.columns import Columns
from unveil.classify.recipes import Fit, Recipe, fits_of
from unveil.errors import SizeError
from unveil.evaluate.folds import deal_cases, n_cases, parted
from unveil.model.network import Network
from unveil.progress import Ticker
from unveil.records import Record
from unveil.table.core import Table

__all__ = ["Folds", "Trial", "choose", "dealt", "try_recipe"]

Matrix = npt.NDArray[np.float64]
Vector = npt.NDArray[np.float64]

CLEARLY = 3.0
"""A recipe is given up when it is behind the best by so many standard errors."""


@dataclass(frozen=True)
class Trial(Record):
    """How a recipe did on rows left out: mean log-loss (nats), its error, accuracy, seconds.

    `strength` is the best one of those tried. `n_folds` were done; fewer than all when it was
    clearly behind, or when time was up. `networks` and `probabilities` are those of the folds.
    """

    recipe: Recipe
    log_loss: float
    error: float
    accuracy: float
    strength: float | None
    n_folds: int
    seconds: float
    note: str = ""
    losses: Vector | None = field(default=None, repr=False, compare=False)
    probabilities: Matrix | None = field(default=None, repr=False, compare=False)
    networks: tuple[Network, ...] = field(default=(), repr=False, compare=False)


@dataclass(frozen=True)
class Folds:
    """Rows dealt to folds: for each, what to learn from and what to predict."""

    columns: Columns
    parts: tuple[tuple[Table, Table], ...]
    is_whole: bool = True
    """Whether every row is left out once."""

    def first(self, number: int) -> Folds:
        """Only the first folds."""
        return Folds(self.columns, self.parts[:number], number >= len(self.parts))

    @property
    def truth(self) -> npt.NDArray[np.int64]:
        """The true classes of the rows left out, fold after fold."""
        name = self.columns.target.name
        return np.concatenate([out.column(name).astype(np.int64) for _, out in self.parts])

    @property
    def weights(self) -> Vector:
        """Their weights."""
        return np.concatenate([out.row_weights for _, out in self.parts])


def dealt(columns: Columns, folds: int, seed: int | None) -> Folds:
    """The rows dealt at random, every class to as many folds as it has cases for."""
    shares = np.zeros((columns.n_rows, folds))
    generator = np.random.default_rng(seed)
    turn = 0
    for code in range(columns.n_classes):
        rows = np.flatnonzero(columns.classes == code)
        if len(rows) == 0:
            continue
        own = columns.table.take(rows)
        part = _dealt(own, folds, generator)
        shares[rows] = np.roll(part, turn, axis=1)  # so that small classes do not all start alike
        turn += round(own.total_weight) % folds
    parts = [parted(columns.table, share) for share in shares.T if share.any()]
    return Folds(columns, tuple(parts))


def _dealt(table: Table, folds: int, generator: np.random.Generator) -> Matrix:
    """As `deal_cases`, also for fewer cases than folds: then each is in a fold of its own."""
    cases = n_cases(table)
    if cases >= folds:
        return deal_cases(table, folds, seed=generator)
    found = np.zeros((table.n_rows, folds))
    part = np.ones((table.n_rows, 1)) if cases == 1 else deal_cases(table, cases, seed=generator)
    found[:, : part.shape[1]] = part * (table.row_weights[:, None] if cases == 1 else 1.0)
    return found


def try_recipe(
    recipe: Recipe,
    folds: Folds,
    best: Vector | None = None,
    strengths: Sequence[float] | None = None,
    seed: int | None = None,
    ticker: Ticker | None = None,
) -> Trial | None:
    """How the recipe does on the folds; `None` when time is up before the first is done.

    `best` are the losses of the best recipe so far, row by row: once the new one is clearly behind,
    the folds left are not done.
    """
    ticker = ticker or Ticker()
    began = time.monotonic()
    done: list[dict[float | None, tuple[Network, Matrix]]] = []
    note = ""
    for number, (training, out) in enumerate(folds.parts, 1):
        if not ticker.keep_going():
            note = "time was up" if done else ""
            break
        fits = fits_of(recipe, folds.columns.take(training), strengths, seed, ticker)
        done.append(_predicted(recipe, fits, folds, out))
        if number == 1 and recipe.parameters == "discriminative":
            strengths = _near(list(done[0]), _best_key(done, folds))
        ticker.offer(recipe.words, number, float("nan"), detail=f"fold {number}")
        if best is not None and number < len(folds.parts):
            so_far = _losses(done, _best_key(done, folds), folds)
            behind = so_far - best[: len(so_far)]
            if behind.mean() > CLEARLY * behind.std() / math.sqrt(len(behind)) + 1e-9:
                note = "clearly behind"
                break
    if not done:
        return None
    key = _best_key(done, folds)
    losses = _losses(done, key, folds)
    shares = np.concatenate([fold[key][1] for fold in done])
    n = len(losses)
    weights, truth = folds.weights[:n], folds.truth[:n]
    mean = float(np.average(losses, weights=weights))
    spread = float(np.average((losses - mean) ** 2, weights=weights))
    right = float(np.average(shares.argmax(axis=1) == truth, weights=weights))
    error = math.sqrt(spread / max(float(weights.sum()) - 1, 1.0))
    networks = tuple(fold[key][0] for fold in done)
    return Trial(
        recipe, mean, error, right, key, len(done), time.monotonic() - began, note, losses, shares,
        networks,
    )  # fmt: skip


def _predicted(
    recipe: Recipe, fits: Iterable[Fit], folds: Folds, out: Table
) -> dict[float | None, tuple[Network, Matrix]]:
    """The networks of a fold and what they say, by strength; counted ones have their own each."""
    found: dict[float | None, tuple[Network, Matrix]] = {}
    target = folds.columns.target.name
    for fit in fits:
        key = fit.strength if recipe.parameters == "discriminative" else None
        found[key] = fit.network, Classifier(fit.network, target).probabilities(out)
    return found


def _near(strengths: list[float | None], best: float | None) -> list[float]:
    """The best strength of the first fold and its neighbours: the others are not tried again."""
    place = strengths.index(best)
    return [s for s in strengths[max(place - 1, 0) : place + 2] if s is not None]


def _losses(
    done: Sequence[Mapping[float | None, tuple[Network, Matrix]]], key: float | None, folds: Folds
) -> Vector:
    """-ln P(true class) of the rows of the folds done."""
    shares = np.concatenate([fold[key][1] for fold in done])
    own = shares[np.arange(len(shares)), folds.truth[: len(shares)]]
    result: Vector = -np.log(np.maximum(own, np.finfo(float).tiny))
    return result


def _best_key(
    done: Sequence[Mapping[float | None, tuple[Network, Matrix]]], folds: Folds
) -> float | None:
    """The strength with the least loss over the folds done."""
    n = sum(len(next(iter(fold.values()))[1]) for fold in done)
    weights = folds.weights[:n]
    keys = [key for key in done[-1] if key in done[0]]
    return min(keys, key=lambda k: float(np.average(_losses(done, k, folds), weights=weights)))


def choose(
    recipes: Sequence[Recipe],
    folds: Folds,
    strengths: Sequence[float] | None,
    seed: int | None,
    ticker: Ticker,
    known: Mapping[Recipe, Trial] | None = None,
    heard: Callable[[Trial], object] | None = None,
) -> list[Trial]:
    """All recipes tried, those of `known` taken over; each new trial is told to `heard`.

    Only the best keeps its networks and probabilities.
    """
    trials: list[Trial] = []
    best: Trial | None = None
    for recipe in recipes:
        earlier = (known or {}).get(recipe)
        if earlier is not None:
            trial: Trial | None = earlier
        else:
            try:
                losses = None if best is None else best.losses
                trial = try_recipe(recipe, folds, losses, strengths, seed, ticker)
            except SizeError:
                continue  # too large a table for this one; others are smaller
        if trial is None:
            break
        trials.append(trial)
        whole = trial.n_folds == len(folds.parts)
        if whole and (best is None or trial.log_loss < best.log_loss):
            best = trial
        trials = [t if t is best else _lighter(t) for t in trials]
        if heard is not None and earlier is None:
            heard(trial)
        if not ticker.keep_going():
            break
    return trials


def _lighter(trial: Trial) -> Trial:
    return replace(trial, networks=(), probabilities=None)
