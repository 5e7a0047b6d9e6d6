"""A cursor over the text of a BIF or NET file: words, brackets, comments, line numbers."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cached_property

from unveil.errors import FormatError
from unveil.formats.spelling import NOTE

__all__ = ["Scanner", "unquoted"]

_SPACE = re.compile(r"\s*")
_WORD = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s{}()\[\];,|="]+', re.DOTALL)
_NEXT = re.compile(r'"[^"\n]*"?|[^\s{}()\[\];,|="]+|\S')


class Scanner:
    """Reads a text from left to right; every error names the line.

    Comments are blanked out, not removed, so that positions and lines stay true. Those that begin
    with `unveil:` are kept as notes.
    """

    def __init__(self, text: str, comment: re.Pattern[str]) -> None:
        self.notes: list[tuple[int, str]] = []
        self.text = comment.sub(self._blank, text)
        self.at = 0

    def _blank(self, found: re.Match[str]) -> str:
        whole = found.group()
        if whole[0] == '"':
            return whole
        content = whole.lstrip("/%*").strip()
        if content.startswith(NOTE):
            self.notes.append((found.start(), content.removeprefix(NOTE).strip()))
        return re.sub(r"[^\n]", " ", whole)

    def note(self, start: int, end: int) -> str:
        """The note between two positions, or an empty text."""
        i = bisect_left(self.notes, (start, ""))
        return self.notes[i][1] if i < len(self.notes) and self.notes[i][0] < end else ""

    @cached_property
    def _line_ends(self) -> list[int]:
        return [found.start() for found in re.finditer("\n", self.text)]

    def place(self, at: int | None = None) -> str:
        """The line of a position (by default of what comes next), in words."""
        if at is None:
            self.skip_space()
        return f"line {bisect_left(self._line_ends, self.at if at is None else at) + 1}"

    def skip_space(self) -> None:
        """Go to the next character that is not white."""
        self.at = _SPACE.match(self.text, self.at).end()  # type: ignore[union-attr]

    def at_end(self) -> bool:
        """Whether nothing but white space is left."""
        self.skip_space()
        return self.at >= len(self.text)

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Step over the pattern if it comes next."""
        self.skip_space()
        found = pattern.match(self.text, self.at)
        if found:
            self.at = found.end()
        return found

    def has(self, mark: str) -> bool:
        """Step over a mark such as a bracket if it comes next."""
        self.skip_space()
        here = self.text.startswith(mark, self.at)
        self.at += len(mark) if here else 0
        return here

    def expect(self, mark: str, where: str) -> None:
        """Step over a mark that must come next."""
        if not self.has(mark):
            raise self.unexpected(f"{mark!r} {where}")

    def word(self, what: str) -> str:
        """The next word, without its quotes."""
        found = self.match(_WORD)
        if not found:
            raise self.unexpected(what)
        return unquoted(found.group())

    def unexpected(self, expected: str) -> FormatError:
        """The error for something else than what was expected."""
        place = self.place()
        found = _NEXT.match(self.text, self.at)
        came = repr(found.group()[:40]) if found else "the end of the file (is it cut off?)"
        return FormatError(f"{place}: expected {expected}, got {came}")


def unquoted(word: str) -> str:
    """The word without surrounding quotes."""
    return word[1:-1] if len(word) > 1 and word[0] == word[-1] == '"' else word
