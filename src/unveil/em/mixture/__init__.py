"""Latent class models: finite mixtures as the simplest network with a hidden root.

A row belongs to one of k classes, and given its class the columns are independent (`003`, "The
Finite Mixture Model"):

    P(x) = sum over c of P(c) * product over i of P(x_i | c).

- `call.py`: `latent_classes`, every number of classes asked for, and the best of them
- `choice.py`: what each number is worth by which score, and the one chosen
- `fit.py`: one number of classes, by EM from several starts
- `door.py`: what is refused before anything is fitted
- `bootstrap.py`: is one more class better than chance?
- `residuals.py`: which pairs of columns the classes leave unexplained
- `precision.py`: how exactly the parameters are known, by `information.py`
- `covariates.py`: who belongs to which class, by columns as `design.py` puts them in numbers
- `notes.py`: what looks odd; `words.py`: mixtures in words
"""

from unveil.em.mixture.bootstrap import BootstrapTest, bootstrap_test
from unveil.em.mixture.call import latent_classes
from unveil.em.mixture.choice import SCORES, Mixture, MixtureResult, ScoreName
from unveil.em.mixture.covariates import ClassRegression, class_regression
from unveil.em.mixture.precision import StandardErrors, standard_errors
from unveil.em.mixture.residuals import BivariateResidual, bivariate_residuals

__all__ = [
    "SCORES",
    "BivariateResidual",
    "BootstrapTest",
    "ClassRegression",
    "Mixture",
    "MixtureResult",
    "ScoreName",
    "StandardErrors",
    "bivariate_residuals",
    "bootstrap_test",
    "class_regression",
    "latent_classes",
    "standard_errors",
]
