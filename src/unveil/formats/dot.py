"""DOT, the language of Graphviz: the picture of the graph, without the numbers."""

from __future__ import annotations

import re

from unveil.model.network import Network

__all__ = ["write_dot"]

_UNWRITABLE = re.compile("[\0\ud800-\udfff]")


def write_dot(network: Network, direction: str = "TB") -> str:
    """The graph as DOT text, causes above effects; hidden variables are dashed and grey.

    `direction` is Graphviz' `rankdir`: TB (top to bottom), LR (left to right), BT or RL.
    """
    if direction not in ("TB", "LR", "BT", "RL"):
        raise ValueError(f"direction must be TB, LR, BT or RL, not {direction!r}")
    title = f" {_quoted(network.name)}" if network.name else ""
    lines = [f"digraph{title} {{", f"  rankdir={direction};", "  node [shape=ellipse];"]
    for variable in network.variables:
        look = ' [style="dashed,filled", fillcolor="grey90"]' if variable.hidden else ""
        lines.append(f"  {_quoted(variable.name)}{look};")
    lines += [f"  {_quoted(a)} -> {_quoted(b)};" for a, b in network.dag.arcs]
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(text: str) -> str:
    """A quoted DOT string that shows the text as it is: backslashes there begin escapes."""
    text = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return '"' + _UNWRITABLE.sub("\ufffd", text) + '"'
