"""Posteriors when exact ones would need too much memory or time.

- `loopy.py`: loopy belief propagation; exact on polytrees, quick, usually close elsewhere
- `mean_field.py`: independent variables; quick, overconfident, but a true bound on the evidence
- `gibbs.py`: Markov chains; right in the long run unless tables have zeros, with standard errors
- `weighting.py`: likelihood weighting; right with enough samples, poor when evidence is rare
- `question.py`: what the four share

All have the signature of `loopy`, with settings of their own as keywords.
"""

from collections.abc import Callable, Mapping

from unveil.infer.answer import Posterior
from unveil.infer.approximate.gibbs import gibbs
from unveil.infer.approximate.loopy import loopy
from unveil.infer.approximate.mean_field import mean_field
from unveil.infer.approximate.weighting import weighting

__all__ = ["METHODS", "gibbs", "loopy", "mean_field", "weighting"]

METHODS: Mapping[str, Callable[..., Posterior]] = {
    "loopy": loopy,
    "mean_field": mean_field,
    "gibbs": gibbs,
    "weighting": weighting,
}
"""method(network, table, targets, likelihoods, **settings) -> Posterior"""
