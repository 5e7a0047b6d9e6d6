"""What can be asked of a reader: kinds, states, weights, columns; one record, checked once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from unveil.errors import DataError, Hint, did_you_mean
from unveil.table.places import at, listing
from unveil.table.variable import Label, Variable

__all__ = [
    "KINDS",
    "Kinds",
    "Reading",
    "States",
    "Unknown",
    "check_names",
    "check_present",
    "check_unknown",
    "known_variables",
]

KINDS = ("discrete", "text", "continuous")
"""What a column can be told to be: typed labels, labels as text, or numbers."""

Kinds = str | Mapping[str, str] | None
"""What columns are told to be: one kind for all of them, or kinds by name."""

States = Mapping[str, Iterable[Label]]
"""States by the names of columns, also those that no row shows."""

Unknown = Literal["error", "missing", "told"]
"""What a label that is not among the known states is: an error, or a missing cell.

Inside, `told` is a missing cell of which the user knows already.
"""


@dataclass(frozen=True)
class Reading:
    """What was asked of a reader; `source` names the file in messages.

    What a column is coded by is said by `variables` (which then are all the columns there shall
    be), by `states`, or by `like`, whichever comes first; its name in `kinds` outdoes `like`.
    """

    source: str = ""
    kinds: Kinds = None
    missing: Collection[str] = ()
    weights: str | None = None
    columns: Sequence[str] | None = None
    variables: dict[str, Variable] | None = None
    states: dict[str, Variable] = field(default_factory=dict)
    like: dict[str, Variable] = field(default_factory=dict)
    unknown: Unknown = "error"

    @classmethod
    def asked(
        cls,
        source: str,
        kinds: Kinds,
        missing: Collection[str],
        weights: str | None,
        columns: Sequence[str] | None,
        variables: Sequence[Variable] | None,
        states: States | None,
        like: Any,
        unknown: Unknown,
    ) -> Reading:
        """The options of `read_table` and `from_frame`; those that exclude each other refused."""
        if variables is not None and (states is not None or like is not None):
            raise DataError("variables already say what every column is; leave out states and like")
        declared = {name: _declared(name, labels) for name, labels in (states or {}).items()}
        return cls(
            source=source,
            kinds=kinds,
            missing=(missing,) if isinstance(missing, str) else missing,
            weights=weights,
            columns=[columns] if isinstance(columns, str) else columns,
            variables=None if variables is None else {v.name: v for v in variables},
            states=declared,
            like={} if like is None else known_variables(like),
            unknown=check_unknown(unknown),
        )

    def kind(self, name: str) -> str | None:
        """What the column is told to be, if anything."""
        return self.kinds if isinstance(self.kinds, str) else self._named_kinds.get(name)

    def variable(self, name: str) -> Variable | None:
        """The variable by which the column is coded; `None` when its cells decide."""
        if self.variables is not None:
            return self.variables.get(name)
        return self.states.get(name) or (None if name in self._named_kinds else self.like.get(name))

    def inputs(self, names: Sequence[str]) -> list[str]:
        """The columns to take from these, in order, without the weights."""
        if self.variables is not None:
            chosen = [name for name in self.variables if name in names]
        else:
            chosen = list(names if self.columns is None else self.columns)
        left = [name for name in chosen if name != self.weights]
        if not left:
            raise DataError(f"{self._where}: no column is left beside the weights")
        return left

    def check(self, names: Sequence[str]) -> None:
        """An error when an option names a column that is not there, or a kind nobody knows."""
        if self.columns is not None and len(set(self.columns)) != max(len(self.columns), 1):
            raise DataError(
                f"{self._where}: columns must name each column once, got {list(self.columns)}"
            )
        asked = {"kinds": list(self._named_kinds), "states": list(self.states)}
        asked |= {"weights": [] if self.weights is None else [self.weights]}
        asked |= {"columns": list(self.columns or ())}
        for option, wanted in asked.items():
            for name in wanted:
                if name not in names:
                    raise DataError(
                        f"{self._where}: there is no column {name!r}; the columns are "
                        f"{listing(names)}.{did_you_mean(name, names)}",
                        hint=Hint(f"It is named in {option}."),
                    )
        for kind in [self.kinds] if isinstance(self.kinds, str) else self._named_kinds.values():
            if kind not in KINDS:
                raise DataError(
                    f"unknown kind {kind!r}; a column can be {listing(KINDS)}."
                    + did_you_mean(kind, KINDS)
                )
        for name in self.states:
            if self.kind(name) == "continuous":
                raise DataError(f"column {name!r} cannot be continuous and have states")
        check_present(list((self.variables or {}).values()), names, self.source)

    @property
    def _named_kinds(self) -> Mapping[str, str]:
        return {} if self.kinds is None or isinstance(self.kinds, str) else self.kinds

    @property
    def _where(self) -> str:
        return at(self.source) or "the table"


def check_names(names: Sequence[str], source: str) -> None:
    """An error when two columns share a name, telling both positions."""
    first: dict[str, int] = {}
    for position, name in enumerate(names, start=1):
        if name in first:
            raise DataError(
                f"{at(source) or 'the table'}: columns {first[name]} and {position} are both "
                f"called {name!r}; rename one of them, every column needs its own name"
            )
        first[name] = position


def check_present(variables: Sequence[Variable], names: Collection[str], source: str = "") -> None:
    """An error when a variable that is not hidden has no column among these."""
    absent = [v.name for v in variables if v.name not in names and not v.hidden]
    if absent:
        raise DataError(
            f"{at(source) or 'the table'}: the model's variables {listing(absent)} have no "
            f"column; the columns are {listing(list(names))}. Add them (empty cells are fine), or "
            "mark the variables as hidden."
        )


def check_unknown(unknown: Unknown) -> Unknown:
    """The way with unknown labels, when it is one."""
    if unknown not in ("error", "missing"):
        raise DataError(
            f'unknown must be "error" or "missing", got {unknown!r}.'
            + did_you_mean(unknown, ["error", "missing"])
        )
    return unknown


def known_variables(like: Any) -> dict[str, Variable]:
    """The variables of a table, of a network or of a list, by name."""
    given = getattr(like, "variables", like)
    found = tuple(given) if isinstance(given, Iterable) else ()
    if not isinstance(given, Iterable) or not all(isinstance(v, Variable) for v in found):
        raise DataError(
            "expected a table, a network or a list of variables, whose states to take; "
            f"got {like!r}"
        )
    return {v.name: v for v in found}


def _declared(name: str, labels: Iterable[Label]) -> Variable:
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        raise DataError(
            f"the states of column {name!r} are a list of labels, not {labels!r}:",
            hint=Hint(f"states={{{name!r}: [0, 1]}}.", f"--states {name}=0,1."),
        )
    return Variable(name, labels)
