"""The scores of all families that the rules permit, for exact search.

From anybody who can score, family by family. Where a score has a compiled data term and the rows
are in memory, as differences of terms of sets: with U the parents and W the family, the data term
is A(W) - B(U), and each A and B serves many families.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from unveil.kernels.scoring import DIRICHLET, FACTORISED_NML, LIKELIHOOD, DataTerm, Rows
from unveil.kernels.subsets import family_terms, fold_rows, set_terms, squeeze, widen
from unveil.score.families import FamilyScores
from unveil.score.protocol import Families, Family
from unveil.search.constraints import Rules
from unveil.statistics.memory import MemoryStatistics

__all__ = ["Work", "members_of", "score_all_families"]

FREE_VARIABLES = 12
"""One task goes through the subsets of so many variables: short, so that stopping is quick."""
BATCH = 1000

Numbers = npt.NDArray[np.float64]


class Work(NamedTuple):
    """Threads, and how to wait for tasks and tell about steps; both are `False` to stop."""

    pool: ThreadPoolExecutor
    finish: Callable[[list[Future[None]], str], bool]
    tick: Callable[[str], bool]


def score_all_families(scores: Families, rules: Rules, work: Work, families: Numbers) -> bool:
    """Fill `families[child, set of parents]`, `-inf` where not permitted; `False` if stopped.

    Sets are numbers, without the child's own place (`unveil.kernels.subsets.squeeze`).
    """
    if isinstance(scores, FamilyScores) and isinstance(scores.statistics, MemoryStatistics):
        term = scores.score.term
        if term is not None:
            return _BySets(scores, rules, work, term, scores.statistics.rows).score(families)
    return _by_the_book(scores, rules, work, families)


def members_of(subset: int) -> list[int]:
    """The members of a set that is a number."""
    return [v for v in range(int(subset).bit_length()) if subset >> v & 1]


class _BySets:
    """Scores as differences of terms of sets."""

    def __init__(
        self, scores: FamilyScores, rules: Rules, work: Work, term: DataTerm, rows: Rows
    ) -> None:
        self.scores, self.rules, self.work = scores, rules, work
        self.term, self.rows = term, rows
        self.n = scores.n_variables

    def score(self, families: Numbers) -> bool:
        """Fill in all scores; `False` if that had to stop."""
        term, pool = self.term, self.work.pool
        codes, weights, cards, *_ = self.rows
        first, weights = fold_rows(
            codes, weights if weights.size else np.ones(codes.shape[1]), cards
        )
        codes = np.ascontiguousarray(codes[:, first])
        most = min(self.n - 1, int(self.rules.max_parents.max()))

        def terms(most: int, term: DataTerm, r: float) -> Numbers | None:
            out = np.zeros(1 << self.n)
            head = max(0, self.n - FREE_VARIABLES)
            tasks = [
                pool.submit(set_terms, codes, weights, cards, prefix, head, most, term, r, out)
                for prefix in range(1 << head)
                if prefix.bit_count() <= most
            ]
            return out if self.work.finish(tasks, "scores of families") else None

        joint = terms(most + 1, _joint_term(term), 0.0)
        if joint is None:
            return False
        same = term.mode == LIKELIHOOD or term.spread  # then B is A
        for r in sorted(set(cards.tolist())):
            rows = joint if same else terms(most, _row_term(term, r), float(r))
            if rows is None:
                return False
            tasks = [
                pool.submit(self._fill, child, joint, rows, families[child])
                for child in range(self.n)
                if cards[child] == r
            ]
            if not self.work.finish(tasks, "scores of families"):
                return False
            del rows  # before the next ones are made, or there would be two
        self.scores.n_scored += sum(int(np.isfinite(row).sum()) for row in families)
        return self._add_prior(families)

    def _fill(self, child: int, joint: Numbers, rows: Numbers, out: Numbers) -> None:
        kinds, strides, penalty = self._penalties(child)
        allowed, required = (_as_set(m[child]) for m in (self.rules.allowed, self.rules.required))
        most = int(self.rules.max_parents[child])
        family_terms(child, joint, rows, kinds, strides, penalty, allowed, required, most, out)

    def _penalties(self, child: int) -> tuple[Any, Any, Numbers]:
        """The penalty for every number of parents of each kind; kinds are numbers of states."""
        cards = self.rows.cards.astype(np.float64)
        states = np.unique(cards)
        kinds = np.array([_as_set(cards == s) for s in states], np.int64)
        shape = [int((cards == s).sum()) + 1 for s in states]
        strides = np.array([int(np.prod(shape[k + 1 :])) for k in range(len(shape))], np.int64)
        numbers = np.indices(shape).reshape(len(shape), -1).astype(np.float64)
        q = np.prod(states[:, None] ** numbers, axis=0)
        penalty = self.scores.score.penalty(
            q, np.full_like(q, cards[child]), numbers.sum(axis=0), self.scores.sample
        )
        return kinds, strides, np.broadcast_to(np.asarray(penalty, np.float64), q.shape).copy()

    def _add_prior(self, families: Numbers) -> bool:
        prior, names = self.scores.structure_prior, self.scores.names
        if prior is None:
            return True
        for child in range(self.n):
            row = families[child]
            for squeezed in np.flatnonzero(row > -np.inf).tolist():
                parents = [names[p] for p in members_of(widen(squeezed, child))]
                row[squeezed] += prior.family(names[child], parents)
            if not self.work.tick("structure prior"):
                return False
        return True


def _by_the_book(scores: Families, rules: Rules, work: Work, families: Numbers) -> bool:
    """Scores of one family after the other, from anybody who can score."""
    families[:] = -np.inf
    for child in range(scores.n_variables):
        permitted = _permitted(rules, child)
        while batch := list(itertools.islice(permitted, BATCH)):
            at = [squeeze(sum(1 << p for p in parents), child) for _, parents in batch]
            families[child, at] = scores.many(batch)
            if not work.tick("scores of families"):
                return False
    return True


def _permitted(rules: Rules, child: int) -> Iterator[Family]:
    must = np.flatnonzero(rules.required[child]).tolist()
    may = np.flatnonzero(rules.allowed[child] & ~rules.required[child]).tolist()
    for size in range(min(len(may), int(rules.max_parents[child]) - len(must)) + 1):
        for more in itertools.combinations(may, size):
            yield child, tuple(sorted((*must, *more)))


def _joint_term(term: DataTerm) -> DataTerm:
    """A(W): the part of the data term that sums over the cells of the family."""
    return DataTerm(LIKELIHOOD, 0.0, False) if term.mode == FACTORISED_NML else term


def _row_term(term: DataTerm, r: int) -> DataTerm:
    """B(U) for a child with r states: the part that sums over the cells of the parents."""
    return DataTerm(DIRICHLET, term.alpha * r, False) if term.mode == DIRICHLET else term


def _as_set(mask: npt.NDArray[Any]) -> int:
    return sum(1 << int(v) for v in np.flatnonzero(mask))
