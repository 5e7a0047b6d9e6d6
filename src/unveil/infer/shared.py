"""Many rows that show the same columns: condition on those first, sum over the few others.

The junction tree takes rows as they come. Where all lack the same few variables (a hidden one,
say), the reduced model is less work; `shared_answer` is tried first and steps aside when it is not.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from unveil.infer.reduced import ReducedModel
from unveil.infer.tree import Evidence, JunctionTree

__all__ = ["TREE_CELL_COST", "shared_answer"]

Matrix = npt.NDArray[np.float64]

FEWEST_ROWS = 64
"""With fewer rows, setting up the reduced model costs more than it saves."""
TREE_CELL_COST = 3.0
"""How much dearer a cell of the junction tree is than an entry of the reduced model."""
MOST_POSTERIORS = 20_000_000


def shared_answer(
    tree: JunctionTree, evidence: Evidence, targets: Sequence[int]
) -> tuple[Matrix, list[Matrix]] | None:
    """What `tree.marginals` gives, by the reduced model; `None` where that does not pay."""
    n_rows = evidence.n_rows
    if n_rows < FEWEST_ROWS or (evidence.soft_first >= 0).any():
        return None
    missing = evidence.codes == evidence.missing
    lacks = missing[:, 0]
    if not lacks.any() or (missing != lacks[:, None]).any():
        return None
    unseen = [name for name, lack in zip(tree.names, lacks, strict=True) if lack]
    model = ReducedModel(tree.network, unseen)
    too_dear = model.cost > TREE_CELL_COST * tree.n_cells or not model.fits
    if too_dear or n_rows * model.n_configurations > MOST_POSTERIORS:
        return None
    network = tree.network
    tables = np.concatenate([cpd.values.ravel() for cpd in network.cpds.values()])  # type: ignore[attr-defined]
    log_z, posterior = model.posterior(tables, evidence.codes)
    for v, cpd in enumerate(network.cpds.values()):
        if v not in model.relevant:
            parents = [evidence.codes[tree.names.index(p.name)] for p in cpd.parents]
            cpd.add_log_probability(log_z, parents, evidence.codes[v])
    joint = posterior.reshape(n_rows, *model.shape)
    marginals = [_marginal(tree, evidence, joint, unseen, t) for t in targets]
    return log_z, marginals


def _marginal(
    tree: JunctionTree, evidence: Evidence, joint: Matrix, unseen: Sequence[str], target: int
) -> Matrix:
    """P(target | row): summed out of the joint, or certain where the row shows it."""
    name = tree.names[target]
    if name in unseen:
        others = tuple(i + 1 for i, other in enumerate(unseen) if other != name)
        return np.asarray(joint.sum(axis=others))
    return np.eye(tree.network.variable(name).n_states)[evidence.codes[target]]
