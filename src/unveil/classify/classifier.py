"""`Classifier`: a network and the column it predicts."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from unveil.classify.evidence import Weighing, weigh
from unveil.errors import DataError, ModelError, did_you_mean
from unveil.model.network import Network
from unveil.records import Record
from unveil.table.core import Table
from unveil.table.door import Data, as_table
from unveil.table.missingness import empty_as_state
from unveil.table.options import Unknown
from unveil.table.variable import Label, Variable

__all__ = ["Classifier", "class_shares"]

Matrix = npt.NDArray[np.float64]

BLOCK = 1 << 18
"""Rows are predicted in blocks of this many, so that working memory stays small."""


@dataclass(frozen=True)
class Classifier(Record):
    """A `network` that predicts its variable `target` from the others.

    An ordinary network: `save` writes it to any model file, and whatever takes a network takes it.
    Numbers are cut by it, labels it does not know are empty cells, columns it does not know are
    left out, and predictors without a column are summed over.

    >>> from unveil import datasets
    >>> sick = Classifier(datasets.network("asia"), "lung")
    >>> sick.predict({"xray": ["yes", "no"], "smoke": ["yes", "no"]})
    ['yes', 'no']
    """

    network: Network = field(repr=False)
    target: str

    def __post_init__(self) -> None:
        if self.target not in self.network.names:
            raise ModelError(
                f"the network has no variable {self.target!r} to predict; it has "
                f"{', '.join(self.network.names[:12])}."
                + did_you_mean(self.target, self.network.names)
            )
        if not self.network.variable(self.target).is_discrete:
            raise ModelError(f"a class has states; {self.target!r} is continuous")

    @classmethod
    def load(cls, path: str | os.PathLike[str], target: str) -> Classifier:
        """The classifier in a model file (any format), which predicts `target`."""
        from unveil.formats import load

        return cls(load(path), target)

    @property
    def classes(self) -> tuple[Label, ...]:
        """The labels of the class, in the order of `probabilities`."""
        return self.network.variable(self.target).labels

    @cached_property
    def predictors(self) -> tuple[str, ...]:
        """The variables that it looks at, parents before children."""
        order = self.network.dag.topological_order
        return tuple(n for n in order if n != self.target and not self.network.variable(n).hidden)

    def probabilities(self, data: Data, unknown: Unknown = "missing") -> Matrix:
        """P(class | row) of every row, shape (n_rows, n_classes).

        `data` is a table, a frame, a dict of columns, an array or a path; a column of the class in
        it is not used. `unknown` says what a label is that was not seen in learning: an empty cell
        ("missing", with a warning) or an error.
        """
        table = self.rows(data, unknown)
        return class_shares(self.network, self.target, table)

    def predict(self, data: Data, unknown: Unknown = "missing") -> list[Label]:
        """The most probable class of every row."""
        best = self.probabilities(data, unknown).argmax(axis=1)
        return [self.classes[int(i)] for i in best]

    def explain(
        self, data: Data, row: int = 0, label: Label | None = None, unknown: Unknown = "missing"
    ) -> Weighing:
        """Why a row gets its class, or how the class `label` stands in it: weights in bits."""
        rows = self.rows(data, unknown)
        return self.explanations(rows.take([range(rows.n_rows)[row]]), label)[0]

    def explanations(self, data: Data, label: Label | None = None) -> list[Weighing]:
        """The same for every row."""
        known = None if label is None else self.network.variable(self.target).code_of(label)
        return weigh(self.network, self.target, self.predictors, self.rows(data, "missing"), known)

    def with_predictions(self, data: Data, unknown: Unknown = "missing") -> Table:
        """The table with the predicted class and the probability of every class beside each row."""
        table = as_table(data)
        shares = self.probabilities(table, unknown)
        variable = self.network.variable(self.target)
        best = shares.argmax(axis=1).astype(np.int64)
        table = table.with_column(Variable(f"predicted {self.target}", variable.labels), best)
        for code, label in enumerate(variable.labels):
            table = table.with_column(Variable(f"P({self.target}={label})"), shares[:, code])
        return table

    def rows(self, data: Data, unknown: Unknown = "missing") -> Table:
        """The predictors of the rows as the network codes them."""
        known = [self.network.variable(n) for n in self.predictors]
        if isinstance(data, Table) and data.variables == tuple(known):
            return data
        like = None if isinstance(data, Table) else known
        table = as_table(data, like=like, unknown=unknown)
        inside = [v for v in known if v.name in table]
        if not inside:
            raise DataError(
                f"the table has none of the predictors of {self.target!r}; it has "
                f"{list(table.names)[:8]}, the model looks at {list(self.predictors)[:8]}"
            )
        coded = table.select([v.name for v in inside]).conform(inside, unknown=unknown)
        return empty_as_state(coded)


def class_shares(network: Network, target: str, table: Table) -> Matrix:
    """P(target | row) of coded rows, shape (n_rows, n_classes), block by block."""
    k = network.variable(target).n_states
    found = np.empty((table.n_rows, k))
    for start in range(0, table.n_rows, BLOCK):
        rows = slice(start, min(start + BLOCK, table.n_rows))
        part = table if table.n_rows <= BLOCK else table.take(np.arange(rows.start, rows.stop))
        found[rows] = network.posterior(part, of=target)[target]
    return found
