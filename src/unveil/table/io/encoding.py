"""How the letters of a text file are written: as asked, as its mark says, or as its bytes show."""

from __future__ import annotations

import codecs
import unicodedata
from pathlib import Path

from unveil.errors import DataError, Hint
from unveil.table.places import tell

__all__ = ["decoded", "encodings", "text_encoding", "whole_text"]

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_WIDE = ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
"""Encodings with zero bytes in plain text, which files are found in without a mark."""


def encodings(first: str) -> Hint:
    """The encodings to try, `first` and one more."""
    return Hint(
        f'encoding="{first}" or encoding="cp1252".', f"--encoding {first} or --encoding cp1252."
    )


def text_encoding(head: bytes, path: Path, encoding: str | None) -> str:
    """The encoding given, or the one its byte order mark tells, or UTF-8; binary is refused.

    Text of two or four bytes a letter is also known without a mark.
    """
    marked = next((name for mark, name in _BYTE_ORDER_MARKS if head.startswith(mark)), None)
    if encoding is not None:
        name = _known(encoding, path)
        if name == "utf-8":
            return marked if marked == "utf-8-sig" else name
        # Without a mark these would mean the byte order of this machine.
        wide = name in ("utf-16", "utf-32") and not marked
        return (_unmarked(head, name) if wide else None) or encoding
    if marked:
        return marked
    if b"\x00" not in head:
        return "utf-8"
    found = _unmarked(head)
    if found is None:
        raise DataError(
            f"{path}: byte {head.index(0) + 1} is zero, so this is no text file. A table is a CSV, "
            "Parquet, Feather or ARFF file."
        )
    tell(f"{path}: read as {found}, which its bytes look like (it has no byte order mark)")
    return found


def decoded(head: bytes, path: Path, encoding: str) -> str:
    """The start of a file as text, a mark for every byte that is not; the end may be cut off."""
    try:
        return codecs.getincrementaldecoder(encoding)("replace").decode(head)
    except Exception as error:  # codecs raise what they like
        raise DataError(
            f"{path}: the file is not {encoding} text ({error}); its own encoding is often",
            hint=encodings("utf-8"),
        ) from error


def whole_text(data: bytes, path: Path, encoding: str) -> str:
    """All of a file as text; an error that names the line of the first byte that is not."""
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise DataError(
            f"{path}, line {line}: byte 0x{data[error.start]:02x} is not {encoding} text; try",
            hint=encodings("latin-1"),
        ) from error
    except Exception as error:  # codecs raise what they like
        raise DataError(f"{path}: the file is not {encoding} text ({error})") from error


def _known(encoding: str, path: Path) -> str:
    """Python's own name of an encoding; refused when there is none, or when it is not for text."""
    try:
        name = codecs.lookup(encoding).name
        "x".encode(name)  # Python also calls ways to pack bytes (hex, zip) encodings
        codecs.getincrementaldecoder(name)
    except (LookupError, UnicodeError, ValueError):
        raise DataError(
            f'{path}: no encoding of text is called {encoding!r}; try "utf-8" or "latin-1"'
        ) from None
    return name


def _unmarked(head: bytes, family: str = "utf") -> str | None:
    """The wide encoding that makes plain text of these bytes: the one with most ASCII in it."""
    texts = {}
    for name in (name for name in _WIDE if name.startswith(family)):
        try:
            text = codecs.getincrementaldecoder(name)().decode(head[:8000])
        except UnicodeDecodeError:
            continue
        if text and all(c in "\t\r\n" or unicodedata.category(c)[0] != "C" for c in text):
            texts[name] = sum(c.isascii() for c in text) / len(text)
    best = max(texts, key=lambda name: texts[name], default=None)
    # Tables have at least delimiters and line ends in ASCII; noise hardly has any.
    return best if best is not None and texts[best] > 0.05 else None
