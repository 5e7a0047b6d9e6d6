"""Which finding mattered most, and what it would pay to find out next."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unveil.errors import DataError
from unveil.infer.evidence import Findings, table_of_findings
from unveil.infer.posterior import joint_posterior, log_likelihoods, posterior
from unveil.model.network import Network
from unveil.records import Record
from unveil.table.variable import Label

__all__ = ["Influence", "bayes_factor", "finding_influence", "information_about"]


@dataclass(frozen=True)
class Influence(Record):
    """How the belief in a target changes when one finding is left out.

    `divergence` (bits) is KL(posterior with all findings || posterior without this one).
    """

    finding: str
    value: Label
    divergence: float
    with_it: dict[Label, float]
    without_it: dict[Label, float]


def finding_influence(network: Network, given: Findings, target: str) -> tuple[Influence, ...]:
    """Every finding with how much it moves the target, the most important first.

    >>> from unveil import datasets
    >>> asia = datasets.network("asia")
    >>> [i.finding for i in finding_influence(asia, {"smoke": "yes", "xray": "yes"}, "lung")]
    ['xray', 'smoke']
    """
    if target in given:
        raise DataError(f"the target {target!r} is itself among the findings")
    everything = posterior(network, given, of=target)
    found = []
    for name, value in given.items():
        rest = {n: v for n, v in given.items() if n != name}
        without = posterior(network, rest, of=target)
        p, q = everything[target][0], without[target][0]
        seen = p > 0
        bits = float((p[seen] * np.log2(p[seen] / q[seen])).sum())
        found.append(Influence(name, value, bits, everything.of(target), without.of(target)))
    return tuple(sorted(found, key=lambda i: -i.divergence))


def information_about(
    network: Network, target: str, given: Findings | None = None, among: Sequence[str] | None = None
) -> dict[str, float]:
    """Mutual information (bits) between the target and each unseen variable, given the findings.

    The value of information: the variable with the most is the best one to observe next.

    >>> from unveil import datasets
    >>> list(information_about(datasets.network("asia"), "lung", {"smoke": "yes"}))[:2]
    ['either', 'xray']
    """
    known = dict(given or {})
    others = [n for n in (among or network.names) if n not in known and n != target]
    gains = {}
    for name in others:
        joint = joint_posterior(network, [target, name], known)[0]
        independent = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
        seen = joint > 0
        bits = float((joint[seen] * np.log2(joint[seen] / independent[seen])).sum())
        gains[name] = max(bits, 0.0)
    return dict(sorted(gains.items(), key=lambda item: -item[1]))


def bayes_factor(
    network: Network, hypothesis: Findings, alternative: Findings, given: Findings
) -> float:
    """P(given | hypothesis) / P(given | alternative): how the findings tip the scale.

    >>> from unveil import datasets
    >>> asia = datasets.network("asia")
    >>> round(bayes_factor(asia, {"lung": "yes"}, {"lung": "no"}, {"xray": "yes"}), 2)
    16.42
    """
    logs = []
    for assumed in (hypothesis, alternative):
        together = log_likelihoods(network, table_of_findings(network, {**given, **assumed}))[0]
        alone = log_likelihoods(network, table_of_findings(network, assumed))[0]
        if alone == -math.inf:
            raise DataError(f"{dict(assumed)} has probability zero; it explains nothing")
        logs.append(together - alone)
    return math.exp(logs[0] - logs[1]) if logs[1] > -math.inf else math.inf
