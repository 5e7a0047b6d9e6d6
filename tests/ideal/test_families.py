"""Shortlists between searches and scores: every search takes them, and loses little."""

import numpy as np
import pytest

from unveil import Constraints, Table, Variable
from unveil.errors import DataError
from unveil.ideal import IdealFamilies
from unveil.model import Curve
from unveil.score import BIC, BDeu, CurveFamilies, FamilyScores, GaussianFamilies
from unveil.search import SEARCHES, hill_climbing


def rows(n=800, curved=False):
    """Two colliders and a column on its own."""
    generator = np.random.default_rng(3)
    a, b, e, f = generator.normal(size=(4, n))
    bend = np.tanh if curved else np.asarray
    c = 2 * bend(a - b) + 0.3 * generator.normal(size=n)
    d = 2 * bend(c + 2 * e) + 0.3 * generator.normal(size=n)
    return Table([Variable(x) for x in "abcdef"], [a, b, c, d, e, f])


SCORERS = {
    "linear": lambda: GaussianFamilies(rows(), BIC()),
    "sigmoid": lambda: CurveFamilies(rows(300, curved=True), BIC(), Curve("sigmoid")),
}


@pytest.mark.parametrize("scorer", SCORERS)
@pytest.mark.parametrize("search", sorted(SEARCHES))
def test_every_search_takes_a_shortlist(scorer, search):
    scores = SCORERS[scorer]()
    options = {"seed": 1, "proposals": 80} if search == "annealing" else {}
    if not scores.equivalent and search in ("equivalence", "chow-liu"):
        pytest.skip("searches over classes need scores that know them")
    found = SEARCHES[search](IdealFamilies(scores, k=3), **options)
    assert found.score == pytest.approx(scores.total(found.dag))
    assert found.dag.n_arcs >= 3


@pytest.mark.parametrize("scorer", SCORERS)
def test_a_shortlist_of_everything_changes_nothing(scorer):
    scores = SCORERS[scorer]()
    full = hill_climbing(scores)
    same = hill_climbing(IdealFamilies(SCORERS[scorer](), k=5))
    assert same.dag == full.dag
    assert same.score == pytest.approx(full.score)


def test_few_are_scored_and_the_rest_is_forbidden():
    scores = CurveFamilies(rows(300, curved=True), BIC(), Curve("sigmoid"))
    few = IdealFamilies(scores, k=1)
    row = few.toggles(2, ())
    assert np.isfinite(row).sum() == 1
    assert int(row.argmax()) in (0, 1)
    assert scores.n_scored == 2
    assert few.n_guessed == 5
    exact = CurveFamilies(rows(300, curved=True), BIC(), Curve("sigmoid")).toggles(2, ())
    assert row.max() == pytest.approx(exact[int(row.argmax())])


def test_arcs_that_were_asked_about_may_be_turned():
    few = IdealFamilies(GaussianFamilies(rows(), BIC()), k=1)
    before = few.toggles(5, ())
    few.toggles(0, (5,))
    assert np.isfinite(few.toggles(5, ())).sum() >= np.isfinite(before).sum()
    assert np.isfinite(few.toggles(5, ())[0])


def test_the_best_over_all_families_at_once():
    scores = GaussianFamilies(rows(), BIC())
    few = IdealFamilies(scores, k=1, over="all")
    table = list(few.all_toggles([(y, ()) for y in range(6)]))
    shown = [(y, x) for y, row in enumerate(table) for x in np.flatnonzero(np.isfinite(row))]
    gains = np.array([scores.toggles(y, ()) for y in range(6)])
    best = np.argsort(-gains, axis=None)[: len(shown)]
    assert {tuple(divmod(int(i), 6)) for i in best} == set(shown)
    assert 6 <= len(shown) <= 8  # pairs tie


def test_constraints_still_hold():
    few = IdealFamilies(GaussianFamilies(rows(), BIC()), k=2)
    found = hill_climbing(few, constraints=Constraints(forbidden=[("a", "c")], max_parents=1))
    assert not found.dag.has_arc("a", "c")
    assert max(len(found.dag.parents(n)) for n in found.dag.nodes) <= 1


def test_sentences():
    with pytest.raises(DataError, match="at least 1 candidate"):
        IdealFamilies(SCORERS["linear"](), k=0)
    with pytest.raises(DataError, match="'family' or 'all'"):
        IdealFamilies(SCORERS["linear"](), over="some")
    table = Table.from_frame({"x": ["a", "b"], "y": ["a", "b"]})
    with pytest.raises(DataError, match="scored by counts"):
        IdealFamilies(FamilyScores(table, BDeu(1)))


def test_removals_that_lose_least_are_scored():
    scores = CurveFamilies(rows(300, curved=True), BIC(), Curve("sigmoid"))
    few = IdealFamilies(scores, k=1)
    row = few.toggles(2, (0, 1, 5))
    assert np.flatnonzero(np.isfinite(row[[0, 1, 5]])).tolist() == [2]
    assert row[5] == pytest.approx(scores.family(2, (0, 1)) - scores.family(2, (0, 1, 5)))
    shaken = hill_climbing(few, restarts=2, random_moves=5, seed=1)
    assert shaken.score == pytest.approx(scores.total(shaken.dag))


@pytest.mark.parametrize("scorer", SCORERS)
def test_additions_and_replacements_share_the_shortlist(scorer):
    scores = SCORERS[scorer]()
    few = IdealFamilies(scores, k=2, replace=True)
    own = (1, 5)  # of c = 2: b is a parent, f is not, a is missing
    adds, swaps = few.toggles(2, own), few.replacements(2, own)
    listed = np.isfinite(np.delete(adds, own)).sum() + np.isfinite(swaps).sum()
    assert 1 <= listed <= 2
    assert np.isfinite(swaps[1, 0])  # a in the place of f
    assert np.isneginf(swaps[0]).all()
    gain = scores.family(2, (0, 1)) - scores.family(2, own)
    assert swaps[1, 0] == pytest.approx(gain)
    assert np.isneginf(IdealFamilies(scores, k=2).replacements(2, own)).all()


@pytest.mark.parametrize("scorer", SCORERS)
def test_a_shortlist_of_everything_replaces_alike(scorer):
    full = hill_climbing(SCORERS[scorer](), replace=True)
    same = hill_climbing(IdealFamilies(SCORERS[scorer](), k=36, replace=True), replace=True)
    assert same.dag == full.dag
    assert same.score == pytest.approx(full.score)


def test_replacements_are_not_ranked_over_all_families():
    with pytest.raises(DataError, match="ranked for each family"):
        IdealFamilies(SCORERS["linear"](), over="all", replace=True)
