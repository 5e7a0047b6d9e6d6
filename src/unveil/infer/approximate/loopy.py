"""Loopy belief propagation: posteriors from local messages."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unveil.errors import ModelError
from unveil.infer.answer import Posterior
from unveil.infer.approximate.question import Question, Seed, check_setting, named_rows
from unveil.infer.evidence import Likelihoods
from unveil.kernels.loopy import propagate_loopy
from unveil.model.network import Network
from unveil.table.core import Table

__all__ = ["loopy"]


def loopy(
    network: Network,
    table: Table,
    targets: Sequence[str],
    likelihoods: Likelihoods,
    *,
    damping: float = 0.0,
    max_iterations: int = 200,
    tolerance: float = 1e-8,
    seed: Seed = None,
    n_jobs: int | None = None,
) -> Posterior:
    """Posteriors by loopy belief propagation, and the Bethe estimate of log P(evidence).

    Variables and families exchange messages until none changes by more than `tolerance` (Pearl
    1988; Kschischang, Frey and Loeliger 2001). On a polytree, that is exact; with cycles it is
    usually close and overconfident at worst, and the Bethe estimate is no bound. Rows that do not
    settle are named in a warning; `damping` mixes each message with the one before, which often
    helps then. The first method to try when exact inference does not fit. Nothing is drawn, so
    `seed`, which the other methods take, changes nothing.

    >>> from unveil import datasets
    >>> from unveil.infer.evidence import table_of_findings
    >>> asia = datasets.network("asia")
    >>> print(loopy(asia, table_of_findings(asia, {"smoke": "yes"}), ["lung", "bronc"], {}))
    lung: yes 0.1000, no 0.9000
    bronc: yes 0.6000, no 0.4000
    """
    check_setting("damping", damping, 0, below=1)
    check_setting("max_iterations", max_iterations, 1)
    check_setting("tolerance", tolerance, 0)
    question = Question.ask(network, table, targets, likelihoods)
    flat = question.table()
    log_z, change = np.empty(question.n_rows), np.empty(question.n_rows)

    def work(block: int, start: int, stop: int) -> None:
        propagate_loopy(
            *question.rows, start, stop, damping, max_iterations, tolerance, question.wanted,
            flat, log_z, change,
        )  # fmt: skip

    question.run(work, n_jobs)
    _refuse_contradictions(log_z[question.row_of])
    question.warn_unconverged(
        change, max_iterations, tolerance,
        "Raise max_iterations, or damp the messages (damping=0.5).",
    )  # fmt: skip
    return question.answer("loopy", flat, log_z)


def _refuse_contradictions(log_z: np.ndarray) -> None:
    rows = np.flatnonzero(log_z == -np.inf)
    if rows.size:
        raise ModelError(
            f"the evidence in {named_rows(rows)} has probability zero, or one too small for the "
            "messages: no state is left for some variable. Leave a finding out, or fit the network "
            "with a prior so that no table has zeros."
        )
