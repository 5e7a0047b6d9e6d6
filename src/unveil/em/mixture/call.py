"""`latent_classes`: every number of classes asked for, and the best of them by a score."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from unveil.anneal.choice import Annealing, annealing_named
from unveil.em.mixture.bootstrap import bootstrap_test
from unveil.em.mixture.choice import Mixture, MixtureResult, ScoreName
from unveil.em.mixture.criteria import CRITERIA, criterion
from unveil.em.mixture.door import (
    Dealing,
    checked_classes,
    checked_dealing,
    checked_prior,
    checked_table,
)
from unveil.em.mixture.fit import METHODS, STARTS, MixtureSettings, fit_mixture, table_values
from unveil.em.mixture.notes import notes_on
from unveil.em.mixture.whole import DRAWN, fitted_to_all, refuse_score
from unveil.em.mixture.words import in_classes
from unveil.em.scores import hidden_scores
from unveil.engines.door import Memory, opened
from unveil.engines.rows import PartedRows
from unveil.errors import DataError, Hint, did_you_mean
from unveil.evaluate.certainty import certainty_of
from unveil.evaluate.cross_validation import CrossValidation, cross_validate
from unveil.evaluate.goodness import goodness_of_fit
from unveil.model.network import Network
from unveil.model.prior import DirichletPrior, EquivalentSampleSize
from unveil.progress import Progress, StopReason, Ticker
from unveil.seeds import seed_or_fresh
from unveil.table.core import Table
from unveil.table.door import Data, Weights, read_and_ready
from unveil.table.places import free_name, tell
from unveil.table.variable import Label

__all__ = ["latent_classes"]

FOLDS = 5
"""How many folds the score `held-out` takes when nothing is said."""


def latent_classes(
    data: Data,
    n_classes: int | Iterable[int] | None = None,
    score: ScoreName = "bic",
    n_starts: int = 10,
    prior: DirichletPrior | None = None,
    name: str = "class",
    folds: int | None = None,
    max_iterations: int = 2000,
    tolerance: float = 1e-9,
    seed: int | None = None,
    progress: Progress | None = None,
    time_limit: float | None = None,
    state_names: Sequence[Label] | None = None,
    bootstrap: int = 0,
    *,
    held_out: float | None = None,
    covariates: Sequence[str] | str = (),
    equivalent_sample_size: float | None = None,
    start: str = "both",
    weights: Weights = None,
    drop: Sequence[str] | str = (),
    discretize: str | None = None,
    n_bins: int = 3,
    keep: Collection[str] = (),
    anneal: Annealing | str | None = None,
    memory: Memory = None,
    engine: str | None = None,
    method: str = "em",
    compare: int = 0,
) -> MixtureResult:
    """Mixtures with every number of classes in `n_classes`, and the best of them by `score`.

    Without `n_classes`, 1 to 6 are tried, or as many as there are `state_names`. The hidden
    variable is called `name`. `state_names` are for the classes of the mixture that has as many,
    the largest class first; otherwise they are numbered. `MixtureResult.named` does both
    afterwards.

    The scores: `bic` (LL - d/2 log N), `aic` (LL - d), `cheeseman-stutz` (an approximation of
    the marginal likelihood), `held-out` (log-loss of rows left out: in `folds`, 5 unless given, or
    once the fraction `held_out`). BIC is the cautious choice,
    Cheeseman-Stutz the Bayesian one, held-out asks directly for prediction and costs most.
    Three more stand for the marginal likelihood: `completion` (the most probable classes taken as
    if they had been seen), `laplace`, and `effective-bic` (BIC with the number of parameters that
    rows can tell apart).

    Parameters are maximum likelihood, or MAP with a `prior`, for which `equivalent_sample_size` is
    a short word. Cheeseman-Stutz and held-out fits
    need a prior in any case: an equivalent sample size of 1 unless one is given. Missing cells
    are summed over and row weights count as that many rows. EM starts `n_starts` times and ends
    after `max_iterations` or when it gains less than the part `tolerance` of its objective. `start`
    says where from: hard clusters of the rows (`cluster`), `random` parameters, half of each
    (`both`), or where probabilistic K-means ends (`k-means`). With
    `anneal` ("adversary", "random" or an `unveil.anneal.Annealing`) the weights of the rows are
    annealed from the best start, which gets EM out of its local maximum; that counts as one more
    start. `method="bottleneck"` takes one run of information-bottleneck EM (`unveil.ib_em`) instead
    of the starts; `compare` asks for so many random starts beside it, to see how many it beats.

    `data`, `weights`, `drop`, `discretize`, `n_bins`, `keep`, `memory` and `engine` are as in
    `unveil.learn`. Of rows that do not fit in memory, some are drawn to find where EM ends; from
    there it goes on over all parts, whose figures decide. `name`
    gets an underscore after it if the table has such a column. `seed` repeats a run, `progress`
    listens.

    `bootstrap` asks for a bootstrap likelihood-ratio test of each number against one fewer, from
    so many drawn tables; see `bootstrap_test`. With a time limit, the tests have half of it.

    `covariates` are columns that class membership depends on and that classes need not explain: the
    number of classes is chosen without them, and the chosen mixture is then fitted again
    together with a multinomial logit of its classes (`MixtureResult.regression`), by maximum
    likelihood; see `class_regression`. They may be continuous.

    A `time_limit` in seconds is shared out among the numbers of classes, larger ones getting more.
    Asked to stop, it gives the best so far, from at least one fit.

    >>> from unveil import datasets
    >>> found = latent_classes(datasets.table("college_plans"), [1, 2], n_starts=2, seed=1)
    >>> found.n_classes, round(found.best.log_likelihood, 2)
    (2, -45609.76)
    """
    numbers = checked_classes(n_classes, state_names)
    prior = checked_prior(prior, equivalent_sample_size)
    explaining = [covariates] if isinstance(covariates, str) else list(covariates)
    away = [*([drop] if isinstance(drop, str) else drop), *explaining]
    rows = opened(
        data, weights, memory, engine, drop=away, discretize=discretize, n_bins=n_bins, keep=keep
    )
    if isinstance(rows, PartedRows):
        if explaining or folds or held_out or bootstrap or anneal is not None:
            raise DataError(
                "covariates, folds, held_out, bootstrap and anneal go over single rows, which do "
                "not fit in memory; leave them out, or allow more memory"
            )
        seed = seed_or_fresh(seed)
        refuse_score(score)
        _refuse_numbers(rows)
        tell(
            f"{rows.n_rows:,} rows do not fit in memory: EM starts from where it ends in {DRAWN:,} "
            "of them, drawn at random"
        )
        whole = Ticker.of(progress, time_limit)
        first = latent_classes(
            rows.sample(DRAWN, seed), n_classes, score, n_starts, prior, name,
            max_iterations=max_iterations, tolerance=tolerance, seed=seed,
            progress=whole.part("drawn rows", 0.5), state_names=state_names, start=start,
            method=method, compare=compare,
        )  # fmt: skip
        return fitted_to_all(first, rows, max_iterations, tolerance, whole)
    if rows is not data:
        if explaining:
            raise DataError("covariates are for tables in memory; leave them out")
        read, table = read_and_ready(rows)
    else:
        read, table = read_and_ready(data, weights, dict.fromkeys(away), discretize, n_bins, keep)
    name = _free_name(name, table)
    folded = checked_table(table, score)
    annealing_named(anneal)  # refuses what is none, before any work
    if n_starts < 1:
        raise DataError(f"a mixture needs at least one start, got {n_starts}")
    if score == "held-out" and held_out is None and folds is None:
        folds = FOLDS
    if bootstrap < 0:
        raise DataError(f"the bootstrap takes a number of samples, or 0 for none; got {bootstrap}")
    seed = seed_or_fresh(seed)
    if start not in STARTS:
        raise DataError(
            f"a mixture starts from one of {', '.join(STARTS)}, not {start!r}."
            + did_you_mean(start, STARTS)
        )
    if method not in METHODS:
        raise DataError(
            f"a mixture is fitted by one of {', '.join(METHODS)}, not {method!r}."
            + did_you_mean(method, METHODS)
        )
    if compare < 0 or (compare and method != "bottleneck"):
        raise DataError(
            f"{compare} random starts to compare with: the bottleneck's run can be compared with a "
            "number of them; EM's own starts are compared in any case.",
            hint=Hint("Take method='bottleneck'.", "Take --method bottleneck."),
        )
    settings = MixtureSettings(
        name, n_starts, max_iterations, tolerance, tuple(state_names or ()), start, anneal,
        method, compare,
    )  # fmt: skip
    work = _Work(folded, settings, prior, checked_dealing(folded, folds, held_out), seed, score)
    whole = Ticker.of(progress, time_limit)
    ticker = whole.part(share=0.5 if bootstrap else 1.0)
    mixtures: list[Mixture] = []
    early: list[StopReason] = []
    for i, k in enumerate(numbers):
        mixture, cut = _mixture(work, k, ticker.part(in_classes(k), share=k / sum(numbers[i:])))
        mixtures.append(mixture)
        early += [cut] if cut else []
        if not ticker.keep_going():
            break
    early += [ticker.reason] if ticker.reason else []
    chosen = max(mixtures, key=lambda m: m.value(score))
    if bootstrap:
        mixtures = _tested(work, mixtures, chosen.n_classes, bootstrap, whole)
        early += [whole.reason] if whole.reason else []
    stopped = [*early, chosen.stopped][0]
    found = MixtureResult(
        tuple(mixtures), chosen.n_classes, score, name, stopped, seed, folded, prior
    )
    return found.with_covariates(table, read.select(explaining), whole) if explaining else found


def _refuse_numbers(rows: PartedRows) -> None:
    for variable in rows.variables:
        if not variable.is_discrete:
            raise DataError(
                f"column {variable.name!r} is continuous; latent classes need discrete columns. "
                "Leave it out or cut it, with",
                hint=Hint("discretize=", "--discretize"),
            )


@dataclass(frozen=True)
class _Work:
    """What is the same for every number of classes; `dealing` is folds and fraction held out."""

    table: Table
    settings: MixtureSettings
    prior: DirichletPrior | None
    dealing: Dealing | None
    seed: int
    score: str = "bic"

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
        certainty=certainty_of(network, settings.name, table),
        goodness=goodness_of_fit(network, table) if table.is_complete else None,
        criterion=_criterion(work, scores.log_likelihood, at_map),
    )
    cut = held_out.stopped if held_out is not None and not held_out.is_whole else None
    return mixture, ticker.reason or fitting.reason or cut


def _criterion(work: _Work, log_likelihood: float, at_map: Network) -> float | None:
    """What the score says, if it is one that is computed only when asked for."""
    if work.score not in CRITERIA:
        return None
    name, table = work.settings.name, work.table
    return criterion(work.score, log_likelihood, at_map, name, table, work.smooth)


def _held_out(work: _Work, k: int, ticker: Ticker) -> CrossValidation | None:
    """The log-loss of all cases held out, each by the mixture fitted without them.

    The same cases are left out for every number of classes.
    """
    if work.dealing is None or not ticker.keep_going():
        return None
    folds, fraction = work.dealing
    part = ticker.part("held out")

    def learner(rows: Table) -> Network:
        settings = replace(work.settings, compare=0)
        found = fit_mixture(rows, k, settings, work.smooth, work.seed_for(k), part)
        return found[0].network

    return cross_validate(work.table, learner, folds, work.seed, part, fraction)


def _tested(
    work: _Work, mixtures: list[Mixture], chosen: int, n_samples: int, ticker: Ticker
) -> list[Mixture]:
    """The mixtures, each with its test against one class fewer if there is such a mixture.

    The tests that bear on the choice come first, in case time is short.
    """
    by_size = {m.n_classes: m for m in mixtures}
    to_test = [k for k in by_size if k - 1 in by_size]
    to_test.sort(key=lambda k: (k != chosen, k != chosen + 1))
    for i, k in enumerate(to_test):
        if not ticker.keep_going():
            break
        test = bootstrap_test(
            work.table, by_size[k - 1].network, by_size[k].network, work.settings.name, n_samples,
            max(2, work.settings.n_starts // 2), work.prior, work.seed_for(k),
            ticker.part(f"bootstrap, {in_classes(k)}", share=0.5 if to_test[i + 1 :] else 1.0),
            max_iterations=work.settings.max_iterations,
        )  # fmt: skip
        by_size[k] = replace(by_size[k], test=test)
    return list(by_size.values())


def _n_folds(work: _Work) -> int:
    if work.dealing is None:
        return 0
    return work.dealing[0] if work.dealing[1] is None else 1


def _free_name(name: str, table: Table) -> str:
    """What the hidden variable is called: `name`, unless the table has such a column."""
    free = free_name(name, table.names)
    if free != name:
        tell(
            f"the table has a column {name!r}, so the hidden variable is called {free!r}",
            Hint("(choose another with name=...)", "(choose another with --name)"),
        )
    return free
