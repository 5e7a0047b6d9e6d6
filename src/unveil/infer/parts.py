"""The parts of a plan for unseen cells: rows that are summed over in the same way.

Each part answers the same questions about its rows: log-probabilities, marginals, expected counts,
the most probable completion and draws. `tables` is always the vector of `FlatTables`, so one part
serves a network through all its parameters.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from unveil.errors import SizeError
from unveil.infer import costs
from unveil.infer.forest import ForestModel
from unveil.infer.reduced import Layout, ReducedModel
from unveil.infer.rows import Rows
from unveil.infer.tree import Evidence, JunctionTree
from unveil.model.flat import FlatTables

__all__ = ["ForestRows", "LightPasses", "ObservedRows", "Part", "ReducedRows", "TreeRows"]

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]

FEWER, MOST_BESIDE = 0.7, 20
"""Rows that are alike beside what is unseen are one for EM if that leaves at most this share of
them; with more columns than so many beside, it is not tried."""


class Part(Protocol):
    """Some rows of a table (`rows` are their places) and how to sum over their unseen cells."""

    rows: Places
    weights: Vector

    def with_weights(self, weights: Vector) -> Part:
        """The same rows with other weights."""

    def marginals(self, tables: Vector, targets: Sequence[int]) -> tuple[Vector, list[Matrix]]:
        """log P(row), and P(target | row) for every target, each of shape (n_rows, n_states)."""

    def add_expected(self, tables: Vector, counts: Vector) -> float:
        """Add the rows' expected counts (Eq. 2.16); returns the weighted sum of log P(row)."""

    def configurations(self, tables: Vector) -> Matrix:
        """The posterior of every joint configuration of what the rows lack, (n_rows, n)."""

    def add_counts(self, configurations: Matrix, counts: Vector) -> None:
        """Add the counts that a given posterior of the configurations implies."""

    def most_probable(self, tables: Vector) -> tuple[Vector, Any]:
        """Log-probabilities and codes (n_variables, n_rows) of the most probable completions."""

    def draws(self, tables: Vector, generator: np.random.Generator) -> tuple[Vector, Any]:
        """log P(row), and one completion of every row drawn from its posterior."""


@dataclass(frozen=True)
class LightPasses:
    """Rows that lack the same variables, for a kernel that goes over them again and again.

    `layout` has their families laid out, `entries` are the places of these in the tables; `shown`
    are the counts of all other families, which never change.
    """

    layout: Layout
    entries: npt.NDArray[np.int64]
    codes: Any
    weights: Vector
    shown: Vector


class ReducedRows:
    """Rows that all lack the same few variables: condition on the others, sum over these."""

    def __init__(self, layout: FlatTables, rows: Rows, places: Places, model: ReducedModel) -> None:
        self.rows, self.weights = places, rows.weights[places]
        self._layout, self._model = layout, model
        whole = len(places) == rows.n_rows
        self._codes = rows.codes if whole else np.ascontiguousarray(rows.codes[:, places])
        self._unseen = [layout.names.index(name) for name in model.unseen]
        relevant = set(model.relevant)
        self._shown = [v for v in range(len(layout.names)) if v not in relevant]

    def with_weights(self, weights: Vector) -> ReducedRows:
        other = copy.copy(self)
        other.weights = weights
        for known in ("_shown_counts", "_group_weights"):
            other.__dict__.pop(known, None)
        return other

    def marginals(self, tables: Vector, targets: Sequence[int]) -> tuple[Vector, list[Matrix]]:
        log_z = np.zeros(len(self.rows))
        sizes = [self._layout.network.variables[t].n_states for t in targets]
        found = [np.empty((len(self.rows), size)) for size in sizes]
        wanted = bool(set(targets) & set(self._unseen))
        for block, logs, posterior in self._blocks(tables, wanted):
            log_z[block] = logs
            joint = posterior.reshape(-1, *self._model.shape)
            for whole, target in zip(found, targets, strict=True):
                whole[block] = self._marginal(joint, block, target, whole.shape[1])
        self._layout.add_log_probabilities(log_z, tables, self._codes, self._shown)
        return log_z, found

    def add_expected(self, tables: Vector, counts: Vector) -> float:
        shown, seen = self._shown_counts
        counts += shown
        with np.errstate(divide="ignore"):
            total = float(shown[seen] @ np.log(tables[seen]))
        if not self._unseen:
            return total
        codes, weights = self._groups[0], self._group_weights
        log_z, expected = self._model.expected_vector(tables, codes, weights)
        counts += expected
        return total + float((log_z * weights).sum())

    @property
    def light_passes(self) -> LightPasses | None:
        """All that many passes over these rows need, if each of them is little work."""
        n_rows = self._groups[0].shape[1]
        if not self._unseen or not self._model.is_light(n_rows):
            return None
        layout = self._model.layout_for(n_rows)
        return LightPasses(
            layout, layout.entries, self._groups[0], self._group_weights, self._shown_counts[0]
        )

    def configurations(self, tables: Vector) -> Matrix:
        return np.concatenate([posterior for _, _, posterior in self._blocks(tables, True)])

    def add_counts(self, configurations: Matrix, counts: Vector) -> None:
        counts += self._shown_counts[0]
        if self._unseen:
            counts += self._model.counts(configurations, self._codes, self.weights, counts.size)

    def most_probable(self, tables: Vector) -> tuple[Vector, Any]:
        return self._completed(tables, None)

    def draws(self, tables: Vector, generator: np.random.Generator) -> tuple[Vector, Any]:
        return self._completed(tables, generator)

    @cached_property
    def _shown_counts(self) -> tuple[Vector, Places]:
        """The counts of the families that every row shows whole, and which of them are not zero."""
        counts = self._layout.count(self._codes, self.weights, self._shown)
        return counts, np.flatnonzero(counts)

    @cached_property
    def _groups(self) -> tuple[Any, Places | None]:
        """The rows that differ beside what is unseen, and which of them each row is like.

        `None`, if hardly any two rows are alike there.
        """
        if not self._unseen or len(self._model.beside) > MOST_BESIDE:
            return self._codes, None
        first, group = self._model.alike(self._codes)
        if len(first) > FEWER * len(group):
            return self._codes, None
        return np.ascontiguousarray(self._codes[:, first]), group

    @cached_property
    def _group_weights(self) -> Vector:
        codes, group = self._groups
        if group is None:
            return self.weights
        return np.bincount(group, self.weights, codes.shape[1]).astype(np.float64)

    def _completed(
        self, tables: Vector, generator: np.random.Generator | None
    ) -> tuple[Vector, Any]:
        log_z = np.zeros(len(self.rows))
        codes = self._codes.copy()
        for block, logs, posterior in self._blocks(tables, True):
            if generator is None:
                chosen = posterior.argmax(axis=1)
                with np.errstate(divide="ignore"):
                    logs = logs + np.log(posterior[np.arange(len(chosen)), chosen])
            else:
                below = posterior.cumsum(axis=1)
                uniform = generator.random((len(posterior), 1)) * below[:, -1:]
                chosen = (below <= uniform).sum(axis=1)
            log_z[block] = logs
            if self._unseen:
                codes[self._unseen, block] = np.unravel_index(chosen, self._model.shape)
        self._layout.add_log_probabilities(log_z, tables, self._codes, self._shown)
        return log_z, codes

    def _blocks(self, tables: Vector, posteriors: bool) -> Iterator[tuple[slice, Vector, Matrix]]:
        """Rows a block at a time: which, log Z of the relevant families, and posteriors."""
        n, size = len(self.rows), self._model.n_configurations
        if not self._unseen:
            yield slice(0, n), np.zeros(n), np.ones((n, 1))
            return
        if not posteriors:
            logs = self._model.log_likelihoods(tables, self._codes)
            yield slice(0, n), logs, np.empty((0, size))
            return
        length = max(1, costs.MOST_POSTERIORS // size)
        for start in range(0, n, length):
            block = slice(start, min(n, start + length))
            codes = self._codes[:, block] if length < n else self._codes
            yield block, *self._model.posterior(tables, np.ascontiguousarray(codes))

    def _marginal(self, joint: Matrix, block: slice, target: int, n_states: int) -> Matrix:
        """P(target | row): summed out of the joint, or certain where the rows show it."""
        if target not in self._unseen:
            return np.eye(n_states)[self._codes[target, block]]
        own = 1 + self._unseen.index(target)
        return np.asarray(joint.sum(axis=tuple(i for i in range(1, joint.ndim) if i != own)))


class ObservedRows(ReducedRows):
    """Rows that lack nothing: their families are counted once, the same ever after."""

    def __init__(self, layout: FlatTables, rows: Rows, places: Places) -> None:
        super().__init__(layout, rows, places, ReducedModel(layout.network, ()))


class TreeRows:
    """Rows with gaps of their own, or with soft evidence, by the junction tree."""

    def __init__(
        self,
        layout: FlatTables,
        rows: Rows,
        places: Places,
        tree: JunctionTree,
        n_jobs: int | None = None,
    ) -> None:
        self.rows, self.weights = places, rows.weights[places]
        self._layout, self._tree, self._n_jobs = layout, tree, n_jobs
        whole = rows.evidence
        if len(places) < rows.n_rows:
            codes, soft = whole.codes[:, places], whole.soft[:, places]
            whole = Evidence(
                np.ascontiguousarray(codes),
                whole.missing,
                np.ascontiguousarray(soft),
                whole.soft_first,
            )
        self._evidence = whole

    def with_weights(self, weights: Vector) -> TreeRows:
        other = copy.copy(self)
        other.weights = weights
        return other

    def marginals(self, tables: Vector, targets: Sequence[int]) -> tuple[Vector, list[Matrix]]:
        return self._at(tables).marginals(self._evidence, targets, self._n_jobs)

    def add_expected(self, tables: Vector, counts: Vector) -> float:
        tree = self._at(tables)
        log_z, expected = tree.expected_vector(self._evidence, self.weights, tables.size)
        counts += expected
        return float((log_z * self.weights).sum())

    def configurations(self, tables: Vector) -> Matrix:
        raise self._no_list()

    def add_counts(self, configurations: Matrix, counts: Vector) -> None:
        raise self._no_list()

    def most_probable(self, tables: Vector) -> tuple[Vector, Any]:
        return self._at(tables).explain(self._evidence)

    def draws(self, tables: Vector, generator: np.random.Generator) -> tuple[Vector, Any]:
        return self._at(tables).explain(self._evidence, generator)

    def _at(self, tables: Vector) -> JunctionTree:
        """The tree with these tables; those of its own network are in it already."""
        own = tables is self._layout.own
        return self._tree if own else self._tree.with_tables(tables)

    def _no_list(self) -> SizeError:
        return SizeError(
            "these rows lack too much for a list of all configurations of what they lack; only "
            "marginals and expected counts can be had. Use fewer hidden variables or states."
        )


class ForestRows:
    """Rows of a forest of hidden variables above observed leaves, whatever leaves they lack.

    Explanations and draws are left to the junction tree.
    """

    def __init__(
        self, layout: FlatTables, rows: Rows, places: Places, make_tree: Callable[[], Part]
    ) -> None:
        self.rows, self.weights = places, rows.weights[places]
        self._layout, self._make_tree = layout, make_tree
        self._model = ForestModel(layout.network)
        whole = len(places) == rows.n_rows
        self._codes = rows.codes if whole else np.ascontiguousarray(rows.codes[:, places])
        self._missing = rows.evidence.missing

    def with_weights(self, weights: Vector) -> ForestRows:
        other = copy.copy(self)
        other.weights = weights
        return other

    def marginals(self, tables: Vector, targets: Sequence[int]) -> tuple[Vector, list[Matrix]]:
        if not targets:
            return self._model.log_likelihoods(tables, self._codes), []
        log_z = np.empty(len(self.rows))
        sizes = [self._layout.network.variables[t].n_states for t in targets]
        found = [np.empty((len(self.rows), size)) for size in sizes]
        parts = self._layout.split(tables)
        for block, logs, posterior in self._model.posteriors(tables, self._codes):
            log_z[block] = logs
            for whole, target in zip(found, targets, strict=True):
                whole[block] = self._marginal(posterior, block, target, parts[target])
        return log_z, found

    def add_expected(self, tables: Vector, counts: Vector) -> float:
        log_z, expected = self._model.expected_vector(tables, self._codes, self.weights)
        counts += expected
        return float((log_z * self.weights).sum())

    def configurations(self, tables: Vector) -> Matrix:
        return self._tree.configurations(tables)

    def add_counts(self, configurations: Matrix, counts: Vector) -> None:
        self._tree.add_counts(configurations, counts)

    def most_probable(self, tables: Vector) -> tuple[Vector, Any]:
        return self._tree.most_probable(tables)

    def draws(self, tables: Vector, generator: np.random.Generator) -> tuple[Vector, Any]:
        return self._tree.draws(tables, generator)

    @cached_property
    def _tree(self) -> Part:
        return self._make_tree()

    def _marginal(self, posterior: Matrix, block: slice, target: int, table: Matrix) -> Matrix:
        """P(target | row) from the posteriors of the hidden variables."""
        model = self._model
        if target in model.hidden:
            h = model.hidden.index(target)
            return posterior[:, model.place[h] : model.place[h + 1]]
        h, _ = model.leaf_of[target]
        above = posterior[:, model.place[h] : model.place[h + 1]]
        share = above @ table.reshape(above.shape[1], -1)
        shown = np.flatnonzero(self._codes[target, block] != self._missing)
        codes = self._codes[target, block][shown]
        share[shown] = np.eye(share.shape[1])[codes] * above[shown].sum(axis=1, keepdims=True)
        return share
