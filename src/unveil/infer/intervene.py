"""`do`: the network after some variables were set by hand (Pearl 2000): seeing against doing."""

from __future__ import annotations

import numpy as np

from unveil.errors import ModelError
from unveil.infer.evidence import Findings
from unveil.model.network import Network
from unveil.model.table_cpd import TableCPD

__all__ = ["do"]


def do(network: Network, actions: Findings) -> Network:
    """The network in which each variable of `actions` is set, whatever its parents say.

    The arcs into the variable are cut and its distribution becomes certain; ask the result for
    posteriors to see what the action causes. Finding a value says something about causes; setting
    it does not.

    >>> from unveil import datasets
    >>> from unveil.infer import posterior
    >>> asia = datasets.network("asia")
    >>> round(posterior(asia, {"dysp": "yes"}, of="lung").of("lung")["yes"], 4)
    0.1028
    >>> round(posterior(do(asia, {"dysp": "yes"}), of="lung").of("lung")["yes"], 4)
    0.055
    """
    cut = {}
    for name, value in actions.items():
        variable = network.variable(name)
        if not isinstance(network.cpd(name), TableCPD):
            raise ModelError(f"do() needs discrete variables; {name!r} is {network.cpd(name).kind}")
        certain = np.zeros(variable.n_states)
        certain[variable.code_of(value)] = 1.0
        cut[name] = TableCPD(variable, [], certain)
    return Network(
        [cut.get(name, cpd) for name, cpd in network.cpds.items()],
        network.name,
        network.description,
    )
