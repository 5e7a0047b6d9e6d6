"""`NoisyOrCPD`: an effect that each cause may bring about by itself (thesis 2.1.3; Diez 1993)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from unveil.errors import ModelError
from unveil.kernels.noisy_or import fit_noisy_or
from unveil.model.compact import CompactCPD, Numbers, listed, numbers_in, whole_number
from unveil.model.prior import DirichletPrior, EquivalentSampleSize, PriorNetwork, PseudoCount
from unveil.model.table_cpd import n_cells
from unveil.table.variable import Variable, label_text

__all__ = ["NoisyOrCPD", "prior_weight"]

NO_PRIOR = 1e-9
"""The prior's weight where there is none: it keeps probabilities off 0 and 1 by a hair."""
USELESS = 0.01
"""A state that brings the effect about with less probability may be the neutral one instead."""


class NoisyOrCPD(CompactCPD):
    """P(variable | parents) where every parent may bring the effect about by itself.

    The variable has two states; `effect` is the place of the one that is brought about. `neutral`
    has, for every parent, the place of the state that does nothing; `links` the probability with
    which each state alone brings the effect about (0 for the neutral one), and `leak` that of
    everything unknown:

        P(effect | u) = 1 - (1 - leak) * product over parents i of (1 - links[i][u_i]).

    >>> flu, cold = Variable("flu", ["no", "yes"]), Variable("cold", ["no", "yes"])
    >>> fever = Variable("fever", ["no", "yes"])
    >>> cpd = NoisyOrCPD(fever, [flu, cold], 1, [0, 0], [[0, 0.8], [0, 0.3]], leak=0.05)
    >>> cpd.n_parameters, round(float(cpd.values[1, 1, 0]), 4)
    (3, 0.133)
    >>> print(cpd)
    P(fever | flu, cold): noisy-or of fever = yes
    by itself: 0.05
    flu = yes: 0.8
    cold = yes: 0.3
    """

    kind: ClassVar[str] = "noisy_or"

    def __init__(
        self,
        variable: Variable,
        parents: Sequence[Variable],
        effect: int,
        neutral: Sequence[int],
        links: Sequence[npt.ArrayLike],
        leak: float = 0.0,
    ) -> None:
        self.variable, self.parents = variable, tuple(parents)
        n_cells(variable, self.parents)
        if variable.n_states != 2:
            raise ModelError(
                f"{self._name}: a noisy-or is for a variable of two states; {variable.name!r} has "
                f"{variable.n_states}"
            )
        self.effect = whole_number(int(effect), 2, f"{self._name}, the effect")
        self.neutral = tuple(int(s) for s in neutral)
        self.leak = float(leak)
        self.links = tuple(np.array(link, np.float64) for link in links)
        self._check()

    def _check(self) -> None:
        n = len(self.parents)
        if len(self.neutral) != n or len(self.links) != n:
            raise ModelError(
                f"{self._name} needs a neutral state and links for each of {n} parents"
            )
        for parent, neutral, link in zip(self.parents, self.neutral, self.links, strict=True):
            where = f"{self._name}, parent {parent.name!r}"
            whole_number(neutral, parent.n_states, f"{where}, the neutral state")
            if link.shape != (parent.n_states,):
                raise ModelError(
                    f"{where}: expected {parent.n_states} links, got shape {link.shape}"
                )
            if link[neutral] != 0:
                raise ModelError(f"{where}: the link of the neutral state must be 0")
            link.flags.writeable = False
        for p in (self.leak, *np.concatenate([[0.0], *self.links]).tolist()):
            if not 0 <= p <= 1:
                raise ModelError(f"{self._name}: leak and links are probabilities, got {p}")

    @classmethod
    def estimate(
        cls,
        variable: Variable,
        parents: Sequence[Variable],
        statistics: Numbers,
        prior: DirichletPrior | None = None,
    ) -> Self:
        """The noisy-or found from the family's joint counts: the likelier effect, neutral states.

        Without a prior, by maximum likelihood; with one, MAP in the logits (see `refitted`).
        """
        best, _ = cls.found(variable, parents, statistics, prior)
        return best

    @classmethod
    def found(
        cls,
        variable: Variable,
        parents: Sequence[Variable],
        counts: Numbers,
        prior: DirichletPrior | None = None,
    ) -> tuple[Self, Fit]:
        """The best noisy-or found, and how well it fits.

        Either state may be the effect. A parent's neutral state is first the one where the effect
        is rarest; a state that then turns out to do nothing is tried instead.
        """
        outcomes = []
        for effect in range(2):
            neutral = _rarest(counts, effect)
            fit = _fitted(counts, effect, neutral, prior_weight(prior))
            for i, parent in enumerate(parents):
                for s in range(parent.n_states):
                    if s == neutral[i] or fit.links[i][s] > USELESS:
                        continue
                    other = [*neutral[:i], s, *neutral[i + 1 :]]
                    tried = _fitted(counts, effect, other, prior_weight(prior))
                    if tried.objective > fit.objective + 1e-9 * (1 + abs(fit.objective)):
                        neutral, fit = other, tried
            cpd = cls(variable, parents, effect, neutral, fit.links, fit.leak)
            outcomes.append((cpd, fit))
        return max(outcomes, key=lambda pair: pair[1].objective)

    @property
    def n_parameters(self) -> int:
        """The leak, and a link for every state of a parent that is not neutral."""
        return 1 + sum(p.n_states - 1 for p in self.parents)

    @property
    def local_structure(self) -> tuple[int, tuple[int, ...]]:
        """The effect and the neutral states."""
        return self.effect, self.neutral

    @property
    def length(self) -> float:
        """What it takes to say which state is the effect and which are neutral, in nats."""
        return math.log(2) + sum(math.log(p.n_states) for p in self.parents)

    def _expanded(self) -> Numbers:
        absent: Numbers = np.array(1.0 - self.leak)
        for link in self.links:
            absent = absent[..., None] * (1.0 - link)
        shares = [1.0 - absent, absent] if self.effect == 0 else [absent, 1.0 - absent]
        return np.stack(shares, axis=-1)

    def fit_to(self, counts: Numbers, prior: DirichletPrior | None = None) -> Fit:
        """How well this effect and these neutral states fit a family's counts."""
        return _fitted(counts, self.effect, self.neutral, prior_weight(prior))

    def refitted(self, counts: Numbers, prior: DirichletPrior | None = None) -> Self:
        """The same effect and neutral states with leak and links from the family's counts.

        Without a prior, maximum likelihood. With one, each of them has the prior Beta(a, a), a half
        of the equivalent sample size (or the pseudo-count), and the estimate is the maximum in
        the logits, as that of tables is.
        """
        found = self.fit_to(counts, prior)
        return self._with(found.leak, found.links)

    def with_values(self, values: Numbers) -> Self:
        """The leak and links behind a table that is a noisy-or of this effect."""
        absent = values[..., 1 - self.effect]
        none = float(absent[self.neutral])
        links = []
        for i, parent in enumerate(self.parents):
            line = np.zeros(parent.n_states)
            if none > 0:
                only: Any = (*self.neutral[:i], slice(None), *self.neutral[i + 1 :])
                line = np.clip(1.0 - absent[only] / none, 0.0, 1.0)
                line[self.neutral[i]] = 0.0
            links.append(line)
        return self._with(1.0 - none, links)

    def log_prior(self, prior: DirichletPrior | None) -> float:
        """Sum of a (log p + log(1 - p)) over leak and links."""
        if prior is None:
            return 0.0
        own = [np.delete(link, s) for link, s in zip(self.links, self.neutral, strict=True)]
        p = np.concatenate([[self.leak], *own])
        with np.errstate(divide="ignore"):
            return float(prior_weight(prior) * (np.log(p) + np.log1p(-p)).sum())

    def _with(self, leak: float, links: Sequence[Numbers]) -> Self:
        return type(self)(self.variable, self.parents, self.effect, self.neutral, links, leak)

    def with_variables(self, variable: Variable, parents: Sequence[Variable]) -> Self:
        """The same numbers for renamed, relabelled or re-marked variables."""
        return type(self)(variable, parents, self.effect, self.neutral, self.links, self.leak)

    def permuted(self, axis: int, order: Sequence[int]) -> Self:
        """The same distribution with state i of a member being what was state order[i].

        `axis` is the place among the parents, or their number for the child.
        """
        places = list(order)
        neutral, links, effect = list(self.neutral), list(self.links), self.effect
        if axis == len(self.parents):
            effect = places.index(effect)
        else:
            neutral[axis] = places.index(neutral[axis])
            links[axis] = links[axis][places]
        return type(self)(self.variable, self.parents, effect, neutral, links, self.leak)

    def describe(self) -> str:
        """The leak and the links as text, a line for each cause."""
        child = self.variable
        head = f"{self._name}: noisy-or of {child.name} = {label_text(child.labels[self.effect])}"
        lines = [
            f"{parent.name} = {label_text(parent.labels[s])}: {p:.4g}"
            for parent, neutral, link in zip(self.parents, self.neutral, self.links, strict=True)
            for s, p in enumerate(link.tolist())
            if s != neutral
        ]
        return "\n".join([head, f"by itself: {self.leak:.4g}", *lines])

    def __repr__(self) -> str:
        return f"NoisyOrCPD({self._name}, {self.n_parameters} parameters)"

    def to_dict(self) -> dict[str, Any]:
        """The effect, the leak, and neutral states and links of every parent."""
        links = [link.tolist() for link in self.links]
        neutral = list(self.neutral)
        return {"effect": self.effect, "leak": self.leak, "neutral": neutral, "links": links}

    @classmethod
    def from_dict(
        cls, variable: Variable, parents: Sequence[Variable], fields: Mapping[str, Any]
    ) -> Self:
        """The inverse of `to_dict`; refuses wrong shapes and numbers that are no probabilities."""
        where = f"the noisy-or of {variable.name!r}"
        effect = whole_number(fields.get("effect"), 2, f"{where}, 'effect'")
        (leak,) = numbers_in([fields.get("leak")], 1, f"{where}, 'leak'")
        neutral, links = (listed(fields, key, where) for key in ("neutral", "links"))
        if len(neutral) != len(parents) or len(links) != len(parents):
            raise ModelError(
                f"{where} needs 'neutral' and 'links' for each of {len(parents)} parents"
            )
        for parent, s, link in zip(parents, neutral, links, strict=True):
            whole_number(s, parent.n_states, f"{where}, {parent.name!r}")
            numbers_in(link, parent.n_states, f"{where}, {parent.name!r}")
        return cls(variable, parents, effect, neutral, links, leak)


class Fit:
    """Leak and links at the maximum of an objective, and the curvature there."""

    def __init__(self, objective: float, leak: float, links: list[Numbers], log_det: float) -> None:
        self.objective, self.leak, self.links, self.log_det = objective, leak, links, log_det

    def log_evidence(self, a: float) -> float:
        """Laplace's approximation of the log marginal likelihood under Beta(a, a) priors.

        log P(D | b) p(b) at the maximum in the logits, plus (d / 2) log 2 pi less half the
        log-determinant of the curvature there.
        """
        d = 1 + sum(link.size - 1 for link in self.links)
        log_beta = 2 * math.lgamma(a) - math.lgamma(2 * a)
        return self.objective - d * log_beta + 0.5 * d * math.log(2 * math.pi) - 0.5 * self.log_det


def prior_weight(prior: DirichletPrior | None) -> float:
    """The a of the Beta(a, a) priors of leak and links."""
    if prior is None:
        return NO_PRIOR
    if isinstance(prior, PseudoCount):
        return float(prior.count)
    if isinstance(prior, EquivalentSampleSize | PriorNetwork):
        return prior.size / 2
    raise ModelError(
        "a noisy-or takes its prior from an equivalent sample size or a pseudo-count, not from "
        f"{prior!r}"
    )


def _rarest(counts: Numbers, effect: int) -> list[int]:
    """The state of each parent where the effect is rarest."""
    found = []
    for i in range(counts.ndim - 1):
        others = tuple(j for j in range(counts.ndim - 1) if j != i)
        rows = counts.sum(axis=others)
        found.append(int(np.argmin((rows[:, effect] + 0.5) / (rows.sum(axis=1) + 1.0))))
    return found


def _fitted(counts: Numbers, effect: int, neutral: Sequence[int], a: float) -> Fit:
    cards = counts.shape[:-1]
    numbers = []
    first = 1
    for card, s in zip(cards, neutral, strict=True):
        own = np.zeros(card, np.int64)
        own[np.arange(card) != s] = first + np.arange(card - 1)
        numbers.append(own)
        first += card - 1
    rows = np.ascontiguousarray(counts, np.float64).reshape(-1, 2)
    seen = np.flatnonzero(rows.any(axis=1))
    causes = np.zeros((seen.size, len(cards)), np.int64)
    left = seen
    for i in range(len(cards) - 1, -1, -1):
        left, states = np.divmod(left, cards[i])
        causes[:, i] = numbers[i][states]
    absent, present = (np.ascontiguousarray(rows[seen, x]) for x in (1 - effect, effect))
    objective, b, log_det = fit_noisy_or(causes, absent, present, first, a)
    failing = np.exp(b)
    links = [np.where(own > 0, 1.0 - failing[own], 0.0) for own in numbers]
    return Fit(objective, 1.0 - float(failing[0]), links, log_det)
