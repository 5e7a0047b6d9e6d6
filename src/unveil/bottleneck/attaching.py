"""Under which hidden variable a column, or a hidden variable with all below it, is at home (6.7).

Say c hangs below T. What the rows say of c by itself is E(y, c): one for the value that is seen, or
the message that comes up from below. Below a hidden variable h it would have

    sum over y of w_y log [ sum over t of Q(t | y without c) sum over c of P(c | t) E(y, c) ],

maximised over the table P(c | t) by a few steps of EM, less half of log N for every parameter.
Below its own parent, c's part in Q is taken out first; otherwise whatever hangs together with few
others would stay where it is for its own sake.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from unveil.bottleneck.expected import factors_of
from unveil.bottleneck.mean_field import FieldParameters, MeanField
from unveil.model.table_cpd import table_of

__all__ = ["Homes"]

Matrix = npt.NDArray[np.float64]

STEPS = 4
"""So many steps of EM find the table of c below another hidden variable."""
TINY = 1e-300


class Homes:
    """What every child would be worth below every hidden variable, in nats for all cases."""

    def __init__(self, problem: MeanField, parameters: FieldParameters, gamma: float) -> None:
        self._problem, self._gamma = problem, gamma
        self._network = problem.network(parameters)
        self._factors = factors_of(problem, parameters)
        self._evidence: dict[str, Matrix] = {}
        for name in reversed(self._network.dag.topological_order):
            if name in problem.hidden:
                self._evidence[name] = self._from_below(name)

    def scores(self, name: str, among: list[str]) -> dict[str, float]:
        """The worth of a child below each of these hidden variables."""
        return {h: self._worth(self._shown(name), h, self._without(h, name)) for h in among}

    def _shown(self, name: str) -> Matrix:
        """E(y, c): all ones where a column is not seen."""
        if name in self._evidence:
            return self._evidence[name]
        problem = self._problem
        codes = problem.codes[problem.layout.names.index(name)]
        n = self._network.variable(name).n_states
        shown = np.ones((len(codes), n))
        seen = np.flatnonzero(codes < n)
        shown[seen] = 0.0
        shown[seen, codes[seen].astype(np.int64)] = 1.0
        return shown

    def _message(self, name: str) -> Matrix:
        """What a child says of its parent, tempered if it is a column."""
        table = table_of(self._network.cpd(name)).values
        said = self._shown(name) @ table.T
        return said if name in self._evidence else said**self._gamma

    def _from_below(self, name: str) -> Matrix:
        """What all below a hidden variable says of it, summing to one in every row."""
        n, k = len(self._problem.weights), self._network.variable(name).n_states
        logs = np.zeros((n, k))
        for child in self._network.dag.children(name):
            logs += np.log(np.maximum(self._message(child), TINY))
        shown: Matrix = np.exp(logs - logs.max(axis=1, keepdims=True))
        return shown / shown.sum(axis=1, keepdims=True)

    def _without(self, hidden: str, child: str) -> Matrix:
        """Q(t | y) of a hidden variable, without what this child says of it."""
        q = self._factors[hidden]
        if self._network.dag.parents(child) != (hidden,):
            return q
        rest: Matrix = q / np.maximum(self._message(child), TINY)
        return rest / np.maximum(rest.sum(axis=1, keepdims=True), TINY)

    def _worth(self, shown: Matrix, hidden: str, q: Matrix) -> float:
        weights = self._problem.weights[:, None]
        table = (q * weights).T @ (shown / shown.sum(axis=1, keepdims=True)) + 0.5
        for _ in range(STEPS):
            table /= table.sum(axis=1, keepdims=True)
            whole = q @ table
            share = shown / np.maximum((whole * shown).sum(axis=1, keepdims=True), TINY)
            table = table * ((q * weights).T @ share) + 0.5 / table.shape[1]
        table /= table.sum(axis=1, keepdims=True)
        rows = np.log(np.maximum(((q @ table) * shown).sum(axis=1), TINY))
        price = 0.5 * table.shape[0] * (table.shape[1] - 1) * np.log(self._problem.n_cases)
        return float(self._problem.weights @ rows - price)
