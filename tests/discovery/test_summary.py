"""Headlines say what the numbers say: nothing tried, none pays, or too close to call."""

from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from unveil import Network, Table, TableCPD, Variable, latent_classes
from unveil.discovery import Candidate, Settings, Verdict, discover
from unveil.discovery.choice import luck, n_places
from unveil.discovery.confirmation import Confirmation
from unveil.discovery.evidence import StrawMan
from unveil.discovery.summary import headline
from unveil.evaluate.log_loss import LogLoss

QUICK = Settings(max_hidden=1, max_candidates=4, max_adapted=2, max_polished=2, restarts=2)

CONFLICT = [20, 2, 9, 2, 6, 1, 4, 1, 38, 7, 24, 6, 25, 6, 23, 42]
"""Role conflict of 216 students in four situations (Stouffer and Toby 1951)."""


@pytest.fixture(scope="module")
def close():
    """Seven in ten of the students: their two latent classes gain too little to be sure of."""
    cells = zip(*product(["general", "own"], repeat=4), strict=True)
    names = ["accident", "play", "insurance", "stock"]
    table = Table.from_frame(dict(zip(names, map(list, cells), strict=True)))
    weights = [round(0.7 * n) for n in CONFLICT]
    return discover(table.with_weights(weights), settings=QUICK, seed=1, resamples=0, n_jobs=1)


def test_the_headline_does_not_contradict_the_candidates(close):
    (only,) = close.discovery.rounds
    paying = [c for c in only.candidates if c.verdict is Verdict.MAY_BE_LUCK]
    assert paying
    assert close.hidden == ()
    assert "none pays" not in close.summary
    best = max(c.gain for c in paying)
    needed = max(luck(only.candidates), QUICK.min_gain)
    assert close.headline.startswith("Too close to call: the best candidate (2 states behind ")
    assert f"gains {best:.1f} nats" in close.headline
    tries = n_places(only.candidates)
    assert f"after {tries} places tried, {needed:.1f} would be luck" in close.headline
    assert best <= needed
    assert close.summary == close.headline


def test_the_plain_latent_class_model_is_a_candidate_like_any_other(close):
    (only,) = close.discovery.rounds
    plain = [c for c in only.candidates if isinstance(c, Candidate) and c.is_latent_class]
    assert {c.n_states for c in plain} >= {2, 3, 4, 5, 6}
    best = max(c.gain for c in plain)
    assert f"Latent classes fit (2 of them gain {best:.1f} nats): see `unveil cluster`." in (
        close.headline
    )


@pytest.mark.parametrize("adapt", ["em", "blanket"])
def test_latent_classes_are_tried_however_candidates_are_adapted(close, adapt):
    settings = replace(QUICK, adapt=adapt)
    report = discover(close.table, settings=settings, seed=1, evidence=False, straw_men=False)
    tried = [c for r in report.discovery.rounds for c in r.candidates]
    plain = [c for c in tried if isinstance(c, Candidate) and c.is_latent_class]
    assert {c.n_states for c in plain} >= {2, 3, 4, 5, 6}
    # As good as `latent_classes` itself finds them, with the same prior and by the same score.
    found = latent_classes(close.table, 2, equivalent_sample_size=1.0, n_starts=4, seed=1)
    gain = found.best.cheeseman_stutz - report.discovery.baseline_score
    assert max(c.gain for c in plain if c.n_states == 2) == pytest.approx(gain, abs=0.05)
    assert report.hidden or "none pays" not in report.headline


def test_latent_classes_that_predict_no_better_are_not_said_to_fit(close):
    (only,) = close.discovery.rounds
    worse = tuple(
        replace(c, verdict=Verdict.PREDICTS_NO_BETTER, predicted=-1.0) for c in only.candidates
    )
    found = replace(close.discovery, rounds=(replace(only, candidates=worse),))
    words = replace(close, discovery=found).headline
    assert "none was seen to predict" in words
    assert "Latent classes fit" not in words


def test_what_there_was_no_time_to_check_is_not_called_unwarranted(close):
    (only,) = close.discovery.rounds
    cut = tuple(
        replace(c, gain=5000.0, predicted=float("nan"), verdict=Verdict.NOT_CHECKED)
        for c in only.candidates
    )
    rounds = (replace(only, candidates=cut),)
    found = replace(close.discovery, rounds=rounds, stopped="time limit")
    words = replace(close, discovery=found, stopped="time limit").headline
    assert words.startswith("Stopped by the time limit. Nothing is decided: the best of ")
    assert "gains 5,000.0 nats, but there was no time to see whether it predicts" in words
    assert "warranted" not in words


def test_a_gain_that_is_enough_but_predicts_too_little_is_told_so(close):
    (only,) = close.discovery.rounds
    large = tuple(
        replace(c, gain=9.0, predicted=0.3, verdict=Verdict.MAY_BE_LUCK) for c in only.candidates
    )
    found = replace(close.discovery, rounds=(replace(only, candidates=large),))
    words = replace(close, discovery=found).headline
    chance = luck(only.candidates)
    assert (
        f"and 0.3 on rows left out; after {n_places(large)} places tried, {chance:.1f} on " in words
    )


def test_a_simpler_explanation_that_is_better_is_named(close):
    (first, *_) = [c for c in close.discovery.rounds[0].candidates if isinstance(c, Candidate)]
    assert close.held_out is not None
    better = replace(close.held_out, bits=close.held_out.bits - 0.1)
    straw = StrawMan("one parent", first.network, close.discovery.score + 2.0, better)
    rounds = tuple(replace(r, candidates=()) for r in close.discovery.rounds)
    bare = replace(close, discovery=replace(close.discovery, rounds=rounds), straw_men=(straw,))
    assert "One parent scores 2.0 nats more than this answer and saves" in bare.headline
    worse = replace(straw, score=close.discovery.score - 1.0)
    assert "One parent" not in replace(bare, straw_men=(worse,)).headline


def test_a_run_that_tried_nothing_says_so(close):
    report = discover(close.table, settings=QUICK, seed=1, time_limit=0.0)
    assert report.headline.startswith(
        "Nothing was tried: stopped by the time limit, before any candidate was looked at. This "
        "says nothing about hidden variables"
    )


def test_none_pays_is_said_only_if_none_does(close):
    generator = np.random.default_rng(0)
    table = Table.from_frame({n: generator.integers(2, size=300).tolist() for n in "abcd"})
    report = discover(table, settings=QUICK, seed=0, resamples=0, straw_men=False, n_jobs=1)
    tried = report.discovery.rounds[0].candidates
    assert all(c.gain <= 0 for c in tried)
    assert report.headline == (
        f"No hidden variable is warranted: of {len(tried)} candidates tried, none pays for its "
        "parameters."
    )
    (only,) = close.discovery.rounds
    failing = tuple(
        replace(c, verdict=Verdict.PREDICTS_NO_BETTER, predicted=-1.0) if c.gain > 0 else c
        for c in only.candidates
    )
    other = replace(close.discovery, rounds=(replace(only, candidates=failing),))
    told = replace(close, discovery=other).headline
    assert "none was seen to predict rows that were left out better" in told
    assert "none pays" not in told


def test_what_all_rows_refuse_is_not_called_close(close):
    """A candidate of drawn rows that costs nats among all rows."""
    (only,) = close.discovery.rounds
    first = next(c for c in only.candidates if isinstance(c, Candidate))
    proof = Confirmation(LogLoss.of(np.full(4, -0.1), np.ones(4)), 2, 2, nats=-8.3)
    told = replace(first, gain=-8.3, verdict=Verdict.NOT_CONFIRMED)
    rounds = (replace(only, candidates=(told,), confirmation=proof),)
    report = replace(close, discovery=replace(close.discovery, rounds=rounds))
    assert "No hidden variable is warranted" in report.summary
    assert "does not pay for its parameters among all rows; it costs 8.3 nats" in report.summary


def test_hundreds_of_children_are_not_all_named():
    root = Variable("H1", [0, 1], hidden=True)
    columns = [Variable(f"v{i}", [0, 1]) for i in range(300)]
    network = Network([TableCPD.uniform(root), *(TableCPD.uniform(c, [root]) for c in columns)])
    found = SimpleNamespace(
        hidden=("H1",), network=network, evidence={}, whole=None, held_out=None, straw_men=()
    )
    words = headline(found)
    assert "v19 and 280 more" in words
    assert "v20" not in words
