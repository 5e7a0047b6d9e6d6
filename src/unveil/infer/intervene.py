"""`do`: the network after some variables were set by hand (Pearl 2000): seeing against doing."""

from __future__ import annotations

import numpy as np

from unveil.infer.evidence import Findings, as_number
from unveil.model.gaussian_cpd import LinearGaussianCPD
from unveil.model.network import Network
from unveil.model.table_cpd import TableCPD
from unveil.model.units import held

__all__ = ["do"]

SURE = 1e-6
"""A number that was set is known to this part of itself: a density needs some width."""


def do(network: Network, actions: Findings) -> Network:
    """The network in which each variable of `actions` is set, whatever its parents say.

    The arcs into the variable are cut and its distribution becomes certain; ask the result for
    posteriors to see what the action causes. Finding a value says something about causes; setting
    it does not. A continuous variable that is set has no arcs any more: its value has gone into
    its children's intercepts.

    >>> from unveil import datasets
    >>> from unveil.infer import posterior
    >>> asia = datasets.network("asia")
    >>> round(posterior(asia, {"dysp": "yes"}, of="lung").of("lung")["yes"], 4)
    0.1028
    >>> round(posterior(do(asia, {"dysp": "yes"}), of="lung").of("lung")["yes"], 4)
    0.055
    """
    cpds = dict(network.cpds)
    for name, value in actions.items():
        variable = network.variable(name)
        if variable.is_discrete:
            certain = np.zeros(variable.n_states)
            certain[variable.code_of(value)] = 1.0
            cpds[name] = TableCPD(variable, [], certain)
            continue
        number = as_number(variable, value)
        for child in network.dag.children(name):
            cpds[child] = held(cpds[child], name, number)
        width = SURE * max(1.0, abs(number))
        cpds[name] = LinearGaussianCPD(variable, [], number, [], width**2)
    return Network(cpds.values(), network.name, network.description)
