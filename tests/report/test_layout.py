"""Layouts: everything is placed, in order, apart, the same every time."""

from itertools import combinations

import numpy as np
import pytest

from unveil.graph import DAG, random_dag
from unveil.report.crossings import count_crossings, reduce_crossings
from unveil.report.curves import arc_curve, arrowhead
from unveil.report.layering import folded, layers_of
from unveil.report.layout import _cut, layout
from unveil.report.placement import spread


def graph(seed: int, n_nodes: int = 25, density: float = 2.0) -> DAG:
    generator = np.random.default_rng(seed)
    names = [f"node {i}" for i in range(n_nodes)]
    n_arcs = int(density * n_nodes)
    pairs = generator.integers(0, n_nodes, (n_arcs, 2))
    return DAG(names, {(names[min(p)], names[max(p)]) for p in pairs.tolist() if p[0] != p[1]})


GRAPHS = [graph(seed, density=d) for seed in range(6) for d in (0.5, 1.2, 3.0)]


@pytest.mark.parametrize("dag", GRAPHS)
def test_every_node_and_arc_is_placed_on_the_page(dag):
    found = layout(dag)
    assert tuple(found.boxes) == dag.nodes
    assert tuple(found.arcs) == dag.arcs
    for box in found.boxes.values():
        assert box.left + 1e-9 >= 0
        assert box.left + box.width <= found.width + 1e-9
        assert box.top >= 0
        assert box.top + box.height <= found.height + 1e-9


@pytest.mark.parametrize("dag", GRAPHS)
def test_parents_are_above_children(dag):
    boxes = layout(dag).boxes
    assert all(boxes[p].y + boxes[p].height < boxes[c].y for p, c in dag.arcs)


@pytest.mark.parametrize("dag", GRAPHS)
def test_no_two_boxes_overlap_whatever_their_widths(dag):
    widths = {name: 20.0 + 17 * (i % 7) for i, name in enumerate(dag.nodes)}
    for a, b in combinations(layout(dag, widths).boxes.values(), 2):
        apart_x = abs(a.x - b.x) - (a.width + b.width) / 2
        apart_y = abs(a.y - b.y) - (a.height + b.height) / 2
        assert max(apart_x, apart_y) > 5


@pytest.mark.parametrize("dag", GRAPHS)
def test_arcs_join_their_boxes_and_miss_the_others(dag):
    found = layout(dag)
    for (parent, child), points in found.arcs.items():
        top, bottom = found.boxes[parent], found.boxes[child]
        assert points[0][1] == pytest.approx(top.top + top.height)
        assert points[-1][1] == pytest.approx(bottom.top)
        assert abs(points[0][0] - top.x) <= top.width / 2
        assert abs(points[-1][0] - bottom.x) <= bottom.width / 2
        for x, y in _along(points):
            for name, box in found.boxes.items():
                inside = abs(x - box.x) < box.width / 2 - 1 and abs(y - box.y) < box.height / 2 - 1
                assert not inside, (parent, child, name)


def _along(points):
    for i in range(0, len(points) - 1, 3):
        a, b, c, d = map(np.array, points[i : i + 4])
        for t in np.linspace(0, 1, 15):
            yield (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t**2 * c + t**3 * d


def test_the_same_graph_gives_the_same_layout():
    assert layout(graph(3)) == layout(graph(3))


@pytest.mark.parametrize("dag", GRAPHS)
def test_crossings_never_grow(dag):
    cut = _cut(dag.parent_positions, layers_of(dag.parent_positions))
    better = reduce_crossings(cut.layers, cut.up, cut.down)
    assert [sorted(x) for x in better] == [sorted(x) for x in cut.layers]
    assert count_crossings(better, cut.down) <= count_crossings(cut.layers, cut.down)


def test_crossings_are_counted_as_by_hand():
    generator = np.random.default_rng(0)
    for _ in range(20):
        ends = [(int(a), int(b)) for a, b in generator.integers(0, 6, (9, 2))]
        down = [[6 + b for a, b in ends if a == i] for i in range(6)] + [[]] * 6
        slow = sum((a - c) * (b - d) < 0 for (a, b), (c, d) in combinations(ends, 2))
        assert count_crossings([range(6), range(6, 12)], down) == slow


def test_a_tree_is_drawn_without_crossings():
    names = [str(i) for i in range(40)]
    shuffled = np.random.default_rng(1).permutation(40)
    tree = DAG(names, [(names[shuffled[(i - 1) // 2]], names[shuffled[i]]) for i in range(1, 40)])
    assert layout(tree).crossings == 0


def test_layers_have_the_least_total_length():
    # By enumeration: all assignments of three layers to five nodes.
    parents = [[], [0], [], [1, 2], [0, 2]]
    arcs = [(p, c) for c, own in enumerate(parents) for p in own]
    legal = [
        sum(depth[c] - depth[p] for p, c in arcs)
        for depth in np.ndindex(*[4] * 5)
        if all(depth[c] > depth[p] for p, c in arcs)
    ]
    found = layers_of(parents)
    assert sum(found[c] - found[p] for p, c in arcs) == min(legal)


def test_folding_keeps_parents_above_children():
    dag = graph(2, 40)
    depth = folded(layers_of(dag.parent_positions), dag.parent_positions, [100.0] * 40, 250)
    assert all(depth[p] < depth[c] for c, own in enumerate(dag.parent_positions) for p in own)
    assert max(np.bincount(depth)) <= 3


def test_spread_is_the_least_squares_answer():
    from scipy.optimize import minimize

    generator = np.random.default_rng(5)
    wanted, weights = generator.normal(0, 3, 6), generator.uniform(0.5, 2, 6)
    apart = generator.uniform(0.5, 2, 5)
    limits = [{"type": "ineq", "fun": lambda x, i=i: x[i + 1] - x[i] - apart[i]} for i in range(5)]
    best = minimize(
        lambda x: weights @ (x - wanted) ** 2, np.arange(6) * 3.0, constraints=limits, tol=1e-12
    )
    assert spread(wanted, weights, apart) == pytest.approx(best.x, abs=1e-4)


def test_an_empty_graph_has_no_size():
    found = layout(DAG([]))
    assert (found.width, found.height, dict(found.boxes)) == (0, 0, {})


def test_a_single_node_fills_its_page():
    found = layout(DAG(["A"]), {"A": 50})
    assert (found.width, found.height) == (50, 30)


def test_nodes_without_arcs_are_packed_in_rows():
    found = layout(DAG([str(i) for i in range(60)]))
    assert found.height > 100
    assert found.width < 1200


def test_large_graphs_are_laid_out():
    dag = graph(0, 500, 1.5)
    assert len(layout(dag).boxes) == 500


def test_an_arrowhead_ends_where_the_curve_did():
    points = arc_curve((0, 0), (40, 60))
    shaft, head = arrowhead(points, 8, 6)
    assert head[0] == points[-1]
    assert np.hypot(*np.subtract(head[0], shaft[-1])) == pytest.approx(8)
    assert np.hypot(*np.subtract(head[1], head[2])) == pytest.approx(6)


def test_random_dags_of_the_library_can_be_laid_out():
    assert layout(random_dag(12, seed=1)).boxes
