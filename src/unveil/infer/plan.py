"""Who sums over which unseen cells: the one place where that is decided, by estimated cost.

Rows that lack nothing need no sum. Rows that lack the same few variables can be summed over by the
reduced model of these; the junction tree takes rows of any pattern. One pattern of a hidden
variable in a thousand rows is the reduced model's best case, a thousand patterns of one row each
the tree's. Where hidden variables form a forest above observed columns, rows go through the forest
in blocks, whatever columns they lack.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unveil.errors import SizeError
from unveil.infer import costs
from unveil.infer.forest import inner_variables
from unveil.infer.parts import ForestRows, ObservedRows, Part, ReducedRows, TreeRows
from unveil.infer.reduced import ReducedModel
from unveil.infer.rows import Patterns, Rows
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
Chosen = npt.NDArray[np.bool_]


def parts_of(layout: FlatTables, rows: Rows, use: Use, make_tree: MakeTree) -> list[Part]:
    """The rows shared out among the ways to sum over what they lack.

    `make_tree` is called only where a tree may be worth it; `SizeError` if nothing fits.
    """
    gaps: Chosen = np.logical_or(rows.patterns.lacks.any(axis=0), rows.is_soft)
    if gaps.all():
        return _with_gaps(layout, rows, gaps, use, make_tree)
    parts: list[Part] = [ObservedRows(layout, rows, rows.patterns.rows(~gaps))]
    return [*parts, *_with_gaps(layout, rows, gaps, use, make_tree)]


def _with_gaps(
    layout: FlatTables, rows: Rows, gaps: Chosen, use: Use, make_tree: MakeTree
) -> list[Part]:
    patterns = rows.patterns
    if not gaps.any():
        return []
    if rows.is_soft:
        return [TreeRows(layout, rows, patterns.rows(gaps), make_tree(), use.n_jobs)]
    if not use.trees_first and _forest_suits(layout.network, rows, gaps):
        places = patterns.rows(gaps)
        return [
            ForestRows(
                layout,
                rows,
                places,
                lambda: TreeRows(layout, rows, places, make_tree(), use.n_jobs),
            )
        ]
    choice = _Choice(layout.network, patterns, gaps, use)

    def reduced(pattern: int) -> Part:
        own = np.arange(len(patterns.sizes)) == pattern
        return ReducedRows(layout, rows, patterns.rows(own), choice.model(pattern))

    if not use.trees_first and choice.no_tree_can_do_better():
        return [reduced(p) for p in choice.gaps]
    try:
        tree = make_tree()
    except SizeError as refusal:
        for pattern in choice.gaps:
            choice.refuse_unless_fits(pattern, refusal)
        return [reduced(p) for p in choice.gaps]
    chosen = [] if use.trees_first else choice.cheaper_than(tree)
    parts = [reduced(p) for p in chosen]
    if len(chosen) < len(choice.gaps):
        left = gaps.copy()
        left[chosen] = False
        parts.append(TreeRows(layout, rows, patterns.rows(left), tree, use.n_jobs))
    return parts


def _forest_suits(network: Network, rows: Rows, gaps: Chosen) -> bool:
    """Whether all variables with children are unseen in these rows, and a forest.

    One alone is better left to reduced models; for few rows a tree that is kept is as good.
    """
    inner = inner_variables(network)
    if inner is None or len(inner) < 2 or rows.n_rows < costs.FOREST_ROWS:
        return False
    return bool(rows.patterns.lacks[inner][:, gaps].all())


class _Choice:
    """Estimates of work for the patterns with gaps of one network; models are made once."""

    def __init__(self, network: Network, patterns: Patterns, gaps: Chosen, use: Use) -> None:
        self._network, self._patterns, self._use = network, patterns, use
        self._models: dict[int, ReducedModel] = {}
        self._n_states = [v.n_states for v in network.variables]
        self.gaps: list[int] = np.flatnonzero(gaps).tolist()
        self._n_rows = int(patterns.sizes[self.gaps].sum())

    def model(self, pattern: int) -> ReducedModel:
        """The reduced model of a pattern."""
        if pattern not in self._models:
            names = [self._network.names[v] for v in self._patterns.unseen(pattern)]
            self._models[pattern] = ReducedModel(self._network, names)
        return self._models[pattern]

    def no_tree_can_do_better(self) -> bool:
        """Whether reduced models take less than any tree, so that none need be built."""
        visits = self._use.passes * costs.TREE_CELL * self._n_rows
        least = self.tree_overhead(0) + visits * least_cells(self._network)
        return self._reduced_work(least) <= least

    def cheaper_than(self, tree: JunctionTree) -> list[int]:
        """The patterns to be summed over by reduced models: all, some or none."""
        visit = self._use.passes * costs.TREE_CELL
        shared = self.tree_overhead(tree.n_cells)
        if len(self.gaps) * self._least_work > shared + visit * self._n_rows * tree.n_cells:
            shared = -np.inf  # Not all of them: to start them takes longer than the tree for all.
        at_most = visit * self._patterns.sizes[self.gaps] * tree.n_cells
        large = at_most > self._least_work
        shared += float(at_most[~large].sum())
        chosen = []
        for pattern in np.array(self.gaps)[large].tolist():
            unseen = self._patterns.unseen(pattern)
            by_tree = visit * float(self._patterns.sizes[pattern]) * tree.cost(unseen)
            by_model = self._work(pattern, by_tree)
            if by_model <= by_tree:
                chosen.append(pattern)
            shared += min(by_tree, by_model)
        return self.gaps if self._reduced_work(shared) <= shared else chosen

    def _reduced_work(self, most: float) -> float:
        """The work of reduced models for all patterns; infinite if it is more than `most`."""
        total, left = 0.0, len(self.gaps) * self._least_work
        for pattern in self.gaps:
            if total + left > most:
                return np.inf
            left -= self._least_work
            total += self._work(pattern, most - total)
        return total

    def _work(self, pattern: int, most: float) -> float:
        """What the reduced model of a pattern takes; infinite if it is more than `most`."""
        if self._least_work > most:
            return np.inf
        n_configurations = 1
        visits = self._use.passes * float(self._patterns.sizes[pattern])
        for v in self._patterns.unseen(pattern):
            n_configurations *= self._n_states[v]
            if visits * n_configurations > most:
                return np.inf
        model = self.model(pattern)
        if not self._fits(model):
            return np.inf
        entries = model.n_entries + model.n_table_entries
        return self._least_work + costs.ENTRY_SETUP * entries + visits * model.cost

    def tree_overhead(self, n_cells: int) -> float:
        """What a tree takes beyond the visits of rows: to build it, and to start every pass."""
        setup = 0.0 if self._use.tree_is_kept else costs.TREE_SETUP
        if n_cells > costs.HEAVY_TREE:
            setup += costs.HEAVY_CELL * n_cells
        return setup + self._use.passes * (costs.TREE_START + costs.TREE_PASS * n_cells)

    @property
    def _least_work(self) -> float:
        return costs.GROUP_SETUP + self._use.passes * costs.GROUP_PASS

    def _fits(self, model: ReducedModel) -> bool:
        limit = self._use.max_bytes
        return model.fits and (limit is None or 16 * model.n_entries <= limit)

    def refuse_unless_fits(self, pattern: int, refusal: SizeError) -> None:
        """The tree's refusal, unless this pattern can be summed over without it."""
        unseen = self._patterns.unseen(pattern)
        n_configurations = np.prod([float(self._n_states[v]) for v in unseen])
        if n_configurations <= costs.MOST_ENTRIES and self._fits(self.model(pattern)):
            return
        names = ", ".join(self._network.names[v] for v in unseen[:6])
        more = ", ..." if len(unseen) > 6 else ""
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
            f"a junction tree of {tree.n_cells:,} cells, with new tables in every pass, needs "
            f"about {needed / 2**20:,.0f} MiB; the limit is {memory_limit() / 2**20:,.0f} MiB. "
            "Use fewer hidden variables or states, or a sparser graph."
        )
    return tree


def least_cells(network: Network) -> int:
    """No junction tree has fewer cells: each clique brings variables that those above it lack.

    A product of numbers of states is at least their sum, where none is one. So where the reduced
    model is cheaper than this, the tree need not be made to know it.
    """
    return sum(v.n_states for v in network.variables if v.n_states > 1)
