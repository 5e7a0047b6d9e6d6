"""ARFF files: declared order, quotes, comments, sparse rows, and refusals."""

import numpy as np
import pytest

from unveil.errors import DataError
from unveil.table import read_table

FILE = """% a comment
@RELATION 'my data'

@Attribute 'the age' NUMERIC
@attribute grade {low, mid,'very high'}
@attribute smoker{no,yes}
@attribute note string
@attribute code {2,1}
@attribute day date "yyyy-MM-dd"

@DATA
31.5,'very high',no,'it''s',1,2020-01-01
?,low,yes,?,2,?
% a comment between rows
40, mid , 'no', "a, b", 1, 2020-01-02
"""


@pytest.fixture
def read(tmp_path):
    def read(text, **options):
        path = tmp_path / "data.arff"
        path.write_text(text)
        return read_table(path, **options)

    return read


def test_a_file_with_everything(read):
    table = read(FILE.replace("'it''s'", r"'it\'s'"))
    assert table.variable("grade").states == ("low", "mid", "very high")
    assert table.variable("smoker").states == ("no", "yes")
    assert table.variable("code").states == (2, 1)
    assert table.to_dict() == {
        "the age": [31.5, None, 40.0],
        "grade": ["very high", "low", "mid"],
        "smoker": ["no", "yes", "no"],
        "note": ["it's", None, "a, b"],
        "code": [1, 2, 1],
        "day": ["2020-01-01", None, "2020-01-02"],
    }


def test_the_fast_way_and_the_slow_way_agree(read):
    rng = np.random.default_rng(0)
    rows = [
        f"{x:.4f},{s}"
        for x, s in zip(rng.normal(size=500), rng.choice(["'a b'", "c", "?"], 500), strict=True)
    ]
    head = "@relation r\n@attribute x real\n@attribute s {c,'a b'}\n@data\n"
    fast = read(head + "\n".join(rows))
    slow = read(head + "% slow\n" + "\n".join(rows))
    assert fast == slow
    assert fast.n_rows == 500


def test_sparse_rows(read):
    head = "@relation r\n@attribute a {p,q}\n@attribute b numeric\n@attribute c {x,'y z'}\n@data\n"
    table = read(head + "{0 q, 2 'y z'}\n{1 2.5}\n{}\n{2 ?}\n")
    assert table.to_dict() == {
        "a": ["q", "p", "p", "p"],
        "b": [0.0, 2.5, 0.0, 0.0],
        "c": ["y z", "x", "x", None],
    }


def test_kinds_weights_and_columns(read):
    head = "@relation r\n@attribute a {p,q}\n@attribute b numeric\n@attribute n integer\n@data\n"
    table = read(head + "p,1,2\nq,2,3\n", kinds={"b": "discrete"}, weights="n")
    assert table.variable("b").states == (1, 2)
    assert table.weights.tolist() == [2.0, 3.0]
    assert read(head + "p,1,2\nq,2,3\n", columns=["n", "a"]).names == ("n", "a")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "@relation r\n@attribute a {p,q}\n@attribute b real\n@data\np,1\nz,2\n",
            "row 2, column 'a': 'z'",
        ),
        (
            "@relation r\n@attribute a {p,q}\n@attribute b real\n@data\np,1\nq,x\n",
            "row 2, column 'b': 'x'",
        ),
        (
            "@relation r\n@attribute a {p,q}\n@attribute b real\n@data\np,1\nq\n",
            r"line 6 \(row 2.*expected 2",
        ),
        ("@relation r\n@attribute a real\n@data\n", "no rows after @data"),
        ("@relation r\n@attribute a real\n", "no @data line"),
        ("@relation r\n@data\n1\n", "line 2: @data comes before"),
        (
            "@relation r\n@attribute a colour\n@data\n1\n",
            "line 2: attribute 'a' has the type 'colour'",
        ),
        (
            "@relation r\n@attribute a real\n@attribute a real\n@data\n1,2\n",
            "columns 1 and 2 are both",
        ),
        ("@relation r\n@atribute a real\n@data\n1\n", "line 2: expected @relation"),
        ("@relation r\n@attribute a real\n@data\n{7 1}\n", "line 4: '7 1' is no sparse cell"),
    ],
)
def test_refusals(read, text, words):
    with pytest.raises(DataError, match=words) as caught:
        read(text)
    assert "data.arff" in str(caught.value)
