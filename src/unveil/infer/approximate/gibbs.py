"""Gibbs sampling: posteriors from Markov chains that renew one variable at a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from unveil.infer.answer import Posterior
from unveil.infer.approximate.question import Question, Seed, check_setting, named_rows, warn
from unveil.infer.evidence import Likelihoods
from unveil.kernels.gibbs import sample_gibbs
from unveil.model.network import Network
from unveil.table.core import Table

__all__ = ["gibbs"]

WORST_RATIO = 1.1
LEAST_ERROR = 0.01
"""Chains disagree when the potential scale reduction exceeds the ratio where it matters: where the
standard error is larger than a percent."""
TINY = 1e-30
"""A variance that stands for none, so that chains that never move have a ratio all the same."""

Matrix = npt.NDArray[np.float64]


def gibbs(
    network: Network,
    table: Table,
    targets: Sequence[str],
    likelihoods: Likelihoods,
    *,
    n_samples: int = 8000,
    burn_in: int = 100,
    n_chains: int = 32,
    seed: Seed = None,
    n_jobs: int | None = None,
) -> Posterior:
    """Posteriors by Gibbs sampling, with standard errors (Geman and Geman 1984; thesis 2.1.4).

    Each of `n_chains` independent chains starts at one of `burn_in` forward draws, chosen by its
    likelihood weight (or at any state that agrees with the evidence, if all weights are zero),
    makes `burn_in` sweeps to forget it, then keeps n_samples / n_chains. Every sweep draws each
    unseen variable from P(variable | its Markov blanket), and the posterior is the mean of these
    conditionals. With m_c the mean of chain c, the standard error is the standard deviation of the
    m_c divided by the root of n_chains: right however slowly the chains move, so long as they have
    forgotten their start. It is at least one over the effective sample size n_chains W / B of the
    row's slowest target (W the variance inside chains, B that of the m_c): no sample so large has
    seen what is rarer. `log_evidence` is nan; Gibbs sampling gives no estimate of it.

    Zeros in tables make chains non-ergodic: two variables that determine each other never change
    one at a time, so a chain stays in the part of the posterior it starts in. Then chains disagree
    for ever; a warning says so when it shows (Gelman and Rubin 1992), but what no chain has
    visited shows in no standard error. Near-deterministic tables do the same for a long time.
    Choose likelihood weighting or loopy propagation for such networks; choose Gibbs when the
    evidence is unlikely and tables are positive.

    >>> from unveil import datasets
    >>> from unveil.infer.evidence import table_of_findings
    >>> asia = datasets.network("asia")
    >>> answer = gibbs(asia, table_of_findings(asia, {"bronc": "yes"}), ["lung"], {}, seed=1)
    >>> bool(abs(answer.of("lung")["yes"] - 0.07) < 4 * answer.standard_errors["lung"][0, 0])
    True
    """
    check_setting("n_chains", n_chains, 2)
    check_setting("n_samples", n_samples, 2 * n_chains)
    check_setting("burn_in", burn_in, 0)
    question = Question.ask(network, table, targets, likelihoods)
    streams = question.streams(seed)
    flat, between, within = question.table(), question.table(), question.table()
    status = np.zeros(question.n_rows, np.int8)
    n_kept = -(-n_samples // n_chains)

    def work(block: int, start: int, stop: int) -> None:
        sample_gibbs(
            *question.rows, start, stop, streams[block], n_chains, burn_in, n_kept,
            question.wanted, flat, between, within, status,
        )  # fmt: skip

    question.run(work, n_jobs)
    question.refuse_unstarted(status)
    ratio = np.where(between > 0, between / np.maximum(within, TINY), 0.0)
    least = 1 / _effective_size(ratio, n_chains, n_kept)
    errors = np.sqrt(between / n_chains)
    _warn_disagreement(question, errors, np.sqrt((n_kept - 1) / n_kept + ratio))
    errors = np.where(question.certain(), 0.0, np.maximum(errors, least[:, None]))
    return question.answer("gibbs", flat, np.full(question.n_rows, np.nan), errors)


def _effective_size(ratio: Matrix, n_chains: int, n_kept: int) -> Matrix:
    """n_chains W / B of every row's slowest target, between the numbers of chains and of draws."""
    worst = ratio.max(axis=1, initial=0.0)
    return n_chains / np.clip(worst, 1 / n_kept, 1.0)


def _warn_disagreement(question: Question, errors: Matrix, ratio: Matrix) -> None:
    """Warn of rows whose potential scale reduction sqrt((n - 1) / n + B / W) is far from one."""
    ratio = np.where(errors > LEAST_ERROR, ratio, 1.0)
    apart = np.asarray(np.any(ratio > WORST_RATIO, axis=1))
    if not apart.any():
        return
    rows = np.flatnonzero(apart[question.row_of])
    column = int(ratio.max(axis=0).argmax())
    name = list(question.variables)[int(np.searchsorted(question.columns, column, "right")) - 1]
    warn(
        f"the chains disagree in {named_rows(rows)}: the potential scale reduction is up to "
        f"{ratio.max():.3g} (of {name!r}; good is below {WORST_RATIO}), the standard error up to "
        f"{errors.max():.2g}. Raise n_samples and burn_in; where tables have zeros, chains may "
        "never meet, and method='weighting' or 'loopy' is better."
    )
