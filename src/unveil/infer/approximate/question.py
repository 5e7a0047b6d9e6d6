"""What the approximate methods share: a question as flat arrays, and rows in blocks."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.errors import DataError, Hint, ModelError, UnveilWarning
from unveil.infer.answer import Posterior, refuse_impossible
from unveil.infer.evidence import Likelihoods, evidence_from, observed_names
from unveil.infer.posterior import relevant_network
from unveil.infer.tree import Evidence
from unveil.kernels.evidence import Seen, Wanted
from unveil.kernels.factor_graph import FactorGraph
from unveil.kernels.gibbs import GAVE_UP, IMPOSSIBLE
from unveil.model.network import Network
from unveil.model.table_cpd import TableCPD, table_of
from unveil.seeds import generator_of
from unveil.table.core import Table
from unveil.table.variable import Variable

__all__ = ["Question", "Seed", "check_setting", "named_rows", "warn"]

BLOCK = 32
"""Rows that share a random stream and run in one thread, whatever the number of threads."""

Matrix = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]
Codes = npt.NDArray[Any]
Seed = int | np.random.Generator | None


@dataclass(frozen=True)
class Question:
    """Posteriors to find: of `variables`, in the network `graph`, given every row of `evidence`.

    Rows that say the same are asked once: row r of the table is row `row_of[r]` of the evidence.
    State s of target i, which is number `targets[i]` in the graph, has column `columns[i]` + s of
    the answer.
    """

    variables: dict[str, Variable]
    graph: FactorGraph
    evidence: Evidence
    row_of: Places
    targets: Places
    columns: Places

    @classmethod
    def ask(
        cls, network: Network, table: Table, targets: Sequence[str], likelihoods: Likelihoods
    ) -> Question:
        """The question about `targets`, without variables that cannot matter."""
        seen = observed_names(network, table, likelihoods)
        variables = {name: network.variable(name) for name in targets}
        part = relevant_network(network, [*seen, *variables])
        names = _evidence_early(part, seen)
        evidence, row_of = _distinct(evidence_from(part, names, table, likelihoods))
        places = np.array([names.index(name) for name in variables], np.int64)
        widths = np.array([v.n_states for v in variables.values()], np.int64)
        return cls(variables, _factor_graph(part, names), evidence, row_of, places, _starts(widths))

    @property
    def n_rows(self) -> int:
        """The number of different rows."""
        return self.evidence.n_rows

    @property
    def rows(self) -> tuple[FactorGraph, Seen]:
        """The graph and the evidence, as every kernel takes them first."""
        e = self.evidence
        return self.graph, Seen(e.codes, e.missing, e.soft, e.soft_first)

    @property
    def wanted(self) -> Wanted:
        """The targets and their columns, as every kernel takes them."""
        return Wanted(self.targets, self.columns[:-1])

    def table(self) -> Matrix:
        """An empty answer, shape (n_rows, columns)."""
        return np.empty((self.n_rows, int(self.columns[-1])))

    def run(self, work: Callable[[int, int, int], None], n_jobs: int | None) -> None:
        """Call work(block, start, stop) for every block of rows, in threads."""
        blocks = list(self._blocks())
        n_workers = min(len(blocks), n_jobs or os.cpu_count() or 1)
        if n_workers <= 1:
            for block in blocks:
                work(*block)
            return
        with ThreadPoolExecutor(n_workers) as pool:
            for task in [pool.submit(work, *block) for block in blocks]:
                task.result()

    def streams(self, seed: Seed) -> list[np.random.Generator]:
        """A random stream for every block of rows."""
        return generator_of(seed).spawn(len(list(self._blocks())))

    def answer(
        self, method: str, flat: Matrix, log_evidence: Matrix, errors: Matrix | None = None
    ) -> Posterior:
        """The posterior of every row of the table from the columns of the different rows."""
        return Posterior(
            self.variables,
            self._by_name(flat),
            log_evidence[self.row_of],
            method,
            {} if errors is None else self._by_name(errors),
        )

    def certain(self) -> npt.NDArray[np.bool_]:
        """Whether a target is observed or has one state only, shape (n_rows, columns)."""
        observed = self.evidence.codes[self.targets] != self.evidence.missing
        single = self.graph.n_states[self.targets] == 1
        return np.repeat((observed | single[:, None]).T, np.diff(self.columns), axis=1)

    def refuse_unstarted(self, status: npt.NDArray[np.int8]) -> None:
        """An error that names the rows for which no state agrees with the evidence."""
        refuse_impossible(np.where(status == IMPOSSIBLE, -np.inf, 0.0)[self.row_of])
        lost = np.flatnonzero((status == GAVE_UP)[self.row_of])
        if lost.size:
            raise ModelError(
                f"no state of all variables that agrees with the evidence was found in "
                f"{named_rows(lost)}, so there is nowhere to start from. The evidence may be "
                "impossible, or possible only in rare combinations (tables with many zeros): ask "
                "for the exact posterior, or take",
                hint=Hint("method='loopy'.", "--method loopy."),
            )

    def warn_unconverged(
        self, change: Matrix, iterations: int, tolerance: float, hint: str
    ) -> None:
        """A warning that says how many rows still change, and by how much."""
        open_rows = np.flatnonzero((change > tolerance)[self.row_of])
        if open_rows.size:
            warn(
                f"no convergence within {iterations} iterations in {named_rows(open_rows)}: the "
                f"last still changed a probability by {change.max():.2g} (tolerance "
                f"{tolerance:.2g}). {hint}"
            )

    def _blocks(self) -> Iterator[tuple[int, int, int]]:
        for block, start in enumerate(range(0, self.n_rows, BLOCK)):
            yield block, start, min(start + BLOCK, self.n_rows)

    def _by_name(self, flat: Matrix) -> dict[str, Matrix]:
        edges = zip(self.columns, self.columns[1:], strict=False)
        return {
            name: flat[self.row_of, a:b] for name, (a, b) in zip(self.variables, edges, strict=True)
        }


def check_setting(name: str, value: float, least: float, below: float = np.inf) -> None:
    """An error unless least <= value < below."""
    if not least <= value < below:
        limit = "" if below == np.inf else f" and less than {below:g}"
        raise DataError(f"{name} must be at least {least:g}{limit}, got {value!r}")


def named_rows(rows: npt.NDArray[np.intp]) -> str:
    """How many rows, and which, for a message."""
    shown = ", ".join(str(r + 1) for r in rows[:8]) + (", ..." if rows.size > 8 else "")
    return f"row {shown}" if rows.size == 1 else f"{rows.size:,} rows ({shown})"


def warn(message: str) -> None:
    """Warn the caller of the method."""
    warnings.warn(message, UnveilWarning, stacklevel=4)


def _evidence_early(network: Network, seen: Sequence[str]) -> list[str]:
    """The names, parents before children, observed ones as early as they can be.

    So a draw that contradicts the evidence is found out soon.
    """
    place = {name: i for i, name in enumerate(network.dag.topological_order)}
    names: dict[str, None] = {}
    for name in sorted(seen, key=place.__getitem__):
        names.update(dict.fromkeys(sorted(network.dag.ancestors(name), key=place.__getitem__)))
        names[name] = None
    return list(names | dict.fromkeys(place))


def _distinct(evidence: Evidence) -> tuple[Evidence, Places]:
    """The different rows in the order they first occur, and for every row which of them it is."""
    _, first, inverse = np.unique(evidence.codes, axis=1, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rows = first[order]
    kept = replace(
        evidence,
        codes=np.ascontiguousarray(evidence.codes[:, rows]),
        soft=np.ascontiguousarray(evidence.soft[:, rows]),
    )
    return kept, np.argsort(order)[inverse.ravel()]


def _factor_graph(network: Network, names: Sequence[str]) -> FactorGraph:
    place = {name: i for i, name in enumerate(names)}
    cpds = [_table(network, name) for name in names]
    families = [[place[v.name] for v in (*cpd.parents, cpd.variable)] for cpd in cpds]
    n_states = np.array([cpd.variable.n_states for cpd in cpds], np.int64)
    member = np.concatenate([np.array(family, np.int64) for family in families])
    factor = np.repeat(np.arange(len(names)), [len(family) for family in families])
    return FactorGraph(
        n_states=n_states,
        state_first=_starts(n_states),
        table=np.concatenate([cpd.values.ravel() for cpd in cpds]),
        first=_starts([cpd.values.size for cpd in cpds]),
        edge_first=_starts([len(family) for family in families]),
        member=member,
        stride=np.concatenate([np.array(cpd.values.strides, np.int64) // 8 for cpd in cpds]),
        factor=factor,
        touch=np.argsort(member, kind="stable"),
        touch_first=_starts(np.bincount(member, minlength=len(names))),
        message_first=_starts(n_states[member]),
    )


def _table(network: Network, name: str) -> TableCPD:
    return table_of(network.cpd(name), "approximate inference")


def _starts(sizes: npt.ArrayLike) -> Places:
    """Where blocks of these sizes begin when laid end to end; last, where they all end."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
