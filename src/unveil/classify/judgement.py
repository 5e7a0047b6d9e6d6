"""How well classes are predicted: accuracy, log-loss, confusion, calibration, ROC.

All from probabilities of rows that the predicting model has not seen, and their true classes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from unveil.records import Record
from unveil.table.variable import Label

__all__ = ["CalibrationBin", "Judgement", "RocCurve", "judged"]

Matrix = npt.NDArray[np.float64]
Vector = npt.NDArray[np.float64]

BINS = 10
"""A calibration curve has so many bins of about equal weight."""

MOST_POINTS = 200
"""A ROC curve is told by at most so many points."""


@dataclass(frozen=True)
class CalibrationBin(Record):
    """Predictions of about the same probability: their mean, and how often they came true."""

    predicted: float
    observed: float
    weight: float


@dataclass(frozen=True)
class RocCurve(Record):
    """One class against the others: hits against false alarms, and the area under the curve."""

    label: Label
    area: float
    false_alarms: Vector
    hits: Vector


@dataclass(frozen=True)
class Judgement(Record):
    """How well a classifier predicts rows it has not seen.

    `default_rate` is the accuracy of always saying the most frequent class; `log_loss` is the mean
    of -ln P(true class) in nats (as in scikit-learn), `default_log_loss` that of the shares of the
    classes alone. `confusion[i, j]` is the weight of rows of class i that were predicted as j.
    `method` says how the rows were left out: "leave-one-out" or "5-fold cross-validation".
    `losses` has -ln P(true class) of every row.
    """

    classes: tuple[Label, ...]
    method: str
    n_rows: int
    accuracy: float
    accuracy_error: float
    default_rate: float
    log_loss: float
    log_loss_error: float
    default_log_loss: float
    confusion: Matrix
    calibration: tuple[CalibrationBin, ...]
    roc: tuple[RocCurve, ...]
    area: float
    probabilities: Matrix = field(repr=False, compare=False)
    losses: Vector = field(repr=False, compare=False)

    @property
    def bits(self) -> float:
        """The log-loss in bits per row."""
        return self.log_loss / math.log(2)

    @property
    def calibration_error(self) -> float:
        """The mean distance between predicted and observed, over the bins."""
        total = sum(b.weight for b in self.calibration)
        return sum(b.weight * abs(b.predicted - b.observed) for b in self.calibration) / total

    def __str__(self) -> str:
        return (
            f"accuracy {self.accuracy:.1%} (default {self.default_rate:.1%}), log-loss "
            f"{self.bits:.4f} bits per row (default {self.default_log_loss / math.log(2):.4f}), "
            f"AUC {self.area:.3f}, by {self.method}"
        )


def judged(
    probabilities: Matrix,
    truth: npt.NDArray[np.int64],
    classes: tuple[Label, ...],
    weights: Vector | None = None,
    method: str = "new rows",
) -> Judgement:
    """The judgement of probabilities, shape (n_rows, n_classes), by the true codes.

    >>> said = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]])
    >>> found = judged(said, np.array([0, 1, 1]), ("no", "yes"))
    >>> round(found.accuracy, 3), round(found.log_loss, 4), found.confusion.tolist()
    (0.667, 0.4149, [[1.0, 0.0], [1.0, 1.0]])
    """
    w = np.ones(len(truth)) if weights is None else weights
    k = len(classes)
    own = probabilities[np.arange(len(truth)), truth]
    losses = -np.log(np.maximum(own, np.finfo(float).tiny))
    best = probabilities.argmax(axis=1)
    confusion = np.zeros((k, k))
    np.add.at(confusion, (truth, best), w)
    accuracy, accuracy_error = _mean((best == truth).astype(float), w)
    loss, loss_error = _mean(losses, w)
    shares = np.bincount(truth, w, k) / w.sum()
    seen = shares > 0
    curves = tuple(
        _roc(label, probabilities[:, c], truth == c, w)
        for c, label in enumerate(classes)
        if seen[c] and shares[c] < 1
    )
    area_weights = [shares[classes.index(c.label)] for c in curves]
    area = float(np.average([c.area for c in curves], weights=area_weights)) if curves else math.nan
    return Judgement(
        classes, method, len(truth), accuracy, accuracy_error, float(shares.max()), loss,
        loss_error, float(-(shares[seen] * np.log(shares[seen])).sum()), confusion,
        _calibration(probabilities, truth, w), curves, area, probabilities, losses,
    )  # fmt: skip


def _mean(values: Vector, weights: Vector) -> tuple[float, float]:
    """The weighted mean and its standard error."""
    total = weights.sum()
    mean = float((weights * values).sum() / total)
    spread = float((weights * (values - mean) ** 2).sum() / total)
    return mean, math.sqrt(spread / max(total - 1, 1.0))


def _calibration(
    probabilities: Matrix, truth: npt.NDArray[np.int64], weights: Vector
) -> tuple[CalibrationBin, ...]:
    """Probabilities in bins of about equal weight, and how often they came true.

    With two classes those of the second; with more, those of the class that was said.
    """
    best = probabilities.argmax(axis=1) if probabilities.shape[1] > 2 else np.ones_like(truth)
    said = probabilities[np.arange(len(truth)), best]
    order = np.argsort(said, kind="stable")
    said, came, mass = said[order], (truth == best).astype(float)[order], weights[order]
    cumulative = np.cumsum(mass)
    place = np.minimum((cumulative - mass / 2) * BINS / cumulative[-1], BINS - 1).astype(int)
    found = []
    for b in range(BINS):
        inside = place == b
        if mass[inside].sum() > 0:
            total = float(mass[inside].sum())
            means = [float((mass * v)[inside].sum() / total) for v in (said, came)]
            found.append(CalibrationBin(means[0], means[1], total))
    return tuple(found)


def _roc(
    label: Label, scores: Vector, positive: npt.NDArray[np.bool_], weights: Vector
) -> RocCurve:
    """The curve by falling score; rows of equal score are one step."""
    order = np.argsort(-scores, kind="stable")
    hits, alarms = np.cumsum((weights * positive)[order]), np.cumsum((weights * ~positive)[order])
    last = np.append(np.flatnonzero(np.diff(scores[order])), len(order) - 1)
    y = np.concatenate([[0.0], hits[last] / hits[-1]])
    x = np.concatenate([[0.0], alarms[last] / alarms[-1]])
    area = float(np.sum(np.diff(x) * (y[1:] + y[:-1]) / 2))
    some = np.unique(np.linspace(0, len(x) - 1, MOST_POINTS).astype(int))
    return RocCurve(label, area, x[some], y[some])
