"""`latent_classes`: every number of classes asked for, and the best of them by a criterion."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral

import numpy as np

from unveil.em.mixture.choice import CRITERIA, Criterion, Mixture, MixtureResult
from unveil.em.mixture.fit import MixtureSettings, fit_mixture, table_values
from unveil.em.mixture.notes import notes_on
from unveil.em.mixture.words import in_classes
from unveil.em.scores import hidden_scores
from unveil.errors import DataError, Hint
from unveil.evaluate.cross_validation import CrossValidation, cross_validate
from unveil.evaluate.folds import check_dealing
from unveil.model.network import Network
from unveil.model.prior import DirichletPrior, EquivalentSampleSize
from unveil.progress import Progress, StopReason, Ticker
from unveil.table.core import Table

__all__ = ["latent_classes"]

FOLDS = 5
"""How many folds the criterion `held-out` takes when nothing is said."""


def latent_classes(
    table: Table,
    classes: int | Iterable[int] = range(1, 7),
    criterion: Criterion = "bic",
    n_starts: int = 10,
    prior: DirichletPrior | None = None,
    name: str = "class",
    held_out: float | int | None = None,
    max_iterations: int = 2000,
    tolerance: float = 1e-9,
    seed: int | None = None,
    progress: Progress | None = None,
    time_limit: float | None = None,
) -> MixtureResult:
    """Mixtures with every number of `classes`, and the best of them by `criterion`.

    The criteria: `bic` (LL - d/2 log N), `aic` (LL - d), `cheeseman-stutz` (an approximation of
    the marginal likelihood), `held-out` (log-loss of rows left out; `held_out` is their fraction
    or, as a whole number, of folds to cross-validate with). BIC is the cautious choice,
    Cheeseman-Stutz the Bayesian one, held-out asks directly for prediction and costs most.

    Parameters are maximum likelihood, or MAP with a `prior`. Cheeseman-Stutz and held-out fits
    need a prior in any case: an equivalent sample size of 1 unless one is given. Missing cells
    are summed over and row weights count as that many rows.

    A time limit is shared out among the numbers of classes, larger ones getting more. Asked to
    stop, it gives the best so far, from at least one fit.

    >>> from unveil import datasets
    >>> found = latent_classes(datasets.table("college_plans"), classes=[1, 2], n_starts=2, seed=1)
    >>> found.n_classes, round(found.best.log_likelihood, 2)
    (2, -45609.76)
    """
    numbers = _checked_classes(classes)
    folded = _checked_table(table, name, criterion)
    if n_starts < 1:
        raise DataError(f"a mixture needs at least one start, got {n_starts}")
    if criterion == "held-out" and held_out is None:
        held_out = FOLDS
    if seed is None:
        seed = int(np.random.default_rng().integers(2**31))
    work = _Work(
        folded, MixtureSettings(name, n_starts, max_iterations, tolerance), prior,
        _checked_dealing(folded, held_out), seed,
    )  # fmt: skip
    ticker = Ticker.of(progress, time_limit)
    mixtures: list[Mixture] = []
    early: list[StopReason] = []
    for i, k in enumerate(numbers):
        mixture, cut = _mixture(work, k, ticker.part(in_classes(k), share=k / sum(numbers[i:])))
        mixtures.append(mixture)
        early += [cut] if cut else []
        if not ticker.keep_going():
            break
    early += [ticker.reason] if ticker.reason else []
    chosen = max(mixtures, key=lambda m: m.value(criterion))
    stopped = [*early, chosen.stopped][0]
    return MixtureResult(tuple(mixtures), chosen.n_classes, criterion, name, stopped, seed)


@dataclass(frozen=True)
class _Work:
    """What is the same for every number of classes; `dealing` is folds and fraction held out."""

    table: Table
    settings: MixtureSettings
    prior: DirichletPrior | None
    dealing: tuple[int, float | None] | None
    seed: int

    def seed_for(self, k: int) -> int:
        """A seed of its own for each number of classes, whichever others are tried."""
        return int(np.random.SeedSequence([self.seed, k]).generate_state(1)[0])

    @property
    def smooth(self) -> DirichletPrior:
        """The prior, or a weak one for what needs one in any case."""
        return self.prior or EquivalentSampleSize(1.0)


def _mixture(work: _Work, k: int, ticker: Ticker) -> tuple[Mixture, StopReason | None]:
    """One number of classes: the fit, its scores, what looks odd; and why it was cut short."""
    table, settings, seed = work.table, work.settings, work.seed_for(k)
    # Every fold is as much work as the fit itself.
    fitting = ticker.part(share=1 / (1 + _n_folds(work)))
    starts = fit_mixture(table, k, settings, work.prior, seed, fitting)
    network = starts[0].network
    at_map = network
    if work.prior is None:
        again = fitting.part("with a prior")
        at_map = fit_mixture(table, k, settings, work.smooth, seed, again, network)[0].network
    held_out = _held_out(work, k, ticker)
    scores = hidden_scores(network, table)
    mixture = Mixture(
        n_classes=k,
        network=network,
        log_likelihood=scores.log_likelihood,
        n_parameters=scores.n_parameters,
        bic=scores.bic,
        aic=scores.aic,
        cheeseman_stutz=hidden_scores(at_map, table, work.smooth).cheeseman_stutz,
        held_out=held_out,
        starts=starts,
        shares=tuple(float(s) for s in table_values(network, settings.name)),
        notes=tuple(notes_on(network, settings.name, starts, table.total_weight)),
    )
    cut = held_out.stopped if held_out is not None and not held_out.is_whole else None
    return mixture, ticker.reason or fitting.reason or cut


def _held_out(work: _Work, k: int, ticker: Ticker) -> CrossValidation | None:
    """The log-loss of all cases held out, each by the mixture fitted without them.

    The same cases are left out for every number of classes.
    """
    if work.dealing is None or not ticker.keep_going():
        return None
    folds, fraction = work.dealing
    part = ticker.part("held out")

    def learner(rows: Table) -> Network:
        found = fit_mixture(rows, k, work.settings, work.smooth, work.seed_for(k), part)
        return found[0].network

    return cross_validate(work.table, learner, folds, work.seed, part, fraction)


def _n_folds(work: _Work) -> int:
    if work.dealing is None:
        return 0
    return work.dealing[0] if work.dealing[1] is None else 1


def _checked_dealing(table: Table, held_out: float | int | None) -> tuple[int, float | None] | None:
    """The number of folds, and the fraction if there is to be a single split instead."""
    if held_out is None:
        return None
    if isinstance(held_out, Integral) and held_out >= 2:
        dealing: tuple[int, float | None] = (int(held_out), None)
    elif 0 < held_out < 1:
        dealing = (1, float(held_out))
    else:
        raise DataError(
            f"held_out is a fraction between 0 and 1 or a number of folds from 2, got {held_out}"
        )
    check_dealing(table, *dealing)
    return dealing


def _checked_classes(classes: int | Iterable[int]) -> list[int]:
    given = [classes] if isinstance(classes, (int, np.integer)) else list(classes)
    if not given or any(k != int(k) or k < 1 for k in given):
        raise DataError(f"the number of classes is a whole number from 1, or several; got {given}")
    return sorted({int(k) for k in given})


def _checked_table(table: Table, name: str, criterion: str) -> Table:
    """The table folded and sorted, after making sure that a mixture can be fitted to it.

    Sorted, so that the order of the rows cannot matter, not even to the starts.
    """
    if criterion not in CRITERIA:
        raise DataError(f"there is no criterion {criterion!r}; choose one of {', '.join(CRITERIA)}")
    if name in table:
        raise DataError(
            f"the table has a column {name!r}; call the hidden class something else with",
            hint=Hint("name=...", "--name TEXT"),
        )
    if table.total_weight <= 0:
        raise DataError("the weights of all rows are zero; there is nothing to learn from")
    for variable in table.variables:
        if not variable.is_discrete:
            raise DataError(
                f"column {variable.name!r} is continuous; latent classes need discrete columns. "
                "Leave it out or discretise it first, with",
                hint=Hint("unveil.Discretizer", "--discretize"),
            )
        if table.missing(variable.name)[table.row_weights > 0].all():
            raise DataError(f"column {variable.name!r} has no values at all; leave it out")
    folded = table.folded()
    folded = folded.take(folded.row_weights > 0)
    return folded.take(np.lexsort([folded.column(n) for n in reversed(folded.names)]))
