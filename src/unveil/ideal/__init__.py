"""Ideal parents: which parents and hidden variables a continuous child asks for (thesis Ch. 7).

- `similarity.py`: C1 and C2, how alike a candidate and the ideal parent are
- `profiles.py`: `Profile`, the ideal parent of a family and the geometry around it
- `guides.py`: all candidates of a family compared with its ideal parent at once
- `families.py`: `IdealFamilies`, the shortlist between any search and whoever scores
"""

from unveil.ideal.families import IdealFamilies, guide_for
from unveil.ideal.guides import CurveGuide, Guide, LinearGuide
from unveil.ideal.profiles import Profile, curve_profile, linear_profile
from unveil.ideal.similarity import c1, c2, explained

__all__ = [
    "CurveGuide",
    "Guide",
    "IdealFamilies",
    "LinearGuide",
    "Profile",
    "c1",
    "c2",
    "curve_profile",
    "explained",
    "guide_for",
    "linear_profile",
]
