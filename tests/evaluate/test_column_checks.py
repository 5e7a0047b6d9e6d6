"""Columns predicted from the others: by the joint normal, and words where it does not hold."""

import numpy as np
import pytest

from unveil import DAG, Table, Variable, fit
from unveil.evaluate import column_checks

NAMES = "abcd"


@pytest.fixture(scope="module")
def rows():
    generator = np.random.default_rng(1)
    h = generator.normal(size=400)
    return {n: h + 0.5 * generator.normal(size=400) for n in NAMES}


def graph():
    return DAG([*NAMES, "H"], [("H", n) for n in NAMES])


def test_the_share_is_that_of_a_regression_on_all_others(rows):
    network = fit(graph(), rows, hidden={"H": Variable("H")}, seed=1)
    for check in column_checks(network, rows):
        others = np.column_stack([rows[n] for n in NAMES if n != check.name])
        y = rows[check.name] - rows[check.name].mean()
        left = y - others @ np.linalg.lstsq(others - others.mean(axis=0), y, rcond=None)[0]
        assert check.r_squared == pytest.approx(1 - left.var() / y.var(), abs=0.01)
        assert check.words == "looks like noise"


def test_a_bend_and_a_gap(rows):
    bent = {**rows, "d": rows["d"] ** 2}
    bent["a"] = np.where(np.arange(400) < 10, np.nan, bent["a"])
    network = fit(graph(), Table.from_frame(rows), hidden={"H": Variable("H")}, seed=1)
    checks = {c.name: c for c in column_checks(network, bent)}
    assert "bent" in checks["d"].words
    assert checks["a"].row > 10
