"""Is a hidden variable warranted? Score, prediction of unseen rows, stability, straw men."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unveil.discovery.averaged import Averaged, averaged
from unveil.discovery.bench import Bench
from unveil.discovery.choice import n_places
from unveil.discovery.compact import compacted, is_compact
from unveil.discovery.confirm import confirm
from unveil.discovery.confirmation import around
from unveil.discovery.patience import graced, inside, steps_of
from unveil.discovery.predictions import cross_validated
from unveil.discovery.procedure import Discovery, Round
from unveil.discovery.settings import Settings
from unveil.em.short import short_em
from unveil.em.structural import structural_em
from unveil.evaluate.arcs import bits_in_words, is_readable, odds_in_words
from unveil.evaluate.bootstrap import resampled
from unveil.evaluate.log_loss import LogLoss
from unveil.hidden.candidate import fresh_name, naive_graph
from unveil.model.network import Network
from unveil.progress import Ticker
from unveil.records import Record
from unveil.search.legal import made_legal
from unveil.table.core import Table
from unveil.table.variable import Variable

__all__ = [
    "Evidence",
    "StrawMan",
    "compact_straw_man",
    "evidence_for",
    "gain_in_words",
    "naive_straw_man",
]


@dataclass(frozen=True)
class Evidence(Record):
    """Why a hidden variable is kept.

    - `gain`: what the score gains by it, in nats, and in words
    - `held_out`: bits per row saved on rows left out, by cross-validation: in every fold the
      network without it, the structure around it and which of the best candidates it is are chosen
      again, from the other folds alone
    - `error`: the standard error of that, with what learning from other rows would change
    - `of_graph`: bits per row that the graph of all rows saves on rows left out of its parameters
    - `chosen`: the share of folds in which one was chosen at all
    - `gained`: the nats that score and rows left out gain, taken together (`Confirmation.gained`)
    - `lucky_gain`, `lucky_bits`: what luck alone would have given to the best of so many places
      (`n_places`) with probability `max_luck`: nats of that kind, and bits per row
    - `stability`: of so many resampled tables, the share in which the score still prefers it
    - `averaged`: how probable it and its links are over the best structures
    - `of_all`: whether all rows decided, found in drawn ones: then `held_out` is of two halves,
      each predicted with parameters of the other
    """

    told: ClassVar = ("interval", "verdict")

    name: str
    gain: float
    words: str
    held_out: LogLoss
    stability: float
    n_resamples: int
    error: float = float("nan")
    chosen: float = 1.0
    lucky_gain: float = 0.0
    lucky_bits: float = 0.0
    n_places: int = 1
    averaged: Averaged | None = None
    max_luck: float = 0.05
    gained: float = float("nan")
    of_all: bool = False
    half_width: float = float("nan")
    of_graph: float = float("nan")

    @property
    def interval(self) -> tuple[float, float]:
        """A 95% interval for the bits per row saved on new rows (`Confirmation.interval`)."""
        error = self.held_out.standard_error if math.isnan(self.error) else self.error
        half = 1.96 * error if math.isnan(self.half_width) else self.half_width
        return around(self.held_out.bits, self.of_graph, half)

    @property
    def verdict(self) -> str:
        """What the interval says, in words."""
        low, high = self.interval
        if low > 0:
            return "it predicts better"
        if self.held_out.bits > self.lucky_bits > 0:
            return "it probably predicts better"
        return "it predicts worse" if high < 0 else "too close to call by these rows alone"

    @property
    def luck_in_words(self) -> str:
        """What luck alone would have given, in a sentence; empty where that was not asked."""
        if not self.lucky_bits > 0:
            return ""
        return (
            f"score and rows left out, taken together, gain {self.gained:.1f} nats; after "
            f"{self.n_places} places tried, luck alone may, with probability {self.max_luck:.0%}, "
            f"gain {self.lucky_gain:.1f} nats and {self.lucky_bits:.4f} bits per row"
        )


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
    before, after, name = round_.before, round_.kept.network, round_.kept.name
    ticker = ticker or Ticker()
    ticker.offer(f"evidence for {name}", 0, float("nan"), detail="cross-validation")
    proof = round_.confirmation
    if proof is None:
        bench = Bench.of(before, round_.score_before, table, settings, seed)
        limits = graced(ticker.part(f"evidence for {name}"))
        proof = confirm(bench, [round_.kept], limits, folds, n_places(round_.candidates))
    if proof is None:
        return None
    wins, done = 0, 0
    for stream in np.random.SeedSequence(seed).spawn(n_resamples):
        if not ticker.keep_going():
            break
        rows = resampled(table, np.random.default_rng(stream))
        better = _score(after, rows, settings, ticker) > _score(before, rows, settings, ticker)
        if done and not ticker.keep_going():
            break  # EM that was cut short would not be compared fairly
        wins += better
        done += 1
        words = f"resample {done} of {n_resamples}"
        if not ticker.offer(f"evidence for {name}", done, float("nan"), detail=words):
            break
    gain = proof.nats if proof.of_all else round_.kept.gain
    share = wins / done if done else float("nan")
    return Evidence(
        name, gain, gain_in_words(name, gain), proof.saved, share, done, proof.error,
        proof.n_chosen / proof.n_folds, proof.lucky, proof.luck,
        n_places(round_.candidates), averaged(before.dag, round_.candidates), settings.max_luck,
        proof.gained, proof.of_all, proof.half_width, proof.of_graph,
    )  # fmt: skip


def compact_straw_man(
    discovery: Discovery, table: Table, folds: int = 5, ticker: Ticker | None = None
) -> StrawMan | None:
    """No hidden variable, but local structure inside of tables; `None` if no table has any."""
    ticker = ticker or Ticker()
    settings, seed = discovery.settings, discovery.seed
    compact = compacted(discovery.baseline, table, settings, seed, ticker.part(share=0.5))
    if compact is None or not is_compact(compact):
        return None
    held_out = cross_validated(compact, table, settings, folds, seed, ticker)
    if held_out is None:
        return None
    score = settings.score_of(compact, table)
    return StrawMan("no hidden variable, compact tables", compact, score, held_out)


def naive_straw_man(
    discovery: Discovery, table: Table, folds: int = 5, ticker: Ticker | None = None
) -> StrawMan | None:
    """One hidden parent of everything with two states, adapted by structural EM (4.2, Naive).

    `None`, if there is no time to predict the rows left out.
    """
    ticker = ticker or Ticker()
    settings = discovery.settings
    name = fresh_name(table.names, "naive")
    hidden = {name: Variable(name, [0, 1], hidden=True)}
    limits = settings.limits([name])
    names = [*table.names, name]
    graph = made_legal(naive_graph(table.names, name), limits.rules(names), names)
    found = structural_em(
        table, graph, settings.criterion, hidden=hidden, prior=settings.prior, constraints=limits,
        structure_prior=settings.structure_prior, max_rounds=10, em_iterations=30,
        seed=discovery.seed, **inside(ticker.part(share=0.5)),
    )  # fmt: skip
    held_out = cross_validated(
        found.network, table, discovery.settings, folds, discovery.seed, ticker
    )
    if held_out is None:
        return None
    return StrawMan("one hidden parent of everything", found.network, found.score, held_out)


def gain_in_words(name: str, gain: float) -> str:
    """What the score says: as odds while people can read them, in bits always."""
    if gain < 0:
        return f"the table takes {bits_in_words(-gain)} more to describe with {name} than without"
    bits = bits_in_words(gain)
    if not is_readable(gain):
        return f"the table takes {bits} less to describe with {name} than without"
    return (
        f"the table is {odds_in_words(gain)} times more probable with {name} than without ({bits})"
    )


def _score(network: Network, table: Table, settings: Settings, ticker: Ticker) -> float:
    fitted = short_em(network, table, settings.prior, 30, 1e-6, steps_of(ticker))
    return settings.score_of(fitted, table)
