"""Mixtures in words: a number of classes, what a mixture is worth, and all of it as a summary."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unveil.em.mixture.choice import Mixture, MixtureResult
    from unveil.em.mixture.residuals import BivariateResidual

__all__ = ["figure_lines", "in_classes", "many", "mixture_line", "summary_lines"]

LARGE = 4.0
"""A bivariate residual above this is said: about the 95% point of chi2 with one degree."""


def in_classes(k: int) -> str:
    """`1 class`, `2 classes`."""
    return "1 class" if k == 1 else f"{k} classes"


def many(n: int) -> str:
    """A whole number as people read it: `1,024`, but `about 10^330`."""
    return f"{n:,}" if abs(n) < 10**12 else f"about 10^{int(math.log10(n))}"


def mixture_line(mixture: Mixture, chosen: bool) -> str:
    """The scores of a mixture in a line that begins with a star if it is the chosen one."""
    m = mixture
    held = "" if m.held_out is None else f", held-out {m.held_out.bits:.4f} bits per row"
    return (
        f"{'*' if chosen else ' '} {in_classes(m.n_classes)}: "
        f"log-likelihood {m.log_likelihood:,.2f}, {m.n_parameters} parameters, "
        f"BIC {m.bic:,.2f}, AIC {m.aic:,.2f}, Cheeseman-Stutz {m.cheeseman_stutz:,.2f}{held} "
        f"({m.n_reached} of {len(m.starts)} starts)"
    )


def summary_lines(found: MixtureResult) -> list[str]:
    """The numbers tried, the choice, the classes, how well they fit, and what looks odd."""
    return [
        *(mixture_line(m, m.n_classes == found.n_classes) for m in found.mixtures),
        f"{in_classes(found.n_classes)} by {found.score_name}",
        *(profile.words for profile in found.profiles),
        *figure_lines(found),
        *found.notes,
    ]


def figure_lines(found: MixtureResult) -> list[str]:
    """Fit, certainty, test and residuals of the chosen mixture, a line each."""
    best = found.best
    lines = [*_course_words(best), *_fit_words(best), *_certainty_words(best)]
    if best.test is not None:
        lines.append(f"bootstrap test: {best.test.words}")
    return [*lines, *_residual_words(found.residuals), *_error_words(found)]


def _fit_words(mixture: Mixture) -> list[str]:
    fit = mixture.goodness
    if fit is None:
        return ["no G2 and X2: they compare counts of whole rows, and some rows have gaps"]
    if fit.degrees_of_freedom <= 0:
        what = f"{mixture.n_parameters} parameters for {many(fit.n_cells)} cells: too many to test"
        return [f"G2 {fit.g2:.2f}, X2 {fit.x2:.2f}; {what}"]
    degrees = f"{many(fit.degrees_of_freedom)} degrees of freedom"
    values = f"G2 {fit.g2:.2f} ({_p(fit.p_g2)}), X2 {fit.x2:.2f} ({_p(fit.p_x2)})"
    sparse = f"; {fit.n_cases:,.6g} cases are too few for {many(fit.n_cells)} cells to trust p"
    return [f"{values}, {degrees}{sparse if fit.is_sparse else ''}"]


def _course_words(mixture: Mixture) -> list[str]:
    if not mixture.course:
        return []
    last = mixture.course[-1]
    words = f"bottleneck: {len(mixture.course)} steps to gamma {last.gamma:.4g}, I(T;Y) "
    words += f"{sum(last.information):.3f} nats"
    if mixture.n_beaten is not None:
        others = len(mixture.starts) - 1
        better = sum(s.objective > _led(mixture) + 1e-4 for s in mixture.starts if not s.course)
        equal = others - mixture.n_beaten - better
        words += f"; beats {mixture.n_beaten} of {others} random starts, equals {equal}, "
        words += f"is beaten by {better}"
    return [words]


def _led(mixture: Mixture) -> float:
    """How high the bottleneck's run came."""
    return max(s.objective for s in mixture.starts if s.course)


def _p(value: float) -> str:
    return "p < 0.001" if value < 0.0005 else f"p = {value:.3f}"


def _certainty_words(mixture: Mixture) -> list[str]:
    sure = mixture.certainty
    if math.isnan(sure.relative_entropy):
        return []
    return [
        f"relative entropy {sure.relative_entropy:.3f}, entropy R2 {sure.entropy_r2:.3f}, "
        f"classification error {sure.classification_error:.1%}"
    ]


def _residual_words(residuals: list[BivariateResidual] | None) -> list[str]:
    if not residuals:
        return []
    large = [r for r in residuals if r.value > LARGE]
    if not large:
        return [f"every pair of columns is explained: largest residual {residuals[0].words}"]
    more = f" and {len(large) - 3} more" if len(large) > 3 else ""
    named = "; ".join(r.words for r in large[:3])
    return [f"pairs of columns the classes do not explain (bivariate residuals): {named}{more}"]


def _error_words(found: MixtureResult) -> list[str]:
    errors = found.standard_errors
    if errors is None or errors.n_undetermined == 0:
        return []
    ways = "way" if errors.n_undetermined == 1 else "ways"
    return [
        "no standard errors: the rows do not tell all parameters apart (they can be moved in "
        f"{errors.n_undetermined} {ways} at next to no cost)"
    ]
