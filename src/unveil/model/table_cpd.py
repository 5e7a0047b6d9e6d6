"""`TableCPD`: a table of probabilities, one row per configuration of the parents (thesis 2.1.3)."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from unveil.errors import ModelError, SizeError, UnveilWarning
from unveil.model.prior import DirichletPrior
from unveil.records import html_table
from unveil.statistics.counting import positions
from unveil.statistics.protocol import Need
from unveil.table.core import Column, code_dtype
from unveil.table.variable import Variable, label_text

if TYPE_CHECKING:
    import pandas

__all__ = ["MAX_CELLS", "TableCPD", "n_cells", "table_of"]

MAX_CELLS = 200_000_000
"""The largest table that is made without being asked twice (1.6 GB of numbers)."""

EXACT = 1e-9
SILENT = 1e-5
ROUNDED = 0.0101
"""A row whose sum is off by at most EXACT is kept to the bit; by SILENT, rescaled as a matter of
course (numbers printed with six digits); by ROUNDED, rescaled with a warning (0.33 three times);
by more, refused."""


def n_cells(variable: Variable, parents: Sequence[Variable]) -> int:
    """The number of cells in the table of a family; an error if it would be absurd."""
    cells = math.prod(v.n_states for v in (*parents, variable))
    if cells > MAX_CELLS:
        raise SizeError(
            f"the table of {variable.name!r} given {len(parents)} parents would have {cells:,} "
            f"cells; at most {MAX_CELLS:,} are allowed. Use fewer parents or merge states."
        )
    return cells


class TableCPD:
    """P(variable | parents) as an array of shape (states of parent 1, ..., states of variable).

    `values` holds the probabilities of `variable` given `parents`, in that shape. Rows must sum to
    one; small rounding is rescaled, with a warning when it shows (see `ROUNDED`).

    >>> rain = Variable("rain", ["no", "yes"])
    >>> grass = Variable("grass", ["dry", "wet"])
    >>> cpd = TableCPD(grass, [rain], [[0.9, 0.1], [0.2, 0.8]])
    >>> cpd.n_parameters
    2
    >>> print(cpd)
    P(grass | rain)
    rain  dry  wet
    no    0.9  0.1
    yes   0.2  0.8
    """

    kind: ClassVar[str] = "table"
    needs: ClassVar[Need] = Need.COUNTS
    __slots__ = ("parents", "values", "variable")

    variable: Variable
    parents: tuple[Variable, ...]
    values: npt.NDArray[np.float64]

    def __init__(
        self, variable: Variable, parents: Sequence[Variable], values: npt.ArrayLike
    ) -> None:
        self.variable, self.parents = variable, tuple(parents)
        n_cells(variable, self.parents)
        shape = tuple(v.n_states for v in (*self.parents, variable))
        self.values = _checked(values, shape, self._name, self._where)

    @classmethod
    def _trusted(
        cls, variable: Variable, parents: Sequence[Variable], values: npt.NDArray[np.float64]
    ) -> Self:
        """A table of shares that were worked out here: of the right shape, each row sums to one."""
        cpd = cls.__new__(cls)
        cpd.variable, cpd.parents = variable, tuple(parents)
        cpd.values = values.copy()
        cpd.values.flags.writeable = False
        return cpd

    @classmethod
    def uniform(cls, variable: Variable, parents: Sequence[Variable] = ()) -> Self:
        """The table that knows nothing."""
        n_cells(variable, parents)
        shape = tuple(v.n_states for v in (*parents, variable))
        return cls(variable, parents, np.full(shape, 1.0 / variable.n_states))

    @classmethod
    def estimate(
        cls,
        variable: Variable,
        parents: Sequence[Variable],
        statistics: npt.NDArray[np.float64],
        prior: DirichletPrior | None = None,
    ) -> Self:
        """The table estimated from the family's joint counts, parents first, child last.

        Without a prior, the maximum likelihood estimate S[x, u] / S[u] (Eq. 2.8), uniform where no
        row shows u. With one, the posterior mean (S[x, u] + alpha(x, u)) / (S[u] + alpha(u))
        (Eq. 2.12).
        """
        counts = statistics
        if prior is not None:
            counts = counts + prior.pseudo_counts(variable, parents)
        totals = counts.sum(axis=-1, keepdims=True)
        seen = totals > 0
        uniform = 1.0 / variable.n_states
        return cls(variable, parents, np.where(seen, counts / np.where(seen, totals, 1), uniform))

    def without_zeros(self, share: float) -> Self:
        """The table blended with the uniform one, which gets this share."""
        values = (1 - share) * self.values + share / self.variable.n_states
        return type(self)(self.variable, self.parents, values)

    @property
    def n_parameters(self) -> int:
        """(states - 1) for every configuration of the parents."""
        return self.n_parent_rows * (self.variable.n_states - 1)

    @property
    def n_parent_rows(self) -> int:
        """The number of configurations of the parents."""
        return self.values.size // self.variable.n_states

    @property
    def rows(self) -> npt.NDArray[np.float64]:
        """The table as (parent configurations, states); the last parent varies fastest."""
        return self.values.reshape(-1, self.variable.n_states)

    def add_log_probability(
        self, total: npt.NDArray[np.float64], parents: Sequence[Column], child: Column
    ) -> None:
        """Add log P(child | parents) of every row to `total`, in place."""
        from unveil.kernels.families import add_looked_up

        position = positions([*parents, child], self.values.shape, total.size)
        with np.errstate(divide="ignore"):
            logs = np.log(self.values.ravel())
        add_looked_up(total, logs, position)

    def sample(
        self, parents: Sequence[Column], n_rows: int, generator: np.random.Generator
    ) -> Column:
        """A column of states, drawn row by row given the parents' columns."""
        from unveil.kernels.families import draw_states

        out = np.empty(n_rows, code_dtype(self.variable.n_states))
        row = self._parent_row(parents, n_rows)
        draw_states(_cumulative(self.rows), row, generator.random(n_rows), out)
        return out

    def with_variables(self, variable: Variable, parents: Sequence[Variable]) -> Self:
        """The same numbers for renamed, relabelled or re-marked variables."""
        return type(self)(variable, parents, self.values)

    def with_parent_order(self, names: Sequence[str]) -> Self:
        """The same distribution with its parents in another order."""
        where = {v.name: i for i, v in enumerate(self.parents)}
        if sorted(where) != sorted(names):
            raise ModelError(f"{self._name} has parents {sorted(where)}, not {sorted(names)}")
        axes = [where[name] for name in names]
        values = np.transpose(self.values, (*axes, len(axes)))
        return type(self)(self.variable, [self.parents[i] for i in axes], values)

    def describe(self, max_rows: int = 50) -> str:
        """The table as text, one line per configuration of the parents."""
        head, body, more = self._cells(max_rows)
        widths = [max(len(line[i]) for line in [head, *body]) for i in range(len(head))]
        lines = [
            "  ".join(w.ljust(n) for w, n in zip(x, widths, strict=True)) for x in [head, *body]
        ]
        return "\n".join([self._name, *(line.rstrip() for line in lines), *more])

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas frame: a row per configuration of the parents, a column per state.

        >>> toss = TableCPD(Variable("coin", ["heads", "tails"]), [], [0.25, 0.75])
        >>> toss.to_pandas()["tails"].tolist()
        [0.75]
        """
        import pandas

        index: Any = None
        if self.parents:
            labels = [list(v.labels) for v in self.parents]
            index = pandas.MultiIndex.from_product(labels, names=[v.name for v in self.parents])
        columns = pandas.Index(list(self.variable.labels), name=self.variable.name)
        return pandas.DataFrame(self.rows, index=index, columns=columns)

    def _cells(self, max_rows: int) -> tuple[list[str], list[list[str]], list[str]]:
        """The head and the lines of the table as texts, and a line on those left out."""
        shown = min(self.n_parent_rows, max_rows)
        shape = [v.n_states for v in self.parents]
        digits: Any = np.array(np.unravel_index(np.arange(shown), shape)).T if shape else [[]]
        head = [v.name for v in self.parents] + [label_text(s) for s in self.variable.labels]
        body = [
            [label_text(v.labels[d]) for v, d in zip(self.parents, row_digits, strict=True)]
            + [f"{p:.4g}" for p in row]
            for row_digits, row in zip(digits, self.rows[:shown], strict=True)
        ]
        left = self.n_parent_rows - shown
        return head, body, [f"... {left:,} more rows"] if left else []

    def _repr_html_(self) -> str:
        head, body, more = self._cells(50)
        return html_table(self._name, head, [*body, *([line] for line in more)])

    def __str__(self) -> str:
        return self.describe()

    def to_dict(self) -> dict[str, Any]:
        """The probabilities as nested lists: one list per configuration of the parents."""
        return {"values": self.rows.tolist()}

    @classmethod
    def from_dict(
        cls, variable: Variable, parents: Sequence[Variable], fields: Mapping[str, Any]
    ) -> Self:
        """The inverse of `to_dict`; refuses wrong shapes and numbers that are no probabilities."""
        n_cells(variable, parents)
        shape = tuple(v.n_states for v in (*parents, variable))
        where = f"the table of {variable.name!r}"
        rows = fields.get("values")
        n_rows = math.prod(shape[:-1])
        if not isinstance(rows, list) or len(rows) != n_rows:
            came = f"{len(rows)}" if isinstance(rows, list) else f"{type(rows).__name__}"
            raise ModelError(f"{where} needs a list of {n_rows} rows in 'values', got {came}")
        for i, row in enumerate(rows):
            if not isinstance(row, list) or len(row) != shape[-1]:
                came = f"{len(row)}" if isinstance(row, list) else f"{type(row).__name__}"
                raise ModelError(f"{where}, row {i + 1}: expected {shape[-1]} numbers, got {came}")
            if not all(isinstance(p, (int, float)) and not isinstance(p, bool) for p in row):
                odd = next(p for p in row if not isinstance(p, (int, float)) or isinstance(p, bool))
                raise ModelError(f"{where}, row {i + 1}: expected numbers, got {odd!r}")
        try:
            values = np.array(rows, dtype=np.float64)
        except OverflowError:
            raise ModelError(f"{where} holds a number too large to be a probability") from None
        return cls(variable, parents, values.reshape(shape))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TableCPD):
            return NotImplemented
        same = self.variable == other.variable and self.parents == other.parents
        return same and np.array_equal(self.values, other.values)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"TableCPD({self._name}, {self.n_parent_rows} x {self.variable.n_states})"

    @property
    def _name(self) -> str:
        given = ", ".join(v.name for v in self.parents)
        return f"P({self.variable.name}" + (f" | {given})" if given else ")")

    def _where(self, row: int) -> str:
        """The configuration of the parents in a row, in words."""
        if not self.parents:
            return ""
        digits = np.unravel_index(row, [v.n_states for v in self.parents])
        pairs = zip(self.parents, digits, strict=True)
        return " given " + ", ".join(f"{v.name}={label_text(v.labels[int(d)])}" for v, d in pairs)

    def _parent_row(self, parents: Sequence[Column], n_rows: int) -> npt.NDArray[np.int64]:
        return positions(parents, self.values.shape[:-1], n_rows)


def _checked(values: npt.ArrayLike, shape: tuple[int, ...], name: str, where: Any) -> Any:
    """The probabilities, read-only, rescaled where they are off by rounding; or an error."""
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"{name} needs numbers in an array of shape {shape}") from None
    if array.shape != shape:
        raise ModelError(f"{name} needs an array of shape {shape}, got {array.shape}")
    rows = array.reshape(-1, shape[-1])
    bad = ~np.isfinite(rows) | (rows < 0)
    if bad.any():
        row, state = (int(i) for i in np.argwhere(bad)[0])
        raise ModelError(
            f"{name}{where(row)}: {rows[row, state]} is not a probability; "
            "every number must lie between 0 and 1"
        )
    _rescale(rows, name, where)
    array.flags.writeable = False
    return array


def _rescale(rows: npt.NDArray[np.float64], name: str, where: Any) -> None:
    sums = rows.sum(axis=1)
    off = np.abs(sums - 1.0)
    worst = int(off.argmax())
    if off[worst] > ROUNDED:
        raise ModelError(
            f"{name}{where(worst)}: the probabilities sum to {sums[worst]:.6g}, not 1. "
            "If they are counts, divide each row by its sum first."
        )
    if off[worst] > SILENT:
        n_off = int(np.count_nonzero(off > SILENT))
        warnings.warn(
            f"{name}: {n_off} of {len(sums)} rows did not sum to 1 (the worst to "
            f"{sums[worst]:.9g}{where(worst)}) and were rescaled",
            UnveilWarning,
            stacklevel=5,
        )
    loose = off > EXACT
    rows[loose] /= sums[loose, None]


def _cumulative(rows: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Cumulative sums that end at one, so that a state of probability zero is never drawn."""
    cumulative = np.cumsum(rows, axis=1)
    last_possible = rows.shape[1] - 1 - np.argmax(rows[:, ::-1] > 0, axis=1)
    cumulative[np.arange(rows.shape[1]) >= last_possible[:, None]] = 1.0
    return cumulative


def table_of(cpd: Any, who: str = "this") -> TableCPD:
    """The distribution as a table; an error that says who needs one if it has none.

    A compact distribution (`unveil.model.compact`) is laid out as one.
    """
    if not isinstance(cpd, TableCPD):
        laid_out = getattr(cpd, "table", None)
        if isinstance(laid_out, TableCPD):
            return laid_out
        raise ModelError(
            f"{who} needs tables of probabilities; {cpd.variable.name!r} has {cpd.kind}"
        )
    return cpd
