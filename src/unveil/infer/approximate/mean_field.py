"""Mean field: the closest distribution in which all unseen variables are independent."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unveil.infer.answer import Posterior
from unveil.infer.approximate.question import Question, Seed, check_setting
from unveil.infer.evidence import Likelihoods
from unveil.kernels.gibbs import find_states
from unveil.kernels.mean_field import ascend
from unveil.model.network import Network
from unveil.table.core import Table

__all__ = ["mean_field"]


def mean_field(
    network: Network,
    table: Table,
    targets: Sequence[str],
    likelihoods: Likelihoods,
    *,
    n_starts: int = 5,
    max_iterations: int = 500,
    tolerance: float = 1e-6,
    seed: Seed = None,
    n_jobs: int | None = None,
) -> Posterior:
    """The q = prod over i of q_i(x_i) closest to the posterior; a lower bound on log P(evidence).

    Coordinate ascent on E_q[log P(x, evidence)] + H(q) <= log P(evidence) (Jordan et al. 1999;
    thesis 2.1.4), from `n_starts` random states that agree with the evidence; the best is kept.
    `log_evidence` is the bound. It never falls from one iteration to the next, and it is the
    reason to choose this method: posteriors of variables that depend on each other come out too
    sure, and a table with zeros can lock q into one of several explanations.

    >>> from unveil import datasets
    >>> from unveil.infer.evidence import table_of_findings
    >>> asia = datasets.network("asia")
    >>> print(mean_field(asia, table_of_findings(asia, {"smoke": "yes"}), ["bronc"], {}, seed=1))
    bronc: yes 0.6000, no 0.4000
    """
    check_setting("n_starts", n_starts, 1)
    check_setting("max_iterations", max_iterations, 1)
    check_setting("tolerance", tolerance, 0)
    question = Question.ask(network, table, targets, likelihoods)
    streams = question.streams(seed)
    flat = question.table()
    n_rows, n_variables = question.n_rows, question.graph.n_states.size
    bound, change = np.empty(n_rows), np.empty(n_rows)
    status = np.zeros(n_rows, np.int8)
    with np.errstate(divide="ignore"):
        logs = np.log(question.graph.table)

    def work(block: int, start: int, stop: int) -> None:
        states = np.zeros((stop - start, n_starts, n_variables), np.int64)
        find_states(*question.rows, start, stop, streams[block], states, status)
        ascend(
            question.graph, logs, *question.rows[1:], start, stop, states, status, max_iterations,
            tolerance, question.wanted, flat, bound, change,
        )  # fmt: skip

    question.run(work, n_jobs)
    question.refuse_unstarted(status)
    question.warn_unconverged(change, max_iterations, tolerance, "Raise max_iterations.")
    return question.answer("mean_field", flat, bound)
