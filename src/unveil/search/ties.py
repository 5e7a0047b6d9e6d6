"""When two scores are the same: rounding must neither decide nor keep a search going."""

from __future__ import annotations

__all__ = ["tie"]

ABSOLUTE, RELATIVE = 1e-9, 1e-13


def tie(score: float) -> float:
    """Scores of about this size that are closer than this are equal.

    A score is a sum of very many terms; what it gains is the difference of two such sums, and
    about three of a double's sixteen digits go on the way.

    >>> tie(-1000.0), tie(-1e17)
    (1e-09, 10000.0)
    """
    return max(ABSOLUTE, RELATIVE * abs(score))
