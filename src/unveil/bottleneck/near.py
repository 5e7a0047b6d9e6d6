"""One hidden variable of a forest and what hangs on it, while all other tables stay as they are.

Whether a hidden variable's states should be told apart in another way is tried often, and most
tries come to nothing. They need no walk through the whole forest: what the rest of a row says comes
over the arcs of the variable, as messages that do not change while other tables do not. With m the
message from above and l_c that from below the hidden child c,

    Q(t | y)  prop. to  [sum over p of m(y, p) P(t | p)]
                        times prod over hidden children of [sum over c of P(c | t) l_c(y, c)]
                        times prod over own columns of P(x[y] | t)

(all tables tempered as in `forest.py`), so that a step costs as much as the columns of this one
variable. -L is that of the whole forest, and it never falls: these are EM's two steps for a part of
the parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from unveil.bottleneck.forest import Forest
from unveil.bottleneck.mean_field import FieldParameters
from unveil.em.steps import log_prior
from unveil.kernels.bottleneck_field import SILENT, FieldPlan, field_collected, field_counted

__all__ = ["Messages", "Near"]

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]

LEAST = 1e-300
"""What a row's probability is at least, if nothing could have made it."""


class _Spot(NamedTuple):
    """A hidden variable of the forest: its number, its parent's, those of its hidden children."""

    v: int
    parent: int
    below: tuple[int, ...]


class Messages:
    """What every hidden variable of a forest is told by its neighbours, at one point."""

    def __init__(self, problem: Forest, parameters: FieldParameters, gamma: float) -> None:
        self.problem, self.gamma = problem, gamma
        self.mixed = problem.mixed(parameters, gamma)
        layout, order = problem.layout, problem.model.hidden
        hidden = set(order)
        parent = {v: next(iter(layout.families[v][:-1]), -1) for v in order}
        below = {v: tuple(c for c in order if parent[c] == v) for v in order}
        self.places = {v: _Spot(v, parent[v], below[v]) for v in order}
        self.plans = {v: _own_columns(problem.plan, v, hidden) for v in order}
        tables = layout.split(self.mixed)
        logs = _logs(self.mixed)
        self._own = {v: _exp(self.leaf_logs(v, logs))[0] for v in order}
        self.up: dict[int, Matrix] = {}
        message: dict[int, Matrix] = {}
        for v in reversed(order):
            self.up[v] = _scaled(_product([self._own[v], *(message[c] for c in below[v])]))
            if parent[v] >= 0:
                message[v] = self.up[v] @ tables[v].T
        self.above: dict[int, Matrix | None] = {}
        down: dict[int, Matrix] = {}
        for v in order:
            p = parent[v]
            if p < 0:
                self.above[v], down[v] = None, tables[v][None, :]
                continue
            others = [message[c] for c in below[p] if c != v]
            told = _scaled(_product([self._own[p] * down[p], *others]))
            self.above[v], down[v] = told, told @ tables[v]

    def leaf_logs(self, v: int, logs: Vector) -> Matrix:
        """The sum of the logs of a hidden variable's own columns, (n_rows, n_states)."""
        codes = self.problem.codes
        out = np.empty((codes.shape[1], int(self.problem.plan.n_states[v])))
        field_collected(self.plans[v], logs, v, codes, NOTHING, out)
        return out

    @cached_property
    def log_z(self) -> Vector:
        """log Z of every row, by a walk through the whole forest."""
        return self.problem.model.log_likelihoods(self.mixed, self.problem.codes)


class Near:
    """EM's two steps for the tables of hidden variable `i` and its children."""

    def __init__(self, messages: Messages, i: int) -> None:
        problem = messages.problem
        self._problem, self._messages = problem, messages
        self._place = messages.places[problem.places[i]]
        layout, v = problem.layout, self._place.v
        inside = np.zeros(layout.size, bool)
        touched = [f for f, family in enumerate(layout.families) if v in family]
        for f in touched:
            inside[layout.first[f] : layout.first[f + 1]] = True
        self._inside = inside
        self._links = problem._links[inside[problem._links]]
        self._leaves = [f for f in touched if f != v and f not in self._place.below]
        self._gaps = [f for f in self._leaves if (problem.codes[f] == SILENT).any()]
        self._rest = messages.log_z - self._passed(messages.mixed)[0]

    def step(self, parameters: FieldParameters, gamma: float) -> tuple[FieldParameters, float]:
        """Both steps, and -L of the whole forest at the tables given."""
        problem, inside = self._problem, self._inside
        layout = problem.layout
        log_z, post, parts = self._passed(problem.mixed(parameters, gamma), counting=True)
        counts = np.zeros(layout.size)
        field_counted(
            self._messages.plans[self._place.v], post, self._place.v, problem.codes, NOTHING, counts
        )
        total = post.sum(axis=0)
        for f in self._gaps:  # what is missing is expected as the table says
            own = slice(layout.first[f], layout.first[f + 1])
            shown = counts[own].reshape(layout.shapes[f])
            lacking = np.maximum(total - shown.sum(axis=1), 0.0)
            counts[own] += (lacking[:, None] * parameters.tables[own].reshape(shown.shape)).ravel()
        for f, part in parts:
            counts[layout.first[f] : layout.first[f + 1]] = part.ravel()
        tables = np.where(
            inside, layout.estimated(counts, problem.prior, problem.alpha), parameters.tables
        )
        common = np.where(inside, tables, parameters.common)
        common[self._links] = layout.normalised(counts)[self._links]
        objective = float(problem.weights @ (log_z + self._rest))
        objective += gamma * log_prior(parameters.tables, problem.alpha)
        return FieldParameters(tables, common, parameters.q), objective

    def _passed(
        self, mixed: Vector, counting: bool = False
    ) -> tuple[Vector, Matrix, list[tuple[int, Matrix]]]:
        """log Z of every row but for what does not change, posteriors times weights, and counts.

        The counts are those of arcs between hidden variables, with the family's number.
        """
        told, place = self._messages, self._place
        tables = self._problem.layout.split(mixed)
        own, top = _exp(told.leaf_logs(place.v, _logs(mixed)))
        above = told.above[place.v]
        first = tables[place.v][None, :] if above is None else above @ tables[place.v]
        below = [told.up[c] @ tables[c].T for c in place.below]
        joint = _product([own * first, *below])
        z = np.maximum(joint.sum(axis=1), LEAST)
        log_z = np.log(z) + top
        if not counting:
            return log_z, joint, []
        share = (self._problem.weights / z)[:, None]
        post = joint * share
        if above is None:
            parts = [(place.v, post.sum(axis=0))]
        else:
            parts = [(place.v, tables[place.v] * (above.T @ (share * _product([own, *below]))))]
        for j, c in enumerate(place.below):
            others = _product([own * first, *below[:j], *below[j + 1 :]])
            parts.append((c, tables[c] * ((share * others).T @ told.up[c])))
        return log_z, post, parts


NOTHING = np.empty((0, 0))
"""Factors of other variables, where a family has none."""


def _own_columns(plan: FieldPlan, v: int, hidden: set[int]) -> FieldPlan:
    """The plan in which v touches the families of its own columns only."""
    touched = plan.touch[plan.touch_first[v] : plan.touch_first[v + 1]]
    last = plan.member[plan.member_first[touched + 1] - 1]
    kept = touched[[int(m) not in hidden for m in last]]
    first = np.zeros_like(plan.touch_first)
    first[v + 1 :] = len(kept)
    return plan._replace(touch=kept, touch_first=first)


def _logs(tables: Vector) -> Vector:
    with np.errstate(divide="ignore"):
        return np.log(tables)


def _exp(logs: Matrix) -> tuple[Matrix, Vector]:
    """The exponential of every row's logs less their largest, and that."""
    top = logs.max(axis=1)
    return np.exp(logs - top[:, None]), top


def _scaled(values: Matrix) -> Matrix:
    """Every row divided by its sum."""
    return values / np.maximum(values.sum(axis=1, keepdims=True), LEAST)


def _product(factors: Sequence[Matrix]) -> Matrix:
    found = factors[0]
    for factor in factors[1:]:
        found = found * factor
    return found
