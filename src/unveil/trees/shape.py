"""`TreeShape`: a tree of hidden variables above the columns of a table, before any parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from unveil.graph.dag import DAG
from unveil.table.variable import Variable

__all__ = ["TreeShape", "outline"]


@dataclass(frozen=True)
class TreeShape:
    """Which hidden variables there are, and the parent of every node, parents before children.

    >>> shape = TreeShape({"H": None, "x": "H", "y": "H"}, {"H": Variable("H", range(3))})
    >>> print(shape)
    H (3 states)
      x
      y
    """

    parents: Mapping[str, str | None]
    hidden: Mapping[str, Variable]

    @cached_property
    def dag(self) -> DAG:
        """The same as a graph."""
        return DAG(self.parents, [(p, c) for c, p in self.parents.items() if p is not None])

    @property
    def columns(self) -> list[str]:
        """The columns below the hidden variables."""
        return [name for name in self.parents if name not in self.hidden]

    def __str__(self) -> str:
        return outline(self.dag, self.hidden)


def outline(dag: DAG, hidden: Mapping[str, Variable]) -> str:
    """A tree as indented text, a line for every node, the states of hidden ones beside them.

    A node with several parents stands below the last of them, the others are named beside it.
    """
    return "\n".join(_lines(dag, hidden))


def _lines(dag: DAG, hidden: Mapping[str, Variable]) -> Iterator[str]:
    main = {name: (dag.parents(name) or (None,))[-1] for name in dag.nodes}
    below: dict[str | None, list[str]] = {}
    for name in dag.nodes:
        below.setdefault(main[name], []).append(name)
    waiting = [(name, 0) for name in reversed(below.get(None, []))]
    while waiting:
        name, depth = waiting.pop()
        words = f"{'  ' * depth}{name}"
        if name in hidden:
            words += f" ({hidden[name].n_states} states)"
        others = [p for p in dag.parents(name) if p != main[name]]
        yield words + (f" [also {', '.join(others)}]" if others else "")
        waiting += [(child, depth + 1) for child in reversed(below.get(name, []))]
