"""Ideal parents: which parents and hidden variables a continuous child asks for (thesis Ch. 7).

- `similarity.py`: C1 and C2, how alike a candidate and the ideal parent are
- `profiles.py`: `Profile`, the ideal parent of a family and the geometry around it
- `guides.py`: all candidates of a family compared with its ideal parent at once
- `families.py`: `IdealFamilies`, the shortlist between any search and whoever scores
- `clusters.py`: clusters of ideal profiles; `layers.py`: two-layer networks; `find_layers.py`: how
  many hidden roots there are, and above which columns
"""

from unveil.ideal.clusters import Cluster, cluster_gain, cluster_profiles
from unveil.ideal.families import IdealFamilies, guide_for
from unveil.ideal.find_layers import FoundLayers, Stage, find_layers, luck
from unveil.ideal.guides import CurveGuide, Guide, LinearGuide
from unveil.ideal.layers import Layers, Leaves
from unveil.ideal.profiles import Profile, curve_profile, linear_profile
from unveil.ideal.similarity import c1, c2, explained

__all__ = [
    "Cluster",
    "CurveGuide",
    "FoundLayers",
    "Guide",
    "IdealFamilies",
    "Layers",
    "Leaves",
    "LinearGuide",
    "Profile",
    "Stage",
    "c1",
    "c2",
    "cluster_gain",
    "cluster_profiles",
    "curve_profile",
    "explained",
    "find_layers",
    "guide_for",
    "linear_profile",
    "luck",
]
