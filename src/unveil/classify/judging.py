"""A learned classifier judged on rows left out: by taking counts back where that is fair.

Leaving one out keeps the structure and the strength of the prior as they are; each row is predicted
from the counts of all others, in one pass. Where the structure itself was chosen by that criterion,
where numbers were cut by the class, or where parameters are not counts, everything is learned anew
in every fold.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from unveil.classify.classifier import class_shares
from unveil.classify.columns import Columns
from unveil.classify.families import left_out_scores, shares
from unveil.classify.importance import Importance, importance, ranked
from unveil.classify.judgement import Judgement, judged
from unveil.classify.recipes import Fit, Recipe
from unveil.classify.trial import Folds, Trial, dealt, try_recipe
from unveil.model.network import Network
from unveil.progress import Ticker
from unveil.table.core import Table

__all__ = ["judge_fit", "leave_one_out"]

Matrix = npt.NDArray[np.float64]

LEAVE_ONE_OUT = "leave-one-out"

MANY = 100_000
"""With more rows than this, two of the folds are judged: they say enough."""


def judge_fit(
    columns: Columns,
    recipe: Recipe,
    fit: Fit,
    best: Trial | None,
    parts: Folds | None,
    folds: int,
    seed: int,
    ticker: Ticker,
) -> tuple[Judgement | None, tuple[Importance, ...]]:
    """How well the classifier predicts rows left out, and what it loses without each predictor."""
    cut = any(v.cuts is not None for v in fit.network.variables)
    if recipe.left_out_is_exact and fit.structure is not None and not cut:
        return _by_counts(columns, fit, ticker)
    seen = parts is not None and parts.columns is columns and parts.is_whole
    if best is None or best.networks == () or not seen:
        given = (
            None if fit.strength is None or recipe.parameters == "generative" else [fit.strength]
        )
        again = dealt(columns, folds, seed).first(2 if columns.n_rows > MANY else folds)
        trial = try_recipe(recipe, again, None, given, seed, ticker)
        if trial is not None and (trial.n_folds == len(again.parts) or best is None):
            best, parts = trial, again
    if best is None or best.probabilities is None or parts is None:
        return None, ()
    n = len(best.probabilities)
    truth, weights = parts.truth[:n], parts.weights[:n]
    done = len(best.networks)
    method = f"{done}-fold cross-validation" if parts.is_whole else f"{done} of {folds} folds"
    judgement = judged(best.probabilities, truth, columns.target.labels, weights, method)
    names = [n for n in columns.names if n in fit.network.names]
    return judgement, ranked(list(_hidden_one_by_one(names, best, parts, truth, weights, ticker)))


def leave_one_out(columns: Columns, fit: Fit) -> Matrix:
    """P(class | row) of every row from the counts of all others, shape (n_rows, n_classes)."""
    assert fit.structure is not None
    assert fit.strength is not None
    return shares(left_out_scores(columns, fit.structure, fit.strength))


def _by_counts(
    columns: Columns, fit: Fit, ticker: Ticker
) -> tuple[Judgement, tuple[Importance, ...]]:
    assert fit.structure is not None
    whole = leave_one_out(columns, fit)
    judgement = judged(
        whole, columns.classes, columns.target.labels, columns.weights, LEAVE_ONE_OUT
    )
    found = []
    for name in fit.structure.used:
        if not ticker.keep_going():
            break
        less = Fit(fit.network, fit.strength, fit.structure.without(name))
        without = leave_one_out(columns, less)
        found.append(importance(name, whole, without, columns.classes, columns.weights))
    return judgement, ranked(found)


def _hidden_one_by_one(
    names: list[str],
    best: Trial,
    parts: Folds,
    truth: npt.NDArray[np.int64],
    weights: npt.NDArray[np.float64],
    ticker: Ticker,
) -> Iterator[Importance]:
    """Each predictor hidden from the networks of the folds, which sum over it."""
    assert best.probabilities is not None
    target = parts.columns.target.name
    for done, name in enumerate(names, 1):
        found = [
            _without(network, target, name, out)
            for network, (_, out) in zip(best.networks, parts.parts, strict=False)
        ]
        yield importance(name, best.probabilities, np.concatenate(found), truth, weights)
        if not ticker.offer("importance", done, float("nan"), detail=name):
            return


def _without(network: Network, target: str, name: str, rows: Table) -> Matrix:
    """P(class | all cells but one) of rows left out."""
    from unveil.classify.classifier import Classifier

    others = Classifier(network, target)
    seen = [n for n in others.predictors if n != name and n in rows]
    if not seen:
        prior = network.posterior({}, of=target)[target]
        return np.repeat(prior, rows.n_rows, axis=0)
    return class_shares(network, target, others.rows(rows.select(seen)))
