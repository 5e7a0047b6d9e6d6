"""Hidden parents behind curves: as many as there are, where they are, and none in noise."""

import numpy as np
import pytest

import unveil
from unveil import Network, Table, Variable
from unveil.discovery.continuous.curved import normal_scores
from unveil.discovery.continuous.loadings import arc_weights, loadings_of


def rows(n=120, seed=1):
    """Six sigmoids of one hidden variable, three of them falling."""
    generator = np.random.default_rng(seed)
    h = generator.normal(size=n)
    signs = [1, -1, 1, -1, 1, -1]
    x = [np.tanh(3 * s * h + 0.3 * s) + 0.25 * generator.normal(size=n) for s in signs]
    return Table([Variable(c) for c in "abcdef"], x), h


@pytest.fixture(scope="module")
def report():
    return unveil.discover(rows()[0], seed=1, family="sigmoid", resamples=1, folds=2)


def test_one_hidden_variable_behind_all(report):
    assert report.hidden == ("H1",)
    assert set(report.network.dag.children("H1")) == set("abcdef")
    assert report.gain > report.needed
    values = report.values()["H1"]
    assert abs(np.corrcoef(values, rows()[1])[0, 1]) > 0.8


def test_curves_beat_lines(report):
    men = {man.name.split(",")[0]: man for man in report.straw_men}
    assert {"no hidden variable", "lines", "one hidden parent of everything"} <= men.keys()
    assert report.held_out.bits < men["lines"].held_out.bits
    assert report.score > men["lines"].score
    assert report.evidence["H1"].gain == pytest.approx(report.gain, abs=60)


def test_scale_origin_and_sign_are_fixed(report):
    root = report.network.cpd("H1")
    assert (root.intercept, root.variance) == (0.0, 1.0)
    up = {x.child for x in report.loadings["H1"] if x.weight > 0}
    assert up in (set("ace"), set("bdf"))
    assert all(0.5 < abs(x.weight) < 1.1 and x.bits > 0.5 for x in report.loadings["H1"])


def test_the_folder_has_curves_and_checks(report, tmp_path):
    report.save(tmp_path)
    page = (tmp_path / "report.html").read_text()
    assert page.count('class="curve"') == 6
    assert "Does the network describe the columns?" in page
    assert "bounded curve" in page
    again = Network.load(tmp_path / "model.json")
    assert again.hidden == ("H1",)
    table = rows()[0]
    assert again.log_likelihood(table) == pytest.approx(report.network.log_likelihood(table))


def test_independent_columns_have_no_hidden_parent():
    values = np.random.default_rng(3).normal(size=(5, 80))
    table = Table([Variable(c) for c in "abcde"], list(values))
    found = unveil.discover(table, seed=1, family="hyperbolic", evidence=False, straw_men=False)
    assert found.hidden == ()


def test_gaps():
    table = rows(70)[0].knock_out(0.05, seed=1)
    found = unveil.discover(table, seed=1, family="sigmoid", evidence=False, straw_men=False)
    assert len(found.hidden) == 1
    assert np.isfinite(found.score)
    assert found.posteriors().n_rows == 70


def test_normal_scores_do_not_see_units():
    table = rows(50)[0].knock_out(0.1, seed=1)
    warped = Table(table.variables, [np.exp(3 * table.column(n)) for n in table.names])
    for name in table.names:
        np.testing.assert_allclose(
            normal_scores(warped).column(name), normal_scores(table).column(name)
        )


def test_loadings_of_gentle_curves_are_those_of_lines():
    """A sigmoid of small weights and a wide range is a line."""
    from unveil.model.curves import Curve
    from unveil.model.gaussian_cpd import LinearGaussianCPD
    from unveil.model.nonlinear_cpd import NonlinearCPD

    h, u, x = Variable("H").as_hidden(), Variable("u"), Variable("x")
    roots = [LinearGaussianCPD(v, [], 0.0, [], 1.0) for v in (h, u)]
    line = LinearGaussianCPD(x, [h, u], 0.0, [0.5, -0.25], 0.3)
    curve = NonlinearCPD(x, [h, u], Curve(), -500, 500, [0.0], [0.002, -0.001], 0.3)
    networks = [Network([*roots, family]) for family in (line, curve)]
    data = networks[0].sample(200, seed=1).select(["u", "x"])
    one, other = (loadings_of(n, data)["H"][0] for n in networks)
    assert other.weight == pytest.approx(one.weight, rel=1e-4)
    assert other.bits == pytest.approx(one.bits, rel=1e-4)
    one, other = (arc_weights(n, data) for n in networks)
    assert other["u", "x"] == pytest.approx(one["u", "x"], rel=1e-4)
    assert other["H", "x"] == pytest.approx(one["H", "x"], rel=1e-4)
