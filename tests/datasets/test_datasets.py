"""What comes with unveil has the published sizes; the sources are in the catalogue."""

import numpy as np
import pytest

from unveil import datasets
from unveil.errors import DataError

# Nodes, arcs, free parameters as in the Bayesian Network Repository (bnlearn.com/bnrepository).
SIZES = {"asia": (8, 8, 18), "alarm": (37, 46, 509), "insurance": (27, 52, 1008)}


@pytest.mark.parametrize("name", SIZES)
def test_networks_have_their_published_sizes(name):
    network = datasets.network(name)
    assert (len(network.names), network.dag.n_arcs, network.n_parameters) == SIZES[name]
    assert network.name == name
    assert network.hidden == ()
    for cpd in network.cpds.values():
        np.testing.assert_allclose(cpd.rows.sum(axis=1), 1, atol=1e-9)


def test_asia_holds_the_numbers_of_lauritzen_and_spiegelhalter():
    """Table 1 of the paper (1988)."""
    asia = datasets.network("asia")
    yes = {
        (name, given): asia.cpd(name).with_parent_order(parents).rows[row][0]
        for name, parents, rows in [
            ("asia", [], [()]),
            ("smoke", [], [()]),
            ("tub", ["asia"], ["yes", "no"]),
            ("lung", ["smoke"], ["yes", "no"]),
            ("bronc", ["smoke"], ["yes", "no"]),
            ("xray", ["either"], ["yes", "no"]),
            ("dysp", ["either", "bronc"], ["yes yes", "yes no", "no yes", "no no"]),
            ("either", ["tub", "lung"], ["yes yes", "yes no", "no yes", "no no"]),
        ]
        for row, given in enumerate(rows)
    }
    assert all(asia.variable(name).labels == ("yes", "no") for name in asia.names)
    assert list(yes.values()) == [
        0.01, 0.5, 0.05, 0.01, 0.1, 0.01, 0.6, 0.3, 0.98, 0.05, 0.9, 0.7, 0.8, 0.1, 1, 1, 1, 0
    ]  # fmt: skip


def test_college_plans_are_those_of_sewell_and_shah():
    """10,318 students in 2 x 4 x 4 x 2 x 2 = 128 cells (Heckerman 1996, Figure 4)."""
    table = datasets.table("college_plans")
    assert table.total_weight == 10_318
    assert np.prod([v.n_states for v in table.variables]) == 128
    assert [v.n_states for v in table.variables] == [2, 4, 4, 2, 2]
    assert table.n_rows <= 128
    assert (table.row_weights > 0).all()
    assert table.folded().n_rows == table.n_rows
    assert table.is_complete


# Heckerman (1996), Figure 4; CP varies fastest, then PE, IQ, SES and SEX.
IN_PRINT = """
4 349 13 64 9 207 33 72 12 126 38 54 10 67 49 43
2 232 27 84 7 201 64 95 12 115 93 92 17 79 119 59
8 166 47 91 6 120 74 110 17 92 148 100 6 42 198 73
4 48 39 57 5 47 123 90 9 41 224 65 8 17 414 54
5 454 9 44 5 312 14 47 8 216 20 35 13 96 28 24
11 285 29 61 19 236 47 88 12 164 62 85 15 113 72 50
7 163 36 72 13 193 75 90 12 174 91 100 20 81 142 77
6 50 36 58 5 70 110 76 12 48 230 81 13 49 360 98
"""


def test_college_plans_have_the_published_counts():
    table = datasets.table("college_plans")
    dense = np.zeros([v.n_states for v in table.variables])
    np.add.at(dense, tuple(table.column(n).astype(int) for n in table.names), table.row_weights)
    assert dense.ravel().tolist() == [float(count) for count in IN_PRINT.split()]
    assert table.variable("CP").labels[0] == "yes"


def test_the_catalogue_names_everything_with_its_source():
    entries = datasets.catalogue()
    assert datasets.network_names() == tuple(SIZES)
    assert datasets.table_names() == ("college_plans",)
    assert {e.name for e in entries} == {*SIZES, "college_plans"}
    for entry in entries:
        assert datasets.entry(entry.name) is entry
        assert any(year in entry.source for year in ("1968", "1988", "1989", "1997"))
        assert entry.title


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (
            lambda: datasets.network("aisa"),
            "no bundled data set is called 'aisa'; there are asia, alarm, insurance, "
            "college_plans. Did you mean 'asia'?",
        ),
        (
            lambda: datasets.table("nope"),
            "no bundled data set is called 'nope'; there are asia, alarm, insurance, "
            "college_plans.",
        ),
        (
            lambda: datasets.network("college_plans"),
            "'college_plans' is a table, not a network. Use datasets.table('college_plans').",
        ),
        (
            lambda: datasets.table("asia"),
            "'asia' is a network, not a table. Draw rows from it with "
            "datasets.network('asia').sample(n).",
        ),
    ],
)
def test_wrong_names_are_answered_in_words(ask, words):
    with pytest.raises(DataError) as caught:
        ask()
    assert str(caught.value) == words
