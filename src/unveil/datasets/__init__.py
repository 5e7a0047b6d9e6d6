"""Networks and tables that come with unveil: published facts with their sources.

>>> network("asia")
Network('asia', 8 variables, 8 arcs, 18 free parameters)
>>> table("college_plans").names
('SEX', 'SES', 'IQ', 'PE', 'CP')
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

import numpy as np

from unveil.errors import DataError, Hint, did_you_mean
from unveil.model.network import Network
from unveil.table import Table, Variable

__all__ = ["Entry", "catalogue", "entry", "network", "network_names", "table", "table_names"]


@dataclass(frozen=True)
class Entry:
    """One bundled data set: its name, kind, a line on what it is, and where it comes from."""

    name: str
    kind: Literal["network", "table"]
    title: str
    source: str


_CATALOGUE = (
    Entry(
        "asia",
        "network",
        "chest clinic: 8 variables about dyspnoea, a textbook example",
        "S. Lauritzen and D. Spiegelhalter (1988), Journal of the Royal Statistical Society B 50",
    ),
    Entry(
        "alarm",
        "network",
        "patient monitoring: 37 variables, the usual yardstick",
        "I. Beinlich, H. Suermondt, R. Chavez and G. Cooper (1989), AIME 89",
    ),
    Entry(
        "insurance",
        "network",
        "car insurance risks: 27 variables",
        "J. Binder, D. Koller, S. Russell and K. Kanazawa (1997), Machine Learning 29",
    ),
    Entry(
        "college_plans",
        "table",
        "college plans of 10,318 Wisconsin high-school students: 5 variables, 128 cells",
        "W. Sewell and V. Shah (1968), American Journal of Sociology 73; as in D. Heckerman (1996)",
    ),
)


def catalogue() -> tuple[Entry, ...]:
    """Everything that is bundled."""
    return _CATALOGUE


def network_names() -> tuple[str, ...]:
    """The names of the bundled networks."""
    return tuple(e.name for e in _CATALOGUE if e.kind == "network")


def table_names() -> tuple[str, ...]:
    """The names of the bundled tables."""
    return tuple(e.name for e in _CATALOGUE if e.kind == "table")


def entry(name: str) -> Entry:
    """The catalogue entry of that name."""
    for candidate in _CATALOGUE:
        if candidate.name == name:
            return candidate
    names = [e.name for e in _CATALOGUE]
    raise DataError(
        f"no bundled data set is called {name!r}; there are {', '.join(names)}."
        + did_you_mean(name, names)
    )


@cache
def network(name: str) -> Network:
    """The bundled network of that name."""
    from unveil.formats import loads

    if entry(name).kind != "network":
        raise DataError(
            f"{name!r} is a table, not a network.", hint=Hint(f"Use datasets.table({name!r}).")
        )
    return loads(_text(name), "json")


@cache
def table(name: str) -> Table:
    """The bundled table of that name, one weighted row per cell that occurs."""
    if entry(name).kind != "table":
        raise DataError(
            f"{name!r} is a network, not a table.",
            hint=Hint(
                f"Draw rows from it with datasets.network({name!r}).sample(n).",
                f"Draw rows from it with unveil sample {name}.",
            ),
        )
    fields: dict[str, Any] = json.loads(_text(name))
    variables = [Variable(v["name"], v["states"]) for v in fields["variables"]]
    counts = np.array(fields["counts"], dtype=np.float64)
    occurring = np.flatnonzero(counts)
    digits = np.unravel_index(occurring, [v.n_states for v in variables])
    return Table(variables, digits, counts[occurring])


def _text(name: str) -> str:
    return files("unveil.datasets").joinpath(f"{name}.json").read_text(encoding="utf-8")
