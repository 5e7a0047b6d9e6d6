"""What the playground asks: beliefs given findings and actions, why, and what to ask next."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from unveil.errors import DataError
from unveil.infer import finding_influence, information_about
from unveil.infer.answer import Posterior
from unveil.model.network import Network
from unveil.records import as_json
from unveil.table.variable import Variable, label_text

__all__ = ["Models", "Question", "answer"]

MOST_NEXT = 8
CURVE_POINTS, CURVE_WIDTH = 61, 3.5
"""How many places of a density are told, and how many deviations around its mean they cover."""
Value = int | float


class Question(BaseModel):
    """What is known, and what is wanted.

    Findings (`given`) and actions (`do`) name states of discrete variables by position and values
    of continuous ones; `likely` is soft evidence: how likely what was seen is in each state.
    `target` is the variable that `why` and `next` are about (`next` among its own kind); `explain`
    asks for the most probable states of everything together.
    """

    model_config = ConfigDict(extra="forbid")

    given: dict[str, Value] = Field(default_factory=dict)
    likely: dict[str, list[float]] = Field(default_factory=dict)
    do: dict[str, Value] = Field(default_factory=dict)
    target: str = ""
    explain: bool = False
    why: bool = False
    next: bool = False


class Models:
    """Networks from files, the last few kept at hand; safe to ask from several threads."""

    def __init__(self, most: int = 64) -> None:
        self._most = most
        self._known: OrderedDict[Path, tuple[float, Network, threading.Lock]] = OrderedDict()
        self._lock = threading.Lock()

    def load(self, path: Path) -> tuple[Network, threading.Lock]:
        """The network of a file, and a lock: a network keeps what it worked out for questions."""
        stamp = path.stat().st_mtime
        with self._lock:
            known = self._known.get(path)
            if known is None or known[0] != stamp:
                known = (stamp, Network.load(path), threading.Lock())
                self._known[path] = known
            self._known.move_to_end(path)
            while len(self._known) > self._most:
                self._known.popitem(last=False)
        return known[1], known[2]


def answer(network: Network, question: Question) -> dict[str, Any]:
    """Beliefs about every variable, and whatever else was asked for."""
    findings = {n: _value(network.variable(n), x) for n, x in question.given.items()}
    actions = {n: _value(network.variable(n), x) for n, x in question.do.items()}
    soft = {n: _likelihoods(network.variable(n), x) for n, x in question.likely.items()}
    acted = network.do(actions) if actions else network
    options: dict[str, Any] = {"likelihood": soft} if soft else {}
    found = acted.posterior(findings | actions, list(network.names), **options)
    told: dict[str, Any] = {
        "beliefs": {name: _belief(found, name) for name in found.variables},
        "log_probability": _log_probability(found, {**findings, **actions}),
    }
    if question.explain:
        best = acted.most_probable(findings | actions, **options)
        told["explanation"] = {
            "states": {n: _text(x) for n, x in best.row().items() if x is not None},
            "probability": None if found.means else math.exp(float(best.log_probability[0])),
        }
    if question.target and (question.why or question.next):
        told |= _reasons(acted, findings, question)
    return told


def _log_probability(found: Posterior, known: dict[str, Any]) -> float | None:
    """The log-probability of what is known; of numbers there is only a density, so none."""
    if any(name in found.means for name in known):
        return None
    told: float | None = as_json(float(found.log_evidence[0]))
    return told


def _text(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else label_text(value)


def _reasons(network: Network, findings: dict[str, Any], question: Question) -> dict[str, Any]:
    target = network.variable(question.target)
    told: dict[str, Any] = {}
    if question.why:
        rest = {n: x for n, x in findings.items() if n != target.name}
        told["why"] = [
            {
                "finding": i.finding,
                "value": _text(i.value),
                "bits": as_json(i.divergence),
                "with_it": list(i.with_it.values()),
                "without_it": list(i.without_it.values()),
            }
            for i in finding_influence(network, rest, target.name)
        ]
    if question.next:
        among = [v.name for v in network.variables if v.is_discrete == target.is_discrete]
        gains = information_about(network, target.name, _without(findings, target.name), among)
        told["next"] = [{"name": n, "bits": b} for n, b in list(gains.items())[:MOST_NEXT]]
    return told


def _without(findings: dict[str, Any], name: str) -> dict[str, Any]:
    return {n: x for n, x in findings.items() if n != name}


def _belief(found: Posterior, name: str) -> dict[str, Any]:
    if name in found.means:
        of = found.of(name)
        told: dict[str, Any] = {"mean": of["mean"], "deviation": of["standard deviation"]}
        parts = found.mixtures.get(name)
        if parts is not None and len(parts) > 1 and told["deviation"] > 0:
            told["curve"] = _curve(parts, told["mean"], told["deviation"])
        return told
    return {"p": [round(float(p), 6) for p in found[name][0]]}


def _curve(parts: Any, mean: float, deviation: float) -> dict[str, Any]:
    """The density of a mixture of Gaussians, at places that cover nearly all of it."""
    weights, means, variances = parts.T
    low, high = mean - CURVE_WIDTH * deviation, mean + CURVE_WIDTH * deviation
    # A part narrower than two places would be missed: it is drawn as wide as that.
    least = (2 * CURVE_WIDTH * deviation / CURVE_POINTS) ** 2
    variances = np.maximum(variances, least)
    at = np.linspace(low, high, CURVE_POINTS)[:, None]
    heights = weights * np.exp(-((at - means) ** 2) / (2 * variances)) / np.sqrt(variances)
    y = heights.sum(axis=1) / math.sqrt(2 * math.pi)
    return {"low": low, "high": high, "y": [float(f"{v:.5g}") for v in y]}


def _value(variable: Variable, value: Value) -> Any:
    if not variable.is_discrete:
        return float(value)
    if value != int(value) or not 0 <= value < variable.n_states:
        raise DataError(
            f"{variable.name!r} has the states 0 to {variable.n_states - 1}; {value} is none"
        )
    return variable.labels[int(value)]


def _likelihoods(variable: Variable, values: list[float]) -> dict[Any, float]:
    if not variable.is_discrete or len(values) != variable.n_states:
        raise DataError(f"soft evidence about {variable.name!r} needs a number for every state")
    return dict(zip(variable.labels, values, strict=True))
