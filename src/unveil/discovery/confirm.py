"""Cross-validation with choosing inside: would the choice have been made without the rows too?

What was chosen because it does well on all rows also does well on the rows left out, whatever it is
worth. So everything is chosen again in every fold, from the other folds alone: the network without
a further hidden variable, the structure of every finalist, which of them is best, and whether it
pays at all (if not, it saves nothing there). Then the rows left out are predicted.

What saves something has to hold against rival explanations as well: no further hidden
variable, but another form of the tables, another prior, another score (`rivals`). Both sides may
have the form of the best rival then.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from unveil.discovery.afresh import found_afresh
from unveil.discovery.bench import Bench
from unveil.discovery.candidates import Candidate
from unveil.discovery.predictions import cross_validated, drawn_rows
from unveil.discovery.rivals import RIVALS, Rival, without_further
from unveil.discovery.settings import Settings
from unveil.evaluate.folds import fold_tables, n_cases
from unveil.evaluate.log_loss import LogLoss, log_loss
from unveil.model.network import Network
from unveil.progress import Ticker
from unveil.table.core import Table

__all__ = ["Confirmation", "confirm", "luck_in_errors"]

FOLDS = 10
INNER_FOLDS = 3
GLANCED = 3
"""After so many folds a rival that predicts no better than plain tables is given up."""


@dataclass(frozen=True)
class Confirmation:
    """What choosing a hidden variable in every fold saves on the rows left out, in bits per row.

    `saved` is what it saves over no further hidden variable; in `n_chosen` of `n_folds` folds one
    was chosen at all. If some `rival` saves bits without it, `without` is what the best of them
    saves, and `beyond` what the hidden variable saves over that, learned the rival's way or not.
    `nats` is what it gains in score, in the mean over folds; `lucky_nats` what the best of all
    places would gain by luck with probability `max_luck`.
    """

    saved: LogLoss
    n_chosen: int
    n_folds: int
    nats: float = 0.0
    lucky_nats: float = 0.0
    rival: Rival | None = None
    without: LogLoss | None = None
    beyond: LogLoss | None = None
    max_luck: float = 0.05

    @property
    def error(self) -> float:
        """The standard error of the bits saved on new rows, after learning from other rows.

        Folds share most of the rows they learn from, so they differ less than new tables would.
        Nadeau and Bengio (2003) add the share left out for every share learned from: the variance
        1/k of a mean over k folds becomes 1/k + 1/(k - 1).
        """
        return self.saved.standard_error * self._widened

    @property
    def luck(self) -> float:
        """The bits per row that luck alone would save with probability `max_luck`.

        A superfluous variable costs bits rather than saves them, so it is less often than that.
        """
        return luck_in_errors(self.max_luck) * self.error

    @property
    def is_sure(self) -> bool:
        """Whether it holds: chosen in most folds, and better than all else by score and by rows.

        What rows left out save says little where rows are few, so that it only has to be more than
        nothing, over plain tables and over the best rival. How sure that is, is for the score to
        say: learned from the rows of a fold alone, it has to gain more than luck would.
        """
        return self._saves and self._beyond > 0 and self.nats > self.lucky_nats

    @property
    def is_explained(self) -> bool:
        """Whether it saves something, but not beyond the best rival."""
        return self.rival is not None and self._saves and not self.is_sure

    @property
    def _saves(self) -> bool:
        return self.saved.bits > 0 and 2 * self.n_chosen > self.n_folds

    @property
    def _beyond(self) -> float:
        return self.saved.bits if self.beyond is None else self.beyond.bits

    @property
    def interval(self) -> tuple[float, float]:
        """A 95% interval for the bits per row that it saves on new rows."""
        half = 1.96 * self.error
        return self.saved.bits - half, self.saved.bits + half

    @property
    def _widened(self) -> float:
        return math.sqrt(1.0 + self.n_folds / (self.n_folds - 1.0))


def luck_in_errors(probability: float) -> float:
    """How many standard errors above zero luck gets with a probability.

    >>> round(luck_in_errors(0.05), 3)
    1.645
    """
    from scipy.special import ndtri

    return float(ndtri(1.0 - probability))


@dataclass(frozen=True)
class _Fold:
    """The rows learned from and left out, and the networks that were chosen without the latter."""

    rows: Table
    left_out: Table
    without: Network
    found: Network
    chosen: bool


def confirm(
    bench: Bench,
    finalists: Sequence[Candidate],
    ticker: Ticker,
    folds: int = FOLDS,
    places: int = 1,
) -> Confirmation | None:
    """The confirmation for the best of so many places, or `None` if it was stopped."""
    table = drawn_rows(bench.table, bench.seed)
    folds = min(folds, n_cases(table))
    done = []
    for rows, left_out in fold_tables(table, folds, bench.seed, bench.settings.blocks):
        done.append(_fold(bench, finalists, rows, left_out, ticker))
        words = f"fold {len(done)} of {folds}"
        if not ticker.offer("", len(done), float("nan"), detail=words):
            return None
    plain = [log_loss(f.without, f.left_out) for f in done]
    found = [log_loss(f.found, f.left_out) for f in done]
    max_luck = bench.settings.max_luck
    first = Confirmation(
        _saved(found, plain), sum(f.chosen for f in done), folds, _gained(bench.settings, done),
        math.log(places / max_luck), max_luck=max_luck,
    )  # fmt: skip
    if first.saved.bits <= 0:
        return first
    return _beside_rivals(bench, done, plain, found, first, ticker)


def _beside_rivals(
    bench: Bench,
    done: Sequence[_Fold],
    plain: list[LogLoss],
    found: list[LogLoss],
    first: Confirmation,
    ticker: Ticker,
) -> Confirmation | None:
    """The same beside the best rival: of what was found, whichever form predicts better counts."""
    rivals: list[tuple[Rival, list[LogLoss]]] = []
    for rival in RIVALS:
        losses = _losses_of(rival, bench, done, plain, ticker)
        if not ticker.keep_going():
            return None
        if losses is not None:
            rivals.append((rival, losses))
    if not rivals:
        return first
    best, losses = max(rivals, key=lambda r: _saved(r[1], plain).bits)
    both = []
    for fold, loss in zip(done, losses, strict=True):
        network = best.of(fold.found, bench, fold.rows, ticker) if fold.chosen else None
        both.append(loss if network is None else log_loss(network, fold.left_out))
        if not ticker.keep_going():
            return None
    beyond = max(_saved(found, losses), _saved(both, losses), key=lambda saved: saved.bits)
    return replace(first, rival=best, without=_saved(losses, plain), beyond=beyond)


def _gained(settings: Settings, done: Sequence[_Fold]) -> float:
    """What the score of the rows learned from gains by what was found, in the mean over folds."""
    return float(
        np.mean([settings.score_of(f.found, f.rows) - settings.score_of(f.without, f.rows)
                 if f.chosen else 0.0 for f in done])
    )  # fmt: skip


def _losses_of(
    rival: Rival, bench: Bench, done: Sequence[_Fold], plain: list[LogLoss], ticker: Ticker
) -> list[LogLoss] | None:
    """What a rival loses on the rows left out; `None`, if it predicts no better than plain tables.

    After a few folds that is clear enough for some.
    """
    losses: list[LogLoss] = []
    for fold in done:
        network = rival.of(fold.without, bench, fold.rows, ticker)
        if network is None or not ticker.keep_going():
            return None
        losses.append(log_loss(network, fold.left_out))
        so_far = _saved(losses, plain[: len(losses)])
        if len(losses) == GLANCED and so_far.bits < -so_far.standard_error:
            return None
    return losses if so_far.bits > 0 else None


def _fold(
    bench: Bench, finalists: Sequence[Candidate], rows: Table, left_out: Table, ticker: Ticker
) -> _Fold:
    without = without_further(bench, rows, ticker)
    here = Bench.of(
        without, bench.settings.score_of(without, rows), rows, bench.settings, bench.seed
    )
    tried = (found_afresh(here, c, ticker) for c in finalists)
    found = [network for network in tried if network is not None]
    merits = [_merit(bench, network, rows, ticker) for network in [without, *found]]
    best = int(np.argmax(merits))
    return _Fold(rows, left_out, without, [without, *found][best], best > 0)


def _merit(bench: Bench, network: Network, rows: Table, ticker: Ticker) -> float:
    """What candidates are chosen by: the score, and the likelihood of rows left out once more."""
    settings = bench.settings
    folds = min(INNER_FOLDS, n_cases(rows))
    inner = (
        cross_validated(network, rows, settings, folds, bench.seed, ticker) if folds > 1 else None
    )
    return settings.score_of(network, rows) + (0.0 if inner is None else inner.log_likelihood)


def _saved(better: Sequence[LogLoss], worse: Sequence[LogLoss]) -> LogLoss:
    """The bits per row that one side saves over the other, over all folds."""
    bits = np.concatenate([w.per_row - b.per_row for b, w in zip(better, worse, strict=True)])
    return LogLoss.of(bits, np.concatenate([b.weights for b in better]))
