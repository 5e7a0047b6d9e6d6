"""GeNIe XDSL: `cpt` nodes with states, parents and probabilities.

Parents come in the order of `<parents>`, the last one faster, and the node's own state fastest.
Identifiers there are letters, digits and underscores; other names and labels, and the types of
labels, are kept in a `<property id="unveil">` of the node.
"""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from unveil.errors import FormatError
from unveil.formats.draft import Draft, Family, numbers
from unveil.formats.spelling import Spelling
from unveil.formats.xmltree import WRITABLE, Element, escape, parse
from unveil.model.network import Network

__all__ = ["read_xdsl", "write_xdsl"]

UNTITLED = "unknown"
_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
SPELLING = Spelling(_IDENTIFIER, _IDENTIFIER)
_PROPERTY = "unveil"


def read_xdsl(text: str) -> Network:
    """The network in a GeNIe XDSL text."""
    root, draft = parse(text), Draft()
    if root.tag != "smile":
        raise FormatError(f"expected <smile> as the outermost element, got <{root.tag}>")
    nodes = _nodes(root)
    for node in nodes:
        _add_variable(draft, node)
    for node in nodes:
        _add_table(draft, node)
    title = root.attributes.get("id", UNTITLED)
    return draft.network(*SPELLING.read_title(title, UNTITLED, _note(root), root.place))


def _nodes(root: Element) -> list[Element]:
    """The nodes; those of submodels are found too."""
    found, waiting = [], root.all("nodes")
    while waiting:
        for child in waiting.pop(0).children:
            if child.tag == "submodel":
                waiting.append(child)
            elif "id" in child.attributes and child.tag != "property":
                found.append(child)
    return found


def _add_variable(draft: Draft, node: Element) -> None:
    name = node.attributes["id"]
    if node.tag not in ("cpt", "deterministic"):
        raise FormatError(
            f"{node.place}: node {name!r} is of the kind {node.tag!r}; only 'cpt' and "
            "'deterministic' nodes can be read. In GeNIe, change its type to General first."
        )
    labels = [state.attributes.get("id", "") for state in node.all("state")]
    draft.add_variable(
        name, labels, SPELLING.variable(name, labels, _note(node), node.place), node.place
    )


def _add_table(draft: Draft, node: Element) -> None:
    parents = (node.text_of("parents") or "").split()
    family = draft.family(node.attributes["id"], parents, node.place)
    if node.tag == "deterministic":
        draft.add_table(family, _deterministic(node, family))
        return
    text = node.text_of("probabilities")
    if text is None:
        raise FormatError(f"{node.place}: node {family.variable.name!r} has no <probabilities>")
    listed = numbers(text, lambda: node.place)
    draft.add_numbers(family, listed)


def _deterministic(node: Element, family: Family) -> npt.NDArray[np.float64]:
    """A table of zeros and ones from the resulting state of every row."""
    results = (node.text_of("resultingstates") or "").split()
    if len(results) != family.n_rows:
        raise FormatError(
            f"{node.place}: <resultingstates> of {family.variable.name!r} needs {family.n_rows} "
            f"states, got {len(results)}"
        )
    own = list(family.spelled[-1])
    odd = next((state for state in results if state not in own), None)
    if odd is not None:
        raise FormatError(
            f"{node.place}: <resultingstates> of {family.variable.name!r} has {odd!r}, which is "
            f"not one of its states {', '.join(own)}"
        )
    return np.eye(len(own))[[own.index(state) for state in results]].reshape(family.shape)


def _note(element: Element) -> str:
    own = (p for p in element.all("property") if p.attributes.get("id") == _PROPERTY)
    return next((p.text for p in own), "")


def write_xdsl(network: Network) -> str:
    """The network as GeNIe XDSL text, parents before children, as GeNIe wants them."""
    written = SPELLING.written(network)
    title, note = SPELLING.written_title(network, UNTITLED)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f'<smile version="1.0" id="{title}">']
    lines += [*_property(note), "  <nodes>"]
    for name in network.dag.topological_order:
        cpd, own = network.cpds[name], written[name]
        lines.append(f'    <cpt id="{own.name}">')
        lines += [f'      <state id="{label}" />' for label in own.labels]
        if cpd.parents:
            parents = " ".join(written[p.name].name for p in cpd.parents)
            lines.append(f"      <parents>{parents}</parents>")
        values = " ".join([" ".join(map(repr, row)) for row in cpd.to_dict()["values"]])
        lines.append(f"      <probabilities>{values}</probabilities>")
        lines += [*_property(own.note), "    </cpt>"]
    # The names that GeNIe shows; pyAgrum even uses them as the names of the variables.
    lines += [
        "  </nodes>",
        "  <extensions>",
        f'    <genie version="1.0" app="unveil" name="{title}">',
    ]
    for name in network.dag.topological_order:
        own = written[name]
        shown = escape(name if WRITABLE.fullmatch(name) else own.name)
        lines.append(f'      <node id="{own.name}"><name>{shown}</name></node>')
    return "\n".join([*lines, "    </genie>", "  </extensions>", "</smile>"]) + "\n"


def _property(note: str) -> list[str]:
    return [f'      <property id="{_PROPERTY}">{escape(note)}</property>'] if note else []
