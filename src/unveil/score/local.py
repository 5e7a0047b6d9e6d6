"""Families scored with the best local structure inside their tables (thesis 2.1.3, 2.3).

A score of counts scores groups of configurations as it scores rows of a table: BDe with the
pseudo-counts of a group's configurations together, penalised likelihoods with the penalty of one
row for every group (Friedman and Goldszmidt 1996). A tree with a leaf for every configuration has
the score of the table; one leaf for all, that of the family without parents. A noisy-or has no
groups: penalised likelihoods take its maximum and its parameters, BDe takes Laplace's approximation
of its marginal likelihood.

So many structures compete that some fit by luck. Hence to write one down costs as many nats as it
takes to choose it among its like: log(n - 1) for every parent among n variables, log(number of
splits) for every split of a tree, log(q choose k) for k rows of q in a default table. A table needs
no such choice.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from unveil.errors import DataError, ModelError, did_you_mean
from unveil.kernels.local_structure import GroupTerm, group_worth
from unveil.kernels.scoring import DIRICHLET, FACTORISED_NML
from unveil.model.compact import CompactCPD, GroupedCPD, group_counts
from unveil.model.cpd import CPD
from unveil.model.default_cpd import DefaultTableCPD
from unveil.model.local import NO_PSEUDO, chosen_rows, group_term, grown_tree, tree_score
from unveil.model.noisy_or_cpd import NoisyOrCPD, prior_weight
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

LOCAL = ("table", "tree", "default", "noisy-or", "auto")
"""What `learn` can put inside of families: plain tables, trees of contexts, default tables,
noisy-or, or the best of all."""

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
    best = LocalFamily(
        TableCPD.estimate(variable, parents, counts, alpha), table_score, table_score
    )
    if not parents:
        return best
    family = _Counted(variable, parents, counts, score, sample, structure)
    for kind in kinds:
        worth = family.worth(kind)
        if worth > best.score + 1e-9 * (1.0 + abs(best.score)):
            cpd = family.structure_of(kind).refitted(counts, alpha)
            best = LocalFamily(cpd, worth, table_score)
    return best


def local_score(
    cpd: CPD, counts: Numbers, score: Score, sample: Sample, structure: float = 1.0
) -> float:
    """The score of a family with the local structure that its distribution has, given its counts.

    Of a table, this is `score.family`.
    """
    if not isinstance(cpd, CompactCPD):
        return score.family(cpd.variable, cpd.parents, counts, sample)
    family = _Counted(cpd.variable, cpd.parents, counts, score, sample, structure)
    return family.score_of(cpd)


def local_penalty(cpd: CompactCPD, score: Score, sample: Sample, structure: float = 1.0) -> float:
    """What a penalised likelihood subtracts for a family with this local structure.

    The penalty of a table's row, shared out among its free parameters, is that of each parameter.
    """
    n_states, n_parents = cpd.variable.n_states, len(cpd.parents)
    cost, fixed = _costs(score, n_states, n_parents, sample)
    each = cost / max(n_states - 1, 1)
    length = cpd.length + naming(n_parents, sample)
    return fixed + each * cpd.n_parameters + structure * length


def naming(n_parents: int, sample: Sample) -> float:
    """What it takes to name so many parents among all other variables, in nats."""
    return n_parents * math.log(max(sample.n_variables - 1, 1))


class _Counted:
    """A family with its counts: what local structures are worth there."""

    def __init__(
        self,
        variable: Variable,
        parents: Sequence[Variable],
        counts: Numbers,
        score: Score,
        sample: Sample,
        structure: float,
    ) -> None:
        self.variable, self.parents, self.counts = variable, parents, counts
        self.score, self.sample, self.structure = score, sample, structure
        self.term, self.pseudo, fixed = _group_term(score, variable, parents, sample, structure)
        self.fixed = fixed + structure * naming(len(parents), sample)

    def worth(self, kind: str) -> float:
        """The score with the best structure of a kind; minus infinity if it is not for this one."""
        return self._WORTH[kind](self)

    def structure_of(self, kind: str) -> CompactCPD:
        """The best structure of a kind that was found; its parameters mean nothing yet."""
        return self._FOUND[kind](self)

    def score_of(self, cpd: CompactCPD) -> float:
        """The score with the local structure of a distribution."""
        if isinstance(cpd, NoisyOrCPD):
            return self._noisy_or_score(cpd)
        assert isinstance(cpd, GroupedCPD)
        rows = np.ascontiguousarray(group_counts(self.counts, cpd.groups, cpd.n_groups))
        sizes = np.bincount(cpd.groups, minlength=cpd.n_groups).astype(np.float64)
        own = np.zeros((cpd.n_groups, 0))
        if self.pseudo.size:
            own = np.ascontiguousarray(group_counts(self.pseudo, cpd.groups, cpd.n_groups))
        worth = math.fsum(
            group_worth(row, alpha, size, self.term)
            for row, alpha, size in zip(rows, own, sizes, strict=True)
        )
        return worth - self.fixed - self.structure * cpd.length

    def _tree_worth(self) -> float:
        if self.pseudo.size:
            return grown_tree(*self._all)[2] - self.fixed
        cards = np.array([p.n_states for p in self.parents], np.int64)
        rows = self.counts.reshape(-1, self.variable.n_states)
        return tree_score(rows, cards, self.term) - self.fixed

    def _default_worth(self) -> float:
        return chosen_rows(*self._all)[1] - self.fixed

    def _noisy_or_worth(self) -> float:
        one_cause = len(self.parents) < 2  # then it is a table
        if self.variable.n_states != 2 or one_cause or self.term.mode == FACTORISED_NML:
            return -math.inf
        return self._noisy_or_score(self._noisy_or())

    def _tree(self) -> CompactCPD:
        tree, n_leaves, _ = grown_tree(*self._all)
        rows = np.full((n_leaves, self.variable.n_states), 1.0 / self.variable.n_states)
        return TreeCPD(self.variable, self.parents, tree, rows)

    def _default(self) -> CompactCPD:
        return DefaultTableCPD.uniform(self.variable, self.parents, chosen_rows(*self._all)[0])

    def _noisy_or(self) -> NoisyOrCPD:
        return NoisyOrCPD.found(self.variable, self.parents, self.counts, self._link_prior)[0]

    @property
    def _link_prior(self) -> DirichletPrior | None:
        return self.score.prior if self.term.mode == DIRICHLET else None

    def _noisy_or_score(self, cpd: NoisyOrCPD) -> float:
        fit = cpd.fit_to(self.counts, self._link_prior)
        length = self.fixed + self.structure * cpd.length
        if self._link_prior is not None:
            return fit.log_evidence(prior_weight(self._link_prior)) - length
        return fit.objective - self.term.cost * cpd.n_parameters - length

    @property
    def _all(self) -> tuple[Variable, Sequence[Variable], Numbers, GroupTerm, Numbers]:
        return self.variable, self.parents, self.counts, self.term, self.pseudo

    _WORTH: ClassVar = {"tree": _tree_worth, "default": _default_worth, "noisy-or": _noisy_or_worth}
    _FOUND: ClassVar = {"tree": _tree, "default": _default, "noisy-or": _noisy_or}


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

    equivalent = False

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
        family = _Counted(variable, parents, counts, self.score, self.sample, self.structure)
        return max((family.worth(kind) for kind in self.kinds), default=-math.inf)
