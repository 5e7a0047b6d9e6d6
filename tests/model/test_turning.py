"""The same joint distribution over another graph of the class."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from infer.networks import networks
from infer.oracle import Enumeration

from unveil import Network, Variable, datasets
from unveil.errors import ModelError
from unveil.graph import equivalent
from unveil.model import LinearGaussianCPD, facing_away_from


@given(networks(), st.data())
@settings(max_examples=80, deadline=None)
def test_the_joint_stays(network, data):
    """Zeros and certain rows included."""
    name = data.draw(st.sampled_from(network.names))
    turned = facing_away_from(network, [name])
    assert equivalent(turned.dag, network.dag)
    assert turned.names == network.names
    there, back = Enumeration(network), Enumeration(turned)
    np.testing.assert_allclose(back.joint, there.joint, atol=1e-12)


def test_alarm():
    alarm = datasets.network("alarm")
    turned = facing_away_from(alarm, ["HR"])
    rows = alarm.sample(500, seed=1)
    assert turned.log_likelihood(rows) == pytest.approx(alarm.log_likelihood(rows))


def test_only_tables_can_be_turned():
    x, y = Variable("x"), Variable("y")
    network = Network([LinearGaussianCPD(x, [], 0.0, [], 1.0),
                       LinearGaussianCPD(y, [x], 0.0, [1.0], 1.0)])  # fmt: skip
    with pytest.raises(ModelError, match="to turn arcs needs tables of probabilities; 'x' has"):
        facing_away_from(network, ["y"])
