"""Parameters that maximise the conditional likelihood of the class (the course: "Optimizing the
conditional likelihood").

The class posterior of a naive Bayes or tree-augmented network is a softmax of sums of weights, one
for each cell of each family, so that log P(class | row) is concave in the weights (Roos et al.
2005): L-BFGS with exact gradients finds the one maximum. A Gaussian prior with precision
`strength` on every weight keeps it from running off. For naive Bayes this is logistic regression.

A weight stands for x with the class, and further ones for x with each of its parents and with all
of them, so that the prior draws a family towards the one with fewer parents. Numbers have a weight
for their standardised value and its square: those of a Gaussian whose mean and variance depend on
the class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.classify.columns import Columns
from unveil.classify.structure import Structure
from unveil.kernels.left_out import conditional_loss

__all__ = ["PRECISIONS", "Weights", "climb"]

Matrix = npt.NDArray[np.float64]

PRECISIONS = (30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03)
"""Precisions of the prior that are tried, the strictest first: each starts where the last ended."""

MOST_STEPS = 300
"""L-BFGS stops after so many steps."""

SQUARES = 10.0
"""The weights of squares are held so much tighter: variances differ less than means."""

INTERCEPT = 1e-8
"""The precision of the weights of the classes themselves: they are as good as free."""


@dataclass(frozen=True)
class Weights:
    """The weights of the classes, of the cells of every family and of every number.

    `tables[name]` has shape (n_classes, states of parents ..., states), as a log-table of the
    family; `slopes[name]` has a row for the standardised value and one for its square, columns are
    the classes; `scales[name]` are the mean and the deviation that standardise it.
    """

    intercepts: Matrix
    tables: dict[str, Matrix]
    slopes: dict[str, Matrix]
    scales: dict[str, tuple[float, float]]
    loss: float
    flat: Matrix


def climb(
    columns: Columns,
    structure: Structure,
    strength: float,
    start: Matrix | None = None,
    tolerance: float = 1e-6,
) -> Weights:
    """The weights with the highest conditional likelihood times prior.

    `start` is where to begin: `flat` of an earlier answer for the same columns and structure.
    L-BFGS ends when a step gains less than the part `tolerance` of the loss.
    """
    from scipy.optimize import minimize

    design = Design.of(columns, structure)
    k = columns.n_classes
    n_tables = design.n_weights * k
    precision = np.full((design.n_weights, k), float(strength))
    precision[0] = INTERCEPT
    stiffness = np.tile([strength, SQUARES * strength], design.numbers.shape[1] // 2)[:, None]

    def loss(flat: Matrix) -> tuple[float, Matrix]:
        tables, slopes = flat[:n_tables].reshape(-1, k), flat[n_tables:].reshape(-1, k)
        gradient = np.empty_like(flat)
        table_gradient = gradient[:n_tables].reshape(-1, k)
        slope_gradient = gradient[n_tables:].reshape(-1, k)
        value = conditional_loss(
            tables, slopes, design.places, design.numbers, columns.classes, columns.weights,
            table_gradient, slope_gradient,
        )  # fmt: skip
        value += 0.5 * float((precision * tables**2).sum() + (stiffness * slopes**2).sum())
        table_gradient += precision * tables
        slope_gradient += stiffness * slopes
        return value, gradient

    size = n_tables + design.numbers.shape[1] * k
    first = np.zeros(size) if start is None else start
    options = {"maxiter": MOST_STEPS, "maxcor": 20, "ftol": tolerance, "gtol": 1e-6}
    with _one_thread().limit(limits=1, user_api="blas"):
        found = minimize(loss, first, jac=True, method="L-BFGS-B", options=options)
    return design.read(columns, structure, found.x, float(found.fun))


@cache
def _one_thread() -> Any:
    """What keeps BLAS from spending its time on waking threads for short vectors."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@dataclass(frozen=True)
class Design:
    """Where each row's weights are: places in one table of all weights, and numbers beside it."""

    places: npt.NDArray[np.int64]
    numbers: Matrix
    starts: dict[tuple[str, tuple[str, ...]], int]
    scales: dict[str, tuple[float, float]]
    n_weights: int

    @classmethod
    def of(cls, columns: Columns, structure: Structure) -> Design:
        """The design of a structure over the rows."""
        places, numbers = [np.zeros(columns.n_rows, np.int64)], []
        starts: dict[tuple[str, tuple[str, ...]], int] = {}
        scales: dict[str, tuple[float, float]] = {}
        size = 1
        for name in structure.order:
            if columns.is_number(name):
                values = columns.values(name)
                scales[name] = _scale(values, columns.weights)
                z = np.nan_to_num((values - scales[name][0]) / scales[name][1])
                numbers += [z, _square(z)]
                continue
            for some in _subsets(structure.parents[name]):
                starts[name, some] = size
                place = np.zeros(columns.n_rows, np.int64)
                for member in (*some, name):
                    place = place * columns.size(member) + columns.codes(member)
                places.append(place + size)
                size += int(np.prod([columns.size(m) for m in (*some, name)]))
        stacked = np.array(numbers).T if numbers else np.zeros((columns.n_rows, 0))
        return cls(
            np.ascontiguousarray(np.array(places).T), np.ascontiguousarray(stacked), starts, scales,
            size,
        )  # fmt: skip

    def read(self, columns: Columns, structure: Structure, flat: Matrix, loss: float) -> Weights:
        """The weights by family."""
        k = columns.n_classes
        tables, slopes = np.split(flat, [self.n_weights * k])
        tables, slopes = tables.reshape(-1, k), slopes.reshape(-1, k)
        by_family: dict[str, Matrix] = {}
        for (name, some), start in self.starts.items():
            parents = structure.parents[name]
            shape = [columns.size(m) for m in (*some, name)]
            part = tables[start : start + int(np.prod(shape))].reshape(*shape, k)
            wide = [columns.size(p) if p in some else 1 for p in parents]
            part = np.moveaxis(part.reshape(*wide, shape[-1], k), -1, 0)
            whole = (k, *(columns.size(p) for p in parents), shape[-1])
            by_family[name] = by_family.get(name, np.zeros(whole)) + part
        lines = {name: slopes[2 * i : 2 * i + 2] for i, name in enumerate(self.scales)}
        return Weights(tables[0], by_family, lines, self.scales, loss, flat)


def _subsets(parents: Sequence[str]) -> list[tuple[str, ...]]:
    """All subsets of the parents, in their order, the empty one first."""
    sizes = range(len(parents) + 1)
    return list(chain.from_iterable(combinations(parents, size) for size in sizes))


def _scale(values: Matrix, weights: Matrix) -> tuple[float, float]:
    there = ~np.isnan(values) & (weights > 0)
    if not there.any():
        return 0.0, 1.0
    mean = float(np.average(values[there], weights=weights[there]))
    spread = float(np.average((values[there] - mean) ** 2, weights=weights[there]))
    return mean, spread**0.5 if spread > 0 else 1.0


def _square(z: Matrix) -> Matrix:
    """Half the square: its weight is then the precision that a class takes away."""
    result: Matrix = 0.5 * z * z
    return result
