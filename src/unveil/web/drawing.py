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
CURVE_LINES = 3
"""The curve of a number takes as much room as so many bars."""
MOST_LABELS = 60
"""With more arcs, numbers beside them would cover the picture."""

Places = Mapping[str, Point]


def drawn(
    network: Network,
    arcs: Sequence[Mapping[str, Any]] = (),
    places: Places | None = None,
    bars: bool = False,
    around: str = "",
    explained: Mapping[str, float] | None = None,
) -> dict[str, Any]:
    """All that is needed to draw a network; `arcs` tell what each is worth (`ArcWorth` as JSON).

    Lines between numbers have the `weight` of their arc beside it, and behind a name the share that
    its line explains (`explained`).
    With `bars`, boxes have room for the probabilities of their states. With `around`, only that
    variable and those that tell something about it when all others are known: its parents, its
    children and their parents.
    """
    widths, height = _sizes(network, bars, explained or {})
    dag = network.dag
    if around:
        network.variable(around)
        near = dag.markov_blanket(around) | {around}
        dag = dag.subgraph([name for name in dag.nodes if name in near])
    found = keep_places(dag, places, widths, height) if places else layout(dag, widths, height)
    return _told(network, dag, found, arcs, {}, explained or {})


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


def _sizes(
    network: Network, bars: bool, explained: Mapping[str, float]
) -> tuple[dict[str, float], float]:
    caption = text_width("R² 0.00  ", FONT_SIZE)
    names = {
        name: text_width(shorten(name), FONT_SIZE) + PADDING + caption * (name in explained)
        for name in network.names
    }
    if not bars:
        return names, 30.0
    lines = max((min(_n_bars(v), MOST_BARS) for v in network.variables), default=1)
    return {n: max(w, BARS_WIDTH) for n, w in names.items()}, HEAD_LINE + BAR_LINE * lines


def _n_bars(variable: Any) -> int:
    return variable.n_states if variable.is_discrete else CURVE_LINES


def _told(
    network: Network,
    dag: DAG,
    found: Layout,
    arcs: Sequence[Mapping[str, Any]],
    looks: Mapping[tuple[str, str], str],
    explained: Mapping[str, float] | None = None,
) -> dict[str, Any]:
    worth = {(arc["parent"], arc["child"]): arc for arc in arcs}
    strong = _strengths(arcs)
    labelled = len(dag.arcs) <= MOST_LABELS
    return {
        "width": found.width,
        "height": found.height,
        "nodes": [_node(network, name, found, explained or {}) for name in dag.nodes],
        "arcs": [
            {
                "parent": arc[0],
                "child": arc[1],
                "points": _points(found, arc),
                "look": looks.get(arc, ""),
                "words": worth[arc]["words"] if arc in worth else "",
                "loss": worth[arc]["loss"] if arc in worth else None,
                "fixed": worth[arc].get("fixed") if arc in worth else None,
                "strength": strong.get(arc),
                "weight": worth[arc].get("weight") if arc in worth and labelled else None,
            }
            for arc in dag.arcs
        ],
    }


def _strengths(arcs: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], float]:
    """How strong each arc is, from 0 to 1: by what it is worth, else by its weight."""
    most = max((float(arc["loss"] or 0) for arc in arcs), default=0.0)
    found = {}
    for arc in arcs:
        pair = arc["parent"], arc["child"]
        if arc["loss"] is None and arc.get("weight") is not None:
            found[pair] = min(1.0, abs(arc["weight"]))
        elif most > 0:
            found[pair] = max(0.0, float(arc["loss"] or 0)) / most
    return found


def _points(found: Layout, arc: tuple[str, str]) -> list[Point]:
    """The curve of an arc; one that was laid the other way round is followed backwards."""
    if arc in found.arcs:
        return list(found.arcs[arc])
    return list(reversed(found.arcs[arc[::-1]]))


def _node(
    network: Network, name: str, found: Layout, explained: Mapping[str, float]
) -> dict[str, Any]:
    box, variable = found.boxes[name], network.variable(name)
    states = [label_text(x) for x in variable.labels] if variable.is_discrete else None
    return {
        "name": name,
        "label": shorten(name),
        "x": box.x, "y": box.y, "width": box.width, "height": box.height,
        "hidden": variable.hidden,
        "caption": f"R² {explained[name]:.2f}" if name in explained else "",
        "states": states,
        "parents": list(network.dag.parents(name)),
        "children": list(network.dag.children(name)),
    }  # fmt: skip
