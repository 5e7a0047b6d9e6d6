"""Evidence is matched by name and label: order, spelling and type of labels do not matter."""

import numpy as np
import pytest

from unveil import Network, Table, TableCPD, Variable
from unveil.errors import UnveilError
from unveil.infer.posterior import log_likelihoods, posterior

DOSE = Variable("dose", [1, 2, 3])
SICK = Variable("sick", [False, True])
MOOD = Variable("mood", ["bad", "good"])


@pytest.fixture
def network():
    return Network(
        [
            TableCPD(DOSE, [], [0.5, 0.3, 0.2]),
            TableCPD(SICK, [DOSE], [[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]]),
            TableCPD(MOOD, [SICK, DOSE], [[[0.1, 0.9], [0.2, 0.8], [0.3, 0.7]]] * 2),
        ]
    )


ROWS = {"dose": [1, 3, None, 2], "sick": [True, None, False, True], "mood": ["bad", "good"] * 2}
SPELLINGS = {
    "as they are": ROWS,
    "other columns, another order": {
        "mood": ROWS["mood"],
        "extra": ["x", "y", "z", None],
        "sick": ROWS["sick"],
        "dose": ROWS["dose"],
    },
    "numbers as text": ROWS | {"dose": ["1", "3", None, "2"]},
    "numbers as floats": ROWS | {"dose": [1.0, 3.0, None, 2.0]},
    "TRUE and FALSE as text": ROWS | {"sick": ["TRUE", None, "FALSE", "TRUE"]},
    "true and false as text": ROWS | {"sick": ["true", None, "false", "true"]},
    "spaces": ROWS | {"mood": [" bad", "good ", "bad", "good"]},
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_spellings(network, spelling):
    table = Table.from_frame(SPELLINGS[spelling])
    expected = Table(
        [DOSE, SICK, MOOD],
        [np.array([0, 2, -1, 1]), np.array([1, -1, 0, 1]), np.array([0, 1, 0, 1])],
    )
    assert np.array_equal(log_likelihoods(network, table), log_likelihoods(network, expected))
    here, there = posterior(network, table, "dose"), posterior(network, expected, "dose")
    assert np.array_equal(here["dose"], there["dose"])


def test_states_in_another_order(network):
    table = Table(
        [Variable("mood", ["good", "bad"]), Variable("dose", [3, 1])],
        [np.array([0, 1, 1]), np.array([1, 0, -1])],
    )
    expected = [{"mood": "good", "dose": 1}, {"mood": "bad", "dose": 3}, {"mood": "bad"}]
    answer = posterior(network, table, "sick")
    for r, findings in enumerate(expected):
        single = posterior(network, findings, "sick")
        np.testing.assert_allclose(answer["sick"][r], single["sick"][0], atol=1e-15)
        assert answer.log_evidence[r] == pytest.approx(single.log_evidence[0])


@pytest.mark.parametrize(
    "findings",
    [{"dose": "2", "sick": "TRUE"}, {"dose": 2.0, "sick": "true"}, {"sick": True, "dose": 2}],
)
def test_findings_as_other_types(network, findings):
    assert posterior(network, findings).log_evidence[0] == pytest.approx(np.log(0.3 * 0.4))


def test_states_that_are_the_words_true_and_false():
    words = Variable("flag", ["TRUE", "FALSE"])
    network = Network([TableCPD(words, [], [0.25, 0.75])])
    assert posterior(network, {"flag": "TRUE"}).log_evidence[0] == pytest.approx(np.log(0.25))
    table = Table.from_frame({"flag": ["FALSE", "TRUE", "TRUE"]})
    np.testing.assert_allclose(np.exp(log_likelihoods(network, table)), [0.75, 0.25, 0.25])


def test_likelihoods_by_label(network):
    answer = posterior(network, of="dose", likelihood={"sick": {"TRUE": 1.0}})
    certain = posterior(network, {"sick": True}, of="dose")
    np.testing.assert_allclose(answer["dose"], certain["dose"], atol=1e-15)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ({"given": {"dose": 4}}, "'dose' has no state 4; it has 1, 2, 3"),
        ({"given": {"dosis": 1}}, "dosis"),
        ({"of": ["dosis"]}, "dosis"),
        ({"likelihood": {"sick": {True: -0.5}}}, "'sick' = True must not be negative"),
        ({"likelihood": {"sick": {True: float("nan")}}}, "'sick' = True"),
        ({"likelihood": {"sick": {"maybe": 1.0}}}, "'sick' has no state 'maybe'"),
        ({"likelihood": {"dosis": {1: 1.0}}}, "dosis"),
    ],
)
def test_what_is_not_there_is_named(network, question, words):
    with pytest.raises(UnveilError, match=words):
        posterior(network, **question)
    assert posterior(network, {"dose": 1})["sick"].shape == (1, 2)
