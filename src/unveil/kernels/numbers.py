"""Numbers that are compiled for their type, not for their value.

A bare `1` in a call, or before a loop that changes it, has numba compile the kernel that is called
for the value 1, and then again for whole numbers. `whole(1)` and `truth(False)` spare that.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["truth", "whole"]

whole: Any = np.int64
truth: Any = np.bool_
