"""Cross-validation in blocks: a case is predicted without its neighbours."""

from itertools import pairwise

import numpy as np
import pytest

from unveil import Table
from unveil.evaluate import cross_validate
from unveil.evaluate.folds import deal_cases


@pytest.mark.parametrize("weights", [None, [2, 0, 1, 3, 1, 4, 1], [0.5, 0, 1, 1, 1, 2, 1]])
@pytest.mark.parametrize("folds", [2, 3, 5])
def test_every_case_is_dealt_once_and_folds_are_blocks(weights, folds):
    table = Table.from_frame({"x": list("abcdefg")}).with_weights(weights)
    dealt = deal_cases(table, folds, blocks=True)
    assert np.array_equal(dealt.sum(axis=1), table.row_weights)
    rows = [np.flatnonzero(share) for share in dealt.T]
    assert all(a.max() <= b.min() for a, b in pairwise(rows))


def test_the_last_rows_are_held_out():
    table = Table.from_frame({"x": list("abcdefghij")})
    assert deal_cases(table, 1, 0.3, blocks=True)[:, 0].tolist() == [0] * 7 + [1] * 3


class Neighbours:
    """Predicts a row well when it has seen a row of the same epoch, as a hidden state would."""

    def __init__(self, rows):
        self.seen = set(rows.labels("epoch"))

    def row_log_likelihoods(self, rows):
        return np.log([0.9 if x in self.seen else 0.1 for x in rows.labels("epoch")])


def test_blocks_find_out_what_only_neighbours_know():
    table = Table.from_frame({"epoch": np.repeat(range(5), 20)})
    at_random = cross_validate(table, Neighbours, folds=5, seed=1)
    in_blocks = cross_validate(table, Neighbours, folds=5, seed=1, blocks=True)
    assert at_random.bits < 0.2 < 3 < in_blocks.bits
