"""What the playground asks: beliefs given findings and actions, why, and what to ask next."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from unveil.errors import DataError
from unveil.infer import finding_influence, information_about
from unveil.infer.answer import Posterior
from unveil.model.network import Network
from unveil.records import as_json
from unveil.table.variable import Variable, label_text

__all__ = ["Models", "Question", "answer"]

MOST_NEXT = 8
Value = int | float


class Question(BaseModel):
    """What is known, and what is wanted.

    Findings (`given`) and actions (`do`) name states of discrete variables by position and values
    of continuous ones; `likely` is soft evidence: how likely what was seen is in each state.
    `target` is the variable that `why` and `next` are about; `explain` asks for the most probable
    states of everything together.
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
        "log_probability": as_json(float(found.log_evidence[0])),
    }
    if question.explain:
        best = acted.most_probable(findings | actions, **options)
        told["explanation"] = {
            "states": {n: label_text(x) for n, x in best.row().items() if x is not None},
            "probability": math.exp(float(best.log_probability[0])),
        }
    if question.target and (question.why or question.next):
        told |= _reasons(acted, findings, question)
    return told


def _reasons(network: Network, findings: dict[str, Any], question: Question) -> dict[str, Any]:
    target = network.variable(question.target)
    if not target.is_discrete:
        raise DataError(f"{target.name!r} is continuous; ask about a variable with states")
    told: dict[str, Any] = {}
    if question.why:
        rest = {n: x for n, x in findings.items() if n != target.name}
        told["why"] = [
            {
                "finding": i.finding,
                "value": label_text(i.value),
                "bits": as_json(i.divergence),
                "with_it": list(i.with_it.values()),
                "without_it": list(i.without_it.values()),
            }
            for i in finding_influence(network, rest, target.name)
        ]
    if question.next:
        among = [v.name for v in network.variables if v.is_discrete]
        gains = information_about(network, target.name, _without(findings, target.name), among)
        told["next"] = [{"name": n, "bits": b} for n, b in list(gains.items())[:MOST_NEXT]]
    return told


def _without(findings: dict[str, Any], name: str) -> dict[str, Any]:
    return {n: x for n, x in findings.items() if n != name}


def _belief(found: Posterior, name: str) -> dict[str, Any]:
    if name in found.means:
        of = found.of(name)
        return {"mean": of["mean"], "deviation": of["standard deviation"]}
    return {"p": [round(float(p), 6) for p in found[name][0]]}


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
