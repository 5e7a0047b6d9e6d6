"""The most probable states of what was not seen, and draws of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from unveil.errors import ModelError
from unveil.infer.answer import refuse_impossible
from unveil.infer.evidence import Findings, Likelihoods
from unveil.infer.plan import Use
from unveil.infer.posterior import cells_for, evidence_table, joint_posterior
from unveil.model.network import Network
from unveil.records import Record
from unveil.seeds import generator_of
from unveil.table.core import Table
from unveil.table.door import Data
from unveil.table.variable import Label

__all__ = ["Explanation", "draw_missing", "map_of", "most_probable"]


@dataclass(frozen=True)
class Explanation(Record):
    """Rows with every variable filled in; `log_probability` (nats) is that of each whole row."""

    told: ClassVar = ("rows",)

    table: Table = field(repr=False)
    log_probability: npt.NDArray[np.float64]

    @property
    def rows(self) -> list[dict[str, Label | None]]:
        """All explanations, each a dict from name to state."""
        return [self.table.row(i) for i in range(self.table.n_rows)]

    def row(self, index: int = 0) -> dict[str, Label | None]:
        """One explanation as a dict from name to state."""
        return self.table.row(index)


def most_probable(
    network: Network,
    given: Findings | Data | None = None,
    likelihood: Likelihoods | None = None,
    max_bytes: int | None = None,
) -> Explanation:
    """The most probable states of all unseen variables together (MPE), for every row.

    This maximises the joint probability; the states that are most probable one by one
    (`posterior(...).best`) may be another answer. Continuous variables get their posterior means,
    which are their most probable values; where discrete ones choose among Gaussians, these take
    their most probable states first. `log_probability` is then a log-density.

    >>> from unveil import datasets
    >>> found = most_probable(datasets.network("asia"), {"dysp": "yes", "xray": "yes"})
    >>> found.row()["bronc"], round(float(np.exp(found.log_probability[0])), 4)
    ('yes', 0.0259)
    """
    table = evidence_table(network, given)
    soft = dict(likelihood or {})
    if not network.is_discrete:
        return _filled(network, table, soft)
    cells = cells_for(network, network.names, table, soft, Use(max_bytes=max_bytes))
    log_p, codes = cells.most_probable(cells.layout.own)
    refuse_impossible(log_p)
    return Explanation(Table(network.variables, codes, table.weights), log_p)


def draw_missing(
    network: Network, table: Table, seed: int | np.random.Generator | None = None
) -> Table:
    """The table with every unseen cell drawn from its posterior given the row's other cells.

    Hidden variables and variables without a column are drawn too.
    """
    if not network.is_discrete:
        from unveil.infer.gaussian.posterior import gaussian_fill_in

        return gaussian_fill_in(network, table, generator_of(seed))
    cells = cells_for(network, network.names, table, {}, Use(trees_first=True))
    log_z, codes = cells.draws(cells.layout.own, generator_of(seed))
    refuse_impossible(log_z)
    return Table(network.variables, codes, table.weights)


def _filled(network: Network, table: Table, soft: Likelihoods) -> Explanation:
    from unveil.infer.gaussian.posterior import gaussian_fill_in

    if soft:
        raise ModelError("soft evidence needs a network of discrete variables only")
    filled = gaussian_fill_in(network, table)
    return Explanation(filled, network.row_log_likelihoods(filled))


def map_of(
    network: Network,
    names: Sequence[str],
    given: Findings | Data | None = None,
    likelihood: Likelihoods | None = None,
) -> Explanation:
    """The most probable states of `names` together, everything else summed out (MAP).

    `log_probability` is that of the answer given the evidence.

    >>> from unveil import datasets
    >>> map_of(datasets.network("asia"), ["tub", "lung"], {"either": "yes"}).row()
    {'tub': 'no', 'lung': 'yes'}
    """
    for name in names:
        if not network.variable(name).is_discrete:
            raise ModelError(f"map_of needs discrete variables; {name!r} is continuous")
    joint = joint_posterior(network, names, given, likelihood)
    flat = joint.reshape(len(joint), -1)
    best = flat.argmax(axis=1)
    codes = np.unravel_index(best, joint.shape[1:])
    table = Table([network.variable(name) for name in names], codes)
    return Explanation(table, np.log(flat[np.arange(len(flat)), best]))
