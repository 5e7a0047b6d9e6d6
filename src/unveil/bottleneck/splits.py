"""When a state of a hidden variable splits, and along which direction: the eigenvalue that crosses.

Give every state t of T a twin that shares its rows evenly. Nothing changes; but tell the twins
apart a little, by v in log theta, and one E-step and M-step answer with A v. What the two do in
opposite ways leaves all other states alone (Q(t | y) as a whole does not move), so each state has a
problem of its own: where the largest eigenvalue of A grows beyond one, the twins part by
themselves, and t splits along the eigenvector. For a latent class model A is gamma times the
correlation matrix of the columns, weighed by w_y Q(t | y); in general it is, over the families f
that contain T,

    s(y) = sum over f of v_f,   dN_f = sum over y of w_y Q(t | y) [gamma s(y) + (1 - gamma) dQ],
    (A v)_f = dN_f(x, u, t) / N_f(x, u, t) - dN_f(u, t) / N_f(u, t)

(the last term not for T's own family). A is symmetric in the product that weighs cells by N, so
power iteration finds the eigenvalue; begun at the last gamma's eigenvectors it needs few rounds,
each of which costs about two E-steps for all states together. The mode in which twins only share
their rows unevenly has eigenvalue one always and is taken out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from unveil.bottleneck.derivative import Tangent
from unveil.bottleneck.lagrangian import Bottleneck, Parameters
from unveil.model.network import Network
from unveil.model.table_cpd import TableCPD, table_of
from unveil.table.variable import Variable

__all__ = [
    "Growth",
    "Pair",
    "Twins",
    "exchanged_states",
    "merged_states",
    "split_state",
    "with_states",
]

Vector = npt.NDArray[np.float64]

NO_LENGTH = 1e-100
"""Vectors shorter than this are none."""
NEVER = -30.0
"""The log of as good as nothing: what a twin has where none of its rows are."""


@dataclass(frozen=True)
class Growth:
    """For every state of a hidden variable how much twins part in one step, and along what.

    `vectors` is one vector over tables: its cells with state t are t's eigenvector, of length one
    when cells are weighed by their share of t's rows.
    """

    values: Vector
    vectors: Vector


class Pair(NamedTuple):
    """Twins of every state: log theta of each less that of the state, over tables.

    In T's own family that includes the part of the state each twin has; `share` is the first one's.
    """

    one: Vector
    other: Vector
    share: Vector


class Twins:
    """Twins of the states of the hidden variable number `i` of a problem."""

    def __init__(self, problem: Bottleneck, i: int) -> None:
        self._problem, self._i = problem, i
        layout = problem.layout
        v = layout.names.index(problem.hidden[i])
        self.n_states = problem.shape[i]
        self._state = np.full(layout.size, -1)
        self._own = np.zeros(layout.size, bool)
        for f, family in enumerate(layout.families):
            if v in family:
                shape = layout.shapes[f]
                view = [1] * len(shape)
                view[family.index(v)] = self.n_states
                states = np.broadcast_to(np.arange(self.n_states).reshape(view), shape)
                own = slice(layout.first[f], layout.first[f + 1])
                self._state[own] = states.ravel()
                self._own[own] = family[-1] == v
        self._inside = np.flatnonzero(self._state >= 0)
        # The configuration of all hidden variables that each place of a joint stands for.
        joint = np.indices(problem.shape).reshape(len(problem.shape), -1)
        self.state_of_joint = joint[i]

    def pair(self, vectors: Vector, kick: float) -> Pair:
        """Twins that are `kick` away from their state along its vector, one each way."""
        half = np.where(self._own, np.log(0.5), 0.0)
        return Pair(half + kick * vectors, half - kick * vectors, np.full(self.n_states, 0.5))

    def estimated_pair(self, tangent: Tangent, one: Vector) -> Pair:
        """Twins from the expected counts of the first, the other having the rest."""
        alpha = tangent.problem.alpha
        counts = tangent.completed.counts
        first, second = one + alpha / 2, np.maximum(counts - one, 0.0) + alpha / 2
        own = self._own
        rows = np.bincount(self._state[own], counts[own], self.n_states)
        part = np.bincount(self._state[own], one[own], self.n_states)
        share = np.divide(part, rows, out=np.full(self.n_states, 0.5), where=rows > 0)
        return Pair(
            self._ratio(tangent, first),
            self._ratio(tangent, second),
            np.clip(share, 1e-12, 1 - 1e-12),
        )

    def _ratio(self, tangent: Tangent, counts: Vector) -> Vector:
        """log theta of a twin with these counts, less that of its state."""
        layout = tangent.problem.layout
        with np.errstate(divide="ignore", invalid="ignore"):
            sums = np.log(layout.row_sums(counts) * tangent._per_row)
            ratio = np.log(counts * tangent._per_count)
            ratio -= np.where(self._own, 0.0, np.repeat(sums, layout._row_length))
        return np.where((self._state >= 0) & np.isfinite(ratio), ratio, NEVER * (self._state >= 0))

    def random(self, generator: np.random.Generator) -> Vector:
        """A vector to begin with."""
        vector = np.zeros(self._state.size)
        vector[self._inside] = generator.normal(size=self._inside.size)
        return vector

    def growth(self, tangent: Tangent, start: Vector, rounds: int, still: float = 0.0) -> Growth:
        """The largest eigenvalue and its vector for every state, by power iteration.

        It ends after `rounds`, or when no eigenvalue changes by more than the part `still`.
        """
        vector = self._clean(tangent, start)
        values = np.zeros(self.n_states)
        zero = np.zeros(tangent.problem.rows.n_hidden)
        common = zero
        for _ in range(rounds):
            before = values
            vector, _ = self._scaled(tangent, vector)
            changes = tangent.row_changes(vector, common)
            finite = [
                np.where(q > 0, c, 0.0)
                for q, c in zip(tangent.completed.posteriors, changes, strict=True)
            ]
            counts = tangent.counts(finite)
            cells = tangent.spread(counts, vector)
            moved = self._estimated(tangent, cells)
            joint = counts[tangent.problem.rows.joint_first :] / tangent.problem.n_cases
            joint = joint - self._even(joint, tangent.completed.joint)
            common = tangent.problem.compression.response(tangent.completed.joint, joint, self._i)
            vector = self._clean(tangent, moved)
            vector, values = self._scaled(tangent, vector)
            scale = np.divide(1.0, values, out=np.zeros_like(values), where=values > NO_LENGTH)
            common = common * scale[self.state_of_joint]
            if still and np.abs(values - before).max() <= still * values.max():
                break
        return Growth(values, vector)

    def _estimated(self, tangent: Tangent, counts: Vector) -> Vector:
        """d log theta of one twin: in T's own family the other twin takes what it gets."""
        layout = tangent.problem.layout
        sums = np.repeat(layout.row_sums(counts) * tangent._per_row, layout._row_length)
        found = counts * tangent._per_count - np.where(self._own, 0.0, sums)
        return np.where(self._state >= 0, found, 0.0)

    def _clean(self, tangent: Tangent, vector: Vector) -> Vector:
        """The vector without the mode that only moves a state's rows to its twin."""
        own = self._own
        weights = tangent.completed.counts[own]
        states = self._state[own]
        up = np.bincount(states, weights * vector[own], self.n_states)
        down = np.bincount(states, weights, self.n_states)
        mean = np.divide(up, down, out=np.zeros_like(up), where=down > 0)
        vector = vector.copy()
        vector[own] -= mean[states]
        return vector

    def _scaled(self, tangent: Tangent, vector: Vector) -> tuple[Vector, Vector]:
        """The vector with every state's part at length one, and the lengths it had."""
        inside = self._inside
        states, values = self._state[inside], vector[inside]
        squares = np.bincount(states, tangent.completed.counts[inside] * values**2, self.n_states)
        rows = (
            np.bincount(self.state_of_joint, tangent.completed.joint, self.n_states)
            * tangent.problem.n_cases
        )
        lengths = np.sqrt(np.divide(squares, rows, out=np.zeros_like(rows), where=rows > 0))
        # A state with next to no rows has no direction to go to.
        scale = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > NO_LENGTH)
        vector = vector.copy()
        vector[inside] = values * scale[states]
        return vector, lengths

    def _even(self, joint: Vector, weights: Vector) -> Vector:
        """The part of a change of Q(t) that is the same share of every state's rows."""
        up = np.bincount(self.state_of_joint, joint, self.n_states)
        down = np.bincount(self.state_of_joint, weights, self.n_states)
        share = np.divide(up, down, out=np.zeros_like(up), where=down > 0)
        return share[self.state_of_joint] * weights


def with_states(network: Network, name: str, n_states: int) -> Variable:
    """The hidden variable with another number of states; labels it had are kept."""
    old = network.variable(name)
    labels = list(old.labels)[:n_states]
    number = len(labels)
    while len(labels) < n_states:
        number += 1
        if number not in labels:
            labels.append(number)
    return Variable(name, labels, hidden=True)


def split_state(
    problem: Bottleneck, parameters: Parameters, i: int, state: int, pair: Pair
) -> tuple[Network, Vector]:
    """The network in which a state has become two as `pair` says, and Q(t) there.

    The second of the two is the new, last state.
    """
    with_pair = [parameters.tables * np.exp(np.clip(x, -30.0, 30.0)) for x in pair[:2]]
    tables = []
    plain = _touched(problem, parameters.tables, i)
    both = (_touched(problem, moved, i) for moved in with_pair)
    for (axis, old), (_, one), (_, other) in zip(plain, *both, strict=True):
        whole = np.concatenate([old, np.take(other, [state], axis)], axis)
        at: list[int | slice] = [slice(None)] * whole.ndim
        at[axis] = state
        whole[tuple(at)] = np.take(one, state, axis)
        tables.append(whole)
    common = parameters.common.reshape(problem.shape)
    grown = np.concatenate([common, np.take(common, [state], i) * (1 - pair.share[state])], axis=i)
    here: list[int | slice] = [slice(None)] * grown.ndim
    here[i] = state
    grown[tuple(here)] *= pair.share[state]
    variable = with_states(problem.layout.network, problem.hidden[i], problem.shape[i] + 1)
    return _rebuilt(problem, parameters, variable, tables), grown.ravel()


def merged_states(
    problem: Bottleneck, parameters: Parameters, counts: Vector, i: int, one: int, other: int
) -> tuple[Network, Vector]:
    """The network in which two states of a hidden variable are one (Eq. 6.26), and Q(t) there."""
    kept = [s for s in range(problem.shape[i]) if s != other]
    tables = []
    for axis, part in _touched(problem, counts + problem.alpha, i):
        whole = part.copy()
        at: list[slice | int] = [slice(None)] * part.ndim
        at[axis] = one
        whole[tuple(at)] += np.take(part, other, axis)
        tables.append(np.take(whole, kept, axis))
    common = parameters.common.reshape(problem.shape)
    both: list[slice | int] = [slice(None)] * common.ndim
    both[i] = one
    grown = common.copy()
    grown[tuple(both)] += np.take(common, other, i)
    variable = with_states(problem.layout.network, problem.hidden[i], len(kept))
    return _rebuilt(problem, parameters, variable, tables), np.take(grown, kept, i).ravel()


def exchanged_states(
    problem: Bottleneck,
    parameters: Parameters,
    counts: Vector,
    i: int,
    state: int,
    merged: tuple[int, int],
    pair: Pair,
) -> Parameters:
    """The parameters after two states were merged and another took the place that came free."""
    one, other = merged
    layout, twins = problem.layout, Twins(problem, i)
    # All states have their cells in the same order.
    first, second, split = (np.flatnonzero(twins._state == s) for s in (one, other, state))
    own = twins._own[first]
    tables, known = parameters.tables.copy(), counts + problem.alpha
    both = np.zeros(layout.size)
    both[first] = known[first] + known[second]
    sums = np.repeat(layout.row_sums(both), layout._row_length)[first]
    mean = np.divide(both[first], sums, out=tables[first].copy(), where=sums > 0)
    tables[first] = np.where(own, tables[first] + tables[second], mean)
    whole = parameters.tables[split]
    tables[second] = whole * np.exp(np.clip(pair.other[split], NEVER, -NEVER))
    tables[split] = whole * np.exp(np.clip(pair.one[split], NEVER, -NEVER))
    common = np.moveaxis(parameters.common.reshape(problem.shape).copy(), i, 0)
    common[one] += common[other]
    common[other] = common[state] * (1 - pair.share[state])
    common[state] *= pair.share[state]
    joint = np.moveaxis(common, 0, i).ravel()
    return Parameters(layout.normalised(tables), problem.compression.projected(joint))


def _touched(problem: Bottleneck, values: Vector, i: int) -> list[tuple[int, Vector]]:
    """The part of every family that contains hidden variable i, and where its axis is."""
    layout = problem.layout
    v = layout.names.index(problem.hidden[i])
    return [
        (family.index(v), part)
        for family, part in zip(layout.families, layout.split(values), strict=True)
        if v in family
    ]


def _rebuilt(
    problem: Bottleneck, parameters: Parameters, variable: Variable, tables: list[Vector]
) -> Network:
    """The network with other tables for the families that contain this hidden variable."""
    network, name = problem.network(parameters), variable.name
    new = iter(tables)
    cpds = []
    for own, cpd in network.cpds.items():
        members = [v.name for v in (*cpd.parents, cpd.variable)]
        if name in members:
            values = next(new)
            sums = values.sum(axis=-1, keepdims=True)
            values = np.where(sums > 0, values / np.where(sums > 0, sums, 1), 1 / values.shape[-1])
            parents = [variable if p.name == name else p for p in cpd.parents]
            cpds.append(TableCPD(variable if own == name else cpd.variable, parents, values))
        else:
            cpds.append(table_of(cpd))
    return Network(cpds, network.name, network.description)
