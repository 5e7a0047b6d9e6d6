"""Latent class models: finite mixtures as the simplest network with a hidden root.

A row belongs to one of k classes, and given its class the columns are independent (`003`, "The
Finite Mixture Model"):

    P(x) = sum over c of P(c) * product over i of P(x_i | c).

- `call.py`: `latent_classes`, every number of classes asked for, and the best of them
- `choice.py`: what each number is worth by which criterion, and the one chosen
- `fit.py`: one number of classes, by EM from several starts
- `notes.py`: what looks odd about a mixture; `words.py`: mixtures in a line
"""

from unveil.em.mixture.call import latent_classes
from unveil.em.mixture.choice import CRITERIA, Criterion, Mixture, MixtureResult

__all__ = ["CRITERIA", "Criterion", "Mixture", "MixtureResult", "latent_classes"]
