"""A graph made to keep the rules: required arcs added, forbidden ones turned round or left out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unveil.graph.dag import DAG
from unveil.kernels.moves import link, may_add, recompute_reach
from unveil.search.constraints import Rules
from unveil.search.graph_state import dag_from

__all__ = ["made_legal"]


def made_legal(dag: DAG, rules: Rules, names: Sequence[str]) -> DAG:
    """The graph with required arcs added, and forbidden ones turned round or left out."""
    place = {name: i for i, name in enumerate(names)}
    parents = rules.required.astype(np.uint8)
    reach = np.zeros_like(parents)
    recompute_reach(parents, reach)
    room = rules.max_parents - rules.required.sum(axis=1)
    for parent, child in dag.arcs:
        ends = place[parent], place[child]
        for x, y in (ends, ends[::-1]):
            new = not (parents[y, x] or parents[x, y])
            if new and may_add(reach, rules.allowed, room, x, y):
                parents[y, x] = 1
                room[y] -= 1
                link(reach, x, y)
                break
    return dag_from(parents, names)
