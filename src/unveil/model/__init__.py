"""Bayesian networks: a directed acyclic graph and one conditional distribution per variable.

- `network.py`: `Network`, the immutable pair of graph and distributions
- `cpd.py`: what every conditional distribution can do
- `table_cpd.py`: `TableCPD`, a table of probabilities
- `prior.py`: Dirichlet priors over tables
- `fit.py`: `fit`, parameters from complete weighted rows
- `marginal.py`: exact marginals of a few variables
"""

from unveil.model.cpd import CPD
from unveil.model.fit import fit
from unveil.model.marginal import marginal
from unveil.model.network import Network
from unveil.model.prior import DirichletPrior, EquivalentSampleSize, PriorNetwork, PseudoCount
from unveil.model.table_cpd import TableCPD

__all__ = [
    "CPD",
    "DirichletPrior",
    "EquivalentSampleSize",
    "Network",
    "PriorNetwork",
    "PseudoCount",
    "TableCPD",
    "fit",
    "marginal",
]
