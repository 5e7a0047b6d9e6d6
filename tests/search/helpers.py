"""What the tests of all searches share: all DAGs, all moves, random limits."""

from functools import cache
from itertools import combinations

import numpy as np
from hypothesis import strategies as st

from unveil.errors import CycleError
from unveil.graph import DAG
from unveil.score import SCORES, FamilyScores
from unveil.search import Constraints


@cache
def all_parent_sets(n):
    """Every DAG over n nodes as a row of n sets of parents, each an integer of bits."""
    grids = np.indices((1 << n - 1,) * n, dtype=np.uint8).reshape(n, -1)
    low = [(1 << c) - 1 for c in range(n)]
    sets = np.array([(g & low[c]) | ((g & ~np.uint8(low[c])) << 1) for c, g in enumerate(grids)])
    left = np.full(sets.shape[1], (1 << n) - 1, np.uint8)
    for _ in range(n):
        for c in range(n):
            left[sets[c] & left == 0] &= ~np.uint8(1 << c)
    return sets[:, left == 0]


def members(subset):
    return [v for v in range(int(subset).bit_length()) if int(subset) >> v & 1]


def table_of_scores(scores):
    """The score of every child (row) with every set of parents (column); the child's own: nan."""
    n = scores.n_variables
    out = np.full((n, 1 << n), np.nan)
    for child in range(n):
        for subset in range(1 << n):
            if not subset >> child & 1:
                out[child, subset] = scores.family(child, members(subset))
    return out


def best_by_enumeration(scores, permitted=lambda child, parents: True):
    """The largest score of any DAG whose families are all permitted."""
    n = scores.n_variables
    values = table_of_scores(scores)
    for child in range(n):
        for subset in range(1 << n):
            if not permitted(child, members(subset)):
                values[child, subset] = -np.inf
    return max(sum(values[c, sets] for c, sets in enumerate(all_parent_sets(n))))


def neighbours(dag):
    """Every DAG one added, deleted or turned arc away."""
    for x, y in combinations(dag.nodes, 2):
        for arc in ((x, y), (y, x)):
            if dag.has_arc(*arc):
                yield dag.without_arc(*arc)
            changes = ("with_arc",) if not dag.adjacent(x, y) else ("reversed_arc",)
            for change in changes:
                if change == "with_arc" or dag.has_arc(*arc):
                    try:
                        yield getattr(dag, change)(*arc)
                    except CycleError:
                        continue


def satisfies(dag, limits, start=None):
    """Whether a graph keeps to the constraints, read from their definition."""
    tier = {name: i for i, names in enumerate(limits.tiers) for name in names}
    only = limits.allowed_parents
    frozen = [] if limits.changeable is None else set(dag.nodes) - set(limits.changeable)
    most = len(dag.nodes) if limits.max_parents is None else limits.max_parents
    return (
        all(dag.has_arc(*arc) for arc in limits.required)
        and not any(dag.has_arc(*arc) for arc in limits.forbidden)
        and all(tier[x] <= tier[y] for x, y in dag.arcs if x in tier and y in tier)
        and all(set(dag.parents(y)) <= set(only[y]) for y in only)
        and not any(dag.parents(y) for y in limits.no_parents)
        and not any(dag.children(x) for x in limits.no_children)
        and all(len(dag.parents(y)) <= most for y in dag.nodes)
        and all(
            set(dag.parents(y)) == set(start.parents(y) if start is not None else ())
            for y in frozen
        )
    )


@st.composite
def limits_over(draw, names):
    """Constraints that some graph satisfies: `goal` is one, and a start that keeps to them."""
    order = draw(st.permutations(names))
    pairs = list(combinations(order, 2))
    goal = [p for p in pairs if draw(st.integers(0, 3)) == 0]
    required = [p for p in goal if draw(st.booleans())]
    arcs = [(x, y) for x in names for y in names if x != y]
    forbidden = [a for a in arcs if a not in goal and draw(st.integers(0, 3)) == 0]
    cut = draw(st.integers(0, len(names)))
    tiers = [order[:cut], order[cut:]] if draw(st.booleans()) else []
    start = DAG(names, goal)
    needed = max(len(start.parents(y)) for y in names)
    most = draw(st.sampled_from([None, needed, needed + 1]))
    allowed = {}
    if draw(st.booleans()):
        child = draw(st.sampled_from(names))
        extra = [x for x in names if x != child and draw(st.booleans())]
        allowed[child] = sorted({*start.parents(child), *extra})
    changeable = None
    if draw(st.booleans()):
        changeable = [x for x in names if draw(st.booleans())]
    roots = [y for y in names if not start.parents(y) and draw(st.integers(0, 3)) == 0]
    leaves = [x for x in names if not start.children(x) and draw(st.integers(0, 3)) == 0]
    limits = Constraints(
        required, forbidden, tiers, most, allowed, changeable, no_parents=roots, no_children=leaves
    )
    return limits, start


def scores_of(table, name="bdeu", **options):
    return FamilyScores(table, SCORES[name](), **options)
