"""Rows keep their names: identifiers, columns left out and numbers travel along."""

import numpy as np
import pytest

from unveil import Table, Variable
from unveil.discovery import Settings, discover
from unveil.discovery.beside import Beside, beside, rows_with_states
from unveil.errors import DataError
from unveil.table import prepare

QUICK = Settings(
    max_hidden=1, max_candidates=2, max_adapted=1, max_polished=1, restarts=0, max_luck=0.4
)


@pytest.fixture(scope="module")
def rows():
    """Four answers of people with names and ages; `ill` is what is behind the answers."""
    generator = np.random.default_rng(3)
    ill = generator.integers(2, size=500)
    columns = {"who": [f"p{i:03}" for i in range(500)], "age": generator.uniform(20, 80, 500)}
    for name in "abcd":
        copied = generator.random(500) < 0.85
        columns[name] = np.where(copied, ill, 1 - ill)
    columns["ill"] = np.where(ill == 1, "yes", "no").tolist()
    return Table.from_frame(columns)


@pytest.fixture(scope="module")
def report(rows):
    return discover(
        rows, id="who", drop=["age"], compare=["ill"], settings=QUICK, seed=1, resamples=0,
        straw_men=False, n_jobs=1,
    )  # fmt: skip


def test_nothing_is_learned_from_columns_that_travel_along(report):
    assert set(report.network.names) == {"a", "b", "c", "d", "H1"}
    assert report.table.names == ("a", "b", "c", "d")


def test_they_stand_beside_the_posteriors(report, rows):
    out = report.posteriors()
    assert out.names == ("who", "a", "b", "c", "d", "age", "ill", "H1", "P(H1=0)", "P(H1=1)")
    for name in ("who", "age", "ill", "a"):
        assert out.labels(name) == rows.labels(name)
    np.testing.assert_array_equal(out.column("P(H1=1)"), report.meaning["H1"].posterior[:, 1])


def test_hidden_states_are_compared_with_a_column_kept_out(report):
    (found,) = report.agreements
    assert (found.name, found.column, found.values) == ("H1", "ill", ("no", "yes"))
    assert found.counts.sum() == 500
    assert found.adjusted_rand > 0.5
    assert found.guessed > 0.85
    assert report.to_dict()["agreements"][0]["words"] == found.words


def test_numbers_stand_beside_their_bins(rows):
    learned = prepare(rows, drop=["who"], discretize="equal_frequency").table
    kept = beside(rows, learned, "who")
    assert kept.name_of(7) == "p007"
    assert float(kept.number(7, "age")) == pytest.approx(rows.column("age")[7])
    assert kept.number(7, "a") is None
    out = rows_with_states(learned, kept, None, {})
    assert out.names[:3] == ("who", "age", "age (number)")
    assert out.labels("age (number)") == rows.labels("age")


def test_names_that_are_taken_get_a_stroke(report, rows):
    renamed = Table(
        [Variable("P(H1=0)", v.states) if v.name == "who" else v for v in rows.variables],
        [rows.column(n) for n in rows.names],
    )
    out = report.with_rows(renamed, "P(H1=0)").posteriors()
    assert out.names[0] == "P(H1=0)"
    assert "P(H1=0)'" in out.names


def test_without_an_identifier_rows_have_numbers():
    assert Beside().name_of(4) == "5"


def test_other_rows_and_columns_that_are_not_there_are_refused(report, rows):
    with pytest.raises(DataError, match="500 rows, the one learned from 3"):
        beside(rows, rows.take([0, 1, 2]))
    with pytest.raises(DataError, match="no column 'nobody'"):
        report.with_rows(rows, id="nobody")
    with pytest.raises(DataError, match="no column 'nobody'"):
        discover(rows, id="nobody", settings=QUICK)
