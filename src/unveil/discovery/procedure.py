"""Hidden variables one by one, each kept only if it earns its keep.

Learn a network over what was observed; find semi-cliques; put a hidden variable in the place of
each; decide how many states it has; adapt the structure around it; keep the best if it pays; look
again (thesis Ch. 4 and 5, and 8.2 on combining them).

`State` is where a discovery stands, `step` is one round of it; `discover_networks` drives them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import takewhile
from typing import ClassVar

from unveil.discovery.adaptation import adapted
from unveil.discovery.all_rows import Everything
from unveil.discovery.among_all import Standing, first_standing, for_drawn, judged_among_all
from unveil.discovery.baseline import learn_observed, learn_without
from unveil.discovery.bench import Bench
from unveil.discovery.candidates import Candidate, Refused, Verdict
from unveil.discovery.check import with_cardinalities
from unveil.discovery.choice import choose_best, finalists, judged, n_places
from unveil.discovery.confirm import confirm
from unveil.discovery.confirmation import Confirmation, luck_in_errors
from unveil.discovery.joint import polished_together
from unveil.discovery.notes import Notes
from unveil.discovery.patience import graced
from unveil.discovery.phases import WIDE_SIZES, look_for_hidden
from unveil.discovery.settings import Settings
from unveil.discovery.workers import Workers
from unveil.em.short import short_em
from unveil.engines.rows import PartedRows
from unveil.errors import DataError, Hint
from unveil.model.network import Network
from unveil.progress import Progress, Step, StopReason, Ticker, run
from unveil.records import Record
from unveil.seeds import seed_or_fresh
from unveil.table.core import Table

__all__ = ["Discovery", "Round", "State", "Task", "discover_networks", "first_state", "step"]

FOR_THE_FIRST = 0.2
"""The share of the time that the network without hidden variables may take."""
FOR_THE_OTHER = 0.3
"""The share of what is left that the best network without a candidate may take."""
FOR_ALL = 0.3
"""The share of what is left that polishing all hidden variables together may take."""
SECOND_CHANCES = 2
"""So often a round is repeated because a better network without hidden variables turned up."""


@dataclass(frozen=True)
class Round(Record):
    """One round of looking: the network before, everything tried, and the candidate kept.

    `confirmation` is what the best candidate came to, chosen anew in every fold.
    """

    before: Network
    score_before: float
    candidates: tuple[Candidate | Refused, ...]
    kept: Candidate | None
    confirmation: Confirmation | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Discovery(Record):
    """What was found: the network with hidden variables, the one without, and every round.

    Scores are Cheeseman-Stutz (exact BDeu where nothing is missing), in nats.
    """

    told: ClassVar = ("hidden", "gain")

    network: Network
    score: float
    baseline: Network
    baseline_score: float
    rounds: tuple[Round, ...]
    stopped: StopReason
    seed: int
    settings: Settings
    elapsed: float
    standing: Standing | None = None
    """The networks of all rows, where candidates came from drawn ones and were judged on all."""

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
    progress: Progress | None = None,
    time_limit: float | None = None,
    n_jobs: int | None = None,
    on_round: Callable[[Sequence[Round]], None] | None = None,
    notes: Notes | None = None,
    everything: PartedRows | None = None,
) -> Discovery:
    """Find hidden variables in a discrete table; gaps are allowed.

    It goes on after rounds of an `earlier` run that kept something. `baseline` is the network
    without hidden variables (learned if not given). Stopped early, it gives the best so far;
    `on_round` is told all rounds whenever one is over. `notes` remember what is done within a
    round: what they tell of is not done again. If the table has rows drawn from `everything`, what
    is kept is decided there (`unveil.discovery.among_all`).
    """
    settings = settings or Settings()
    seed = seed_or_fresh(seed)
    _check(table)
    settings.check(table)
    ticker = Ticker.of(progress, time_limit)
    with Workers(n_jobs) as workers:
        whole = None if everything is None else Everything.of(everything, settings, seed)
        task = Task(table, settings, seed, workers, ticker, notes, whole)
        return _driven(task, first_state(task, earlier, baseline), on_round)


def _driven(
    task: Task, state: State, on_round: Callable[[Sequence[Round]], None] | None
) -> Discovery:
    """Round after round from a state, until there is no more to find or time for it."""
    ticker = task.ticker

    def one_round(state: State) -> tuple[State, Step]:
        after, info = step(task, state)
        if on_round is not None and len(after.rounds) > len(state.rounds):
            on_round(after.rounds)
        return after, info

    def done(state: State, _: Step) -> StopReason | None:
        return "converged" if state.finished else _begin(ticker, state)

    stopped = done(state, Step("", 0, state.score))
    if stopped is None:
        course = run(one_round, state, done, ticker)
        state, stopped = course.state, course.stopped
    if state.cut_short:
        stopped = "time limit"
    return Discovery(
        state.network, state.score, state.baseline, state.baseline_score, state.rounds,
        ticker.reason or stopped, task.seed, task.settings, ticker.elapsed, state.standing,
    )  # fmt: skip


@dataclass(frozen=True)
class Task:
    """What stays the same from round to round: rows, settings, seed, and who works how long."""

    table: Table
    settings: Settings
    seed: int
    workers: Workers
    ticker: Ticker
    notes: Notes | None = None
    everything: Everything | None = None

    def learned(self, key: str, learn: Callable[[Ticker], Network], ticker: Ticker) -> Network:
        """The network that is noted under a key, or else learned (and, if not cut short, noted)."""
        noted = None if self.notes is None else self.notes.network(key)
        if noted is not None:
            return noted
        network = learn(ticker)
        if self.notes is not None and ticker.keep_going():
            self.notes.note_network(key, network)
        return network

    def score(self, network: Network) -> float:
        """The score of a network (nats)."""
        return self.settings.score_of(network, self.table)


@dataclass(frozen=True)
class State:
    """Where a discovery stands: all that the next round needs.

    `network` is the best so far, with what it scores; `baseline` the one without hidden variables.
    `finished` says that there is nothing more to look for, `cut_short` that time was too short for
    all of some phase. `standing` is where things stand on all rows, if these are drawn from them.
    """

    network: Network
    score: float
    baseline: Network
    baseline_score: float
    rounds: tuple[Round, ...] = ()
    second_chances: int = SECOND_CHANCES
    finished: bool = False
    cut_short: bool = False
    standing: Standing | None = None


def first_state(
    task: Task, earlier: Sequence[Round] = (), baseline: Network | None = None
) -> State:
    """The state before the first round, or after the rounds of an earlier run that kept something.

    The network without hidden variables is learned if it is not given.
    """
    rounds = tuple(takewhile(lambda r: r.kept is not None, earlier))
    if rounds:
        baseline = rounds[0].before
    cut_short = False
    if baseline is None:
        title = "learning a network of what was observed"
        task.ticker.offer(title, 0, float("nan"))
        part = task.ticker.part(title, FOR_THE_FIRST)
        learn = partial(learn_observed, task.table, task.settings, task.seed)
        baseline = task.learned("baseline", learn, part)
        cut_short = part.reason == "time limit"
    score = task.score(baseline)
    state = State(baseline, score, baseline, score, rounds, cut_short=cut_short)
    given = task.settings.start
    if rounds and rounds[-1].kept is not None:
        network = rounds[-1].kept.network
        state = replace(state, network=network, score=task.score(network))
    elif isinstance(given, Network) and given.hidden:
        network = short_em(given, task.table, task.settings.prior, 200)
        state = replace(state, network=network, score=task.score(network))
    return replace(state, finished=_enough(task, state.network))


def step(task: Task, state: State) -> tuple[State, Step]:
    """The state after one more round, and what there is to see of it.

    A round that shows a better network without a further hidden variable adds none: its gains were
    in part the search's. If there is time, the next round looks again, against that network.
    """
    ticker = task.ticker.part(_title(state))
    settings, sizes = task.settings, WIDE_SIZES
    if task.everything is not None:
        settings, sizes = for_drawn(settings), WIDE_SIZES[:1]
    bench = Bench.of(state.network, state.score, task.table, settings, task.seed)
    looked = look_for_hidden(bench, task.workers, ticker, task.notes, wide_sizes=sizes)
    state = replace(state, cut_short=state.cut_short or looked.cut_short)
    if task.everything is not None:
        return _step_among_all(task, task.everything, state, bench, looked.tried, ticker)
    tried = looked.tried
    best = choose_best(tried, task.settings.min_gain)
    if best is not None and state.second_chances:
        better = _with_better_rival(task, state, best, ticker)
        if better is not state:
            left = ticker.time_left()
            if ticker.keep_going() and (left is None or left > ticker.elapsed):
                return better, _info(state, better, "a better network without; once more")
            tried = tuple(replace(c, gain=c.gain + state.score - better.score) for c in tried)
            state, best = better, choose_best(tried, task.settings.min_gain)
            bench = Bench.of(state.network, state.score, task.table, task.settings, task.seed)
    proof = None if best is None else _confirmed(task, bench, tried, best, ticker)
    sure = best is not None and _is_sure(best, proof, task.settings.max_luck)
    return _after(task, state, bench, tried, best, proof, sure, ticker)


def _step_among_all(
    task: Task,
    everything: Everything,
    state: State,
    bench: Bench,
    tried: tuple[Candidate | Refused, ...],
    ticker: Ticker,
) -> tuple[State, Step]:
    """The rest of a round whose candidates are judged on all rows."""
    part = ticker.part("all rows")
    standing = state.standing
    if standing is None:
        part.offer("", 0, float("nan"), detail="the network without hidden variables")
        standing = first_standing(everything, state.baseline, state.network, part)
    found = judged_among_all(everything, standing, tried, part)
    state = replace(state, standing=found.standing)
    best = found.best
    if best is not None and all(best is not c for c in tried):
        best = adapted(bench, best, "em", graced(part))
        tried = (best, *tried)
    return _after(task, state, bench, tried, best, found.proof, found.is_kept, ticker)


def _after(
    task: Task,
    state: State,
    bench: Bench,
    tried: tuple[Candidate | Refused, ...],
    best: Candidate | None,
    proof: Confirmation | None,
    sure: bool,
    ticker: Ticker,
) -> tuple[State, Step]:
    """The state after a round whose best candidate is kept if that is sure."""
    kept = best if sure else None
    doubted = best if kept is None else None
    if kept is not None and task.everything is None:
        best = polished_together(bench, kept, ticker.part("all together", FOR_ALL))
        if not best.place.is_followed:
            best = with_cardinalities(bench, best, graced(ticker))
        tried = tuple(best if c is kept else c for c in tried)
        kept = best
    explained = proof is not None and proof.is_explained
    doubt = Verdict.EXPLAINED if explained else Verdict.NOT_CONFIRMED
    after = _with_round(task, state, judged(tried, kept, doubted, doubt), proof)
    words = "nothing kept" if kept is None else f"kept {kept.name}"
    return after, _info(state, after, words)


def _confirmed(
    task: Task,
    bench: Bench,
    tried: Sequence[Candidate | Refused],
    best: Candidate,
    ticker: Ticker,
) -> Confirmation | None:
    """What choosing it anew in every fold saves; `None`, if there is no time for it."""
    limits = graced(ticker.part("confirming"))
    limits.offer("", 0, float("nan"))
    return confirm(
        bench, finalists(tried, best), limits, places=n_places(tried), workers=task.workers
    )


def _is_sure(best: Candidate, proof: Confirmation | None, max_luck: float) -> bool:
    """Whether it is confirmed; without time for that, whether its graph surely predicts better."""
    if proof is not None:
        return proof.is_sure
    return best.predicted > luck_in_errors(max_luck) * best.error


def _with_better_rival(task: Task, state: State, kept: Candidate, ticker: Ticker) -> State:
    """The state with the best network near the candidate's that lacks it, if that is better."""
    rival = learn_without(
        kept.network,
        (kept.name, *kept.others),
        task.table,
        task.settings,
        task.seed,
        ticker.part("without it", FOR_THE_OTHER),
    )
    score = task.score(rival)
    if score <= state.score + 0.1:
        return state
    better = replace(state, network=rival, score=score, second_chances=state.second_chances - 1)
    if state.network.hidden:
        return better
    return replace(better, baseline=rival, baseline_score=score)


def _with_round(
    task: Task, state: State, tried: tuple[Candidate | Refused, ...], proof: Confirmation | None
) -> State:
    """The state after a round that is over: with the candidate it kept, or finished."""
    kept = next((c for c in tried if c.verdict is Verdict.KEPT), None)
    assert not isinstance(kept, Refused)
    if kept is not None and task.notes is not None:
        task.notes.forget()
    rounds = (*state.rounds, Round(state.network, state.score, tried, kept, proof))
    if kept is None:
        return replace(state, rounds=rounds, finished=True)
    return replace(
        state, rounds=rounds, network=kept.network, score=state.score + kept.gain,
        finished=_enough(task, kept.network),
    )  # fmt: skip


def _enough(task: Task, network: Network) -> bool:
    return len(network.hidden) >= task.settings.max_hidden


def _begin(ticker: Ticker, state: State) -> StopReason | None:
    """Tell that a round begins; a reason if it may not."""
    words = "looking for semi-cliques"
    return None if ticker.offer(_title(state), 0, state.score, detail=words) else ticker.reason


def _title(state: State) -> str:
    return f"round {len(state.rounds) + 1}"


def _info(before: State, after: State, detail: str) -> Step:
    change = after.score - before.score
    return Step(_title(before), len(after.rounds), after.score, change, detail=detail)


def _check(table: Table) -> None:
    marked = [v.name for v in table.variables if v.hidden]
    if marked:
        raise DataError(
            f"columns {', '.join(map(repr, marked[:6]))} are marked as hidden; leave them out, "
            "for hidden variables are what is looked for:",
            hint=Hint("table.without(...).", "--drop NAME."),
        )
    continuous = [v.name for v in table.variables if not v.is_discrete]
    if continuous:
        raise DataError(
            f"columns {', '.join(map(repr, continuous[:6]))} are continuous; leave them out or "
            "make them discrete first, with",
            hint=Hint("unveil.Discretizer.", "--discretize."),
        )
    if table.n_columns < 3:
        raise DataError(f"a hidden variable needs at least three columns, got {table.n_columns}")
