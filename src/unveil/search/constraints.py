"""What a search may do: required and forbidden arcs, tiers, numbers of parents, fixed families."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.errors import CycleError, ModelError, did_you_mean
from unveil.graph.dag import DAG

__all__ = ["Constraints", "Rules"]

Arc = tuple[str, str]


@dataclass(frozen=True)
class Constraints:
    """Limits on the graphs a search may visit; arcs are (parent, child).

    - `required`, `forbidden`: arcs that must, or must not, be there
    - `tiers`: groups of variables in the order of time; no arc goes from a later to an earlier one
    - `max_parents`: at most so many parents for any variable
    - `allowed_parents`: for some variables, the only parents they may have
    - `no_parents`, `no_children`: variables that nothing leads to, or that lead nowhere
    - `changeable`: the only variables whose parents may differ from the start's
    - `no_leaf`: variables that may not lose their last child (a hidden one would mean nothing)

    >>> Constraints(forbidden=[("cancer", "smoking")], max_parents=3)
    Constraints(forbidden=(('cancer', 'smoking'),), max_parents=3)
    """

    required: Sequence[Arc] = ()
    forbidden: Sequence[Arc] = ()
    tiers: Sequence[Sequence[str]] = ()
    max_parents: int | None = None
    allowed_parents: Mapping[str, Iterable[str]] = field(default_factory=dict)
    changeable: Iterable[str] | None = None
    no_leaf: Iterable[str] = ()
    no_parents: Iterable[str] = ()
    no_children: Iterable[str] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "required", tuple((a, b) for a, b in self.required))
        object.__setattr__(self, "forbidden", tuple((a, b) for a, b in self.forbidden))
        object.__setattr__(self, "tiers", tuple(tuple(tier) for tier in self.tiers))
        allowed = {child: tuple(parents) for child, parents in self.allowed_parents.items()}
        object.__setattr__(self, "allowed_parents", allowed)
        for name in ("no_leaf", "no_parents", "no_children"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if self.changeable is not None:
            object.__setattr__(self, "changeable", tuple(self.changeable))
        if self.max_parents is not None and self.max_parents < 0:
            raise ModelError(f"max_parents must not be negative, got {self.max_parents}")

    @property
    def only_max_parents(self) -> bool:
        """Whether nothing but the number of parents is limited."""
        return self == Constraints(max_parents=self.max_parents)

    def with_hidden(self, hidden: Sequence[str]) -> Constraints:
        """What constraints on columns mean where there are `hidden` variables as well.

        A hidden variable may be a parent of any column, also of one that no column leads to: what
        was said is said of columns. But nothing may go round a constraint through it. So where some
        columns have no parents, or only certain ones, it has no column as its parent; with tiers,
        only those of the first.

        >>> limits = Constraints(no_parents=["sex"], no_children=["plans"])
        >>> limits.with_hidden(["H1"])
        Constraints(allowed_parents={'sex': ('H1',), 'H1': ('H1',)}, no_children=('plans',))
        """
        bound = {**dict.fromkeys(self.no_parents, ()), **self.allowed_parents}
        if not hidden or not (bound or self.tiers):
            return self
        first = () if bound else tuple(self.tiers[0])
        allowed = {child: (*parents, *hidden) for child, parents in bound.items()}
        allowed |= {name: (*first, *hidden) for name in hidden if name not in bound}
        return replace(self, no_parents=(), allowed_parents=allowed)

    def rules(self, names: Sequence[str], start: DAG | None = None) -> Rules:
        """The constraints as matrices over `names`, checked for contradictions."""
        place = {name: i for i, name in enumerate(names)}
        self._check_names(place)
        n = len(names)
        allowed = ~np.eye(n, dtype=bool)
        for parent, child in self.forbidden:
            allowed[place[child], place[parent]] = False
        for child, parents in self.allowed_parents.items():
            only = np.zeros(n, dtype=bool)
            only[[place[p] for p in parents]] = True
            allowed[place[child]] &= only
        for child in self.no_parents:
            allowed[place[child]] = False
        for parent in self.no_children:
            allowed[:, place[parent]] = False
        tier_of = {name: i for i, tier in enumerate(self.tiers) for name in tier}
        for child in tier_of:
            for parent in tier_of:
                if tier_of[parent] > tier_of[child]:
                    allowed[place[child], place[parent]] = False
        required = np.zeros((n, n), dtype=bool)
        for parent, child in self.required:
            required[place[child], place[parent]] = True
        most = np.full(n, n if self.max_parents is None else self.max_parents, dtype=np.int64)
        rules = Rules(allowed, required, most, tuple(place[name] for name in self.no_leaf))
        self._check_required(rules, names)
        if self.changeable is not None:
            _freeze(rules, [place[c] for c in self.changeable], start, place)
        return rules

    def _check_names(self, place: Mapping[str, int]) -> None:
        mentioned = [name for arc in (*self.required, *self.forbidden) for name in arc]
        mentioned += [name for tier in self.tiers for name in tier]
        for child, parents in self.allowed_parents.items():
            mentioned += [child, *parents]
        mentioned += [*(self.changeable or ()), *self.no_leaf]
        mentioned += [*self.no_parents, *self.no_children]
        for name in mentioned:
            if name not in place:
                known = ", ".join(list(place)[:12])
                raise ModelError(
                    f"a constraint names {name!r}, but the variables are {known}."
                    + did_you_mean(name, place)
                )
        twice = [n for i, tier in enumerate(self.tiers) for n in tier
                 if any(n in other for other in self.tiers[:i])]  # fmt: skip
        if twice:
            raise ModelError(f"{twice[0]!r} is in two tiers; every variable belongs to one at most")

    def _check_required(self, rules: Rules, names: Sequence[str]) -> None:
        for parent, child in self.required:
            y, x = names.index(child), names.index(parent)
            if not rules.allowed[y, x]:
                raise ModelError(f"the arc {parent} -> {child} is both required and forbidden")
        try:
            DAG(names, dict.fromkeys(self.required))
        except CycleError as error:
            raise ModelError(f"the required arcs contradict each other: {error}") from None
        for y, count in enumerate(rules.required.sum(axis=1)):
            if count > rules.max_parents[y]:
                raise ModelError(
                    f"{names[y]!r} has {count} required parents, more than the "
                    f"{rules.max_parents[y]} it may have"
                )

    def __repr__(self) -> str:
        given = [
            f"{name}={getattr(self, name)!r}"
            for name in self.__dataclass_fields__
            if getattr(self, name) not in ((), {}, None)
        ]
        return f"Constraints({', '.join(given)})"


@dataclass(frozen=True)
class Rules:
    """Constraints as matrices: entry [y, x] speaks of the arc x -> y."""

    allowed: npt.NDArray[np.bool_]
    required: npt.NDArray[np.bool_]
    max_parents: npt.NDArray[np.int64]
    no_leaf: tuple[int, ...] = ()

    def free(self) -> npt.NDArray[np.bool_]:
        """Which variables may change their parents at all."""
        return np.asarray((self.allowed & ~self.required).any(axis=1))

    def required_now(self, parents: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """The arcs that must stay: the required ones, and the last child of a `no_leaf`."""
        if not self.no_leaf:
            return self.required
        required = self.required.copy()
        for x in self.no_leaf:
            children = np.flatnonzero(parents[:, x])
            if children.size == 1:
                required[children[0], x] = True
        return required

    def check(self, parents: npt.NDArray[Any], names: Sequence[str]) -> None:
        """Refuse a start that breaks the rules."""
        for y, x in np.argwhere((parents > 0) & ~self.allowed):
            raise ModelError(f"the start has the forbidden arc {names[x]} -> {names[y]}")
        for y, count in enumerate(parents.sum(axis=1)):
            if count > self.max_parents[y]:
                raise ModelError(
                    f"the start gives {names[y]!r} {count} parents, more than {self.max_parents[y]}"
                )


def _freeze(
    rules: Rules, changeable: list[int], start: DAG | None, place: Mapping[str, int]
) -> None:
    """Let every family outside `changeable` have exactly the parents it has in the start."""
    for name, y in place.items():
        if y in changeable:
            continue
        rules.allowed[y] = False
        parents = [place[p] for p in (start.parents(name) if start is not None else ())]
        rules.allowed[y, parents] = True
        rules.required[y, parents] = True
