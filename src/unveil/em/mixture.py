"""Latent class models: finite mixtures as the simplest network with a hidden root.

A row belongs to one of k classes, and given its class the columns are independent (`003`, "The
Finite Mixture Model"):

    P(x) = sum over c of P(c) * product over i of P(x_i | c).

`latent_classes` fits every number of classes asked for by EM from several starts, half of them
hard clusters of the rows (K-means first, then EM), half random, and chooses by a criterion.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from unveil.em.align import align_states, permute_states
from unveil.em.parametric import EMStart, fit_em
from unveil.em.scores import hidden_scores
from unveil.errors import DataError
from unveil.graph.dag import DAG
from unveil.model.network import Network
from unveil.model.prior import DirichletPrior, EquivalentSampleSize
from unveil.model.table_cpd import TableCPD
from unveil.progress import Listener, Step, StopReason, Ticker
from unveil.table.core import Table
from unveil.table.variable import Label, Variable, label_text

__all__ = [
    "CRITERIA",
    "ClassMark",
    "ClassProfile",
    "Criterion",
    "HeldOut",
    "Mixture",
    "MixtureResult",
    "class_profiles",
    "latent_classes",
]

Criterion = Literal["bic", "aic", "cheeseman-stutz", "held-out"]
CRITERIA: tuple[str, ...] = get_args(Criterion)

REACHED = 1e-4
"""Starts whose objectives differ by at most so many nats (or a 10^-6 part of them, which is about
as far as EM's stopping rule tells) have reached the same maximum."""
POLISH = 1e-2
"""EM goes on from the best start until it gains less than this part of the tolerance."""
EMPTY_SHARE = 1e-3
"""A class with less than this share of the cases, or less than one case, counts as empty."""
SAME_PROFILE = 0.02
"""Two classes are duplicates when the total variation distance is below this in every column."""
FOLDS = 5
"""How many folds the criterion `held-out` takes when nothing is said."""


class HeldOut(NamedTuple):
    """The log-loss of rows left out of the fit, in bits per row (lower is better)."""

    bits: float
    standard_error: float


@dataclass(frozen=True)
class Mixture:
    """The best mixture found with one number of classes; classes are ordered by size.

    Scores are in nats, higher is better; `held_out` is `None` unless asked for. `starts` has every
    start's outcome, best first; `notes` says in words what looks odd.
    """

    n_classes: int
    network: Network
    log_likelihood: float
    n_parameters: int
    bic: float
    aic: float
    cheeseman_stutz: float
    held_out: HeldOut | None
    starts: tuple[EMStart, ...]
    shares: tuple[float, ...]
    notes: tuple[str, ...]

    @property
    def n_reached(self) -> int:
        """How many starts reached the best log-likelihood."""
        return sum(_reached(s.objective, self.starts[0].objective) for s in self.starts)

    @property
    def stopped(self) -> StopReason:
        """Why the best start stopped."""
        return self.starts[0].stopped

    def value(self, criterion: str) -> float:
        """What the criterion says, so that higher is better."""
        if criterion == "held-out":
            return -math.inf if self.held_out is None else -self.held_out.bits
        return float(getattr(self, criterion.replace("-", "_")))


@dataclass(frozen=True)
class MixtureResult:
    """Mixtures with several numbers of classes, and the one the criterion chose."""

    mixtures: tuple[Mixture, ...]
    n_classes: int
    criterion: str
    name: str
    stopped: StopReason
    seed: int

    @property
    def best(self) -> Mixture:
        """The chosen mixture."""
        return self[self.n_classes]

    @property
    def network(self) -> Network:
        """The network of the chosen mixture; its hidden root is called `name`."""
        return self.best.network

    @property
    def notes(self) -> tuple[str, ...]:
        """What looks odd about the choice and the chosen mixture, in words."""
        return (*self._choice_notes(), *self.best.notes)

    def __getitem__(self, n_classes: int) -> Mixture:
        for mixture in self.mixtures:
            if mixture.n_classes == n_classes:
                return mixture
        tried = ", ".join(str(m.n_classes) for m in self.mixtures)
        raise DataError(f"no mixture with {n_classes} classes was fitted; there are {tried}")

    def __str__(self) -> str:
        """The summary: the numbers tried, the choice, the classes and what looks odd."""
        lines = [_line(m, m.n_classes == self.n_classes) for m in self.mixtures]
        profiles = [p.words for p in class_profiles(self.network, self.name)]
        return "\n".join([*lines, f"{_classes(self.n_classes)} by {self.criterion}", *profiles,
                          *self.notes])  # fmt: skip

    def _choice_notes(self) -> list[str]:
        notes = []
        if self.stopped in ("time limit", "asked to stop"):
            notes.append(f"stopped early ({self.stopped}); these are the best so far")
        if len(self.mixtures) > 1 and self.n_classes == self.mixtures[-1].n_classes:
            notes.append(
                f"{self.n_classes} is the largest number of classes that was tried; try more"
            )
        return notes


@dataclass(frozen=True)
class ClassMark:
    """A state that a class shows more often than all rows do."""

    column: str
    state: Label
    probability: float
    overall: float


@dataclass(frozen=True)
class ClassProfile:
    """What sets a class apart: its share of all rows and the states it shows unusually often."""

    label: Label
    share: float
    marks: tuple[ClassMark, ...]

    @property
    def words(self) -> str:
        """The profile as a sentence."""
        head = f"class {label_text(self.label)} ({self.share:.1%} of rows)"
        if not self.marks:
            return f"{head}: like the rows at large"
        marks = [
            f"{m.column} = {label_text(m.state)} ({m.probability:.0%} against {m.overall:.0%})"
            for m in self.marks
        ]
        return f"{head}: {', '.join(marks)}"


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
    progress: Listener | None = None,
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
    splits = [] if held_out is None else _splits(folded, held_out, np.random.default_rng(seed))
    ticker = Ticker(progress, time_limit)
    mixtures: list[Mixture] = []
    for k in numbers:
        fit = partial(
            _fit, k=k, name=name, n_starts=n_starts, max_iterations=max_iterations,
            tolerance=tolerance, seed=_seed_for(seed, k), ticker=ticker,
        )  # fmt: skip
        mixtures.append(_mixture(folded, fit, k, name, prior, splits))
        if not ticker.keep_going():
            break
    chosen = max(mixtures, key=lambda m: m.value(criterion))
    stopped = ticker.reason or chosen.stopped
    return MixtureResult(tuple(mixtures), chosen.n_classes, criterion, name, stopped, seed)


def class_profiles(
    network: Network, name: str = "class", most: int = 4
) -> tuple[ClassProfile, ...]:
    """What sets every class of a mixture apart, in the order of the classes.

    States are ranked by p log(p / q), what they add to the divergence between the class (p) and
    all rows (q); only states at least 5 percentage points more common than overall are named.
    """
    shares = _values(network, name)
    profiles = []
    for c, label in enumerate(network.variable(name).labels):
        marks: list[tuple[float, ClassMark]] = []
        for child in network.dag.children(name):
            table = _values(network, child)
            overall = shares @ table
            for state, p, q in zip(network.variable(child).labels, table[c], overall, strict=True):
                if p - q >= 0.05:
                    marks.append((p * math.log(p / q), ClassMark(child, state, float(p), float(q))))
        marks.sort(key=lambda pair: -pair[0])
        profiles.append(ClassProfile(label, float(shares[c]), tuple(m for _, m in marks[:most])))
    return tuple(profiles)


def _mixture(
    table: Table,
    fit: Callable[..., tuple[EMStart, ...]],
    k: int,
    name: str,
    prior: DirichletPrior | None,
    splits: Sequence[tuple[Table, Table]],
) -> Mixture:
    """One number of classes: the fit, its scores, and what looks odd about it."""
    starts = fit(table, prior=prior)
    network = starts[0].network
    scores = hidden_scores(network, table)
    smooth = prior or EquivalentSampleSize(1.0)
    at_map = network if prior is not None else fit(table, prior=smooth, given=network)[0].network
    shares = _values(network, name)
    return Mixture(
        n_classes=k,
        network=network,
        log_likelihood=scores.log_likelihood,
        n_parameters=scores.n_parameters,
        bic=scores.bic,
        aic=scores.aic,
        cheeseman_stutz=hidden_scores(at_map, table, smooth).cheeseman_stutz,
        held_out=_held_out(fit, splits, smooth) if splits else None,
        starts=starts,
        shares=tuple(float(s) for s in shares),
        notes=tuple(_notes(network, name, starts, table.total_weight)),
    )


def _fit(
    table: Table,
    *,
    prior: DirichletPrior | None,
    k: int,
    name: str,
    n_starts: int,
    max_iterations: int,
    tolerance: float,
    seed: int,
    ticker: Ticker,
    given: Network | None = None,
) -> tuple[EMStart, ...]:
    """All starts of one mixture, best first, classes ordered by size and aligned."""
    root = Variable(name, range(1, k + 1), hidden=True)
    dag = DAG([name, *table.names], [(name, column) for column in table.names])
    plans: list[tuple[Any, Literal["random", "cluster", "given"], int]]
    if given is not None:
        plans = [(_smoothed(given), "given", 1)]
    elif k == 1:
        plans = [(dag, "random", 1)]
    else:
        n_random = n_starts // 2
        plans = [(dag, "cluster", n_starts - n_random), (dag, "random", n_random)]
    run = partial(
        fit_em, table=table, prior=prior, hidden={name: root}, max_iterations=max_iterations,
        seed=seed, progress=_relay(ticker, k),
    )  # fmt: skip
    starts: list[EMStart] = []
    for structure, kind, how_many in plans:
        if how_many and (not starts or ticker.keep_going()):
            starts += run(structure, n_starts=how_many, start=kind, tolerance=tolerance).starts
    starts.sort(key=lambda start: -start.objective)
    if ticker.keep_going():
        more = run(starts[0].network, start="given", tolerance=POLISH * tolerance)
        starts[0] = _continued(starts[0], more.starts[0])
    order = np.argsort(-_values(starts[0].network, name), kind="stable")
    best = permute_states(starts[0].network, name, order)
    rest = [replace(s, network=align_states(s.network, best, [name])) for s in starts[1:]]
    return tuple(
        replace(s, stopped=ticker.reason) if ticker.reason and s.stopped == "asked to stop" else s
        for s in (replace(starts[0], network=best), *rest)
    )


def _continued(before: EMStart, after: EMStart) -> EMStart:
    """One start whose EM was taken up again."""
    n_iterations = before.n_iterations + after.n_iterations
    return replace(after, kind=before.kind, n_iterations=n_iterations)


def _relay(ticker: Ticker, k: int) -> Listener:
    """EM's steps offered to the one who listens to the whole, who may ask to stop."""

    def listen(step: Step) -> bool:
        phase = f"{_classes(k)}, {step.phase}"
        return ticker.offer(phase, step.iteration, step.objective, step.change)

    return listen


def _smoothed(network: Network) -> Network:
    """The network with no zeros in its tables, from which EM with a prior can start."""
    cpds = []
    for cpd in network.cpds.values():
        assert isinstance(cpd, TableCPD)
        values = (1 - 1e-3) * cpd.values + 1e-3 / cpd.variable.n_states
        cpds.append(TableCPD(cpd.variable, cpd.parents, values))
    return Network(cpds)


def _splits(
    table: Table, held_out: float | int, generator: np.random.Generator
) -> list[tuple[Table, Table]]:
    """Pairs (training, held out) that share out the cases; a row of weight 3 is three cases.

    With fractional weights whole rows are shared out.
    """
    weights = table.row_weights
    whole = bool((weights == np.round(weights)).all())
    cases = np.repeat(np.arange(table.n_rows), weights.astype(np.int64) if whole else 1)
    order = generator.permutation(cases)
    if isinstance(held_out, int) and held_out >= 2:
        parts = np.array_split(order, held_out)
    elif 0 < held_out < 1:
        parts = [order[: max(1, round(held_out * len(order)))]]
    else:
        raise DataError(
            f"held_out is a fraction between 0 and 1 or a number of folds from 2, got {held_out}"
        )
    if len(order) < 2 or not all(0 < len(part) < len(order) for part in parts):
        raise DataError(f"{len(order)} cases are too few to hold {held_out} of them out")
    pairs = []
    for part in parts:
        held = np.bincount(part, minlength=table.n_rows)
        taken = np.asarray(held if whole else held * weights, np.float64)
        pairs.append((_weighing(table, weights - taken), _weighing(table, taken)))
    return pairs


def _weighing(table: Table, weights: npt.NDArray[np.float64]) -> Table:
    return table.with_weights(weights).take(weights > 0)


def _held_out(
    fit: Callable[..., tuple[EMStart, ...]],
    splits: Sequence[tuple[Table, Table]],
    prior: DirichletPrior,
) -> HeldOut:
    """The log-loss of all cases held out, each by the mixture fitted without them."""
    losses = [-fit(rows, prior=prior)[0].network.row_log_likelihoods(rest) for rows, rest in splits]
    bits = np.concatenate(losses) / math.log(2)
    weights = np.concatenate([rest.row_weights for _, rest in splits])
    total = weights.sum()
    mean = float(bits @ weights / total)
    variance = float(((bits - mean) ** 2) @ weights / max(total - 1, 1))
    return HeldOut(mean, math.sqrt(variance / total))


def _notes(network: Network, name: str, starts: Sequence[EMStart], total: float) -> list[str]:
    """What looks odd about a fitted mixture, in sentences."""
    labels = [label_text(label) for label in network.variable(name).labels]
    shares = _values(network, name)
    empty = (shares * total < 1) | (shares < EMPTY_SHARE)
    notes = [
        f"class {labels[c]} is all but empty: {shares[c] * total:.2g} of {total:,.6g} cases"
        for c in np.flatnonzero(empty)
    ]
    distance = _profile_distances(network, name)
    for a in range(len(labels)):
        for b in range(a + 1, len(labels)):
            if distance[a, b] < SAME_PROFILE and not (empty[a] or empty[b]):
                notes.append(
                    f"classes {labels[a]} and {labels[b]} are duplicates: their profiles differ "
                    f"by at most {distance[a, b]:.3f} in every column"
                )
    best = starts[0]
    if best.stopped != "converged":
        notes.append(f"the best start did not converge ({best.stopped})")
    if len(starts) > 1 and not _reached(starts[1].objective, best.objective):
        notes.append(f"only one of {len(starts)} starts reached the best: try more starts")
    return notes


def _profile_distances(network: Network, name: str) -> npt.NDArray[np.float64]:
    """For each pair of classes the largest total variation distance over the columns."""
    k = network.variable(name).n_states
    most = np.zeros((k, k))
    for child in network.dag.children(name):
        table = _values(network, child)
        apart = 0.5 * np.abs(table[:, None, :] - table[None, :, :]).sum(axis=2)
        most = np.maximum(most, apart)
    return most


def _values(network: Network, name: str) -> npt.NDArray[np.float64]:
    cpd = network.cpd(name)
    assert isinstance(cpd, TableCPD)
    return cpd.values


def _reached(objective: float, best: float) -> bool:
    return objective >= best - max(REACHED, 1e-6 * abs(best))


def _classes(k: int) -> str:
    return "1 class" if k == 1 else f"{k} classes"


def _line(mixture: Mixture, chosen: bool) -> str:
    m = mixture
    held = "" if m.held_out is None else f", held-out {m.held_out.bits:.4f} bits per row"
    return (
        f"{'*' if chosen else ' '} {_classes(m.n_classes)}: "
        f"log-likelihood {m.log_likelihood:,.2f}, {m.n_parameters} parameters, "
        f"BIC {m.bic:,.2f}, AIC {m.aic:,.2f}, Cheeseman-Stutz {m.cheeseman_stutz:,.2f}{held} "
        f"({m.n_reached} of {len(m.starts)} starts)"
    )


def _seed_for(seed: int, k: int) -> int:
    """A seed of its own for each number of classes, whichever others are tried."""
    return int(np.random.SeedSequence([seed, k]).generate_state(1)[0])


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
            f"the table has a column {name!r}; call the hidden class something else with name=..."
        )
    if table.total_weight <= 0:
        raise DataError("the weights of all rows are zero; there is nothing to learn from")
    for variable in table.variables:
        if not variable.is_discrete:
            raise DataError(
                f"column {variable.name!r} is continuous; latent classes need discrete columns. "
                "Discretise it first (unveil.Discretizer) or leave it out."
            )
        if table.missing(variable.name)[table.row_weights > 0].all():
            raise DataError(f"column {variable.name!r} has no values at all; leave it out")
    folded = table.folded()
    folded = folded.take(folded.row_weights > 0)
    return folded.take(np.lexsort([folded.column(n) for n in reversed(folded.names)]))
