"""G2 and X2 against brute force over all cells; certainty against hand-made posteriors."""

import itertools
import math

import numpy as np
import pytest

from unveil import DAG, Network, Table, TableCPD, Variable, datasets
from unveil.errors import DataError
from unveil.evaluate import certainty_of, goodness_of_fit
from unveil.model import fit


def test_all_cells_of_a_small_network():
    """Every cell of asia by name, those that no row has included."""
    asia = datasets.network("asia")
    rows = asia.sample(300, seed=1)
    g2 = x2 = 0.0
    for cell in itertools.product(*(v.labels for v in asia.variables)):
        one = Table.from_frame({n: [x] for n, x in zip(asia.names, cell, strict=True)})
        expected = 300 * math.exp(asia.log_likelihood(one.conform(asia.variables)))
        observed = sum(tuple(rows.row(i).values()) == cell for i in range(300))
        g2 += 2 * observed * math.log(observed / expected) if observed else 0.0
        x2 += (observed - expected) ** 2 / expected if expected > 0 else 0.0
    got = goodness_of_fit(asia, rows)
    assert got.g2 == pytest.approx(g2)
    assert got.x2 == pytest.approx(x2)
    assert got.degrees_of_freedom == 255 - asia.n_parameters
    assert got.is_sparse


def test_g2_is_twice_what_the_saturated_model_gains():
    rows = datasets.table("college_plans")
    names = rows.names
    full = fit(DAG(names, list(itertools.combinations(names, 2))), rows)
    empty = fit(DAG(names), rows)
    got = goodness_of_fit(empty, rows)
    gain = full.log_likelihood(rows) - empty.log_likelihood(rows)
    assert got.g2 == pytest.approx(2 * gain)
    assert got.degrees_of_freedom == full.n_parameters - empty.n_parameters
    assert goodness_of_fit(full, rows).g2 == pytest.approx(0, abs=1e-6)
    assert math.isnan(goodness_of_fit(full, rows).p_g2)
    assert not got.is_sparse


def test_p_values_of_a_true_model_are_evenly_spread():
    coin = [TableCPD(Variable(n, [0, 1]), [], [0.4, 0.6]) for n in "ab"]
    network = Network(coin)
    p = []
    for seed in range(200):
        rows = network.sample(500, seed=seed)
        p.append(goodness_of_fit(fit(network.dag, rows), rows).p_x2)
    assert 0.42 < np.mean(p) < 0.58
    assert 0.02 < np.mean(np.array(p) < 0.1) < 0.2


def test_gaps_are_refused_and_many_columns_are_not():
    wide = Table.from_frame({f"x{i}": [0, 1, 1] for i in range(1100)})
    got = goodness_of_fit(fit(DAG(wide.names), wide), wide)
    assert got.n_cells == 2**1100
    assert got.g2 == pytest.approx(2 * 3 * (1100 - 1) * (math.log(3) - 2 / 3 * math.log(2)))
    assert got.p_g2 == pytest.approx(1.0)
    assert got.is_sparse
    with pytest.raises(DataError, match="some rows have gaps"):
        goodness_of_fit(fit(DAG(wide.names), wide), wide.knock_out(0.1, seed=1))


def _hidden(share, table):
    root, x = Variable("h", range(len(share)), hidden=True), Variable("x", range(len(table[0])))
    return Network([TableCPD(root, [], share), TableCPD(x, [root], table)])


def test_nothing_told_and_everything_told():
    rows = Table([Variable("x", [0, 1])], [[0, 0, 0, 1]])
    sure = certainty_of(_hidden([0.75, 0.25], np.eye(2)), "h", rows)
    assert sure.relative_entropy == sure.entropy_r2 == 1
    assert sure.classification_error == 0
    assert sure.assigned.tolist() == [[3, 0], [0, 1]]
    blind = certainty_of(_hidden([0.75, 0.25], np.full((2, 2), 0.5)), "h", rows)
    assert blind.entropy_r2 == pytest.approx(0)
    assert blind.classification_error == pytest.approx(0.25)
    assert 0 < blind.relative_entropy < 0.25  # the shares alone tell something against 50 : 50
    assert blind.mean_posteriors[0] == pytest.approx(0.75)
    assert math.isnan(blind.mean_posteriors[1])
    single = certainty_of(_hidden([1.0], [[0.5, 0.5]]), "h", rows)
    assert math.isnan(single.relative_entropy)
    assert single.assigned.tolist() == [[4]]


def test_weights_count_and_rows_of_none_do_not():
    network = _hidden([0.6, 0.4], [[0.9, 0.1], [0.2, 0.8]])
    rows = Table([Variable("x", [0, 1])], [[0, 1, 1]], [3, 1, 0])
    plain = Table([Variable("x", [0, 1])], [[0, 0, 0, 1]])
    assert certainty_of(network, "h", rows) == certainty_of(network, "h", plain)
