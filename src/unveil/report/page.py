"""`Page`: one HTML file that holds everything it shows, for reading, mailing and printing."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from unveil.files import atomic_write
from unveil.report.text import escape, number, numbers
from unveil.report.theme import CSS, SORT_SCRIPT

__all__ = ["Cell", "Page"]

Cell = str | int | float | None
"""A cell of a table; numbers are formatted and aligned, `None` is shown as a dash."""

_PLAIN_HEAD = '<th scope="col">'


class Page:
    """A page built from the top down; every text is escaped, only figures are taken as they are.

    Methods add to the end and return the page, so that calls can be chained. The file refers to
    nothing outside itself and the same calls always give the same text.

    >>> page = Page("Coins & dice", "two things that fall")
    >>> page.section("Coins").text("They have two sides.").table(["side", "p"], [["heads", 0.5]])
    Page('Coins & dice', 3 parts)
    >>> "<h1>Coins &amp; dice</h1>" in page.html()
    True
    """

    def __init__(self, title: str, subtitle: str = "") -> None:
        self.title = title
        self.subtitle = subtitle
        self._parts: list[str] = []
        self._open = 0
        self._sortable = False

    def section(self, heading: str) -> Page:
        """A heading that begins a new section."""
        return self._add(f"<h2>{escape(heading)}</h2>")

    def subsection(self, heading: str) -> Page:
        """A smaller heading within a section."""
        return self._add(f"<h3>{escape(heading)}</h3>")

    def notice(self, text: str) -> Page:
        """A sentence that nobody should overlook."""
        return self._add(f'<p class="notice">{escape(text)}</p>')

    def text(self, *paragraphs: str) -> Page:
        """Paragraphs."""
        return self._add("\n".join(f"<p>{escape(p)}</p>" for p in paragraphs))

    def items(self, lines: Sequence[str]) -> Page:
        """A list with a bullet for each line."""
        body = "".join(f"<li>{escape(line)}</li>\n" for line in lines)
        return self._add(f"<ul>\n{body}</ul>")

    def facts(self, facts: Sequence[tuple[str, Cell]]) -> Page:
        """A strip of the few numbers that matter, each as `(what, value)`."""
        body = "".join(
            f"<div><dt>{escape(what)}</dt><dd>{_shown(value)}</dd></div>\n" for what, value in facts
        )
        return self._add(f'<dl class="facts">\n{body}</dl>')

    def figure(self, svg: str, caption: str = "") -> Page:
        """A picture: SVG text that unveil made (it is not escaped), and a line about it."""
        return self._add(_figure(svg, caption))

    def figures(self, figures: Sequence[tuple[str, str]]) -> Page:
        """Pictures with their captions, side by side where there is room for them."""
        return self._add(f'<div class="beside">{"".join(_figure(*f) for f in figures)}</div>')

    def table(
        self,
        head: Sequence[str],
        rows: Sequence[Sequence[Cell]],
        *,
        caption: str = "",
        sortable: bool = False,
        shaded: bool = False,
    ) -> Page:
        """A table. Columns whose cells are all numbers are aligned to the right.

        `sortable` lets a reader sort by clicking a heading. `shaded` tints cells between
        0 and 1 by their value, so that large probabilities stand out.
        """
        self._sortable |= sortable
        columns = [_column([row[i] for row in rows], shaded) for i in range(len(head))]
        kind = ' class="sortable"' if sortable else ""
        heads = "".join(
            ('<th class="n" scope="col">' if _is_numeric([row[i] for row in rows]) else _PLAIN_HEAD)
            + f"{escape(name)}</th>"
            for i, name in enumerate(head)
        )
        body = "".join(f"<tr>{''.join(cells)}</tr>\n" for cells in zip(*columns, strict=True))
        above = f"<caption>{escape(caption)}</caption>" if caption else ""
        return self._add(
            f'<div class="scroll"><table{kind}>{above}<thead><tr>{heads}</tr></thead>\n'
            f"<tbody>\n{body}</tbody></table></div>"
        )

    def open_details(self, summary: str, remark: str = "", *, shown: bool = False) -> Page:
        """Begin a part that is folded away until it is asked for; end it with `close_details`."""
        self._open += 1
        more = f' <span class="remark">{escape(remark)}</span>' if remark else ""
        state = " open" if shown else ""
        return self._add(f"<details{state}><summary>{escape(summary)}{more}</summary>")

    def close_details(self) -> Page:
        """End the innermost folded part."""
        if not self._open:
            raise ValueError("close_details without open_details: nothing is folded here")
        self._open -= 1
        return self._add("</details>")

    def html(self) -> str:
        """The whole page as HTML text."""
        below = f'<p class="subtitle">{escape(self.subtitle)}</p>\n' if self.subtitle else ""
        body = "\n".join([*self._parts, *["</details>"] * self._open])
        script = f"<script>{SORT_SCRIPT}</script>\n" if self._sortable else ""
        return (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            '<meta name="color-scheme" content="light dark">\n'
            f"<title>{escape(self.title)}</title>\n<style>{CSS}</style>\n</head>\n<body>\n<main>\n"
            f"<header>\n<h1>{escape(self.title)}</h1>\n{below}</header>\n{body}\n"
            f"<footer>Made with unveil.</footer>\n</main>\n{script}</body>\n</html>\n"
        )

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, all of it or nothing."""
        with atomic_write(path) as file:
            file.write(self.html())

    def __repr__(self) -> str:
        return f"Page({self.title!r}, {len(self._parts)} parts)"

    def _add(self, part: str) -> Page:
        self._parts.append(part)
        return self


def _figure(svg: str, caption: str) -> str:
    below = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    width = re.match(r'<svg [^>]*?\bwidth="([\d.]+)"', svg)
    room = f' style="--room:{width[1]}px"' if width else ""
    return f'<figure{room}><div class="scroll">\n{svg.strip()}\n</div>{below}</figure>'


def _shown(value: Cell) -> str:
    if value is None:
        return "–"
    return escape(value if isinstance(value, str) else number(value))


def _is_numeric(cells: Sequence[Cell]) -> bool:
    """Whether a column has numbers and nothing else; gaps do not count."""
    known = [cell for cell in cells if cell is not None]
    return bool(known) and not any(isinstance(cell, str) for cell in known)


def _column(cells: Sequence[Cell], shaded: bool) -> list[str]:
    """The `<td>` elements of a column."""
    if not _is_numeric(cells):
        return [f"<td>{_shown(cell)}</td>" for cell in cells]
    texts = iter(numbers([cell for cell in cells if isinstance(cell, (int, float))]))
    return [
        '<td class="n">–</td>'
        if not isinstance(cell, (int, float))
        else _number_cell(float(cell), next(texts), shaded)
        for cell in cells
    ]


def _number_cell(value: float, text: str, shaded: bool) -> str:
    """A number, with its full value for sorting and its share for shading."""
    if shaded and 0 <= value <= 1:
        return f'<td class="n p" style="--p:{value:.3f}" data-v="{value!r}">{text}</td>'
    return f'<td class="n" data-v="{value!r}">{text}</td>'
