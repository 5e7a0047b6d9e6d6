"""`NumbersReport`: everything there is to say about continuous hidden parents."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from unveil.discovery.beside import Beside, beside
from unveil.discovery.continuous.adapting import Tried
from unveil.discovery.continuous.loadings import Loading
from unveil.discovery.continuous.settings import NumberSettings
from unveil.discovery.continuous.words import headline, summary
from unveil.discovery.evidence import Evidence, StrawMan, gain_in_words
from unveil.discovery.naming import VariableNames, check_names
from unveil.evaluate.log_loss import LogLoss
from unveil.model.network import Network
from unveil.progress import StopReason
from unveil.records import Record
from unveil.table.core import Table
from unveil.table.places import tell
from unveil.table.variable import Variable

__all__ = ["Loading", "NumbersReport"]


@dataclass(frozen=True)
class NumbersReport(Record):
    """Continuous hidden parents of a table: the network, evidence, loadings, values of every row.

    A hidden variable has mean 0 and variance 1, and its sign is such that it pulls its children
    upwards on the whole: nothing in the table could tell scale, origin or sign.
    """

    told: ClassVar = ("hidden", "summary")

    network: Network
    baseline: Network
    score: float
    """BIC of the network on the rows, in nats; of curves with unseen parents, of a bound of it."""
    baseline_score: float
    needed: float
    evidence: dict[str, Evidence]
    loadings: dict[str, tuple[Loading, ...]]
    straw_men: tuple[StrawMan, ...]
    settings: NumberSettings
    seed: int
    elapsed: float
    table: Table = field(repr=False)
    held_out: LogLoss | None = None
    """The log-loss of what was found, by the same cross-validation as the straw men's."""
    stopped: StopReason = "converged"
    tried: tuple[Tried[Any], ...] = field(default=(), repr=False)
    beside: Beside = field(default=Beside(), repr=False)
    left_out: LogLoss | None = field(default=None, repr=False)
    """The bits per row left out that hidden variables save, found anew in folds; none is kept that
    loses more than a standard error, nor, where rows are few, one that does not clearly save some.
    `None` if none gained more than luck."""
    given: tuple[str, ...] = ()
    """Columns with states that were held fixed: `table` has the numbers beyond what they say."""

    @property
    def hidden(self) -> tuple[str, ...]:
        """The names of the hidden variables found."""
        return self.network.hidden

    @property
    def gain(self) -> float:
        """What the score gains over the network without hidden variables, in nats."""
        return self.score - self.baseline_score

    def values(self) -> dict[str, npt.NDArray[np.float64]]:
        """The posterior mean of every hidden variable in every row, by name."""
        if not self.hidden:
            return {}
        found = self.network.posterior(self.table, of=list(self.hidden))
        return {name: np.asarray(found.means[name]) for name in self.hidden}

    def posteriors(self) -> Table:
        """The rows with the posterior mean and standard deviation of every hidden variable.

        Columns that were kept out stand beside the rows. Numbers are those that were read.
        """
        read = self.beside.columns
        variables = list(self.table.variables)
        columns = [
            (read if read is not None and n in read else self.table).column(n)
            for n in self.table.names
        ]
        taken = {*self.table.names, *self.hidden}

        def add(variable: Variable, column: npt.NDArray[np.float64]) -> None:
            name = variable.name
            while name in taken:
                name += "'"
            taken.add(name)
            variables.append(variable.renamed(name))
            columns.append(column)

        if self.beside.columns is not None:
            for v in self.beside.columns.variables:
                if v.name not in self.table:
                    add(v, self.beside.columns.column(v.name))
        if self.hidden:
            found = self.network.posterior(self.table, of=list(self.hidden))
            for name in self.hidden:
                variables.append(Variable(name))
                columns.append(np.asarray(found.means[name]))
                add(Variable(f"{name} (sd)"), np.sqrt(np.asarray(found.variances[name])))
        return Table(variables, columns, self.table.weights)

    def with_rows(self, read: Table, id: str | None = None) -> NumbersReport:
        """The report with names for the rows, from the table as it was read."""
        return replace(self, beside=beside(read, self.table, id))

    def named(self, name: VariableNames) -> NumbersReport:
        """The report with hidden variables called otherwise: `{"H1": "severity"}`.

        A name for a variable that was not found is told of and not used.
        """
        columns = [n for n in self.network.names if n not in self.hidden]
        asked = check_names(name, None, columns).variables
        for old in asked:
            if old not in self.hidden:
                tell(f"no hidden variable {old} was found, so nothing is called so")
        new = {old: called for old, called in asked.items() if old in self.hidden}

        def proof(e: Evidence) -> Evidence:
            called = new.get(e.name, e.name)
            return replace(e, name=called, words=gain_in_words(called, e.gain))

        return replace(
            self,
            network=self.network.renamed(new),
            evidence={new.get(n, n): proof(e) for n, e in self.evidence.items()},
            loadings={new.get(n, n): own for n, own in self.loadings.items()},
        )

    def save(self, path: str | PathLike[str], table_name: str = "table") -> None:
        """Write the report, the networks and the values of every row into the folder `path`."""
        from unveil.report.numbers_folder import write_numbers

        write_numbers(self, path, table_name)

    @property
    def summary(self) -> str:
        """What was found, in plain words."""
        return summary(self)

    @property
    def headline(self) -> str:
        """The same in a sentence or two."""
        return headline(self)

    def __str__(self) -> str:
        return self.summary
