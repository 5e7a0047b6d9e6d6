"""Are k classes better than k - 1 by more than chance? The bootstrap likelihood-ratio test.

Twice the gain in log-likelihood is not distributed as chi2 here: with one class fewer, parameters
of the larger model lie at the edge or mean nothing. So tables are drawn from the smaller model,
both models are fitted to each, and the gains seen there are what chance gives (McLachlan 1987;
Nylund, Asparouhov and Muthen 2007).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unveil.em.mixture.fit import MixtureSettings, fit_mixture
from unveil.errors import DataError
from unveil.model.network import Network
from unveil.model.prior import DirichletPrior
from unveil.progress import Progress, StopReason, Ticker
from unveil.records import Record
from unveil.table.core import Table, missing_code

__all__ = ["BootstrapTest", "bootstrap_test", "drawn_like"]

TOLERANCE = 1e-6
"""EM on drawn tables may stop this early: the gain is then exact to some thousandths of a nat."""


@dataclass(frozen=True)
class BootstrapTest(Record):
    """A test of `n_classes` against one fewer.

    `statistic` is twice the gain in log-likelihood, `samples` are the same in tables drawn from
    the model with one class fewer; `n_asked` says how many there were to be, `stopped` why it
    ended.
    """

    told: ClassVar = ("p_value",)

    n_classes: int
    statistic: float
    samples: tuple[float, ...]
    n_asked: int
    stopped: StopReason

    @property
    def p_value(self) -> float:
        """How often chance gives as much: (1 + number of samples that do) / (1 + samples).

        NaN if there was no time for a single sample.
        """
        if not self.samples:
            return float("nan")
        reach = sum(sample >= self.statistic - 1e-9 for sample in self.samples)
        return (1 + reach) / (1 + len(self.samples))

    @property
    def words(self) -> str:
        """The test in words, such as '3 classes against 2: 2 x gain 12.34, p = 0.010'."""
        gain = (
            f"{self.n_classes} classes against {self.n_classes - 1}: 2 x gain {self.statistic:.2f}"
        )
        if not self.samples:
            return f"{gain}, no sample was finished ({self.stopped})"
        n = f"{len(self.samples)} samples"
        if len(self.samples) < self.n_asked:
            n = f"{len(self.samples)} of {self.n_asked} samples ({self.stopped})"
        return f"{gain}, p = {self.p_value:.3f} from {n}"


def bootstrap_test(
    table: Table,
    fewer: Network,
    more: Network,
    name: str = "class",
    n_samples: int = 100,
    n_starts: int = 5,
    prior: DirichletPrior | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
    time_limit: float | None = None,
    max_iterations: int = 2000,
) -> BootstrapTest:
    """The bootstrap likelihood-ratio test of two mixtures fitted to a table.

    `fewer` and `more` are their networks with k - 1 and k classes, both with the hidden root
    `name` and fitted with the same `prior`. Each drawn table has the size and the gaps of the
    original. Too few starts make chance look weaker than it is. Asked to stop, it takes the
    samples done so far.

    >>> from unveil import datasets, latent_classes
    >>> plans = datasets.table("college_plans")
    >>> found = latent_classes(plans, n_classes=[1, 2], n_starts=2, seed=1)
    >>> bootstrap_test(plans, found[1].network, found[2].network, n_samples=4, seed=1).p_value
    0.2
    """
    k = more.variable(name).n_states
    if fewer.variable(name).n_states != k - 1:
        raise DataError(
            f"the test is of k classes against k - 1; these have {k} and "
            f"{fewer.variable(name).n_states}"
        )
    if n_samples < 1:
        raise DataError(f"the bootstrap needs at least one sample, got {n_samples}")
    ticker = Ticker.of(progress, time_limit)
    settings = MixtureSettings(name, n_starts, max_iterations, TOLERANCE)
    samples: list[float] = []
    streams = np.random.SeedSequence(seed)
    for i in range(n_samples):
        generator = np.random.default_rng(streams.spawn(1)[0])
        drawn = drawn_like(table, fewer, generator)
        own = int(generator.integers(2**31))
        quiet = ticker.part(f"sample {i + 1} of {n_samples}")
        null = fit_mixture(drawn, k - 1, settings, prior, own, quiet, fewer)
        full = fit_mixture(drawn, k, settings, prior, own, quiet)
        if not ticker.keep_going():
            break
        samples.append(2 * (full[0].log_likelihood - null[0].log_likelihood))
    statistic = 2 * (more.log_likelihood(table) - fewer.log_likelihood(table))
    return BootstrapTest(k, statistic, tuple(samples), n_samples, ticker.reason or "converged")


def drawn_like(table: Table, network: Network, generator: np.random.Generator) -> Table:
    """As many cases as the table stands for, drawn from the network, with the table's gaps."""
    weights = table.row_weights
    n = max(1, round(float(weights.sum())))
    drawn = network.sample(n, generator).select(table.names)
    if table.is_complete:
        return drawn.folded()
    whole = bool((weights == np.round(weights)).all())
    cases = (
        np.repeat(np.arange(table.n_rows), weights.astype(np.int64))
        if whole
        else generator.choice(table.n_rows, size=n, p=weights / weights.sum())
    )
    for name in table.names:
        column = drawn.column(name).copy()
        column[table.missing(name)[cases]] = missing_code(column.dtype)
        drawn = drawn.with_column(drawn.variable(name), column)
    return drawn.folded()
