"""What is written is read back as it was, in every format, from text and from files."""

import gzip

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from unveil import Network, TableCPD, Variable
from unveil.errors import FormatError
from unveil.formats import FORMATS, dumps, load, loads, save

from .networks import ODD_TEXTS, odd_networks, plain_network, random_network

LOSSLESS = ["json", "bif", "xmlbif", "net", "xdsl"]
slow = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.parametrize("format", LOSSLESS)
@slow
@given(network=odd_networks())
def test_odd_names_labels_types_and_marks_survive(format, network):
    again = loads(dumps(network, format), format)
    assert again == network
    assert (again.name, again.description) == (network.name, network.description)
    if format != "xdsl":  # there, parents come first
        assert again.names == network.names


@slow
@given(network=odd_networks())
def test_uai_keeps_the_numbers_by_position(network):
    again = loads(dumps(network, "uai"), "uai")
    position = {name: f"x{i}" for i, name in enumerate(network.names)}
    for old, new in zip(network.cpds.values(), again.cpds.values(), strict=True):
        assert [position[p.name] for p in old.parents] == [p.name for p in new.parents]
        np.testing.assert_array_equal(old.values, new.values)


@pytest.mark.parametrize("format", LOSSLESS)
def test_every_odd_text_as_name_and_as_label(format):
    variables = [Variable(t, [t, "other", 1, 1.0, True]) for t in ODD_TEXTS if t]
    network = random_network(variables, 5)
    assert loads(dumps(network, format), format) == network


@pytest.mark.parametrize("format", LOSSLESS)
def test_ordinary_networks_need_no_notes(format):
    text = dumps(plain_network(1), format)
    assert "unveil:" not in text
    assert 'property id="unveil"' not in text


@pytest.mark.parametrize("format", LOSSLESS)
def test_a_hidden_mark_survives(format):
    network = plain_network(2).with_hidden(["V3"])
    assert loads(dumps(network, format), format).hidden == ("V3",)


@pytest.mark.parametrize("ending", [e for f in FORMATS.values() if f.read for e in f.endings])
@pytest.mark.parametrize("gz", ["", ".gz", ".GZ"])
def test_files_of_every_ending(tmp_path, ending, gz):
    network = plain_network(3)
    path = tmp_path / f"model.v1{ending}{gz}"
    save(network, path)
    assert path.read_bytes().startswith(b"\x1f\x8b") == bool(gz)
    again = load(path)
    if ending == ".uai":
        assert again.dag.n_arcs == network.dag.n_arcs
    else:
        assert again == network
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("format", [*LOSSLESS, "uai"])
def test_an_unknown_ending_is_told_by_the_content(tmp_path, format):
    network = plain_network(4)
    path = tmp_path / "model.dat"
    save(network, path, format=format)
    assert load(path).n_parameters == network.n_parameters


def test_compressed_content_is_told_by_its_bytes(tmp_path):
    path = tmp_path / "model.bif"
    path.write_bytes(gzip.compress(dumps(plain_network(5), "bif").encode()))
    assert load(path) == plain_network(5)


def test_the_same_network_gives_the_same_bytes(tmp_path):
    for name in ("a.json.gz", "b.json.gz"):
        save(plain_network(6), tmp_path / name)
    assert (tmp_path / "a.json.gz").read_bytes() == (tmp_path / "b.json.gz").read_bytes()


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "model.json"
    save(plain_network(7), path)
    broken = Network([TableCPD(Variable("x", [1.0, float("inf")]), [], [0.5, 0.5])])
    with pytest.raises(FormatError, match="infinite or undefined"):
        save(broken, path)
    assert load(path) == plain_network(7)
    assert [p.name for p in tmp_path.iterdir()] == ["model.json"]


@pytest.mark.parametrize("format", LOSSLESS)
def test_labels_that_are_not_finite_are_refused_on_writing(format):
    broken = Network([TableCPD(Variable("x", [1.0, float("nan")]), [], [0.5, 0.5])])
    with pytest.raises(FormatError, match="inf or nan"):
        dumps(broken, format)


def test_network_methods_use_the_same_doors(tmp_path):
    path = tmp_path / "model.xdsl"
    plain_network(8).save(path)
    assert Network.load(path) == plain_network(8)


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_describes_itself(format):
    entry = FORMATS[format]
    assert entry.description
    assert entry.loses
    assert all(ending.startswith(".") for ending in entry.endings)
