"""A network while it is being read: every reader fills a `Draft`, and every check is made here."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from unveil.errors import FormatError, ModelError, SizeError
from unveil.model.network import Network
from unveil.model.table_cpd import TableCPD, n_cells
from unveil.table.variable import Variable

__all__ = ["Draft", "Family", "numbers"]


class Family(NamedTuple):
    """A variable, its parents in the order of its table, and where in the file they stand.

    `spelled` holds the states of each parent, then of the variable, as the file spells them.
    """

    variable: Variable
    parents: tuple[Variable, ...]
    spelled: tuple[tuple[str, ...], ...]
    place: str

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the table: the parents' states, then the variable's."""
        return tuple(v.n_states for v in (*self.parents, self.variable))

    @property
    def n_rows(self) -> int:
        """The number of configurations of the parents."""
        return math.prod(self.shape[:-1])

    def check_count(self, values: Sequence[float]) -> None:
        """Refuse a table with too few or too many numbers."""
        expected = math.prod(self.shape)
        if len(values) != expected:
            sizes = " x ".join(map(str, self.shape))
            raise FormatError(
                f"{self.place}: the table of {self.variable.name!r} needs {expected} numbers "
                f"({sizes}), got {len(values)}"
            )


class Draft:
    """The variables and tables read so far, under the names the file spells them with."""

    def __init__(self) -> None:
        self._variables: dict[str, Variable] = {}
        self._spelled: dict[str, tuple[str, ...]] = {}
        self._true_names: set[str] = set()
        self._cpds: dict[str, TableCPD] = {}

    def add_variable(
        self, written: str, labels: Iterable[str], variable: Variable, place: str
    ) -> None:
        """Note a variable; `written` and `labels` are how the file refers to it and its states."""
        if written in self._variables or variable.name in self._true_names:
            raise FormatError(f"{place}: variable {variable.name!r} is declared twice")
        self._variables[written] = variable
        self._spelled[variable.name] = tuple(labels)
        self._true_names.add(variable.name)

    def family(self, written: str, parents: Iterable[str], place: str) -> Family:
        """The family of a variable; an error if it is unknown, repeated or absurdly large."""
        variable = self._known(written, f"{place}: a distribution is given for {written!r}")
        if variable.name in self._cpds:
            raise FormatError(f"{place}: variable {variable.name!r} has two distributions")
        own = [self._known(p, f"{place}: {variable.name!r} has the parent {p!r}") for p in parents]
        twice = next((p.name for i, p in enumerate(own) if p in own[:i]), None)
        if twice is not None:
            raise FormatError(f"{place}: {variable.name!r} has the parent {twice!r} twice")
        try:
            n_cells(variable, own)
        except SizeError as error:
            raise SizeError(f"{place}: {error}") from None
        spelled = tuple(self._spelled[v.name] for v in (*own, variable))
        return Family(variable, tuple(own), spelled, place)

    def add_numbers(self, family: Family, listed: Sequence[float]) -> None:
        """The same from a list, the last state of the family changing fastest."""
        family.check_count(listed)
        self.add_table(family, np.array(listed).reshape(family.shape))

    def add_table(self, family: Family, values: npt.ArrayLike) -> None:
        """Give a family its probabilities, in an array of the family's shape."""
        try:
            cpd = TableCPD(family.variable, family.parents, values)
        except ModelError as error:
            raise ModelError(f"{family.place}: {error}") from None
        self._cpds[family.variable.name] = cpd

    def network(self, name: str = "", description: str = "") -> Network:
        """The finished network; an error if a variable has no distribution or arcs form a cycle."""
        if not self._variables:
            raise FormatError("the file declares no variables")
        without = [v.name for v in self._variables.values() if v.name not in self._cpds]
        if without:
            raise FormatError(
                f"variable {without[0]!r} has no distribution"
                + (f", nor have {len(without) - 1} others" if len(without) > 1 else "")
            )
        cpds = [self._cpds[v.name] for v in self._variables.values()]
        return Network(cpds, name, description)

    def _known(self, written: str, beginning: str) -> Variable:
        if written not in self._variables:
            some = ", ".join(list(self._variables)[:8])
            more = ", ..." if len(self._variables) > 8 else ""
            raise FormatError(
                f"{beginning}, but no variable of that name is declared; there are: {some}{more}"
            )
        return self._variables[written]


def numbers(text: str, place: Callable[[], str]) -> list[float]:
    """The numbers in a text, separated by spaces or commas."""
    words = text.replace(",", " ").split()
    try:
        return [float(word) for word in words]
    except ValueError:
        odd = next(word for word in words if not _is_number(word))
        raise FormatError(f"{place()}: expected a number, got {odd[:40]!r}") from None


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
