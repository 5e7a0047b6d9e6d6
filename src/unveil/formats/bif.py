"""BIF 0.15, the Bayesian network interchange format of most public network collections.

    variable B { type discrete [ 2 ] { yes, no }; }
    probability ( B | A ) { (a0) 0.2, 0.8; (a1) 0.5, 0.5; }

Rows may come in any order; `default` fills those not given. A `table` line for a variable with
parents is read in the order of the BIF definition: the variable's own state varies slowest, the
last parent fastest. When only the opposite order (own state fastest) gives rows that sum to one,
that is what the writer meant, and a warning says so.
"""

from __future__ import annotations

import itertools
import re
import warnings
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from unveil.errors import FormatError, UnveilWarning
from unveil.formats.draft import Draft, Family, numbers
from unveil.formats.scan import Scanner, unquoted
from unveil.formats.spelling import NOTE, Spelling
from unveil.model.network import Network

__all__ = ["read_bif", "write_bif"]

UNTITLED = "unknown"

_KEYWORDS = frozenset(
    "network variable probability property type discrete continuous default table".split()
)
# What pyAgrum and pgmpy both read without quotes: identifiers, whole numbers, and the likes of
# `10g`; but not `1e5`, which they take for a number.
_PLAIN = re.compile(r"(?![0-9]+[eE][0-9]+$)[A-Za-z0-9_]+")
SPELLING = Spelling(_PLAIN, _PLAIN, _KEYWORDS)

_COMMENT = re.compile(r'"[^"\n]*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_LABEL = re.compile(r'"[^"]*"|[^\s,{}()"][^,{}()";]*')
_ROW_WORD = re.compile(r'"[^"]*"|[^\s,"]+')
_ROW = re.compile(r'\(((?:[^()"]++|"[^"]*")*+)\)\s*([-+0-9.eE,\s]*);?')
_VALUES = re.compile(r"(table|default)\b\s*([-+0-9.eE,\s]*);?")
_TO_BLOCK_END = re.compile(r'(?:[^}"]++|"[^"]*")*+\}')
_PROPERTY = re.compile(r'property\b(?:"[^"]*"|[^;\n"])*;?')


def read_bif(text: str) -> Network:
    """The network in a BIF text."""
    scanner, draft = Scanner(text, _COMMENT), Draft()
    title, bodies = ("", ""), []
    while not scanner.at_end():
        start = scanner.at
        block = scanner.word("a block: 'network', 'variable' or 'probability'")
        if block == "network":
            title = _read_network(scanner, start)
        elif block == "variable":
            _read_variable(scanner, draft, start)
        elif block == "probability":
            bodies.append(scanner.at)
            _skip_block(scanner)
        elif block != ";":
            scanner.at = start
            raise scanner.unexpected("a block: 'network', 'variable' or 'probability'")
    for at in bodies:  # after all variables, for these may be declared after they are used
        scanner.at = at
        _read_probability(scanner, draft)
    return draft.network(*title)


def _read_network(scanner: Scanner, start: int) -> tuple[str, str]:
    title = "" if scanner.text.startswith("{", scanner.at) else scanner.word("the network's name")
    scanner.expect("{", "after the network's name")
    while scanner.match(_PROPERTY):
        pass
    scanner.expect("}", "at the end of the network's block")
    note = scanner.note(start, scanner.at)
    return SPELLING.read_title(title, UNTITLED, note, scanner.place(start))


def _read_variable(scanner: Scanner, draft: Draft, start: int) -> None:
    name = scanner.word("the name of a variable")
    place = scanner.place(start)
    scanner.expect("{", f"after 'variable {name}'")
    labels: list[str] | None = None
    while not scanner.has("}"):
        if scanner.match(_PROPERTY) or scanner.has(";"):
            continue
        if not scanner.has("type"):
            raise scanner.unexpected(f"'type', 'property' or '}}' in variable {name!r}")
        labels = _read_type(scanner, name)
    if labels is None:
        raise FormatError(f"{place}: variable {name!r} has no 'type discrete' line")
    note = scanner.note(start, scanner.at)
    draft.add_variable(name, labels, SPELLING.variable(name, labels, note, place), place)


def _read_type(scanner: Scanner, name: str) -> list[str]:
    kind = scanner.word(f"'discrete' after 'type' in variable {name!r}")
    place = scanner.place()
    if kind != "discrete":
        raise FormatError(f"{place}: variable {name!r} is {kind}; only discrete ones can be read")
    count = None
    if scanner.has("["):
        count = scanner.word(f"the number of states of {name!r}")
        scanner.expect("]", f"after the number of states of {name!r}")
    scanner.expect("{", f"before the states of {name!r}")
    labels = []
    while not scanner.has("}"):
        if scanner.has(","):
            continue
        found = scanner.match(_LABEL)
        if not found:
            raise scanner.unexpected(f"a state of {name!r} or '}}'")
        labels.append(unquoted(found.group().strip()))
    scanner.has(";")
    if count is not None and count != str(len(labels)):
        raise FormatError(
            f"{place}: variable {name!r} is said to have {count} states, but {len(labels)} are listed"
        )
    return labels


def _skip_block(scanner: Scanner) -> None:
    if not scanner.match(_TO_BLOCK_END):
        scanner.at = len(scanner.text)
        raise scanner.unexpected("'}' at the end of the probability block")


def _read_probability(scanner: Scanner, draft: Draft) -> None:
    place = scanner.place()
    scanner.expect("(", "after 'probability'")
    names = []
    while not scanner.has(")"):
        if not (scanner.has(",") or scanner.has("|")):
            names.append(scanner.word("the name of a variable or ')'"))
    if not names:
        raise FormatError(f"{place}: 'probability' names no variable")
    family = draft.family(names[0], names[1:], place)
    scanner.expect("{", f"after 'probability ( {' '.join(names)} )'")
    draft.add_table(family, _read_body(scanner, family))


def _read_body(scanner: Scanner, family: Family) -> npt.NDArray[np.float64]:
    values = np.full((family.n_rows, family.shape[-1]), np.nan)
    given = np.zeros(family.n_rows, bool)
    default: list[float] | None = None
    row_of = _row_finder(family)
    while not scanner.has("}"):
        start = scanner.at
        if row := scanner.match(_ROW):
            i = row_of(row.group(1), lambda: scanner.place(row.start()))  # noqa: B023
            if given[i]:
                raise FormatError(
                    f"{scanner.place(start)}: the row ({row.group(1).strip()}) of "
                    f"{family.variable.name!r} is given twice"
                )
            values[i], given[i] = _row_values(scanner, family, row.group(2), start), True
        elif entry := scanner.match(_VALUES):
            if entry.group(1) == "default":
                default = _row_values(scanner, family, entry.group(2), start)
            else:
                values, given = _whole_table(scanner, family, entry.group(2), start), given | True
        elif not (scanner.match(_PROPERTY) or scanner.has(";")):
            raise scanner.unexpected(f"a row, 'table', 'default' or '}}' in {family.variable.name!r}")
    if default is not None:
        values[~given] = default
    elif not given.all():
        raise FormatError(_missing_rows(family, given))
    return values.reshape(family.shape)


def _row_finder(family: Family) -> Callable[[str, Callable[[], str]], int]:
    """A function from the labels in a row's brackets to the number of the row."""
    codes = [{label: code for code, label in enumerate(own)} for own in family.spelled[:-1]]

    def row_of(text: str, place: Callable[[], str]) -> int:
        labels = [unquoted(label.strip()) for label in text.split(",")] if text.strip() else []
        if '"' in text or len(labels) != len(codes):
            labels = [unquoted(word) for word in _ROW_WORD.findall(text)]
        if len(labels) != len(codes):
            raise FormatError(
                f"{place()}: the row ({text.strip()}) of {family.variable.name!r} names "
                f"{len(labels)} states, but there are {len(codes)} parents"
            )
        row = 0
        for own, parent, label in zip(codes, family.parents, labels, strict=True):
            if label not in own:
                raise FormatError(
                    f"{place()}: the row ({text.strip()}) of {family.variable.name!r} names "
                    f"{label!r}, which is no state of {parent.name!r}; it has {', '.join(own)}"
                )
            row = row * len(own) + own[label]
        return row

    return row_of


def _row_values(scanner: Scanner, family: Family, text: str, start: int) -> list[float]:
    values = numbers(text, lambda: scanner.place(start))
    if len(values) != family.shape[-1]:
        raise FormatError(
            f"{scanner.place(start)}: a row of {family.variable.name!r} needs {family.shape[-1]} "
            f"numbers, got {len(values)}"
        )
    return values


def _whole_table(
    scanner: Scanner, family: Family, text: str, start: int
) -> npt.NDArray[np.float64]:
    place = scanner.place(start)
    listed = numbers(text, lambda: place)
    family._replace(place=place).check_count(listed)
    by_state = np.array(listed).reshape(family.shape[-1], -1).T
    by_row = np.array(listed).reshape(by_state.shape)
    if not _sums_to_one(by_state) and _sums_to_one(by_row):
        warnings.warn(
            f"{place}: the table of {family.variable.name!r} lists its own states fastest, against "
            "the BIF definition; it was read that way because only so its rows sum to one",
            UnveilWarning,
            stacklevel=2,
        )
        return by_row
    return by_state


def _sums_to_one(rows: npt.NDArray[np.float64]) -> bool:
    return bool(np.all(np.abs(rows.sum(axis=1) - 1) < 0.01))


def _missing_rows(family: Family, given: npt.NDArray[np.bool_]) -> str:
    digits = np.unravel_index(int(given.argmin()), family.shape[:-1])
    pairs = zip(family.parents, digits, strict=True)
    first = ", ".join(f"{p.name}={p.labels[int(d)]}" for p, d in pairs)
    return (
        f"{family.place}: {family.variable.name!r} lacks {int((~given).sum())} of {family.n_rows} "
        f"rows, the first for {first or 'its only row'}; give it, or a 'default' row"
    )


def write_bif(network: Network) -> str:
    """The network as BIF text; odd names, label types and hidden marks are kept in comments."""
    written = SPELLING.written(network)
    title, note = SPELLING.written_title(network, UNTITLED)
    parts = [f"network {title} {{\n{_comment(note)}}}\n"]
    for own in written.values():
        states = f"type discrete [ {len(own.labels)} ] {{ {', '.join(own.labels)} }};"
        parts.append(f"variable {own.name} {{\n  {states}\n{_comment(own.note)}}}\n")
    for name, cpd in network.cpds.items():
        parents = [written[p.name] for p in cpd.parents]
        given = " | " + ", ".join(p.name for p in parents) if parents else ""
        rows = (", ".join(map(repr, row)) for row in cpd.to_dict()["values"])
        heads: list[str] = ["table"]
        if parents:
            heads = [f"({', '.join(c)})" for c in itertools.product(*(p.labels for p in parents))]
        body = "".join(f"  {head} {row};\n" for head, row in zip(heads, rows, strict=True))
        parts.append(f"probability ( {written[name].name}{given} ) {{\n{body}}}\n")
    return "".join(parts)


def _comment(note: str) -> str:
    return f"  // {NOTE} {note}\n" if note else ""
