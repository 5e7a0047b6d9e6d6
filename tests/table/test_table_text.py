"""The rules by which text becomes labels and numbers."""

import numpy as np
import pyarrow as pa
import pytest

from unveil.errors import DataError, UnveilWarning
from unveil.table.text import DEFAULT_MISSING, infer_text


def infer(texts, kind=None, missing=DEFAULT_MISSING, encode=True):
    values = pa.array(texts)
    return infer_text("x", values.dictionary_encode() if encode else values, kind, missing, "f.csv")


@pytest.mark.parametrize(
    ("texts", "states"),
    [
        (["true", "FALSE", "True"], (False, True)),
        (["10", "9", "-1"], (-1, 9, 10)),
        (["007", "1"], ("007", "1")),
        (["-0", "0"], (-0.0,)),
        (["1.0", "2", "1"], (1.0, 2.0)),
        (["b", "a", "1"], ("1", "a", "b")),
        (["None", "Some"], ("None", "Some")),
        (["yes", "Yes "], ("Yes", "yes")),
        (["1_000", "2"], ("1_000", "2")),
        (["only", "only"], ("only",)),
        (["9" * 400, "1.5"], ("1.5", "9" * 400)),
    ],
)
def test_states(texts, states):
    for encode in (True, False):
        variable, _ = infer(texts, encode=encode)
        assert variable.states == states
        assert [type(s) for s in variable.states] == [type(s) for s in states]


@pytest.mark.parametrize("encode", [True, False])
def test_twenty_integers_are_states_and_twenty_one_are_numbers(encode):
    assert infer([str(i) for i in range(20)], encode=encode)[0].n_states == 20
    variable, column = infer([str(i) for i in range(21)], encode=encode)
    assert not variable.is_discrete
    assert column.tolist() == list(range(21))
    assert infer([f"{i}.0" for i in range(20)], encode=encode)[0].n_states == 20
    assert not infer([f"{i}.0" for i in range(21)], encode=encode)[0].is_discrete


@pytest.mark.parametrize("encode", [True, False])
def test_codes_with_leading_zeros_stay_labels_however_many(encode):
    variable, _ = infer([f"{i:05d}" for i in range(500)], encode=encode)
    assert variable.labels[7] == "00007"


@pytest.mark.parametrize("encode", [True, False])
def test_reals_with_gaps(encode):
    texts = [f" {i / 7}" for i in range(100)] + ["NA", "?", "+1.5", "1e3"]
    variable, column = infer(texts, encode=encode)
    assert not variable.is_discrete
    assert column[:3].tolist() == [0, 1 / 7, 2 / 7]
    assert np.isnan(column[100:102]).all()
    assert column[102:].tolist() == [1.5, 1000]


@pytest.mark.parametrize("marker", DEFAULT_MISSING)
def test_missing_markers(marker):
    assert infer(["a", marker, "b"])[1].tolist() == [0, 255, 1]
    assert infer(["a", marker, "b"], missing=())[0].n_states == 3


def test_a_column_without_values_is_kept_with_a_warning():
    with pytest.warns(UnveilWarning, match=r"f.csv, column 'x': the column has no values"):
        variable, column = infer(["", "NA"])
    assert not variable.is_discrete
    assert np.isnan(column).all()


def test_kinds():
    assert infer(["1", "02"], "text")[0].states == ("02", "1")
    assert infer(["1", "2"], "text")[0].states == ("1", "2")
    assert infer([str(i) for i in range(99)], "discrete")[0].n_states == 99
    assert infer(["1.5", "2.5"], "discrete")[0].states == (1.5, 2.5)
    assert infer(["1", "0"], "continuous")[1].tolist() == [1.0, 0.0]


@pytest.mark.parametrize("encode", [True, False])
def test_an_impossible_kind_names_the_first_cell(encode):
    with pytest.raises(DataError, match=r"f.csv, row 2, column 'x': 'low' is not a number"):
        infer(["1", "low", "high", "low"], "continuous", encode=encode)


@pytest.mark.parametrize("encode", [True, False])
def test_infinity_among_many_numbers(encode):
    with pytest.raises(DataError, match=r"f.csv, row 51, column 'x'.*infinite"):
        infer([str(i / 3) for i in range(50)] + ["-Infinity"], encode=encode)


@pytest.mark.parametrize("encode", [True, False])
def test_nan_is_a_label_when_it_is_no_missing_marker(encode):
    variable, _ = infer([str(i / 3) for i in range(50)] + ["nan"], missing=(), encode=encode)
    assert variable.n_states == 51


def test_inf_is_a_label_among_labels():
    assert infer(["inf", "sup"])[0].states == ("inf", "sup")
