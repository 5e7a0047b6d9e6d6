"""Kernels on graphs: against unveil.graph on every small DAG, and against enumeration."""

from itertools import product

import networkx as nx
import numpy as np
import pytest
from graph.markings import markings_of_a_square
from graph.oracle import all_dags
from graph.strategies import dags
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil.errors import ModelError
from unveil.graph import DAG, completed_pdag, consistent_extension, equivalent
from unveil.kernels.classes import (
    complete,
    differing,
    entries,
    extend,
    matrix_of,
    moved,
    redraw,
    revised,
    transposed,
)
from unveil.kernels.inserts import first_valid_insert, helpful_inserts
from unveil.kernels.moves import (
    ADD,
    DELETE,
    NOTHING,
    REVERSE,
    best_move,
    link,
    may_add,
    may_reverse,
    recompute_reach,
    reversible,
)

NO_TABU = np.zeros(0, np.int64)


def matrix(graph):
    """The byte matrix of a DAG or PDAG."""
    n = len(graph.nodes)
    place = {name: i for i, name in enumerate(graph.nodes)}
    out = np.zeros((n, n), np.uint8)
    for x, y in graph.arcs:
        out[place[y], place[x]] = 1
    for x, y in getattr(graph, "edges", ()):
        out[place[y], place[x]] = out[place[x], place[y]] = 1
    return out


def as_dag(parents, nodes):
    return DAG(nodes, [(nodes[x], nodes[y]) for y, x in np.argwhere(parents)])


def reach_of(parents):
    graph = nx.DiGraph([(x, y) for y, x in np.argwhere(parents).tolist()])
    graph.add_nodes_from(range(len(parents)))
    out = np.eye(len(parents), dtype=np.uint8)
    for a in graph:
        out[a, list(nx.descendants(graph, a))] = 1
    return out


def is_acyclic(parents):
    return nx.is_directed_acyclic_graph(nx.DiGraph(np.asarray(parents).T))


# Classes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_completing_and_extending_every_small_dag(n):
    for dag in all_dags(n):
        pdag = complete(matrix(dag))
        assert pdag.tolist() == matrix(completed_pdag(dag)).tolist()
        possible, parents = extend(pdag)
        assert possible
        assert equivalent(as_dag(parents, dag.nodes), dag)


@given(dags(max_nodes=9))
@settings(max_examples=60, deadline=None)
def test_completing_and_extending_larger_dags(dag):
    pdag = complete(matrix(dag))
    assert pdag.tolist() == matrix(completed_pdag(dag)).tolist()
    possible, parents = extend(pdag)
    assert possible
    assert equivalent(as_dag(parents, dag.nodes), dag)


@given(dags(min_nodes=2, max_nodes=6), st.integers(0, 10**6))
@settings(max_examples=100, deadline=None)
def test_a_move_is_taken_over_as_if_the_graph_were_new(dag, seed):
    before = complete(matrix(dag))
    y, x = np.random.default_rng(seed).permutation(len(before))[:2].tolist()
    pdag, joined = before.copy(), before[y, x] or before[x, y]
    pdag[x, y], pdag[y, x] = 0, not joined
    possible, parents = extend(pdag)
    found = pdag.copy()
    done, member, lists, after, changed, lost = moved(found, entries(before), y, x)
    assert done == possible
    if not possible:
        assert found.tolist() == pdag.tolist()
        return
    expected = complete(parents)
    assert matrix_of(member).tolist() == parents.tolist()
    assert found.tolist() == matrix_of(lists).tolist() == expected.tolist()
    assert matrix_of(after).tolist() == expected.T.tolist()
    near = (expected & expected.T)[[x, y]].any(axis=0)
    near[[x, y]] = True
    differs = before != expected
    assert (changed > 0).tolist() == (near | differs.any(axis=0) | differs.any(axis=1)).tolist()
    assert (lost > 0).tolist() == (before > expected).any(axis=1).tolist()


def test_extending_every_marking_of_a_square_with_a_diagonal():
    """Some of them have no extension; the plain twin knows which."""
    refused = 0
    for pdag in markings_of_a_square():
        possible, parents = extend(matrix(pdag))
        try:
            plain = consistent_extension(pdag)
        except ModelError:
            refused += 1
            assert not possible
            continue
        assert possible
        dag = as_dag(parents, pdag.nodes)
        assert equivalent(dag, plain)
        assert set(pdag.arcs) <= set(dag.arcs)
    assert refused > 10


# Moves -----------------------------------------------------------------------------------------


@given(dags(max_nodes=8))
@settings(max_examples=60, deadline=None)
def test_who_reaches_whom(dag):
    parents = matrix(dag)
    reach = np.full_like(parents, 9)
    recompute_reach(parents, reach)
    assert reach.tolist() == reach_of(parents).tolist()
    step, so_far = np.eye(len(parents), dtype=np.uint8), np.zeros_like(parents)
    for x, y in dag.arcs:
        link(step, dag.position(x), dag.position(y))
        so_far[dag.position(y), dag.position(x)] = 1
        assert step.tolist() == reach_of(so_far).tolist()


@given(dags(min_nodes=2, max_nodes=7))
@settings(max_examples=60, deadline=None)
def test_reversible_arcs(dag):
    parents = matrix(dag)
    for y, x in np.argwhere(parents).tolist():
        turned = parents.copy()
        turned[y, x], turned[x, y] = 0, 1
        assert reversible(parents, reach_of(parents), x, y) == is_acyclic(turned)


def all_moves(parents, allowed, required, most):
    """Every legal move with the graph it leads to, by trying."""
    n = len(parents)
    for y, x in product(range(n), repeat=2):
        for kind, there, back in ((ADD, 1, 0), (DELETE, 0, 0), (REVERSE, 0, 1)):
            if x == y or bool(parents[y, x]) == (kind == ADD) or (parents[x, y] and kind == ADD):
                continue
            after = parents.copy()
            after[y, x] = there
            after[x, y] = back
            new = (after > 0) & (parents == 0)
            legal = (
                is_acyclic(after)
                and not (new & ~allowed).any()
                and not (required & (after == 0)).any()
                and all(after[v].sum() <= most[v] for v in range(n) if new[v].any())
            )
            if legal:
                yield (kind, x, y), after


@given(dags(min_nodes=1, max_nodes=6), st.integers(0, 10**6), st.booleans(), st.booleans())
@settings(max_examples=120, deadline=None)
def test_best_move_by_trying_all(dag, seed, limited, with_tabu):
    parents, n = matrix(dag), len(dag.nodes)
    random = np.random.default_rng(seed)
    toggles = random.normal(size=(n, n))
    codes = random.integers(1, 2**62, size=(n, n), dtype=np.int64)
    allowed, required = np.ones((n, n), bool), np.zeros((n, n), bool)
    most = np.full(n, n)
    if limited:
        allowed = random.random((n, n)) < 0.7
        required = (random.random((n, n)) < 0.3) & (parents > 0)
        most = parents.sum(axis=1) + random.integers(0, 2, n)

    def key(graph):
        return int(np.bitwise_xor.reduce(codes[graph > 0], initial=0))

    options = list(all_moves(parents, allowed, required, most))
    keys = [key(after) for _, after in options]
    tabu = np.array(keys[::2], np.int64) if with_tabu else NO_TABU
    gains = {}
    for (move, _), where in zip(options, keys, strict=True):
        kind, x, y = move
        if where not in tabu:
            gains[move] = toggles[y, x] + (toggles[x, y] if kind == REVERSE else 0.0)
    room = most - parents.sum(axis=1)
    bounds = np.full(n, np.inf)
    kind, x, y, gain = best_move(
        toggles, parents, reach_of(parents), allowed, required, room, codes, key(parents), tabu,
        bounds, 1e-9,
    )  # fmt: skip
    for (_, a, b), worth in gains.items():
        assert worth <= bounds[b], (a, b)
    if not gains:
        assert kind == NOTHING
        return
    assert gain == max(gains.values())
    assert gains[kind, x, y] == gain


@given(dags(min_nodes=2, max_nodes=6), st.integers(0, 10**6))
@settings(max_examples=80, deadline=None)
def test_legal_moves_by_trying_all(dag, seed):
    parents, n = matrix(dag), len(dag.nodes)
    random = np.random.default_rng(seed)
    allowed, nothing = random.random((n, n)) < 0.7, np.zeros((n, n), bool)
    room, reach = random.integers(0, 2, n), reach_of(parents)
    legal = {move for move, _ in all_moves(parents, allowed, nothing, parents.sum(axis=1) + room)}
    for x in range(n):
        for y in range(n):
            if parents[y, x]:
                turns = may_reverse(parents, reach, allowed, room, x, y)
                assert bool(turns) == ((REVERSE, x, y) in legal)
            else:
                assert bool(may_add(reach, allowed, room, x, y)) == ((ADD, x, y) in legal)


def test_the_first_of_equal_moves_wins():
    parents = np.zeros((3, 3), np.uint8)
    toggles = np.full((3, 3), 1.0)
    toggles[2, 1] += 1e-12
    everything, nothing = np.ones((3, 3), bool), np.zeros((3, 3), bool)
    found = best_move(
        toggles, parents, np.eye(3, dtype=np.uint8), everything, nothing, np.full(3, 3),
        np.zeros((3, 3), np.int64), 0, NO_TABU, np.full(3, np.inf), 1e-9,
    )  # fmt: skip
    assert found[:3] == (ADD, 1, 0)


def test_helpful_inserts_by_definition(random_seed):
    generator = np.random.default_rng(random_seed)
    for _ in range(50):
        n, y = 7, 2
        adjacent = generator.random((n, n)) < 0.3
        adjacent |= adjacent.T
        around = np.flatnonzero(adjacent[y] & (generator.random(n) < 0.7) & (np.arange(n) != y))
        blocked = np.zeros((3, n), np.uint8)
        for row in blocked:
            row[around[generator.random(around.size) < 0.5]] = 1
        gains = generator.normal(size=(3, n))
        expected = [
            (i, x, gains[i, x])
            for i, x in product(range(3), range(n))
            if gains[i, x] > 0.1
            and not adjacent[y, x]
            and all(blocked[i, v] for v in around if adjacent[v, x])
        ]
        expected.sort(key=lambda option: -option[2])
        found = helpful_inserts(gains, 0.1, blocked, adjacent, around, y)
        assert list(zip(*[column.tolist() for column in found], strict=True)) == expected


def test_the_first_valid_insert_is_the_first_that_no_path_reaches_past_its_clique(random_seed):
    generator = np.random.default_rng(random_seed)
    for _ in range(50):
        n = 7
        pdag = (generator.random((n, n)) < 0.25).astype(np.uint8)
        np.fill_diagonal(pdag, 0)
        blocked = (generator.random((3, n)) < 0.3).astype(np.uint8)
        blocked[:, 0] = 0
        xs, which = generator.integers(1, n, size=8), generator.integers(3, size=8)
        keep = blocked[which, xs] == 0
        xs, which = xs[keep], which[keep]
        valid = []
        for x, clique in zip(xs, blocked[which], strict=True):
            open_nodes = np.flatnonzero(clique == 0)
            graph = nx.DiGraph([(v, w) for w, v in np.argwhere(pdag)])
            graph.add_nodes_from(range(n))
            valid.append(not nx.has_path(graph.subgraph(open_nodes), 0, x))
        expected = valid.index(True) if any(valid) else len(xs)
        after = transposed(entries(pdag))
        witness = np.zeros((n, n), np.uint8)
        assert first_valid_insert(after, 0, xs, which, blocked, 0, witness) == expected
        for start in range(expected):
            assert first_valid_insert(after, 0, xs, which, blocked, start, witness) == expected
        # The witnesses alone, with any other one taken away, still make the same ones invalid.
        pdag[witness[:, 0] == 0] = 0
        after = transposed(entries(pdag))
        assert first_valid_insert(after, 0, xs, which, blocked, 0, witness) >= expected


def test_lists_of_entries_and_where_they_differ(random_seed):
    generator = np.random.default_rng(random_seed)
    for n in (1, 2, 3, 5, 8, 9, 17):
        for density in (0.0, 0.1, 0.9):
            one, other = ((generator.random((n, n)) < density).astype(np.uint8) for _ in range(2))
            other[::2] = one[::2]
            lists, turned = entries(one), transposed(entries(one))
            for v in range(n):
                assert lists.members[lists.first[v] : lists.first[v + 1]].tolist() == (
                    np.flatnonzero(one[v]).tolist()
                )
                assert turned.members[turned.first[v] : turned.first[v + 1]].tolist() == (
                    np.flatnonzero(one[:, v]).tolist()
                )
            differs = one != other
            expected = differs.any(axis=0) | differs.any(axis=1)
            changed, lost = differing(lists, entries(other))
            assert changed.tolist() == expected.tolist()
            assert lost.tolist() == (one > other).any(axis=1).tolist()
            assert matrix_of(lists).tolist() == one.tolist()
            x, y = generator.integers(n, size=2)
            other &= one
            other[y, x] = generator.integers(2)
            fewer = revised(lists, other, y, x)
            assert matrix_of(fewer).tolist() == other.tolist()
            assert [a.tolist() for a in fewer] == [a.tolist() for a in entries(other)]
            redraw(other, lists, turned, y, x)
            assert other.tolist() == one.T.tolist()
