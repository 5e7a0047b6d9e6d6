"""Exact answers for networks with Gaussian variables, whole tables at a time.

- `posterior.py`: posteriors, likelihoods of partly missing rows, filling in, expected moments;
  `expected.py`: these as an engine that EM fits from
- `mixed.py`: the same when discrete variables choose among the Gaussians
- `condition.py`: one Gaussian given some of its variables, in two forms
- `joint.py`: the joint Gaussian of a network
"""

from unveil.infer.gaussian.joint import JointGaussian, joint_gaussian
from unveil.infer.gaussian.posterior import (
    gaussian_expected_moments,
    gaussian_fill_in,
    gaussian_joint_posterior,
    gaussian_log_likelihoods,
    gaussian_posterior,
)

__all__ = [
    "JointGaussian",
    "gaussian_expected_moments",
    "gaussian_fill_in",
    "gaussian_joint_posterior",
    "gaussian_log_likelihoods",
    "gaussian_posterior",
    "joint_gaussian",
]
