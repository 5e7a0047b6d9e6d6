"""Searches over families that somebody else scores: Gaussian ones, from a shortlist of parents."""

import numpy as np
import pytest

from unveil import DAG, Table, Variable
from unveil.graph import equivalent
from unveil.search import SEARCHES
from unveil.statistics import MemoryStatistics


class GaussianFamilies:
    """BIC of linear Gaussians from the moments of a table; parents only among the `shortlist`."""

    score_name, equivalent, structure_prior = "gaussian bic", True, None

    def __init__(self, table, most=4):
        self.names, self.n_variables, self.n_scored = table.names, table.n_columns, 0
        moments = MemoryStatistics(table).moments(range(table.n_columns)).at(())
        self.weight, self.covariance = moments.weight, moments.scatter / moments.weight
        closeness = np.abs(np.corrcoef(self.covariance)) - 2 * np.eye(self.n_variables)
        near = [{*row[-most:].tolist()} for row in closeness.argsort(axis=1)]
        self.shortlist = [{x for x in n if y in near[x]} for y, n in enumerate(near)]

    def _family(self, child, parents):
        if not {*parents} <= self.shortlist[child]:
            return -np.inf
        self.n_scored += 1
        u, s = list(parents), self.covariance
        variance = s[child, child] - s[child, u] @ np.linalg.solve(s[np.ix_(u, u)], s[u, child])
        size = np.log(2 * np.pi * np.e * variance)
        return -0.5 * (self.weight * size + np.log(self.weight) * (len(u) + 2))

    def many(self, families):
        return np.array([self._family(*family) for family in families])

    def toggles(self, child, parents):
        changed = [{*parents} ^ ({x} - {child}) for x in range(self.n_variables)]
        scores = self.many([(child, tuple(sorted(ps))) for ps in changed])
        return np.where(np.arange(self.n_variables) == child, -np.inf, scores - scores[child])

    def all_toggles(self, families):
        return (self.toggles(*family) for family in families)

    def total(self, dag):
        place = self.names.index
        return self.many([(place(n), [place(p) for p in dag.parents(n)]) for n in dag.nodes]).sum()


TRUTH = DAG(list("abcdef"), [("a", "c"), ("b", "c"), ("c", "d"), ("e", "d")])


def rows(n=2000):
    """A collider at c, another at d, and f on its own."""
    random = np.random.default_rng(3)
    a, b, e, f = random.normal(size=(4, n))
    c = a - b + 0.5 * random.normal(size=n)
    d = c + 2 * e + 0.5 * random.normal(size=n)
    return Table([Variable(x) for x in "abcdef"], [a, b, c, d, e, f])


@pytest.mark.parametrize("search", sorted(SEARCHES))
def test_every_search_takes_whoever_scores_families(search):
    scores = GaussianFamilies(rows())
    options = {"seed": 1, "proposals": 80} if search == "annealing" else {}
    found = SEARCHES[search](scores, **options)
    assert found.score == pytest.approx(scores.total(found.dag))
    assert found.score_name == "gaussian bic"
    assert 0 < found.n_scored <= scores.n_scored
    for child in found.dag.nodes:
        parents = {scores.names.index(p) for p in found.dag.parents(child)}
        assert parents <= scores.shortlist[scores.names.index(child)]
    if search == "chow-liu":
        assert {frozenset(arc) for arc in found.dag.arcs} <= {frozenset(a) for a in TRUTH.arcs}
    else:
        assert equivalent(found.dag, TRUTH)
