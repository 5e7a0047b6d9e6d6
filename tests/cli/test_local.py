"""Local structure, starts and sample sizes, as a user would ask for them."""

import numpy as np
import pytest

from unveil import Network, Table, Variable, datasets, load
from unveil.cli.app import main
from unveil.errors import UnveilWarning
from unveil.model import DefaultTableCPD, NoisyOrCPD, Split, TableCPD, TreeCPD

A, B = Variable("a", ["no", "yes"]), Variable("b <1>", [0, 1, 2])
X = Variable("x", ["low", "high"])
COMPACT = [
    TreeCPD(X, [A, B], Split(0, (((0,), 0), ((1,), Split(1, (((0,), 1), ((1, 2), 2)))))),
            [[0.9, 0.1], [0.3, 0.7], [0.05, 0.95]]),
    DefaultTableCPD(X, [A, B], [[1, 2]], [[0.1, 0.9], [0.8, 0.2]]),
    NoisyOrCPD(X, [A, B], 1, [0, 0], [[0, 0.6], [0, 0.2, 0.7]], 0.05),
]  # fmt: skip


def network(cpd):
    return Network([TableCPD.uniform(A), TableCPD.uniform(B), cpd])


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    network(COMPACT[0]).sample(1500, seed=1).write(path)
    return path


def test_a_tree_is_learned_told_drawn_and_saved(rows, tmp_path, capsys):
    out, page = tmp_path / "m.json", tmp_path / "m.html"
    words = ["learn", str(rows), "--local", "tree", "--tier", "a,b <1>", "--tier", "x"]
    assert main([*words, "-o", str(out), "--page", str(page)]) == 0
    assert "compact distributions: 1 as a tree" in capsys.readouterr().out
    cpd = load(out).cpd("x")
    assert (cpd.kind, cpd.n_groups) == ("tree", 3)
    text = page.read_text()
    assert "a tree with 3 leaves" in text
    assert "b &lt;1&gt;" in text
    assert "<b <1>" not in text


@pytest.mark.parametrize("cpd", COMPACT, ids=lambda c: c.kind)
@pytest.mark.parametrize("ending", ["bif", "xmlbif", "net", "xdsl", "uai"])
def test_other_formats_get_tables_and_say_so(cpd, ending, tmp_path):
    path = tmp_path / f"m.{ending}"
    with pytest.warns(UnveilWarning, match="compact distributions of x are written as tables"):
        network(cpd).save(path)
    again = Network.load(path)
    values = again.cpds[
        list(again.cpds)[again.names.index("x") if "x" in again.names else 2]
    ].values
    np.testing.assert_allclose(values, cpd.values, atol=1e-9)


@pytest.mark.parametrize("cpd", COMPACT, ids=lambda c: c.kind)
def test_questions_are_answered_as_by_the_table(cpd):
    compact = network(cpd)
    plain = Network([*(c for n, c in compact.cpds.items() if n != "x"), cpd.table])
    rows = compact.sample(60, seed=2)
    gaps = rows.knock_out(0.4, seed=3)
    np.testing.assert_allclose(compact.row_log_likelihoods(gaps), plain.row_log_likelihoods(gaps))
    for name in compact.names:
        own, other = (n.posterior(gaps, of=name)[name] for n in (compact, plain))
        np.testing.assert_allclose(own, other)
    assert compact.sample(40, seed=5) == plain.sample(40, seed=5)
    assert compact.n_parameters < plain.n_parameters
    assert " as a " in compact.describe()


def test_starts_restarts_and_sizes(tmp_path, capsys):
    path, picture = tmp_path / "asia.csv", tmp_path / "sizes.png"
    datasets.network("asia").sample(300, seed=1).write(path)
    words = ["learn", str(path), "--start", "asia", "--restarts", "1", "--seed", "1"]
    more = ["--equivalent-sample-size", "b-course", "--sensitivity", str(picture)]
    assert main([*words, *more]) == 0
    said = capsys.readouterr().out
    assert "different graph" in said
    assert "B-Course would take 1" in said
    assert picture.stat().st_size > 2000
    assert main([*words, "--equivalent-sample-size", "much"]) == 1
    assert "give a number, or b-course" in capsys.readouterr().err
    assert main([*words, "--score", "bic", "--sensitivity", str(picture)]) == 1
    assert "equivalent sample size of bdeu" in capsys.readouterr().err


def test_clusters_by_other_criteria(tmp_path, capsys):
    path = tmp_path / "plans.csv"
    generator = np.random.default_rng(1)
    hidden = generator.integers(2, size=300)
    columns = [np.where(generator.random(300) < 0.85, hidden, 1 - hidden) for _ in range(5)]
    Table([Variable(c, [0, 1]) for c in "vwxyz"], columns).write(path)
    words = ["cluster", str(path), "--n-classes", "1..2", "--score", "completion"]
    assert main([*words, "--start", "k-means", "--n-starts", "2", "--seed", "1"]) == 0
    said = capsys.readouterr().out
    assert "2 classes chosen by completion" in said
