"""Random reweighting (thesis 3.3.1): weights drawn around the rows' own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from unveil.errors import DataError

__all__ = ["Random"]

Vector = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Random:
    """Weights from a Dirichlet distribution that peaks at the rows' own as it cools.

    With beta = 1 / temperature and rows of equal weight it is Dirichlet(beta, ..., beta)
    (Eq. 3.2). Rows of other weights w0 get the parameters beta w0, in units of a row
    (`centre="mean"`): the weights are right on the average at every temperature, and a row that
    stands for k equal ones is drawn as their sum would be. `centre="mode"` is Eq. 3.3 as it stands,
    1 + M (beta - 1) w0: the weights are the likeliest ones when cold, but at temperature one all
    rows count alike, however many cases they stand for.

    >>> own = np.array([1.0, 1.0, 2.0])
    >>> ratio = Random().ratio(own, 0 * own, None, 0.5, np.random.default_rng(1))
    >>> (own * np.exp(ratio)).round(2).tolist()
    [0.86, 0.85, 2.28]
    """

    name: ClassVar[str] = "random"
    centre: Literal["mean", "mode"] = "mean"

    def __post_init__(self) -> None:
        if self.centre not in ("mean", "mode"):
            raise DataError(f"random weights have their mean or mode at the rows' own, not "
                            f"{self.centre!r}")  # fmt: skip

    def first(self, own: Vector, slopes: object) -> Random:
        """Itself: draws know nothing of hypotheses."""
        return self

    def ratio(
        self,
        own: Vector,
        before: Vector,
        slopes: Callable[[], Vector] | None,
        temperature: float,
        generator: np.random.Generator,
    ) -> Vector:
        """log(drawn / own); zero at temperature zero."""
        ratio = np.zeros(len(own))
        if temperature <= 0:
            return ratio
        counts = own > 0
        drawn = generator.dirichlet(self.parameters(own[counts], temperature))
        with np.errstate(divide="ignore"):
            ratio[counts] = np.log(drawn * (own.sum() / own[counts]))
        return ratio

    def parameters(self, own: Vector, temperature: float) -> Vector:
        """Those of the Dirichlet distribution, for rows with positive weights."""
        beta, n = 1.0 / temperature, len(own)
        if self.centre == "mean":
            # The mean row of a folded table counts as the cases it stands for.
            unit = own / min(1.0, own.sum() / n)
            return np.asarray(np.maximum(beta * unit, TINY))
        if beta < 1:  # no likeliest weights: all rows alike, which meets the rest at beta = 1
            return np.full(n, beta)
        return np.asarray(1.0 + n * (beta - 1.0) * (own / own.sum()))


TINY = 1e-6
"""No parameter is smaller: a draw from it is zero anyhow."""
