"""Which predictors depend on which, beside the class: structures of classifiers.

- naive Bayes: on nothing but the class
- TAN, tree-augmented naive Bayes (Friedman, Geiger and Goldszmidt 1997): on one other each, the
  tree that maximises the sum of I(X; Y | C)
- k-dependence (Sahami 1996): on up to k others that come earlier in the order of I(X; C)

A structure is *perfect* when the parents of every predictor depend on one another. Only then does
every choice of weights for the conditional likelihood belong to a network (Roos et al. 2005), so
that the best ones can be found by climbing and turned back into probabilities.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from unveil.classify.columns import Columns
from unveil.kernels.left_out import pair_information

__all__ = ["Structure", "fits", "information", "k_dependence", "naive", "tree_augmented"]

Matrix = npt.NDArray[np.float64]

MOST_CELLS = 200_000
"""A table of a family with more cells than this is not considered."""


@dataclass(frozen=True)
class Structure:
    """The predictors that depend on the class, each with its other parents, parents first.

    `class_parents` are predictors that the class depends on, the other way round.
    """

    parents: Mapping[str, tuple[str, ...]]
    class_parents: tuple[str, ...] = ()

    @property
    def used(self) -> tuple[str, ...]:
        """Every predictor that has a say."""
        inner = [p for parents in self.parents.values() for p in parents]
        return tuple(dict.fromkeys([*self.class_parents, *self.parents, *inner]))

    @property
    def order(self) -> list[str]:
        """The children of the class, parents before children."""
        done: list[str] = []
        left = dict(self.parents)
        while left:
            ready = [n for n, ps in left.items() if not any(p in left for p in ps)]
            if not ready:
                break
            done += ready
            left = {n: ps for n, ps in left.items() if n not in ready}
        return done

    @property
    def is_acyclic(self) -> bool:
        """Whether no predictor is its own ancestor."""
        return len(self.order) == len(self.parents)

    def without(self, name: str) -> Structure:
        """The structure without a predictor, wherever it is."""
        parents = {
            child: tuple(p for p in own if p != name)
            for child, own in self.parents.items()
            if child != name
        }
        return Structure(parents, tuple(p for p in self.class_parents if p != name))

    def with_parents(self, name: str, parents: Sequence[str]) -> Structure:
        """The structure with other parents for a predictor, which depends on the class, too."""
        return replace(self, parents={**self.parents, name: tuple(parents)})


def naive(columns: Columns) -> Structure:
    """Every predictor depends on the class alone."""
    return Structure(dict.fromkeys(columns.names, ()))


def tree_augmented(columns: Columns) -> Structure:
    """The tree over the discrete predictors with the most information given the class.

    Prim's algorithm; the root is the predictor that tells most about the class.
    """
    names = columns.discrete
    if len(names) < 2:
        return naive(columns)
    between, about = information(columns)
    root = int(np.argmax(about))
    parents: dict[str, tuple[str, ...]] = {names[root]: ()}
    best, tie = between[root].copy(), np.full(len(names), root)
    inside = np.zeros(len(names), bool)
    inside[root] = True
    for _ in range(len(names) - 1):
        new = int(np.argmax(np.where(inside, -np.inf, best)))
        small = fits(columns, names[new], [names[tie[new]]])
        parents[names[new]] = (names[tie[new]],) if small else ()
        inside[new] = True
        closer = between[new] > best
        best[closer], tie[closer] = between[new][closer], new
    return Structure({**parents, **{n: () for n in columns.names if n not in parents}})


def k_dependence(columns: Columns, k: int = 2, perfect: bool = False) -> Structure:
    """Up to `k` parents for every discrete predictor, among those that tell more about the class.

    They are the ones with the most information about it given the class (Sahami 1996). With
    `perfect`, all parents of a predictor depend on one another.
    """
    names = columns.discrete
    if len(names) < 2:
        return naive(columns)
    between, about = information(columns)
    ranked = [names[i] for i in np.argsort(-about, kind="stable")]
    place = {name: i for i, name in enumerate(names)}
    parents: dict[str, tuple[str, ...]] = {}
    for name in ranked:
        own: list[str] = []
        for other in sorted(parents, key=lambda o: -between[place[name], place[o]]):
            if len(own) == k:
                break
            joined = all(p in parents[other] or other in parents[p] for p in own)
            if (joined or not perfect) and fits(columns, name, [*own, other]):
                own.append(other)
        parents[name] = tuple(own)
    return Structure({**parents, **{n: () for n in columns.names if n not in parents}})


def information(columns: Columns) -> tuple[Matrix, Matrix]:
    """I(X; Y | C) of every two discrete predictors, and I(X; C) of each, in nats."""
    names = columns.discrete
    codes = np.array([columns.codes(n) for n in names])
    sizes = np.array([columns.size(n) for n in names], dtype=np.int64)
    between = np.zeros((len(names), len(names)))
    pair_information(codes, sizes, columns.classes, columns.n_classes, columns.weights, between)
    about = [_mutual(columns, codes[i], int(sizes[i])) for i in range(len(names))]
    return between, np.array(about)


def _mutual(columns: Columns, codes: npt.NDArray[np.int64], size: int) -> float:
    k = columns.n_classes
    joint = np.bincount(codes * k + columns.classes, columns.weights, size * k).reshape(size, k)
    joint = joint / joint.sum()
    apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    seen = joint > 0
    return float((joint[seen] * np.log(joint[seen] / apart[seen])).sum())


def fits(columns: Columns, name: str | None, parents: Sequence[str]) -> bool:
    """Whether the table of a predictor, or of the class (`None`), stays small."""
    cells = columns.n_classes
    if name is not None and name in columns.discrete:
        cells *= columns.size(name)
    for parent in parents:
        cells *= columns.size(parent)
    return cells <= MOST_CELLS
