"""Several hidden variables at once: agglomerate each in turn until none changes (thesis 5.3)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from unveil.em.scores import hidden_scores
from unveil.em.short import short_em
from unveil.graph.dag import DAG
from unveil.hidden.agglomeration import agglomerate_states
from unveil.hidden.cardinality import choose_cardinality
from unveil.model.fit import fit
from unveil.model.prior import EquivalentSampleSize
from unveil.table.core import Table
from unveil.table.variable import Variable

__all__ = ["agglomerate_several"]


def agglomerate_several(
    table: Table,
    dag: DAG,
    names: Sequence[str],
    equivalent_sample_size: float = 5.0,
    max_rounds: int = 20,
    cap: int = 400,
    refine: bool = True,
) -> Table:
    """The table with a column for every hidden variable, its states found by agglomeration.

    All start with a single state, so that each is first shaped by what is observed around it;
    then each in turn is agglomerated given the present states of the others, until no
    assignment changes or `max_rounds` rounds have passed. With `refine`, the number of states is
    chosen by a short EM (`choose_cardinality`); without, by the score of the completed data, as in
    the thesis, which over-splits a variable whose few children have few joint assignments.

    Refined choices may go round in circles. So the Cheeseman-Stutz score of the whole network is
    taken after every round; the best round counts, and three that bring nothing better are the
    last.
    """
    completed = table
    for name in names:
        completed = completed.with_column(
            Variable(name, [0], hidden=True), np.zeros(table.n_rows, np.int64)
        )
    best, best_score, idle = completed, -np.inf, 0
    for _ in range(max_rounds):
        changed = False
        for name in names:
            codes = _codes(completed, dag, name, equivalent_sample_size, cap, refine)
            changed |= not _same_partition(codes, completed.column(name))
            variable = Variable(name, range(int(codes.max()) + 1), hidden=True)
            completed = completed.with_column(variable, codes)
        if refine:
            score = _score(completed, dag, names)
            idle = 0 if score > best_score else idle + 1
            best, best_score = (completed, score) if idle == 0 else (best, best_score)
        if not changed or idle == 3:
            break
    return best if refine else completed


def _score(completed: Table, dag: DAG, names: Sequence[str], iterations: int = 30) -> float:
    """Cheeseman-Stutz of the whole network after a short EM from these states."""
    prior = EquivalentSampleSize(1.0)
    rows = completed.without(names)
    network = short_em(fit(dag, completed, prior), rows, prior, iterations)
    return hidden_scores(network, rows, prior).cheeseman_stutz


def _codes(
    completed: Table, dag: DAG, name: str, size: float, cap: int, refine: bool
) -> npt.NDArray[np.int64]:
    """The state of every row, given the present states of the other hidden variables."""
    if refine:
        rows = completed.without(name)
        return choose_cardinality(rows, dag, name, size, cap=cap).codes
    tree = agglomerate_states(completed, dag, name, size, cap)
    return tree.states(tree.best)


def _same_partition(a: npt.ArrayLike, b: npt.ArrayLike) -> bool:
    """Whether two codings group the rows alike, whatever the numbers."""
    pairs = np.unique(np.stack([np.asarray(a, np.int64), np.asarray(b, np.int64)]), axis=1)
    return len(np.unique(pairs[0])) == len(np.unique(pairs[1])) == pairs.shape[1]
