"""Latent class models: published maxima, laws, and what is said about odd ones."""

import math
import time

import numpy as np
import pytest

from unveil import Network, Table, TableCPD, Variable, datasets
from unveil.em.mixture import Mixture, latent_classes
from unveil.em.mixture.notes import notes_on
from unveil.em.parametric import EMStart
from unveil.errors import DataError, UnveilWarning

# Cells in the order of the columns' states, the last column fastest.
COUNTS = {
    # Coleman (1964), panel of boys; cells as in Zhang (2004), JMLR 5.
    "coleman": (4, [458, 140, 110, 49, 171, 182, 56, 87, 184, 75, 531, 281, 85, 97, 338, 554]),
    # Stouffer and Toby (1951), role conflict; poLCA manual (Linzer and Lewis 2011): -504.4677.
    "stouffer_toby": (4, [20, 2, 9, 2, 6, 1, 4, 1, 38, 7, 24, 6, 25, 6, 23, 42]),
    # Alvord et al. (1988), four HIV tests; cells as in Zhang (2004).
    "hiv_tests": (4, [170, 15, 0, 0, 6, 0, 0, 0, 4, 17, 0, 83, 1, 4, 0, 128]),
    # Bock and Lieberman (1970), LSAT section 6.
    "lsat6": (5, [3, 6, 2, 11, 1, 1, 3, 4, 1, 8, 0, 16, 0, 3, 2, 15,
                  10, 29, 14, 81, 3, 28, 15, 80, 16, 56, 21, 173, 11, 61, 28, 298]),
}  # fmt: skip

# Maxima for 1, 2 and 3 classes, and BIC (LL - d/2 log N) for 2 and 3: best of many random starts,
# computed by another program; Stouffer-Toby with 2 classes is in print.
MAXIMA = {
    "coleman": (-9204.88, -8618.79, -8525.87, -8655.38, -8582.79),
    "stouffer_toby": (-543.65, -504.47, -503.30, -528.66, -540.93),
    "hiv_tests": (-1152.19, -629.88, -622.27, -657.15, -664.68),
    "lsat6": (-2493.44, -2467.41, -2464.65, -2505.40, -2523.37),
    "college_plans": (-49415.06, -45609.76, -45450.45, -45697.55, -45584.46),
}


def table_of(name: str) -> Table:
    if name not in COUNTS:
        return datasets.table(name)
    n_columns, counts = COUNTS[name]
    codes = np.indices((2,) * n_columns).reshape(n_columns, -1)
    variables = [Variable(f"x{i}", [0, 1]) for i in range(n_columns)]
    return Table(variables, codes, counts)


def two_sides(n_rows: int = 400, flip: float = 0.15, seed: int = 0, n_columns: int = 5) -> Table:
    """Rows of two well separated classes."""
    generator = np.random.default_rng(seed)
    side = generator.random(n_rows) < 0.6
    columns = {
        f"q{i}": np.where(side ^ (generator.random(n_rows) < flip), "yes", "no")
        for i in range(n_columns)
    }
    return Table.from_frame(columns)


@pytest.mark.parametrize("name", MAXIMA)
def test_published_maxima(name):
    found = latent_classes(table_of(name), n_classes=(1, 2, 3), n_starts=20, seed=1)
    one, two, three, bic_two, bic_three = MAXIMA[name]
    got = [round(m.log_likelihood, 2) for m in found.mixtures]
    assert got == [one, two, three]
    assert round(found[2].bic, 2) == bic_two
    assert round(found[3].bic, 2) == bic_three
    assert found.n_classes == (2 if bic_two > bic_three else 3)


def test_stouffer_toby_to_four_digits():
    found = latent_classes(table_of("stouffer_toby"), n_classes=2, n_starts=4, seed=1)
    assert found.best.log_likelihood == pytest.approx(-504.4677, abs=5e-5)
    assert found.best.n_reached == 4


def test_one_class_is_the_independence_model():
    table = table_of("lsat6")
    weights = table.row_weights
    expected = 0.0
    for name in table.names:
        counts = np.bincount(table.column(name), weights)
        expected += float(counts @ np.log(counts / weights.sum()))
    mixture = latent_classes(table, n_classes=1, seed=1).best
    assert mixture.log_likelihood == pytest.approx(expected, rel=1e-12)
    assert mixture.n_parameters == 5


def test_criteria_follow_their_formulas():
    table = table_of("coleman")
    mixture = latent_classes(table, n_classes=2, n_starts=2, seed=1).best
    assert mixture.n_parameters == 1 + 2 * 4
    penalty = mixture.n_parameters / 2 * math.log(3398)
    assert mixture.bic == pytest.approx(mixture.log_likelihood - penalty)
    assert mixture.aic == pytest.approx(mixture.log_likelihood - 9)
    assert mixture.cheeseman_stutz < mixture.log_likelihood


@pytest.mark.parametrize("score", ["bic", "aic", "cheeseman-stutz", "held-out"])
def test_every_score_finds_two_plain_classes(score):
    found = latent_classes(
        two_sides(800), n_classes=(1, 2), score=score, n_starts=2, folds=3, seed=1
    )
    assert found.n_classes == 2
    assert found.score_name == score
    assert found[1].held_out.bits > found[2].held_out.bits


def test_held_out_is_about_cases_and_repeats():
    table = table_of("stouffer_toby")
    options = {"n_classes": 2, "score": "held-out", "n_starts": 2, "seed": 5}
    folds = latent_classes(table, **options).best.held_out
    again = latent_classes(table, **options).best.held_out
    assert folds == again
    # In bits per case it is near the fitted log-likelihood, and no better.
    assert 504.47 / 216 / math.log(2) < folds.bits < 1.1 * 504.47 / 216 / math.log(2)
    share = latent_classes(table, **options, held_out=0.25).best.held_out
    assert share.standard_error > folds.standard_error
    with pytest.raises(DataError, match="a fraction between 0 and 1"):
        latent_classes(table, **options, held_out=1.5)


def test_the_order_of_rows_changes_nothing():
    table = two_sides(seed=3).knock_out(0.1, seed=1)
    shuffled = table.take(np.random.default_rng(1).permutation(table.n_rows))
    one, other = (latent_classes(t, n_classes=2, n_starts=2, seed=1) for t in (table, shuffled))
    assert one.best.log_likelihood == pytest.approx(other.best.log_likelihood, rel=1e-12)
    assert one.best.shares == pytest.approx(other.best.shares)


def test_columns_and_states_in_another_order_change_nothing():
    table = two_sides(seed=4)
    turned = Table(
        [Variable(v.name, v.labels[::-1]) for v in reversed(table.variables)],
        [1 - table.column(n).astype(int) for n in reversed(table.names)],
    )
    one, other = (latent_classes(t, n_classes=2, n_starts=4, seed=1) for t in (table, turned))
    assert one.best.log_likelihood == pytest.approx(other.best.log_likelihood, rel=1e-9)
    for name in table.names:
        a, b = one.network.cpd(name).values, other.network.cpd(name).values
        np.testing.assert_allclose(a, b[:, ::-1], atol=1e-4)


def test_weight_two_is_the_row_twice():
    table = two_sides(150, seed=5).knock_out(0.1, seed=2)
    twice = table.take(np.repeat(np.arange(table.n_rows), 2))
    doubled = table.with_weights(np.full(table.n_rows, 2.0))
    one, other = (latent_classes(t, n_classes=2, n_starts=2, seed=1) for t in (twice, doubled))
    assert one.best.log_likelihood == pytest.approx(other.best.log_likelihood, rel=1e-12)
    assert one.best.bic == pytest.approx(other.best.bic, rel=1e-12)


def test_missing_cells_are_summed_over():
    table = two_sides(600, seed=6).knock_out(0.2, seed=3)
    found = latent_classes(table, n_classes=2, n_starts=2, seed=1)
    assert found.best.log_likelihood == pytest.approx(found.network.log_likelihood(table))
    assert found.best.shares == pytest.approx((0.6, 0.4), abs=0.06)


def test_classes_are_ordered_by_size_and_starts_aligned():
    found = latent_classes(two_sides(seed=7), n_classes=3, n_starts=6, seed=1).best
    assert list(found.shares) == sorted(found.shares, reverse=True)
    assert [s.objective for s in found.starts] == sorted(
        (s.objective for s in found.starts), reverse=True
    )
    assert {s.kind for s in found.starts} == {"cluster", "random"}
    reached = found.starts[: found.n_reached]
    for start in reached:
        np.testing.assert_allclose(
            start.network.cpd("q0").values, found.network.cpd("q0").values, atol=0.05
        )


def test_empty_and_duplicate_classes_are_said():
    root, x = Variable("class", [1, 2, 3], hidden=True), Variable("x", ["a", "b"])
    network = Network(
        [
            TableCPD(root, [], [0.6, 0.3995, 0.0005]),
            TableCPD(x, [root], [[0.5, 0.5], [0.51, 0.49], [0.9, 0.1]]),
        ]
    )
    start = EMStart("random", -10.0, -10.0, 5, "iteration cap", network)
    worse = EMStart("random", -11.0, -11.0, 5, "converged", network)
    assert notes_on(network, "class", [start, worse], 1000.0) == [
        "class 3 is all but empty: 0.5 of 1,000 cases",
        "classes 1 and 2 are duplicates: their profiles differ by at most 0.010 in every column",
        "the best start did not converge (iteration cap)",
        "only one of 2 starts reached the best: try more starts",
    ]
    followed = EMStart("bottleneck", -10.0, -10.0, 5, "converged", network)
    assert (
        len(notes_on(network, "class", [followed, worse], 1000.0)) == 2
    )  # it is meant to be alone


def test_too_many_classes_are_noticed():
    # Four different rows: five classes cannot all be of use.
    table = Table.from_frame({"x": ["a", "a", "b", "b"] * 9, "y": ["c", "d", "c", "d"] * 9})
    notes = " ".join(latent_classes(table, n_classes=5, n_starts=2, seed=1).best.notes)
    assert "duplicates" in notes or "all but empty" in notes


def test_largest_number_chosen_and_lonely_starts_are_said():
    found = latent_classes(two_sides(seed=8), n_classes=(1, 2), n_starts=2, seed=1)
    assert any("largest number of classes" in note for note in found.notes)
    assert isinstance(found[1], Mixture)
    with pytest.raises(DataError, match="there are 1, 2"):
        found[5]


def test_profiles_name_what_sets_a_class_apart():
    found = latent_classes(two_sides(2000, 0.1, seed=9), n_classes=2, n_starts=2, seed=1)
    first, second = found.profiles
    assert {(t.variable, t.value) for t in first.traits} <= {(f"q{i}", "yes") for i in range(5)}
    assert [t.value for t in second.traits] == ["no"] * 4
    assert len(first.traits) == 4
    assert first.words.startswith("class = 1, 6")
    assert f"{first.traits[0].variable} = yes: " in str(found)


def test_a_listener_may_stop_it():
    seen = []

    def listen(step):
        seen.append(step.phase)
        return len(seen) < 12

    found = latent_classes(two_sides(seed=10), n_classes=range(2, 9), seed=1, progress=listen)
    assert found.stopped == "asked to stop"
    assert len(found.mixtures) < 7
    assert seen[0].startswith("2 classes: EM, start 1")
    late = latent_classes(two_sides(seed=10), n_classes=range(2, 9), seed=1, time_limit=0.0)
    assert late.stopped == "time limit"
    assert late.best.starts[0].stopped == "time limit"


@pytest.mark.parametrize("dealing", [{}, {"folds": 5}, {"held_out": 0.2}])
def test_the_time_limit_binds_with_and_without_rows_held_out(dealing):
    """EM that would never stop by itself, for every number of classes and every fold."""
    table = two_sides(5000, 0.3, seed=11)
    endless = {"tolerance": 0.0, "max_iterations": 10**9, **dealing, "seed": 1}
    began = time.monotonic()
    found = latent_classes(table, n_classes=range(2, 9), time_limit=0.7, **endless)
    assert time.monotonic() - began < 1.7
    assert found.stopped == "time limit"
    assert len(found.mixtures) > 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_classes": 0}, "whole number from 1"),
        ({"n_classes": []}, "whole number from 1"),
        ({"score": "bayes"}, "choose one of bic, aic, cheeseman-stutz, held-out"),
        ({"n_starts": 0}, "at least one start"),
    ],
)
def test_what_cannot_be_is_refused(options, message):
    with pytest.raises(DataError, match=message):
        latent_classes(two_sides(50), **options)


def test_a_column_of_the_name_is_stepped_aside_from():
    table = two_sides(50)
    with pytest.warns(UnveilWarning, match="has a column 'q0', so the hidden .* 'q0_'"):
        found = latent_classes(table, 2, name="q0", n_starts=1, seed=1)
    assert found.network.hidden == ("q0_",)


def test_columns_that_cannot_be_used_are_refused():
    with pytest.raises(DataError, match="'height' is continuous"):
        latent_classes(Table.from_frame({"height": [1.5, 1.7, 1.65]}))
    gone = two_sides(20).knock_out(1.0, seed=1, names=["q1"])
    with pytest.raises(DataError, match="'q1' has no values"):
        latent_classes(gone)
    with pytest.raises(DataError, match="weights of all rows are zero"):
        latent_classes(two_sides(3).with_weights([0.0, 0.0, 0.0]))
