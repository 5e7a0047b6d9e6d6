"""New hidden variables below those there are (thesis 6.10, 6.11).

Once a hidden variable T tells enough of the rows, I(T; Y) beyond a part of log |T|, columns that it
does not explain are looked for among the 20 with the highest entropy given T. By Proposition 6.10.1
a new hidden parent T' of columns C, below T, has

    E_Q[sum over i of log P'(X_i | T') + log P'(T' | T)]  <=  E_Q[log Q(C | T)] = -H_Q(C | T),

so it cannot gain more than sum over i of H_Q(X_i | T) - H_Q(C | T) a case. The thesis takes the
three columns with the highest H_Q(C | T); here the three with the highest bound of the gain come
first, among those whose entropy is beyond a part of the most there can be. They get a hidden parent
of their own, which begins where `ib_em` of the three alone ends.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.bottleneck.call import ib_em
from unveil.bottleneck.course import Continuation, Place
from unveil.bottleneck.expected import factors_of, smoothed
from unveil.bottleneck.mean_field import FieldParameters, MeanField
from unveil.bottleneck.replacing import rebuilt
from unveil.graph.dag import DAG
from unveil.infer.rows import prepared_rows
from unveil.model.network import Network
from unveil.model.table_cpd import TableCPD
from unveil.table.variable import Variable
from unveil.trees.information import mutual_information

__all__ = ["candidates", "enriched", "subset_entropies"]

Matrix = npt.NDArray[np.float64]

CANDIDATES = 20
"""So many columns of a hidden variable, those with the highest entropy given it, are looked at."""
LOOKED_AT = 60
"""So many triples of these have their entropy worked out."""
SEED = 3
"""A new hidden variable begins with so many children."""


def candidates(
    place: Place, information: float, entropy: float, most: int
) -> list[tuple[int, tuple[str, ...]]]:
    """Hidden variables and three children of each that ask for a parent of their own, best first.

    At most `most`; no two of them share two columns.
    """
    problem = place.problem
    found: list[tuple[float, int, tuple[str, ...]]] = []
    for i, name in enumerate(problem.hidden):
        k = problem.shape[i]
        if k < 2 or place.look.information[i] < information * np.log(k):
            continue
        columns = [c for c in problem.layout.network.dag.children(name) if c in problem.table]
        if len(columns) <= SEED:
            continue
        triples = subset_entropies(problem, place.look.parameters, i, columns)
        found += [(gain, i, chosen) for chosen, share, gain in triples if share >= entropy]
    kept: list[tuple[int, tuple[str, ...]]] = []
    for _, i, chosen in sorted(found, key=lambda item: -item[0]):
        if len(kept) < most and all(len(set(chosen) & set(c)) < 2 for _, c in kept):
            kept.append((i, chosen))
    return kept


def enriched(
    place: Place,
    i: int,
    chosen: tuple[str, ...],
    n_states: int,
    generator: np.random.Generator,
) -> Place:
    """The place with one more hidden variable, below hidden variable i and above `chosen`."""
    problem: MeanField = place.problem
    network = problem.network(place.look.parameters)
    number = len(problem.hidden) + 1
    while f"H{number}" in network.names:
        number += 1
    old = network.variable(problem.hidden[i])
    new = Variable(f"H{number}", range(n_states), hidden=True)
    alone, own = _alone(problem, new, chosen)
    above = place.look.parameters.q[:, problem.columns(i)] * problem.weights[:, None]
    joint = smoothed(above.T @ own, problem.prior, new, [old])
    cpds: list[Any] = [alone.cpd(name) for name in chosen]
    cpds += [cpd for name, cpd in network.cpds.items() if name not in chosen]
    cpds.append(TableCPD(new, [old], joint))
    factors = {**factors_of(problem, place.look.parameters), new.name: own}
    return rebuilt(place, Network(cpds), (*problem.hidden, new.name), factors, generator)


def _alone(problem: MeanField, new: Variable, chosen: tuple[str, ...]) -> tuple[Network, Matrix]:
    """The chosen columns with a hidden parent and nothing else, and its posterior by row."""
    part = problem.table.select(chosen)
    dag = DAG([new.name, *chosen], [(new.name, c) for c in chosen])
    found = ib_em(
        dag, part, problem.prior, {new.name: new}, posterior="exact", seed=0,
        continuation=Continuation(exchanges=0), max_iterations=100, tolerance=1e-6,
    )  # fmt: skip
    posterior = found.network.posterior(part, of=new.name)[new.name]
    which = prepared_rows(problem.layout.network, problem.table, fold=True).which
    own = np.empty((len(problem.weights), new.n_states))
    inside = which >= 0
    own[which[inside]] = posterior[inside]
    return found.network, own


def subset_entropies(
    problem: MeanField, parameters: FieldParameters, i: int, columns: list[str]
) -> list[tuple[tuple[str, ...], float, float]]:
    """Triples of columns, H_Q(C | T) as part of its most, and the bound of the gain, best first.

    T is hidden variable i, Q its factor in every row. The most is the sum of H(X), the bound is
    sum of H_Q(X | T) - H_Q(C | T), in nats a case. Triples are of the `CANDIDATES` columns with the
    highest entropy given T, as part of theirs, and of these the `LOOKED_AT` whose pairs tell most
    of one another given T; rows with gaps in a triple are left out of it.
    """
    q = parameters.q[:, problem.columns(i)] * problem.weights[:, None]
    place = {name: problem.layout.names.index(name) for name in columns}
    n_states = {name: problem.layout.network.variable(name).n_states for name in columns}

    def given(*names: str) -> float:
        codes = [problem.codes[place[n]] for n in names]
        return _entropy_given(codes, [n_states[n] for n in names], q)

    whole = q.sum(axis=1, keepdims=True)
    most = {
        n: max(_entropy_given([problem.codes[place[n]]], [n_states[n]], whole), 1e-9)
        for n in columns
    }
    own = {n: given(n) for n in columns}
    chosen = set(sorted(columns, key=lambda n: (-own[n] / most[n], n))[:CANDIDATES])
    near = [n for n in columns if n in chosen]
    codes, sizes = [problem.codes[place[n]] for n in near], [n_states[n] for n in near]
    pairs = _pair_information(codes, sizes, q)
    triples = sorted(
        itertools.combinations(range(len(near)), SEED),
        key=lambda t: -sum(pairs[a, b] for a, b in itertools.combinations(t, 2)),
    )
    found = []
    for triple in triples[:LOOKED_AT]:
        names = tuple(near[i] for i in triple)
        together = given(*names)
        share = together / sum(most[n] for n in names)
        found.append((names, float(share), sum(own[n] for n in names) - together))
    return sorted(found, key=lambda item: -item[2])


def _pair_information(codes: list[Any], sizes: list[int], mass: Matrix) -> Matrix:
    """I(X; X' | T) of all pairs of columns, in nats a case."""
    first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    shown = np.zeros((len(mass), int(first[-1])))
    for column, size, start in zip(codes, sizes, first[:-1], strict=True):
        rows = np.flatnonzero(column < size)
        shown[rows, start + column[rows].astype(np.int64)] = 1.0
    total = np.zeros((len(codes), len(codes)))
    for m in mass.T:
        if m.sum() > 0:
            total += mutual_information(shown, first[:-1], m) * m.sum()
    return total / mass.sum()


def _entropy_given(codes: list[Any], sizes: list[int], mass: Matrix) -> float:
    """H_Q(C | T) in nats: columns of codes, and w_y Q(t | y) of every row."""
    cell = np.zeros(len(mass), np.int64)
    seen = np.ones(len(mass), bool)
    for column, size in zip(codes, sizes, strict=True):
        seen &= column < size
        cell = cell * size + np.where(column < size, column, 0)
    counts = np.array([np.bincount(cell[seen], m[seen], int(np.prod(sizes))) for m in mass.T])
    total = counts.sum()
    if total <= 0:
        return 0.0
    each = counts.sum(axis=1)
    inside = counts[counts > 0]
    return float((each[each > 0] @ np.log(each[each > 0]) - inside @ np.log(inside)) / total)
