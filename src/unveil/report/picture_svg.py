"""A picture as SVG text: small, sharp at any size, with tooltips and without identifiers.

Looks are plain attributes, so any viewer shows them; classes let a page restyle them. Arrowheads
are drawn as shapes rather than markers because markers need identifiers, which clash when a page
holds several pictures.
"""

from __future__ import annotations

from collections.abc import Iterable

from unveil.report import colours
from unveil.report.curves import Point, along, arrowhead
from unveil.report.picture import FONT_SIZE, Arrow, Node, Picture
from unveil.report.text import escape, text_width

__all__ = ["ARC_COLOURS", "FONTS", "picture_svg"]

FONTS = "Inter, 'Segoe UI', 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"
MARGIN = 14.0
TITLE_ROOM = 30.0
ARC_COLOURS = {
    "": colours.ARC, "marked": colours.ACCENT, "gone": colours.GONE, "turned": colours.MAIN,
}  # fmt: skip
SMALLEST_SCALE = 0.6
"""A page may shrink a wide picture this far to fit; beyond that, names become hard to read."""


def picture_svg(picture: Picture) -> str:
    """The picture as one `<svg>` element."""
    room = TITLE_ROOM if picture.title else 0.0
    inside = max(picture.width, text_width(picture.title, 16) if picture.title else 0.0)
    width, height = inside + 2 * MARGIN, picture.height + room + 2 * MARGIN
    shift = MARGIN + (inside - picture.width) / 2
    name = f"<title>{escape(picture.title)}</title>" if picture.title else ""
    heading = (
        f'<text class="heading" x="{_n(width / 2)}" y="{_n(MARGIN + 12)}" font-size="16" '
        f'font-weight="600" fill="{colours.INK}">{escape(picture.title)}</text>\n'
        if picture.title
        else ""
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="network" role="img" '
        f'width="{_n(width)}" height="{_n(height)}" viewBox="0 0 {_n(width)} {_n(height)}" '
        f'style="min-width:{_n(width * SMALLEST_SCALE)}px" '
        f'font-family="{FONTS}" font-size="{_n(FONT_SIZE)}" text-anchor="middle">{name}\n'
        f'<rect class="ground" width="{_n(width)}" height="{_n(height)}" '
        f'fill="{colours.GROUND}"/>\n{heading}'
        f'<g transform="translate({_n(shift)} {_n(MARGIN + room)})">\n'
        f'<g class="arcs" fill="none" stroke="{colours.ARC}" stroke-linecap="round">\n'
        f"{''.join(map(_arrow, picture.arrows))}</g>\n"
        f'<g class="nodes" fill="{colours.NODE_FILL}" stroke="{colours.NODE_LINE}" '
        f'stroke-width="1.2">\n{"".join(map(_node, picture.nodes))}</g>\n'
        f'<g class="labels" font-size="{_n(FONT_SIZE - 2)}" fill="{colours.MUTED}" '
        f'stroke="{colours.GROUND}" stroke-width="4" paint-order="stroke">\n'
        f"{''.join(map(_label, picture.arrows))}</g>\n</g>\n</svg>\n"
    )


def _node(node: Node) -> str:
    box = node.box
    kind = " ".join(["node", *["hidden"] * node.hidden, *["marked"] * node.highlighted])
    look = f' fill="{colours.HIDDEN_FILL}" stroke="{colours.HIDDEN_LINE}"' if node.hidden else ""
    dash = ' stroke-dasharray="5 3"' if node.hidden else ""
    if node.highlighted:
        fill = f' fill="{colours.HIDDEN_FILL}"' if node.hidden else ""
        look = f'{fill} stroke="{colours.ACCENT}" stroke-width="2.4"'
    return (
        f'<g class="{kind}"{look}><title>{escape(node.tip)}</title>'
        f'<rect x="{_n(box.left)}" y="{_n(box.top)}" width="{_n(box.width)}" '
        f'height="{_n(box.height)}" rx="8"{dash}/>'
        f'<text x="{_n(box.x)}" y="{_n(box.y + FONT_SIZE * 0.35)}" fill="{colours.INK}" '
        f'stroke="none">{escape(node.label)}{_caption(node)}</text></g>\n'
    )


def _caption(node: Node) -> str:
    if not node.caption:
        return ""
    return (
        f'<tspan dx="7" font-size="{_n(FONT_SIZE - 2)}" fill="{colours.MUTED}">'
        f"{escape(node.caption)}</tspan>"
    )


def _arrow(arrow: Arrow) -> str:
    shaft, head = arrowhead(arrow.points, 6 + 1.4 * arrow.width, 4.5 + 1.9 * arrow.width)
    colour = ARC_COLOURS[arrow.look]
    look = f' stroke="{colour}"' if arrow.look else ""
    kind = f"arc {arrow.look}" if arrow.look else "arc"
    dash = ' stroke-dasharray="5 4" stroke-linecap="butt"' if arrow.look == "gone" else ""
    return (
        f'<g class="{kind}"{look}><title>{escape(arrow.tip)}</title>'
        f'<path d="{_curve(shaft)}" stroke-width="{_n(arrow.width)}"{dash}/>'
        f'<path class="head" d="M{"L".join(_points(head))}Z" fill="{colour}" stroke="none"/></g>\n'
    )


def _label(arrow: Arrow) -> str:
    if not arrow.label:
        return ""
    x, y = along(arrow.points, arrow.label_at)
    return f'<text x="{_n(x)}" y="{_n(y + 4)}">{escape(arrow.label)}</text>\n'


def _curve(points: tuple[Point, ...]) -> str:
    first, *rest = _points(points)
    return f"M{first}C{' '.join(rest)}"


def _points(points: Iterable[Point]) -> list[str]:
    return [f"{_n(x)},{_n(y)}" for x, y in points]


def _n(value: float) -> str:
    """A coordinate with at most one decimal."""
    return f"{round(value, 1) + 0.0:g}" if abs(value) < 1e5 else f"{value:.0f}"
