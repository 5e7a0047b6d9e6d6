"""EM: learning from what is missing and what is hidden.

- `parametric.py`: `fit_em`, parameters of a known structure; every start kept
- `refit.py`: `refit`, the same for whatever table: counted, or by EM
- `structural.py`: `structural_em`, structure and parameters
- `mixture/`: `latent_classes`, mixtures, how many classes they have and how well they fit
- `scores.py`: Cheeseman-Stutz, BIC, AIC and the effective dimension with unseen variables;
  `laplace.py`: Laplace's approximation for small models
- `completion.py`: incomplete rows as weighted complete ones
- `lines.py`, `line_structure.py`: exact EM and structural EM for linear Gaussian networks;
  `curves.py`, `curve_structure.py`: `fit_curves_em` and structural EM for networks of curves;
  `mixed_structure.py`: mixed tables with gaps
- `loop.py`: the one EM loop; `steps.py`: the E-step and the M-step
- `short.py`: the short runs of a search; `starts.py`, `align.py`, `jacobian.py`: what these need
"""

from unveil.em.completion import complete_rows
from unveil.em.curves import fit_curves_em
from unveil.em.laplace import laplace
from unveil.em.mixture import (
    BivariateResidual,
    BootstrapTest,
    Mixture,
    MixtureResult,
    StandardErrors,
    bivariate_residuals,
    bootstrap_test,
    latent_classes,
    standard_errors,
)
from unveil.em.parametric import EMResult, EMStart, fit_em
from unveil.em.refit import Refitted, refit
from unveil.em.scores import HiddenScores, cheeseman_stutz, effective_dimension, hidden_scores
from unveil.em.structural import StructuralResult, structural_em

__all__ = [
    "BivariateResidual",
    "BootstrapTest",
    "EMResult",
    "EMStart",
    "HiddenScores",
    "Mixture",
    "MixtureResult",
    "Refitted",
    "StandardErrors",
    "StructuralResult",
    "bivariate_residuals",
    "bootstrap_test",
    "cheeseman_stutz",
    "complete_rows",
    "effective_dimension",
    "fit_curves_em",
    "fit_em",
    "hidden_scores",
    "laplace",
    "latent_classes",
    "refit",
    "standard_errors",
    "structural_em",
]
