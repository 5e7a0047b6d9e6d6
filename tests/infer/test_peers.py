"""The same posteriors as pyAgrum, in double precision."""

import numpy as np
import pytest

from unveil import Table, datasets
from unveil.infer.posterior import posterior

gum = pytest.importorskip("pyagrum")

N_QUERIES = 25


def agrum_network(network):
    """Built from our tables: pyAgrum's BIF reader keeps single precision."""
    bn = gum.BayesNet()
    for v in network.variables:
        bn.add(gum.LabelizedVariable(v.name, v.name, [f"s{i}" for i in range(v.n_states)]))
    for name, cpd in network.cpds.items():
        for parent in cpd.parents:
            bn.addArc(parent.name, name)
    for name, cpd in network.cpds.items():
        own = [v.name for v in (*cpd.parents, cpd.variable)]
        # pyAgrum's first axis varies fastest.
        order = [own.index(n) for n in reversed(bn.cpt(name).names)]
        bn.cpt(name).fillWith(np.transpose(cpd.values, order).ravel().tolist())
    return bn


@pytest.mark.parametrize("name", ["asia", "alarm", "insurance"])
def test_all_marginals(name):
    network = datasets.network(name)
    generator = np.random.default_rng(1)
    rows = network.sample(N_QUERIES, seed=generator)
    seen = generator.random((len(network.names), N_QUERIES)) < 0.3
    columns = [
        np.where(known, rows.column(n).astype(int), -1)
        for known, n in zip(seen, network.names, strict=True)
    ]
    ours = posterior(network, Table(network.variables, columns), of=network.names)
    engine = gum.LazyPropagation(agrum_network(network))
    for r in range(N_QUERIES):
        engine.setEvidence(
            {n: int(c[r]) for n, c in zip(network.names, columns, strict=True) if c[r] >= 0}
        )
        engine.makeInference()
        assert ours.log_evidence[r] == pytest.approx(np.log(engine.evidenceProbability()), abs=1e-9)
        for n in network.names:
            np.testing.assert_allclose(ours[n][r], engine.posterior(n).toarray(), rtol=0, atol=1e-9)
