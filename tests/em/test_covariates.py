"""Class membership by covariates, against closed forms and the library's own EM."""

import numpy as np
import pytest

from unveil import DAG, Table, Variable, fit_em, latent_classes
from unveil.cli import main
from unveil.em.mixture import class_regression
from unveil.em.mixture.covariates import _newton, _softmax, _Work
from unveil.errors import DataError, UnveilWarning
from unveil.table.core import missing_code


def rows(n=1500, sure=0.9, seed=1, slope=1.2):
    """Answers of two kinds of people; the older, and those in town, are rather of the second."""
    generator = np.random.default_rng(seed)
    town = generator.integers(2, size=n)
    age = generator.normal(50, 10, size=n)
    odds = -0.4 + slope * town + 0.08 * (age - 50)
    kind = (generator.random(n) < 1 / (1 + np.exp(-odds))).astype(int)
    columns = {
        name: np.where(generator.random(n) < sure, kind, 1 - kind).tolist() for name in "abcde"
    }
    return Table.from_frame(
        {**columns, "town": np.where(town, "yes", "no").tolist(), "age": age}
    ), kind


def test_a_binary_covariate_is_saturated_as_a_network_with_an_arc_is():
    """P(x | z) of the network z -> class -> x: the same model, fitted by EM of networks."""
    table, _ = rows(800, 0.8)
    discrete = table.without("age")
    found = latent_classes(discrete, 2, covariates="town", n_starts=4, seed=1)
    logit = found.regression
    arcs = [("town", "class"), *(("class", c) for c in "abcde")]
    whole = fit_em(
        DAG(["town", "class", *"abcde"], arcs), discrete, hidden={"class": 2}, n_starts=6, seed=1,
        tolerance=1e-12, max_iterations=5000,
    )  # fmt: skip
    alone = fit_em(DAG(["town"]), discrete.select(["town"])).log_likelihood
    assert logit.log_likelihood == pytest.approx(whole.log_likelihood - alone, abs=1e-4)
    assert logit.stopped == "converged"
    # Group-wise shares: in each group the mean posterior of its rows.
    town = Table.from_frame({"town": ["no", "yes"]})
    shares = np.sort(logit.shares(town), axis=1)
    expected = np.sort(whole.network.cpd("class").with_parent_order(["town"]).values, axis=1)
    assert shares == pytest.approx(expected, abs=1e-3)


def test_when_classes_are_certain_odds_and_errors_are_those_of_the_four_cells():
    """log(n11 n00 / n10 n01) and sqrt(1/n11 + 1/n00 + 1/n10 + 1/n01)."""
    table, kind = rows(600, sure=1.0)
    town = np.array(table.labels("town")) == "yes"
    logit = latent_classes(table.without("age"), 2, covariates="town", seed=1).regression
    cells = np.array([[np.sum((kind == k) & (town == t)) for t in (0, 1)] for k in (0, 1)])
    odds = np.log(cells[1, 1] * cells[0, 0] / (cells[1, 0] * cells[0, 1]))
    assert abs(logit.coefficients[1, 1]) == pytest.approx(odds, abs=1e-5)
    assert logit.standard_errors[1, 1] == pytest.approx(np.sqrt((1 / cells).sum()), rel=1e-4)
    assert logit.terms == ("constant", "town = yes")


def test_numbers_and_labels_together_find_the_odds_that_made_the_rows():
    table, _ = rows(4000)
    found = latent_classes(table, 2, covariates=["town", "age"], n_starts=2, seed=1)
    logit = found.regression
    assert logit.terms == ("constant", "town = yes", "age")
    sign = np.sign(logit.coefficients[1, 1])
    slopes = sign * logit.coefficients[1, 1:]
    errors = logit.standard_errors[1, 1:]
    assert (errors > 0).all()
    assert (np.abs(slopes - [1.2, 0.08]) < 3 * errors).all()
    assert set(found.network.names) == {"class", *"abcde"}


def test_weights_count_as_rows():
    table, _ = rows(200, 0.85)
    table = table.without("age")
    twice = table.take(np.repeat(np.arange(200), 2))
    options = {"covariates": "town", "n_starts": 4, "seed": 1}
    one = latent_classes(twice, 2, **options).regression
    other = latent_classes(table.with_weights(np.full(200, 2.0)), 2, **options).regression
    assert one.coefficients == pytest.approx(other.coefficients, abs=1e-4)
    assert one.standard_errors == pytest.approx(other.standard_errors, rel=1e-3)


def test_a_newton_step_never_lowers_the_objective_and_ends_where_the_gradient_does(random_seed):
    generator = np.random.default_rng(random_seed)
    z = np.column_stack([np.ones(80), generator.normal(size=(80, 2))])
    posterior = generator.dirichlet(np.ones(3), size=80)
    weights = generator.exponential(size=80)
    work = _Work(np.zeros((80, 2)), z, weights, (2,), 3)
    slopes = generator.normal(size=(3, 3)) * 3
    slopes[0] = 0
    values = []
    for _ in range(40):
        logs = np.log(_softmax(z @ slopes.T))
        values.append(weights @ (posterior * logs).sum(axis=1))
        slopes = _newton(work, slopes, posterior)
    assert (np.diff(values) > -1e-9).all()
    gradient = ((posterior - _softmax(z @ slopes.T)) * weights[:, None]).T @ z
    assert np.abs(gradient).max() < 1e-6


def test_rows_without_a_covariate_are_left_out_and_told_of():
    table, _ = rows(300)
    column = table.column("town").copy()
    column[:7] = missing_code(column.dtype)
    gone = table.without("age").with_column(Variable("town", ["no", "yes"]), column)
    with pytest.warns(UnveilWarning, match="7 rows lack a covariate"):
        logit = latent_classes(gone, 2, covariates="town", n_starts=2, seed=1).regression
    assert logit.n_left_out == 7


def test_what_cannot_be_explained_is_refused_or_told():
    table, _ = rows(100)
    same = Table.from_frame({"town": ["no"] * 100})
    found = latent_classes(table.without(["town", "age"]), 2, n_starts=2, seed=1)
    with pytest.raises(DataError, match="the same in all rows"):
        class_regression(found, table.without(["town", "age"]), same)
    with pytest.warns(UnveilWarning, match="a single class was chosen"):
        assert latent_classes(table.without("age"), 1, covariates="town").regression is None


def test_the_command_shows_the_odds(tmp_path, capsys):
    data, out = tmp_path / "rows.csv", tmp_path / "figures.json"
    rows(500)[0].write(data)
    words = ["cluster", str(data), "--n-classes", "2", "--covariate", "town,age", "--n-starts", "2"]
    assert main([*words, "--seed", "1", "--summary", str(out)]) == 0
    said = capsys.readouterr().out
    assert "log-odds of class membership against class 1" in said
    assert "town = yes" in said
    assert '"regression"' in out.read_text()
