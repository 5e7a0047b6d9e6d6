"""Gaussian distributions: their numbers, their words, their fits, and what they refuse."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from unveil import Network, Table, TableCPD, Variable
from unveil.errors import DataError, ModelError, UnveilError, UnveilWarning
from unveil.model import CPD, ConditionalGaussianCPD, LinearGaussianCPD, fit_gaussian
from unveil.model.conditional_gaussian_cpd import fit_conditional_gaussian
from unveil.model.gaussian_cpd import fit_linear_gaussian, linear_gaussian_from_moments
from unveil.statistics import GaussianMoments

A, B, X = Variable("a"), Variable("b"), Variable("x")
D, E = Variable("d", ["lo", "hi"]), Variable("e", [1, 2, 3])


def linear():
    return LinearGaussianCPD(X, [A, B], 0.1, [2.0, -1 / 3], 0.7)


def conditional():
    generator = np.random.default_rng(0)
    shape = (2, 3)
    return ConditionalGaussianCPD(
        X,
        [A, D, B, E],
        generator.normal(size=shape),
        generator.normal(size=(*shape, 2)),
        generator.random(shape) + 0.1,
    )


# Both kinds ------------------------------------------------------------------------------------


@pytest.mark.parametrize("cpd", [linear(), conditional()])
def test_the_protocol_and_a_lossless_round_trip(cpd):
    assert isinstance(cpd, CPD)
    fields = json.loads(json.dumps(cpd.to_dict()))
    again = type(cpd).from_dict(cpd.variable, cpd.parents, fields)
    assert again == cpd
    assert again != cpd.with_variables(Variable("z"), cpd.parents)
    assert cpd.with_variables(Variable("z"), cpd.parents).variable.name == "z"
    assert cpd.variable.name in cpd.describe()
    assert "P(x | a" in repr(cpd)


@pytest.mark.parametrize("cpd", [linear(), conditional()])
def test_densities_row_by_row(cpd):
    generator = np.random.default_rng(1)
    columns = [
        generator.integers(0, p.n_states, 20).astype(np.uint8)
        if p.is_discrete
        else generator.normal(size=20)
        for p in cpd.parents
    ]
    child = generator.normal(size=20)
    total = np.full(20, 3.0)
    cpd.add_log_probability(total, columns, child)
    for i in range(20):
        states = [int(c[i]) for p, c in zip(cpd.parents, columns, strict=True) if p.is_discrete]
        values = [c[i] for p, c in zip(cpd.parents, columns, strict=True) if not p.is_discrete]
        one = cpd.at(states) if states else cpd
        mean = one.intercept + one.coefficients @ values
        assert total[i] - 3 == pytest.approx(norm(mean, np.sqrt(one.variance)).logpdf(child[i]))
    drawn = cpd.sample([np.repeat(c[:1], 20_000) for c in columns], 20_000, generator)
    states = [int(c[0]) for p, c in zip(cpd.parents, columns, strict=True) if p.is_discrete]
    one = cpd.at(states) if states else cpd
    first = [c[0] for p, c in zip(cpd.parents, columns, strict=True) if not p.is_discrete]
    spread = np.sqrt(one.variance)
    assert drawn.mean() == pytest.approx(
        one.intercept + one.coefficients @ first, abs=5 * spread / np.sqrt(20_000)
    )
    assert drawn.std() == pytest.approx(spread, rel=0.03)


def test_parameters_are_counted():
    assert linear().n_parameters == 4
    assert conditional().n_parameters == 6 * 4


def test_numbers_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        linear().coefficients[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        conditional().variances[0, 0] = 1


def test_words():
    assert linear().describe() == "P(x | a, b) = Normal(0.1 + 2 a - 0.3333 b, variance 0.7)"
    assert LinearGaussianCPD(X, [], -1, [], 2).describe() == "P(x) = Normal(-1, variance 2)"
    assert "\nd=hi, e=3: Normal(" in conditional().describe()
    assert conditional().describe(max_rows=2).endswith("\n... 4 more configurations")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: LinearGaussianCPD(X, [A], 0, [1], 0), "variance must be greater than 0, got 0.0"),
        (lambda: LinearGaussianCPD(X, [A], 0, [1], -2), "greater than 0, got -2.0"),
        (lambda: LinearGaussianCPD(X, [A], 0, [1], np.inf), "variance must be finite, got inf"),
        (lambda: LinearGaussianCPD(X, [A], np.nan, [1], 1), "intercept must be finite, got nan"),
        (lambda: LinearGaussianCPD(X, [A], 0, [1, 2], 1), r"shape \(1,\), got \(2,\)"),
        (lambda: LinearGaussianCPD(X, [A], 0, ["much"], 1), "must be numbers"),
        (lambda: LinearGaussianCPD(D, [A], 0, [1], 1), "'d' is discrete; a Gaussian"),
        (lambda: LinearGaussianCPD(X, [D], 0, [1], 1), "'d' is discrete.*ConditionalGaussianCPD"),
        (lambda: ConditionalGaussianCPD(X, [A], 0, [1], 1), "no discrete parent; use LinearG"),
        (lambda: ConditionalGaussianCPD(D, [E], 0, 1, 1), "'d' is discrete; a Gaussian"),
        (
            lambda: ConditionalGaussianCPD(X, [D], [0, 0], [[], []], [1, 0]),
            "variances must be greater than 0",
        ),
        (
            lambda: ConditionalGaussianCPD(X, [D], [0, 0], [[1], [1]], [1, 1]),
            r"coefficients must have shape \(2, 0\), got \(2, 1\)",
        ),
        (lambda: TableCPD(D, [A], [[0.5, 0.5]]), "'a' is continuous; this needs a discrete one"),
    ],
)
def test_refusals(make, words):
    with pytest.raises(UnveilError, match=words):
        make()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"variance": None}, "variance: expected a number, got None"),
        ({"variance": True}, "variance: expected a number, got True"),
        ({"coefficients": 1.0}, "coefficients: expected a list of 2, got float"),
        ({"coefficients": [1.0]}, "coefficients: expected a list of 2, got 1"),
        ({"coefficients": [1.0, "b"]}, r"coefficients\[1\]: expected a number, got 'b'"),
        ({"intercept": 10**400}, "intercept must be numbers"),
        ({"variance": 0}, "greater than 0"),
    ],
)
def test_fields_that_are_refused(change, words):
    with pytest.raises(ModelError, match=words):
        LinearGaussianCPD.from_dict(X, [A, B], linear().to_dict() | change)
    missing = {k: v for k, v in linear().to_dict().items() if k != next(iter(change))}
    with pytest.raises(ModelError, match=f"has no '{next(iter(change))}'"):
        LinearGaussianCPD.from_dict(X, [A, B], missing)


def test_fields_of_a_conditional_gaussian_that_are_refused():
    fields = conditional().to_dict() | {"coefficients": [[1.0, 2.0]] * 5 + [[1.0]]}
    with pytest.raises(ModelError, match=r"coefficients\[5\]: expected a list of 2, got 1"):
        ConditionalGaussianCPD.from_dict(X, [A, D, B, E], fields)


# Fitting ---------------------------------------------------------------------------------------


def rows(n=40, seed=0, k=2):
    generator = np.random.default_rng(seed)
    u = generator.normal(size=(n, k)) * [1.0, 100.0][:k] + 1000.0
    x = 3 + u @ [0.5, -0.02][:k] + generator.normal(size=n)
    return Table([A, B, X][-k - 1 :] if k < 2 else [A, B, X], [*u.T, x])


def test_least_squares_in_closed_form():
    table = rows()
    cpd = fit_linear_gaussian(X, [A, B], table)
    design = np.column_stack([np.ones(40), table.column("a"), table.column("b")])
    solution, squares, *_ = np.linalg.lstsq(design, table.column("x"), rcond=None)
    assert cpd.intercept == pytest.approx(solution[0], rel=1e-8)
    np.testing.assert_allclose(cpd.coefficients, solution[1:], rtol=1e-9)
    assert cpd.variance == pytest.approx(squares[0] / 40, rel=1e-9)


def test_the_fit_is_where_the_likelihood_is_flat():
    table = rows().with_weights(np.random.default_rng(2).random(40))
    cpd = fit_linear_gaussian(X, [A, B], table)
    best = np.array([cpd.intercept, *cpd.coefficients, cpd.variance])

    def log_likelihood(p):
        total = np.zeros(40)
        own = LinearGaussianCPD(X, [A, B], p[0], p[1:3], p[3])
        own.add_log_probability(total, [table.column("a"), table.column("b")], table.column("x"))
        return total @ table.row_weights

    for place, step in enumerate([1e-4, 1e-7, 1e-7, 1e-5]):
        ends = [log_likelihood(best + h * np.eye(4)[place]) for h in (step, -step)]
        assert max(ends) < log_likelihood(best)
        curvature = abs(sum(ends) - 2 * log_likelihood(best)) / step
        assert abs(ends[0] - ends[1]) / (2 * step) < 1e-2 * curvature


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 999), st.sampled_from([0.0, 2.5]))
def test_a_weight_of_two_is_the_row_twice(seed, strength):
    table = rows(12, seed)
    doubled = table.with_weights([2.0] * 6 + [1.0] * 6)
    repeated = table.take([*range(12), *range(6)])
    one = fit_linear_gaussian(X, [A, B], doubled, prior_strength=strength)
    other = fit_linear_gaussian(X, [A, B], repeated, prior_strength=strength)
    np.testing.assert_allclose(one.coefficients, other.coefficients, rtol=1e-8)
    assert one.variance == pytest.approx(other.variance, rel=1e-9)


def test_moments_add_up():
    values = np.random.default_rng(0).normal(size=(30, 3)) + 1e6
    weights = np.random.default_rng(1).random(30)
    whole = GaussianMoments.of_rows(values, weights)
    halves = GaussianMoments.of_rows(values[:11], weights[:11]) + GaussianMoments.of_rows(
        values[11:], weights[11:]
    )
    np.testing.assert_allclose(halves.mean, whole.mean, rtol=1e-14)
    np.testing.assert_allclose(halves.scatter, whole.scatter, rtol=1e-7, atol=1e-7)
    nothing = GaussianMoments.of_rows(values[:0], weights[:0])
    np.testing.assert_allclose((nothing + whole).scatter, whole.scatter)
    np.testing.assert_allclose((whole + nothing).mean, whole.mean)
    assert (nothing + nothing).weight == 0


def test_the_order_of_parents_only_reorders_the_coefficients():
    moments = GaussianMoments.of_rows(
        np.column_stack([rows().column(n) for n in "abx"]), np.ones(40)
    )
    one = linear_gaussian_from_moments(X, [A, B], moments)
    other = linear_gaussian_from_moments(X, [B, A], moments.of_columns([1, 0, 2]))
    np.testing.assert_allclose(one.coefficients, other.coefficients[::-1], rtol=1e-9)
    assert one.variance == pytest.approx(other.variance)


def test_a_prior_is_imagined_rows():
    """Rows of independent columns with the table's means and variances, added for real."""
    table = rows(30, 4)
    columns = [table.column(name) for name in "abx"]
    signs = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, 8)
    imagined = [c.mean() + c.std() * s for c, s in zip(columns, signs, strict=True)]
    both = Table([A, B, X], [np.concatenate(pair) for pair in zip(columns, imagined, strict=True)])
    weighted = both.with_weights([1.0] * 30 + [0.75] * 8)
    expected = fit_linear_gaussian(X, [A, B], weighted)
    cpd = fit_linear_gaussian(X, [A, B], table, prior_strength=6.0)
    np.testing.assert_allclose(cpd.coefficients, expected.coefficients, rtol=1e-9)
    assert cpd.variance == pytest.approx(expected.variance, rel=1e-9)


def test_collinear_parents_share_and_warn():
    table = rows(50, 3)
    twin = Table([A, B, X], [table.column("a"), 2 * table.column("a") + 7, table.column("x")])
    with pytest.warns(UnveilWarning, match="'x': the parents 'a', 'b' are collinear"):
        cpd = fit_linear_gaussian(X, [A, B], twin)
    alone = fit_linear_gaussian(X, [A], twin)
    assert cpd.variance == pytest.approx(alone.variance, rel=1e-9)
    assert cpd.coefficients[0] == pytest.approx(alone.coefficients[0] / 2, rel=1e-6)
    assert cpd.coefficients[1] == pytest.approx(alone.coefficients[0] / 4, rel=1e-6)


def test_a_parent_that_does_not_vary_gets_nothing_and_warns():
    table = rows().with_column(B, np.full(40, 0.1))
    with pytest.warns(UnveilWarning, match="'b' do not vary"):
        cpd = fit_linear_gaussian(X, [A, B], table)
    assert cpd.coefficients[1] == 0
    assert cpd.variance == pytest.approx(fit_linear_gaussian(X, [A], table).variance)


@pytest.mark.parametrize(
    ("table", "parents", "words"),
    [
        (rows(1), [], "'x' has the same value in all rows"),
        (rows().with_column(X, np.full(40, 0.1)), [A], "'x' has the same value in all rows"),
        (rows(3), [A, B], "more than 3 different rows"),
        (rows().with_column(X, rows().column("a") * 3 + 1), [A, B], "exact linear function"),
        (rows().with_weights(np.zeros(40)), [A], "40 rows of total weight 0"),
        (rows().with_column(A, [np.nan] * 2 + [1.0] * 38), [A], "'a' has 2 missing cells.*row 1"),
        (rows().with_column(A, [np.inf] + [1.0] * 39), [A], "'a', row 1: inf is infinite"),
    ],
)
def test_fits_that_are_refused(table, parents, words):
    with pytest.raises(DataError, match=words):
        fit_linear_gaussian(X, parents, table)


def test_a_floor_under_the_variance_is_a_choice():
    exact = rows().with_column(X, rows().column("a") * 3 + 1)
    cpd = fit_linear_gaussian(X, [A], exact, min_variance=1e-3)
    assert cpd.variance == 1e-3
    assert cpd.coefficients[0] == pytest.approx(3)
    for name in ("prior_strength", "min_variance"):
        with pytest.raises(ModelError, match=f"{name} must be finite and not negative, got -1"):
            fit_linear_gaussian(X, [A], exact, **{name: -1})


def mixed_rows(n=60):
    table = rows(n)
    return table.with_column(D, np.arange(n) % 2).with_column(E, np.arange(n) % 3)


def test_a_conditional_fit_is_a_fit_for_every_configuration():
    table = mixed_rows()
    cpd = fit_gaussian(X, [D, A, E], table)
    assert isinstance(cpd, ConditionalGaussianCPD)
    for d, e in np.ndindex(2, 3):
        own = (table.column("d") == d) & (table.column("e") == e)
        expected = fit_linear_gaussian(X, [A], table.take(own))
        assert cpd.at([d, e]).variance == pytest.approx(expected.variance, rel=1e-9)
        np.testing.assert_allclose(cpd.at([d, e]).coefficients, expected.coefficients, rtol=1e-9)
    assert fit_gaussian(X, [A], table) == fit_linear_gaussian(X, [A], table)


def test_configurations_without_rows():
    table = mixed_rows()
    table = table.take(table.column("e") != 1)
    with pytest.warns(UnveilWarning, match="1 of 3 configurations"):
        cpd = fit_conditional_gaussian(X, [E, A], table)
    pooled = fit_linear_gaussian(X, [A], table)
    assert cpd.at([1]).variance == pytest.approx(pooled.variance)
    imagined = fit_conditional_gaussian(X, [E, A], table, prior_strength=1.0).at([1])
    assert imagined.coefficients == pytest.approx([0.0])
    assert imagined.intercept == pytest.approx(table.column("x").mean())
    assert imagined.variance == pytest.approx(table.column("x").var())


def test_a_configuration_with_one_row_is_named():
    table = mixed_rows(7).take([0, 1, 3, 5])
    with pytest.raises(DataError, match="given d=lo: 'x' has the same value"):
        fit_conditional_gaussian(X, [D], table)
    with pytest.raises(DataError, match="'d' has 1 missing cells"):
        fit_conditional_gaussian(X, [D], mixed_rows(4).with_column(D, [0, -1, 1, 0]))


def test_a_network_of_them_samples_and_scores():
    network = Network(
        [
            TableCPD(D, [], [0.4, 0.6]),
            TableCPD(E, [], [0.2, 0.3, 0.5]),
            LinearGaussianCPD(A, [], 1, [], 2),
            LinearGaussianCPD(B, [A], 1, [0.5], 2),
            conditional(),
        ]
    )
    table = network.sample(500, 1)
    again = fit_gaussian(X, [A, D, B, E], table)
    refitted = Network([*(c for n, c in network.cpds.items() if n != "x"), again])
    assert refitted.log_likelihood(table) > network.log_likelihood(table)
    assert "P(x | a, d, b, e): continuous, 24 parameters" in network.describe()
