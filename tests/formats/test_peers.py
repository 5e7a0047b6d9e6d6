"""pyAgrum and pgmpy read what we write as the same distribution, and we read what they write."""

import itertools
import warnings

import numpy as np
import pytest

from unveil import Network, Variable
from unveil.formats import load, save
from unveil.formats.bif import SPELLING as BIF
from unveil.formats.net import SPELLING as NET
from unveil.formats.xdsl import SPELLING as XDSL
from unveil.formats.xmlbif import SPELLING as XMLBIF

from .networks import ODD_TEXTS, plain_network, random_network, random_table

SEEDS = range(4)


def odd_network(seed):
    """Odd names and labels of every type, and hidden variables."""
    texts = [text for text in ODD_TEXTS if text]
    order = np.random.default_rng(seed).permutation(len(texts))
    odd = [texts[i] for i in order]
    labels = [[odd[i + 8], odd[i + 9], i, i + 0.5, True] for i in range(6)]
    variables = [Variable(odd[i], labels[i], hidden=i % 2 == 0) for i in range(6)]
    return random_network(variables, seed, odd[0], odd[1])


def tree_network(seed):
    """Every variable has at most one parent."""
    generator = np.random.default_rng(seed)
    variables = plain_network(seed).variables
    cpds = [random_table(variables[0], [], generator)]
    for i in range(1, len(variables)):
        cpds.append(random_table(variables[i], [variables[generator.integers(i)]], generator))
    return Network(cpds)


def assert_equals_agrum(network, written, theirs, rtol):
    """Compare every entry, by the names and labels of the file."""
    assert sorted(theirs.names()) == sorted(own.name for own in written.values())
    for name, cpd in network.cpds.items():
        table = theirs.cpt(written[name].name)
        family = [written[v.name] for v in (*cpd.parents, cpd.variable)]
        assert sorted(table.names) == sorted(own.name for own in family)
        for cell in itertools.product(*(range(len(own.labels)) for own in family)):
            at = {own.name: own.labels[code] for own, code in zip(family, cell, strict=True)}
            assert table[at] == pytest.approx(cpd.values[cell], rel=rtol, abs=1e-12), (name, at)


# pyAgrum reads the numbers of some formats in single precision.
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("make", [plain_network, odd_network], ids=["plain", "odd"])
@pytest.mark.parametrize(
    ("ending", "spelling", "rtol"),
    [("bif", BIF, 1e-6), ("bifxml", XMLBIF, 1e-12), ("net", NET, 1e-6)],
)
def test_pyagrum_reads_what_we_write(tmp_path, seed, make, ending, spelling, rtol):
    gum = pytest.importorskip("pyagrum")
    network, path = make(seed), tmp_path / f"model.{ending}"
    save(network, path)
    assert_equals_agrum(network, spelling.written(network), gum.loadBN(str(path)), rtol)


def test_pyagrum_reads_our_uai_by_position(tmp_path):
    """It takes the first parent as the fastest, against the UAI definition: one parent only."""
    gum = pytest.importorskip("pyagrum")
    network, path = tree_network(1), tmp_path / "model.uai"
    save(network, path)
    theirs = gum.loadBN(str(path))
    for i, cpd in enumerate(network.cpds.values()):
        table = theirs.cpt(str(i)).toarray()
        np.testing.assert_allclose(table, cpd.values, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_pyagrum_reads_our_xdsl(tmp_path, seed):
    """Here too it takes the first parent as the fastest, against GeNIe: one parent only."""
    gum = pytest.importorskip("pyagrum")
    network, path = tree_network(seed), tmp_path / "model.xdsl"
    save(network, path)
    assert_equals_agrum(network, XDSL.written(network), gum.loadBN(str(path)), 1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_pyagrum_reads_our_xdsl_with_odd_names(tmp_path, seed):
    gum = pytest.importorskip("pyagrum")
    network, path = odd_network(seed), tmp_path / "model.xdsl"
    save(network, path)
    assert gum.loadBN(str(path)).size() == len(network.names)


@pytest.mark.filterwarnings("ignore:.*did not sum to 1:unveil.errors.UnveilWarning")
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("ending", "tolerance"),
    # Six digits are all that pyAgrum writes, but for BIF and NET.
    [("bif", 1e-15), ("net", 1e-15), ("bifxml", 1e-5), ("xdsl", 1e-5), ("uai", 1e-5)],
)
def test_we_read_what_pyagrum_writes(tmp_path, seed, ending, tolerance):
    gum = pytest.importorskip("pyagrum")
    gum.initRandom(seed + 1)
    shape = "A[3]->B{x|y}->C[4]->D[2];B->E{u|v|w}"  # one parent each, see above
    if ending not in ("xdsl", "uai"):
        shape += ";A->C;D->F[3];C->F;A->F;E->F"
    theirs = gum.fastBN(shape)
    path = tmp_path / f"model.{ending}"
    gum.saveBN(theirs, str(path))
    ours = load(path)
    if ending == "uai":
        ours = ours.renamed({f"x{i}": theirs.variable(i).name() for i in range(theirs.size())})
    assert sorted(ours.names) == sorted(theirs.names())
    for name, cpd in ours.cpds.items():
        axes = [name, *reversed([p.name for p in cpd.parents])]
        aligned = theirs.cpt(name).reorganize(axes).toarray()
        if ending != "uai":
            assert cpd.variable.states == theirs.variable(name).labels()
        np.testing.assert_allclose(cpd.values, aligned, atol=tolerance)


def pgmpy_model(reader_name, path):
    pytest.importorskip("pgmpy")
    with warnings.catch_warnings():  # pgmpy's own imports warn about what they will change
        warnings.simplefilter("ignore")
        from pgmpy import readwrite

        reader = getattr(readwrite, reader_name)(str(path))
        return reader.get_model()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("ending", "reader", "spelling"),
    [
        ("bif", "BIFReader", BIF),
        ("xmlbif", "XMLBIFReader", XMLBIF),
        ("xdsl", "XDSLReader", XDSL),
        ("net", "NETReader", NET),
    ],
)
def test_pgmpy_reads_what_we_write(tmp_path, seed, ending, reader, spelling):
    network, path = plain_network(seed).with_hidden(["V1", "V2"]), tmp_path / f"model.{ending}"
    save(network, path)
    theirs = pgmpy_model(reader, path)
    assert set(theirs.edges()) == set(network.dag.arcs)
    for name, cpd in network.cpds.items():
        table = theirs.get_cpds(name)
        names = [p.name for p in cpd.parents]
        assert table.variables[0] == name
        values = np.moveaxis(table.values, 0, -1)
        order = [table.variables[1:].index(p) for p in names]
        np.testing.assert_allclose(np.transpose(values, (*order, -1)), cpd.values, rtol=1e-12)
        assert table.state_names[name] == spelling.written(network)[name].labels


def test_pgmpy_reads_our_bif_of_odd_names(tmp_path):
    network, path = odd_network(0), tmp_path / "model.bif"
    save(network, path)
    theirs = pgmpy_model("BIFReader", path)
    written = BIF.written(network)
    assert set(theirs.nodes()) == {own.name for own in written.values()}
    assert theirs.check_model()
