"""Cross-validation with choosing inside: would the choice have been made without the rows too?

What was chosen because it does well on all rows also does well on the rows left out, whatever it is
worth. So everything is chosen again in every fold, from the other folds alone: the network without
a further hidden variable, the structure of every finalist, which of them is best, and whether it
pays at all (if not, it saves nothing there). Then the rows left out are predicted.

What surely saves something has to hold against the rival explanation as well: no further hidden
variable, but local structure inside of tables. Both sides may have it then.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from unveil.discovery.baseline import learn_complete
from unveil.discovery.bench import Bench
from unveil.discovery.candidates import Candidate
from unveil.discovery.compact import compacted
from unveil.discovery.patience import inside, steps_of
from unveil.discovery.predictions import FORGETTING, cross_validated, drawn_rows
from unveil.em.short import short_em
from unveil.em.structural import structural_em
from unveil.evaluate.folds import fold_tables, n_cases
from unveil.evaluate.log_loss import LogLoss, log_loss
from unveil.model.network import Network
from unveil.progress import Ticker
from unveil.table.core import Table

__all__ = ["Confirmation", "confirm", "luck_in_errors"]

FOLDS = 10
INNER_FOLDS = 3
LOCAL = "tree"
"""The local structure of the rival: trees of contexts, which hold most of what others can say."""


@dataclass(frozen=True)
class Confirmation:
    """What choosing a hidden variable in every fold saves on the rows left out, in bits per row.

    `saved` is what it saves over no further hidden variable; in `n_chosen` of `n_folds` folds one
    was chosen at all. Where that is sure, `compact` is what local structure without it saves, and
    `beyond` what it saves over that, with or without local structure of its own.
    """

    saved: LogLoss
    n_chosen: int
    n_folds: int
    compact: LogLoss | None = None
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
        """Whether it saves more than luck alone would, over plain tables and over compact ones."""
        return self.is_better and (self.beyond is None or self._sure(self.beyond))

    @property
    def is_better(self) -> bool:
        """Whether it saves more than luck alone would, over plain tables."""
        return self._sure(self.saved)

    @property
    def is_explained(self) -> bool:
        """Whether local structure inside of tables saves as much."""
        return self.is_better and not self.is_sure

    @property
    def interval(self) -> tuple[float, float]:
        """A 95% interval for the bits per row that it saves on new rows."""
        half = 1.96 * self.error
        return self.saved.bits - half, self.saved.bits + half

    def _sure(self, saved: LogLoss) -> bool:
        return saved.bits > luck_in_errors(self.max_luck) * self._widened * saved.standard_error

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
    bench: Bench, finalists: Sequence[Candidate], ticker: Ticker, folds: int = FOLDS
) -> Confirmation | None:
    """The confirmation for the best of the finalists; `None` if it was stopped."""
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
    saved = _saved(found, plain)
    n_chosen = sum(f.chosen for f in done)
    first = Confirmation(saved, n_chosen, folds, max_luck=bench.settings.max_luck)
    if not first.is_better:
        return first
    return _beside_compact(bench, done, plain, found, first, ticker)


def _beside_compact(
    bench: Bench,
    done: Sequence[_Fold],
    plain: list[LogLoss],
    found: list[LogLoss],
    first: Confirmation,
    ticker: Ticker,
) -> Confirmation | None:
    """The same beside local structure: of what was found, whichever form predicts better counts."""
    shared = bench.settings, bench.seed, ticker, LOCAL
    rival, both = [], []
    for fold in done:
        compact = compacted(fold.without, fold.rows, *shared)
        if compact is None:
            return first
        rival.append(log_loss(compact, fold.left_out))
        of_found = compacted(fold.found, fold.rows, *shared) if fold.chosen else compact
        assert of_found is not None
        both.append(log_loss(of_found, fold.left_out))
        if not ticker.keep_going():
            return None
    compact_saved = _saved(rival, plain)
    beyond = max(_saved(found, rival), _saved(both, rival), key=lambda saved: saved.bits)
    return replace(first, compact=compact_saved, beyond=beyond)


def _fold(
    bench: Bench, finalists: Sequence[Candidate], rows: Table, left_out: Table, ticker: Ticker
) -> _Fold:
    without = _without(bench, rows, ticker)
    found = [_readapted(bench, c.network, rows, ticker) for c in finalists]
    merits = [_merit(bench, network, rows, ticker) for network in found]
    first = int(np.argmax(merits))
    chosen = merits[first] > _merit(bench, without, rows, ticker)
    return _Fold(rows, left_out, without, found[first] if chosen else without, chosen)


def _merit(bench: Bench, network: Network, rows: Table, ticker: Ticker) -> float:
    """What candidates are chosen by: the score, and the likelihood of rows left out once more."""
    settings = bench.settings
    folds = min(INNER_FOLDS, n_cases(rows))
    inner = (
        cross_validated(network, rows, settings, folds, bench.seed, ticker) if folds > 1 else None
    )
    return settings.score_of(network, rows) + (0.0 if inner is None else inner.log_likelihood)


def _without(bench: Bench, rows: Table, ticker: Ticker) -> Network:
    """The network without a further hidden variable, searched for again."""
    network, settings = bench.network, bench.settings
    if rows.is_complete and not network.hidden:
        return learn_complete(rows, settings, 0, bench.seed, network.dag, ticker)
    return _readapted(bench, network, rows, ticker)


def _readapted(bench: Bench, network: Network, rows: Table, ticker: Ticker) -> Network:
    """The network after structural EM and EM on these rows."""
    settings = bench.settings
    found = structural_em(
        rows, network, settings.criterion, prior=bench.prior, constraints=bench.limits(network),
        max_rounds=5, em_iterations=30, negligible=1e-3, seed=bench.seed,
        structure_prior=settings.structure_prior, **inside(ticker),
    ).network  # fmt: skip
    return short_em(found, rows, bench.prior, *FORGETTING, progress=steps_of(ticker))


def _saved(better: Sequence[LogLoss], worse: Sequence[LogLoss]) -> LogLoss:
    """The bits per row that one side saves over the other, over all folds."""
    bits = np.concatenate([w.per_row - b.per_row for b, w in zip(better, worse, strict=True)])
    return LogLoss.of(bits, np.concatenate([b.weights for b in better]))
