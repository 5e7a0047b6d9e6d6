"""Is a hidden variable warranted? Score, prediction of unseen rows, stability, straw men."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unveil.discovery.patience import graced, inside, steps_of
from unveil.discovery.predictions import cross_validated
from unveil.discovery.procedure import Discovery, Round
from unveil.discovery.settings import Settings
from unveil.em.scores import hidden_scores
from unveil.em.short import short_em
from unveil.em.structural import structural_em
from unveil.evaluate.arcs import bits_in_words, is_readable, odds_in_words
from unveil.evaluate.bootstrap import resampled
from unveil.evaluate.log_loss import LogLoss, paired_gain
from unveil.hidden.candidate import fresh_name, naive_graph
from unveil.model.network import Network
from unveil.model.prior import EquivalentSampleSize
from unveil.progress import Ticker
from unveil.records import Record
from unveil.score.bdeu import BDeu
from unveil.table.core import Table
from unveil.table.variable import Variable

__all__ = ["Evidence", "StrawMan", "evidence_for", "gain_in_words", "naive_straw_man"]


@dataclass(frozen=True)
class Evidence(Record):
    """Why a hidden variable is kept.

    - `gain`: what the score gains by it, in nats, and in words
    - `held_out`: bits per row saved on rows left out, by cross-validation: every fold's rows are
      predicted with tables fitted to the other folds (the two graphs are those of the whole table)
    - `stability`: of so many resampled tables, the share in which the score still prefers it
    """

    told: ClassVar = ("interval", "verdict")

    name: str
    gain: float
    words: str
    held_out: LogLoss
    stability: float
    n_resamples: int

    @property
    def interval(self) -> tuple[float, float]:
        """A 95% interval for the bits per row saved."""
        half = 1.96 * self.held_out.standard_error
        return self.held_out.bits - half, self.held_out.bits + half

    @property
    def verdict(self) -> str:
        """What the interval says, in words."""
        low, high = self.interval
        if low > 0:
            return "it predicts better"
        return "it predicts worse" if high < 0 else "too close to call"


@dataclass(frozen=True)
class StrawMan(Record):
    """A simpler explanation to compare with: its network, score (nats) and held-out log-loss."""

    name: str
    network: Network
    score: float
    held_out: LogLoss


def evidence_for(
    round_: Round,
    table: Table,
    settings: Settings,
    seed: int,
    folds: int = 5,
    n_resamples: int = 10,
    ticker: Ticker | None = None,
) -> Evidence | None:
    """The evidence for the hidden variable that a round kept; `None` if there is no time for it."""
    assert round_.kept is not None
    prior = settings.prior
    before, after, name = round_.before, round_.kept.network, round_.kept.name
    ticker = ticker or Ticker()
    ticker.offer(f"evidence for {name}", 0, float("nan"), detail="cross-validation")
    limits = graced(ticker)
    with_it = cross_validated(after, table, settings, folds, seed, limits)
    without = with_it and cross_validated(before, table, settings, folds, seed, limits)
    if with_it is None or without is None:
        return None
    saved = paired_gain(with_it, without)
    wins, done = 0, 0
    for stream in np.random.SeedSequence(seed).spawn(n_resamples):
        if not ticker.keep_going():
            break
        rows = resampled(table, np.random.default_rng(stream))
        better = _score(after, rows, prior, ticker) > _score(before, rows, prior, ticker)
        if done and not ticker.keep_going():
            break  # EM that was cut short would not be compared fairly
        wins += better
        done += 1
        words = f"resample {done} of {n_resamples}"
        if not ticker.offer(f"evidence for {name}", done, float("nan"), detail=words):
            break
    gain = round_.kept.gain
    share = wins / done if done else float("nan")
    return Evidence(name, gain, gain_in_words(name, gain), saved, share, done)


def naive_straw_man(
    discovery: Discovery, table: Table, folds: int = 5, ticker: Ticker | None = None
) -> StrawMan | None:
    """One hidden parent of everything with two states, adapted by structural EM (4.2, Naive).

    `None`, if there is no time to predict the rows left out.
    """
    ticker = ticker or Ticker()
    prior = discovery.settings.prior
    name = fresh_name(table.names, "naive")
    hidden = {name: Variable(name, [0, 1], hidden=True)}
    found = structural_em(
        table, naive_graph(table.names, name), BDeu(prior.size), hidden=hidden, prior=prior,
        max_rounds=10, em_iterations=30, seed=discovery.seed, **inside(ticker.part(share=0.5)),
    )  # fmt: skip
    held_out = cross_validated(
        found.network, table, discovery.settings, folds, discovery.seed, ticker
    )
    if held_out is None:
        return None
    return StrawMan("one hidden parent of everything", found.network, found.score, held_out)


def gain_in_words(name: str, gain: float) -> str:
    """What the score says: as odds while people can read them, in bits always."""
    bits = bits_in_words(gain)
    if not is_readable(gain):
        return f"the table takes {bits} less to describe with {name} than without"
    return (
        f"the table is {odds_in_words(gain)} times more probable with {name} than without ({bits})"
    )


def _score(network: Network, table: Table, prior: EquivalentSampleSize, ticker: Ticker) -> float:
    fitted = short_em(network, table, prior, 30, 1e-6, steps_of(ticker))
    return hidden_scores(fitted, table, prior).cheeseman_stutz
