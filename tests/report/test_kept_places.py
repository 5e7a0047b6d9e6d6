"""A changed graph with its nodes where they were."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil import DAG
from unveil.graph.random import random_dag
from unveil.report.kept_places import keep_places
from unveil.report.layout import layout


def places_of(found):
    return {name: (box.x, box.y) for name, box in found.boxes.items()}


def overlaps(found):
    boxes = list(found.boxes.values())
    return [
        (a, b)
        for i, a in enumerate(boxes)
        for b in boxes[:i]
        if abs(a.x - b.x) < (a.width + b.width) / 2 - 1e-9
        and abs(a.y - b.y) < (a.height + b.height) / 2 - 1e-9
    ]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 12))
def test_known_nodes_stay_and_new_ones_cover_nobody(seed, n):
    rng = np.random.default_rng(seed)
    names = [f"x{i}" for i in range(n + 2)]
    old = layout(random_dag(names[:n], arc_probability=0.3, seed=rng), height=60.0)
    new = keep_places(random_dag(names, arc_probability=0.3, seed=rng), places_of(old), height=60.0)
    shift = {
        (round(new.boxes[m].x - old.boxes[m].x, 6), round(new.boxes[m].y - old.boxes[m].y, 6))
        for m in names[:n]
    }
    assert len(shift) == 1  # all by the same, where the page had to grow
    assert not overlaps(new)
    assert min(box.left for box in new.boxes.values()) > -1e-6
    assert max(box.x + box.width / 2 for box in new.boxes.values()) <= new.width + 1e-6


def test_without_places_it_is_a_fresh_layout():
    dag = DAG(["A", "B"], [("A", "B")])
    assert keep_places(dag, {}).boxes == layout(dag).boxes


@pytest.mark.parametrize("place", [(0.0, 200.0), (0.0, -200.0), (300.0, 0.0), (-300.0, 0.0)])
def test_curves_lead_from_edge_to_edge(place):
    dag = DAG(["A", "B"], [("A", "B")])
    found = keep_places(dag, {"A": (0.0, 0.0), "B": place})
    start, *_, end = found.arcs["A", "B"]
    for point, box in ((start, found.boxes["A"]), (end, found.boxes["B"])):
        dx, dy = abs(point[0] - box.x) - box.width / 2, abs(point[1] - box.y) - box.height / 2
        assert max(dx, dy) == pytest.approx(0.0)


def test_tall_boxes_stay_apart():
    dag = DAG(["A", "B", "C"], [("A", "B"), ("A", "C")])
    found = layout(dag, height=120.0)
    assert found.boxes["B"].top - (found.boxes["A"].top + 120.0) > 20
    assert not overlaps(found)


def test_a_graph_that_did_not_change_is_drawn_as_it_was():
    dag = DAG(list("ABCD"), [("A", "B"), ("B", "C"), ("A", "C"), ("C", "D"), ("A", "D")])
    fresh = layout(dag)
    places = {name: (box.x, box.y) for name, box in fresh.boxes.items()}
    assert keep_places(dag, places).arcs == fresh.arcs
