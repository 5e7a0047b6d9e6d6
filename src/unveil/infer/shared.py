"""Many rows that show the same columns: condition on those first, sum over the few others.

The junction tree takes rows as they come. Where all lack the same few variables (a hidden one,
say), the reduced model is less work; `shared_answer` is tried first and steps aside when it is not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from unveil.infer.reduced import ReducedModel
from unveil.infer.tree import Evidence, JunctionTree
from unveil.model.network import Network

__all__ = [
    "FEWEST_ROWS",
    "TREE_CELL_COST",
    "answer_by_patterns",
    "early_answer",
    "least_cells",
    "shared_answer",
    "shared_explanation",
]

Matrix = npt.NDArray[np.float64]

FEWEST_ROWS = 64
"""With fewer rows, setting up the reduced model costs more than it saves."""
TREE_CELL_COST = 3.0
"""How much dearer a cell of the junction tree is than an entry of the reduced model."""
ENTRY_COST = 10.0
"""What it costs to set up an entry of the reduced model, in visits."""
MOST_POSTERIORS = 20_000_000


def least_cells(network: Network) -> int:
    """No junction tree has fewer cells: each clique brings variables that those above it lack.

    A product of numbers of states is at least their sum, where none is one. So where the reduced
    model is cheaper than this, the tree need not be made to know it.
    """
    return sum(v.n_states for v in network.variables if v.n_states > 1)


def early_answer(
    network: Network, evidence: Evidence, targets: Sequence[int], max_bytes: int | None = None
) -> tuple[Matrix, list[Matrix]] | None:
    """What a junction tree would give, where it is sure to cost more; `None` elsewhere."""
    if evidence.n_rows < FEWEST_ROWS:
        return None
    limit = TREE_CELL_COST * least_cells(network)
    return _answer(network, evidence, targets, limit, max_bytes)


def answer_by_patterns(
    network: Network,
    evidence: Evidence,
    targets: Sequence[int],
    most_work: float,
    max_bytes: int | None = None,
) -> tuple[Matrix, list[Matrix]] | None:
    """What a junction tree would give, for the rows of each pattern of gaps in turn.

    `None` if it is estimated to be more work than allowed, or would take more than `max_bytes`.
    """
    missing = evidence.codes == evidence.missing
    patterns, first, member = np.unique(
        np.packbits(missing, axis=0), axis=1, return_index=True, return_inverse=True
    )
    members = [np.flatnonzero(member.reshape(-1) == p) for p in range(patterns.shape[1])]
    work = 0.0
    for rows, example in zip(members, first, strict=True):
        lacking = [n for n, lack in zip(network.names, missing[:, example], strict=True) if lack]
        model = ReducedModel(network, lacking)
        work += ENTRY_COST * (model.n_entries + model.n_table_entries) + len(rows) * model.cost
        if work > most_work:
            return None
    log_z = np.zeros(evidence.n_rows)
    marginals = [np.empty((evidence.n_rows, network.variables[t].n_states)) for t in targets]
    for rows in members:
        part = replace(evidence, codes=np.ascontiguousarray(evidence.codes[:, rows]))
        found = _answer(network, part, targets, math.inf, max_bytes)
        if found is None:
            return None
        log_z[rows] = found[0]
        for whole, shares in zip(marginals, found[1], strict=True):
            whole[rows] = shares
    return log_z, marginals


def shared_answer(
    tree: JunctionTree, evidence: Evidence, targets: Sequence[int]
) -> tuple[Matrix, list[Matrix]] | None:
    """What `tree.marginals` gives, by the reduced model; `None` where that does not pay."""
    if evidence.n_rows < FEWEST_ROWS:
        return None
    lacks = np.flatnonzero(evidence.codes[:, :1] == evidence.missing)
    return _answer(tree.network, evidence, targets, TREE_CELL_COST * tree.cost(lacks.tolist()))


def shared_explanation(
    network: Network,
    evidence: Evidence,
    even_if_dear: bool = False,
    max_bytes: int | None = None,
) -> tuple[Matrix, npt.NDArray[np.int64]] | None:
    """What `JunctionTree.explain` gives as the most probable explanation, by the reduced model.

    `None` where a tree may cost less, unless `even_if_dear`, or where it cannot be had.
    """
    limit = math.inf if even_if_dear else TREE_CELL_COST * least_cells(network)
    found = _configurations(network, evidence, limit, max_bytes)
    if found is None:
        return None
    model, log_z, posterior = found
    best = posterior.argmax(axis=1)
    with np.errstate(divide="ignore"):
        log_p = log_z + np.log(posterior[np.arange(len(best)), best])
    codes = evidence.codes.astype(np.int64)
    if model.unseen:
        codes[[network.names.index(n) for n in model.unseen]] = np.unravel_index(best, model.shape)
    return log_p, codes


def _answer(
    network: Network,
    evidence: Evidence,
    targets: Sequence[int],
    limit: float,
    max_bytes: int | None = None,
) -> tuple[Matrix, list[Matrix]] | None:
    found = _configurations(network, evidence, limit, max_bytes)
    if found is None:
        return None
    model, log_z, posterior = found
    joint = posterior.reshape(evidence.n_rows, *model.shape)
    return log_z, [_marginal(network, evidence, joint, model.unseen, t) for t in targets]


def _configurations(
    network: Network, evidence: Evidence, limit: float, max_bytes: int | None = None
) -> tuple[ReducedModel, Matrix, Matrix] | None:
    """The reduced model, log P(evidence), and the posterior of every unseen configuration.

    `None` if rows differ in what they lack, or it costs more per row than `limit`, or takes more
    than `max_bytes`.
    """
    n_rows = evidence.n_rows
    if n_rows == 0 or (evidence.soft_first >= 0).any():
        return None
    missing = evidence.codes == evidence.missing
    lacks = missing[:, 0]
    if (missing != lacks[:, None]).any():
        return None
    model = ReducedModel(network, [n for n, lack in zip(network.names, lacks, strict=True) if lack])
    posteriors = n_rows * model.n_configurations
    too_many = posteriors > MOST_POSTERIORS
    if model.cost > limit or too_many or not model.fits:
        return None
    if max_bytes is not None and 8 * (2 * model.n_entries + posteriors) > max_bytes:
        return None
    log_z, posterior = np.zeros(n_rows), np.ones((n_rows, 1))
    if model.unseen:
        tables = np.concatenate([cpd.values.ravel() for cpd in network.cpds.values()])  # type: ignore[attr-defined]
        log_z, posterior = model.posterior(tables, evidence.codes)
    for v, cpd in enumerate(network.cpds.values()):
        if v not in model.relevant:
            parents = [evidence.codes[network.names.index(p.name)] for p in cpd.parents]
            cpd.add_log_probability(log_z, parents, evidence.codes[v])
    return model, log_z, posterior


def _marginal(
    network: Network, evidence: Evidence, joint: Matrix, unseen: Sequence[str], target: int
) -> Matrix:
    """P(target | row): summed out of the joint, or certain where the row shows it."""
    name = network.names[target]
    if name in unseen:
        others = tuple(i + 1 for i, other in enumerate(unseen) if other != name)
        return np.asarray(joint.sum(axis=others))
    return np.eye(network.variable(name).n_states)[evidence.codes[target]]
