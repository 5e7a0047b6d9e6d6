"""What the approximate methods are told of every row, and what they are asked for."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy.typing as npt

__all__ = ["Seen", "Wanted"]

Array = npt.NDArray[Any]


class Seen(NamedTuple):
    """Row r observes state codes[v, r] of variable v, or nothing if that is `missing`.

    Where `soft_first[v]` >= 0, the likelihood of state s is soft[soft_first[v] + s, r].
    """

    codes: Array
    missing: int
    soft: Array
    soft_first: Array


class Wanted(NamedTuple):
    """Marginals to find: state s of variable `targets[i]` has column `first[i]` + s."""

    targets: Array
    first: Array
