"""`Posterior`: the answer to a question, for discrete and continuous variables alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from unveil.errors import DataError, ModelError
from unveil.records import Record
from unveil.table.variable import Label, Variable, label_text

if TYPE_CHECKING:
    import pandas

__all__ = ["Posterior", "refuse_impossible"]

Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Posterior(Record):
    """What is known of some variables in every row, given what was seen there.

    For discrete variables `probabilities[name]` has shape (n_rows, n_states). For continuous ones
    `means[name]` and `variances[name]` have shape (n_rows,): a variable that a row shows has its
    value and variance 0. Where discrete variables are unseen, the posterior of a continuous one is
    a mixture of Gaussians, of which these are the first two moments; asked about a single row,
    `mixtures[name]` has the weight, mean and variance of each part, shape (n_parts, 3).
    `log_evidence` is log P(what
    was seen) per row, in nats (a log-density if numbers were seen); `standard_errors` is empty
    unless a sampling method answered.
    """

    variables: Mapping[str, Variable]
    probabilities: Mapping[str, Matrix]
    log_evidence: Matrix
    method: str = "exact"
    standard_errors: Mapping[str, Matrix] = field(default_factory=dict)
    means: Mapping[str, Matrix] = field(default_factory=dict)
    variances: Mapping[str, Matrix] = field(default_factory=dict)
    mixtures: Mapping[str, Matrix] = field(default_factory=dict, repr=False)

    def __getitem__(self, name: str) -> Matrix:
        """The probabilities of a discrete variable, the means of a continuous one."""
        if name in self.means:
            return self.means[name]
        if name not in self.probabilities:
            known = ", ".join(list(self.variables)[:12])
            raise DataError(f"the posterior of {name!r} was not asked for; there are {known}")
        return self.probabilities[name]

    def of(self, name: str, row: int = 0) -> dict[Label, float]:
        """The posterior of one variable in one row: by state, or its mean and deviation.

        >>> from unveil import Variable
        >>> width = Posterior({"x": Variable("x")}, {}, np.zeros(1),
        ...                   means={"x": np.array([2.0])}, variances={"x": np.array([0.25])})
        >>> width.of("x")
        {'mean': 2.0, 'standard deviation': 0.5}
        """
        if name in self.means:
            deviation = float(np.sqrt(self.variances[name][row]))
            return {"mean": float(self.means[name][row]), "standard deviation": deviation}
        values = self[name][row].tolist()
        return dict(zip(self.variables[name].labels, values, strict=True))

    def best(self, name: str) -> list[Label]:
        """The most probable state of a variable in every row; the mean of a continuous one."""
        if name in self.means:
            return [float(x) for x in self.means[name]]
        places = self[name].argmax(axis=1)
        labels = self.variables[name].labels
        return [labels[i] for i in places]

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas frame with a row per row: a column per state, or the mean and the deviation.

        Columns have two levels, the variable and its state (or `mean`, `standard deviation`).
        """
        import pandas

        columns: dict[tuple[str, Any], Matrix] = {}
        for name, variable in self.variables.items():
            if name in self.means:
                columns[name, "mean"] = self.means[name]
                columns[name, "standard deviation"] = np.sqrt(self.variances[name])
            else:
                for s, label in enumerate(variable.labels):
                    columns[name, label] = self[name][:, s]
        return pandas.DataFrame(columns)

    def __str__(self) -> str:
        n_rows = len(self.log_evidence)
        if n_rows != 1:
            return f"posteriors of {len(self.variables)} variables in {n_rows:,} rows"
        return "\n".join(f"{name}: {self._line(name)}" for name in self.variables)

    def _line(self, name: str) -> str:
        if name in self.means:
            of = self.of(name)
            return f"mean {of['mean']:.4g}, standard deviation {of['standard deviation']:.4g}"
        return ", ".join(f"{label_text(label)} {p:.4f}" for label, p in self.of(name).items())


def refuse_impossible(log_z: Matrix) -> None:
    """An error that names the rows whose evidence has probability zero."""
    rows = np.flatnonzero(log_z == -np.inf)
    if rows.size == 0:
        return
    if len(log_z) == 1:
        raise ModelError(
            "the evidence has probability zero: under this network these findings never occur "
            "together. Leave one out, or fit the network with a prior so that no table has zeros."
        )
    shown = ", ".join(str(r + 1) for r in rows[:8]) + (", ..." if rows.size > 8 else "")
    raise ModelError(
        f"the evidence of {rows.size:,} rows has probability zero (rows {shown}): under this "
        "network it never occurs. Leave those rows out, or fit the network with a prior so that "
        "no table has zeros."
    )
