"""Latent classes of rows in parts: looked for in rows that are drawn, fitted to all of them."""

from __future__ import annotations

from dataclasses import replace

from unveil.em.loop import run_em
from unveil.em.mixture.choice import Mixture, MixtureResult
from unveil.em.mixture.fit import table_values
from unveil.em.scores import hidden_scores
from unveil.em.steps import em_problem
from unveil.engines.rows import PartedRows
from unveil.errors import DataError
from unveil.model.prior import EquivalentSampleSize
from unveil.progress import Ticker

__all__ = ["CHOSEN_BY", "DRAWN", "fitted_to_all"]

DRAWN = 50_000
"""So many rows are drawn to find where EM starts."""
CHOSEN_BY = ("bic", "aic", "cheeseman-stutz")
"""The scores that one pass over all rows gives."""


def fitted_to_all(
    found: MixtureResult,
    rows: PartedRows,
    max_iterations: int,
    tolerance: float,
    ticker: Ticker,
) -> MixtureResult:
    """Every mixture fitted to all rows by EM from where it is, and the best of them again.

    Likelihood, scores and shares are then those of all rows; certainty, goodness of fit, profiles
    and standard errors stay those of the drawn rows.
    """
    mixtures = []
    for mixture in found.mixtures:
        part = ticker.part(f"{mixture.n_classes} classes, all rows", 1 / len(found.mixtures))
        mixtures.append(_fitted(mixture, found, rows, max_iterations, tolerance, part))
    chosen = max(mixtures, key=lambda m: m.value(found.score_name))
    stopped = ticker.reason or found.stopped
    return replace(found, mixtures=tuple(mixtures), n_classes=chosen.n_classes, stopped=stopped)


def _fitted(
    mixture: Mixture,
    found: MixtureResult,
    rows: PartedRows,
    max_iterations: int,
    tolerance: float,
    ticker: Ticker,
) -> Mixture:
    problem = em_problem(mixture.network, rows, found.prior)
    run = run_em(
        problem.step, problem.pack(mixture.network), max_iterations, tolerance, ticker, "EM"
    )
    network = problem.unpack(run.parameters)
    scores = hidden_scores(network, rows, found.prior or EquivalentSampleSize(1.0))
    note = f"figures are of all {rows.total_weight:,.0f} rows, starts of those drawn"
    return replace(
        mixture,
        network=network,
        log_likelihood=scores.log_likelihood,
        bic=scores.bic,
        aic=scores.aic,
        cheeseman_stutz=scores.cheeseman_stutz,
        shares=tuple(float(s) for s in table_values(network, found.name)),
        notes=(*mixture.notes, note),
        goodness=None,
    )


def refuse_score(score: str) -> None:
    """An error for a score that needs single rows."""
    if score not in CHOSEN_BY:
        raise DataError(
            f"the score {score!r} goes over single rows, which do not fit in memory; choose one of "
            f"{', '.join(CHOSEN_BY)}, or allow more memory"
        )
