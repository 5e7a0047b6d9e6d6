"""XMLBIF 0.3, the XML form of BIF.

A definition lists its numbers with the parents in the order of their `GIVEN` elements, the last
one faster, and the variable's own state fastest of all.
"""

from __future__ import annotations

from unveil.errors import FormatError
from unveil.formats.draft import Draft, numbers
from unveil.formats.spelling import Spelling
from unveil.formats.xmltree import WRITABLE, Element, escape, parse
from unveil.model.network import Network

__all__ = ["read_xmlbif", "write_xmlbif"]

UNTITLED = "unknown"
SPELLING = Spelling(WRITABLE, WRITABLE)
_NOTE = "unveil ="  # pgmpy reads no property without exactly one equals sign


def read_xmlbif(text: str) -> Network:
    """The network in an XMLBIF text."""
    root, draft = parse(text), Draft()
    network = root if root.tag.upper() == "NETWORK" else root.first("NETWORK")
    if network is None:
        raise FormatError(f"expected <BIF> with a <NETWORK> inside, got <{root.tag}>")
    for element in network.all("VARIABLE"):
        _add_variable(draft, element)
    for element in [*network.all("DEFINITION"), *network.all("PROBABILITY")]:
        _add_definition(draft, element)
    name = network.text_of("NAME") or UNTITLED
    return draft.network(*SPELLING.read_title(name, UNTITLED, _note(network), network.place))


def _add_variable(draft: Draft, element: Element) -> None:
    name = element.text_of("NAME")
    if not name:
        raise FormatError(f"{element.place}: a <VARIABLE> has no <NAME>")
    kind = element.attributes.get("TYPE", "nature").lower()
    if kind not in ("nature", "discrete"):
        raise FormatError(
            f"{element.place}: variable {name!r} is a {kind} node; only nature nodes can be read"
        )
    labels = [outcome.text for outcome in element.all("OUTCOME") or element.all("VALUE")]
    variable = SPELLING.variable(name, labels, _note(element), element.place)
    draft.add_variable(name, labels, variable, element.place)


def _add_definition(draft: Draft, element: Element) -> None:
    owners = [child.text for child in element.all("FOR")]
    if len(owners) != 1:
        raise FormatError(f"{element.place}: a <DEFINITION> needs one <FOR>, got {len(owners)}")
    family = draft.family(owners[0], (g.text for g in element.all("GIVEN")), element.place)
    table = element.text_of("TABLE")
    if table is None:
        raise FormatError(f"{element.place}: the definition of {owners[0]!r} has no <TABLE>")
    listed = numbers(table, lambda: element.place)
    draft.add_numbers(family, listed)


def _note(element: Element) -> str:
    texts = (child.text for child in element.all("PROPERTY"))
    return next((t.removeprefix(_NOTE).strip() for t in texts if t.startswith(_NOTE)), "")


def write_xmlbif(network: Network) -> str:
    """The network as XMLBIF text; label types, hidden marks and odd names go into properties."""
    written = SPELLING.written(network)
    title, note = SPELLING.written_title(network, UNTITLED)
    # No DOCTYPE, though the definition shows one: pyAgrum does not read files that have it.
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<BIF VERSION="0.3">', "<NETWORK>"]
    lines += [f"<NAME>{escape(title)}</NAME>", *_property(note)]
    for own in written.values():
        lines += ['<VARIABLE TYPE="nature">', f"  <NAME>{escape(own.name)}</NAME>"]
        lines += [f"  <OUTCOME>{escape(label)}</OUTCOME>" for label in own.labels]
        lines += [*_property(own.note), "</VARIABLE>"]
    for name, cpd in network.cpds.items():
        lines += ["<DEFINITION>", f"  <FOR>{escape(written[name].name)}</FOR>"]
        lines += [f"  <GIVEN>{escape(written[p.name].name)}</GIVEN>" for p in cpd.parents]
        rows = [" ".join(map(repr, row)) for row in cpd.to_dict()["values"]]
        lines += ["  <TABLE>", *rows, "  </TABLE>", "</DEFINITION>"]
    return "\n".join([*lines, "</NETWORK>", "</BIF>"]) + "\n"


def _property(note: str) -> list[str]:
    return [f"  <PROPERTY>{_NOTE} {escape(note)}</PROPERTY>"] if note else []
