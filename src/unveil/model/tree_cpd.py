"""`TreeCPD`: parents that matter only in some contexts (Boutilier et al. 1996; thesis 2.1.3)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from unveil.errors import ModelError
from unveil.model.compact import (
    GroupedCPD,
    Numbers,
    checked_rows,
    listed,
    numbers_in,
    whole_number,
)
from unveil.model.prior import DirichletPrior, EquivalentSampleSize
from unveil.table.variable import Variable, label_text

__all__ = ["Split", "Tree", "TreeCPD"]

DEEPEST = 200
"""A tree in a file that is deeper than this is refused."""


@dataclass(frozen=True)
class Split:
    """A node that asks for the state of a parent, by its place among the parents.

    Each branch has the states that lead into it, by their places, and the tree there.
    """

    parent: int
    branches: tuple[tuple[tuple[int, ...], Tree], ...]


Tree = int | Split
"""The number of a leaf, or a split."""


class TreeCPD(GroupedCPD):
    """P(variable | parents) as a tree: from the root, states of parents lead to a leaf.

    `tree` is a `Split`, or the number of a leaf; leaf i has the distribution `rows[i]` over the
    states of `variable`. What a path does not ask for does not matter there: a context-specific
    independence.

    >>> rain, forecast = Variable("rain", ["no", "yes"]), Variable("forecast", ["dry", "wet"])
    >>> umbrella = Variable("umbrella", ["left", "taken"])
    >>> tree = Split(0, (((0,), Split(1, (((0,), 0), ((1,), 1)))), ((1,), 2)))
    >>> cpd = TreeCPD(umbrella, [rain, forecast], tree, [[0.9, 0.1], [0.4, 0.6], [0.1, 0.9]])
    >>> cpd.n_parameters, cpd.table.n_parameters
    (3, 4)
    >>> print(cpd)
    P(umbrella | rain, forecast): a tree with 3 leaves
    rain = no:
      forecast = dry: left 0.9, taken 0.1
      forecast = wet: left 0.4, taken 0.6
    rain = yes: left 0.1, taken 0.9
    """

    kind: ClassVar[str] = "tree"
    tree: Tree

    def __init__(
        self, variable: Variable, parents: Sequence[Variable], tree: Tree, rows: npt.ArrayLike
    ) -> None:
        shape = self._take(variable, parents)
        self.tree = tree
        groups = np.full(shape, -1, np.int64)
        n_leaves = _fill(groups, tree, [list(range(n)) for n in shape], self._name)
        self.rows = checked_rows(variable, rows, n_leaves, "leaves")
        self.groups = groups.reshape(-1)
        self.groups.flags.writeable = False

    @classmethod
    def estimate(
        cls,
        variable: Variable,
        parents: Sequence[Variable],
        statistics: Numbers,
        prior: DirichletPrior | None = None,
    ) -> Self:
        """The tree grown from the family's joint counts (BDe under `prior`), with its parameters.

        Without a prior, the tree is the one under BDeu with equivalent sample size 1, and the
        distributions are those of maximum likelihood.
        """
        from unveil.model.local import group_term, grown_tree

        alpha = prior or EquivalentSampleSize(1.0)
        tree, n_leaves, _ = grown_tree(
            variable, parents, statistics, *group_term(alpha, variable, parents)
        )
        rows = np.full((n_leaves, variable.n_states), 1.0 / variable.n_states)
        return cls(variable, parents, tree, rows).refitted(statistics, prior)

    def _with_rows(self, rows: Numbers) -> Self:
        return type(self)(self.variable, self.parents, self.tree, rows)

    @property
    def used(self) -> tuple[Variable, ...]:
        """The parents that some path asks for."""
        places = {split.parent for split in _splits(self.tree)}
        return tuple(v for i, v in enumerate(self.parents) if i in places)

    @property
    def local_structure(self) -> Tree:
        """The tree, without distributions."""
        return self.tree

    @property
    def length(self) -> float:
        """What it takes to say which tree this is, in nats: log(splits to choose from) each."""
        return _length(self.tree, [p.n_states for p in self.parents])

    def with_variables(self, variable: Variable, parents: Sequence[Variable]) -> Self:
        """The same numbers for renamed, relabelled or re-marked variables."""
        return type(self)(variable, parents, self.tree, self.rows)

    def with_parents(self, parents: Sequence[Variable]) -> Self:
        """The same distribution for parents in another order, or without those it never uses."""
        place = {v.name: i for i, v in enumerate(parents)}
        places = [place.get(v.name, -1) for v in self.parents]
        return type(self)(self.variable, parents, _moved(self.tree, places), self.rows)

    def permuted(self, axis: int, order: Sequence[int]) -> Self:
        """The same distribution with state i of a member being what was state order[i].

        `axis` is the place among the parents, or their number for the child.
        """
        if axis == len(self.parents):
            return self._with_rows(self.rows[:, list(order)])
        now = {int(old): new for new, old in enumerate(order)}
        tree = _relabelled(self.tree, axis, now)
        return type(self)(self.variable, self.parents, tree, self.rows)

    def describe(self) -> str:
        """The tree as text: a line per branch, indented by how deep it is."""
        leaves = f"{self.n_groups} {'leaf' if self.n_groups == 1 else 'leaves'}"
        head = f"{self._name}: a tree with {leaves}"
        if isinstance(self.tree, int):
            return f"{head}\n{self._line(self.rows[0])}"
        return "\n".join([head, *self._lines(self.tree, 0)])

    def _lines(self, split: Split, depth: int) -> Iterator[str]:
        for states, below in split.branches:
            at = "  " * depth + self.condition(split, states)
            if isinstance(below, Split):
                yield f"{at}:"
                yield from self._lines(below, depth + 1)
            else:
                yield f"{at}: {self._line(self.rows[below])}"

    def condition(self, split: Split, states: Sequence[int]) -> str:
        """What leads into a branch, in words."""
        parent = self.parents[split.parent]
        return f"{parent.name} = {' or '.join(label_text(parent.labels[s]) for s in states)}"

    def to_dict(self) -> dict[str, Any]:
        """Nested branches; a leaf is the list of its probabilities."""
        return {"tree": _written(self.tree, self.rows)}

    @classmethod
    def from_dict(
        cls, variable: Variable, parents: Sequence[Variable], fields: Mapping[str, Any]
    ) -> Self:
        """The inverse of `to_dict`; refuses branches that leave states out or name them twice."""
        rows: list[list[float]] = []
        where = f"the tree of {variable.name!r}"
        if "tree" not in fields:
            raise ModelError(f"{where} is missing: expected a branching in 'tree'")
        tree = _read(fields["tree"], variable, tuple(parents), rows, where, 0)
        return cls(variable, parents, tree, rows)


def _splits(tree: Tree) -> Iterator[Split]:
    if isinstance(tree, Split):
        yield tree
        for _, below in tree.branches:
            yield from _splits(below)


def _length(tree: Tree, n_states: Sequence[int]) -> float:
    """The sum over splits of log(how many there were to choose from) (see `grow_tree`)."""
    if isinstance(tree, int):
        return 0.0
    choices = sum(1 + n * (n > 2) + (n - 3) * (n > 3) for n in n_states if n > 1)
    total = math.log(choices)
    for states, below in tree.branches:
        inside = [*n_states[: tree.parent], len(states), *n_states[tree.parent + 1 :]]
        total += _length(below, inside)
    return total


def _fill(groups: Any, tree: Tree, available: list[list[int]], name: str) -> int:
    """Number the configurations by their leaves; returns how many leaves there are."""
    found: list[int] = []

    def visit(node: Tree, available: list[list[int]]) -> None:
        if isinstance(node, int):
            found.append(node)
            groups[np.ix_(*available)] = node
            return
        if not 0 <= node.parent < len(available):
            raise ModelError(f"{name}: the tree asks for parent {node.parent}, which there is not")
        named = sorted(s for states, _ in node.branches for s in states)
        if named != available[node.parent] or not all(states for states, _ in node.branches):
            raise ModelError(
                f"{name}: the branches of a split must name each state that can come there once; "
                f"expected the states {available[node.parent]}, got {named}"
            )
        for states, below in node.branches:
            inside = list(available)
            inside[node.parent] = sorted(states)
            visit(below, inside)

    visit(tree, available)
    if sorted(found) != list(range(len(found))):
        raise ModelError(f"{name}: leaves must be numbered from 0, each once; got {sorted(found)}")
    return len(found)


def _moved(tree: Tree, places: Sequence[int]) -> Tree:
    if isinstance(tree, int):
        return tree
    branches = tuple((states, _moved(below, places)) for states, below in tree.branches)
    if places[tree.parent] < 0:
        raise ModelError("a parent that the tree asks for cannot be left out")
    return Split(places[tree.parent], branches)


def _relabelled(tree: Tree, parent: int, now: Mapping[int, int]) -> Tree:
    if isinstance(tree, int):
        return tree
    own = tree.parent == parent
    branches = tuple(
        (tuple(now[s] for s in states) if own else states, _relabelled(below, parent, now))
        for states, below in tree.branches
    )
    return Split(tree.parent, branches)


def _written(tree: Tree, rows: Numbers) -> Any:
    if isinstance(tree, int):
        return rows[tree].tolist()
    branches = [
        {"states": list(states), "then": _written(below, rows)} for states, below in tree.branches
    ]
    return {"parent": tree.parent, "branches": branches}


def _read(
    node: Any,
    variable: Variable,
    parents: tuple[Variable, ...],
    rows: list[list[float]],
    where: str,
    depth: int,
) -> Tree:
    if isinstance(node, list):
        rows.append(numbers_in(node, variable.n_states, f"{where}, leaf {len(rows) + 1}"))
        return len(rows) - 1
    if not isinstance(node, Mapping) or depth > DEEPEST:
        raise ModelError(f"{where}: expected a list of probabilities or a branching, got {node!r}")
    place = whole_number(node.get("parent"), len(parents), f"{where}, 'parent'")
    branches = []
    for branch in listed(node, "branches", where):
        if not isinstance(branch, Mapping):
            raise ModelError(f"{where}: expected a branch with 'states' and 'then', got {branch!r}")
        states = [
            whole_number(s, parents[place].n_states, f"{where}, 'states'")
            for s in listed(branch, "states", where)
        ]
        then = _read(branch.get("then"), variable, parents, rows, where, depth + 1)
        branches.append((tuple(states), then))
    return Split(place, tuple(branches))
