"""Who sums over which unseen cells: the one place where that is decided, by estimated cost.

Rows that lack nothing need no sum. Rows that lack the same few variables can be summed over by the
reduced model of these; the junction tree takes rows of any pattern. One pattern of a hidden
variable in a thousand rows is the reduced model's best case, a thousand patterns of one row each
the tree's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from unveil.errors import SizeError
from unveil.infer import costs
from unveil.infer.parts import ObservedRows, Part, ReducedRows, TreeRows
from unveil.infer.reduced import ReducedModel
from unveil.infer.rows import Pattern, Rows
from unveil.infer.tree import JunctionTree, memory_limit
from unveil.model.flat import FlatTables
from unveil.model.network import Network

__all__ = ["Use", "least_cells", "parts_of", "tree_for_passes"]


@dataclass(frozen=True)
class Use:
    """What the plan is for: how many passes over the rows, and within which memory.

    `tree_is_kept`: somebody keeps the junction tree for later, so building it does not count.
    `trees_first`: the tree does all it can, so that draws do not hang on estimates of cost.
    """

    passes: float = 1.0
    max_bytes: int | None = None
    tree_is_kept: bool = True
    trees_first: bool = False
    n_jobs: int | None = None


MakeTree = Callable[[], JunctionTree]


def parts_of(layout: FlatTables, rows: Rows, use: Use, make_tree: MakeTree) -> list[Part]:
    """The rows shared out among the ways to sum over what they lack.

    `make_tree` is called only where a tree may be worth it; `SizeError` if nothing fits.
    """
    parts: list[Part] = []
    gaps = []
    for pattern in rows.patterns:
        if rows.is_soft or pattern.unseen:
            gaps.append(pattern)
        else:
            parts.append(ObservedRows(layout, rows, pattern.rows))
    if gaps:
        parts += _with_gaps(layout, rows, gaps, use, make_tree)
    return parts


def _with_gaps(
    layout: FlatTables, rows: Rows, gaps: list[Pattern], use: Use, make_tree: MakeTree
) -> list[Part]:
    if rows.is_soft:
        return [TreeRows(layout, rows, _all_rows(gaps), make_tree(), use.n_jobs)]
    choice = _Choice(layout.network, use)
    if not use.trees_first:
        n_gaps = sum(len(p.rows) for p in gaps)
        least = choice.tree_setup(0) + use.passes * costs.TREE_CELL * n_gaps * least_cells(
            layout.network
        )
        if choice.reduced_work(gaps, least) <= least:
            return [ReducedRows(layout, rows, p.rows, choice.model(p)) for p in gaps]
    try:
        tree = make_tree()
    except SizeError as refusal:
        for pattern in gaps:
            choice.refuse_unless_fits(pattern, refusal)
        return [ReducedRows(layout, rows, p.rows, choice.model(p)) for p in gaps]
    reduced = [] if use.trees_first else choice.cheaper_than(tree, gaps)
    parts: list[Part] = [ReducedRows(layout, rows, p.rows, choice.model(p)) for p in reduced]
    left = [p for p in gaps if not any(p is q for q in reduced)]
    if left:
        parts.append(TreeRows(layout, rows, _all_rows(left), tree, use.n_jobs))
    return parts


class _Choice:
    """Estimates of work for the patterns of one network; models are made once."""

    def __init__(self, network: Network, use: Use) -> None:
        self._network, self._use = network, use
        self._models: dict[tuple[int, ...], ReducedModel] = {}
        self._sizes = [v.n_states for v in network.variables]

    def model(self, pattern: Pattern) -> ReducedModel:
        """The reduced model of a pattern."""
        if pattern.unseen not in self._models:
            names = [self._network.names[v] for v in pattern.unseen]
            self._models[pattern.unseen] = ReducedModel(self._network, names)
        return self._models[pattern.unseen]

    def reduced_work(self, patterns: list[Pattern], most: float) -> float:
        """The work of reduced models for all these patterns; stops counting beyond `most`."""
        total = len(patterns) * self._least_work
        for pattern in patterns:
            if total > most:
                return np.inf
            total += self._beyond_least(pattern, most - total)
        return total

    def cheaper_than(self, tree: JunctionTree, patterns: list[Pattern]) -> list[Pattern]:
        """The patterns to be summed over by reduced models: all, some or none."""
        chosen, shared, alone = [], 0.0, 0.0
        for pattern in patterns:
            by_tree = (
                self._use.passes
                * len(pattern.rows)
                * costs.TREE_CELL
                * tree.cost(list(pattern.unseen))
            )
            by_model = np.inf
            if by_tree > self._least_work:
                by_model = self._least_work + self._beyond_least(pattern, by_tree)
            if by_model <= by_tree:
                chosen.append(pattern)
            shared += min(by_tree, by_model)
        overhead = self.tree_setup(tree.n_cells) + self._use.passes * costs.TREE_PASS * tree.n_cells
        alone = self.reduced_work(patterns, shared + overhead)
        return patterns if alone <= shared + overhead else chosen

    def tree_setup(self, n_cells: int) -> float:
        """What it takes to build a tree."""
        heavy = costs.HEAVY_CELL * n_cells if n_cells > costs.HEAVY_TREE else 0.0
        return heavy + (0.0 if self._use.tree_is_kept else costs.TREE_SETUP)

    @property
    def _least_work(self) -> float:
        return costs.GROUP_SETUP + self._use.passes * costs.GROUP_PASS

    def _beyond_least(self, pattern: Pattern, most: float) -> float:
        """What the reduced model of a pattern takes beyond the least; infinite beyond `most`."""
        n_configurations = 1
        visits = self._use.passes * len(pattern.rows)
        for v in pattern.unseen:
            n_configurations *= self._sizes[v]
            if visits * n_configurations > most:
                return np.inf
        model = self.model(pattern)
        if not self._fits(model):
            return np.inf
        entries = model.n_entries + model.n_table_entries
        return costs.ENTRY_SETUP * entries + visits * model.cost

    def _fits(self, model: ReducedModel) -> bool:
        limit = self._use.max_bytes
        return model.fits and (limit is None or 16 * model.n_entries <= limit)

    def refuse_unless_fits(self, pattern: Pattern, refusal: SizeError) -> None:
        """The tree's refusal, unless this pattern can be summed over without it."""
        n_configurations = np.prod([float(self._sizes[v]) for v in pattern.unseen])
        if n_configurations <= costs.MOST_ENTRIES and self._fits(self.model(pattern)):
            return
        names = ", ".join(self._network.names[v] for v in pattern.unseen[:6])
        more = ", ..." if len(pattern.unseen) > 6 else ""
        raise SizeError(
            f"{refusal} Nor can rows that lack {names}{more} be summed over one configuration of "
            f"these after the other: there are {n_configurations:.3g}."
        ) from refusal


def tree_for_passes(network: Network) -> JunctionTree:
    """A tree for many passes with changing tables, which take more memory than one question."""
    tree = JunctionTree(network)
    needed = costs.TREE_BYTES * tree.n_cells + costs.FACTOR_BYTES * tree.n_factor_cells
    if needed > memory_limit():
        raise SizeError(
            f"a junction tree of {tree.n_cells:,} cells, with new tables in every pass, needs about "
            f"{needed / 2**20:,.0f} MiB; the limit is {memory_limit() / 2**20:,.0f} MiB. Use fewer "
            "hidden variables or states, or a sparser graph."
        )
    return tree


def least_cells(network: Network) -> int:
    """No junction tree has fewer cells: each clique brings variables that those above it lack.

    A product of numbers of states is at least their sum, where none is one. So where the reduced
    model is cheaper than this, the tree need not be made to know it.
    """
    return sum(v.n_states for v in network.variables if v.n_states > 1)


def _all_rows(patterns: list[Pattern]) -> np.ndarray:
    return np.sort(np.concatenate([p.rows for p in patterns]))
