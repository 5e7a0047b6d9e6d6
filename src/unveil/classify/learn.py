"""`learn_classifier`: from a table to a network that predicts one column, and how well."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from unveil.classify.classifier import Classifier
from unveil.classify.columns import Columns, columns_of
from unveil.classify.importance import Importance
from unveil.classify.judgement import Judgement
from unveil.classify.judging import judge_fit
from unveil.classify.recipes import Fit, Recipe, fits_of, recipes_for
from unveil.classify.structure import Structure
from unveil.classify.trial import Folds, Trial, choose, dealt
from unveil.errors import DataError
from unveil.evaluate.folds import n_cases
from unveil.model.network import Network
from unveil.progress import Progress, StopReason, Ticker
from unveil.records import Record
from unveil.seeds import seed_or_fresh
from unveil.table.door import Data, Weights, as_table
from unveil.table.prepare import without_identifiers
from unveil.table.variable import Label

__all__ = ["LearnedClassifier", "learn_classifier"]

CHOSEN_FROM = 10_000
"""Recipes are compared on at most so many rows; the best is then learned from all."""

TIE = 0.5
"""A simpler recipe is as good when it is behind by at most so many standard errors."""

MANY = 2_000
"""With more rows than this, recipes are compared on two of the folds: they say enough."""

UNCHOSEN = 1.0
"""The precision of discriminative weights where nothing was tried."""

ENOUGH = 20
"""With fewer cases than this, rows are not dealt to folds: naive Bayes is learned, no more."""


@dataclass(frozen=True)
class LearnedClassifier(Record):
    """A classifier, how it was chosen, and how well it predicts rows it has not seen.

    `recipe` and `strength` say how it was learned; `trials` how every recipe did that was tried;
    `judgement` how well it does (`None` where the rows are too few to tell), `importances` what is
    lost without each predictor. `n_rows` had a class, `n_without_class` had none and were left
    aside. `stopped` is "converged" unless time was up or somebody asked to stop.
    """

    told: ClassVar = ("target", "classes", "predictors")

    classifier: Classifier = field(repr=False)
    recipe: Recipe
    strength: float | None
    structure: Structure | None = field(repr=False)
    trials: tuple[Trial, ...]
    judgement: Judgement | None
    importances: tuple[Importance, ...]
    left_out: tuple[str, ...]
    n_rows: int
    n_without_class: int
    seed: int
    stopped: StopReason
    notes: tuple[str, ...] = ()

    @property
    def network(self) -> Network:
        """The network."""
        return self.classifier.network

    @property
    def target(self) -> str:
        """The column that it predicts."""
        return self.classifier.target

    @property
    def classes(self) -> tuple[Label, ...]:
        """The labels of the class."""
        return self.classifier.classes

    @property
    def predictors(self) -> tuple[str, ...]:
        """The columns that it looks at."""
        return self.classifier.predictors

    def __str__(self) -> str:
        lines = [f"{self.target} predicted by {self.recipe.words}"]
        lines += [str(self.judgement)] if self.judgement is not None else []
        return "\n".join([*lines, *self.notes])


def learn_classifier(
    data: Data,
    target: str,
    model: str = "auto",
    *,
    parameters: str = "auto",
    numbers: str = "auto",
    selective: bool = False,
    k: int = 2,
    n_states: int = 2,
    strength: float | None = None,
    folds: int = 5,
    judge: bool = True,
    weights: Weights = None,
    drop: Sequence[str] | str = (),
    keep: Sequence[str] = (),
    seed: int | None = None,
    progress: Progress | None = None,
    time_limit: float | None = None,
    known: Mapping[Recipe, Trial] | None = None,
    heard: Callable[[Trial], object] | None = None,
) -> LearnedClassifier:
    """A network that predicts the column `target` from the others, and how well it does.

    `data` is a table, a frame, a dict of columns, an array or a path, `weights` say how often each
    row counts. The columns of `drop` are left out, and so are identifiers and dates unless `keep`
    names them. Rows without a class are left aside; empty cells of discrete predictors are a state
    of their own, empty numbers say nothing.

    `model` is "naive", "tan", "kdb" (up to `k` parents beside the class), "network" (searched for
    the left-out conditional likelihood), "hidden" (`n_states` within every class) or "discover".
    `parameters` are "generative" (counted) or "discriminative" (conditional likelihood), `numbers`
    are "cut" where the class changes or "gaussian". Whatever is "auto" is chosen: the way with the
    least log-loss in `folds`-fold cross-validation ("discover" is not among them, it takes long).
    `selective` drops predictors that do harm. `strength` is that of the prior: rows it counts for,
    or the precision of the weights; chosen if not given.

    With `judge`, rows left out say how well the classifier predicts and what each predictor is
    worth. `seed` repeats a run, `progress` listens, `time_limit` (seconds) ends the work with the
    best so far. `known` are trials of an earlier run to go on from, `heard` is called with each new
    one.

    >>> from unveil import datasets
    >>> rows = datasets.network("asia").sample(600, seed=1)
    >>> found = learn_classifier(rows, "dysp", "tan", parameters="generative", seed=1)
    >>> found.recipe.words, found.judgement.accuracy > found.judgement.default_rate
    ('tree-augmented naive Bayes', True)
    >>> found.classifier.predict({"bronc": ["yes", "no"], "either": ["no", "no"]})
    ['yes', 'no']
    """
    if folds < 2:
        raise DataError(f"cross-validation needs two folds or more, got {folds}")
    ticker = Ticker.of(progress, time_limit)
    table = as_table(data, weights)
    table.position(target)
    away = [drop] if isinstance(drop, str) else list(drop)
    table, no_variables = without_identifiers(
        table.without(away) if away else table, [target, *keep]
    )
    columns = columns_of(table, target)
    recipes = recipes_for(columns, model, parameters, numbers, selective, k, n_states)
    work = _Work(columns, seed_or_fresh(seed), folds, ticker)
    few = n_cases(columns.table) < ENOUGH
    notes = telling(columns)
    if few:
        notes.append(f"fewer than {ENOUGH} cases: too few to compare models or to judge one")
    trials = [] if few else work.trials(recipes, strength, known, heard)
    best = work.best(trials)
    recipe = recipes[0] if best is None else best.recipe
    fit = work.fit(recipe, strength if best is None or strength is not None else best.strength)
    judgement: Judgement | None = None
    worth: tuple[Importance, ...] = ()
    if judge and not few:
        judgement, worth = judge_fit(
            columns, recipe, fit, best, work.parts, folds, work.seed, ticker
        )
    classifier = Classifier(fit.network, target)
    unused = tuple(name for name in columns.names if name not in classifier.predictors)
    return LearnedClassifier(
        classifier, recipe, fit.strength, fit.structure, tuple(trials), judgement, worth,
        (*no_variables, *unused), columns.n_rows, table.n_rows - columns.n_rows, work.seed,
        ticker.reason or "converged", tuple(notes),
    )  # fmt: skip


def telling(columns: Columns) -> list[str]:
    """A sentence for every discrete predictor that says the class outright."""
    found = []
    for name in columns.discrete:
        cells = columns.codes(name)
        pairs = np.unique(cells * columns.n_classes + columns.classes)
        states = np.unique(cells)
        if len(pairs) == len(states) and len(states) <= columns.n_rows / 2:
            found.append(
                f"{name!r} determines {columns.target.name!r} in every row; if it is not known "
                "before the class is, leave it out"
            )
    return found


def _as_good(trial: Trial, best: Trial) -> bool:
    """Whether it is behind the best by less than a part of the standard error of that."""
    if trial.losses is None or best.losses is None:
        return trial is best
    behind = trial.losses - best.losses
    return float(behind.mean()) <= TIE * float(behind.std()) / len(behind) ** 0.5


@dataclass
class _Work:
    """What the steps of learning share."""

    columns: Columns
    seed: int
    n_folds: int
    ticker: Ticker
    parts: Folds | None = None

    def trials(
        self,
        recipes: Sequence[Recipe],
        strength: float | None,
        known: Mapping[Recipe, Trial] | None,
        heard: Callable[[Trial], object] | None,
    ) -> list[Trial]:
        """The recipes tried, where there is something to choose."""
        climbed = recipes[0].parameters == "discriminative" and strength is None
        if len(recipes) == 1 and not climbed:
            return []
        self.parts = dealt(self.columns.at_most(CHOSEN_FROM, self.seed), self.n_folds, self.seed)
        if self.columns.n_rows > MANY:
            self.parts = self.parts.first(2)
        given = None if strength is None else [strength]
        return choose(
            recipes, self.parts, given, self.seed, self.ticker.part(share=0.7), known, heard
        )

    def best(self, trials: Sequence[Trial]) -> Trial | None:
        """The trial with the least log-loss, of those that saw all folds if any did.

        An earlier, simpler one is preferred where it is as good but for chance.
        """
        if self.parts is None or not trials:
            return None
        whole = [t for t in trials if t.n_folds == len(self.parts.parts)]
        best = min(whole or trials, key=lambda t: t.log_loss)
        return next((t for t in whole if _as_good(t, best)), best)

    def fit(self, recipe: Recipe, strength: float | None) -> Fit:
        """The recipe on all rows."""
        if strength is None and recipe.parameters == "discriminative":
            strength = UNCHOSEN
        given = None if strength is None else [strength]
        return next(iter(fits_of(recipe, self.columns, given, self.seed, self.ticker)))
