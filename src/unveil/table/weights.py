"""Row weights: numbers that say how often each row counts. What can be one, and what looks so."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from unveil.errors import DataError, Hint
from unveil.table.places import at, listing

__all__ = ["MOST_WEIGHT", "checked_weights", "named_like_weights", "no_weights"]

MOST_WEIGHT = 1e100
"""What the weights of a table may add up to: far from where sums and products overflow."""

_NAMES = re.compile(
    r"(row_?|case_?|sample_?)?(counts?|n|freq(uency|uencies)?|cases|weights?|wts?|wgt|pweight)"
    r"|(n|num|number)_?(of_?)?(cases|rows|times)",
    re.IGNORECASE,
)


def checked_weights(
    weights: npt.NDArray[np.float64], source: str = "", name: str | None = None
) -> npt.NDArray[np.float64]:
    """The weights, when all of them can be: finite, not negative, and not beyond reckoning."""
    bad = ~(np.isfinite(weights) & (weights >= 0))
    if bad.any():
        row = int(np.argmax(bad))
        what = "empty" if np.isnan(weights[row]) else f"{weights[row]:g}"
        raise DataError(
            f"{at(source, row + 1, name)}: a weight must be finite and not negative, and it is "
            f"{what}"
        )
    most = float(weights.max(initial=0.0))
    # Shares of the largest are added: a sum of weights could overflow.
    if (weights / max(most, 1.0)).sum() * (max(most, 1.0) / MOST_WEIGHT) > 1:
        raise DataError(
            f"{at(source, int(np.argmax(weights)) + 1, name)}: a weight of {most:g} is more than "
            f"can be reckoned with (all weights together may be {MOST_WEIGHT:g}). Weights say how "
            f"often rows count; divide all of them by {most:g}."
        )
    return weights


def no_weights(name: str, why: Exception, names: Sequence[str]) -> DataError:
    """The error for a column that was to hold the weights and holds something else."""
    others = [other for other in names if named_like_weights(other) and other != name]
    instead = f" It may be {listing(others)} instead." if others else ""
    found = str(why.args[0]).partition(" is not a number")[0] if why.args else str(why)
    if re.search(r"'-?\d+,\d+'$", found):
        instead = " It looks like a number with a decimal comma; write such numbers with a point."
    return DataError(
        f"{found} is no weight. The weights are numbers that say how often each row counts, and "
        f"column {name!r} holds something else.{instead}",
        hint=Hint("Leave out weights= to count every row once.", "Without --weights every row "
                  "counts once."),
    )  # fmt: skip


def named_like_weights(name: str) -> bool:
    """Whether a column of this name often says how often each row counts.

    >>> [named_like_weights(name) for name in ("count", "Freq", "n", "n_cases", "discount")]
    [True, True, True, True, False]
    """
    return bool(_NAMES.fullmatch(name.strip()))
