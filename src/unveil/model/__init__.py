"""Bayesian networks: a directed acyclic graph and one conditional distribution per variable.

- `network.py`: `Network`, the immutable pair of graph and distributions
- `cpd.py`: what every conditional distribution can do
- `table_cpd.py`: `TableCPD`, a table of probabilities
- `compact.py`: what compact distributions share; `tree_cpd.py`,
  `default_cpd.py`, `noisy_or_cpd.py`: their kinds
- `local.py`: local structures found from a family's counts
- `gaussian_cpd.py`: `LinearGaussianCPD`, a mean that is linear in continuous parents
- `conditional_gaussian_cpd.py`: `ConditionalGaussianCPD`, discrete parents choose among those
- `nonlinear_cpd.py`: `NonlinearCPD`, a mean that is a bounded curve of continuous parents
- `curves.py`, `curve_fit.py`, `curve_network.py`: the curves, their noise, how they are fitted
- `prior.py`: Dirichlet priors over tables
- `fit.py`: `fit`, parameters from complete weighted rows
- `marginal.py`: exact marginals of a few variables
- `turning.py`: `facing_away_from`, the same distribution over an equivalent graph
"""

from unveil.model.conditional_gaussian_cpd import ConditionalGaussianCPD, fit_gaussian
from unveil.model.cpd import CPD
from unveil.model.curve_network import fit_curves
from unveil.model.curves import Curve
from unveil.model.default_cpd import DefaultTableCPD
from unveil.model.fit import fit
from unveil.model.gaussian_cpd import LinearGaussianCPD
from unveil.model.marginal import marginal
from unveil.model.network import Network
from unveil.model.noisy_or_cpd import NoisyOrCPD
from unveil.model.nonlinear_cpd import NonlinearCPD
from unveil.model.prior import DirichletPrior, EquivalentSampleSize, PriorNetwork, PseudoCount
from unveil.model.table_cpd import TableCPD
from unveil.model.tree_cpd import Split, TreeCPD
from unveil.model.turning import facing_away_from

__all__ = [
    "CPD",
    "ConditionalGaussianCPD",
    "Curve",
    "DefaultTableCPD",
    "DirichletPrior",
    "EquivalentSampleSize",
    "LinearGaussianCPD",
    "Network",
    "NoisyOrCPD",
    "NonlinearCPD",
    "PriorNetwork",
    "PseudoCount",
    "Split",
    "TableCPD",
    "TreeCPD",
    "facing_away_from",
    "fit",
    "fit_curves",
    "fit_gaussian",
    "marginal",
]
