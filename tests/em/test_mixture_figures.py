"""Standard errors, residuals, the bootstrap test and names of latent classes."""

import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pytest

from unveil import EquivalentSampleSize, Network, Table, TableCPD, Variable
from unveil.em.laplace import _curvature
from unveil.em.mixture import (
    bivariate_residuals,
    bootstrap_test,
    latent_classes,
    standard_errors,
)
from unveil.em.mixture.bootstrap import BootstrapTest, drawn_like
from unveil.em.mixture.information import Layout, information
from unveil.em.mixture.residuals import different_rows
from unveil.errors import DataError, SizeError
from unveil.infer.unseen import UnseenCells
from unveil.model.flat import FlatTables
from unveil.progress import Ticker

from .test_mixture import table_of, two_sides

# Seven pathologists on 118 slides, 1 for carcinoma (Landis and Koch 1977; Agresti 2002, p. 542).
CARCINOMA = {
    "0000000": 34, "0000100": 2, "0100000": 6, "0100001": 1, "0100100": 4, "0100101": 5,
    "1000000": 2, "1010101": 1, "1100000": 2, "1100001": 1, "1100100": 2, "1100101": 7,
    "1100111": 1, "1101001": 1, "1101101": 2, "1101111": 3, "1110101": 13, "1110111": 5,
    "1111101": 10, "1111111": 16,
}  # fmt: skip


def carcinoma() -> Table:
    codes = np.array([[int(x) for x in pattern] for pattern in CARCINOMA]).T
    variables = [Variable(name, [0, 1]) for name in "ABCDEFG"]
    return Table(variables, codes, list(CARCINOMA.values()))


def three_states(n_rows: int = 400, gaps: float = 0.0) -> tuple[Network, Table]:
    """A mixture of two classes whose columns have two, three and four states, and rows of it."""
    generator = np.random.default_rng(3)
    root = Variable("class", [1, 2], hidden=True)
    cpds = [TableCPD(root, [], [0.6, 0.4])]
    for i, n_states in enumerate((2, 3, 4, 3)):
        variable = Variable(f"x{i}", range(n_states))
        cpds.append(TableCPD(variable, [root], generator.dirichlet(np.ones(n_states), 2)))
    network = Network(cpds)
    return network, network.sample(n_rows, seed=4).without("class").knock_out(gaps, seed=5)


@pytest.fixture(scope="module")
def role_conflict():
    table = table_of("stouffer_toby")
    return table, latent_classes(table, n_classes=2, n_starts=4, seed=1, tolerance=1e-13)


# Fit and certainty ------------------------------------------------------------------------------


def test_fit_of_the_role_conflict_data_as_published(role_conflict):
    """Goodman (1974); to more digits by poLCA (Linzer and Lewis 2011), data set `values`."""
    fit = role_conflict[1].best.goodness
    assert fit.g2 == pytest.approx(2.719922, abs=1e-6)
    assert fit.x2 == pytest.approx(2.719764, abs=5e-6)
    assert fit.degrees_of_freedom == 6
    assert fit.p_g2 == pytest.approx(0.843, abs=5e-4)


def test_fit_of_the_carcinoma_data_as_published():
    """Linzer and Lewis (2011), Section 5.1, where degrees of freedom count cases, not cells."""
    found = latent_classes(carcinoma(), n_classes=(2, 3), n_starts=10, seed=1, tolerance=1e-12)
    assert [round(m.log_likelihood, 3) for m in found.mixtures] == [-317.257, -293.705]
    assert [round(m.goodness.g2, 3) for m in found.mixtures] == [62.365, 15.262]
    assert [round(m.goodness.x2, 3) for m in found.mixtures] == [92.648, 20.503]
    assert [round(m.usual_bic, 3) for m in found.mixtures] == [706.074, 697.136]
    assert [m.goodness.degrees_of_freedom for m in found.mixtures] == [127 - 15, 127 - 23]
    assert all(m.goodness.is_sparse for m in found.mixtures)
    assert found.best.shares == pytest.approx((0.4447, 0.3736, 0.1817), abs=5e-5)
    # Predicted class memberships by modal posterior: 51, 44 and 23 of 118.
    assert found.best.certainty.assigned.sum(axis=0) == pytest.approx([51, 44, 23])


def test_certainty_of_the_role_conflict_data_by_hand(role_conflict):
    table, found = role_conflict
    posterior, n = found.network.posterior(table, of="class")["class"], table.row_weights
    assert posterior.max(axis=1)[-1] == pytest.approx(0.959, abs=5e-4)  # published, poLCA
    sure = found.best.certainty
    error = n @ (1 - posterior.max(axis=1)) / n.sum()
    assert sure.classification_error == pytest.approx(error)
    entropy = -(n @ (posterior * np.log(posterior)).sum(axis=1)) / n.sum()
    assert sure.relative_entropy == pytest.approx(1 - entropy / math.log(2))
    share = np.array(found.best.shares)
    assert sure.entropy_r2 == pytest.approx(1 + entropy / (share @ np.log(share)), abs=1e-5)


def test_a_table_with_gaps_has_no_fit_but_certainty():
    found = latent_classes(two_sides().knock_out(0.1, seed=1), n_classes=2, n_starts=2, seed=1)
    assert found.best.goodness is None
    assert 0.5 < found.best.certainty.relative_entropy < 1
    assert "some rows have gaps" in str(found)


# Standard errors --------------------------------------------------------------------------------


def test_outer_products_as_published(role_conflict):
    """The standard errors that poLCA gives for the role conflict data."""
    table, found = role_conflict
    errors = standard_errors(found.network, "class", table, method="outer product")
    got = [errors.columns[f"x{i}"][:, 0].round(4).tolist() for i in range(4)]
    assert got == [[0.0393, 0.0254], [0.0489, 0.0649], [0.0482, 0.0642], [0.0379, 0.0929]]


@pytest.mark.parametrize("gaps", [0.0, 0.2])
def test_information_is_the_second_derivative(gaps):
    """Against differences of expected counts, in the middle of nowhere and with a prior."""
    network, table = three_states(gaps=gaps)
    prior = EquivalentSampleSize(7.0)
    flat = FlatTables(network)
    numeric = _curvature(
        flat,
        UnseenCells.to_learn_from(network, table),
        np.log(flat.pack(network)),
        flat.pack_prior(prior),
    )
    rows = different_rows(network, "class", table)
    matrix, _ = information(network, "class", rows, prior)
    places = Layout.of(network, "class", rows).multinomials()
    # There: column by column, class by class; here: class by class, column by column.
    by_column = [0, *(1 + c * 4 + j for j in range(4) for c in range(2))]
    free = np.concatenate([places[i][:-1] for i in by_column])
    np.testing.assert_allclose(matrix[np.ix_(free, free)], numeric, rtol=1e-5, atol=1e-5)


def test_one_class_has_the_errors_of_shares():
    """Without classes to guess, the error of a share p of n rows is sqrt(p (1 - p) / n)."""
    table = two_sides(300).knock_out(0.1, seed=1)
    network = latent_classes(table, n_classes=1, seed=1).network
    errors = standard_errors(network, "class", table)
    for name in table.names:
        p = network.cpd(name).values[0]
        n = (~table.missing(name)).sum()
        np.testing.assert_allclose(errors.columns[name][0], np.sqrt(p * (1 - p) / n))


def test_errors_are_the_spread_over_samples():
    table = two_sides(1000, flip=0.2, seed=1)
    found = latent_classes(table, n_classes=2, n_starts=2, seed=1)
    shares, firsts = [], []
    for seed in range(80):
        rows = found.network.sample(1000, seed=seed).without("class").folded()
        again = latent_classes(rows, n_classes=2, n_starts=1, seed=1, tolerance=1e-7).network
        shares.append(again.cpd("class").values[0])
        firsts.append(again.cpd("q0").values[:, 0])
    # The spread over 80 samples is itself known to about 8%.
    assert found.standard_errors.shares[0] == pytest.approx(np.std(shares), rel=0.25)
    errors = found.standard_errors.columns["q0"][:, 0]
    np.testing.assert_allclose(errors, np.std(firsts, axis=0), rtol=0.25)


def test_weights_count_as_rows_for_errors(role_conflict):
    table, found = role_conflict
    once = standard_errors(found.network, "class", table)
    fourfold = table.with_weights(4 * table.row_weights)
    np.testing.assert_allclose(
        standard_errors(found.network, "class", fourfold).shares, once.shares / 2
    )


def test_estimates_at_the_edge_have_no_error():
    errors = latent_classes(carcinoma(), n_classes=3, n_starts=10, seed=1).standard_errors
    assert errors.n_undetermined == 0
    assert np.isnan(errors.columns["A"][0]).all()  # 0 and 1 in the largest class
    assert errors.columns["D"][0, 1] == pytest.approx(0.07, abs=0.01)
    assert (errors.shares > 0.03).all()


def test_parameters_that_the_rows_do_not_tell_have_no_errors():
    """Three classes of four yes-no columns: of 14 parameters 13 can be told (Goodman 1974)."""
    table = table_of("stouffer_toby")
    found = latent_classes(table, n_classes=3, n_starts=10, seed=1)
    assert found.standard_errors.n_undetermined == 1
    assert np.isnan(found.standard_errors.shares).all()
    assert "no standard errors: the rows do not tell all parameters apart" in str(found)


def test_errors_before_convergence_or_of_huge_models_are_not_given(monkeypatch):
    table = two_sides(seed=1)
    hurried = latent_classes(table, n_classes=2, n_starts=1, max_iterations=2, seed=1)
    assert hurried.standard_errors is None
    found = latent_classes(table, n_classes=2, n_starts=1, seed=1)
    monkeypatch.setattr("unveil.em.mixture.information.MOST_WORK", 10.0)
    monkeypatch.setattr("unveil.em.mixture.residuals.MOST_WORK", 10.0)
    assert found.standard_errors is None
    assert found.residuals is None
    assert found.to_dict()["residuals"] is None
    with pytest.raises(SizeError, match="would take too long"):
        standard_errors(found.network, "class", table)
    with pytest.raises(DataError, match="not 'exact'"):
        standard_errors(found.network, "class", table, method="exact")


# Residuals --------------------------------------------------------------------------------------


def test_residuals_by_hand():
    network, table = three_states(gaps=0.1)
    found = {r.columns: r for r in bivariate_residuals(network, "class", table)}
    assert len(found) == 6
    share = network.cpd("class").values
    for a, b in itertools.combinations(table.names, 2):
        both = ~table.missing(a) & ~table.missing(b)
        x2 = 0.0
        for i, j in itertools.product(*(range(table.variable(n).n_states) for n in (a, b))):
            seen = (table.column(a)[both] == i) & (table.column(b)[both] == j)
            p = sum(share[c] * network.cpd(a).values[c, i] * network.cpd(b).values[c, j]
                    for c in range(2))  # fmt: skip
            x2 += (seen.sum() - both.sum() * p) ** 2 / (both.sum() * p)
        assert found[a, b].x2 == pytest.approx(x2)
        assert found[a, b].value == pytest.approx(x2 / found[a, b].degrees_of_freedom)


def test_a_pair_that_goes_together_beyond_the_classes_comes_first():
    table = two_sides(1000, seed=2)
    twin = np.where(np.random.default_rng(1).random(1000) < 0.2, "no", table.labels("q0"))
    more = table.with_column(Variable("twin", ["no", "yes"]), (twin == "yes").astype(int))
    found = latent_classes(more, n_classes=2, n_starts=4, seed=1)
    assert found.residuals[0].columns == ("q0", "twin")
    assert found.residuals[0].value > 20
    assert "the classes do not explain (bivariate residuals): q0 and twin" in str(found)
    one = latent_classes(table.select(["q0"]), n_classes=1, seed=1)
    assert one.residuals == []


# The bootstrap test -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tested():
    table = two_sides(200, seed=3, n_columns=4)
    return latent_classes(table, n_classes=(1, 2, 3), n_starts=2, seed=1, bootstrap=19)


def test_the_bootstrap_test_finds_two_classes_and_no_third(tested):
    assert tested[1].test is None
    assert tested[2].test.p_value == pytest.approx(1 / 20)
    assert tested[3].test.p_value > 0.05
    assert len(tested[2].test.samples) == 19
    assert min(tested[2].test.samples) > -0.01
    gain = tested[2].log_likelihood - tested[1].log_likelihood
    assert tested[2].test.statistic == pytest.approx(2 * gain)
    again = latent_classes(tested.table, n_classes=(1, 2), n_starts=2, seed=1, bootstrap=19)
    assert again[2].test == tested[2].test


def test_gains_by_chance_in_noise():
    """Two classes against one of four columns: five parameters more, and a gain beyond them."""
    noise = two_sides(200, flip=0.5, seed=4, n_columns=4)
    found = latent_classes(noise, n_classes=(1, 2), n_starts=2, seed=1)
    test = bootstrap_test(noise, found[1].network, found[2].network, n_samples=20, seed=1)
    assert test.p_value > 0.05
    assert 4 < np.mean(test.samples) < 14


def test_p_values_count_samples_that_reach_the_statistic():
    test = BootstrapTest(3, 5.0, (1.0, 5.0, 7.0, 2.0), 4, "converged")
    assert test.p_value == pytest.approx(3 / 5)
    assert test.words == "3 classes against 2: 2 x gain 5.00, p = 0.600 from 4 samples"
    none = BootstrapTest(3, 5.0, (), 4, "time limit")
    assert math.isnan(none.p_value)
    assert "no sample was finished (time limit)" in none.words


def test_drawn_tables_have_the_size_and_the_gaps_of_the_original():
    network, table = three_states(200, gaps=0.3)
    drawn = drawn_like(table.folded(), network, np.random.default_rng(1))
    assert drawn.total_weight == 200
    for name in table.names:
        assert drawn.row_weights[drawn.missing(name)].sum() == table.missing(name).sum()
    halves = table.with_weights(np.full(200, 0.5))
    assert drawn_like(halves, network, np.random.default_rng(1)).total_weight == 100


def test_the_bootstrap_test_keeps_to_its_time_and_its_door():
    table = two_sides(400, seed=5)
    found = latent_classes(
        table, n_classes=(1, 2), n_starts=4, seed=1, bootstrap=10**6, time_limit=1
    )
    assert 0 < len(found[2].test.samples) < 1000
    assert "of 1000000 samples (time limit)" in found[2].test.words
    assert found[2].test.stopped == "time limit"
    assert found.stopped == "time limit"
    hurried = latent_classes(
        table, range(1, 8), n_starts=1, seed=1, bootstrap=10**6, time_limit=3, tolerance=1e-5
    )
    done = {m.n_classes: len(m.test.samples) for m in hurried.mixtures if m.test}
    assert done[2] == max(done.values()) > 0  # two were chosen: that test comes first
    pair = found[1].network, found[2].network
    with pytest.raises(DataError, match="k classes against k - 1; these have 2 and 2"):
        bootstrap_test(table, pair[1], pair[1])
    with pytest.raises(DataError, match="at least one sample, got 0"):
        bootstrap_test(table, *pair, n_samples=0)
    with pytest.raises(DataError, match="a number of samples, or 0 for none; got -1"):
        latent_classes(table, n_classes=2, bootstrap=-1)
    late = bootstrap_test(table, *pair, progress=Ticker(None, 0.0))
    assert late.samples == ()


def test_what_the_test_says_against_the_choice_is_noted(tested):
    assert not any("classes against" in note for note in tested.notes)
    notes = replace(tested, n_classes=3).notes
    assert any(n.startswith("chance may have given the last class: 3 cl") for n in notes)
    notes = replace(tested, n_classes=1).notes
    assert any(n.startswith("the bootstrap test asks for more classes: 2 cl") for n in notes)


# Names ------------------------------------------------------------------------------------------


def test_classes_can_be_named():
    table = two_sides(seed=6)
    found = latent_classes(table, n_starts=2, seed=1, name="answer", state_names=["most", "few"])
    assert found.n_classes == 2
    assert found.network.variable("answer").labels == ("most", "few")
    assert [p.words.split(",")[0] for p in found.profiles] == ["answer = most", "answer = few"]
    several = latent_classes(table, [1, 2, 3], n_starts=2, seed=1, state_names=["most", "few"])
    assert several[3].network.variable("class").labels == (1, 2, 3)
    assert several[2].network.variable("class").labels == ("most", "few")
    with pytest.raises(DataError, match="3 names of classes were given, but no mixture"):
        latent_classes(table, [1, 2], state_names=["a", "b", "c"])
    with pytest.raises(DataError, match="the state 'a' twice"):
        latent_classes(table, state_names=["a", "a"])


def test_classes_can_be_named_afterwards():
    table = two_sides(seed=7)
    plain = latent_classes(table, [1, 2], n_starts=2, seed=1)
    found = plain.named("answer", ["most", "few"])
    assert found.network.variable("answer").labels == ("most", "few")
    assert all("answer" in s.network.names for m in found.mixtures for s in m.starts)
    assert found.network.log_likelihood(table) == pytest.approx(plain.best.log_likelihood)
    assert plain.named(states=["most", "few"]).name == "class"
    np.testing.assert_allclose(found.standard_errors.shares, plain.standard_errors.shares)
    with pytest.raises(DataError, match="there are 2 classes; 3 names"):
        plain.named(states=["a", "b", "c"])
    with pytest.raises(DataError, match="the table has a column 'q0'"):
        plain.named("q0")


def test_so_many_cells_that_nobody_counts_them():
    table = two_sides(30, n_columns=70)
    found = latent_classes(table, n_classes=2, n_starts=1, seed=1)
    assert "about 10^21 degrees of freedom; 30 cases are too few for about 10^21 cells" in str(
        found
    )
    fit = json.loads(json.dumps(found.to_dict(), allow_nan=False))["mixtures"][0]["goodness"]
    assert fit["degrees_of_freedom"] > 10**20
    assert fit["n_cases"] == 30


def test_all_figures_for_json():
    found = latent_classes(two_sides(seed=8), [1, 2], n_starts=2, seed=1, bootstrap=3)
    summary = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    one, two = summary["mixtures"]
    assert one["certainty"]["relative_entropy"] is None
    assert one["test"] is None
    assert two["test"]["p_value"] == found[2].test.p_value
    assert two["goodness"]["g2"] == found[2].goodness.g2
    assert two["goodness"]["p_g2"] == found[2].goodness.p_g2
    assert np.shape(two["certainty"]["assigned"]) == (2, 2)
    assert two["usual_bic"] == -2 * found[2].bic
    assert [p["state"] for p in summary["profiles"]] == [1, 2]
    assert summary["standard_errors"]["shares"] == found.standard_errors.shares.tolist()
    assert np.shape(summary["standard_errors"]["columns"]["q0"]) == (2, 2)
    assert len(summary["residuals"]) == 10
    assert summary["residuals"][0]["value"] == found.residuals[0].value
    assert "table" not in summary
