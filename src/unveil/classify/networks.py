"""Classifiers as networks: families counted and smoothed, or weights turned into probabilities."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from unveil.classify.columns import Columns
from unveil.classify.discriminative import Weights
from unveil.classify.families import class_table, family_table, gaussian_lines
from unveil.classify.structure import Structure
from unveil.model.conditional_gaussian_cpd import ConditionalGaussianCPD
from unveil.model.cpd import CPD
from unveil.model.network import Network
from unveil.model.table_cpd import TableCPD

__all__ = ["counted_network", "weighted_network"]

Matrix = npt.NDArray[np.float64]

BROADEST = 0.5
"""The precision that a class takes away from a number's Gaussian is kept below this share of it."""


def counted_network(columns: Columns, structure: Structure, strength: float) -> Network:
    """The network of a structure with smoothed counts for parameters (generative)."""
    variable = columns.table.variable
    cpds: list[CPD] = []
    for name in structure.used:
        if name not in structure.parents:
            share = family_share(columns, name, strength)
            cpds.append(TableCPD(variable(name), [], share))
    above = [variable(p) for p in structure.class_parents]
    cpds.append(
        TableCPD(columns.target, above, class_table(columns, structure.class_parents, strength))
    )
    for name in structure.order:
        if columns.is_number(name):
            means, variances = gaussian_lines(columns, name, strength)
            cpds.append(_gaussian(columns, name, means, variances))
        else:
            parents = structure.parents[name]
            values = family_table(columns, name, parents, strength)
            family = [columns.target, *(variable(p) for p in parents)]
            cpds.append(TableCPD(variable(name), family, values))
    return Network(cpds)


def weighted_network(columns: Columns, structure: Structure, weights: Weights) -> Network:
    """The network whose class posterior is the softmax of these weights (discriminative).

    P(x | c, u) is made proportional to P(x | u) exp(weight), the share P(x | u) of the rows being
    common to all classes and so without a say in the posterior. What is divided out depends on c
    and u; since the structure is perfect, it is a factor of the family of the last parent, or of
    the class, and goes there (Roos et al. 2005, theorem 3).

    Many networks have this posterior. Of those whose common factor is P(x | u) exp(sum over c of
    t_c weight_c), the one is taken whose P(class) is that of the rows: so that it also makes sense
    where cells are missing. The t_c solve a convex problem of one number for each class.
    """
    from scipy.optimize import root

    counts = np.bincount(columns.classes, columns.weights, columns.n_classes) + 0.5
    wanted = np.log(counts / counts.sum())
    common = {
        name: np.log(_common(columns, structure, name))
        for name in structure.order
        if name in weights.tables
    }

    def off(tilt: Matrix) -> Matrix:
        found = _normalised(structure, weights, common, np.append(tilt, 0.0))[0]
        found = found - found.max()
        found = found - np.log(np.exp(found).sum())
        result: Matrix = (found - wanted)[:-1]
        return result

    solved = root(off, np.zeros(columns.n_classes - 1), tol=1e-6)
    tilt = np.append(solved.x, 0.0) if solved.success else np.zeros(columns.n_classes)
    intercepts, logs, lines = _normalised(structure, weights, common, tilt)
    shares = np.exp(intercepts - intercepts.max())
    variable = columns.table.variable
    cpds: list[CPD] = [TableCPD(columns.target, [], shares / shares.sum())]
    for name in structure.order:
        if name in lines:
            cpds.append(_gaussian(columns, name, *lines[name]))
        else:
            family = [columns.target, *(variable(p) for p in structure.parents[name])]
            cpds.append(TableCPD(variable(name), family, np.exp(logs[name])))
    return Network(cpds)


def _normalised(
    structure: Structure, weights: Weights, common: dict[str, Matrix], tilt: Matrix
) -> tuple[Matrix, dict[str, Matrix], dict[str, tuple[Matrix, Matrix]]]:
    """log P(class) up to a constant, log-tables, and means and variances of numbers by class.

    Children before parents: what a family is divided by goes to the family of its last parent.
    """
    intercepts = np.array(weights.intercepts, dtype=np.float64)
    logs: dict[str, Matrix] = {}
    for name, share in common.items():
        centred = _centred(weights.tables[name])
        logs[name] = share + centred + np.tensordot(tilt, centred, axes=1)[None]
    lines: dict[str, tuple[Matrix, Matrix]] = {}
    for name in reversed(structure.order):
        if name in weights.slopes:
            means, variances, log_z = _gaussian_parts(name, weights, tilt)
            lines[name] = means, variances
            intercepts += log_z
            continue
        most = logs[name].max(axis=-1, keepdims=True)
        divided = most + np.log(np.exp(logs[name] - most).sum(axis=-1, keepdims=True))
        logs[name] = logs[name] - divided
        if structure.parents[name]:
            _push(structure, logs, structure.parents[name], divided[..., 0])
        else:
            intercepts += divided[..., 0]
    return intercepts, logs, lines


def family_share(columns: Columns, name: str, strength: float) -> Matrix:
    """P(x) of a predictor in all rows."""
    counts = np.bincount(columns.codes(name), columns.weights, columns.size(name))
    result: Matrix = (counts + strength / counts.size) / (counts.sum() + strength)
    return result


def _push(
    structure: Structure,
    logs: dict[str, Matrix],
    parents: tuple[str, ...],
    log_z: Matrix,
) -> None:
    """Multiply the family of the last parent, which has all the others, by exp(log_z)."""
    rank = {name: i for i, name in enumerate(structure.order)}
    last = max(parents, key=lambda p: rank[p])
    members = [*structure.parents[last], last]
    source = [parents.index(m) + 1 for m in members if m in parents]
    aligned = np.transpose(log_z, [0, *source])
    shape = [log_z.shape[0]]
    shape += [log_z.shape[parents.index(m) + 1] if m in parents else 1 for m in members]
    logs[last] = logs[last] + aligned.reshape(shape)


def _common(columns: Columns, structure: Structure, name: str) -> Matrix:
    """P(x | parents) in all rows, whatever the class, with an axis for the class."""
    parents = structure.parents[name]
    shape = [columns.size(m) for m in (*parents, name)]
    place = np.zeros(columns.n_rows, np.int64)
    for member in (*parents, name):
        place = place * columns.size(member) + columns.codes(member)
    counts = np.bincount(place, columns.weights, int(np.prod(shape))).reshape(shape)
    share = family_share(columns, name, 1.0)
    table = (counts + share) / (counts.sum(axis=-1, keepdims=True) + 1.0)
    result: Matrix = table[None]
    return result


def _centred(table: Matrix) -> Matrix:
    """The weights less their mean over the classes, which no posterior depends on."""
    result: Matrix = table - table.mean(axis=0, keepdims=True)
    return result


def _gaussian_parts(name: str, weights: Weights, tilt: Matrix) -> tuple[Matrix, Matrix, Matrix]:
    """Means, variances and what was divided out of exp(a z + q z^2 / 2 - z^2 / 2), by class.

    z is the standardised value; its precision 1 - q must be positive, so that all q are lowered
    together where the largest comes too near to one.
    """
    centre, scale = weights.scales[name]
    centred = weights.slopes[name] - weights.slopes[name].mean(axis=1, keepdims=True)
    a, q = centred + (centred @ tilt)[:, None]
    q = q - max(0.0, float(q.max()) - BROADEST)
    precision = 1.0 - q
    mean = a / precision
    log_z = 0.5 * a * mean - 0.5 * np.log(precision)
    return centre + scale * mean, scale**2 / precision, log_z


def _gaussian(columns: Columns, name: str, means: Matrix, variances: Matrix) -> CPD:
    return ConditionalGaussianCPD(
        columns.table.variable(name), [columns.target], means,
        np.zeros((columns.n_classes, 0)), variances,
    )  # fmt: skip
