"""The information in the rows about a mixture's parameters (Louis 1982).

In the natural parameters (logits) the score of a row whose class is c is e_c - pi for the shares
and, in the tables of class c, e_x - p for every column it shows. The information in rows whose
classes nobody saw is

    I = E[complete information] - E[s s'] + E[s] E[s]',

expectations over the rows' posteriors. The last term alone, summed over rows, is the outer product
of gradients, which is simpler and holds where the model does (Linzer and Lewis 2011).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from unveil.em.mixture.fit import table_values
from unveil.em.mixture.residuals import one_hot
from unveil.errors import SizeError
from unveil.infer.posterior import posterior
from unveil.model.network import Network
from unveil.model.prior import DirichletPrior
from unveil.table.core import Table

__all__ = ["Layout", "Method", "information"]

MOST_WORK = 5e10
"""Rows times squared parameters; more would take many seconds."""
BLOCK = 1 << 23
"""So many entries of the matrix of scores are worked on at a time."""

Method = Literal["observed", "outer product"]
Matrix = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]


def information(
    network: Network,
    name: str,
    rows: Table,
    prior: DirichletPrior | None = None,
    method: Method = "observed",
) -> tuple[Matrix, Matrix]:
    """The information in the rows about all logits, and the expected cases behind each of them.

    The logits are those of the shares, then, class by class, those of every column: shape (d, d)
    and (d,). No logit of a row of a table is fixed, so the matrix is singular as it stands.
    """
    made = Layout.of(network, name, rows)
    k, m, d = made.k, made.width, made.theta.size
    if float(rows.n_rows) * d * d > MOST_WORK:
        raise SizeError(
            f"standard errors of {d:,} probabilities from {rows.n_rows:,} different rows would "
            "take too long; take fewer classes or columns"
        )
    pi, tables = made.theta[:k], made.theta[k:].reshape(k, m)
    found = np.zeros((d, d))
    cases = np.zeros(d)
    step = max(1, BLOCK // d)
    for begin in range(0, rows.n_rows, step):
        block = rows.take(np.arange(begin, min(begin + step, rows.n_rows)))
        classes = posterior(network, block, of=name)[name]
        weights = block.row_weights
        ones, shown = one_hot(block), _shown(block)
        mean = np.empty((block.n_rows, d))
        mean[:, :k] = classes - pi
        for c in range(k):
            own = slice(k + c * m, k + (c + 1) * m)
            score = ones - shown * tables[c]
            each = weights * classes[:, c]
            cases[own] += each @ ones
            mean[:, own] = classes[:, c, None] * score
            if method == "observed":
                _add_complete(found, made, c, each, score, shown)
        cases[:k] += weights @ classes
        found += (mean * weights[:, None]).T @ mean
    if prior is not None:
        _add_prior(found, made, network, prior, cases)
    return found, cases


@dataclass(frozen=True)
class Layout:
    """Where the probabilities of a mixture lie in one vector: shares, then class by class."""

    root: str
    columns: tuple[str, ...]
    sizes: tuple[int, ...]
    theta: Matrix
    k: int

    @staticmethod
    def of(network: Network, name: str, rows: Table) -> Layout:
        """The layout of a mixture over the columns of `rows`."""
        tables = [table_values(network, column) for column in rows.names]
        pi = table_values(network, name)
        theta = np.concatenate([pi, np.concatenate(tables, axis=1).ravel()])
        return Layout(name, rows.names, tuple(t.shape[1] for t in tables), theta, len(pi))

    @property
    def width(self) -> int:
        """How many states all columns have together."""
        return sum(self.sizes)

    def multinomials(self) -> list[Places]:
        """The places of the shares, and of every row of every column's table."""
        ends = self.k + np.cumsum(np.tile(self.sizes, self.k))
        return np.split(np.arange(self.theta.size), [self.k, *ends[:-1]])

    def split(self, vector: Matrix) -> tuple[Matrix, dict[str, Matrix]]:
        """The part of the shares, and that of every column as a table of shape (k, states)."""
        tables = np.split(vector[self.k :].reshape(self.k, -1), np.cumsum(self.sizes)[:-1], axis=1)
        return vector[: self.k], dict(zip(self.columns, tables, strict=True))


def _add_complete(
    found: Matrix, made: Layout, c: int, each: Matrix, score: Matrix, shown: Matrix
) -> None:
    """E[complete information] - E[s s'] of class c, whose rows count `each` of their weight."""
    k, m = made.k, made.width
    pi, own = made.theta[:k], slice(k + c * m, k + (c + 1) * m)
    root = -pi
    root[c] += 1
    total = float(each.sum())
    found[:k, :k] += total * (_curvature(pi) - np.outer(root, root))
    across = np.outer(root, each @ score)
    found[:k, own] -= across
    found[own, :k] -= across.T
    found[own, own] -= (score * each[:, None]).T @ score
    n_shown = each @ shown
    for place in made.multinomials()[1 + c * len(made.sizes) : 1 + (c + 1) * len(made.sizes)]:
        # Every state of a column counts the rows that show the column.
        n = n_shown[place[0] - own.start]
        found[np.ix_(place, place)] += n * _curvature(made.theta[place])


def _add_prior(
    found: Matrix, made: Layout, network: Network, prior: DirichletPrior, cases: Matrix
) -> None:
    """The curvature of sum alpha log theta, and the pseudo-counts beside the cases."""
    parts = []
    for cpd in (network.cpd(made.root), *(network.cpd(column) for column in made.columns)):
        shape = tuple(v.n_states for v in (*cpd.parents, cpd.variable))
        parts.append(np.broadcast_to(prior.pseudo_counts(cpd.variable, cpd.parents), shape))
    alpha = np.concatenate([parts[0], np.concatenate(parts[1:], axis=1).ravel()])
    cases += alpha
    for place in made.multinomials():
        found[np.ix_(place, place)] += alpha[place].sum() * _curvature(made.theta[place])


def _curvature(p: Matrix) -> Matrix:
    """Minus the second derivatives of log p[x] in the logits: diag(p) - p p'."""
    return np.asarray(np.diag(p) - np.outer(p, p))


def _shown(rows: Table) -> Matrix:
    """For every state of every column, whether the row shows the column."""
    seen = [np.repeat(~rows.missing(v.name)[:, None], v.n_states, axis=1) for v in rows.variables]
    return np.concatenate(seen, axis=1).astype(np.float64)
