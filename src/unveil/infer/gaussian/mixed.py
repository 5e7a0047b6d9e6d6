"""Networks where discrete variables choose among Gaussians: exact, by trying their states.

A discrete parent of a continuous variable is a selector. Given the selectors' states s, the
continuous part is one joint Gaussian and the discrete part a network of tables, independent of it:
p(row) = sum over s of P(s, discrete cells) p(continuous cells | s). Rows are asked only about
the configurations that agree with what they show; too many of them are refused.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from unveil.errors import ModelError, SizeError
from unveil.infer.answer import Posterior, refuse_impossible
from unveil.infer.explain import draw_missing, most_probable
from unveil.infer.gaussian.posterior import (
    gaussian_fill_in,
    gaussian_log_likelihoods,
    gaussian_posterior,
)
from unveil.infer.posterior import log_likelihoods, posterior
from unveil.model.conditional_gaussian_cpd import ConditionalGaussianCPD
from unveil.model.cpd import CPD
from unveil.model.network import Network
from unveil.table.core import Column, Table

__all__ = [
    "MAX_CONFIGURATIONS",
    "Case",
    "Split",
    "log_total",
    "mixed_fill_in",
    "mixed_log_likelihoods",
    "mixed_posterior",
]

MAX_CONFIGURATIONS = 4096
"""The most configurations of selectors that are tried."""

Matrix = npt.NDArray[np.float64]
Positions = npt.NDArray[np.intp]
States = tuple[int, ...]


def mixed_log_likelihoods(network: Network, table: Table) -> Matrix:
    """The log-density of what each row shows, shape (n_rows,); `-inf` where it is impossible."""
    return log_total(Split.of(network).cases(table), table.n_rows)


def mixed_posterior(network: Network, table: Table, targets: Sequence[str]) -> Posterior:
    """Probabilities of the discrete targets; means and variances of the continuous ones.

    Over the configurations s with posterior weights w_s: mean = sum w_s m_s, and
    variance = sum w_s (v_s + (m_s - mean)^2).
    """
    split = Split.of(network)
    cases = split.cases(table)
    log_evidence = log_total(cases, table.n_rows)
    refuse_impossible(log_evidence)
    discrete = [name for name in targets if network.variable(name).is_discrete]
    continuous = [name for name in targets if name not in discrete]
    probabilities = {n: np.zeros((table.n_rows, network.variable(n).n_states)) for n in discrete}
    means = {name: np.zeros(table.n_rows) for name in continuous}
    variances = {name: np.zeros(table.n_rows) for name in continuous}
    parts = []
    for case in cases:
        weight = np.exp(case.log_joint - log_evidence[case.rows])
        if discrete:
            found = posterior(split.tables, case.discrete, of=discrete)
            for name in discrete:
                probabilities[name][case.rows] += weight[:, None] * found[name]
        if continuous:
            part = gaussian_posterior(split.at(case.states), case.continuous, continuous)
            parts.append((case.rows, weight, part))
            for name in continuous:
                means[name][case.rows] += weight * part.means[name]
    for rows, weight, part in parts:
        for name in continuous:
            apart = part.means[name] - means[name][rows]
            variances[name][rows] += weight * (part.variances[name] + apart**2)
    for name in continuous:
        if name in table:
            # What a row shows is known exactly; a sum of parts knows it up to rounding.
            seen = ~table.missing(name)
            means[name][seen], variances[name][seen] = table.column(name)[seen], 0.0
    variables = {name: network.variable(name) for name in targets}
    mixtures = {name: _parts(name, parts) for name in continuous} if table.n_rows == 1 else {}
    return Posterior(
        variables, probabilities, log_evidence, means=means, variances=variances, mixtures=mixtures
    )


def _parts(name: str, parts: Sequence[tuple[Positions, Matrix, Posterior]]) -> Matrix:
    """The weight, mean and variance of every part of the only row's mixture."""
    told = [(weight[0], part.means[name][0], part.variances[name][0]) for _, weight, part in parts]
    return np.array(told)


def mixed_fill_in(
    network: Network, table: Table, generator: np.random.Generator | None = None
) -> Table:
    """Every unseen cell filled in: selectors first, then the rest given them.

    With a generator all are draws from the row's joint posterior. Without one, the selectors take
    their most probable configuration, then the other discrete variables theirs, and continuous
    ones their mean given that configuration.
    """
    split = Split.of(network)
    cases = split.cases(table)
    refuse_impossible(log_total(cases, table.n_rows))
    best, which = np.full(table.n_rows, -np.inf), np.full(table.n_rows, -1)
    for place, case in enumerate(cases):
        # The largest of log-weights with Gumbel noise is a draw with these weights.
        noise = 0.0 if generator is None else generator.gumbel(size=len(case.rows))
        offer = case.log_joint + noise
        better = offer > best[case.rows]
        best[case.rows[better]], which[case.rows[better]] = offer[better], place
    columns: dict[str, Column] = {
        v.name: np.zeros(table.n_rows, np.int64 if v.is_discrete else np.float64)
        for v in network.variables
    }
    complete = (
        (lambda t: most_probable(split.tables, t).table)
        if generator is None
        else partial(draw_missing, split.tables, seed=generator)
    )
    for place, case in enumerate(cases):
        own = which[case.rows] == place
        if own.any():
            discrete = complete(case.discrete.take(own))
            gaussian = gaussian_fill_in(split.at(case.states), case.continuous.take(own), generator)
            for part in (discrete, gaussian):
                for name in part.names:
                    columns[name][case.rows[own]] = part.column(name)
    return Table(network.variables, [columns[n] for n in network.names], table.weights)


@dataclass(frozen=True)
class Case:
    """The rows that agree with one configuration, their log P(states, row), and their two parts."""

    states: States
    rows: npt.NDArray[np.intp]
    discrete: Table
    continuous: Table
    log_joint: Matrix


@dataclass(frozen=True)
class Split:
    """A mixed network as a network of tables, selectors, and a Gaussian network per choice."""

    network: Network
    tables: Network
    selectors: tuple[str, ...]

    @classmethod
    def of(cls, network: Network) -> Split:
        tables = [cpd for cpd in network.cpds.values() if cpd.variable.is_discrete]
        if len(tables) == len(network.names):
            raise ModelError(
                "the network has no continuous variable, so nothing chooses among Gaussians"
            )
        chosen = {
            p.name
            for cpd in network.cpds.values()
            if not cpd.variable.is_discrete
            for p in cpd.parents
            if p.is_discrete
        }
        selectors = tuple(name for name in network.names if name in chosen)
        return cls(network, Network(tables), selectors)

    def at(self, states: States) -> Network:
        """The Gaussian network that holds when the selectors are in these states."""
        key = ("gaussian given", states)
        if key not in self.network._compiled:
            own = dict(zip(self.selectors, states, strict=True))
            continuous = [c for c in self.network.cpds.values() if not c.variable.is_discrete]
            made = Network([_chosen(cpd, own) for cpd in continuous])
            if len(self.network._compiled) >= MAX_CONFIGURATIONS:
                self.network._compiled.clear()
            self.network._compiled[key] = made
        return self.network._compiled[key]

    def cases(self, table: Table) -> list[Case]:
        """Every configuration of the selectors that some rows agree with and make possible."""
        discrete = self._part(table, discrete=True)
        continuous = self._part(table, discrete=False)
        known = np.full((table.n_rows, len(self.selectors)), -1)
        for place, name in enumerate(self.selectors):
            if name in discrete:
                column = discrete.column(name)
                known[:, place] = np.where(discrete.missing(name), -1, column.astype(np.int64))
        found = []
        for states in self._configurations(known):
            rows = np.flatnonzero(((known == -1) | (known == states)).all(axis=1))
            own = discrete.take(rows)
            for name, state in zip(self.selectors, states, strict=True):
                own = own.with_column(self.network.variable(name), np.full(len(rows), state))
            log_joint = log_likelihoods(self.tables, own)
            possible = log_joint > -np.inf
            rows, own, log_joint = rows[possible], own.take(possible), log_joint[possible]
            if rows.size:
                cells = continuous.take(rows)
                log_joint = log_joint + gaussian_log_likelihoods(self.at(states), cells)
                found.append(Case(states, rows, own, cells, log_joint))
        return found

    def _part(self, table: Table, discrete: bool) -> Table:
        """The discrete or the continuous columns the network knows; a blank one if none."""
        wanted = [v for v in self.network.variables if v.is_discrete == discrete]
        inside = [v for v in wanted if v.name in table]
        if inside:
            return table.select([v.name for v in inside]).conform(inside)
        blank = np.full(table.n_rows, -1) if discrete else np.full(table.n_rows, np.nan)
        return Table(wanted[:1], [blank], table.weights)

    def _configurations(self, known: npt.NDArray[np.int64]) -> list[States]:
        """The complete configurations that agree with any row, in order."""
        sizes = [self.network.variable(name).n_states for name in self.selectors]
        found: set[States] = set()
        for row in np.unique(known, axis=0):
            free = [k for k, state in zip(sizes, row, strict=True) if state < 0]
            if math.prod(free) > MAX_CONFIGURATIONS:
                raise self._too_many(math.prod(free))
            options = (
                range(k) if state < 0 else [int(state)] for k, state in zip(sizes, row, strict=True)
            )
            found.update(itertools.product(*options))
            if len(found) > MAX_CONFIGURATIONS:
                raise self._too_many(len(found))
        return sorted(found)

    def _too_many(self, number: int) -> SizeError:
        names = ", ".join(self.selectors[:8]) + (", ..." if len(self.selectors) > 8 else "")
        return SizeError(
            f"the discrete parents of continuous variables ({names}) may be in {number:,} or more "
            f"configurations; at most {MAX_CONFIGURATIONS:,} are tried. Observe some of them, ask "
            "about fewer rows at a time, or give the continuous variables fewer discrete parents."
        )


def _chosen(cpd: CPD, states: dict[str, int]) -> CPD:
    if not isinstance(cpd, ConditionalGaussianCPD):
        return cpd
    return cpd.at([states[p.name] for p in cpd.discrete_parents])


def log_total(cases: Sequence[Case], n_rows: int) -> Matrix:
    """The log of the sum over configurations, row by row."""
    total = np.full(n_rows, -np.inf)
    for case in cases:
        total[case.rows] = np.logaddexp(total[case.rows], case.log_joint)
    return total
