"""Agglomeration by the book: every merge scored by the BDe score of the whole completed data."""

import math
from itertools import combinations

import numpy as np
from scipy.special import gammaln


def family_score(table, codes, prior, family_of, dag, name):
    """The BDe score of every family that contains `name`, completed by `codes`.

    `prior[s]` is the number of initial states that state s is made of, as a share of all.
    """
    states = sorted(set(codes.tolist()))
    columns = {n: np.asarray(table.column(n), np.int64) for n in dag.nodes if n != name}
    total = 0.0
    families = [(name, dag.parents(name))]
    families += [(child, dag.parents(child)) for child in dag.children(name)]
    for child, parents in families:
        counts = {}
        for row in range(table.n_rows):
            value = {**{n: int(c[row]) for n, c in columns.items()}, name: int(codes[row])}
            key = tuple(value[n] for n in (*parents, child))
            counts[key] = counts.get(key, 0) + 1
        total += _dirichlet(table, states, prior, family_of, child, parents, counts, name)
    return total


def _dirichlet(table, states, prior, ess, child, parents, counts, name):
    sizes = {n: table.variable(n).n_states for n in (*parents, child) if n != name}
    cells = math.prod(sizes.values())
    choices = {n: range(k) for n, k in sizes.items()}
    choices[name] = states
    rows = [()]
    for n in parents:
        rows = [(*r, v) for r in rows for v in choices[n]]
    total = 0.0
    for row in rows:
        summed, mass = 0.0, 0.0
        for value in choices[child]:
            key = (*row, value)
            state = key[(*parents, child).index(name)]
            a = ess * prior[state] / cells
            n = counts.get(key, 0)
            total += gammaln(a + n) - gammaln(a)
            summed += n
            mass += a
        total -= gammaln(mass + summed) - gammaln(mass)
    return total


def merge_all(table, dag, name, codes, ess):
    """All merges, best first, with the change of the full score each time."""
    codes = codes.copy()
    prior = dict.fromkeys(range(codes.max() + 1), 1.0 / (codes.max() + 1))
    score = family_score(table, codes, prior, ess, dag, name)
    steps = []
    while len(prior) > 1:
        best = None
        for i, j in combinations(sorted(prior), 2):
            merged = np.where(codes == j, i, codes)
            joint = {s: p for s, p in prior.items() if s != j}
            joint[i] = prior[i] + prior[j]
            value = family_score(table, merged, joint, ess, dag, name)
            if best is None or value > best[0] + 1e-9:
                best = (value, i, j, merged, joint)
        value, i, j, codes, prior = best
        steps.append((i, j, value - score))
        score = value
    return steps
