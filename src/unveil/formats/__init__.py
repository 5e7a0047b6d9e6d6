"""Networks in and out of files.

`load` and `save` choose the format by the ending of the name (`.bif`, `.bif.gz`, ...), `loads` and
`dumps` work on text. To add a format: write a reader (text to network) and a writer (network to
text) in a file of their own, and add one entry to `FORMATS`.

>>> from unveil import Network, TableCPD, Variable
>>> coin = Network([TableCPD(Variable("coin", ["heads", "tails"]), [], [0.5, 0.5])])
>>> print(dumps(coin, "bif"))
network unknown {
}
variable coin {
  type discrete [ 2 ] { heads, tails };
}
probability ( coin ) {
  table 0.5, 0.5;
}
<BLANKLINE>
>>> loads(dumps(coin, "xdsl"), "xdsl") == coin
True
"""

from __future__ import annotations

import gzip
import re
import warnings
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from unveil.errors import FormatError, Hint, SizeError, UnveilError, UnveilWarning, did_you_mean
from unveil.files import atomic_write, check_target
from unveil.formats.bif import read_bif, write_bif
from unveil.formats.dot import write_dot
from unveil.formats.native import read_native, write_native
from unveil.formats.net import read_net, write_net
from unveil.formats.uai import read_uai, write_uai
from unveil.formats.xdsl import read_xdsl, write_xdsl
from unveil.formats.xmlbif import read_xmlbif, write_xmlbif
from unveil.model.compact import CompactCPD
from unveil.model.network import Network
from unveil.model.table_cpd import TableCPD, table_of

__all__ = ["FORMATS", "Format", "check_network_target", "dumps", "load", "loads", "save"]

TABLE_ENDINGS = (".csv", ".tsv", ".tab", ".txt", ".data", ".arff", ".parquet", ".feather", ".arrow")
"""How names of files that hold tables end, for whoever takes one for a network."""

MAX_BYTES = 1 << 30
"""The largest text that is read: a small compressed file can hide a huge one."""


@dataclass(frozen=True)
class Format:
    """One file format: its endings, what it is, what it loses, and how it is read and written."""

    endings: tuple[str, ...]
    description: str
    loses: str
    write: Callable[..., str]
    read: Callable[[str], Network] | None = None
    looks: str | None = None
    """A pattern that the beginning of such a file contains, for files with another ending."""
    any_kind: bool = False
    """Whether it can be written with distributions of any kind, not only tables."""


_MARKED = "nothing in unveil; other programs skip the notes on label types and hidden variables"

FORMATS: dict[str, Format] = {
    "json": Format(
        (".json",), "unveil's own JSON", "nothing", write_native, read_native, r"\A\s*\{", True
    ),
    "bif": Format(
        (".bif",),
        "BIF 0.15, the interchange format of most public networks",
        _MARKED,
        write_bif,
        read_bif,
        r"(?m)^\s*(network|variable|probability)\b",
    ),
    "xmlbif": Format(
        (".xmlbif", ".bifxml", ".xml"),
        "XMLBIF 0.3, the XML form of BIF",
        _MARKED,
        write_xmlbif,
        read_xmlbif,
        r"<BIF\b",
    ),
    "net": Format(
        (".net", ".hugin", ".oobn"),
        "Hugin NET",
        _MARKED,
        write_net,
        read_net,
        r"(?m)^\s*(net|class|node|potential)\b",
    ),
    "xdsl": Format(
        (".xdsl",),
        "GeNIe XDSL",
        _MARKED + "; the order of variables (parents come first)",
        write_xdsl,
        read_xdsl,
        r"<smile\b",
    ),
    "uai": Format(
        (".uai",),
        "UAI, the format of the inference competitions",
        "names, labels, hidden marks",
        write_uai,
        read_uai,
        r"\A\s*(BAYES|MARKOV)\b",
    ),
    "dot": Format(
        (".dot", ".gv"),
        "DOT, a picture of the graph (written only)",
        "the numbers",
        write_dot,
        any_kind=True,
    ),
}


def load(path: str | PathLike[str], format: str | None = None) -> Network:
    """The network in the file `path`, compressed by gzip or not.

    The format is told by `format`, else by the ending of the name, else by the content.
    """
    try:
        text = _text(_bytes(Path(path)), path)
        return loads(text, format or _named_format(path) or _sniffed_format(text))
    except UnveilError as error:
        if format is None and _is_table(Path(path)):
            raise _not_a_network(path) from None
        error.args = (f"{path}: {error.args[0]}",)
        raise


def save(
    network: Network, path: str | PathLike[str], format: str | None = None, **options: Any
) -> None:
    """Write `network` to the file `path`; an old one is replaced only when the new one is complete.

    The ending of the name tells the format (a final `.gz` compresses), unless `format` does.
    `options` go to the format's writer.
    """
    name = format or check_network_target(path)
    content = dumps(network, name, **options).encode("utf-8")
    if Path(path).suffix.lower() == ".gz":
        content = gzip.compress(content, compresslevel=6, mtime=0)
    with atomic_write(path, "wb") as file:
        file.write(content)


def check_network_target(path: str | PathLike[str]) -> str:
    """The format that a network would be written in; an error if it could not be written there.

    Called before long work, so that nobody learns of a wrong name only after it.
    """
    name = _named_format(path)
    if name is None:
        raise FormatError(f"{path}: the ending tells no format; known endings are {_endings()}")
    check_target(path)
    return name


def loads(text: str, format: str) -> Network:
    """The network in a text of the given format."""
    read = _known(format).read
    if read is None:
        raise FormatError(f"the format {format!r} can only be written; it does not hold a network")
    if not text.strip():
        raise FormatError("the file is empty")
    return read(text)


def dumps(network: Network, format: str, **options: Any) -> str:
    """The network as text in the given format."""
    known = _known(format)
    if not known.any_kind:
        network = _laid_out(network, format)
    other = [name for name, cpd in network.cpds.items() if cpd.kind != TableCPD.kind]
    if other and not known.any_kind:
        raise FormatError(
            f"the format {format!r} cannot hold this network: it has tables of probabilities only, "
            f"and {other[0]!r} has {network.cpd(other[0]).kind}. Take 'json' (a file that ends in "
            ".json), which holds every kind."
        )
    return known.write(network, **options)


def _laid_out(network: Network, format: str) -> Network:
    """The network with its compact distributions as tables; says so."""
    compact = [name for name, cpd in network.cpds.items() if isinstance(cpd, CompactCPD)]
    if not compact:
        return network
    shown = ", ".join(compact[:6]) + (", ..." if len(compact) > 6 else "")
    warnings.warn(
        f"the format {format!r} holds tables only: the compact distributions of {shown} are "
        "written as tables. A .json file keeps them.",
        UnveilWarning,
        stacklevel=4,
    )
    cpds = [table_of(c) if isinstance(c, CompactCPD) else c for c in network.cpds.values()]
    return Network(cpds, network.name, network.description)


def _known(format: str) -> Format:
    if format not in FORMATS:
        raise FormatError(
            f"unknown format {format!r}; known are {', '.join(FORMATS)}."
            + did_you_mean(format, FORMATS)
        )
    return FORMATS[format]


def _named_format(path: str | PathLike[str]) -> str | None:
    endings = [ending.lower() for ending in Path(path).suffixes]
    ending = endings[-2] if len(endings) > 1 and endings[-1] == ".gz" else "".join(endings[-1:])
    return next((name for name, known in FORMATS.items() if ending in known.endings), None)


def _sniffed_format(text: str) -> str:
    beginning = text[:4096]
    for name, known in FORMATS.items():
        if known.looks and re.search(known.looks, beginning):
            return name
    raise FormatError(
        f"neither the ending nor the content tells the format; known endings are {_endings()}.",
        hint=Hint("Say which it is with format=...", "Give the file one of them."),
    )


def _not_a_network(path: str | PathLike[str]) -> FormatError:
    return FormatError(
        f"{path}: this is a table of data, not a network. A network is learned from it with",
        hint=Hint(f"unveil.learn({str(path)!r}).", f"unveil learn {path} --output model.json."),
    )


def _is_table(path: Path) -> bool:
    endings = [ending.lower() for ending in path.suffixes if ending.lower() != ".gz"]
    return bool(endings) and endings[-1] in TABLE_ENDINGS


def _endings() -> str:
    return ", ".join(ending for known in FORMATS.values() for ending in known.endings)


def _bytes(path: Path) -> bytes:
    with path.open("rb") as file:
        compressed = file.read(2) == b"\x1f\x8b"
    try:
        with gzip.open(path) if compressed else path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FormatError(f"the compressed file is damaged: {error}") from None
    if len(content) > MAX_BYTES:
        raise SizeError(f"the file holds more than {MAX_BYTES:,} bytes of text")
    return content


def _text(content: bytes, path: str | PathLike[str]) -> str:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "utf-16"
    elif b"\0" in content:
        raise FormatError("this is not a text file (it holds zero bytes)")
    else:
        encoding = "utf-8-sig"
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        if encoding == "utf-16":
            raise FormatError(f"this is not a text file: {error.reason}") from None
    declared = re.match(rb"""<\?xml[^>]*encoding=["']([\w-]+)["']""", content)
    with suppress(LookupError, UnicodeDecodeError):
        if declared:
            return content.decode(declared[1].decode())
    warnings.warn(
        f"{path}: the text is not UTF-8; it was read as Latin-1, so check accented letters",
        UnveilWarning,
        stacklevel=4,
    )
    return content.decode("latin-1")
