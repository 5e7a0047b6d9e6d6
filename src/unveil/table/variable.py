"""A variable: a name and, when discrete, the labels of its states with their types kept."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

from unveil.errors import DataError, Hint, did_you_mean
from unveil.table.places import listing

__all__ = ["LONGEST_INTEGER", "Label", "Variable", "label_finder", "label_key", "label_text"]

Label = str | int | float | bool

LONGEST_INTEGER = 300
"""The most digits of an integer label: as many as a float can hold, too."""

_TOO_LONG = 10**LONGEST_INTEGER


def label_key(label: Label) -> tuple[str, Label]:
    """A key under which `1`, `1.0`, `True` and `"1"` are four different labels.

    >>> label_key(1) == label_key(True)
    False
    """
    return (type(label).__name__, label)


def label_text(label: Label) -> str:
    """The label as it is written to text files: booleans as `true` and `false`.

    >>> [label_text(x) for x in (1, 1.0, True, "yes")]
    ['1', '1.0', 'true', 'yes']
    """
    return ("true" if label else "false") if isinstance(label, bool) else str(label)


@dataclass(frozen=True, eq=False)
class Variable:
    """A variable called `name`: discrete with `states`, or continuous when `states` is `None`.

    States are strings, integers, floats or booleans; they keep their type, so `1`, `1.0`, `True`
    and `"1"` are four different labels. `hidden` marks a variable that no table has a column for.

    `cuts` are for states that are intervals of a number, in ascending order: a number below the
    first cut is the first state, one at or above a cut and below the next the state between them.
    Further states are labels that no number means, such as one for missing cells. Wherever a label
    is expected, such a variable takes a number too.

    >>> Variable("smoker", ["no", "yes"])
    Variable('smoker', states=['no', 'yes'])
    >>> Variable("dose", [1, 2]) == Variable("dose", [1.0, 2.0])
    False
    >>> Variable("height").is_discrete
    False
    >>> Variable("age", ["young", "old"], cuts=[40]).code_of(47)
    1
    """

    name: str
    states: tuple[Label, ...] | None = None
    hidden: bool = False
    cuts: tuple[float, ...] | None = None

    def __init__(
        self,
        name: str,
        states: Iterable[Label] | None = None,
        hidden: bool = False,
        cuts: Iterable[float] | None = None,
    ) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "states", None if states is None else tuple(states))
        object.__setattr__(self, "hidden", bool(hidden))
        object.__setattr__(self, "cuts", None if cuts is None else _as_cuts(name, cuts))
        self._check()

    def _check(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise DataError(
                f"a variable needs a name that is a non-empty string, not {self.name!r}"
            )
        if self.states is None:
            if self.cuts is not None:
                raise DataError(f"variable {self.name!r} is continuous; cuts are for states")
            return
        if not self.states:
            raise DataError(f"variable {self.name!r} needs at least one state, got none")
        for state in self.states:
            if not isinstance(state, (str, int, float, bool)):
                raise DataError(
                    f"variable {self.name!r}: a state must be a string, an integer, a float or a "
                    f"boolean, not {state!r} ({type(state).__name__})"
                )
            if isinstance(state, int) and not -_TOO_LONG < state < _TOO_LONG:
                raise DataError(
                    f"variable {self.name!r}: an integer of more than {LONGEST_INTEGER} digits is "
                    "no state; use a string"
                )
        if len(set(self.state_keys)) != len(self.states):
            keys = self.state_keys
            twice = next(s for i, s in enumerate(self.states) if keys[i] in keys[:i])
            raise DataError(f"variable {self.name!r} has the state {twice!r} twice")
        if self.cuts is not None:
            self._check_cuts(self.cuts)

    def _check_cuts(self, cuts: tuple[float, ...]) -> None:
        if len(cuts) >= self.n_states:
            raise DataError(
                f"variable {self.name!r} has {len(cuts)} cuts between {self.n_states} states; "
                "there must be fewer cuts than states"
            )
        if not all(map(math.isfinite, cuts)) or any(not a < b for a, b in pairwise(cuts)):
            raise DataError(
                f"the cuts of variable {self.name!r} must be finite and ascend, got {list(cuts)}"
            )

    @property
    def is_discrete(self) -> bool:
        """Whether the variable has states."""
        return self.states is not None

    @property
    def is_cut(self) -> bool:
        """Whether every number falls between cuts, none being a label itself."""
        return self.cuts is not None and all(isinstance(s, str) for s in self.labels)

    @property
    def n_states(self) -> int:
        """The number of states; an error for a continuous variable."""
        return len(self.labels)

    @property
    def labels(self) -> tuple[Label, ...]:
        """The states of a discrete variable; an error for a continuous one."""
        if self.states is None:
            raise DataError(
                f"variable {self.name!r} is continuous; this needs a discrete one.",
                hint=Hint("Discretise it first (unveil.Discretizer).", "Discretise it first."),
            )
        return self.states

    @property
    def state_keys(self) -> tuple[tuple[str, Label], ...]:
        """The states with their types, for lookups and comparisons."""
        return tuple(label_key(state) for state in self.labels)

    def code_of(self, label: Label) -> int:
        """The position of a state; a label of another type is accepted when only one state fits.

        See `label_finder` for what fits.

        >>> Variable("dose", [1, 2]).code_of("2")
        1
        """
        code = label_finder(self)(label)
        if code is not None:
            return code
        raise DataError(
            f"variable {self.name!r} has no state {label!r}; it has {listing(self.labels)}"
            + (", and takes numbers." if self.cuts is not None else ".")
            + did_you_mean(label, self.labels)
        )

    def renamed(self, name: str) -> Variable:
        """The same variable under another name."""
        return replace(self, name=name)

    def relabelled(self, states: Iterable[Label]) -> Variable:
        """The same variable with its states called differently, in their order."""
        new = tuple(states)
        if len(new) != self.n_states:
            raise DataError(
                f"variable {self.name!r} has {self.n_states} states; {len(new)} names were given "
                f"for them: {', '.join(map(str, new))}"
            )
        return replace(self, states=new)

    def as_hidden(self, hidden: bool = True) -> Variable:
        """The same variable marked as hidden (or as observed)."""
        return replace(self, hidden=hidden)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Variable):
            return NotImplemented
        return self._identity == other._identity

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(self._identity)

    @cached_property
    def _identity(self) -> tuple[Any, ...]:
        keys = None if self.states is None else self.state_keys
        return (self.name, keys, self.hidden, self.cuts)

    def __repr__(self) -> str:
        states = "" if self.states is None else f", states={list(self.states)!r}"
        cuts = "" if self.cuts is None else f", cuts={list(self.cuts)!r}"
        return f"Variable({self.name!r}{states}{', hidden=True' if self.hidden else ''}{cuts})"


def label_finder(variable: Variable) -> Callable[[Label], int | None]:
    """A function from a label to the position of its state, or `None` when no state fits.

    Tried in this order: the same type and value; the same text; the same text without surrounding
    spaces; `True`, `TRUE` or `true` for a boolean, and the other way round; the same number (`1.0`
    for the state `1`, as pandas writes integers with gaps). A step counts only when exactly one
    state fits it. A number that is no label of a variable with cuts falls between these.

    >>> find = label_finder(Variable("dose", [1, 2, True]))
    >>> [find(x) for x in (1, "2", 2.0, " 1 ", "True", "three")]
    [0, 1, 1, 0, 2, None]
    """
    exact = {key: code for code, key in enumerate(variable.state_keys)}
    texts = _only_once((label_text(state), code) for code, state in enumerate(variable.labels))
    numbers = _only_once((s, c) for c, s in enumerate(variable.labels) if _is_number(s))
    truths = _only_once((s.lower(), c) for c, s in enumerate(variable.labels) if isinstance(s, str))

    def find(label: Label) -> int | None:
        if (code := exact.get(label_key(label))) is not None:
            return code
        if (code := texts.get(label_text(label))) is not None:
            return code
        if isinstance(label, bool):
            return truths.get(label_text(label))
        if isinstance(label, str):
            bare = label.strip()
            if bare in texts:
                return texts[bare]
            if bare.lower() in ("true", "false"):
                return exact.get(("bool", bare.lower() == "true"))
            label = _number(bare)
        if not _is_number(label):
            return None
        if variable.cuts is None or label in numbers or label != label:
            return numbers.get(label)
        return bisect_right(variable.cuts, label)

    return find


def _as_cuts(name: str, cuts: Iterable[float]) -> tuple[float, ...]:
    try:
        return tuple(map(float, cuts))
    except (TypeError, ValueError, OverflowError):
        raise DataError(f"the cuts of variable {name!r} must be numbers, got {cuts!r}") from None


def _only_once(pairs: Iterable[tuple[Any, int]]) -> dict[Any, int]:
    """A dict of the pairs whose key comes up once."""
    found: dict[Any, int] = {}
    twice = set()
    for key, code in pairs:
        if key in found:
            twice.add(key)
        found[key] = code
    return {key: code for key, code in found.items() if key not in twice}


def _is_number(label: Label) -> bool:
    return isinstance(label, (int, float)) and not isinstance(label, bool)


def _number(text: str) -> Label:
    """The number a text stands for, or the text itself."""
    try:
        return float(text) if "_" not in text else text
    except ValueError:
        return text
