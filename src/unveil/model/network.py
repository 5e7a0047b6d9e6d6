"""`Network`: an acyclic graph and one conditional distribution per variable (thesis 2.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from html import escape
from os import PathLike
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from unveil.errors import DataError, ModelError
from unveil.graph.dag import DAG
from unveil.model.cpd import CPD
from unveil.model.prior import DirichletPrior
from unveil.seeds import generator_of
from unveil.table.core import Column, Table
from unveil.table.door import Data, Weights, as_table
from unveil.table.options import Unknown
from unveil.table.variable import Label, Variable

if TYPE_CHECKING:
    from unveil.infer.answer import Posterior
    from unveil.infer.explain import Explanation

__all__ = ["Network"]

MOST_DRAWN = 100
"""A notebook draws networks of at most so many variables by itself."""

COMPACT = {"tree": "tree", "default_table": "default table", "noisy_or": "noisy-or"}
"""What kinds of distributions that are not the usual ones are called."""

BLOCK = 1 << 16
"""Rows are scored in blocks of this many, so that working memory does not grow with the table."""


class Network:
    """A Bayesian network: P(X1, ..., Xn) = product over i of P(Xi | parents of Xi) (Eq. 2.1).

    The graph follows from the distributions `cpds`: each names its variable and its parents. `name`
    and `description` are for people.
    Nothing changes a network; methods give new ones.

    >>> from unveil import TableCPD, Variable
    >>> rain = Variable("rain", ["no", "yes"])
    >>> grass = Variable("grass", ["dry", "wet"])
    >>> network = Network(
    ...     [TableCPD(rain, [], [0.8, 0.2]), TableCPD(grass, [rain], [[0.9, 0.1], [0.2, 0.8]])]
    ... )
    >>> network
    Network(2 variables, 1 arc, 3 free parameters)
    >>> network.sample(4, seed=1).n_rows
    4
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, cpds: Iterable[CPD], name: str = "", description: str = "") -> None:
        given = list(cpds)
        if not given:
            raise ModelError("a network needs at least one variable")
        _check_variables(given)
        self._cpds = {cpd.variable.name: cpd for cpd in given}
        self._dag = DAG(self._cpds, ((p.name, c.variable.name) for c in given for p in c.parents))
        self.name = name
        self.description = description
        self._compiled: dict[Any, Any] = {}
        """What inference made of this network, kept with it for the next question."""

    @property
    def dag(self) -> DAG:
        """The graph."""
        return self._dag

    @property
    def cpds(self) -> Mapping[str, CPD]:
        """The conditional distributions by the name of their variable."""
        return MappingProxyType(self._cpds)

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """The variables, in the order they were given."""
        return tuple(cpd.variable for cpd in self._cpds.values())

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the variables."""
        return tuple(self._cpds)

    @property
    def hidden(self) -> tuple[str, ...]:
        """The names of the hidden variables."""
        return tuple(v.name for v in self.variables if v.hidden)

    @property
    def is_discrete(self) -> bool:
        """Whether every variable is discrete."""
        return all(v.is_discrete for v in self.variables)

    @property
    def n_parameters(self) -> int:
        """The number of free parameters."""
        return sum(cpd.n_parameters for cpd in self._cpds.values())

    def cpd(self, name: str) -> CPD:
        """The conditional distribution of a variable."""
        return self._cpds[self.dag.nodes[self.dag.position(name)]]

    def variable(self, name: str) -> Variable:
        """The variable of that name."""
        return self.cpd(name).variable

    # Rows --------------------------------------------------------------------------------------

    def sample(self, n: int, seed: int | np.random.Generator | None = None) -> Table:
        """A table of `n` rows drawn from the network, parents before children.

        >>> from unveil import TableCPD, Variable
        >>> Network([TableCPD(Variable("coin", [0, 1]), [], [0, 1])]).sample(3).labels("coin")
        [1, 1, 1]
        """
        if n < 0:
            raise DataError(f"cannot sample {n} rows; give a number of rows that is not negative")
        generator = generator_of(seed)
        columns: dict[str, Column] = {}
        for name in self.dag.topological_order:
            parents = [columns[p.name] for p in self._cpds[name].parents]
            columns[name] = self._cpds[name].sample(parents, n, generator)
        return Table(self.variables, [columns[name] for name in self.names])

    def log_likelihood(self, data: Data, *, weights: Weights = None) -> float:
        """The weighted sum over rows of log P(what the row shows), in nats (Eq. 2.3).

        `data` is a table, a frame, an array or a path; `weights` say how often each row counts.

        Columns are matched by name and states by label, so the order of either does not matter;
        columns the network does not have are left out. Empty cells, hidden variables and
        variables without a column are summed over.
        """
        table = self._read(data, weights)
        rows = self.row_log_likelihoods(table)
        if table.weights is None:
            return float(rows.sum())
        seen = table.weights > 0
        return float(rows[seen] @ table.weights[seen])

    def row_log_likelihoods(self, data: Data) -> npt.NDArray[np.float64]:
        """log P(what the row shows) in nats, shape (n_rows,); `-inf` where it is impossible."""
        table = self._read(data)
        if not any(name in table for name in self.names):
            raise DataError(
                f"the table has none of the network's variables; it has {list(table.names)[:8]}, "
                f"the network {list(self.names)[:8]}"
            )
        if all(name in table and not table.missing(name).any() for name in self.names):
            return self._complete_rows(table.select(self.names).conform(self.variables))
        from unveil.infer.posterior import log_likelihoods

        return log_likelihoods(self, table)

    def _read(self, data: Data, weights: Weights = None, unknown: Unknown = "error") -> Table:
        """The table behind `data`; what is not one yet is read by the states of the network."""
        like = None if isinstance(data, Table) else self
        return as_table(data, weights, like=like, unknown=unknown)

    def _complete_rows(self, table: Table) -> npt.NDArray[np.float64]:
        columns = {name: table.column(name) for name in self.names}
        total = np.zeros(table.n_rows)
        for start in range(0, table.n_rows, BLOCK):
            block = slice(start, start + BLOCK)
            for name, cpd in self._cpds.items():
                parents = [columns[p.name][block] for p in cpd.parents]
                cpd.add_log_probability(total[block], parents, columns[name][block])
        return total

    # Questions ---------------------------------------------------------------------------------

    def posterior(
        self,
        given: Mapping[str, Label] | Data | None = None,
        of: Sequence[str] | str | None = None,
        **options: Any,
    ) -> Posterior:
        """What follows from findings, or from every row of a table; see `unveil.infer.posterior`.

        >>> from unveil import datasets
        >>> print(datasets.network("asia").posterior({"smoke": "yes"}, of="lung"))
        lung: yes 0.1000, no 0.9000
        """
        from unveil.infer.posterior import posterior

        return posterior(self, given, of, **options)

    def most_probable(
        self, given: Mapping[str, Label] | Data | None = None, **options: Any
    ) -> Explanation:
        """The most probable states of everything unseen; see `unveil.infer.most_probable`."""
        from unveil.infer.explain import most_probable

        return most_probable(self, given, **options)

    def predict(self, data: Data, target: str, *, unknown: Unknown = "error") -> list[Label]:
        """The most probable state of `target` in every row, given the row's other cells.

        A label that the network does not know is an error or, with `unknown="missing"`, a missing
        cell.
        """
        table = self._read(data, unknown=unknown)
        given = table.without(target) if target in table and table.n_columns > 1 else table
        return self.posterior(given.like(self, unknown=unknown), of=target).best(target)

    def do(self, actions: Mapping[str, Label]) -> Network:
        """The network after some variables were set by hand; see `unveil.infer.do`."""
        from unveil.infer.intervene import do

        return do(self, actions)

    # Making new networks -----------------------------------------------------------------------

    @staticmethod
    def fit(structure: DAG | Network, table: Table, prior: DirichletPrior | None = None) -> Network:
        """The network over a graph with parameters from complete rows; see `unveil.fit`."""
        from unveil.model.fit import fit

        return fit(structure, table, prior)

    def map_variables(self, change: Callable[[Variable], Variable]) -> Network:
        """The same distributions over changed variables (renamed, relabelled, marked hidden)."""
        new = {v.name: change(v) for v in self.variables}
        changed = {v.name for v in self.variables if new[v.name] != v}
        cpds = [
            cpd.with_variables(new[name], [new[p.name] for p in cpd.parents])
            if name in changed or any(p.name in changed for p in cpd.parents)
            else cpd
            for name, cpd in self._cpds.items()
        ]
        return Network(cpds, self.name, self.description)

    def renamed(self, names: Mapping[str, str]) -> Network:
        """The network with some variables called differently."""
        for name in names:
            self.variable(name)
        return self.map_variables(lambda v: v.renamed(names.get(v.name, v.name)))

    def relabelled(self, states: Mapping[str, Sequence[Label]]) -> Network:
        """The network with the states of some variables called differently, in their order."""
        for name in states:
            self.variable(name)
        return self.map_variables(lambda v: v.relabelled(states[v.name]) if v.name in states else v)

    def with_hidden(self, names: Sequence[str]) -> Network:
        """The network with exactly these variables marked as hidden."""
        for name in names:
            self.variable(name)
        return self.map_variables(lambda v: v.as_hidden(v.name in names))

    # Files and words ---------------------------------------------------------------------------

    def save(self, path: str | PathLike[str], **options: Any) -> None:
        """Write the network to a file; the name's ending chooses the format."""
        from unveil.formats import save

        save(self, path, **options)

    def to_dict(self) -> dict[str, Any]:
        """What a file in unveil's own format holds (`docs/formats.md`), ready for JSON."""
        import json

        from unveil.formats import dumps

        fields: dict[str, Any] = json.loads(dumps(self, "json"))
        return fields

    @staticmethod
    def load(path: str | PathLike[str], **options: Any) -> Network:
        """Read a network from a file of any format unveil knows."""
        from unveil.formats import load

        return load(path, **options)

    def to_networkx(self) -> Any:
        """A `networkx.DiGraph` of the variables; a node knows its `states` and if it is `hidden`.

        >>> from unveil import datasets
        >>> datasets.network("asia").to_networkx().nodes["lung"]["states"]
        ('yes', 'no')
        """
        graph = self.dag.to_networkx()
        for variable in self.variables:
            graph.nodes[variable.name].update(states=variable.states, hidden=variable.hidden)
        return graph

    def _repr_html_(self) -> str:
        """What a notebook shows: the picture of the graph and the size."""
        from unveil.report.picture import draw

        picture = draw(self).svg() if len(self.names) <= MOST_DRAWN else ""
        return f"{picture}<p>{escape(repr(self))}</p>"

    def describe(self) -> str:
        """The network as text: size, hidden variables, and every family on a line.

        >>> from unveil import TableCPD, Variable
        >>> print(Network([TableCPD(Variable("coin", ["heads", "tails"]), [], [0.5, 0.5])],
        ...               name="toss").describe())
        toss: 1 variable, 0 arcs, 1 free parameter
          P(coin): 2 states (heads, tails), 1 parameter
        """
        head = f"{self.name or 'network'}: {self._size()}"
        lines = [head, *([self.description] if self.description else [])]
        if self.hidden:
            lines.append(f"hidden: {', '.join(self.hidden)}")
        return "\n".join([*lines, *("  " + _family_line(cpd) for cpd in self._cpds.values())])

    def _size(self) -> str:
        hidden = f" ({len(self.hidden)} hidden)" if self.hidden else ""
        return (
            f"{_count(len(self._cpds), 'variable')}{hidden}, {_count(self.dag.n_arcs, 'arc')}, "
            f"{_count(self.n_parameters, 'free parameter')}"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Network):
            return NotImplemented
        return dict(self._cpds) == dict(other._cpds)

    def __repr__(self) -> str:
        return f"Network({f'{self.name!r}, ' if self.name else ''}{self._size()})"


def _check_variables(cpds: Sequence[CPD]) -> None:
    """Every variable has one CPD, and parents are the variables they claim to be."""
    own: dict[str, Variable] = {}
    for cpd in cpds:
        if cpd.variable.name in own:
            raise ModelError(f"variable {cpd.variable.name!r} has two conditional distributions")
        own[cpd.variable.name] = cpd.variable
    for cpd in cpds:
        for parent in cpd.parents:
            if parent.name not in own:
                raise ModelError(
                    f"{cpd.variable.name!r} has the parent {parent.name!r}, which has no "
                    "conditional distribution of its own"
                )
            if parent != own[parent.name]:
                raise ModelError(
                    f"{cpd.variable.name!r} sees its parent as {parent}, but that variable is "
                    f"{own[parent.name]}"
                )


def _family_line(cpd: CPD) -> str:
    given = ", ".join(p.name for p in cpd.parents)
    head = f"P({cpd.variable.name}" + (f" | {given})" if given else ")")
    if cpd.kind in COMPACT:
        head += f" as a {COMPACT[cpd.kind]}"
    if cpd.variable.states is None:
        return f"{head}: continuous, {_count(cpd.n_parameters, 'parameter')}"
    labels = [str(s) for s in cpd.variable.labels]
    shown = ", ".join(labels[:6]) + (", ..." if len(labels) > 6 else "")
    states = _count(len(labels), "state")
    return f"{head}: {states} ({shown}), {_count(cpd.n_parameters, 'parameter')}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
