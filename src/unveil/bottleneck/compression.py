"""Q(T) as the Lagrangian takes it: the joint of the hidden variables, or a product of families.

With several hidden variables, E[log Q(T)] may be taken apart by a graph G_in over them (thesis
Eq. 6.11): Q(T) becomes the product of Q(T_i | parents in G_in). A complete graph is the joint
itself, which is what one hidden variable, or few with few states, get.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from unveil.graph.dag import DAG

__all__ = ["Compression"]

Vector = npt.NDArray[np.float64]


class Compression:
    """A graph over the hidden variables; distributions over them are vectors, last one fastest.

    >>> apart = Compression(("a", "b"), (2, 2), DAG(["a", "b"]))
    >>> apart.projected(np.array([0.5, 0.0, 0.0, 0.5])).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """

    def __init__(
        self, names: Sequence[str], shape: Sequence[int], graph: DAG | None = None
    ) -> None:
        self.names, self.shape, self.graph = tuple(names), tuple(shape), graph
        place = {name: i for i, name in enumerate(self.names)}
        self._families: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
        every = set(range(len(self.names)))
        for name in self.names if graph is not None else ():
            assert graph is not None
            parents = {place[p] for p in graph.parents(name)}
            own = parents | {place[name]}
            # The axes that are summed away: all but the family, and all but the parents.
            self._families.append((tuple(every - own), tuple(every - parents)))

    def projected(self, joint: Vector) -> Vector:
        """The product of Q(T_i | parents in G_in) that comes closest to a joint distribution."""
        if self.graph is None:
            return joint
        whole = joint.reshape(self.shape)
        out = np.ones(self.shape)
        for family, parents in self._families:
            top = whole.sum(axis=family, keepdims=True)
            below = whole.sum(axis=parents, keepdims=True)
            out = out * np.divide(top, below, out=np.zeros_like(top), where=below > 0)
        return out.ravel()

    def response(self, joint: Vector, change: Vector, split: int | None = None) -> Vector:
        """How log Q(t) changes when the joint does.

        With `split`, the change is that of one twin of every state of that hidden variable, the
        other twin changing by as much the other way: what is summed over both does not change.
        """
        if self.graph is None:
            return _ratio(change, joint)
        whole, moved = joint.reshape(self.shape), change.reshape(self.shape)
        out = np.zeros(self.shape)
        for family, parents in self._families:
            for axes, sign in ((family, 1.0), (parents, -1.0)):
                if split is not None and split in axes:
                    continue  # both twins are summed over
                up = moved.sum(axis=axes, keepdims=True)
                out = out + sign * _ratio(up, whole.sum(axis=axes, keepdims=True))
        return out.ravel()


def _ratio(up: Vector, down: Vector) -> Vector:
    return np.divide(up, down, out=np.zeros_like(up), where=down > 0)
