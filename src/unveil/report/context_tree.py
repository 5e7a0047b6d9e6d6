"""A `TreeCPD` as SVG: which parent is asked for where, and what each leaf says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from unveil.model.tree_cpd import Split, Tree, TreeCPD
from unveil.report import colours
from unveil.report.picture_svg import FONTS
from unveil.report.text import escape, shorten, text_width
from unveil.table.variable import label_text

__all__ = ["context_tree"]

SIZE, ROW, GAP, BAR = 11.0, 20.0, 14.0, 110.0


@dataclass
class _Node:
    """A node with its height and what is below it, by the words on the branch."""

    name: str
    depth: int
    y: float
    leaf: int
    below: list[tuple[str, _Node]]

    def all(self) -> Iterator[_Node]:
        """The node and all below it."""
        yield self
        for _, node in self.below:
            yield from node.all()


def context_tree(cpd: TreeCPD, most_leaves: int = 60) -> str:
    """A drawing of the tree from left (root) to right; empty with more than `most_leaves` leaves.

    A leaf has a bar with a part for each state of the child, the most probable one in words.

    >>> from unveil import Variable
    >>> x, y = Variable("x", ["a", "b"]), Variable("y", [0, 1, 2])
    >>> tree = Split(0, (((0, 2), 0), ((1,), 1)))
    >>> context_tree(TreeCPD(x, [y], tree, [[0.9, 0.1], [0.2, 0.8]])).count("<path")
    2
    """
    if cpd.n_groups > most_leaves:
        return ""
    root = _placed(cpd, cpd.tree, 0, iter(range(cpd.n_groups)))
    left = _columns(root)
    marks = []
    for node in root.all():
        x = left[node.depth]
        if not node.below:
            marks += _leaf(cpd, node, left[-1])
            continue
        marks.append(_text(x, node.y, node.name, "bold"))
        start = x + text_width(node.name, SIZE) * 1.1 + 4
        for words, child in node.below:
            end = left[child.depth] if child.below else left[-1]
            turn = left[node.depth + 1] - GAP - _label_width(root, node.depth)
            marks.append(
                f'<path d="M{start:.1f} {node.y:.1f}H{turn - 4:.1f}V{child.y:.1f}H{end - 4:.1f}" '
                f'fill="none" stroke="{colours.ARC}"/>'
            )
            marks.append(_text(turn, child.y - 4, words))
    width, height = left[-1] + BAR + 150, cpd.n_groups * ROW + 6
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.1f} {height:.1f}" '
        f'width="{width:.1f}" font-family="{FONTS}" font-size="{SIZE:g}" '
        f'fill="{colours.INK}">' + "".join(marks) + "</svg>"
    )


def _placed(cpd: TreeCPD, tree: Tree, depth: int, rows: Iterator[int]) -> _Node:
    """The tree with a row for every leaf; a split stands in the middle of what is below it."""
    if not isinstance(tree, Split):
        return _Node("", depth, (next(rows) + 0.7) * ROW, tree, [])
    parent = cpd.parents[tree.parent]
    below = []
    for states, branch in tree.branches:
        words = shorten(", ".join(label_text(parent.labels[s]) for s in states), 30)
        below.append((words, _placed(cpd, branch, depth + 1, rows)))
    middle = (below[0][1].y + below[-1][1].y) / 2
    return _Node(shorten(parent.name), depth, middle, -1, below)


def _columns(root: _Node) -> list[float]:
    """Where the splits of each depth begin, and at the end where leaves do."""
    left = [4.0]
    for depth in range(max(node.depth for node in root.all())):
        names = [text_width(n.name, SIZE) * 1.1 for n in root.all() if n.depth == depth]
        left.append(left[-1] + max(names) + 2 * GAP + _label_width(root, depth))
    return left


def _label_width(root: _Node, depth: int) -> float:
    words = [w for n in root.all() if n.depth == depth for w, _ in n.below]
    return max(text_width(w, SIZE) for w in words) + 6


def _leaf(cpd: TreeCPD, node: _Node, x: float) -> list[str]:
    """A bar of the child's states, and the most probable one in words."""
    chances = cpd.rows[node.leaf].tolist()
    labels = [label_text(s) for s in cpd.variable.labels]
    marks, start = [], x
    for i, (label, p) in enumerate(zip(labels, chances, strict=True)):
        strength = 1.0 - 0.8 * i / max(len(labels) - 1, 1)
        marks.append(
            f'<rect x="{start:.1f}" y="{node.y - 6:.1f}" width="{BAR * p:.1f}" height="11" '
            f'fill="{colours.MAIN}" fill-opacity="{strength:.2f}">'
            f"<title>{escape(f'{label}: {p:.4g}')}</title></rect>"
        )
        start += BAR * p
    best = max(range(len(labels)), key=chances.__getitem__)
    marks.append(_text(x + BAR + 8, node.y + 4, f"{shorten(labels[best], 16)} {chances[best]:.2f}"))
    return marks


def _text(x: float, y: float, words: str, weight: str = "normal") -> str:
    y = y + 4 if weight == "bold" else y
    return f'<text x="{x:.1f}" y="{y:.1f}" font-weight="{weight}">{escape(words)}</text>'
