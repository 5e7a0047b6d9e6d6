"""What an arc is worth, in numbers and words, and how sure we are of it."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from unveil import DAG, Table, Variable, datasets
from unveil.errors import DataError
from unveil.evaluate import arc_worth, bootstrap_arcs
from unveil.evaluate.arcs import bits_in_words, is_readable, odds_in_words
from unveil.evaluate.bootstrap import ArcConfidence
from unveil.score import SCORES, BDeu, FamilyScores

TABLE = datasets.table("college_plans")
DAG_CP = DAG(
    ["SEX", "SES", "IQ", "PE", "CP"],
    [("SES", "IQ"), ("SES", "PE"), ("SEX", "PE"), ("IQ", "CP"), ("PE", "CP"), ("SES", "CP")],
)


# Worth -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SCORES)
def test_the_loss_is_the_difference_of_two_scores(name):
    scores = FamilyScores(TABLE, SCORES[name]())
    worth = arc_worth(scores, DAG_CP)
    assert {(a.parent, a.child) for a in worth} == set(DAG_CP.arcs)
    assert [a.loss for a in worth] == sorted((a.loss for a in worth), reverse=True)
    for arc in worth:
        rest = [pair for pair in DAG_CP.arcs if pair != (arc.parent, arc.child)]
        expected = scores.total(DAG_CP) - scores.total(DAG(DAG_CP.nodes, rest))
        assert arc.loss == pytest.approx(expected, rel=1e-9, abs=1e-7)
        assert arc.confidence is None


def test_words_for_and_against():
    """An arc between independent columns makes the model less probable, and is told so."""
    generator = np.random.default_rng(0)
    x = generator.integers(2, size=200)
    y = np.where(generator.random(200) < 0.9, x, 1 - x)
    z = generator.integers(2, size=200)
    table = Table([Variable(n, [0, 1]) for n in "xyz"], [x, y, z])
    scores = FamilyScores(table, BDeu(1.0))
    good, bad = arc_worth(scores, DAG(["x", "y", "z"], [("x", "y"), ("x", "z")]))
    assert (good.parent, good.child) == ("x", "y")
    assert good.loss > 0 > bad.loss
    assert good.words == f"removing it costs {good.loss / math.log(2):.1f} bits"
    odds, bits = odds_in_words(bad.loss), -bad.loss / math.log(2)
    assert bad.words == f"removing it makes the model {odds} times more probable ({bits:.1f} bits)"
    aic = arc_worth(FamilyScores(table, SCORES["aic"]()), DAG(["x", "y", "z"], [("x", "y")]))[0]
    assert aic.words == f"removing it changes the aic score by {-aic.loss:+.2f} nats"
    assert arc_worth(scores, DAG(["x", "y", "z"])) == ()


@pytest.mark.parametrize(
    ("odds", "words"),
    [
        (1, "1"),
        (1.26, "1.3"),
        (3, "3"),
        (12.3, "12"),
        (99, "99"),
        (123, "120"),
        (996, "1,000"),
        (3_212, "3,200"),
        (3_250_000 / 10, "320,000"),
        (2.46e6, "2.5e+6"),
        (9.98e11, "1.0e+12"),
    ],
)
def test_odds_as_a_person_would_say_them(odds, words):
    assert odds_in_words(math.log(odds)) == words
    assert odds_in_words(-math.log(odds)) == words


@given(st.floats(0.01, 1e5))
@settings(max_examples=300, deadline=None)
@example(11.99 * math.log(10))
@example(1303.2616290726817)
def test_odds_in_words_are_right_to_two_digits(nats):
    words = odds_in_words(nats).replace(",", "")
    digits, _, exponent = words.partition("e+")
    got = math.log10(float(digits)) + float(exponent or 0)
    assert got == pytest.approx(nats / math.log(10), abs=math.log10(1.06))
    assert float(digits) < 10 or not exponent


def test_strength_is_in_bits_and_a_factor_only_while_it_can_be_read():
    scores = FamilyScores(TABLE, BDeu(5))
    for arc in arc_worth(scores, DAG_CP):
        assert "e+" not in arc.words
        assert "bits" in arc.words
        assert ("times" in arc.words) == (abs(arc.loss) < math.log(1e6))
    assert bits_in_words(1239.1) == "1,788 bits"
    assert is_readable(-13.8)
    assert not is_readable(13.9)


# Bootstrap -------------------------------------------------------------------------------------

XYZ = [Variable(n, [0, 1]) for n in "xyz"]
ROWS = Table(XYZ, np.random.default_rng(0).integers(2, size=(3, 50)))


def in_turn(*dags):
    """A learner that gives these graphs, one after the other."""
    left = list(dags)
    return lambda table: left.pop(0)


def test_shares_of_what_was_found():
    collider = DAG(["x", "y", "z"], [("x", "z"), ("y", "z")])
    chain = DAG(["x", "y", "z"], [("x", "y"), ("y", "z")])
    nothing = DAG(["x", "y", "z"])
    sure = bootstrap_arcs(ROWS, in_turn(collider, chain, nothing, collider), 4, seed=0)
    assert (sure.names, sure.n_samples) == (("x", "y", "z"), 4)
    assert sure.adjacent.tolist() == [[0, 0.25, 0.5], [0.25, 0, 0.75], [0.5, 0.75, 0]]
    # Compelled in the class: only the collider's arcs; the chain's may be turned round.
    assert sure.directed.tolist() == [[0, 0, 0.5], [0, 0, 0.5], [0, 0, 0]]
    # In a collider the parents are in each other's blanket.
    assert sure.blanket.tolist() == [[0, 0.75, 0.5], [0.75, 0, 0.75], [0.5, 0.75, 0]]
    assert sure.of("y", "z") == sure.of("z", "y") == 0.75
    # Of three samples that join y and z, two compel y -> z and one leaves it open.
    assert sure.direction("y", "z") == pytest.approx((2 + 0.5) / 3)
    assert sure.direction("z", "y") == pytest.approx(0.5 / 3)
    assert sure.direction("x", "y") == 0.5


def test_never_joined_leans_nowhere():
    zeros = np.zeros((2, 2))
    assert ArcConfidence(("x", "y"), 3, zeros, zeros, zeros).direction("x", "y") == 0.5


def resampled_tables(table, n, seed):
    seen = []

    def learner(rows):
        seen.append(rows)
        return DAG(table.names)

    bootstrap_arcs(table, learner, n, seed=seed)
    return seen


def test_rows_are_drawn_with_replacement_by_seed():
    table = Table([Variable("row", range(50))], [range(50)])
    first, again, other = (resampled_tables(table, 3, s) for s in (1, 1, 2))
    assert first == again
    assert first != other
    assert first[0] != first[1]
    for rows in first:
        assert rows.n_rows == 50
        assert 20 < len(set(rows.column("row").tolist())) < 45
    # The first streams do not depend on how many follow.
    assert resampled_tables(table, 1, 1)[0] == first[0]


def test_weighted_rows_are_drawn_case_by_case():
    weights = np.array([700.0, 200.0, 100.0, 0.0])
    table = Table([Variable("row", range(4))], [range(4)], weights)
    for rows in resampled_tables(table, 20, 3):
        assert rows.total_weight == 1000
        assert 3 not in rows.column("row")
        shares = dict(zip(rows.column("row").tolist(), rows.row_weights / 1000, strict=True))
        for code, p in enumerate(weights[:3] / 1000):
            assert abs(shares[code] - p) < 4.5 * math.sqrt(p * (1 - p) / 1000)
    drawn = [rows.row_weights[0] for rows in resampled_tables(table, 20, 3)]
    assert len(set(drawn)) > 5


def test_stopped_early_it_reports_what_is_done():
    steps = []

    def listener(step):
        steps.append(step)
        return len(steps) < 3

    chain = DAG(["x", "y", "z"], [("x", "y"), ("y", "z")])
    sure = bootstrap_arcs(ROWS, lambda rows: chain, 100, seed=0, progress=listener)
    assert sure.n_samples == 3
    assert sure.of("x", "y") == 1.0
    assert [s.detail for s in steps] == ["1 of 100", "2 of 100", "3 of 100"]
    assert bootstrap_arcs(ROWS, lambda rows: chain, 100, seed=0, time_limit=0).n_samples == 1


def test_a_bootstrap_needs_a_sample():
    with pytest.raises(DataError, match="at least one sample, got 0"):
        bootstrap_arcs(ROWS, lambda rows: DAG(["x", "y", "z"]), 0)
    for table in (ROWS.take([]), ROWS.with_weights(np.zeros(50))):
        with pytest.raises(DataError, match="no rows of positive weight to resample"):
            bootstrap_arcs(table, lambda rows: DAG(["x", "y", "z"]), 3)
