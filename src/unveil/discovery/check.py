"""The last look at a candidate: the rows with their gaps, and rows that were left out."""

from __future__ import annotations

from dataclasses import replace

from unveil.discovery.adaptation import adapted
from unveil.discovery.bench import Bench
from unveil.discovery.candidates import Candidate, Verdict
from unveil.discovery.patience import inside
from unveil.evaluate.folds import n_cases
from unveil.hidden.cardinality import choose_cardinality
from unveil.model.turning import facing_away_from
from unveil.progress import Ticker

__all__ = ["as_parent", "check_candidate", "with_cardinalities", "with_gaps"]


def check_candidate(bench: Bench, candidate: Candidate, ticker: Ticker) -> Candidate:
    """The candidate fitted to the rows as they are, with its cross-validated gain if it pays.

    Cheeseman-Stutz rates some variables too high that explain a chance pattern; rows that were
    left out show it. The structure stays, the parameters are estimated without the fold.
    """
    checked = as_parent(bench, with_gaps(bench, candidate, ticker))
    if checked.verdict is Verdict.PAYS and n_cases(bench.table) >= 5:
        saved = bench.saved(checked.network, ticker)
        if saved is not None:
            verdict = Verdict.PAYS if saved.bits > 0 else Verdict.PREDICTS_NO_BETTER
            # Of a very large table some rows stand for all.
            share = float(saved.weights.sum()) / bench.table.total_weight
            checked = replace(
                checked, predicted=-saved.log_likelihood / share,
                error=saved.total_error / share, verdict=verdict,
            )  # fmt: skip
    return checked


def with_gaps(bench: Bench, candidate: Candidate, ticker: Ticker) -> Candidate:
    """The candidate adapted to the rows as they are; the same if they have no gaps."""
    if bench.glanced is bench.table:
        return candidate
    return adapted(bench.with_gaps, candidate, bench.settings.adapt, ticker, max_rounds=5)


def as_parent(bench: Bench, candidate: Candidate) -> Candidate:
    """The candidate in the equivalent graph that makes hidden variables parents where it can.

    Scores and predictions are the same; it is easier to read. Under constraints on arcs, or with a
    prior or a score that tells equivalent graphs apart, it stays as it is.
    """
    settings = bench.settings
    plain = settings.criterion.equivalent and settings.structure_prior is None
    if not (plain and settings.constraints.only_max_parents):
        return candidate
    hidden = [*bench.network.hidden, candidate.name]
    return replace(candidate, network=facing_away_from(candidate.network, hidden))


def with_cardinalities(bench: Bench, candidate: Candidate, ticker: Ticker) -> Candidate:
    """The candidate with the tree of merges and the scores by number of states of its own graph."""
    dag, name = candidate.network.dag, candidate.name
    found = choose_cardinality(
        bench.completed,
        dag,
        name,
        score_sample_size=bench.prior.size,
        score=bench.settings.other_score,
        **inside(ticker),
    )
    return replace(candidate, agglomeration=found.agglomeration, refined=found.refined)
