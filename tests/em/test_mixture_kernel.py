"""The reduced model puts families together when there are many rows; nobody may notice."""

import numpy as np
import pytest
from kernels import twins

from unveil import Network, TableCPD, Variable
from unveil.infer.reduced import GROUP_SIZES, ReducedModel
from unveil.infer.rows import prepared_rows
from unveil.kernels.reduced import reduced_pass
from unveil.model.flat import FlatTables


def a_network(generator: np.random.Generator) -> Network:
    """A hidden variable with children of 2 to 5 states, one with an observed parent besides."""
    hidden = Variable("h", range(3), hidden=True)
    variables = [Variable(f"x{i}", range(2 + i % 4)) for i in range(9)]
    cpds = [TableCPD(hidden, [], generator.dirichlet(np.ones(3)))]
    for i, v in enumerate(variables):
        parents = [hidden] if i % 3 else [hidden, *variables[max(0, i - 1) : i]]
        shape = [p.n_states for p in parents]
        table = generator.dirichlet(np.ones(v.n_states), shape)
        if i == 4:
            table[0] = np.eye(v.n_states)[0]
        cpds.append(TableCPD(v, parents, table))
    return Network(cpds)


@pytest.mark.parametrize("seed", range(3))
def test_families_put_together_give_the_same(seed):
    generator = np.random.default_rng(seed)
    network = a_network(generator)
    table = network.sample(GROUP_SIZES[0][0] + 300, generator).without("h")
    codes = prepared_rows(network, table).codes
    weights = generator.random(table.n_rows)
    tables = FlatTables(network).pack(network)
    model = ReducedModel(network, ["h"])
    log_z, counts = model.expected_vector(tables, codes, weights)
    _, posterior = model.posterior(tables, codes)
    for size in (1200, 250):
        apart = np.zeros_like(counts)
        for start in range(0, table.n_rows, size):
            part = slice(start, start + size)
            some, more = model.expected_vector(
                tables, np.ascontiguousarray(codes[:, part]), weights[part]
            )
            np.testing.assert_allclose(some, log_z[part], rtol=1e-11)
            apart += more
        np.testing.assert_allclose(apart, counts, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(posterior, network.posterior(table, of="h")["h"], atol=1e-10)


@pytest.mark.parametrize("group_size", [1, 16, 64])
def test_twins_agree(group_size):
    generator = np.random.default_rng(7)
    network = a_network(generator)
    codes = prepared_rows(network, network.sample(600, generator).without("h")).codes
    model = ReducedModel(network, ["h"])
    layout = model._layout(group_size)
    logs = layout.logs(FlatTables(network).pack(network))
    weights = generator.random(600)
    results = []
    for twin in (reduced_pass, twins.reduced_pass):
        log_z, posterior, counts = np.empty(600), np.empty((600, 3)), np.zeros(logs.size)
        twin(layout.plan, logs, codes, weights, 0, 300, log_z, posterior, counts)
        twin(layout.plan, logs, codes, weights, 300, 600, log_z, posterior, counts)
        results.append((log_z, posterior, counts))
    for compiled, plain in zip(*results, strict=True):
        np.testing.assert_allclose(compiled, plain, rtol=1e-10, atol=1e-14)
