"""Hierarchies from groups: what they become, and what is said of those that cannot be."""

import json

import pytest

from unveil import trees
from unveil.errors import DataError, UnveilWarning
from unveil.trees import hierarchy_shape, quadrants

from .cases import GROUPS, rows


def test_lists_names_and_json_are_the_same(tmp_path):
    path = tmp_path / "groups.json"
    path.write_text(json.dumps(GROUPS))
    wanted = str(hierarchy_shape(rows(), GROUPS, 3))
    assert wanted.splitlines()[:2] == ["top (3 states)", "  a (3 states)"]
    assert str(hierarchy_shape(rows(), path, 3)) == wanted
    assert str(hierarchy_shape(rows(), str(path), 3)) == wanted
    assert str(hierarchy_shape(rows(), json.dumps(GROUPS), 3)) == wanted
    lists = [["a0", "a1", "a2"], ["b0", "b1", "b2"]]
    unnamed = str(hierarchy_shape(rows(), lists, 3))
    assert unnamed == wanted.replace("top", "root").replace("  a (", "  H1 (").replace(
        "  b (", "  H2 ("
    )


def test_states_by_name():
    shape = hierarchy_shape(rows(), GROUPS, {"top": 2, "a": 3, "b": 4})
    assert [v.n_states for v in shape.hidden.values()] == [2, 3, 4]
    with pytest.raises(DataError, match="says nothing about 'b'"):
        hierarchy_shape(rows(), GROUPS, {"top": 2, "a": 3})
    with pytest.raises(DataError, match=r"n_states names 'tip'.*Did you mean 'top'"):
        hierarchy_shape(rows(), GROUPS, {"tip": 2})


def test_what_no_group_names_is_left_out():
    with pytest.warns(UnveilWarning, match="no group names 'b2'"):
        shape = hierarchy_shape(rows(), [["a0", "a1", "a2"], ["b0", "b1"]], 2)
    assert "b2" not in shape.columns


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        ([["a0", "a9"]], "group 'H1' names the column 'a9', and the table has none"),
        ([["a0"], ["a1", "a0"]], "the column 'a0' is in group 'H2' and in 'H1'"),
        ([["a0"], ["a1", "a1"]], "the column 'a1' is in group 'H2' twice"),
        ([["a0"], []], "the group 'H2' is empty"),
        ({"a0": ["a1"]}, "called 'a0', as a column is"),
        ({"x": {"y": ["a0"]}, "z": {"y": ["a1"]}}, "two groups are called 'y'"),
        ([["a0"], 7], "a group is a list of column names"),
        ("[[", "this is no JSON"),
        ("no_such_file.json", "no_such_file.json: the groups cannot be read"),
    ],
)
def test_groups_that_cannot_be(groups, said):
    with pytest.raises(DataError, match=said):
        hierarchy_shape(rows(), groups, 2)


def test_quadrants_of_the_thesis():
    """Thesis 6.6: three levels have 5 hidden variables, four have 21 over 16 x 16 pixels."""

    def n_hidden(group):
        return sum(n_hidden(g) for g in group) + 1 if isinstance(group, list) else 0

    def pixels(group):
        return [p for g in group for p in pixels(g)] if isinstance(group, list) else [group]

    for levels, hidden in ((2, 1), (3, 5), (4, 21)):
        found = quadrants(16, 16, levels)
        assert n_hidden(found) == hidden
        assert sorted(pixels(found)) == sorted(f"p{i}" for i in range(1, 257))
    blocks = quadrants(16, 16, 4)
    assert blocks[1][2][:5] == ["p73", "p74", "p75", "p76", "p89"]  # 4 x 4 at row 4, column 8
    uneven = quadrants(3, 5, 3, "abcdefghijklmno")
    assert uneven == [["a", "b", "c", "f", "g", "h"], ["d", "e", "i", "j"], ["k", "l", "m"],
                      ["n", "o"]]  # fmt: skip
    assert quadrants(1, 2, 9, "ab") == [["a"], ["b"]]


def test_quadrants_by_word_take_the_columns_in_order():
    shape = hierarchy_shape(rows(), "quadrants:2x3x3", 2)
    assert shape.parents["a0"] == shape.parents["a1"] != shape.parents["a2"]
    with pytest.raises(DataError, match="2 x 2 pixels need as many columns, 4; 6 were given"):
        hierarchy_shape(rows(), "quadrants:2x2x3", 2)


CALLS = [
    ("states", lambda n: trees.hierarchy(rows(), GROUPS, n)),
    ("states", lambda n: trees.hierarchy(rows(), GROUPS, {"top": n, "a": 2, "b": 2})),
    ("states", lambda n: trees.hidden_chow_liu(rows(), n)),
    ("trees", lambda n: trees.mixture_of_trees(rows(), n)),
    ("components", lambda n: trees.mixture_of_networks(rows(), n)),
]


@pytest.mark.parametrize(("what", "call"), CALLS)
def test_numbers_of_states_that_cannot_be(what, call):
    for number, said in (
        (1, f"a hidden variable with one of its {what} says nothing"),
        (301, f"301 {what} are more than there are rows \\(300\\)"),
        (0, "a whole number, got 0"),
        (2.5, "a whole number, got 2.5"),
    ):
        with pytest.raises(DataError, match=said):
            call(number)
