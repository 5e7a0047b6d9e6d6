"""Probabilistic K-means, and the completion of the data as a criterion (`003`: mixtures).

K-means in its probabilistic form builds a model from the rows with their classes, gives every row
the class that is most probable under it, and repeats. The classes it ends with are a completion
C^n of the data; max over C^n of P(X^n, C^n | M) stands for P(X^n | M), which nobody can sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from unveil.model.fit import table_from_counts
from unveil.model.network import Network
from unveil.model.prior import DirichletPrior
from unveil.statistics.counting import counts_at, joint_counts
from unveil.table.core import Table
from unveil.table.variable import Variable

__all__ = ["Completed", "completed_by", "k_means"]

Labels = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]
ROUNDS = 100


@dataclass(frozen=True, eq=False)
class Completed:
    """A class for every row, the mixture built from that, and log P(X^n, C^n | M) in nats.

    The last is the marginal likelihood of the rows together with their classes under the prior
    (Eq. 2.15); it says how good the completion is whatever the parameters.
    """

    labels: Labels
    network: Network
    log_probability: float
    n_rounds: int


def k_means(
    table: Table,
    root: Variable,
    prior: DirichletPrior,
    seed: int | np.random.Generator | None = None,
) -> Completed:
    """Probabilistic K-means from a random clustering of the rows.

    1. Start with random classes. 2. Build a model from rows and classes: posterior means under
    `prior`. 3. Give each row its most probable class. 4. Go to 2, until nothing changes.

    >>> from unveil import EquivalentSampleSize, datasets
    >>> rows = datasets.table("college_plans")
    >>> h = Variable("h", [0, 1], hidden=True)
    >>> found = k_means(rows, h, EquivalentSampleSize(1), seed=1)
    >>> found.network.names[0], sorted(set(found.labels.tolist()))
    ('h', [0, 1])
    """
    generator = np.random.default_rng(seed)
    return _repeated(table, root, prior, generator.integers(root.n_states, size=table.n_rows))


def completed_by(network: Network, root: str, table: Table, prior: DirichletPrior) -> Completed:
    """The completion that begins with each row's most probable class under a mixture.

    >>> from unveil import EquivalentSampleSize, datasets, latent_classes
    >>> rows = datasets.table("college_plans")
    >>> found = latent_classes(rows, 2, n_starts=2, seed=1)
    >>> completed_by(found.network, "class", rows, EquivalentSampleSize(1)).log_probability < 0
    True
    """
    labels = network.posterior(table, of=root)[root].argmax(axis=1)
    return _repeated(table, network.variable(root), prior, labels.astype(np.int64))


def _repeated(table: Table, root: Variable, prior: DirichletPrior, labels: Labels) -> Completed:
    """K-means from these labels on; the best completion on the way, by what it is worth."""
    best: Completed | None = None
    for n_rounds in range(1, ROUNDS + 1):
        counts = _counts(table, root, labels)
        network = _model(table, root, counts, prior)
        worth = _log_marginal(table, root, counts, prior)
        if best is None or worth > best.log_probability:
            best = Completed(labels, network, worth, n_rounds)
        if root.n_states == 1:
            break
        after = _most_probable(table, network, root)
        if (after == labels).all():
            break
        labels = after
    assert best is not None
    return best


def _counts(table: Table, root: Variable, labels: Labels) -> list[Numbers]:
    """S[class], then S[class, x] of every column, over the rows that show it."""
    weights = table.row_weights
    found: list[Numbers] = [counts_at(labels, weights, root.n_states)]
    for variable in table.variables:
        shown = ~table.missing(variable.name)
        columns = [labels[shown], table.column(variable.name)[shown]]
        found.append(joint_counts(columns, [root.n_states, variable.n_states], weights[shown]))
    return found


def _model(
    table: Table, root: Variable, counts: Sequence[Numbers], prior: DirichletPrior
) -> Network:
    own, *columns = counts
    cpds = [table_from_counts(root, [], own, prior)]
    for variable, of_column in zip(table.variables, columns, strict=True):
        cpds.append(table_from_counts(variable, [root], of_column, prior))
    return Network(cpds)


def _log_marginal(
    table: Table, root: Variable, counts: Sequence[Numbers], prior: DirichletPrior
) -> float:
    """The log of P(C^n) P(X^n | C^n): a Dirichlet-multinomial per class and column (Eq. 2.15)."""
    families = [(root, []), *((variable, [root]) for variable in table.variables)]
    total = 0.0
    for (variable, parents), n in zip(families, counts, strict=True):
        alpha = np.broadcast_to(prior.pseudo_counts(variable, parents), n.shape)
        total += float((gammaln(n + alpha) - gammaln(alpha)).sum())
        sums, prior_sums = n.sum(axis=-1), alpha.sum(axis=-1)
        total -= float((gammaln(sums + prior_sums) - gammaln(prior_sums)).sum())
    return total


def _most_probable(table: Table, network: Network, root: Variable) -> Labels:
    """The most probable class of every row: max over c of P(c) times P(x | c) of what is shown."""
    logs = np.log(network.cpd(root.name).values)[None, :].repeat(table.n_rows, axis=0)  # type: ignore[attr-defined]
    for variable in table.variables:
        shown = ~table.missing(variable.name)
        own = np.log(network.cpd(variable.name).values)  # type: ignore[attr-defined]
        logs[shown] += own.T[table.column(variable.name)[shown]]
    return logs.argmax(axis=1).astype(np.int64)
