"""Many hidden variables: Q(T | Y) a product of one factor each (thesis 6.4, Eq. 6.10).

    L+ = sum over i of I(T_i; Y) - gamma (E[log P(X, T)] - sum over i of E[log Q(T_i)])

and Q(t_i | y) as Proposition 6.4.1 says. Given the other factors, one hidden variable is a problem
of its own (`OneOf`), so that splits, merges and exchanges of its states are found as if it were the
only one.

At gamma = 1 this is mean-field EM; with one hidden variable it is `Exact`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from unveil.bottleneck.cardinality import effective_states, merge_losses, merge_scores
from unveil.bottleneck.compression import Compression
from unveil.bottleneck.derivative import Tangent
from unveil.bottleneck.exact import Look, _entropies
from unveil.bottleneck.exchange import split_gains
from unveil.bottleneck.lagrangian import Completed, Parameters
from unveil.bottleneck.splits import (
    Growth,
    Pair,
    Twins,
    exchanged_states,
    merged_states,
    split_state,
)
from unveil.em.steps import log_prior
from unveil.errors import ModelError
from unveil.infer.rows import prepared_rows
from unveil.kernels.bottleneck_field import (
    SILENT,
    UNSEEN,
    FieldPlan,
    field_collected,
    field_counted,
    field_pass,
)
from unveil.model.flat import FlatTables
from unveil.model.network import Network
from unveil.model.prior import DirichletPrior
from unveil.table.core import Table

__all__ = ["FieldParameters", "MeanField", "marginal_information"]

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]

SWEEPS = 2
"""How often an E-step renews all factors of a row; they begin where the last one left them."""


class FieldParameters(NamedTuple):
    """All tables as one vector, log Q(t_i) side by side, and the factors of every row."""

    tables: Vector
    common: Vector
    q: Matrix


class MeanField:
    """IB-EM's two steps with a factor for each hidden variable; see `Exact` for the other way.

    >>> from unveil import datasets
    >>> asia = datasets.network("asia")
    >>> rows = asia.sample(200, seed=1).without("lung").without("bronc")
    >>> problem = MeanField(asia, rows, ["lung", "bronc"])
    >>> better, objective = problem.step(problem.parameters(asia), 0.5)
    >>> problem.step(better, 0.5)[1] >= objective
    True
    """

    weights: Vector
    codes: npt.NDArray[np.uint16]
    _gaps: npt.NDArray[np.bool_]

    def __init__(
        self,
        network: Network,
        table: Table,
        hidden: Sequence[str],
        prior: DirichletPrior | None = None,
        like: MeanField | None = None,
    ) -> None:
        self.layout = FlatTables(network)
        if self.layout.compact:
            names = ", ".join(self.layout.names[v] for v in self.layout.compact)
            raise ModelError(f"the bottleneck needs whole tables; those of {names} are compact.")
        self.table, self.prior, self.hidden = table, prior, tuple(hidden)
        self.places = [self.layout.names.index(name) for name in self.hidden]
        self.shape = tuple(network.variable(name).n_states for name in self.hidden)
        self.alpha = self.layout.pack_prior(prior)
        if like is None:
            self._read(network, table)
        else:  # the same columns in the same places
            self.weights, self.codes, self._gaps = like.weights, like.codes, like._gaps
        self._lay_out(self._gaps)

    def _read(self, network: Network, table: Table) -> None:
        """The rows: codes of every variable, equal rows folded."""
        rows = prepared_rows(network, table, fold=True)
        self.weights = rows.weights
        self._gaps = rows.codes == rows.evidence.missing
        self._gaps[self.places] = True
        self.codes = rows.codes.astype(np.uint16)
        for v, name in enumerate(network.names):
            leaf = v not in self.places and not network.dag.children(name)
            self.codes[v, self._gaps[v]] = SILENT if leaf else UNSEEN

    def _lay_out(self, gaps: npt.NDArray[np.bool_]) -> None:
        """Families that every row shows are counted once; the others are the kernel's."""
        layout = self.layout
        n_states = [v.n_states for v in layout.network.variables]
        incomplete = np.flatnonzero(gaps.any(axis=1)).tolist()
        lacking = [v for v in incomplete if (self.codes[v] == UNSEEN).any()]
        others = [v for v in lacking if v not in self.places]
        self.unseen = np.array([*self.places, *others], np.int64)
        at, end = np.full(len(n_states), -1, np.int64), 0
        for v in self.unseen.tolist():
            at[v], end = end, end + n_states[v]
        self.width = end
        inside = [f for f, family in enumerate(layout.families) if set(incomplete) & set(family)]
        shown = [f for f in range(len(layout.families)) if f not in set(inside)]
        self.shown = layout.count(self.codes, self.weights, shown)
        self._seen = np.flatnonzero(self.shown)
        member_first, members, strides = [0], [], []
        touching: list[list[int]] = [[] for _ in n_states]
        for number, f in enumerate(inside):
            step, own = 1, []
            for m, size in zip(
                reversed(layout.families[f]), reversed(layout.shapes[f]), strict=True
            ):
                own.append((m, step))
                step *= size
            for m, stride in reversed(own):
                members.append(m)
                strides.append(stride)
                touching[m].append(number)
            member_first.append(len(members))
        self.plan = FieldPlan(
            layout.first[inside].astype(np.int64), np.array(member_first, np.int64),
            np.array(members, np.int64), np.array(strides, np.int64),
            np.concatenate([[0], np.cumsum([len(t) for t in touching])]).astype(np.int64),
            np.array([f for t in touching for f in t], np.int64),
            np.array(n_states, np.int64), at,
            np.isin(np.arange(len(n_states)), self.places).astype(np.uint8),
        )  # fmt: skip

    @property
    def n_cases(self) -> float:
        """How many cases the rows stand for."""
        return float(self.weights.sum())

    def columns(self, i: int) -> slice:
        """Where the factor of hidden variable i lies in a row of q."""
        first = int(self.plan.at[self.places[i]])
        return slice(first, first + self.shape[i])

    def parameters(self, network: Network) -> FieldParameters:
        """The network's tables, with flat factors that have not seen any row."""
        q = np.empty((len(self.weights), self.width))
        for v in self.unseen.tolist():
            first, k = int(self.plan.at[v]), int(self.plan.n_states[v])
            q[:, first : first + k] = 1.0 / k
        tables = self.layout.pack(network)
        return FieldParameters(tables, self._commons(q, tables), q)

    def network(self, parameters: FieldParameters) -> Network:
        """The network with these tables."""
        return self.layout.unpack(parameters.tables)

    def _commons(self, q: Matrix, tables: Vector, counts: Vector | None = None) -> Vector:
        """Q(t_i) of all hidden variables, side by side (ones elsewhere)."""
        common = np.ones(self.width)
        mean = self.weights @ q / self.n_cases
        for i in range(len(self.hidden)):
            common[self.columns(i)] = mean[self.columns(i)]
        return common

    def e_step(
        self, parameters: FieldParameters, gamma: float, sweeps: int = SWEEPS
    ) -> tuple[Matrix, Vector, float]:
        """Renewed factors, expected counts, and -L in nats for all cases."""
        with np.errstate(divide="ignore"):
            logs, common = np.log(parameters.tables), np.log(parameters.common)
        q, counts = parameters.q.copy(), self.shown.copy()
        objective = gamma * float(self.shown[self._seen] @ logs[self._seen])
        objective += field_pass(
            self.plan, logs, parameters.tables, common, float(gamma), self.codes, self.weights,
            self.unseen, sweeps, q, counts,
        )  # fmt: skip
        return q, counts, objective

    def step(self, parameters: FieldParameters, gamma: float) -> tuple[FieldParameters, float]:
        """Both steps, and -L with the prior's part, for the tables given and the new factors."""
        q, counts, objective = self.e_step(parameters, gamma)
        tables = self.layout.estimated(counts, self.prior, self.alpha)
        objective += gamma * log_prior(parameters.tables, self.alpha)
        return FieldParameters(tables, self._commons(q, tables, counts), q), objective

    # What the continuation asks for --------------------------------------------------------------

    def look(self, parameters: FieldParameters, gamma: float) -> Look:
        """`log_likelihood` is mean-field EM's lower bound of it, with the factors as they are."""
        q, counts, _ = self.e_step(parameters, gamma)
        there = parameters._replace(q=q)
        bound = self.e_step(there, 1.0, 0)[2]
        views = self.views(there, counts, gamma)
        return Look(there, gamma, marginal_information(self, q), bound, views)

    def views(self, parameters: FieldParameters, counts: Vector, gamma: float) -> Views:
        """Every hidden variable as if the others' factors were given."""
        return Views(lambda i: OneOf(self, i, parameters, counts, gamma))

    def begin(self, i: int, generator: np.random.Generator) -> Vector:
        return self._twins(i).random(generator)

    def _twins(self, i: int) -> Twins:
        return Twins(_Named(self.layout, (self.hidden[i],), (self.shape[i],)), 0)  # type: ignore[arg-type]

    def growth(self, look: Look, i: int, start: Vector, rounds: int, still: float = 0.0) -> Growth:
        return self._twins(i).growth(look.tangent[i].tangent, start, rounds, still)

    def split(
        self, look: Look, i: int, state: int, growth: Growth, kick: float
    ) -> tuple[MeanField, FieldParameters]:
        return self.split_by(look, i, state, self._twins(i).pair(growth.vectors, kick))

    def split_by(
        self, look: Look, i: int, state: int, pair: Pair
    ) -> tuple[MeanField, FieldParameters]:
        view = look.tangent[i]
        network, _ = split_state(view, view.tangent.parameters, 0, state, pair)
        own = look.parameters.q[:, self.columns(i)]
        share = pair.share[state]
        grown = np.column_stack([own, own[:, state] * (1 - share)])
        grown[:, state] *= share
        return self._rebuilt(network, look.parameters.q, i, grown)

    def gains(self, look: Look, i: int, growth: Growth) -> tuple[Vector, Pair]:
        return split_gains(look.tangent[i].tangent, self._twins(i), growth)

    def losses(self, look: Look, i: int) -> Matrix:
        view = look.tangent[i]
        return merge_losses(view, view.tangent.completed, 0, look.gamma)

    def merge(self, look: Look, i: int, one: int, other: int) -> tuple[MeanField, FieldParameters]:
        view = look.tangent[i]
        counts = view.tangent.completed.counts
        network, _ = merged_states(view, view.tangent.parameters, counts, 0, one, other)
        own = look.parameters.q[:, self.columns(i)].copy()
        own[:, one] += own[:, other]
        return self._rebuilt(network, look.parameters.q, i, np.delete(own, other, axis=1))

    def exchange(
        self, look: Look, i: int, state: int, merged: tuple[int, int], pair: Pair
    ) -> FieldParameters:
        view = look.tangent[i]
        counts = view.tangent.completed.counts
        moved = exchanged_states(view, view.tangent.parameters, counts, 0, state, merged, pair)
        q = look.parameters.q.copy()
        own = q[:, self.columns(i)]
        one, other = merged
        own[:, one] += own[:, other]
        own[:, other] = own[:, state] * (1 - pair.share[state])
        own[:, state] *= pair.share[state]
        return FieldParameters(moved.tables, self._commons(q, moved.tables), q)

    def scores(self, look: Look, i: int) -> Matrix:
        view = look.tangent[i]
        return merge_scores(view, view.tangent.completed, 0)

    def effective(self, look: Look, i: int) -> int:
        view = look.tangent[i]
        return effective_states(view, view.tangent.completed, 0)

    def sizes(self, look: Look) -> list[Vector]:
        mean = self.weights @ look.parameters.q / self.n_cases
        return [mean[self.columns(i)] for i in range(len(self.hidden))]

    def direction(self, look: Look, kind: str) -> None:
        """Steps are judged by the last one: the derivative of all factors is not worked out."""

    def _rebuilt(
        self, network: Network, q: Matrix, i: int, own: Matrix
    ) -> tuple[MeanField, FieldParameters]:
        """The problem with another number of states of hidden variable i, and its factors."""
        made = type(self)(network, self.table, self.hidden, self.prior, self)
        new = np.empty((len(q), made.width))
        for v in self.unseen.tolist():
            first, k = int(self.plan.at[v]), int(self.plan.n_states[v])
            there, wide = int(made.plan.at[v]), int(made.plan.n_states[v])
            values = own if v == self.places[i] else q[:, first : first + k]
            new[:, there : there + wide] = values
        tables = made.layout.pack(network)
        return made, FieldParameters(tables, made._commons(new, tables), new)


def marginal_information(field: MeanField, q: Matrix) -> tuple[float, ...]:
    """I(T_i; Y) of every hidden variable, in nats."""
    found = []
    for i in range(len(field.hidden)):
        own = q[:, field.columns(i)]
        mean = field.weights @ own / field.n_cases
        gained = _entropies(mean[None])[0] - field.weights @ _entropies(own) / field.n_cases
        found.append(max(0.0, float(gained)))
    return tuple(found)


class Views:
    """The view of each hidden variable, made when it is first asked for."""

    def __init__(self, make: Callable[[int], OneOf]) -> None:
        self._make, self._made = make, dict[int, OneOf]()

    def __getitem__(self, i: int) -> OneOf:
        if i not in self._made:
            self._made[i] = self._make(i)
        return self._made[i]


class _Named(NamedTuple):
    """As much of a problem as twins need to know."""

    layout: FlatTables
    hidden: tuple[str, ...]
    shape: tuple[int, ...]


class OneOf:
    """One hidden variable while the factors of the others stay: a problem as `Exact` has it."""

    def __init__(
        self, field: MeanField, i: int, parameters: FieldParameters, counts: Vector, gamma: float
    ) -> None:
        self._field, self._parameters = field, parameters
        self.layout, self.alpha, self.prior = field.layout, field.alpha, field.prior
        self.hidden, self.shape = (field.hidden[i],), (field.shape[i],)
        self.compression = Compression(self.hidden, self.shape)
        self.n_cases = field.n_cases
        self.rows = _OneRows(field, i, parameters)
        q = np.ascontiguousarray(parameters.q[:, field.columns(i)])
        joint = field.weights @ q / field.n_cases
        mass = self.rows.longer(counts)
        completed = Completed(counts, joint, 0.0, [q], mass)
        own = Parameters(parameters.tables, joint)
        self.tangent = Tangent(self, own, completed, gamma)  # type: ignore[arg-type]

    def network(self, parameters: Any) -> Network:
        """The network with these tables."""
        return self.layout.unpack(parameters.tables)


class _OneRows:
    """All rows as one part, for one hidden variable."""

    def __init__(self, field: MeanField, i: int, parameters: FieldParameters) -> None:
        self._field, self._v, self._parameters = field, field.places[i], parameters
        self.n_hidden = field.shape[i]
        self.weights = field.weights
        self.joint_first = field.layout.size + len(field.layout._row_first)
        self.size = self.joint_first + self.n_hidden
        self.parts = [self]

    def longer(self, values: Vector) -> Vector:
        return np.concatenate([values, np.zeros(self.size - len(values))])

    def spread(self, counts: Vector, tables: Vector) -> Vector:
        return counts[: self._field.layout.size]

    def collected(self, values: Vector) -> Matrix:
        out = np.empty((len(self.weights), self.n_hidden))
        field_collected(
            self._field.plan, values, self._v, self._field.codes, self._parameters.q, out
        )
        return out

    def counted(self, mass: Matrix) -> Vector:
        counts = np.zeros(self.size)
        field_counted(
            self._field.plan, np.ascontiguousarray(mass), self._v, self._field.codes,
            self._parameters.q, counts,
        )  # fmt: skip
        counts[self.joint_first :] = mass.sum(axis=0)
        return counts
