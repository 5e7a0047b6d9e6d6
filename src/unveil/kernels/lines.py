"""Many regressions from one matrix of moments: the M-step of a linear Gaussian network."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.kernels.compiled import compiled

__all__ = ["regress_all"]

Array = npt.NDArray[Any]


@compiled(error_model="numpy")
def regress_all(
    scatter: Array, weight: float, parents: Array, floor: Array, coefficients: Array,
    variances: Array,
) -> None:  # fmt: skip
    """Fill in the least squares coefficients of every variable on its parents, and what is left.

    `scatter` is the matrix of products of deviations, (n, n); `parents[i, j]` is 1 where j is a
    parent of i; `coefficients[i, j]` is that of parent j. `variances` are at least `floor`. A
    parent that the parents before it determine gets the coefficient 0.
    """
    n = len(scatter)
    own = np.empty(n, np.int64)
    factor, right = np.empty((n, n)), np.empty(n)
    for i in range(n):
        k = 0
        for j in range(n):
            coefficients[i, j] = 0.0
            if parents[i, j]:
                own[k] = j
                k += 1
        left = scatter[i, i]
        for a in range(k):
            for b in range(a + 1):
                total = scatter[own[a], own[b]]
                for q in range(b):
                    total -= factor[a, q] * factor[b, q]
                if a == b:
                    whole = scatter[own[a], own[a]]
                    factor[a, a] = math.sqrt(total) if total > 1e-10 * whole else 0.0
                else:
                    factor[a, b] = total / factor[b, b] if factor[b, b] > 0.0 else 0.0
            total = scatter[own[a], i]
            for q in range(a):
                total -= factor[a, q] * right[q]
            right[a] = total / factor[a, a] if factor[a, a] > 0.0 else 0.0
            left -= right[a] * right[a]
        for a in range(k - 1, -1, -1):
            total = right[a]
            for b in range(a + 1, k):
                total -= factor[b, a] * coefficients[i, own[b]]
            coefficients[i, own[a]] = total / factor[a, a] if factor[a, a] > 0.0 else 0.0
        variances[i] = max(left / weight, floor[i])
