"""Seeds of random numbers: checked at the door, and drawn where none is given.

A result keeps the seed that was used, also one that was drawn, so that every run can be repeated.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np

from unveil.errors import DataError

__all__ = ["checked_seed", "generator_of", "seed_or_fresh"]

MOST = 2**31
"""Seeds that are drawn are smaller than this."""


def seed_or_fresh(seed: int | None) -> int:
    """The seed as a plain number; one that is drawn, if there is none.

    >>> seed_or_fresh(7), 0 <= seed_or_fresh(None) < MOST
    (7, True)
    """
    if seed is None:
        return int(np.random.default_rng().integers(MOST))
    return checked_seed(seed)


def checked_seed(seed: Any) -> int:
    """The seed as a plain number; an error that says what a seed is, if it is none."""
    if not isinstance(seed, Integral) or isinstance(seed, bool) or int(seed) < 0:
        raise DataError(f"a seed is a whole number, zero or more, got {seed!r}")
    return int(seed)


def generator_of(seed: Any) -> np.random.Generator:
    """What NumPy makes of a seed, of several numbers, or of a generator or its like; else an error.

    >>> int(generator_of(7).integers(100)) == int(np.random.default_rng(7).integers(100))
    True
    """
    plain = isinstance(seed, (int, float, complex, str, bytes, np.number))
    if isinstance(seed, Sequence) and not isinstance(seed, (str, bytes)):
        seed = [checked_seed(number) for number in seed]
    return np.random.default_rng(checked_seed(seed) if plain else seed)
