"""Posteriors: what follows from what was seen, for one question or for every row of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.errors import DataError, Hint, ModelError, did_you_mean
from unveil.infer.answer import Posterior, refuse_impossible
from unveil.infer.evidence import (
    Findings,
    Likelihoods,
    evidence_from,
    observed_names,
    table_of_findings,
)
from unveil.infer.plan import Use
from unveil.infer.rows import prepared_rows
from unveil.infer.tree import JunctionTree
from unveil.infer.unseen import UnseenCells
from unveil.model.flat import FlatTables
from unveil.model.network import Network
from unveil.table.core import Table
from unveil.table.door import Data, as_table
from unveil.table.variable import Label

__all__ = [
    "cells_for",
    "evidence_table",
    "joint_posterior",
    "log_likelihoods",
    "posterior",
    "relevant_network",
    "tree_of",
]

Matrix = npt.NDArray[np.float64]

MOST_KEPT = 16
"""So many parts of a network are kept with it, with their layouts and trees."""


def posterior(
    network: Network,
    given: Findings | Data | None = None,
    of: Sequence[str] | str | None = None,
    likelihood: Likelihoods | None = None,
    max_bytes: int | None = None,
    n_jobs: int | None = None,
    method: str = "exact",
    **settings: Any,
) -> Posterior:
    """The posterior of every variable in `of` (by default all that are not observed).

    Discrete variables get probabilities, continuous ones means and variances, both exactly (behind
    curves by weighted draws).
    `given` is a dict of findings, or a table, frame or path: then every row is a question of its
    own, and empty cells are simply not known. `likelihood` adds soft evidence. Evidence that cannot
    happen is an error that names the rows. `method` is "exact", or one of the approximate ones:
    "loopy", "mean_field", "gibbs", "weighting" (`settings` go to it); exact inference that would
    not fit into `max_bytes` is refused, never replaced.

    >>> from unveil import datasets
    >>> asia = datasets.network("asia")
    >>> print(posterior(asia, {"asia": "yes", "xray": "yes"}, of=["tub", "lung"]))
    tub: yes 0.3377, no 0.6623
    lung: yes 0.3715, no 0.6285
    >>> from unveil import Network, Variable
    >>> from unveil.model import LinearGaussianCPD
    >>> skill, score = Variable("skill"), Variable("score")
    >>> exam = Network([LinearGaussianCPD(skill, [], 100, [], 225),
    ...                 LinearGaussianCPD(score, [skill], 0, [1], 75)])
    >>> print(posterior(exam, {"score": 120}))
    skill: mean 115, standard deviation 7.5
    """
    soft = dict(likelihood or {})
    table = evidence_table(network, given)
    seen = observed_names(network, table, soft)
    targets = _targets(network, of, seen)
    if not network.is_discrete:
        _refuse_settings(network, method, soft, settings)
        from unveil.infer.gaussian.posterior import gaussian_posterior

        return gaussian_posterior(network, table, targets)
    if method != "exact":
        return _approximate(method, network, table, targets, soft, n_jobs, settings)
    if settings:
        raise DataError(f"exact inference takes no setting {next(iter(settings))!r}")
    log_z, marginals = _exact(network, table, soft, seen, targets, max_bytes, n_jobs)
    refuse_impossible(log_z)
    variables = {name: network.variable(name) for name in targets}
    return Posterior(variables, dict(zip(targets, marginals, strict=True)), log_z)


def _refuse_settings(
    network: Network, method: str, soft: Likelihoods, settings: dict[str, Any]
) -> None:
    """Networks with continuous variables are answered exactly, from findings alone."""
    name = next(v.name for v in network.variables if not v.is_discrete)
    if soft:
        raise ModelError(
            f"soft evidence needs a network of discrete variables; {name!r} is continuous"
        )
    if method != "exact":
        raise ModelError(
            f"the method {method!r} is for networks of discrete variables; {name!r} is continuous. "
            "Ask for the exact answer.",
            hint=Hint("(method='exact')", "(--method exact)"),
        )
    if settings:
        raise DataError(f"exact inference takes no setting {next(iter(settings))!r}")


def _approximate(
    method: str,
    network: Network,
    table: Table,
    targets: list[str],
    soft: Likelihoods,
    n_jobs: int | None,
    settings: dict[str, Any],
) -> Posterior:
    from unveil.infer.approximate import METHODS

    if method not in METHODS:
        known = ["exact", *METHODS]
        raise DataError(
            f"there is no method {method!r}; there are {', '.join(known)}."
            + did_you_mean(method, known)
        )
    return METHODS[method](network, table, targets, soft, n_jobs=n_jobs, **settings)


def joint_posterior(
    network: Network,
    names: Sequence[str],
    given: Findings | Data | None = None,
    likelihood: Likelihoods | None = None,
    max_bytes: int | None = None,
) -> Matrix:
    """P(names | given) of every row as one table, shape (n_rows, states of first, of second, ...).

    >>> from unveil import datasets
    >>> joint_posterior(datasets.network("asia"), ["tub", "lung"], {"either": "yes"}).round(3)
    array([[[0.009, 0.152],
            [0.84 , 0.   ]]])
    """
    if len(set(names)) != len(names) or not names:
        raise DataError(f"a joint posterior needs one or more different names, got {list(names)}")
    soft = dict(likelihood or {})
    table = evidence_table(network, given)
    seen = observed_names(network, table, soft)
    tree = tree_of(network, [*seen, *names], max_bytes)
    evidence = evidence_from(tree.network, tree.names, table, soft)
    first, *rest = names
    variable = network.variable(first)
    log_z, (weight,) = tree.marginals(evidence, [tree.names.index(first)])
    refuse_impossible(log_z)
    if not rest:
        return weight
    # P(first, rest | e) = P(first | e) P(rest | first, e), one state of the first at a time.
    shape = [network.variable(name).n_states for name in rest]
    out = np.zeros((table.n_rows, variable.n_states, *shape))
    for state, label in enumerate(variable.labels):
        possible = np.flatnonzero(weight[:, state] > 0)
        if possible.size:
            fixed = _with_finding(network, table.take(possible), first, label)
            part = joint_posterior(network, rest, fixed, soft, max_bytes)
            scale = weight[possible, state].reshape(-1, *[1] * len(shape))
            out[possible, state] = part * scale
    return out


def log_likelihoods(
    network: Network,
    table: Table,
    likelihood: Likelihoods | None = None,
    max_bytes: int | None = None,
    n_jobs: int | None = None,
) -> Matrix:
    """log P(what each row shows), in nats, shape (n_rows,); empty cells are summed over."""
    soft = dict(likelihood or {})
    seen = observed_names(network, table, soft)
    if not network.is_discrete:
        _refuse_settings(network, "exact", soft, {})
        from unveil.infer.gaussian.posterior import gaussian_log_likelihoods

        return gaussian_log_likelihoods(network, table)
    if not seen:
        return np.zeros(table.n_rows)
    return _exact(network, table, soft, seen, (), max_bytes, n_jobs)[0]


def _exact(
    network: Network,
    table: Table,
    soft: Likelihoods,
    seen: Sequence[str],
    targets: Sequence[str],
    max_bytes: int | None,
    n_jobs: int | None,
) -> tuple[Matrix, list[Matrix]]:
    """log P(evidence) and the marginals of the targets, by whatever costs least."""
    names = [*seen, *targets]
    cells = cells_for(network, names, table, soft, Use(max_bytes=max_bytes, n_jobs=n_jobs))
    places = [cells.layout.names.index(name) for name in targets]
    return cells.marginals(cells.layout.own, places)


def cells_for(
    network: Network, names: Sequence[str], table: Table, soft: Likelihoods, use: Use
) -> UnseenCells:
    """The plan for a question about `names`; a junction tree is kept with the network."""
    part = _relevant(network, names)
    rows = prepared_rows(part.network, table, likelihoods=soft)
    return UnseenCells(part.layout, rows, use, lambda: part.tree(use.max_bytes))


def evidence_table(network: Network, given: Findings | Data | None) -> Table:
    """The evidence as a table: one row for a dict of findings, the table behind it otherwise."""
    if isinstance(given, Table):
        return given
    if given is None or (isinstance(given, Mapping) and not any(map(_is_column, given.values()))):
        return table_of_findings(network, given or {})
    return as_table(given, like=network)


def _is_column(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, str)


def relevant_network(network: Network, names: Sequence[str]) -> Network:
    """The network without the variables that cannot matter: no ancestors of any of `names`."""
    needed = set(names) | network.dag.ancestors(*names)
    if len(needed) == len(network.names):
        return network
    return Network([network.cpd(name) for name in network.names if name in needed], network.name)


def tree_of(network: Network, names: Sequence[str], max_bytes: int | None = None) -> JunctionTree:
    """A junction tree for questions about `names`, kept with the network for the next question."""
    return _relevant(network, names).tree(max_bytes)


class _Relevant:
    """The part of a network that matters for some names; its layout and its tree are kept."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self._tree: JunctionTree | None = None

    @cached_property
    def layout(self) -> FlatTables:
        return FlatTables(self.network)

    def tree(self, max_bytes: int | None) -> JunctionTree:
        """The junction tree, or a refusal where it would not fit."""
        if self._tree is None:
            self._tree = JunctionTree(self.network, max_bytes)
        else:
            self._tree.check_memory(max_bytes)
        return self._tree


def _relevant(network: Network, names: Sequence[str]) -> _Relevant:
    """What is known of the part for the names and their ancestors; the last few are kept."""
    key = ("relevant", frozenset(names) | network.dag.ancestors(*names))
    found: _Relevant | None = network._compiled.get(key)
    if found is None:
        found = _Relevant(relevant_network(network, names))
        if len(network._compiled) >= MOST_KEPT:
            network._compiled.clear()
        network._compiled[key] = found
    return found


def _targets(network: Network, of: Sequence[str] | str | None, seen: Sequence[str]) -> list[str]:
    if of is None:
        return [name for name in network.names if name not in seen] or list(network.names)
    wanted = [of] if isinstance(of, str) else list(of)
    for name in wanted:
        network.variable(name)
    return list(dict.fromkeys(wanted))


def _with_finding(network: Network, table: Table, name: str, label: Label) -> Table:
    variable = network.variable(name)
    return table.with_column(variable, np.full(table.n_rows, variable.code_of(label)))
