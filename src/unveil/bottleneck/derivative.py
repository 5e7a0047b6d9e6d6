"""How the fixed point moves: products with the whole derivative of the two steps, never the matrix.

One E-step and M-step at gamma take log theta and log Q(t) to new ones; where they lead back to
where they began is the fixed point that the continuation follows (thesis 6.3, 6.5.3). A change of
log theta changes log P(x[y], t) by a sum over families (Eq. 6.20), hence Q(t | y) (Eqs. 6.22 to
6.25), hence the expected counts, hence the parameters (Eqs. 6.18, 6.19). Each is one pass over the
rows, so a product with the derivative costs about two E-steps, and the direction of the path,

    d = J d + b,  J the derivative of both steps, b that by gamma alone,

is found from a few such products (Krylov). The thesis keeps the diagonal of its matrix only
(`diagonal_direction`); whether the whole pays is measured in benchmarks/ib_em.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse.linalg import LinearOperator, gmres

from unveil.bottleneck.lagrangian import Bottleneck, Completed, Parameters

__all__ = ["Direction", "Tangent", "diagonal_direction", "whole_direction"]

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]

NO_COUNT = 1e-100
"""Expected counts below this are those of a state that EM has driven out."""


@dataclass(frozen=True)
class Direction:
    """How the fixed point moves with gamma: d log theta, d log Q(t), and d I(T; Y), by d gamma."""

    tables: Vector
    common: Vector
    information: float

    def moved(self, parameters: Parameters, problem: Bottleneck, length: float) -> Parameters:
        """The parameters at gamma + length, as far as the direction tells."""
        tables = parameters.tables * np.exp(np.clip(length * self.tables, -3.0, 3.0))
        common = parameters.common * np.exp(np.clip(length * self.common, -3.0, 3.0))
        return Parameters(problem.layout.normalised(tables), common / common.sum())


class Tangent:
    """The linear part of both steps at one point, from the posteriors kept there.

    `logs` are log P(x[y], t) of every part's rows, (n_rows, n_hidden).
    """

    def __init__(
        self, problem: Bottleneck, parameters: Parameters, completed: Completed, gamma: float
    ) -> None:
        self.problem, self.gamma = problem, gamma
        self.parameters, self.completed = parameters, completed
        layout, rows = problem.layout, problem.rows
        counts = completed.counts + problem.alpha
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            self._per_count = np.where(counts > NO_COUNT, 1.0 / counts, 0.0)
            sums = layout.row_sums(counts)
            self._per_row = np.where(sums > NO_COUNT, 1.0 / sums, 0.0)
        unseen = completed.mass[layout.size : rows.joint_first]
        self._unseen = np.repeat(unseen, layout._row_length) * parameters.tables

    # What rows see -----------------------------------------------------------------------------

    def row_changes(self, tables: Vector, common: Vector) -> list[Matrix]:
        """d log Q(t, m | y), but for a term that is the same for all t, of changed parameters."""
        rows = self.problem.rows
        longer = rows.longer(tables)
        found = []
        for part, q in zip(rows.parts, self.completed.posteriors, strict=True):
            each = part.collected(longer)
            seen = self._over_lacking(each, q)
            ahead = (1.0 - self.gamma) * common[None, :, None]
            change = ahead + each.reshape(seen.shape[0], rows.n_hidden, -1)
            change -= (1.0 - self.gamma) * seen[:, :, None]
            found.append(change.reshape(q.shape))
        return found

    def _over_lacking(self, each: Matrix, q: Matrix) -> Matrix:
        """The mean over what a row lacks besides, for every hidden configuration."""
        n_hidden = self.problem.rows.n_hidden
        if q.shape[1] == n_hidden:
            return each
        wide, values = (x.reshape(len(q), n_hidden, -1) for x in (q, each))
        mass = wide.sum(axis=2)
        up = (wide * values).sum(axis=2)
        return np.divide(up, mass, out=np.zeros_like(up), where=mass > 0)

    def by_gamma(self) -> list[Matrix]:
        """d log Q(t | y) / d gamma (Eq. 6.25): log P(x[y], t) - log Q(t), less its mean."""
        rows = self.problem.rows
        with np.errstate(divide="ignore"):
            logs = rows.longer(np.log(self.parameters.tables))
            common = np.log(self.parameters.common)
        found = []
        for part, q in zip(rows.parts, self.completed.posteriors, strict=True):
            each = part.collected(logs).reshape(len(q), rows.n_hidden, -1)
            top = each.max(axis=2, keepdims=True)
            top = np.where(np.isfinite(top), top, 0.0)
            with np.errstate(divide="ignore"):
                seen = np.log(np.exp(each - top).sum(axis=2)) + top[:, :, 0]
            change = np.repeat((seen - common)[:, :, None], each.shape[2], axis=2)
            found.append(change.reshape(q.shape))
        return self.centred(found)

    def centred(self, changes: list[Matrix]) -> list[Matrix]:
        """The changes less their mean over each row, so that Q(. | y) still adds up to one."""
        found = []
        for q, change in zip(self.completed.posteriors, changes, strict=True):
            finite = np.where(q > 0, change, 0.0)
            found.append(finite - (q * finite).sum(axis=1, keepdims=True))
        return found

    # What the parameters become ----------------------------------------------------------------

    def counts(self, changes: list[Matrix]) -> Vector:
        """The change of expected counts, over tables and their tail, of changed log Q(t | y)."""
        rows = self.problem.rows
        total = np.zeros(rows.size)
        for part, q, change in zip(rows.parts, self.completed.posteriors, changes, strict=True):
            total += part.counted(q * change * part.weights[:, None])
        return total

    def spread(self, counts: Vector, tables: Vector) -> Vector:
        """The same of all cells; cells of unseen children move with their tables, too."""
        rows = self.problem.rows
        return rows.spread(counts, self.parameters.tables) + self._unseen * tables

    def estimated(self, counts: Vector) -> Vector:
        """d log theta of changed counts (Eqs. 6.18, 6.19)."""
        layout = self.problem.layout
        sums = layout.row_sums(counts) * self._per_row
        return counts * self._per_count - np.repeat(sums, layout._row_length)

    def stepped(self, changes: list[Matrix], tables: Vector) -> tuple[Vector, Vector]:
        """d log theta and d log Q(t) after both steps, of changed log Q(t | y)."""
        problem = self.problem
        counts = self.counts(changes)
        joint = counts[problem.rows.joint_first :] / problem.n_cases
        common = problem.compression.response(self.completed.joint, joint)
        return self.estimated(self.spread(counts, tables)), common

    def product(self, tables: Vector, common: Vector) -> tuple[Vector, Vector]:
        """The whole derivative of both steps times a change of log theta and log Q(t)."""
        changes = self.centred(self.row_changes(tables, common))
        return self.stepped(changes, tables)

    def information(self, changes: Sequence[Matrix]) -> float:
        """The change of I(T; Y) (Lemma 6.5.2): sum of Q(y) dQ(t | y) log [Q(t | y) / Q(t)]."""
        rows, total = self.problem.rows, 0.0
        with np.errstate(divide="ignore"):
            common = np.log(self.completed.joint)
        for part, q, change in zip(rows.parts, self.completed.posteriors, changes, strict=True):
            wide = q.reshape(len(q), rows.n_hidden, -1)
            own = wide.sum(axis=2)
            moved = (q * change).reshape(wide.shape).sum(axis=2)
            with np.errstate(divide="ignore", invalid="ignore"):
                surprise = np.where(own > 0, np.log(own) - common, 0.0)
            total += float(part.weights @ (moved * surprise).sum(axis=1))
        return total / self.problem.n_cases


def whole_direction(tangent: Tangent, tolerance: float = 0.03, most: int = 12) -> Direction:
    """The direction from the whole derivative: d = J d + b, by GMRES to `tolerance`."""
    size = tangent.problem.layout.size
    alone = tangent.by_gamma()
    zero = np.zeros(size)
    b = np.concatenate(tangent.stepped(alone, zero))

    def left(d: Vector) -> Vector:
        return d - np.concatenate(tangent.product(d[:size], d[size:]))

    operator = LinearOperator((b.size, b.size), matvec=left, dtype=np.float64)
    found, _ = gmres(operator, b, rtol=tolerance, restart=most, maxiter=1)
    tables, common = found[:size], found[size:]
    moved = tangent.centred(tangent.row_changes(tables, common))
    changes = [x + y for x, y in zip(moved, alone, strict=True)]
    return Direction(tables, common, tangent.information(changes))


def diagonal_direction(tangent: Tangent) -> Direction:
    """The thesis' direction: of the derivative of every Q(t | y), its own entry only (Eq. 6.24).

    With D(y, t) the sum over families of 1 / N(x, u, t) - 1 / N(u, t) at row y (Eq. 6.21) and
    h = w_y Q(t | y) (1 - Q(t | y)) [(1 - gamma) / Q(t) + gamma D(y, t)], d log Q(t | y) by d gamma
    is (Eq. 6.25) / (1 - h). The thesis writes -1 for the derivative of -log Q(t | y), which is
    -1 / Q(t | y).
    """
    problem, completed = tangent.problem, tangent.completed
    own = tangent._per_count - np.repeat(tangent._per_row, problem.layout._row_length)
    longer = problem.rows.longer(np.where(tangent._per_count > 0, own, 0.0))
    masses = completed.joint * problem.n_cases
    each = np.divide(1.0, masses, out=np.zeros_like(masses), where=masses > 0)
    changes = []
    alone = tangent.by_gamma()
    for part, q, change in zip(problem.rows.parts, completed.posteriors, alone, strict=True):
        lacking = q.shape[1] // len(each)
        spread = (1 - tangent.gamma) * np.repeat(each, lacking) + tangent.gamma * part.collected(
            longer
        )
        h = part.weights[:, None] * q * (1 - q) * spread
        changes.append(change / np.maximum(1.0 - h, 0.05))
    changes = tangent.centred(changes)
    tables, common = tangent.stepped(changes, np.zeros(problem.layout.size))
    return Direction(tables, common, tangent.information(changes))
