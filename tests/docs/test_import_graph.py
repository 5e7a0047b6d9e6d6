"""The graph of imports between rooms, drawn in `developer.md`, is that of the sources."""

import ast

import pytest
from test_package import PRESENT, ROOMS, SOURCE, loaded_at_once

from .pages import ROOT


def imported_rooms():
    """For each room, the rooms it imports when it is loaded."""
    found = {room: set() for room in ROOMS if room in PRESENT}
    for path in SOURCE.rglob("*.py"):
        room = path.relative_to(SOURCE).with_suffix("").parts[0]
        for module in loaded_at_once(ast.parse(path.read_text())):
            parts = module.split(".")
            if room in found and parts[0] == "unveil" and len(parts) > 1 and parts[1] != room:
                found[room].add(parts[1])
    return found


def drawn(found):
    """A line for each room: what it stands on, without what follows from the others."""
    below = {}
    for room in found:
        below[room] = set(found[room]).union(*(below[other] for other in found[room]))
    lines = []
    for room, own in found.items():
        shown = [r for r in found if r in own and not any(r in below[o] for o in own)]
        lines.append(f"{room:<12}{'<- ' + ', '.join(shown) if shown else ''}".rstrip())
    return "\n".join(lines)


def test_the_graph_is_as_drawn():
    text = (ROOT / "docs" / "developer.md").read_text(encoding="utf-8")
    after = text.split("<!-- imports -->", 1)[1]
    block = after.split("```text\n", 1)[1].split("\n```", 1)[0]
    assert block == drawn(imported_rooms())


def test_drawing():
    graph = {"a": set(), "b": {"a"}, "c": {"a", "b"}}
    assert drawn(graph) == "a\nb           <- a\nc           <- b"


@pytest.mark.parametrize("room", ["kernels", "errors"])
def test_some_rooms_stand_on_nothing(room):
    assert imported_rooms()[room] <= {"errors"}
