"""How to look for continuous hidden parents: everything that can be set."""

from __future__ import annotations

from dataclasses import dataclass

from unveil.errors import DataError, Hint
from unveil.model.curves import Curve, curve_named

__all__ = ["NumberSettings"]


@dataclass(frozen=True)
class NumberSettings:
    """How to look for continuous hidden parents.

    - `max_hidden`: at most so many hidden variables
    - `max_parents`: at most so many parents for any column
    - `min_gain`: the least gain in nats for hidden variables to be kept
    - `family`: how columns depend on their parents: `linear`, `sigmoid` or `hyperbolic`
    - `ideal`: score only so many additions per family, those most like the ideal parent
    - `blocks`: leave out blocks of neighbouring rows in cross-validation, for rows in order of time
    """

    max_hidden: int = 30
    max_parents: int | None = None
    min_gain: float = 3.0
    family: str = "linear"
    ideal: int | None = None
    blocks: bool = False

    def __post_init__(self) -> None:
        curve = self.curve
        if curve is not None and (curve.positive or curve.link == "reaction"):
            raise DataError(
                f"hidden parents are found with linear, sigmoid and hyperbolic families, not "
                f"{self.family} ones. Such curves between columns can be learned.",
                hint=Hint(
                    f"learn(table, family={self.family!r})", f"unveil learn --family {self.family}"
                ),
            )
        for name, least in (("max_hidden", 0), ("max_parents", 1), ("ideal", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise DataError(f"{name} must be at least {least}, got {value}")

    @property
    def curve(self) -> Curve | None:
        """The curve that columns follow; `None` for lines."""
        return curve_named(self.family)
