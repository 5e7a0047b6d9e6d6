"""Cross-validation with choosing inside: would the choice have been made without the rows too?

What was chosen because it does well on all rows also does well on the rows left out, whatever it is
worth. So everything is chosen again in every fold, from the other folds alone: the network without
a further hidden variable, the structure of every finalist, which of them is best, and whether it
pays at all (if not, it saves nothing there). Then the rows left out are predicted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unveil.discovery.baseline import learn_complete
from unveil.discovery.bench import Bench
from unveil.discovery.candidates import Candidate
from unveil.discovery.patience import inside, steps_of
from unveil.discovery.predictions import FORGETTING
from unveil.em.short import short_em
from unveil.em.structural import structural_em
from unveil.evaluate.cross_validation import cross_validate
from unveil.evaluate.folds import n_cases
from unveil.evaluate.log_loss import LogLoss, Predictor, paired_gain
from unveil.model.network import Network
from unveil.progress import Ticker
from unveil.table.core import Table

__all__ = ["Confirmation", "confirm"]

FOLDS = 10
ONE_IN_TWENTY = 1.645
"""A normal number is larger than this many standard errors one time in twenty."""


@dataclass(frozen=True)
class Confirmation:
    """What choosing a hidden variable in every fold saves on the rows left out.

    `saved` is in bits per row; in `n_chosen` of `n_folds` folds one was chosen at all.
    """

    saved: LogLoss
    n_chosen: int
    n_folds: int

    @property
    def error(self) -> float:
        """The standard error of the bits saved on new rows, after learning from other rows.

        Folds share most of the rows they learn from, so they differ less than new tables would.
        Nadeau and Bengio (2003) add the share left out for every share learned from: the variance
        1/k of a mean over k folds becomes 1/k + 1/(k - 1).
        """
        k = self.n_folds
        return self.saved.standard_error * math.sqrt(1.0 + k / (k - 1.0))

    @property
    def luck(self) -> float:
        """The bits per row that luck with the rows left out would save one time in twenty.

        A superfluous variable costs bits rather than saves them, so it is less often than that.
        """
        return ONE_IN_TWENTY * self.saved.standard_error

    @property
    def is_sure(self) -> bool:
        """Whether it saves more than luck alone would."""
        return self.saved.bits > self.luck

    @property
    def interval(self) -> tuple[float, float]:
        """A 95% interval for the bits per row that it saves on new rows."""
        half = 1.96 * self.error
        return self.saved.bits - half, self.saved.bits + half


def confirm(
    bench: Bench, finalists: Sequence[Candidate], ticker: Ticker, folds: int = FOLDS
) -> Confirmation | None:
    """The confirmation for the best of the finalists; `None` if it was stopped."""
    folds = min(folds, n_cases(bench.table))
    chosen: list[bool] = []
    without: list[Network] = []

    def plain(rows: Table) -> Predictor:
        without.append(_without(bench, rows, ticker))
        return without[-1]

    def best(rows: Table) -> Predictor:
        rival = without[len(chosen)]
        found = [_readapted(bench, c.network, rows, ticker) for c in finalists]
        scores = [bench.settings.score_of(network, rows) for network in found]
        first = int(np.argmax(scores))
        chosen.append(scores[first] > bench.settings.score_of(rival, rows))
        return found[first] if chosen[-1] else rival

    rest = folds, bench.seed, steps_of(ticker)
    losses = []
    for learner in (plain, best):
        result = cross_validate(bench.table, learner, *rest, blocks=bench.settings.blocks)
        if not (result.is_whole and ticker.keep_going()):
            return None
        losses.append(result)
    return Confirmation(paired_gain(losses[1], losses[0]), sum(chosen), folds)


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
    )  # fmt: skip
    return short_em(found.network, rows, bench.prior, *FORGETTING, progress=steps_of(ticker))
