"""Families scored with the best local structure inside their tables (thesis 2.1.3, 2.3).

A score of counts scores groups of configurations as it scores rows of a table: BDe with the
pseudo-counts of a group's configurations together, penalised likelihoods with the penalty of one
row for every group (Friedman and Goldszmidt 1996). A tree with a leaf for every configuration has
the score of the table; one leaf for all, that of the family without parents. To write a structure
down costs as many nats as it takes to choose it among its like: log(number of splits) for every
split, log(q choose k) for k rows of q. A table needs no such choice.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unveil.errors import DataError, ModelError, did_you_mean
from unveil.kernels.local_structure import GroupTerm, group_worth
from unveil.model.compact import CompactCPD, GroupedCPD, group_counts
from unveil.model.cpd import CPD
from unveil.model.default_cpd import DefaultTableCPD
from unveil.model.local import NO_PSEUDO, chosen_rows, group_term, grown_tree, tree_score
from unveil.model.prior import DirichletPrior
from unveil.model.table_cpd import TableCPD
from unveil.model.tree_cpd import TreeCPD
from unveil.score.base import Sample, Score
from unveil.score.families import Family, FamilyScores, Numbers
from unveil.score.structure import StructurePrior
from unveil.statistics.protocol import Statistics
from unveil.table.core import Table
from unveil.table.variable import Variable

__all__ = ["LOCAL", "LocalFamily", "LocalScores", "best_local", "local_kinds", "local_score"]

LOCAL = ("table", "tree", "default", "auto")
"""What `learn` can put inside of families: plain tables, trees, default tables, or the best."""

LARGEST_LOCAL = 1 << 16
"""No search by steps adds a parent that would give a family with local structure more cells."""


def local_kinds(local: str) -> tuple[str, ...]:
    """The kinds of local structure behind a word of `LOCAL`; plain tables always compete."""
    if local not in LOCAL:
        raise DataError(
            f"there is no local structure {local!r}; choose one of {', '.join(LOCAL)}."
            + did_you_mean(local, LOCAL)
        )
    return LOCAL[1:-1] if local == "auto" else tuple(k for k in (local,) if k != "table")


@dataclass(frozen=True, eq=False)
class LocalFamily:
    """A family with its best local structure: the distribution, its score and the table's score."""

    cpd: CPD
    score: float
    table_score: float


def best_local(
    variable: Variable,
    parents: Sequence[Variable],
    counts: Numbers,
    score: Score,
    sample: Sample,
    kinds: Sequence[str] = LOCAL[1:-1],
    prior: DirichletPrior | None = None,
    structure: float = 1.0,
) -> LocalFamily:
    """The family with the best of a plain table and the local structures of these `kinds`.

    `counts` are those of the family, parents first. Parameters are posterior means under `prior`,
    by default the one that the score implies; `structure` is how much of the length of a local
    structure counts. A compact structure must score more than the table; it never scores less than
    one group for all, since trees and default tables begin there.
    """
    alpha = score.prior if prior is None else prior
    table_score = score.family(variable, parents, counts, sample)
    best = LocalFamily(TableCPD.estimate(variable, parents, counts, alpha), table_score, table_score)
    if not parents or not kinds:
        return best
    term, pseudo, fixed = _group_term(score, variable, parents, sample, structure)
    for kind in kinds:
        cpd, worth = _FOUND[kind](variable, parents, counts, term, pseudo)
        if worth - fixed > best.score + 1e-9 * (1.0 + abs(best.score)):
            best = LocalFamily(cpd.refitted(counts, alpha), worth - fixed, table_score)
    return best


def local_score(
    cpd: CPD, counts: Numbers, score: Score, sample: Sample, structure: float = 1.0
) -> float:
    """The score of a family with the local structure that its distribution has, given its counts.

    Of a table, this is `score.family`.
    """
    if not isinstance(cpd, CompactCPD):
        return score.family(cpd.variable, cpd.parents, counts, sample)
    if not isinstance(cpd, GroupedCPD):
        raise ModelError(f"no score is known for a distribution of the kind {cpd.kind!r}")
    term, pseudo, fixed = _group_term(score, cpd.variable, cpd.parents, sample, structure)
    rows = group_counts(counts, cpd.groups, cpd.n_groups)
    sizes = np.bincount(cpd.groups, minlength=cpd.n_groups).astype(np.float64)
    nothing = np.zeros(0)
    own = group_counts(pseudo, cpd.groups, cpd.n_groups) if pseudo.size else None
    worth = math.fsum(
        group_worth(row, nothing if own is None else own[i], sizes[i], term)
        for i, row in enumerate(np.ascontiguousarray(rows))
    )
    return worth - fixed - structure * cpd.length


def local_penalty(cpd: CompactCPD, score: Score, sample: Sample, structure: float = 1.0) -> float:
    """What a penalised likelihood subtracts for a family with this local structure.

    The penalty of a table's row, shared out among its free parameters, is that of each parameter.
    """
    n_states, n_parents = cpd.variable.n_states, len(cpd.parents)
    cost, fixed = _costs(score, n_states, n_parents, sample)
    each = cost / max(n_states - 1, 1)
    return fixed + each * cpd.n_parameters + structure * cpd.length


def _tree(
    variable: Variable,
    parents: Sequence[Variable],
    counts: Numbers,
    term: GroupTerm,
    pseudo: Numbers,
) -> tuple[CompactCPD, float]:
    tree, n_leaves, worth = grown_tree(variable, parents, counts, term, pseudo)
    rows = np.full((n_leaves, variable.n_states), 1.0 / variable.n_states)
    return TreeCPD(variable, parents, tree, rows), worth


def _default(
    variable: Variable,
    parents: Sequence[Variable],
    counts: Numbers,
    term: GroupTerm,
    pseudo: Numbers,
) -> tuple[CompactCPD, float]:
    given, worth = chosen_rows(variable, parents, counts, term, pseudo)
    return DefaultTableCPD.uniform(variable, parents, given), worth


_FOUND = {"tree": _tree, "default": _default}


def _group_term(
    score: Score,
    variable: Variable,
    parents: Sequence[Variable],
    sample: Sample,
    structure: float,
) -> tuple[GroupTerm, Numbers, float]:
    """The worth of groups under a score, pseudo-counts that differ, and what a family costs."""
    if score.term is None:
        return *group_term(score.prior, variable, parents, structure), 0.0
    term = score.term
    cells = math.prod(v.n_states for v in (*parents, variable))
    alpha = term.alpha / cells if term.spread else term.alpha
    cost, fixed = _costs(score, variable.n_states, len(parents), sample)
    import os
    fixed += float(os.environ.get("PCOST", 0)) * len(parents) * math.log(max(sample.n_variables - 1, 1))
    return GroupTerm(term.mode, float(alpha), term.spread, cost, structure), NO_PSEUDO, fixed


def _costs(score: Score, n_states: int, n_parents: int, sample: Sample) -> tuple[float, float]:
    """The penalty of one more group, and what is left for none; an error if groups differ."""
    penalties = [
        float(score.penalty(float(q), float(n_states), float(n_parents), sample)) for q in (1, 2, 5)
    ]
    cost = penalties[1] - penalties[0]
    if abs(penalties[2] - penalties[0] - 4 * cost) > 1e-6 * (1 + abs(penalties[2])):
        raise ModelError(
            f"the score {score.name!r} does not add up over groups of configurations, so it cannot "
            "judge local structure. Take bdeu, bic, mdl, aic, k2 or fnml."
        )
    return cost, penalties[0] - cost


class LocalScores(FamilyScores):
    """Scores of families, each with the best of a plain table and some local structures.

    What a search sees of it is what `FamilyScores` offers, so every search takes it. Equivalent
    graphs may have different scores: a structure that is small in one direction need not be in the
    other. `local` is a word of `LOCAL`, `structure` how much of the length of a local structure
    counts; `plain` are the scores with tables only.

    >>> from unveil import datasets
    >>> from unveil.score import BDeu
    >>> rows = datasets.network("asia").sample(1000, seed=1)
    >>> scores = LocalScores(rows, BDeu(1), local="tree")
    >>> asia = datasets.network("asia").dag
    >>> scores.total(asia) >= scores.plain.total(asia)
    True
    """

    equivalent = False  # type: ignore[assignment]

    def __init__(
        self,
        data: Table | Statistics,
        score: Score,
        structure_prior: StructurePrior | None = None,
        n_jobs: int | None = None,
        local: str = "auto",
        structure: float = 1.0,
    ) -> None:
        super().__init__(data, score, structure_prior, n_jobs)
        self.local, self.kinds, self.structure = local, local_kinds(local), structure
        self.plain = FamilyScores(self.statistics, score, None, n_jobs)
        self._terms = None
        for n_states in sorted(set(self._sizes)):
            _costs(score, n_states, 1, self.sample)

    @property
    def score_name(self) -> str:
        """What the score is called."""
        return self.score.name

    def all_toggles(self, families: Sequence[Family]) -> Iterator[Numbers]:
        """The toggles of each family, in order."""
        return (self.toggles(*family) for family in families)

    def family_of(
        self, child: int, parents: Sequence[int], prior: DirichletPrior | None = None
    ) -> LocalFamily:
        """A family with its best local structure and the parameters there."""
        variables = self.statistics.variables
        counts = self._counts.counts([(*parents, child)])[0]
        return best_local(
            variables[child], [variables[p] for p in parents], counts, self.score, self.sample,
            self.kinds, prior, self.structure,
        )  # fmt: skip

    def _look_ahead(self, child: int, parents: tuple[int, ...], row: Numbers) -> None:
        """Nothing: what comes next is computed when it is asked for."""

    def _toggled(self, child: int, parents: tuple[int, ...]) -> dict[int, Family]:
        cells = math.prod([self._sizes[v] for v in (child, *parents)])
        fits = cells * self._cards <= LARGEST_LOCAL if parents else self._cards > 0
        fits[[child, *parents]] = True
        return {
            v: (child, tuple(sorted({*parents} ^ ({v} - {child}))))
            for v in fits.nonzero()[0].tolist()
        }

    def _by_the_book(self, families: list[Family]) -> Numbers:
        """The best of the table and the local structures of every family."""
        out = self.plain.many(families)
        variables = self.statistics.variables
        for i, (child, parents) in enumerate(families):
            own = [variables[p] for p in parents]
            # One parent of two states leaves no choice between one group for all and the table.
            if math.prod(p.n_states for p in own) <= 2 and out[i] >= self._alone(child):
                continue
            counts = self._counts.counts([(*parents, child)])[0]
            out[i] = max(out[i], self._local(variables[child], own, counts))
        return out

    def _alone(self, child: int) -> float:
        return float(self.plain.many([(child, ())])[0])

    def _local(self, variable: Variable, parents: Sequence[Variable], counts: Numbers) -> float:
        """The best score of a local structure."""
        term, pseudo, fixed = _group_term(
            self.score, variable, parents, self.sample, self.structure
        )
        if pseudo.size:
            found = (_FOUND[kind](variable, parents, counts, term, pseudo) for kind in self.kinds)
            return max(worth for _, worth in found) - fixed
        cards = np.array([p.n_states for p in parents], np.int64)
        rows = counts.reshape(-1, variable.n_states)
        best = -np.inf
        for kind in self.kinds:
            if kind == "tree":
                worth = tree_score(rows, cards, term)
            else:
                worth = _FOUND[kind](variable, parents, counts, term, pseudo)[1]
            best = max(best, worth)
        return best - fixed
