"""`discover`: find hidden variables one by one, keeping each only if it earns its keep.

Learn a network over what was observed; find semi-cliques; put a hidden variable in the place of
each; decide how many states it has; adapt the structure around it; keep the best if it pays; look
again (thesis Ch. 4 and 5, and 8.2 on combining them).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

import numpy as np

from unveil.discovery.evaluation import PAYS, Bench, Candidate, complete_hidden
from unveil.discovery.looking import choose_best, look_for_hidden
from unveil.discovery.observed import learn_complete, learn_without, n_restarts
from unveil.discovery.settings import Settings
from unveil.discovery.workers import Workers
from unveil.em.scores import hidden_scores
from unveil.em.structural import structural_em
from unveil.errors import DataError
from unveil.model.network import Network
from unveil.model.prior import EquivalentSampleSize
from unveil.progress import Listener, StopReason, Ticker
from unveil.score.bdeu import BDeu
from unveil.search.constraints import Constraints
from unveil.table.core import Table

__all__ = ["Discovery", "Round", "discover_networks", "learn_observed"]

KEPT = "kept"


@dataclass(frozen=True)
class Round:
    """One round of looking: the network before, every candidate tried, and the one kept."""

    before: Network
    score_before: float
    candidates: tuple[Candidate, ...]
    kept: Candidate | None


@dataclass(frozen=True)
class Discovery:
    """What was found: the network with hidden variables, the one without, and every round.

    Scores are Cheeseman-Stutz (exact BDeu where nothing is missing), in nats.
    """

    network: Network
    score: float
    baseline: Network
    baseline_score: float
    rounds: tuple[Round, ...]
    stopped: StopReason
    seed: int
    settings: Settings
    elapsed: float

    @property
    def hidden(self) -> tuple[str, ...]:
        """The names of the hidden variables found."""
        return self.network.hidden

    @property
    def gain(self) -> float:
        """How much better the score is than without hidden variables, in nats."""
        return self.score - self.baseline_score


def discover_networks(
    table: Table,
    settings: Settings | None = None,
    earlier: Sequence[Round] = (),
    baseline: Network | None = None,
    seed: int | None = None,
    progress: Listener | None = None,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    on_round: Callable[[Sequence[Round]], None] | None = None,
) -> Discovery:
    """Find hidden variables in a discrete table; gaps are allowed.

    It goes on after rounds of an `earlier` run that kept something. `baseline` is the network
    without hidden variables (learned if not given). Stopped early, it gives the best so far;
    `on_round` is told all rounds whenever one is over.
    """
    settings = settings or Settings()
    if seed is None:
        seed = int(np.random.default_rng().integers(2**31))
    if seed < 0:
        raise DataError(f"a seed is zero or more, got {seed}")
    _check(table)
    ticker = Ticker(progress, time_limit)
    prior = EquivalentSampleSize(settings.ess)
    rounds = list(takewhile(lambda r: r.kept is not None, earlier))
    if rounds:
        baseline = rounds[0].before
    if baseline is None:
        ticker.offer("learning a network of what was observed", 0, float("nan"))
        baseline = learn_observed(table, settings, seed, ticker.time_left())
    baseline_score = hidden_scores(baseline, table, prior).cheeseman_stutz
    network, score = baseline, baseline_score
    if rounds:
        assert rounds[-1].kept is not None
        network = rounds[-1].kept.network or baseline
        score = hidden_scores(network, table, prior).cheeseman_stutz
    stopped: StopReason = "converged"
    second_chances = 2
    workers = Workers(n_jobs)
    while len(network.hidden) < settings.max_hidden:
        number = len(rounds) + 1
        if not ticker.offer(f"round {number}", 0, score, detail="looking for semi-cliques"):
            break
        begun = ticker.elapsed
        bench = Bench(
            network, score, table, complete_hidden(network, table, seed), prior,
            settings.max_parents, settings.n_states, seed, ticker,
        )  # fmt: skip
        found = look_for_hidden(bench, settings, workers, number)
        kept = choose_best(found, settings)
        if kept is not None and second_chances:
            rival = _rival(kept, table, settings, seed, ticker)
            rival_score = hidden_scores(rival, table, prior).cheeseman_stutz
            if rival_score > score + 0.1:
                # The gain was in part the search's: look again, against the better network.
                second_chances -= 1
                found = [replace(c, gain=c.gain + score - rival_score) for c in found]
                if not network.hidden:
                    baseline, baseline_score = rival, rival_score
                network, score = rival, rival_score
                left = ticker.time_left()
                if ticker.keep_going() and (left is None or left > ticker.elapsed - begun):
                    continue
                kept = choose_best(found, settings)
        found = [_judged(c, kept) for c in found]
        kept = next((c for c in found if c.verdict == KEPT), None)
        rounds.append(Round(network, score, tuple(found), kept))
        if on_round is not None:
            on_round(rounds)
        if kept is None or kept.network is None:
            break
        network, score = kept.network, score + kept.gain
    if workers.cut_short:
        stopped = "time limit"
    if ticker.reason is not None:
        stopped = ticker.reason
    return Discovery(
        network, score, baseline, baseline_score, tuple(rounds), stopped, seed, settings,
        ticker.elapsed,
    )  # fmt: skip


def learn_observed(
    table: Table, settings: Settings, seed: int, time_limit: float | None = None
) -> Network:
    """The network over the table's own columns, by search or (with gaps) by structural EM."""
    if table.is_complete:
        restarts = n_restarts(table, settings.restarts)
        prior = EquivalentSampleSize(settings.ess)
        return learn_complete(
            table, prior, settings.max_parents, restarts, seed, time_limit=time_limit
        )
    limits = Constraints(max_parents=settings.max_parents)
    return structural_em(
        table, score=BDeu(settings.ess), constraints=limits, seed=seed, time_limit=time_limit
    ).network


def _rival(kept: Candidate, table: Table, settings: Settings, seed: int, ticker: Ticker) -> Network:
    assert kept.network is not None
    prior = EquivalentSampleSize(settings.ess)
    return learn_without(
        kept.network, kept.name, table, prior, settings.max_parents, seed, ticker.time_left()
    )


def _judged(candidate: Candidate, kept: Candidate | None) -> Candidate:
    """The candidate with the last word on it."""
    if candidate is kept:
        return replace(candidate, verdict=KEPT)
    if candidate.verdict != PAYS:
        return candidate
    if np.isnan(candidate.predicted):
        words = "others promised more"
    elif kept is not None:
        words = "another gains more or predicts better"
    else:
        words = "gains or predicts too little for so many tries"
    return replace(candidate, verdict=f"{PAYS}, but {words}")


def _check(table: Table) -> None:
    marked = [v.name for v in table.variables if v.hidden]
    if marked:
        raise DataError(
            f"columns {', '.join(map(repr, marked[:6]))} are marked as hidden; leave them out "
            "(table.without(...)): hidden variables are what is looked for"
        )
    continuous = [v.name for v in table.variables if not v.is_discrete]
    if continuous:
        raise DataError(
            f"columns {', '.join(map(repr, continuous[:6]))} are continuous; make them discrete "
            "first (unveil.Discretizer; on the command line --discretize) or leave them out"
        )
    if table.n_columns < 3:
        raise DataError(f"a hidden variable needs at least three columns, got {table.n_columns}")
