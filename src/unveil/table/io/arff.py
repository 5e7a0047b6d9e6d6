"""ARFF files (Weka): declared columns, then comma separated data.

Nominal columns keep their declared order of states; `numeric`, `real` and `integer` columns are
continuous; `string` and `date` columns hold labels, kept as text. `?` is missing. Names and
values may be in single or double quotes, `%` starts a comment line, sparse rows
(`{0 1, 3 x}`) are understood: a cell left out is 0, or the first state of a nominal column.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from unveil.errors import DataError
from unveil.table.io.csv import parse_delimited
from unveil.table.io.sniff import Layout
from unveil.table.options import check_names
from unveil.table.places import count
from unveil.table.text import typed_labels
from unveil.table.variable import Variable

__all__ = ["Attribute", "read_arff"]


@dataclass(frozen=True)
class Attribute:
    """One declared column: its name, and its states when nominal."""

    name: str
    kind: str
    states: tuple[str, ...] = ()

    @property
    def variable(self) -> Variable | None:
        """The variable declared, or `None` when the data decides (strings and dates)."""
        if self.kind == "nominal":
            return Variable(self.name, typed_labels(self.states))
        return Variable(self.name) if self.kind == "numeric" else None


_TOKEN = re.compile(
    r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^\s,{}'"][^,{}]*?|))\s*(?=[,{}]|$)""", re.S
)
_NAME = re.compile(r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|(\S+))\s*(.*)$""", re.S)
_KINDS = {"numeric": "numeric", "real": "numeric", "integer": "numeric"}
_KINDS |= {"string": "text", "date": "text"}


def read_arff(path: Path, text: str) -> tuple[list[Attribute], dict[str, Any]]:
    r"""The declared columns, and for each its cells as Arrow text.

    >>> head = "@relation r\n@attribute a {no,yes}\n@attribute b real\n@data\nyes,1.5\n?,2\n"
    >>> attributes, columns = read_arff(Path("r.arff"), head)
    >>> attributes[0].states, columns["b"].to_pylist()
    (('no', 'yes'), ['1.5', '2'])
    """
    attributes, first_line, data = _split(path, text)
    names = tuple(a.name for a in attributes)
    check_names(names, str(path))
    if not data.strip():
        raise DataError(f"{path}: there are no rows after @data")
    quotes = [mark for mark in "'\"" if mark in data]
    if "%" not in data and "{" not in data and len(quotes) < 2 and len(names) > 1:
        layout = Layout("utf-8", ",", quotes[0] if quotes else "", names, 0, _sample(data))
        try:
            table = parse_delimited(pa.BufferReader(data.encode()), layout, escape="\\")
            if not quotes or not _has_loose_quotes(table, quotes[0]):
                return attributes, {name: table.column(name) for name in names}
        except pa.ArrowInvalid:
            pass  # read again below, slowly, for a sentence or for quotes after spaces
    rows = list(_rows(path, attributes, first_line, data.splitlines()))
    columns = zip(*rows, strict=True)
    return attributes, {n: pa.array(c, pa.string()) for n, c in zip(names, columns, strict=True)}


def _split(path: Path, text: str) -> tuple[list[Attribute], int, str]:
    """The attributes, the number of the first data line, and the data section."""
    attributes: list[Attribute] = []
    position = 0
    for number, line in enumerate(text.splitlines(keepends=True), start=1):
        position += len(line)
        bare = line.strip()
        word = bare.split(maxsplit=1)[0].lower() if bare else ""
        if word == "@attribute":
            attributes.append(_attribute(path, number, bare[len(word) :]))
        elif word == "@data":
            if not attributes:
                raise DataError(f"{path}, line {number}: @data comes before any @attribute")
            return attributes, number + 1, text[position:]
        elif bare and not bare.startswith("%") and word != "@relation":
            raise DataError(
                f"{path}, line {number}: expected @relation, @attribute or @data, found {bare!r}"
            )
    raise DataError(f"{path}: the file has no @data line, so it holds no rows")


def _attribute(path: Path, number: int, declaration: str) -> Attribute:
    match = _NAME.match(declaration)
    if not match:
        raise DataError(f"{path}, line {number}: an @attribute needs a name and a type")
    name = _unescaped(next((g for g in match.groups()[:3] if g is not None), ""))
    kind = match.group(4).strip()
    if "{" in name and not kind:  # `@attribute a{x,y}` without a space
        name, _, rest = name.partition("{")
        kind = "{" + rest
    if kind.startswith("{"):
        states = tuple(_tokens(path, number, kind.strip().removeprefix("{").rpartition("}")[0]))
        return Attribute(name, "nominal", tuple(s for s in states if s is not None))
    word = kind.split(maxsplit=1)[0].lower() if kind else ""
    if word not in _KINDS:
        raise DataError(
            f"{path}, line {number}: attribute {name!r} has the type {kind!r}; expected numeric, "
            "real, integer, string, date or {state, state, ...}"
        )
    return Attribute(name, _KINDS[word])


def _tokens(path: Path, number: int, line: str) -> Iterator[str | None]:
    """The comma separated values of a line, quotes removed, `None` for a bare `?`."""
    position = 0
    while True:
        match = _TOKEN.match(line, position)
        if not match:
            raise DataError(f"{path}, line {number}: cannot read {line[position:][:60]!r}")
        single, double, plain = match.groups()
        quoted = single if single is not None else double
        yield _unescaped(quoted) if quoted is not None else (None if plain == "?" else plain)
        position = match.end()
        if position >= len(line):
            return
        position += 1


def _rows(
    path: Path, attributes: Sequence[Attribute], first_line: int, lines: Iterable[str]
) -> Iterator[list[str | None]]:
    """Each data line as one value per attribute."""
    row = 0
    for number, line in enumerate(lines, start=first_line):
        bare = line.strip()
        if not bare or bare.startswith("%"):
            continue
        row += 1
        if bare.startswith("{"):
            yield _sparse(path, number, attributes, bare)
            continue
        values = list(_tokens(path, number, bare))
        if len(values) != len(attributes):
            raise DataError(
                f"{path}, line {number} (row {row} of the data): expected "
                f"{count(len(attributes), 'value')}, one per @attribute, found {len(values)}: "
                f"{bare[:60]!r}"
            )
        yield values


def _sparse(
    path: Path, number: int, attributes: Sequence[Attribute], line: str
) -> list[str | None]:
    values: list[str | None] = [a.states[0] if a.states else "0" for a in attributes]
    body = line.removeprefix("{").rpartition("}")[0].strip()
    for pair in re.findall(r"""(?:[^,'"]|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")+""", body):
        index, _, value = pair.strip().partition(" ")
        if not index.isdigit() or int(index) >= len(attributes):
            raise DataError(
                f"{path}, line {number}: {pair.strip()!r} is no sparse cell; expected a column "
                f"from 0 to {len(attributes) - 1}, a space and a value"
            )
        values[int(index)] = next(_tokens(path, number, value))
    return values


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


def _sample(data: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(line.split(",")) for line in data[: 1 << 17].splitlines()[:1000])


def _has_loose_quotes(table: Any, quote: str) -> bool:
    """Whether Arrow left quotes in the cells, as it does when a space comes before them."""
    for column in table.columns:
        chunks = [c.dictionary if pa.types.is_dictionary(c.type) else c for c in column.chunks]
        if any(quote in text for chunk in chunks for text in chunk.to_pylist()):
            return True
    return False
