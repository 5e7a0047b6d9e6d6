"""Hugin NET: `node` blocks with states, `potential` blocks with nested lists of numbers.

The last parent in `potential ( A | B C )` varies fastest, then A's own state. Both the old form
(a `net` block first) and the object-oriented one (everything in a `class` block) are read.
"""

from __future__ import annotations

import re

import numpy as np

from unveil.errors import FormatError
from unveil.formats.draft import Draft, numbers
from unveil.formats.scan import Scanner, unquoted
from unveil.formats.spelling import NOTE, Spelling
from unveil.model.network import Network

__all__ = ["read_net", "write_net"]

UNTITLED = "unknown"
SPELLING = Spelling(
    names=re.compile(r"[A-Za-z_][A-Za-z0-9_]*"),
    # Printable ASCII without quotes and backslashes, which readers escape in different ways.
    labels=re.compile(r'(?! )(?:[ -~](?<!["\\]))+(?<! )'),
    reserved=frozenset({"net", "class", "node", "potential", "discrete", "continuous"}),
)

_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"|%[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_ATTRIBUTE = re.compile(r'([\w.]+)\s*=\s*((?:[^;"{}]++|"(?:[^"\\]|\\.)*+")*+);?', re.DOTALL)
_STATE = re.compile(r'"((?:[^"\\]|\\.)*)"|([^\s()",]+)', re.DOTALL)
_NODE = re.compile(r"((?:(?:discrete|continuous|chance|decision|utility|function)\s+)*)node\b")
_REFUSED = ("continuous", "decision", "utility", "function", "instance")
_NOT_NUMBERS = str.maketrans("(),", "   ")


def read_net(text: str) -> Network:
    """The network in a Hugin NET text."""
    scanner, draft = Scanner(text, _COMMENT), Draft()
    title, in_class, potentials = ("", ""), False, []
    while not scanner.at_end():
        start = scanner.at
        if kind := scanner.match(_NODE):
            _read_node(scanner, draft, kind.group(1).split(), start)
            continue
        if in_class and (scanner.has("}") or scanner.match(_ATTRIBUTE)):
            continue
        block = scanner.word("a block: 'net', 'node' or 'potential'")
        if block == "net":
            title = _read_title(scanner, start)
        elif block == "class":
            in_class, name = True, scanner.word("the name of the class")
            title = SPELLING.read_title(name, UNTITLED, "", scanner.place(start))
            scanner.expect("{", f"after 'class {name}'")
        elif block == "potential":
            potentials.append((scanner.place(start), *_read_potential(scanner)))
        elif block in _REFUSED:
            raise _refused(block, scanner.word("a name"), scanner.place(start))
        else:
            scanner.at = start
            raise scanner.unexpected("a block: 'net', 'node' or 'potential'")
    for place, names, data in potentials:
        _add_potential(draft, place, names, data)
    return draft.network(*title)


def _read_title(scanner: Scanner, start: int) -> tuple[str, str]:
    fields = _read_fields(scanner, "after 'net'")
    title = unquoted(fields.get("name", ""))
    note = scanner.note(start, scanner.at)
    return SPELLING.read_title(title, UNTITLED, note, scanner.place(start))


def _read_node(scanner: Scanner, draft: Draft, kinds: list[str], start: int) -> None:
    name, place = scanner.word("the name of a node"), scanner.place(start)
    refused = next((kind for kind in kinds if kind in _REFUSED), None)
    if refused:
        raise _refused(refused, name, place)
    fields = _read_fields(scanner, f"after 'node {name}'")
    if "states" not in fields:
        raise FormatError(f"{place}: node {name!r} has no 'states'")
    labels = [quoted or bare for quoted, bare in _STATE.findall(fields["states"])]
    variable = SPELLING.variable(name, labels, scanner.note(start, scanner.at), place)
    draft.add_variable(name, labels, variable, place)


def _read_potential(scanner: Scanner) -> tuple[list[str], str | None]:
    """The child and its parents, and the numbers if there are any."""
    scanner.expect("(", "after 'potential'")
    names: list[str] = []
    bar = None
    while not scanner.has(")"):
        if scanner.has("|"):
            bar = len(names)
        elif not scanner.has(","):
            names.append(scanner.word("the name of a node or ')'"))
    if (len(names) if bar is None else bar) != 1:
        raise FormatError(
            f"{scanner.place()}: a potential must be of one node given others; this one is over "
            f"{', '.join(names[:bar]) or 'none'}"
        )
    fields = _read_fields(scanner, f"after 'potential ( {' '.join(names)} )'")
    if "data" not in fields and "model_data" in fields:
        raise FormatError(
            f"{scanner.place()}: the potential of {names[0]!r} is an expression (model_data); only "
            "numbers can be read. Save it with its tables expanded."
        )
    return names, fields.get("data")


def _read_fields(scanner: Scanner, where: str) -> dict[str, str]:
    """The attributes in the block that comes next."""
    scanner.expect("{", where)
    fields = {}
    while not scanner.has("}"):
        found = scanner.match(_ATTRIBUTE)
        if not found:
            raise scanner.unexpected("'attribute = value;' or '}'")
        fields[found.group(1)] = found.group(2).strip()
    return fields


def _add_potential(draft: Draft, place: str, names: list[str], data: str | None) -> None:
    family = draft.family(names[0], names[1:], place)
    if data is None:  # Hugin's definition: no data means that nothing is known
        draft.add_table(family, np.full(family.shape, 1.0 / family.shape[-1]))
        return
    listed = numbers(data.translate(_NOT_NUMBERS), lambda: place)
    draft.add_numbers(family, listed)


def _refused(kind: str, name: str, place: str) -> FormatError:
    return FormatError(
        f"{place}: {name!r} is a {kind} node; only discrete chance nodes can be read"
    )


def write_net(network: Network) -> str:
    """The network as Hugin NET text; odd names, label types and hidden marks go into comments."""
    written = SPELLING.written(network)
    title, note = SPELLING.written_title(network, UNTITLED)
    parts = [f"net\n{{\n  name = {title};\n{_comment(note)}}}\n"]
    for own in written.values():
        states = " ".join(f'"{label}"' for label in own.labels)
        parts.append(f"node {own.name}\n{{\n  states = ( {states} );\n{_comment(own.note)}}}\n")
    for name, cpd in network.cpds.items():
        given = " ".join(written[p.name].name for p in cpd.parents)
        head = f"{written[name].name} | {given}" if given else written[name].name
        data = _nested(cpd.to_dict()["values"], [p.n_states for p in cpd.parents])
        parts.append(f"potential ( {head} )\n{{\n  data = {data};\n}}\n")
    return "\n".join(parts)


def _nested(rows: list[list[float]], shape: list[int]) -> str:
    """The rows as lists of lists, one level per parent."""
    items = [f"({' '.join(map(repr, row))})" for row in rows]
    for size in reversed(shape):
        items = ["(" + "\n   ".join(items[i : i + size]) + ")" for i in range(0, len(items), size)]
    return items[0]


def _comment(note: str) -> str:
    return f"  % {NOTE} {note}\n" if note else ""
