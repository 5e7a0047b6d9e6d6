"""The few errors and warnings that unveil raises on purpose.

Every message says what was expected, what came, where, and what to try. Catch `UnveilError` to
catch them all; the subclasses say which door the input was refused at.
"""

__all__ = [
    "CycleError",
    "DataError",
    "FormatError",
    "ModelError",
    "SizeError",
    "UnveilError",
    "UnveilWarning",
]


class UnveilError(Exception):
    """Anything unveil refuses on purpose."""


class DataError(UnveilError, ValueError):
    """A table, a column or a value that cannot be used as it is."""


class ModelError(UnveilError, ValueError):
    """A graph, a distribution or a network that contradicts itself."""


class CycleError(ModelError):
    """A directed graph with a cycle; `cycle` lists the names around it, first one repeated last."""

    def __init__(self, cycle: list[str]) -> None:
        self.cycle = list(cycle)
        super().__init__(
            "the arcs form a cycle: "
            + " -> ".join(self.cycle)
            + ". A Bayesian network needs an acyclic graph; remove or reverse one of these arcs."
        )


class FormatError(UnveilError, ValueError):
    """A file that does not follow its format, or a format nobody knows."""


class SizeError(UnveilError, MemoryError):
    """Work that would need an absurd amount of memory, refused before it starts."""


class UnveilWarning(UserWarning):
    """Something worth knowing that does not stop the work."""
