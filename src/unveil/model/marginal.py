"""Exact marginals of a few variables by summing the others out one at a time (thesis 2.1.4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from unveil.errors import SizeError
from unveil.model.table_cpd import MAX_CELLS, table_of

if TYPE_CHECKING:
    from unveil.model.network import Network

__all__ = ["marginal"]

Factor = tuple[tuple[str, ...], npt.NDArray[np.float64]]


def marginal(network: Network, names: Sequence[str]) -> npt.NDArray[np.float64]:
    """P(names) as an array with one axis per name, in that order.

    Variables that are no ancestors of `names` are left out (they sum to one); the rest are
    eliminated in the greedy order of the smallest product.

    >>> from unveil import datasets
    >>> marginal(datasets.network("asia"), ["smoke"])
    array([0.5, 0.5])
    """
    wanted = tuple(names)
    relevant = set(wanted) | network.dag.ancestors(*wanted)
    factors: list[Factor] = []
    for name in relevant:
        cpd = table_of(network.cpd(name), "an exact marginal")
        factors.append((tuple(v.name for v in (*cpd.parents, cpd.variable)), cpd.values))
    sizes = {name: network.variable(name).n_states for name in relevant}
    unwanted = [n for n in network.dag.topological_order if n in relevant and n not in wanted]
    while unwanted:
        name = min(unwanted, key=lambda n: _product_size(_touching(factors, n), sizes))
        unwanted.remove(name)
        touching = _touching(factors, name)
        rest = [f for f in factors if name not in f[0]]
        factors = [*rest, _sum_out(_multiply(touching, sizes), name)]
    scope, values = _multiply(factors, sizes)
    return np.transpose(values, [scope.index(name) for name in wanted])


def _touching(factors: Sequence[Factor], name: str) -> list[Factor]:
    return [f for f in factors if name in f[0]]


def _product_size(factors: Sequence[Factor], sizes: dict[str, int]) -> int:
    size = 1
    for name in {n for scope, _ in factors for n in scope}:
        size *= sizes[name]
    return size


def _multiply(factors: Sequence[Factor], sizes: dict[str, int]) -> Factor:
    """The product of factors over the union of their scopes."""
    scope = tuple(dict.fromkeys(n for names, _ in factors for n in names))
    if _product_size(factors, sizes) > MAX_CELLS:
        raise SizeError(
            f"this marginal needs a table of {_product_size(factors, sizes):,} cells over "
            f"{len(scope)} variables; at most {MAX_CELLS:,} are allowed"
        )
    product = np.ones([sizes[n] for n in scope])
    for names, values in factors:
        kept = [n for n in scope if n in names]
        ordered = np.transpose(values, [names.index(n) for n in kept])
        product *= ordered.reshape([sizes[n] if n in names else 1 for n in scope])
    return scope, product


def _sum_out(factor: Factor, name: str) -> Factor:
    scope, values = factor
    axis = scope.index(name)
    return scope[:axis] + scope[axis + 1 :], values.sum(axis=axis)
