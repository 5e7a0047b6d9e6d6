"""The few errors and warnings that unveil raises on purpose.

Every message says what was expected, what came, where, and what to try. Catch `UnveilError` to
catch them all; the subclasses say which door the input was refused at.

What to try is often said in other words on the command line than in Python. Such a message
carries a `Hint` with both; `str(error)` speaks Python, `error.said("command")` the command line.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal

__all__ = [
    "CycleError",
    "DataError",
    "Face",
    "FormatError",
    "Hint",
    "ModelError",
    "SizeError",
    "UnveilError",
    "UnveilWarning",
    "did_you_mean",
]

Face = Literal["python", "command", "web"]
"""Where a message is read: by somebody who writes Python, on the command line, or on a web page."""


@dataclass(frozen=True)
class Hint:
    """What to try, as a sentence for each face; empty where a face has nothing to offer.

    >>> error = DataError("no rows.", hint=Hint("Say header=False.", "Say --no-header."))
    >>> str(error), error.said("command")
    ('no rows. Say header=False.', 'no rows. Say --no-header.')
    """

    python: str
    command: str = ""
    web: str = ""


class _Said:
    """What errors and warnings share: a message, and a hint that each face words its own way."""

    hint: Hint | None = None

    def __init__(self, *message: Any, hint: Hint | None = None) -> None:
        super().__init__(*message)
        self.hint = hint

    def said(self, face: Face) -> str:
        """The message and, after it, the hint in the words of this face."""
        message = super().__str__()
        advice = "" if self.hint is None else getattr(self.hint, face)
        return f"{message} {advice}" if advice else message

    def __str__(self) -> str:
        return self.said("python")


class UnveilError(_Said, Exception):
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

    def __reduce__(self) -> tuple[Any, ...]:
        # As made: an exception is otherwise made again from its message.
        return type(self), (self.cycle,)


class FormatError(UnveilError, ValueError):
    """A file that does not follow its format, or a format nobody knows."""


class SizeError(UnveilError, MemoryError):
    """Work that would need an absurd amount of memory, refused before it starts."""

    def __new__(cls, *message: Any, **_: Any) -> SizeError:
        # `MemoryError` keeps a store of its own, which those who bring errors from another process
        # would ask for one.
        return Exception.__new__(cls, *message)


class UnveilWarning(_Said, UserWarning):
    """Something worth knowing that does not stop the work."""


def did_you_mean(word: object, known: Iterable[object]) -> str:
    """A question to end a message with, `" Did you mean 'x'?"`; empty when nothing is close.

    >>> did_you_mean("smoek", ["age", "Smoke"]), did_you_mean("weight", ["age", "smoke"])
    (" Did you mean 'Smoke'?", '')
    """
    by_text = {str(item).lower(): item for item in known}
    close = get_close_matches(str(word).strip().lower(), list(by_text), n=1, cutoff=0.6)
    return f" Did you mean {by_text[close[0]]!r}?" if close else ""
