"""Which finding mattered most, and what it would pay to find out next."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unveil.errors import DataError
from unveil.infer.answer import Posterior
from unveil.infer.evidence import Findings, table_of_findings
from unveil.infer.gaussian.curves import curve_covariance, has_curves
from unveil.infer.gaussian.posterior import gaussian_joint_posterior
from unveil.infer.posterior import joint_posterior, log_likelihoods, posterior
from unveil.model.network import Network
from unveil.records import Record
from unveil.table.core import Table
from unveil.table.variable import Label

__all__ = ["Influence", "bayes_factor", "finding_influence", "information_about"]


@dataclass(frozen=True)
class Influence(Record):
    """How the belief in a target changes when one finding is left out.

    `divergence` (bits) is KL(posterior with all findings || posterior without this one). The
    beliefs are those of every state; of a continuous target, its mean and standard deviation, and
    the divergence is that of the Gaussians with these (in a mixed network: the nearest ones).
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
        apart = _between_lines if target in everything.means else _between_states
        bits = apart(everything, without, target)
        found.append(Influence(name, value, bits, everything.of(target), without.of(target)))
    return tuple(sorted(found, key=lambda i: -i.divergence))


def _between_states(after: Posterior, before: Posterior, target: str) -> float:
    """KL(after || before) of a discrete target, in bits."""
    p, q = after[target][0], before[target][0]
    seen = p > 0
    return float((p[seen] * np.log2(p[seen] / q[seen])).sum())


def _between_lines(after: Posterior, before: Posterior, target: str) -> float:
    """KL(N(m, v) || N(n, w)) in bits: (log(w / v) + (v + (m - n)^2) / w - 1) / (2 log 2)."""
    m, n = (float(found.means[target][0]) for found in (after, before))
    v, w = (float(found.variances[target][0]) for found in (after, before))
    if v <= 0 or w <= 0:
        return math.inf if v < w else 0.0
    return (math.log(w / v) + (v + (m - n) ** 2) / w - 1) / (2 * math.log(2))


def information_about(
    network: Network, target: str, given: Findings | None = None, among: Sequence[str] | None = None
) -> dict[str, float]:
    """Mutual information (bits) between the target and each unseen variable, given the findings.

    The value of information: the variable with the most is the best one to observe next. Between
    continuous variables of a network without discrete ones it is -1/2 log2(1 - r^2), with their
    correlation r given the findings (for curves the bits are about right). About a
    variable with states, only others with states are ranked.

    >>> from unveil import datasets
    >>> list(information_about(datasets.network("asia"), "lung", {"smoke": "yes"}))[:2]
    ['either', 'xray']
    """
    known = dict(given or {})
    others = [n for n in (among or network.names) if n not in known and n != target]
    if not network.variable(target).is_discrete:
        return _about_number(network, target, known, others)
    if among is None:
        others = [n for n in others if network.variable(n).is_discrete]
    gains = {}
    for name, joint in _joints(network, target, known, others):
        independent = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
        seen = joint > 0
        bits = float((joint[seen] * np.log2(joint[seen] / independent[seen])).sum())
        gains[name] = max(bits, 0.0)
    return dict(sorted(gains.items(), key=lambda item: -item[1]))


def _joints(
    network: Network, target: str, known: Findings, others: Sequence[str]
) -> Iterator[tuple[str, npt.NDArray[np.float64]]]:
    """The joint posterior of the target and each of the others, shape (states, states).

    Where there are continuous variables, it is P(target) P(other | target), state by state.
    """
    if all(v.is_discrete for v in network.variables):
        for name in others:
            yield name, joint_posterior(network, [target, name], known)[0]
        return
    chances = posterior(network, known, of=target)[target][0]
    labels = network.variable(target).labels
    given = [
        posterior(network, {**known, target: label}, of=others) if p > 0 and others else None
        for label, p in zip(labels, chances, strict=True)
    ]
    for name in others:
        nothing = np.zeros(network.variable(name).n_states)
        rows = [nothing if found is None else found[name][0] for found in given]
        yield name, chances[:, None] * np.array(rows)


def _about_number(
    network: Network, target: str, known: Findings, others: Sequence[str]
) -> dict[str, float]:
    """The same for a continuous target, from the joint covariance of what is unseen."""
    if any(v.is_discrete for v in network.variables):
        raise DataError(
            f"{target!r} is continuous and the network has discrete variables, too; what they tell "
            "about each other is not known in closed form. Ask about a variable with states."
        )
    if not others:
        return {}
    table = table_of_findings(network, known)
    covariance = _covariance(network, [target, *others], table)
    spread = np.sqrt(covariance.diagonal())
    gains = {}
    for name, shared, own in zip(others, covariance[0, 1:], spread[1:], strict=True):
        r = shared / (spread[0] * own) if spread[0] * own > 0 else 0.0
        gains[name] = 0.5 * math.log2(1 / max(1 - r**2, np.finfo(float).tiny))
    return dict(sorted(gains.items(), key=lambda item: -item[1]))


def _covariance(network: Network, names: Sequence[str], table: Table) -> npt.NDArray[np.float64]:
    """The covariance of unseen variables given the findings."""
    if not has_curves(network):
        return gaussian_joint_posterior(network, names, table)[1][0]
    return curve_covariance(network, table, names)


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
