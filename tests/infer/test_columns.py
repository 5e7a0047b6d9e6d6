"""Posteriors and fillings as columns of a table."""

import numpy as np
import pytest

from unveil import datasets
from unveil.errors import DataError
from unveil.infer import fill_in, with_posteriors

ASIA = datasets.network("asia")
ROWS = ASIA.sample(60, seed=1)


def test_a_variables_own_column_does_not_predict_it():
    with_it, without = (
        with_posteriors(ASIA, ROWS, ["lung"]),
        with_posteriors(ASIA, ROWS.without("lung")),
    )
    expected = ASIA.posterior(ROWS.without("lung"), of="lung")["lung"]
    for found in (with_it, without):
        assert found.column("P(lung=yes)") == pytest.approx(expected[:, 0])
        assert found.labels("predicted lung") == ASIA.posterior(
            ROWS.without("lung"), of="lung"
        ).best("lung")
    assert with_it.labels("lung") == ROWS.labels("lung")


def test_nothing_to_predict_or_nothing_shared():
    with pytest.raises(DataError, match="say which variable to predict") as refused:
        with_posteriors(ASIA, ROWS)
    assert refused.value.said("command").endswith("--of NAME")
    strangers = ROWS.select(["asia"]).with_column(
        ROWS.variable("asia").renamed("other"), ROWS.column("asia")
    )
    for call in (with_posteriors, fill_in):
        with pytest.raises(DataError, match="none of the network's variables"):
            call(ASIA, strangers.without("asia"))


def test_empty_cells_are_filled_and_others_stay():
    gaps = ROWS.knock_out(0.3, seed=2)
    best, drawn = fill_in(ASIA, gaps), fill_in(ASIA, gaps, draw=True, seed=3)
    for filled in (best, drawn):
        assert filled.n_missing == 0
        for name in ROWS.names:
            seen = ~gaps.missing(name)
            assert np.array_equal(filled.column(name)[seen], gaps.column(name)[seen])
    assert drawn == fill_in(ASIA, gaps, draw=True, seed=3)
    assert best == ASIA.most_probable(gaps).table
