"""A picture on a Matplotlib figure, for PNG and PDF; nothing global is touched."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, PathPatch, Polygon
from matplotlib.path import Path
from matplotlib.text import Text

from unveil.report import colours
from unveil.report.curves import along, arrowhead
from unveil.report.picture import FONT_SIZE, Arrow, Node, Picture
from unveil.report.picture_svg import ARC_COLOURS

__all__ = ["picture_figure"]

MARGIN = 14.0
TITLE_ROOM = 30.0
UNITS_PER_INCH = 96.0
POINTS = 72 / UNITS_PER_INCH
"""Points per unit of the layout, which counts like a browser in pixels of 1/96 inch."""
MOST_PIXELS = 16_000
"""Agg refuses pictures of 2**16 pixels, and viewers sooner: larger ones get fewer dots."""


def picture_figure(picture: Picture) -> Figure:
    """A figure the size of the picture, drawn on an axis in layout units."""
    room = TITLE_ROOM if picture.title else 0.0
    width = max(picture.width, 1.0) + 2 * MARGIN
    height = max(picture.height, 1.0) + 2 * MARGIN + room
    inches = width / UNITS_PER_INCH, height / UNITS_PER_INCH
    figure = Figure(figsize=inches, dpi=min(192.0, MOST_PIXELS / max(inches)))
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(-MARGIN, width - MARGIN)
    axes.set_ylim(height - MARGIN - room, -MARGIN - room)
    for arrow in picture.arrows:
        _add_arrow(axes, arrow)
    for node in picture.nodes:
        _add_node(axes, node)
    if picture.title:
        place = (picture.width / 2, -room / 2 - 2)
        _add_text(axes, *place, picture.title, 16, colours.INK, weight="bold")
    return figure


def _add_node(axes: Axes, node: Node) -> None:
    box = node.box
    line = colours.HIDDEN_LINE if node.hidden else colours.NODE_LINE
    axes.add_patch(
        FancyBboxPatch(
            (box.left, box.top),
            box.width,
            box.height,
            boxstyle="round,pad=0,rounding_size=8",
            facecolor=colours.HIDDEN_FILL if node.hidden else colours.NODE_FILL,
            edgecolor=colours.ACCENT if node.highlighted else line,
            linewidth=(2.4 if node.highlighted else 1.2) * POINTS,
            linestyle=(0, (4, 2.5)) if node.hidden else "solid",
            zorder=3,
        )
    )
    words = f"{node.label}  {node.caption}" if node.caption else node.label
    _add_text(axes, box.x, box.y, words, FONT_SIZE, colours.INK)


def _add_arrow(axes: Axes, arrow: Arrow) -> None:
    shaft, head = arrowhead(arrow.points, 6 + 1.4 * arrow.width, 4.5 + 1.9 * arrow.width)
    colour = ARC_COLOURS[arrow.look]
    codes = [Path.MOVETO, *[Path.CURVE4] * (len(shaft) - 1)]
    line = PathPatch(
        Path(shaft, codes), fill=False, edgecolor=colour, linewidth=arrow.width * POINTS,
        linestyle=(0, (4, 3)) if arrow.look == "gone" else "solid", zorder=1,
    )  # fmt: skip
    axes.add_patch(line)
    axes.add_patch(Polygon(head, closed=True, facecolor=colour, linewidth=0, zorder=2))
    if arrow.label:
        place = along(arrow.points, arrow.label_at)
        text = _add_text(axes, *place, arrow.label, FONT_SIZE - 2, colours.MUTED)
        text.set_bbox({"facecolor": colours.GROUND, "edgecolor": "none", "pad": 1.0})


def _add_text(
    axes: Axes, x: float, y: float, text: str, size: float, colour: str, **more: Any
) -> Text:
    """Text centred on a point; never read as mathematics, whatever dollars a name holds."""
    return axes.text(
        x,
        y,
        text,
        fontsize=size * POINTS,
        color=colour,
        ha="center",
        va="center_baseline",
        family="DejaVu Sans",
        parse_math=False,
        zorder=4,
        **more,
    )
