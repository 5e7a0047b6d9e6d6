"""What is known, as the inference engines read it: from a dict of findings or from a table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from unveil.errors import DataError
from unveil.infer.tree import Evidence
from unveil.model.network import Network
from unveil.table.core import Table, code_dtype, missing_code
from unveil.table.variable import Label, Variable

__all__ = [
    "Findings",
    "Likelihoods",
    "as_number",
    "evidence_from",
    "observed_names",
    "soft_evidence",
    "table_of_findings",
]

Findings = Mapping[str, Label]
"""Observed states by name."""
Likelihoods = Mapping[str, Mapping[Label, float]]
"""Soft evidence by name: how likely the finding is in each state (missing states: zero)."""


def table_of_findings(network: Network, findings: Findings) -> Table:
    """A table of one row that holds the findings."""
    if not findings:
        first = network.variables[0]
        return Table([first], [np.array([-1 if first.is_discrete else np.nan])])
    variables = [network.variable(name) for name in findings]
    columns = [
        np.array([v.code_of(x) if v.is_discrete else as_number(v, x)])
        for v, x in zip(variables, findings.values(), strict=True)
    ]
    return Table(variables, columns)


def as_number(variable: Variable, value: Label) -> float:
    """The value of a continuous variable; texts that read as numbers are taken."""
    try:
        number = math.nan if isinstance(value, bool) else float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise DataError(f"{variable.name!r} is continuous; {value!r} is not a finite number")
    return number


def observed_names(network: Network, table: Table, likelihoods: Likelihoods) -> list[str]:
    """The variables something is known about in at least one row."""
    seen = [n for n in network.names if n in table and not table.missing(n).all()]
    return [n for n in network.names if n in likelihoods or n in set(seen)]


def evidence_from(
    network: Network, names: Sequence[str], table: Table, likelihoods: Likelihoods
) -> Evidence:
    """The evidence about the variables `names`, in that order; other columns are left out."""
    dtype = code_dtype(max(network.variable(name).n_states for name in names))
    missing = missing_code(dtype)
    codes = np.full((len(names), table.n_rows), missing, dtype)
    inside = [name for name in names if name in table]
    if inside:
        known = table.select(inside).conform([network.variable(name) for name in inside])
        for row, name in enumerate(names):
            if name in table:
                # Widened first: a column of bytes cannot hold the mark of a wider matrix.
                codes[row] = known.column(name)
                codes[row, known.missing(name)] = missing
    soft, soft_first = soft_evidence(network, names, likelihoods, table.n_rows)
    return Evidence(codes, missing, soft, soft_first)


def soft_evidence(
    network: Network, names: Sequence[str], likelihoods: Likelihoods, n_rows: int
) -> tuple[np.ndarray, np.ndarray]:
    """Likelihoods of states, equal for all rows, as `Evidence` takes them."""
    first = np.full(len(names), -1, np.int64)
    blocks: list[np.ndarray] = []
    total = 0
    for name, given in likelihoods.items():
        variable = network.variable(name)
        if name not in names:
            continue
        values = np.zeros(variable.n_states)
        for label, value in given.items():
            if not (np.isfinite(value) and value >= 0):
                raise DataError(f"the likelihood of {name!r} = {label!r} must not be negative")
            values[variable.code_of(label)] = value
        first[list(names).index(name)] = total
        blocks.append(np.repeat(values[:, None], n_rows, axis=1))
        total += variable.n_states
    return (np.concatenate(blocks) if blocks else np.zeros((0, n_rows))), first
