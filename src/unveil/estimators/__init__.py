"""scikit-learn faces: settings in `__init__`, `fit` returns self, learned values end in `_`.

- `latent_class.py`: `LatentClassModel`, a mixture whose classes become features
- `bayesian_network.py`: `BayesianNetwork`, structure and parameters from a table
- `classifier.py`: `BayesianNetworkClassifier`, one column predicted from the others
- `discretizer.py`: `Discretizer`, numbers into states
- `discovery.py`: `HiddenVariableDiscovery`, hidden variables whose states become features
- `door.py`: what they all make of `X`; `settings.py`: what their settings may be
"""

from unveil.estimators.bayesian_network import BayesianNetwork
from unveil.estimators.classifier import BayesianNetworkClassifier
from unveil.estimators.discovery import HiddenVariableDiscovery
from unveil.estimators.discretizer import Discretizer
from unveil.estimators.latent_class import LatentClassModel

__all__ = [
    "BayesianNetwork",
    "BayesianNetworkClassifier",
    "Discretizer",
    "HiddenVariableDiscovery",
    "LatentClassModel",
]
