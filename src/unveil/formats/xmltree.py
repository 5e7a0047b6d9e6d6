"""XML text as a small tree, read with care: no entities, no deep nesting, lines remembered."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from xml.parsers import expat
from xml.sax.saxutils import escape

from unveil.errors import FormatError

__all__ = ["WRITABLE", "Element", "escape", "parse"]

MAX_DEPTH = 100
"""No network format nests deeper than a handful of elements."""

# Printable, and without white space at the ends, which readers strip.
WRITABLE = re.compile(r"(?!\s)[^\x00-\x1f\x7f-\xa0\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f"
                      r"\u3000\ud800-\udfff\ufeff\ufff0-\uffff]+(?<!\s)")  # fmt: skip


@dataclass
class Element:
    """An element: its name without namespace, attributes, text, children and line."""

    tag: str
    attributes: dict[str, str]
    line: int
    pieces: list[str] = field(default_factory=list)
    children: list[Element] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text directly inside, without surrounding white space."""
        return "".join(self.pieces).strip()

    @property
    def place(self) -> str:
        """The line, in words."""
        return f"line {self.line}"

    def all(self, tag: str) -> list[Element]:
        """The children of that name, whatever its case."""
        return [child for child in self.children if child.tag.lower() == tag.lower()]

    def first(self, tag: str) -> Element | None:
        """The first child of that name, if there is one."""
        return next(iter(self.all(tag)), None)

    def text_of(self, tag: str) -> str | None:
        """The text of the first child of that name, if there is one."""
        child = self.first(tag)
        return None if child is None else child.text


def parse(text: str) -> Element:
    """The root element of an XML text.

    A document type is tolerated, but it may declare no entities: they are how a small file
    becomes a huge one ("billion laughs") or reads other files.
    """
    document = Element("document", {}, 1)
    path = [document]
    parser = expat.ParserCreate()
    parser.buffer_text = True

    def start(tag: str, attributes: dict[str, str]) -> None:
        if len(path) > MAX_DEPTH:
            raise FormatError(
                f"line {parser.CurrentLineNumber}: elements are nested more than {MAX_DEPTH} deep; "
                "no network looks like that"
            )
        element = Element(tag.rpartition(":")[2], attributes, parser.CurrentLineNumber)
        path[-1].children.append(element)
        path.append(element)

    def refuse_entity(*_: object) -> None:
        raise FormatError(
            f"line {parser.CurrentLineNumber}: the file declares or uses an XML entity; these are "
            "refused, since they can make a file explode or read other files. Write the text out."
        )

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda _: path.pop()
    parser.CharacterDataHandler = lambda piece: path[-1].pieces.append(piece)
    parser.EntityDeclHandler = refuse_entity
    parser.SkippedEntityHandler = refuse_entity
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        why = expat.errors.messages[error.code]
        cut_off = " (is the file cut off?)" if error.code in (3, 5) else ""
        raise FormatError(
            f"line {error.lineno}: this is not well-formed XML: {why}{cut_off}"
        ) from None
    except UnicodeEncodeError:
        raise FormatError("the text has characters that XML cannot hold") from None
    return document.children[0]
