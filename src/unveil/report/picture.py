"""`draw`: a network as a picture, for files, notebooks and pages.

What is drawn, and how each thing looks, is decided here; `picture_svg` and `picture_figure` put it
on SVG and on a Matplotlib figure.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from unveil.errors import FormatError, ModelError
from unveil.files import atomic_write, check_target
from unveil.graph.dag import DAG
from unveil.graph.names import Pair
from unveil.model.network import Network
from unveil.report.curves import Point, along
from unveil.report.layout import Box, Layout, layout
from unveil.report.text import shorten, text_width

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "FONT_SIZE",
    "Arrow",
    "Look",
    "Node",
    "Picture",
    "box_widths",
    "check_picture_target",
    "draw",
    "picture_of",
    "svg_text",
]

Look = Literal["", "marked", "gone", "turned"]
"""How an arc is brought out: as new or worth a look, as one that goes, as one that was turned."""

FONT_SIZE = 13.0
PADDING = 24.0
LABEL_PLACES = (0.5, 0.4, 0.6, 0.3, 0.7, 0.22)
"""Where along an arc its label may stand, as shares of its way; the first free one is taken."""
THINNEST, USUAL, THICKEST = 1.0, 1.5, 5.0
"""Line widths: of an arc of strength 0, of all arcs when no strength is given, of strength 1."""


@dataclass(frozen=True)
class Node:
    """A box with a label and a smaller `caption` behind it; a resting mouse reads the `tip`."""

    box: Box
    label: str
    tip: str
    hidden: bool
    highlighted: bool
    caption: str = ""


@dataclass(frozen=True)
class Arrow:
    """A curve to a child; `points` as in `Layout.arcs`; the label stands at a share of its way."""

    points: tuple[Point, ...]
    width: float
    label: str
    tip: str
    look: Look = ""
    label_at: float = 0.5


@dataclass(frozen=True)
class Picture:
    """A network laid out and ready to be drawn; shows itself in a notebook."""

    nodes: tuple[Node, ...]
    arrows: tuple[Arrow, ...]
    width: float
    height: float
    title: str

    def svg(self) -> str:
        """The picture as SVG, with names as text and tooltips on nodes and arcs."""
        from unveil.report.picture_svg import picture_svg

        return picture_svg(self)

    def figure(self) -> Figure:
        """The picture as a Matplotlib figure of its own, outside pyplot."""
        from unveil.report.picture_figure import picture_figure

        return picture_figure(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture; the ending of the name says how: .svg, .png or .pdf."""
        ending = check_picture_target(path)
        if ending == ".svg":
            with atomic_write(path) as file:
                file.write(self.svg())
        else:
            # A PDF carries its date unless told not to; the same picture gives the same file.
            about: dict[str, Any] = {"CreationDate": None} if ending == ".pdf" else {}
            with atomic_write(path, "wb") as file:
                self.figure().savefig(file, format=ending[1:], metadata=about)

    def _repr_svg_(self) -> str:
        return self.svg()


def check_picture_target(path: str | os.PathLike[str]) -> str:
    """The ending that says how a picture is saved; an error if it could not be saved there.

    Called before long work, so that nobody learns of a wrong name only after it.
    """
    ending = Path(path).suffix.lower()
    if ending not in (".svg", ".png", ".pdf"):
        raise FormatError(
            f"a picture is saved as .svg, .png or .pdf; {str(path)!r} ends in "
            f"{ending or 'none of them'!r}. Change the ending of the file's name."
        )
    check_target(path)
    return ending


def draw(
    network: Network | DAG,
    path: str | os.PathLike[str] | None = None,
    strength: Mapping[Pair, float] | None = None,
    highlight: Collection[str | Pair] = (),
    title: str = "",
    labels: Mapping[Pair, str] | None = None,
    tips: Mapping[Pair, str] | None = None,
    captions: Mapping[str, str] | None = None,
) -> Picture:
    """The picture of a network or a bare graph, parents above children; saved if `path` is given.

    Parameters
    ----------
    network
        What to draw. Hidden variables of a network are tinted and dashed.
    path
        A file to write as well; its ending (.svg, .png, .pdf) chooses the format.
    strength
        A number from 0 to 1 for each arc, shown as its thickness. Arcs without one are thinnest.
    highlight
        Names of nodes and `(parent, child)` pairs to bring out.
    title
        A heading above the picture.
    labels
        Words to write beside arcs.
    tips
        Words to show while the mouse rests on an arc (in SVG).
    captions
        Words to write behind the names of nodes.

    Examples
    --------
    >>> picture = draw(DAG(["rain", "grass"], [("rain", "grass")]), highlight=["rain"])
    >>> picture.svg()[:4]
    '<svg'
    """
    dag = network.dag if isinstance(network, Network) else network
    _check_arcs(dag, strength, "strength")
    _check_arcs(dag, labels, "labels")
    _check_arcs(dag, tips, "tips")
    marked = set(highlight)
    _check_highlight(dag, marked)
    looks: dict[Pair, Look] = {arc: "marked" for arc in dag.arcs if arc in marked}
    _check_highlight(dag, set(captions or ()), "captions")
    found = layout(dag, box_widths(dag, captions))
    picture = picture_of(network, found, strength, marked, title, labels, tips, looks, captions)
    if path is not None:
        picture.save(path)
    return picture


def box_widths(dag: DAG, captions: Mapping[str, str] | None = None) -> dict[str, float]:
    """How wide the box of every node has to be."""
    behind = {name: f"  {words}" for name, words in (captions or {}).items()}
    return {
        name: text_width(shorten(name), FONT_SIZE)
        + text_width(behind.get(name, ""), FONT_SIZE - 2)
        + PADDING
        for name in dag.nodes
    }


def picture_of(
    network: Network | DAG,
    places: Layout,
    strength: Mapping[Pair, float] | None = None,
    marked: Collection[str | Pair] = (),
    title: str = "",
    labels: Mapping[Pair, str] | None = None,
    tips: Mapping[Pair, str] | None = None,
    looks: Mapping[Pair, Look] | None = None,
    captions: Mapping[str, str] | None = None,
) -> Picture:
    """The picture with nodes and arcs at places decided before; they may be those of more arcs.

    An arc whose place is the other way round follows it backwards. `looks` says how arcs are
    brought out; the rest is as for `draw`.
    """
    dag = network.dag if isinstance(network, Network) else network
    hidden = set(network.hidden) if isinstance(network, Network) else set[str]()
    nodes = [
        Node(
            box,
            shorten(x),
            _node_tip(network, x),
            x in hidden,
            x in marked,
            (captions or {}).get(x, ""),
        )
        for x, box in places.boxes.items()
        if x in dag.nodes
    ]
    own = set(dag.arcs)
    order = [arc if arc in own else arc[::-1] for arc in places.arcs]
    arrows = [
        Arrow(
            points if arc in places.arcs else points[::-1],
            USUAL if strength is None else _line_width(strength.get(arc, 0.0)),
            (labels or {}).get(arc, ""),
            _arc_tip(arc, (tips or labels or {}).get(arc, "")),
            (looks or {}).get(arc, ""),
        )
        for arc, points in zip(order, places.arcs.values(), strict=True)
        if arc in own
    ]
    return Picture(tuple(nodes), _apart(arrows), places.width, places.height, title)


def _apart(arrows: Sequence[Arrow]) -> tuple[Arrow, ...]:
    """The arrows with their labels where they cover no other, as far as there is such a place."""
    taken: list[tuple[float, float, float]] = []
    placed = []
    for arrow in arrows:
        if arrow.label:
            half = text_width(arrow.label, FONT_SIZE - 2) / 2
            free = [at for at in LABEL_PLACES if _is_free(along(arrow.points, at), half, taken)]
            arrow = replace(arrow, label_at=free[0] if free else 0.5)
            taken.append((*along(arrow.points, arrow.label_at), half))
        placed.append(arrow)
    return tuple(placed)


def _is_free(at: Point, half: float, taken: Sequence[tuple[float, float, float]]) -> bool:
    return all(abs(at[0] - x) > half + other or abs(at[1] - y) > FONT_SIZE for x, y, other in taken)


def svg_text(
    network: Network | DAG,
    strength: Mapping[Pair, float] | None = None,
    highlight: Collection[str | Pair] = (),
    title: str = "",
    labels: Mapping[Pair, str] | None = None,
    tips: Mapping[Pair, str] | None = None,
    captions: Mapping[str, str] | None = None,
) -> str:
    """The picture as SVG text, to be put into a page; the arguments are those of `draw`."""
    return draw(network, None, strength, highlight, title, labels, tips, captions).svg()


def _line_width(strength: float) -> float:
    return THINNEST + (THICKEST - THINNEST) * min(1.0, max(0.0, strength))


def _arc_tip(arc: Pair, words: str) -> str:
    return f"{arc[0]} → {arc[1]}" + (f": {words}" if words else "")


def _node_tip(network: Network | DAG, name: str) -> str:
    """The name and, if known, the states."""
    if isinstance(network, DAG):
        return name
    variable = network.variable(name)
    if variable.states is None:
        what = "continuous"
    else:
        shown = ", ".join(str(s) for s in variable.states[:8])
        what = f"{len(variable.states)} states: {shown}{', …' if len(variable.states) > 8 else ''}"
    return f"{name} ({'hidden; ' if variable.hidden else ''}{what})"


def _check_arcs(dag: DAG, given: Mapping[Pair, object] | None, what: str) -> None:
    known = set(dag.arcs)
    for arc in given or ():
        if arc not in known:
            raise ModelError(
                f"{what} has a value for {arc!r}, which is not an arc of this graph; "
                "its keys are (parent, child) pairs as in dag.arcs"
            )


def _check_highlight(dag: DAG, marked: Collection[str | Pair], what: str = "highlight") -> None:
    for thing in sorted(set(marked).difference(dag.nodes, dag.arcs), key=repr):
        raise ModelError(
            f"{what} has {thing!r}, which is neither a node nor a (parent, child) arc of this graph"
        )
