"""`refit`: a known structure and whatever table (the command line's tests ask for more)."""

import numpy as np
import pytest

from unveil import Network, datasets
from unveil.em import fit_em, refit
from unveil.errors import DataError, UnveilWarning
from unveil.model import EquivalentSampleSize

ASIA = datasets.network("asia")
ROWS = ASIA.sample(200, seed=1)
PRIOR = EquivalentSampleSize(1.0)


def test_a_complete_table_is_counted():
    found = refit(ASIA, ROWS, PRIOR)
    assert found.em is None
    assert found.network == Network.fit(ASIA.dag, ROWS, PRIOR)


def test_gaps_go_through_em_from_the_models_own_parameters():
    gaps = ROWS.knock_out(0.2, seed=2)
    found = refit(ASIA, gaps, n_starts=1, seed=1)
    assert found.network == fit_em(ASIA, gaps, n_starts=1, seed=1).network
    assert found.to_dict()["em"]["starts"][0]["kind"] == "given"


def test_with_a_prior_no_zero_stays():
    """`either` is a logical or: its zeros would be kept by EM for ever."""
    found = refit(ASIA, ROWS.without("lung"), PRIOR, n_starts=1, seed=1)
    assert (ASIA.cpd("either").values == 0).any()
    assert not (found.network.cpd("either").values == 0).any()


def test_columns_of_no_concern_are_left_out_with_a_word():
    more = ROWS.with_column(ROWS.variable("asia").renamed("other"), ROWS.column("asia"))
    with pytest.warns(UnveilWarning, match="does not have are left out: other"):
        found = refit(ASIA, more)
    assert found.table.names == ASIA.names
    with pytest.raises(DataError, match="none of the structure's variables"):
        refit(ASIA, more.select(["other"]))


def test_labels_that_the_model_does_not_know():
    labels = np.array(ROWS.labels("smoke"), dtype=object)
    labels[0] = "sometimes"
    columns = ROWS.to_dict() | {"smoke": labels}
    odd = type(ROWS).from_frame(columns)
    with pytest.raises(DataError, match="sometimes"):
        refit(ASIA, odd)
    with pytest.warns(UnveilWarning, match="1 cell taken as missing"):
        assert refit(ASIA, odd, unknown="missing", n_starts=1, seed=1).table.n_missing == 1
    with pytest.warns(UnveilWarning, match="other states than the structure has"):
        found = refit(ASIA, odd.without("lung"), declared=["smoke"], n_starts=1, seed=1)
    assert found.network.variable("smoke").n_states == 3
