"""Numbers and arrays of one type, so that what they are given to is compiled once.

A bare `1` in a call, or before a loop that changes it, has numba compile the kernel that is called
for the value 1, and then again for whole numbers. `whole(1)` and `truth(False)` spare that. Arrays
that may not be written to are a type of their own: `fixed(array)` always is. An index that is
`unsigned` need not be checked for being negative, so that loops over it become vector code.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["fixed", "truth", "unsigned", "whole"]

whole: Any = np.int64
truth: Any = np.bool_
unsigned: Any = np.uint64


def fixed(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same array, seen in a way that cannot be written to."""
    view = array.view()
    view.flags.writeable = False
    return view
