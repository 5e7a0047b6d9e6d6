"""What a mixture with each number of classes is worth, and the number a score chooses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

from unveil.em.mixture.bootstrap import BootstrapTest
from unveil.em.mixture.covariates import ClassRegression, class_regression
from unveil.em.mixture.criteria import CRITERIA
from unveil.em.mixture.fit import reached
from unveil.em.mixture.notes import choice_notes, notes_on
from unveil.em.mixture.precision import StandardErrors, standard_errors
from unveil.em.mixture.residuals import BivariateResidual, bivariate_residuals
from unveil.em.parametric import EMStart
from unveil.errors import DataError, SizeError
from unveil.evaluate.certainty import Certainty
from unveil.evaluate.cross_validation import CrossValidation
from unveil.evaluate.goodness import GoodnessOfFit
from unveil.evaluate.profiles import StateProfile, state_profiles
from unveil.model.network import Network
from unveil.model.prior import DirichletPrior
from unveil.progress import Progress, StopReason, Ticker
from unveil.records import Record
from unveil.table.core import Table
from unveil.table.places import tell
from unveil.table.variable import Label

if TYPE_CHECKING:
    from unveil.bottleneck.course import Point

__all__ = ["SCORES", "Mixture", "MixtureResult", "ScoreName"]

ScoreName = Literal[
    "bic", "aic", "cheeseman-stutz", "held-out", "completion", "laplace", "effective-bic"
]
SCORES: tuple[str, ...] = get_args(ScoreName)


@dataclass(frozen=True)
class Mixture(Record):
    """The best mixture found with one number of classes; classes are ordered by size.

    Scores are in nats, higher is better; `held_out` (the log-loss of rows left out, of the folded
    table) is `None` unless asked for. `starts` has every start's outcome, best first; `notes` says
    in words what looks odd.

    `certainty` says how surely rows are told apart, `goodness` how well the cells of the table
    are reproduced (`None` if the table has gaps), and `test` whether this many classes are better
    than one fewer (`None` unless asked for).
    """

    told: ClassVar = ("stopped", "n_reached", "usual_bic", "usual_aic")

    n_classes: int
    network: Network
    log_likelihood: float
    n_parameters: int
    bic: float
    aic: float
    cheeseman_stutz: float
    held_out: CrossValidation | None
    starts: tuple[EMStart, ...]
    shares: tuple[float, ...]
    notes: tuple[str, ...]
    certainty: Certainty
    goodness: GoodnessOfFit | None
    test: BootstrapTest | None = None
    criterion: float | None = None
    """What `completion`, `laplace` or `effective-bic` says, if that was the score asked for."""

    @property
    def n_reached(self) -> int:
        """How many starts reached the best log-likelihood."""
        return sum(reached(s.objective, self.starts[0].objective) for s in self.starts)

    @property
    def course(self) -> tuple[Point, ...]:
        """The course of gamma, if the mixture was fitted by the bottleneck."""
        return next((start.course for start in self.starts if start.course), ())

    @property
    def n_beaten(self) -> int | None:
        """How many random starts the bottleneck's run beats; `None` if there are none beside it."""
        led = [s for s in self.starts if s.course]
        if not led or len(self.starts) == 1:
            return None
        return sum(not reached(s.objective, led[0].objective) for s in self.starts)

    @property
    def usual_bic(self) -> float:
        """BIC as other programs give it: -2 times ours, so lower is better."""
        return -2 * self.bic

    @property
    def usual_aic(self) -> float:
        """AIC as other programs give it."""
        return -2 * self.aic

    @property
    def stopped(self) -> StopReason:
        """Why the best start stopped."""
        return self.starts[0].stopped

    def value(self, score: str) -> float:
        """What the score says, so that higher is better.

        A cross-validation that was cut short says nothing: it left other rows out.
        """
        if score == "held-out":
            if self.held_out is None or not self.held_out.is_whole:
                return -math.inf
            return -self.held_out.bits
        if score in CRITERIA:
            return -math.inf if self.criterion is None else self.criterion
        return float(getattr(self, score.replace("-", "_")))


@dataclass(frozen=True)
class MixtureResult(Record):
    """Mixtures with several numbers of classes, and the one the score chose.

    `table` is what they were fitted to, equal rows folded, and `prior` what with.
    """

    told: ClassVar = ("profiles", "standard_errors", "residuals", "notes")

    mixtures: tuple[Mixture, ...]
    n_classes: int
    score_name: str
    name: str
    stopped: StopReason
    seed: int
    table: Table = field(repr=False, compare=False)
    prior: DirichletPrior | None = field(default=None, repr=False, compare=False)
    regression: ClassRegression | None = None
    """How class membership depends on covariates, if some were given."""

    def with_covariates(
        self, table: Table, covariates: Table, progress: Progress | None = None
    ) -> MixtureResult:
        """The same with a logit of the classes by `covariates`, row by row beside `table`.

        With a single class there is nothing to explain, which is told.
        """
        if self.n_classes < 2:
            tell("a single class was chosen, so there is no membership for covariates to explain")
            return self
        ticker = Ticker.of(progress)
        return replace(self, regression=class_regression(self, table, covariates, ticker))

    @property
    def best(self) -> Mixture:
        """The chosen mixture."""
        return self[self.n_classes]

    @property
    def network(self) -> Network:
        """The network of the chosen mixture; its hidden root is called `name`."""
        return self.best.network

    @property
    def profiles(self) -> tuple[StateProfile, ...]:
        """What sets every class of the chosen mixture apart, by the model alone."""
        return state_profiles(self.network, self.name)

    @cached_property
    def standard_errors(self) -> StandardErrors | None:
        """Those of the chosen mixture; `None` before EM has converged, or if it took too long."""
        if self.best.stopped != "converged":
            return None
        try:
            return standard_errors(self.network, self.name, self.table, self.prior)
        except SizeError:
            return None

    @cached_property
    def residuals(self) -> list[BivariateResidual] | None:
        """What the chosen classes leave unexplained in each pair of columns, the most first.

        `None` if there are so many columns and rows that it took too long.
        """
        try:
            return bivariate_residuals(self.network, self.name, self.table)
        except SizeError:
            return None

    @property
    def notes(self) -> tuple[str, ...]:
        """What looks odd about the choice and the chosen mixture, in words."""
        return (*choice_notes(self), *self.best.notes)

    def named(
        self, name: str | None = None, states: Sequence[Label] | None = None
    ) -> MixtureResult:
        """The same with the hidden variable and the classes of the chosen mixture called so.

        `states` are in the order of the classes, the largest class first.

        >>> from unveil import datasets, latent_classes
        >>> found = latent_classes(datasets.table("college_plans"), 2, n_starts=2, seed=1)
        >>> found.named("plans", ["few", "many"]).network.variable("plans")
        Variable('plans', states=['few', 'many'], hidden=True)
        """
        new = self.name if name is None else name
        if new != self.name and new in self.table:
            raise DataError(f"the table has a column {new!r}; call the hidden class something else")
        if states is not None and len(states) != self.n_classes:
            raise DataError(
                f"there are {self.n_classes} classes; {len(states)} names were given for them"
            )
        mixtures = tuple(self._named(m, new, states) for m in self.mixtures)
        return replace(self, mixtures=mixtures, name=new)

    def _named(self, mixture: Mixture, name: str, states: Sequence[Label] | None) -> Mixture:
        def changed(network: Network) -> Network:
            if states is not None and mixture.n_classes == self.n_classes:
                network = network.relabelled({self.name: states})
            return network.renamed({self.name: name})

        starts = tuple(replace(s, network=changed(s.network)) for s in mixture.starts)
        network = changed(mixture.network)
        notes = tuple(notes_on(network, name, starts, self.table.total_weight))
        return replace(mixture, network=network, starts=starts, notes=notes)

    def __getitem__(self, n_classes: int) -> Mixture:
        for mixture in self.mixtures:
            if mixture.n_classes == n_classes:
                return mixture
        tried = ", ".join(str(m.n_classes) for m in self.mixtures)
        raise DataError(f"no mixture with {n_classes} classes was fitted; there are {tried}")

    def __str__(self) -> str:
        """The summary: the numbers tried, the choice, the classes and what looks odd."""
        from unveil.em.mixture.words import summary_lines

        return "\n".join(summary_lines(self))
