"""Answers by enumerating the whole joint; nothing here uses the code tested.

A row of evidence is `codes`, one per variable with -1 where nothing is known, and `soft`, a dict
from position to the likelihoods of the states.
"""

from functools import cached_property

import numpy as np


class Enumeration:
    """Every cell of the joint of a small network, one axis per variable."""

    def __init__(self, network):
        self.network = network
        self.names = list(network.names)

    @cached_property
    def joint(self):
        """P(x1, ..., xn) = product over i of P(xi | parents of xi) (Eq. 2.1)."""
        factors = []
        for cpd in self.network.cpds.values():
            family = [self.names.index(v.name) for v in (*cpd.parents, cpd.variable)]
            factors += [cpd.values, family]
        return np.einsum(*factors, range(len(self.names)))

    def with_evidence(self, codes, soft=None):
        """P(x, evidence) for every cell x: zero where x contradicts the row."""
        weighted = self.joint.copy()
        for axis in range(len(self.names)):
            likelihood = np.ones(weighted.shape[axis])
            if codes[axis] >= 0:
                likelihood = np.eye(weighted.shape[axis])[codes[axis]]
            if soft and axis in soft:
                likelihood = likelihood * soft[axis]
            weighted *= np.expand_dims(likelihood, [i for i in range(len(self.names)) if i != axis])
        return weighted

    def log_likelihood(self, codes, soft=None):
        total = self.with_evidence(codes, soft).sum()
        return np.log(total) if total > 0 else -np.inf

    def best(self, codes, soft=None):
        """The log of the largest P(x, evidence)."""
        most = self.with_evidence(codes, soft).max()
        return np.log(most) if most > 0 else -np.inf

    def posterior(self, names, codes, soft=None):
        """P(names | evidence), one axis per name in that order."""
        weighted = self.with_evidence(codes, soft)
        kept = [self.names.index(name) for name in names]
        table = np.einsum(weighted, range(len(self.names)), kept)
        return table / weighted.sum()

    def expected_counts(self, rows, soft, weights):
        """Eq. 2.16 for every family: the weighted sum over possible rows of P(family | row)."""
        families = [
            [v.name for v in (*cpd.parents, cpd.variable)] for cpd in self.network.cpds.values()
        ]
        counts = [np.zeros(cpd.values.shape) for cpd in self.network.cpds.values()]
        for codes, weight in zip(rows, weights, strict=True):
            if self.with_evidence(codes, soft).sum() > 0:
                for count, family in zip(counts, families, strict=True):
                    count += weight * self.posterior(family, codes, soft)
        return counts
