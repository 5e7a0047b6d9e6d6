"""What folds said of a hidden variable, and whether it may be believed."""

from __future__ import annotations

import math
from dataclasses import dataclass

from unveil.discovery.rivals import Rival
from unveil.evaluate.log_loss import LogLoss

__all__ = ["Confirmation", "around", "luck_in_errors"]


@dataclass(frozen=True)
class Confirmation:
    """What choosing a hidden variable in every fold saves on the rows left out, in bits per row.

    `saved` is what it saves over no further hidden variable; in `n_chosen` of `n_folds` folds one
    was chosen at all. If some `rival` saves bits without it, `without` is what the best of them
    saves, and `beyond` what the hidden variable saves over that, learned the rival's way or not.
    `nats` is what it gains in score, in the mean over folds, but no more than on all rows (where it
    gains less, folds had a poorer network without it); `lucky_nats` what the best of all
    places would gain by luck with probability `max_luck`. `predicted` is what its own graph, that
    of all rows, gains on rows left out of its parameters (nats): folds that say more found others.
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
    predicted: float = math.inf
    of_all: bool = False
    """Whether it was taken from drawn rows to all, where two halves are the folds."""
    by_fold: float = 0.0
    """The standard error of `saved` as whole folds differ in it, rather than single rows."""
    of_graph: float = math.nan
    """The bits per row that the graph of all rows saves on rows left out of its parameters."""

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
    def gained(self) -> float:
        """What all rows gain by it, in nats: the mean of what score and rows left out say.

        The score adds up how well each row is predicted from those before it, from the first on;
        rows left out say how well from nearly all others. Both are in nats, and about the same
        rows. Neither counts for more than the graph of all rows has of it.
        """
        return 0.5 * (self.nats + min(-self._over_rivals.log_likelihood, self.predicted))

    @property
    def lucky(self) -> float:
        """What luck would gain with probability `max_luck`, in nats.

        The more of two: what the score of the best of all places gains, and as many standard errors
        of such a gain, as the rows differ in it, as luck gets that often (Vuong 1989).
        """
        errors = luck_in_errors(self.max_luck) * self._over_rivals.total_error
        return max(self.lucky_nats, errors)

    @property
    def is_sure(self) -> bool:
        """Whether it holds: chosen in most folds, no worse than all else, and by more than luck.

        Rows left out have to be predicted better than without it and, beyond the best rival, not
        worse by more than a standard error (the best of several, found on the same rows, looks
        better than it is); and what score and rows left out gain has to be more than luck would.
        """
        over = self._over_rivals
        return self._saves and over.bits > -over.standard_error and self.gained > self.lucky

    @property
    def is_explained(self) -> bool:
        """Whether it saves something, but not beyond the best rival."""
        return self.rival is not None and self._saves and not self.is_sure

    @property
    def _saves(self) -> bool:
        return self.saved.bits > 0 and 2 * self.n_chosen > self.n_folds

    @property
    def _over_rivals(self) -> LogLoss:
        return self.saved if self.beyond is None else self.beyond

    @property
    def half_width(self) -> float:
        """Half of a 95% interval for the bits saved, as rows differ or as folds do.

        The wider of the two. What a fold finds goes for all of its rows, so these do not differ
        independently; but folds are few, so theirs is Student's t with one degree less than folds
        (Nadeau and Bengio 2003).
        """
        half = 1.96 * self.error
        if self.of_all or self.n_folds < 2:
            return half
        return max(half, student_errors(self.n_folds - 1) * self.by_fold * self._widened)

    @property
    def interval(self) -> tuple[float, float]:
        """A 95% interval for the bits per row that it saves on new rows."""
        return around(self.saved.bits, self.of_graph, self.half_width)

    @property
    def _widened(self) -> float:
        return math.sqrt(1.0 + self.n_folds / (self.n_folds - 1.0))


def around(found_anew: float, of_graph: float, half_width: float) -> tuple[float, float]:
    """An interval that holds two readings, with `half_width` to both sides.

    What folds find anew, from fewer rows, is often less than what all rows find; the graph of all
    rows was chosen by the rows that it is tried on. New rows mostly say something in between.

    >>> around(0.25, 0.5, 0.125)
    (0.125, 0.625)
    >>> around(0.25, math.nan, 0.125)
    (0.125, 0.375)
    """
    readings = [found_anew] if math.isnan(of_graph) else [found_anew, of_graph]
    return min(readings) - half_width, max(readings) + half_width


def luck_in_errors(probability: float) -> float:
    """How many standard errors above zero luck gets with a probability.

    >>> round(luck_in_errors(0.05), 3)
    1.645
    """
    from scipy.special import ndtri

    return float(ndtri(1.0 - probability))


def student_errors(degrees: int) -> float:
    """How many standard errors a 95% interval reaches to both sides, by Student's t.

    >>> round(student_errors(9), 3)
    2.262
    """
    from scipy.special import stdtrit

    return float(stdtrit(degrees, 0.975))
