"""Tables of probabilities: what they keep, what they mend, what they refuse, and in which words."""

import json
import re
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from unveil import TableCPD, Variable
from unveil.errors import ModelError, SizeError, UnveilWarning
from unveil.model.table_cpd import MAX_CELLS, n_cells

RAIN = Variable("rain", ["no", "yes"])
DOSE = Variable("dose", [1, 2, 3])
SICK = Variable("sick", [False, True])


def sick_given_both(generator=None):
    generator = generator or np.random.default_rng(0)
    return TableCPD(SICK, [RAIN, DOSE], generator.dirichlet([1, 1], size=(2, 3)))


# Shape and numbers -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "came"),
    [
        ([0.5, 0.5], "(2,)"),
        ([[0.5, 0.5]], "(1, 2)"),
        ([[0.2, 0.3, 0.5]] * 2, "(2, 3)"),
        (0.5, "()"),
        (np.full((2, 2, 2), 0.5), "(2, 2, 2)"),
    ],
)
def test_a_wrong_shape_says_both_shapes(values, came):
    with pytest.raises(ModelError) as caught:
        TableCPD(SICK, [RAIN], values)
    assert str(caught.value) == f"P(sick | rain) needs an array of shape (2, 2), got {came}"


@pytest.mark.parametrize("values", [[["a", "b"], ["c", "d"]], [[0.5, 0.5], [1.0]], None, {}])
def test_what_is_no_array_of_numbers_is_refused(values):
    with pytest.raises(ModelError, match=r"P\(sick \| rain\) needs"):
        TableCPD(SICK, [RAIN], values)


@pytest.mark.parametrize("odd", [-0.1, float("nan"), float("inf"), -float("inf"), -1e-300])
def test_what_is_no_probability_is_named_with_its_row(odd):
    values = np.full((2, 3, 2), 0.5)
    values[1, 2, 0] = odd
    with pytest.raises(ModelError) as caught:
        TableCPD(SICK, [RAIN, DOSE], values)
    assert str(caught.value) == (
        f"P(sick | rain, dose) given rain=yes, dose=3: {odd} is not a probability; "
        "every number must lie between 0 and 1"
    )


def test_a_table_is_not_changed_from_outside_and_does_not_change_its_source():
    source = np.array([[0.33, 0.67], [0.5, 0.5]])
    cpd = TableCPD(SICK, [RAIN], source)
    source[0] = 9
    assert cpd.values[0].tolist() == [0.33, 0.67]
    with pytest.raises(ValueError, match="read-only"):
        cpd.values[0, 0] = 1
    thirds = np.full(3, 0.333)
    with pytest.warns(UnveilWarning):
        TableCPD(DOSE, [], thirds)
    assert thirds.tolist() == [0.333] * 3


# Sums ------------------------------------------------------------------------------------------


@given(hnp.arrays(np.float64, (2, 3), elements=st.floats(0.01, 1)), st.floats(-0.9e-9, 0.9e-9))
@settings(max_examples=50, deadline=None)
def test_rows_that_sum_to_one_are_kept_to_the_bit(values, off):
    values = values / values.sum(axis=1, keepdims=True)
    values[0] *= 1 + off
    assert TableCPD(DOSE, [RAIN], values).values.tobytes() == values.tobytes()


@pytest.mark.parametrize("off", [2e-9, -2e-9, 9e-6, -9e-6])
def test_six_printed_digits_are_rescaled_without_a_word(off):
    cpd = TableCPD(SICK, [RAIN], [[0.5 + off, 0.5], [0.25, 0.75]])
    assert cpd.values[0].sum() == pytest.approx(1, abs=1e-15)
    assert cpd.values[0, 0] == pytest.approx((0.5 + off) / (1 + off), abs=1e-15)
    assert cpd.values[1].tolist() == [0.25, 0.75]


def test_visible_rounding_is_rescaled_and_the_worst_row_named():
    values = np.full((2, 3, 3), [0.2, 0.3, 0.5])
    values[0, 1] = [0.333, 0.333, 0.333]
    values[1, 0] = [0.33, 0.33, 0.33]
    child = Variable("mood", ["bad", "so so", "good"])
    with pytest.warns(UnveilWarning) as caught:
        cpd = TableCPD(child, [RAIN, DOSE], values)
    assert [str(w.message) for w in caught] == [
        "P(mood | rain, dose): 2 of 6 rows did not sum to 1 (the worst to 0.99 given rain=yes, "
        "dose=1) and were rescaled"
    ]
    np.testing.assert_allclose(cpd.values[1, 0], 1 / 3, rtol=1e-15)
    assert cpd.values[0, 0].tolist() == [0.2, 0.3, 0.5]


@pytest.mark.parametrize("total", [1.0102, 0.9898, 0.0, 2.0, 57.0])
def test_more_than_rounding_is_refused(total):
    with pytest.raises(ModelError) as caught:
        TableCPD(SICK, [RAIN], [[0.5, 0.5], [total / 4, 3 * total / 4]])
    assert str(caught.value) == (
        f"P(sick | rain) given rain=yes: the probabilities sum to {total:.6g}, not 1. "
        "If they are counts, divide each row by its sum first."
    )


@pytest.mark.parametrize("total", [1.01, 0.99])
def test_two_printed_digits_are_rounding(total):
    with pytest.warns(UnveilWarning, match=re.escape(f"the worst to {total:.9g}")):
        cpd = TableCPD(SICK, [], [total / 2, total / 2])
    assert cpd.values.tolist() == [0.5, 0.5]


def test_an_absurd_table_is_refused_before_it_is_made():
    parents = [Variable(f"p{i}", range(100)) for i in range(6)]
    for make in (
        lambda: TableCPD(SICK, parents, [0.5]),
        lambda: TableCPD.uniform(SICK, parents),
        lambda: TableCPD.from_dict(SICK, parents, {"values": []}),
    ):
        tracemalloc.start()
        with pytest.raises(SizeError) as caught:
            make()
        assert tracemalloc.get_traced_memory()[1] < 2e6
        tracemalloc.stop()
        assert str(caught.value) == (
            "the table of 'sick' given 6 parents would have 2,000,000,000,000 cells; at most "
            f"{MAX_CELLS:,} are allowed. Use fewer parents or merge states."
        )
    assert n_cells(SICK, parents[:3]) == 2_000_000


# The same distribution, otherwise ---------------------------------------------------------------


def test_parents_in_another_order():
    cpd = sick_given_both()
    turned = cpd.with_parent_order(["dose", "rain"])
    assert [p.name for p in turned.parents] == ["dose", "rain"]
    for rain, dose, sick in np.ndindex(2, 3, 2):
        assert turned.values[dose, rain, sick] == cpd.values[rain, dose, sick]
    assert turned != cpd
    assert turned.with_parent_order(["rain", "dose"]) == cpd
    with pytest.raises(ModelError, match=re.escape("has parents ['dose', 'rain'], not ['rain']")):
        cpd.with_parent_order(["rain"])
    with pytest.raises(ModelError, match="has parents"):
        cpd.with_parent_order(["rain", "rain"])


def test_uniform_and_the_number_of_parameters():
    cpd = TableCPD.uniform(DOSE, [RAIN, SICK])
    assert (cpd.values == 1 / 3).all()
    assert (cpd.n_parent_rows, cpd.n_parameters) == (4, 8)
    assert cpd.rows.shape == (4, 3)
    assert TableCPD.uniform(Variable("only", ["one"])).n_parameters == 0


def test_equality_is_of_numbers_and_variables():
    cpd = sick_given_both()
    assert cpd == sick_given_both()
    assert cpd != TableCPD(SICK, [RAIN, DOSE], np.full((2, 3, 2), 0.5))
    assert cpd != cpd.with_variables(Variable("sick", [0, 1]), cpd.parents)
    assert cpd != "P(sick | rain, dose)"
    with pytest.raises(TypeError, match="unhashable"):
        hash(cpd)


# Words -----------------------------------------------------------------------------------------


def test_describe_shows_every_configuration():
    cpd = TableCPD(SICK, [RAIN, DOSE], [[[1, 0], [0.5, 0.5], [0.25, 0.75]]] * 2)
    assert cpd.describe().splitlines() == [
        "P(sick | rain, dose)",
        "rain  dose  false  true",
        "no    1     1      0",
        "no    2     0.5    0.5",
        "no    3     0.25   0.75",
        "yes   1     1      0",
        "yes   2     0.5    0.5",
        "yes   3     0.25   0.75",
    ]
    assert cpd.describe(max_rows=2).splitlines()[-2:] == [
        "no    2     0.5    0.5",
        "... 4 more rows",
    ]
    assert repr(cpd) == "TableCPD(P(sick | rain, dose), 6 x 2)"
    assert TableCPD(RAIN, [], [0.9, 0.1]).describe() == "P(rain)\nno   yes\n0.9  0.1"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "the table of 'sick' needs a list of 2 rows in 'values', got NoneType"),
        ({"values": "x"}, "the table of 'sick' needs a list of 2 rows in 'values', got str"),
        ({"values": [[1, 0]]}, "the table of 'sick' needs a list of 2 rows in 'values', got 1"),
        ({"values": [[1, 0], [1]]}, "the table of 'sick', row 2: expected 2 numbers, got 1"),
        ({"values": [[1, 0], 1.0]}, "the table of 'sick', row 2: expected 2 numbers, got float"),
        ({"values": [[1, "0"], [1, 0]]}, "the table of 'sick', row 1: expected numbers, got '0'"),
        ({"values": [[1, 0], [True, 0]]}, "the table of 'sick', row 2: expected numbers, got True"),
        ({"values": [[1, 0], [None, 0]]}, "the table of 'sick', row 2: expected numbers, got None"),
    ],
)
def test_a_broken_dict_is_refused_in_words(fields, words):
    with pytest.raises(ModelError) as caught:
        TableCPD.from_dict(SICK, [RAIN], fields)
    assert str(caught.value) == words


def test_a_dict_is_checked_like_any_table():
    with pytest.raises(ModelError, match=r"given rain=yes: -0\.5 is not a probability"):
        TableCPD.from_dict(SICK, [RAIN], {"values": [[1, 0], [-0.5, 1.5]]})
    with pytest.raises(ModelError, match="holds a number too large to be a probability"):
        TableCPD.from_dict(SICK, [RAIN], {"values": [[1, 0], [10**400, 0]]})


@given(hnp.arrays(np.float64, (2, 3, 2), elements=st.floats(1e-3, 1)))
@settings(max_examples=30, deadline=None)
def test_json_is_lossless(values):
    values = values / values.sum(axis=-1, keepdims=True)
    cpd = TableCPD(SICK, [RAIN, DOSE], values)
    fields = json.loads(json.dumps(cpd.to_dict()))
    assert TableCPD.from_dict(SICK, [RAIN, DOSE], fields) == cpd
