"""Weights at their extremes: a sensible result everywhere, or a sentence that names them."""

import numpy as np
import pytest

from unveil import DAG, datasets, discover, latent_classes, learn
from unveil.discovery import Settings
from unveil.errors import DataError, UnveilWarning
from unveil.evaluate import cross_validate
from unveil.model import fit
from unveil.table import Table

ROWS = datasets.network("asia").sample(200, seed=1)
QUICK = Settings(max_hidden=1, max_candidates=2, max_adapted=1, max_polished=1, restarts=1)

WORK = {
    "describe": lambda table: table.describe(),
    "learn": lambda table: learn(table).network,
    "by BIC": lambda table: learn(table, "bic", "tabu").network,
    "classes of graphs": lambda table: learn(table, search="equivalence").network,
    "with gaps": lambda table: learn(table.knock_out(0.1, seed=1), max_rounds=3).network,
    "fit": lambda table: fit(DAG(table.names, [("smoke", "lung")]), table),
    "latent classes": lambda table: latent_classes(table, 2, seed=1).network,
    "cross-validation": lambda table: cross_validate(
        table, lambda rows: learn(rows).network, folds=3, seed=1
    ),
    "discover": lambda table: (
        discover(table, seed=1, settings=QUICK, n_jobs=1, resamples=1, straw_men=False).network
    ),
}


def weights(few, many):
    """Every seventh row weighs much, the others little."""
    chosen = np.full(ROWS.n_rows, few)
    chosen[::7] = many
    return chosen


@pytest.mark.parametrize("work", WORK)
@pytest.mark.parametrize(
    ("few", "many"), [(1e-3, 1e16), (1.0, 1e97), (1e-300, 1e-300), (1e-300, 1.0)]
)
def test_any_size_of_weight_can_be_worked_with(work, few, many):
    """Warnings of overflow and of numbers that are none are errors here.

    That candidates are looked for in drawn rows is told where weights stand for many.
    """
    if work == "discover" and many > 1:
        with pytest.warns(UnveilWarning, match=r"looked for in 10,000 of them") as told:
            WORK[work](ROWS.with_weights(weights(few, many)))
        assert len(told) == 1
        return
    WORK[work](ROWS.with_weights(weights(few, many)))


def test_what_weighs_nothing_beside_the_rest_changes_nothing():
    heavy = ROWS.take(np.arange(ROWS.n_rows) % 7 == 0)
    alone = learn(heavy.with_weights(np.full(heavy.n_rows, 1e16))).network
    assert set(learn(ROWS.with_weights(weights(1e-3, 1e16))).network.dag.arcs) == set(
        alone.dag.arcs
    )


def test_tiny_weights_teach_nothing():
    assert not learn(ROWS.with_weights(np.full(ROWS.n_rows, 1e-300))).network.dag.arcs


@pytest.mark.parametrize("heaviest", [1e300, 1.7e308, 1e101])
def test_weights_beyond_reckoning_are_refused_by_row(heaviest):
    with pytest.raises(DataError, match=r"row 3: a weight of .* divide all of them by"):
        ROWS.take([0, 1, 2, 3]).with_weights([1, 2, heaviest, heaviest])


def test_weights_of_a_file_are_refused_by_its_name(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,w\na,1\nb,1e300\n")
    with pytest.raises(DataError, match=r"t\.csv, row 2, column 'w': a weight of 1e\+300"):
        Table.read(path, weights="w")


def test_weights_with_decimal_commas_are_told_so(tmp_path):
    path = tmp_path / "gewichte.csv"
    path.write_text("a;Gewicht\nx;1,08\ny;0,5\n")
    with pytest.raises(DataError, match=r"'1,08' is no weight.*decimal comma; write such numbers"):
        Table.read(path, weights="Gewicht")
