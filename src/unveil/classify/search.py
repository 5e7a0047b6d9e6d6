"""Structures chosen by the leave-one-out criterion: which predictors, which arcs.

The criterion is the sum over rows of log P(own class | row), each row predicted from the counts of
all others. It approximates the marginal conditional likelihood, which nobody can compute (the
course: "Supervised BN Learning"; Kontkanen et al. 1999). It splits into families, so that a change
of one family is tried by one pass over the rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unveil.classify.columns import Columns
from unveil.classify.families import class_scores, family_scores, left_out_scores
from unveil.classify.structure import Structure, fits, information, naive
from unveil.kernels.left_out import row_log_shares
from unveil.progress import Ticker

__all__ = ["conditional_search", "selected"]

Matrix = npt.NDArray[np.float64]
Vector = npt.NDArray[np.float64]

LEAST_GAIN = 1.0
"""A change that gains fewer nats than this over all rows is not made."""

LEAST_ERRORS = 2.0
"""Nor one that gains fewer standard errors than this: among many changes, some gain by chance."""

CANDIDATES = 8
"""So many parents are considered for a predictor: those that tell most about it given the class."""

MOST_SWEEPS = 10
"""At most so many times all changes are gone through."""


def selected(
    columns: Columns, structure: Structure, strength: float, ticker: Ticker | None = None
) -> Structure:
    """The structure without the predictors that it predicts better without, dropped one by one.

    Greedy backward elimination by the leave-one-out criterion. A dropped predictor is no parent
    either.
    """
    ticker = ticker or Ticker()
    state = State.of(columns, structure, strength)
    while len(state.structure.used) > 1:
        tried = [state.changed(state.structure.without(name)) for name in state.structure.used]
        best = max(tried, key=lambda s: s.value)
        if best.value <= state.value:
            break
        state = best
        if not ticker.offer("selecting predictors", len(state.structure.used), state.value):
            break
    return state.structure


def conditional_search(
    columns: Columns, strength: float, max_parents: int = 2, ticker: Ticker | None = None
) -> Structure:
    """A network around the class, searched for the left-out conditional likelihood.

    From naive Bayes: a predictor is dropped, turned into a parent of the class or taken in again,
    an arc between predictors is added or removed. All changes are tried, then made in the order of
    what they gain as long as they still do, and so again until nothing gains.
    """
    ticker = ticker or Ticker()
    state = State.of(columns, naive(columns), strength)
    near = _near(columns)
    for sweep in range(MOST_SWEEPS):
        changes = list(_changes(columns, state.structure, near, max_parents))
        gains: list[tuple[float, int]] = []
        for i, change in enumerate(changes):
            offer = state.changed(change(state.structure))
            if offer.is_better_than(state):
                gains.append((offer.value - state.value, i))
            if not ticker.keep_going():
                return state.structure
        before = state.value
        for _, i in sorted(gains, reverse=True):
            new = changes[i](state.structure)
            if _is_legal(columns, new, max_parents):
                offer = state.changed(new)
                state = offer if offer.is_better_than(state) else state
        if not ticker.offer("network around the class", sweep + 1, state.value):
            break
        if state.value == before:
            break
    return state.structure


@dataclass(frozen=True)
class State:
    """A structure, the left-out scores of every class, and log P(own class) of every row."""

    columns: Columns
    structure: Structure
    strength: float
    scores: Matrix
    rows: Vector

    @property
    def value(self) -> float:
        """The criterion: the sum over rows of log P(own class), in nats."""
        return float(self.rows @ self.columns.weights)

    def is_better_than(self, other: State) -> bool:
        """Whether it gains enough, and more than by chance."""
        weights = self.columns.weights
        apart = self.rows - other.rows
        gain = float(apart @ weights)
        spread = float(((apart - gain / weights.sum()) ** 2) @ weights)
        return gain > max(LEAST_GAIN, LEAST_ERRORS * math.sqrt(spread))

    @classmethod
    def of(cls, columns: Columns, structure: Structure, strength: float) -> State:
        """The state of a structure, from scratch."""
        scores = left_out_scores(columns, structure, strength)
        nothing, rows = np.zeros_like(scores), np.empty(columns.n_rows)
        row_log_shares(scores, nothing, nothing, columns.classes, rows)
        return cls(columns, structure, strength, scores, rows)

    def changed(self, structure: Structure) -> State:
        """The state of another structure, from what differs."""
        plus, minus = np.zeros_like(self.scores), np.zeros_like(self.scores)
        old, new = self.structure, structure
        if old.class_parents != new.class_parents:
            plus += class_scores(self.columns, new.class_parents, self.strength)
            minus += class_scores(self.columns, old.class_parents, self.strength)
        for name in {*old.parents, *new.parents}:
            if old.parents.get(name) == new.parents.get(name):
                continue
            if name in new.parents:
                plus += family_scores(self.columns, name, new.parents[name], self.strength)
            if name in old.parents:
                minus += family_scores(self.columns, name, old.parents[name], self.strength)
        rows = np.empty(self.columns.n_rows)
        row_log_shares(self.scores, plus, minus, self.columns.classes, rows)
        return State(self.columns, new, self.strength, self.scores + plus - minus, rows)


@dataclass(frozen=True)
class Change:
    """A change of a structure: what becomes of one predictor, or of one arc."""

    kind: str
    name: str
    parent: str = ""

    def __call__(self, structure: Structure) -> Structure:
        """The structure after the change; itself where there is nothing to change."""
        return _KINDS[self.kind](structure, self.name, self.parent)


def _drop(structure: Structure, name: str, _: str) -> Structure:
    return structure.without(name)


def _take_in(structure: Structure, name: str, _: str) -> Structure:
    above = tuple(p for p in structure.class_parents if p != name)
    return Structure({**structure.parents, name: structure.parents.get(name, ())}, above)


def _above(structure: Structure, name: str, _: str) -> Structure:
    rest = {n: ps for n, ps in structure.parents.items() if n != name}
    return Structure(rest, (*(p for p in structure.class_parents if p != name), name))


def _add(structure: Structure, name: str, parent: str) -> Structure:
    own = structure.parents.get(name, ())
    return structure if parent in own else structure.with_parents(name, (*own, parent))


def _remove(structure: Structure, name: str, parent: str) -> Structure:
    if name not in structure.parents:
        return structure
    return structure.with_parents(name, [p for p in structure.parents[name] if p != parent])


_KINDS = {"drop": _drop, "take in": _take_in, "above": _above, "add": _add, "remove": _remove}


def _changes(
    columns: Columns, structure: Structure, near: dict[str, list[str]], max_parents: int
) -> Iterator[Change]:
    """Every change that leads to another legal structure."""
    for name in columns.names:
        kinds = ["drop", "take in", "above"]
        offers = [Change(kind, name) for kind in kinds]
        offers += [Change("add", name, other) for other in near.get(name, ())]
        offers += [Change("remove", name, p) for p in structure.parents.get(name, ())]
        for change in offers:
            new = change(structure)
            if new != structure and _is_legal(columns, new, max_parents):
                yield change


def _is_legal(columns: Columns, structure: Structure, max_parents: int) -> bool:
    """Not too many parents, no table too large, no cycle, and somebody has a say."""
    if not structure.used or len(structure.class_parents) > max_parents + 1:
        return False
    if any(n in structure.parents for n in structure.class_parents):
        return False
    if any(n not in columns.discrete for n in structure.class_parents):
        return False
    if not fits(columns, None, structure.class_parents):
        return False
    for name, parents in structure.parents.items():
        if len(parents) > max_parents or not fits(columns, name, parents):
            return False
    return structure.is_acyclic


def _near(columns: Columns) -> dict[str, list[str]]:
    """The predictors that tell most about each one given the class, as its possible parents."""
    names = columns.discrete
    if len(names) < 2:
        return {}
    between, _ = information(columns)
    order = np.argsort(-between, axis=1, kind="stable")
    return {
        name: [names[j] for j in order[i] if j != i][:CANDIDATES] for i, name in enumerate(names)
    }
