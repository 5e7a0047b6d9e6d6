"""Likelihood weighting: posteriors from forward samples, weighted by the evidence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from unveil.errors import Hint, ModelError
from unveil.infer.answer import Posterior
from unveil.infer.approximate.question import Question, Seed, check_setting, named_rows, warn
from unveil.infer.evidence import Likelihoods
from unveil.kernels.gibbs import sample_forward
from unveil.model.network import Network
from unveil.table.core import Table

__all__ = ["weighting"]

FEW = 100
"""With an effective sample size below this, neither posteriors nor standard errors are reliable."""

Matrix = npt.NDArray[np.float64]


def weighting(
    network: Network,
    table: Table,
    targets: Sequence[str],
    likelihoods: Likelihoods,
    *,
    n_samples: int = 10_000,
    seed: Seed = None,
    n_jobs: int | None = None,
) -> Posterior:
    """Posteriors and log P(evidence) by likelihood weighting, with standard errors.

    Draws all variables parents first, keeps observed ones at their state, and weighs each sample
    by w = the probability of the evidence given its parents (Fung and Chang 1990; Shachter and
    Peot 1990). A posterior p is the share of the weight, log P(evidence) the log of the mean
    weight. The standard error is that of a ratio: the root of sum w^2 (1[x = s] - p)^2 / (sum w)^2
    (Owen, Monte Carlo, section 9.2), but at least one over the effective sample size
    (sum w)^2 / sum w^2: what fewer samples than one would show is not known to be zero.

    Samples are independent and zeros do no harm, unlike in Gibbs sampling; but evidence that is
    unlikely far down the network leaves few samples with all the weight. A warning tells when the
    effective sample size is small.

    >>> from unveil import datasets
    >>> from unveil.infer.evidence import table_of_findings
    >>> asia = datasets.network("asia")
    >>> answer = weighting(asia, table_of_findings(asia, {"bronc": "yes"}), ["lung"], {}, seed=1)
    >>> bool(abs(answer.of("lung")["yes"] - 0.07) < 4 * answer.standard_errors["lung"][0, 0])
    True
    """
    check_setting("n_samples", n_samples, 2)
    question = Question.ask(network, table, targets, likelihoods)
    streams = question.streams(seed)
    sums, squares = question.table(), question.table()
    totals = np.empty((question.n_rows, 3))

    def work(block: int, start: int, stop: int) -> None:
        sample_forward(
            *question.rows, start, stop, streams[block], n_samples, question.wanted, sums,
            squares, totals,
        )  # fmt: skip

    question.run(work, n_jobs)
    total, total_squares, log_scale = totals.T
    _refuse_weightless(np.flatnonzero((total == 0)[question.row_of]), n_samples)
    effective = total**2 / total_squares
    _warn_few(question, effective, n_samples)
    p = sums / total[:, None]
    errors = _standard_errors(question, p, squares, total, total_squares)
    return question.answer("weighting", p, np.log(total / n_samples) + log_scale, errors)


def _standard_errors(
    question: Question, p: Matrix, squares: Matrix, total: Matrix, total_squares: Matrix
) -> Matrix:
    variance = squares * (1 - 2 * p) + total_squares[:, None] * p**2
    errors = np.sqrt(np.maximum(variance, 0.0)) / total[:, None]
    least = (total_squares / total**2)[:, None]
    return np.where(question.certain(), 0.0, np.maximum(errors, least))


def _refuse_weightless(rows: npt.NDArray[np.intp], n_samples: int) -> None:
    if rows.size:
        raise ModelError(
            f"none of {n_samples:,} samples agrees with the evidence in {named_rows(rows)}: it has "
            "probability zero, or a very small one. To tell impossible evidence from unlikely,",
            hint=Hint(
                "raise n_samples, or take method='gibbs' or 'loopy'.",
                "take --method gibbs or loopy.",
            ),
        )


def _warn_few(question: Question, effective: Matrix, n_samples: int) -> None:
    rows = np.flatnonzero((effective < FEW)[question.row_of])
    if rows.size:
        warn(
            f"the weight of {n_samples:,} samples rests on few of them in {named_rows(rows)}: the "
            f"effective sample size is down to {effective.min():.1f} (good is {FEW} or more), so "
            "the standard errors there cannot be trusted. Raise n_samples, or take method='gibbs' "
            "or 'loopy'."
        )
