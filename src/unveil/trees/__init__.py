"""Models with many hidden variables whose inference is easy by construction.

- `call.py`: `naive_bayes`, `hierarchy`, `hidden_chow_liu`, `mixture_of_trees`: a table in, a
  network out, in one call
- `networks.py`: `mixture_of_networks`, in which every class has a structure of its own;
  `mixture.py`: what it gives
- `groups.py`: hierarchies from nested groups of columns, `quadrants` of images
- `information.py`: mutual information of all pairs of columns, the Chow-Liu tree
- `fit.py`: EM with restarts and validation; `stepwise.py`: EM over parts of the rows
"""

from unveil.trees.call import hidden_chow_liu, hierarchy, mixture_of_trees, naive_bayes
from unveil.trees.fit import HiddenTree, TreeStart
from unveil.trees.groups import hierarchy_shape, quadrants
from unveil.trees.information import mutual_information
from unveil.trees.mixture import NetworkMixture, em_shares, weighted_networks
from unveil.trees.networks import NetworksFound, mixture_of_networks
from unveil.trees.shape import TreeShape

__all__ = [
    "HiddenTree",
    "NetworkMixture",
    "NetworksFound",
    "TreeShape",
    "TreeStart",
    "em_shares",
    "hidden_chow_liu",
    "hierarchy",
    "hierarchy_shape",
    "mixture_of_networks",
    "mixture_of_trees",
    "mutual_information",
    "naive_bayes",
    "quadrants",
    "weighted_networks",
]
