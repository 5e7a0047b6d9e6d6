"""How results show themselves: printed, in a notebook, as frames and graphs, in files."""

import json

import numpy as np
import pytest

import unveil
from unveil import Network, TableCPD, Variable, datasets
from unveil.em import fit_em, latent_classes, structural_em
from unveil.model import ConditionalGaussianCPD, LinearGaussianCPD

ASIA = datasets.network("asia")
ROWS = ASIA.sample(200, seed=1)


def test_a_distribution_is_printed_as_its_table():
    cpd = ASIA.cpd("lung")
    assert str(cpd) == cpd.describe()
    assert "smoke" in str(cpd)
    sex = Variable("sex", ["f", "m"])
    for other in (
        LinearGaussianCPD(Variable("x"), [], 1.0, [], 2.0),
        ConditionalGaussianCPD(Variable("x"), [sex], [1.0, 2.0], np.zeros((2, 0)), [1.0, 1.0]),
    ):
        assert str(other) == other.describe()


def test_a_distribution_as_a_frame():
    frame = ASIA.cpd("dysp").to_pandas()
    assert frame.index.names == list(ASIA.dag.parents("dysp"))
    assert frame.loc[("yes", "yes"), "yes"] == ASIA.cpd("dysp").values[0, 0, 0]
    assert ASIA.cpd("smoke").to_pandas().to_numpy().tolist() == [[0.5, 0.5]]


def test_posteriors_as_a_frame():
    found = ASIA.posterior(ROWS.select(["xray"]), of=["lung", "tub"])
    frame = found.to_pandas()
    assert frame.shape == (200, 4)
    assert frame["lung", "yes"].to_numpy() == pytest.approx(found["lung"][:, 0])


def test_graphs_for_networkx():
    networkx = pytest.importorskip("networkx")
    graph = ASIA.to_networkx()
    assert isinstance(graph, networkx.DiGraph)
    assert set(graph.edges) == set(ASIA.dag.arcs) == set(ASIA.dag.to_networkx().edges)
    assert graph.nodes["lung"] == {"states": ("yes", "no"), "hidden": False}


def test_notebooks_show_pictures_and_escape_what_they_show():
    odd = Variable("<b>", ["<i>", "&"])
    cpd = TableCPD(odd, [], [0.5, 0.5])
    network = Network([cpd])
    table = network.sample(3, seed=1)
    for shown in (cpd, network, table, unveil.learn(table)):
        html = shown._repr_html_()
        assert "<b>" not in html
        assert "&lt;b&gt;" in html
    assert "<svg" in ASIA._repr_html_()
    assert "<pre>" in unveil.log_loss(ASIA, ROWS)._repr_html_()


@pytest.mark.parametrize(
    "result",
    [
        lambda: unveil.learn(ROWS),
        lambda: fit_em(ASIA.dag, ROWS, seed=1),
        lambda: structural_em(ROWS.select(["smoke", "lung"]), seed=1),
        lambda: latent_classes(ROWS, [2], n_starts=1, seed=1),
    ],
    ids=["learn", "fit_em", "structural_em", "latent_classes"],
)
def test_results_with_a_network_save_it(result, tmp_path):
    found = result()
    found.save(tmp_path / "model.json")
    assert unveil.load(tmp_path / "model.json") == found.network
    found.save(tmp_path / "model.bif")
    assert "svg" in found._repr_html_()


def test_other_results_are_saved_as_json(tmp_path):
    loss = unveil.log_loss(ASIA, ROWS)
    loss.save(tmp_path / "loss.json")
    assert json.loads((tmp_path / "loss.json").read_text(encoding="utf-8")) == loss.to_dict()


def test_a_discovery_is_saved_as_a_folder(tmp_path):
    report = unveil.discover(
        ROWS.select(["smoke", "lung", "xray"]), evidence=False, straw_men=False, seed=1, n_jobs=1
    )
    report.save(tmp_path / "found")
    assert (tmp_path / "found" / "report.html").exists()
    assert str(report) == report.summary
