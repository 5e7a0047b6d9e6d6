"""The K2 score (Cooper and Herskovits 1992)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from unveil.kernels.scoring import DIRICHLET, DataTerm
from unveil.score.base import CountScore

__all__ = ["K2"]


@dataclass(frozen=True)
class K2(CountScore):
    """Eq. 2.15 with one imagined case in every cell; equivalent graphs may score differently."""

    name: ClassVar[str] = "k2"
    equivalent: ClassVar[bool] = False

    @property
    def term(self) -> DataTerm:
        """A pseudo-count of one in every cell."""
        return DataTerm(DIRICHLET, 1.0, False)
