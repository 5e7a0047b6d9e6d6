"""BIF 0.15, the Bayesian network interchange format of most public network collections.

    variable B { type discrete [ 2 ] { yes, no }; }
    probability ( B | A ) { (a0) 0.2, 0.8; (a1) 0.5, 0.5; }

How a table may be laid out is told in `bif_table`.
"""

from __future__ import annotations

import itertools
import re

from unveil.errors import FormatError
from unveil.formats.bif_table import PROPERTY, read_table
from unveil.formats.draft import Draft
from unveil.formats.scan import Scanner, unquoted
from unveil.formats.spelling import NOTE, Spelling
from unveil.model.network import Network

__all__ = ["read_bif", "write_bif"]

UNTITLED = "unknown"

# What pyAgrum and pgmpy both read without quotes: identifiers and the likes of `10g`, but not
# `1e5`, which they take for a number; whole numbers as states, not as names.
SPELLING = Spelling(
    names=re.compile(r"(?![0-9]+(?:[eE][0-9]+)?$)[A-Za-z0-9_]+"),
    labels=re.compile(r"(?![0-9]+[eE][0-9]+$)[A-Za-z0-9_]+"),
    reserved=frozenset(
        {"network", "variable", "probability", "property", "type", "discrete", "continuous"}
        | {"default", "table"}
    ),
)

_COMMENT = re.compile(r'"[^"\n]*"|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_STATES = re.compile(r'\{((?:[^{}"]++|"[^"]*")*+)\}')
_STATE = re.compile(r'"[^"]*"|[^\s,"][^,"]*')
_WORD = re.compile(r'"[^"]*"|[^\s"]+')
_QUOTED = re.compile(r'"[^"]*"')
_TO_BLOCK_END = re.compile(r'(?:[^}"]++|"[^"]*")*+\}')


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
    while scanner.match(PROPERTY):
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
        if scanner.match(PROPERTY) or scanner.has(";"):
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
    found = scanner.match(_STATES)
    if not found:
        raise scanner.unexpected(f"'{{ states }}' of variable {name!r}")
    # Spaces may be part of a state when commas stand between the states, and else separate them.
    one = _STATE if "," in _QUOTED.sub("", found.group(1)) else _WORD
    labels = [unquoted(label.strip()) for label in one.findall(found.group(1))]
    scanner.has(";")
    if count is not None and count != str(len(labels)):
        raise FormatError(
            f"{place}: variable {name!r} is said to have {count} states, "
            f"but {len(labels)} are listed"
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
    draft.add_table(family, read_table(scanner, family))


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
