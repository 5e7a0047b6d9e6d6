"""How good is a family, given its counts: every score a small file with its equation.

- `base.py`: what a score is, and the record of the sample it is computed on
- `likelihood.py`, `bic.py`, `mdl.py`, `aic.py`: likelihood less a penalty
- `bge.py`: the Bayesian Gaussian score
- `k2.py`, `bdeu.py`, `bde.py`: Bayesian Dirichlet scores
- `nml.py`: prior-free scores by normalised maximum likelihood
- `incomplete.py`: how scores judge incomplete data, from expected counts
- `structure.py`: prior probabilities of structures
- `protocol.py`: `Families`, what a search sees
- `families.py`: `FamilyScores`, scores of families and whole graphs, cached and compiled
- `local.py`: `LocalScores`, families with the best local structure inside their tables
- `choose.py`: `families_for`, who scores a table, by what its columns are
- `gaussian.py`: what a score is for linear Gaussian families
- `gaussian_families.py`: `GaussianFamilies`, those of continuous columns, from their moments
- `curve_families.py`: `CurveFamilies`, those of curves, fitted to the rows
- `mixed_families.py`: `MixedFamilies`, those of discrete and continuous columns together
- `gradient.py`: how a score changes with the weight of a row
"""

from unveil.score.aic import AIC
from unveil.score.base import Sample, Score
from unveil.score.bde import BDe
from unveil.score.bdeu import BDeu
from unveil.score.bge import BGe
from unveil.score.bic import BIC
from unveil.score.choose import AnyFamilies, families_for
from unveil.score.curve_families import CurveFamilies
from unveil.score.families import FamilyScores
from unveil.score.gaussian import GaussianScore, GaussianTerm
from unveil.score.gaussian_families import GaussianFamilies
from unveil.score.gradient import weight_gradient
from unveil.score.incomplete import ExpectedFamilies, ExpectedFamily
from unveil.score.k2 import K2
from unveil.score.likelihood import LogLikelihood
from unveil.score.local import LocalFamily, LocalScores, best_local, local_score
from unveil.score.mdl import MDL
from unveil.score.mixed_families import MixedFamilies
from unveil.score.nml import FactorisedNML, QuotientNML
from unveil.score.protocol import Families
from unveil.score.structure import ArcPenalty, FamilyPrior, StructurePrior

__all__ = [
    "AIC",
    "BIC",
    "GAUSSIAN_SCORES",
    "K2",
    "MDL",
    "SCORES",
    "AnyFamilies",
    "ArcPenalty",
    "BDe",
    "BDeu",
    "BGe",
    "CurveFamilies",
    "ExpectedFamilies",
    "ExpectedFamily",
    "FactorisedNML",
    "Families",
    "FamilyPrior",
    "FamilyScores",
    "GaussianFamilies",
    "GaussianScore",
    "GaussianTerm",
    "LocalFamily",
    "LocalScores",
    "LogLikelihood",
    "MixedFamilies",
    "QuotientNML",
    "Sample",
    "Score",
    "StructurePrior",
    "best_local",
    "families_for",
    "local_score",
    "weight_gradient",
]

SCORES = {
    "bdeu": BDeu,
    "bic": BIC,
    "mdl": MDL,
    "aic": AIC,
    "k2": K2,
    "fnml": FactorisedNML,
    "qnml": QuotientNML,
    "likelihood": LogLikelihood,
}
"""Scores by the name the command line knows them under; `BDe` needs a prior network as well."""

GAUSSIAN_SCORES = {
    "bic": BIC,
    "aic": AIC,
    "mdl": MDL,
    "bge": BGe,
    "likelihood": LogLikelihood,
}
"""Scores for continuous columns; all but `bge` are for mixed tables, too."""
