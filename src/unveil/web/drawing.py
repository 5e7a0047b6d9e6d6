"""Networks as places, curves and words for the browser to draw; the layout is that of pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from unveil.graph.dag import DAG
from unveil.model.network import Network
from unveil.report.before_after import change_of, shared_places
from unveil.report.curves import Point
from unveil.report.kept_places import keep_places
from unveil.report.layout import Layout, layout
from unveil.report.picture import FONT_SIZE, PADDING
from unveil.report.text import shorten, text_width
from unveil.table.variable import label_text

__all__ = ["drawn", "drawn_before_after", "places_of"]

BAR_LINE, HEAD_LINE = 15.0, 30.0
"""Height of the line of a state's bar, and of a box's heading."""
MOST_BARS = 5
"""A box shows the bars of so many states; the rest are a click away."""
BARS_WIDTH = 170.0

Places = Mapping[str, Point]


def drawn(
    network: Network,
    arcs: Sequence[Mapping[str, Any]] = (),
    places: Places | None = None,
    bars: bool = False,
    around: str = "",
) -> dict[str, Any]:
    """All that is needed to draw a network; `arcs` tell what each is worth (`ArcWorth` as JSON).

    With `bars`, boxes have room for the probabilities of their states. With `around`, only that
    variable and those that tell something about it when all others are known: its parents, its
    children and their parents.
    """
    widths, height = _sizes(network, bars)
    dag = network.dag
    if around:
        network.variable(around)
        near = dag.markov_blanket(around) | {around}
        dag = dag.subgraph([name for name in dag.nodes if name in near])
    found = keep_places(dag, places, widths, height) if places else layout(dag, widths, height)
    return _told(network, dag, found, arcs, {})


def drawn_before_after(
    before: Network, after: Network, arcs: Sequence[Mapping[str, Any]] = ()
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Two networks with every node in the same place; arcs that go, come or turn are marked."""
    change = change_of(before.dag, after.dag)
    found = shared_places(after.dag, change.removed)
    gone = dict.fromkeys(change.removed, "gone")
    new = dict.fromkeys(change.added, "marked") | dict.fromkeys(change.turned, "turned")
    return (
        _told(before, before.dag, found, (), gone),
        _told(after, after.dag, found, arcs, new),
    )


def places_of(picture: Mapping[str, Any]) -> dict[str, Point]:
    """Where the nodes of a picture are, to keep them there."""
    return {node["name"]: (node["x"], node["y"]) for node in picture["nodes"]}


def _sizes(network: Network, bars: bool) -> tuple[dict[str, float], float]:
    names = {name: text_width(shorten(name), FONT_SIZE) + PADDING for name in network.names}
    if not bars:
        return names, 30.0
    lines = max((min(_n_bars(v), MOST_BARS) for v in network.variables), default=1)
    return {n: max(w, BARS_WIDTH) for n, w in names.items()}, HEAD_LINE + BAR_LINE * lines


def _n_bars(variable: Any) -> int:
    return variable.n_states if variable.is_discrete else 2


def _told(
    network: Network,
    dag: DAG,
    found: Layout,
    arcs: Sequence[Mapping[str, Any]],
    looks: Mapping[tuple[str, str], str],
) -> dict[str, Any]:
    worth = {(arc["parent"], arc["child"]): arc for arc in arcs}
    most = max((float(arc["loss"] or 0) for arc in arcs), default=0.0)
    return {
        "width": found.width,
        "height": found.height,
        "nodes": [_node(network, name, found) for name in dag.nodes],
        "arcs": [
            {
                "parent": arc[0],
                "child": arc[1],
                "points": _points(found, arc),
                "look": looks.get(arc, ""),
                "words": worth[arc]["words"] if arc in worth else "",
                "loss": worth[arc]["loss"] if arc in worth else None,
                "fixed": worth[arc].get("fixed") if arc in worth else None,
                "strength": max(0.0, float(worth[arc]["loss"] or 0)) / most
                if arc in worth and most > 0
                else None,
            }
            for arc in dag.arcs
        ],
    }


def _points(found: Layout, arc: tuple[str, str]) -> list[Point]:
    """The curve of an arc; one that was laid the other way round is followed backwards."""
    if arc in found.arcs:
        return list(found.arcs[arc])
    return list(reversed(found.arcs[arc[::-1]]))


def _node(network: Network, name: str, found: Layout) -> dict[str, Any]:
    box, variable = found.boxes[name], network.variable(name)
    states = [label_text(x) for x in variable.labels] if variable.is_discrete else None
    return {
        "name": name,
        "label": shorten(name),
        "x": box.x, "y": box.y, "width": box.width, "height": box.height,
        "hidden": variable.hidden,
        "states": states,
        "parents": list(network.dag.parents(name)),
        "children": list(network.dag.children(name)),
    }  # fmt: skip
