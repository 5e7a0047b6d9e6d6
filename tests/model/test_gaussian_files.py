"""Networks with continuous variables in unveil's own format."""

import json

import numpy as np
import pytest

from unveil import Network, TableCPD, Variable, load
from unveil.errors import FormatError, UnveilError
from unveil.formats import FORMATS, dumps, loads
from unveil.model import ConditionalGaussianCPD, LinearGaussianCPD


def network():
    state, u, x = Variable("state", ["lo", 2]), Variable("ü", hidden=True), Variable("x")
    generator = np.random.default_rng(0)
    return Network(
        [
            LinearGaussianCPD(x, [u], 0.1, [1 / 3], 1e-300),
            TableCPD(state, [], [0.25, 0.75]),
            ConditionalGaussianCPD(
                u, [state], generator.normal(size=2), np.zeros((2, 0)), generator.random(2)
            ),
        ],
        "mixed",
    )


def test_what_is_saved_is_loaded_to_the_last_bit(tmp_path):
    network().save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert again == network()
    assert (again.names, again.hidden) == (("x", "state", "ü"), ("ü",))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda f: f["variables"][0].update(states=[1]), "a continuous variable has no states"),
        (lambda f: f["cpds"][0].update(variance=-1), r"\$.cpds\[0\].*greater than 0, got -1"),
        (lambda f: f["cpds"][0].update(kind="table"), r"\$.cpds\[0\].*'ü' is continuous"),
        (lambda f: f["cpds"][2].update(variances=[1]), "variances: expected a list of 2, got 1"),
        (lambda f: f["cpds"][1].update(parents=["x"]), "'x' is continuous"),
    ],
)
def test_broken_files_say_where(change, words):
    fields = json.loads(dumps(network(), "json"))
    change(fields)
    with pytest.raises(UnveilError, match=words):
        loads(json.dumps(fields), "json")


@pytest.mark.parametrize(
    "name", [n for n, f in FORMATS.items() if f.write and n not in ("json", "dot")]
)
def test_other_formats_refuse_with_a_sentence(name):
    with pytest.raises(FormatError, match=f"'{name}' cannot hold this network.* Take 'json'"):
        dumps(network(), name)
