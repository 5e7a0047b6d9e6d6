"""What every conditional probability distribution (CPD) can do (thesis 2.1.3).

A network knows its CPDs only through this protocol, and whoever fits one knows what it `needs` and
that it can be made from that by `estimate`. To add a kind: write a class with these members, say
in `unveil.model.kinds` which families it is for, list it in `unveil.formats.native.CPD_KINDS`, and
add it to the battery in `tests/model/test_cpd_battery.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np
import numpy.typing as npt

from unveil.statistics.protocol import Need
from unveil.table.core import Column
from unveil.table.variable import Variable

__all__ = ["CPD"]


@runtime_checkable
class CPD(Protocol):
    """P(variable | parents) for one variable of a network.

    `columns` are the parents' columns in the order of `parents`; cells inside are never missing.
    """

    kind: ClassVar[str]
    needs: ClassVar[Need]
    """Which statistics of its family it is estimated from."""

    @property
    def variable(self) -> Variable:
        """The child."""

    @property
    def parents(self) -> tuple[Variable, ...]:
        """The parents, in the order the distribution reads them."""

    @property
    def n_parameters(self) -> int:
        """The number of free parameters."""

    @classmethod
    def estimate(
        cls, variable: Variable, parents: Sequence[Variable], statistics: Any, prior: Any = None
    ) -> Self:
        """The distribution estimated from the statistics it `needs`.

        These are the joint counts of (parents ..., child), the `GaussianMoments` of (parents ...,
        child), or the `ConditionalMoments` of (continuous parents ..., child) given the discrete
        parents, in the order of `parents`. They may be expectations. One prior serves all kinds;
        each takes from it what concerns it.
        """

    def add_log_probability(
        self, total: npt.NDArray[np.float64], parents: Sequence[Column], child: Column
    ) -> None:
        """Add log P(child | parents) of every row to `total`, in place."""

    def sample(
        self, parents: Sequence[Column], n_rows: int, generator: np.random.Generator
    ) -> Column:
        """A column for the child, drawn row by row given the parents' columns."""

    def with_variables(self, variable: Variable, parents: Sequence[Variable]) -> Self:
        """The same numbers for renamed, relabelled or re-marked variables."""

    def describe(self) -> str:
        """The distribution as text for people."""

    def to_dict(self) -> dict[str, Any]:
        """The parameters as plain JSON values, without the variables."""

    @classmethod
    def from_dict(
        cls, variable: Variable, parents: Sequence[Variable], fields: Mapping[str, Any]
    ) -> Self:
        """The inverse of `to_dict`; checks everything."""
