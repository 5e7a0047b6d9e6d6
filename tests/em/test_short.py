"""Short EM: the same whether families that rows show whole are carried along or taken out."""

import numpy as np
import pytest

from unveil import DAG, EquivalentSampleSize, Variable, datasets
from unveil.em import fit_em, short
from unveil.em.short import short_em
from unveil.errors import DataError
from unveil.model import fit

PRIOR = EquivalentSampleSize(1.0)
ALARM = datasets.network("alarm")


def tables(network):
    return np.concatenate([network.cpd(n).values.ravel() for n in ALARM.names])


@pytest.mark.parametrize("prior", [PRIOR, None])
@pytest.mark.parametrize("gaps", [(), ("HR", "CATECHOL")])
def test_taken_out_or_not(monkeypatch, prior, gaps):
    rows = ALARM.sample(500, seed=1).without(["LVEDVOLUME"])
    for name in gaps:
        states = rows.column(name).astype(np.int64)
        states[::7] = -1
        rows = rows.with_column(rows.variable(name), states)
    start = fit_em(ALARM.dag, rows, PRIOR, {"LVEDVOLUME": 3}, max_iterations=3, seed=1).network
    whole = short_em(start, rows, prior, 20, 0.0)
    monkeypatch.setattr(short, "LARGE", 0)
    parted = short_em(start, rows, prior, 20, 0.0)
    assert parted.names == whole.names
    np.testing.assert_allclose(tables(parted), tables(whole), atol=1e-9)
    assert parted.log_likelihood(rows) == pytest.approx(whole.log_likelihood(rows))


def test_stops_where_it_would_have(monkeypatch):
    """The tolerance is a share of the whole objective also when large families are taken out."""
    rows = ALARM.sample(500, seed=1).without(["LVEDVOLUME"])
    start = fit_em(ALARM.dag, rows, PRIOR, {"LVEDVOLUME": 3}, max_iterations=3, seed=1).network
    whole = short_em(start, rows, PRIOR, 500, 1e-6)
    monkeypatch.setattr(short, "LARGE", 0)
    parted = short_em(start, rows, PRIOR, 500, 1e-6)
    assert parted.log_likelihood(rows) == pytest.approx(whole.log_likelihood(rows), abs=0.05)


def test_nothing_lacking(monkeypatch):
    monkeypatch.setattr(short, "LARGE", 0)
    rows = datasets.network("asia").sample(200, seed=1)
    dag = DAG(rows.names, [("smoke", "lung")])
    found = short_em(fit(dag, rows.take(np.arange(50)), PRIOR), rows, PRIOR, 10)
    assert found == fit(dag, rows, PRIOR)


def test_columns_with_their_states_in_another_order(monkeypatch):
    monkeypatch.setattr(short, "LARGE", 0)
    asia = datasets.network("asia")
    rows = asia.sample(200, seed=1).without(["either"])
    turned = rows.conform([Variable(v.name, v.labels[::-1]) for v in rows.variables])
    here, there = (short_em(asia, r, PRIOR, 5) for r in (rows, turned))
    assert here == there


@pytest.mark.parametrize("large", [0, 10**9])
def test_rows_without_weight_are_refused(monkeypatch, large):
    monkeypatch.setattr(short, "LARGE", large)
    asia = datasets.network("asia")
    with pytest.raises(DataError, match="the weights of all rows are zero"):
        short_em(asia, asia.sample(20, seed=1).with_weights(np.zeros(20)), PRIOR, 5)
