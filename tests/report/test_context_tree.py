"""Drawings of trees: valid, escaped, a leaf for each row."""

import xml.etree.ElementTree as ElementTree

import numpy as np

from unveil import Variable
from unveil.model import Split, TreeCPD
from unveil.report import context_tree

SVG = "{http://www.w3.org/2000/svg}"
X, A, B = Variable("x", ["<i>", "&"]), Variable('a"<', ["u", "v", "w"]), Variable("b", [0, 1])
TREE = Split(0, (((0, 2), 0), ((1,), Split(1, (((0,), 1), ((1,), 2))))))
CPD = TreeCPD(X, [A, B], TREE, [[0.2, 0.8], [1.0, 0.0], [0.5, 0.5]])


def test_names_and_states_are_text():
    root = ElementTree.fromstring(context_tree(CPD))
    texts = [e.text for e in root.iter(f"{SVG}text")]
    assert texts.count('a"<') == 1
    assert {"u, w", "v", "b", "0", "1"} <= set(texts)
    assert "& 0.80" in texts
    assert len(list(root.iter(f"{SVG}rect"))) == 6


def test_everything_lies_inside():
    root = ElementTree.fromstring(context_tree(CPD))
    width, height = map(float, root.get("viewBox").split()[2:])
    for rect in root.iter(f"{SVG}rect"):
        x, y, w, h = (float(rect.get(k)) for k in ("x", "y", "width", "height"))
        assert 0 <= x <= x + w <= width
        assert 0 <= y <= y + h <= height


def test_a_leaf_alone_and_a_thicket():
    assert context_tree(TreeCPD(X, [B], 0, [[0.5, 0.5]])).startswith("<svg")
    many = Variable("m", range(70))
    tree = Split(0, tuple(((s,), s) for s in range(70)))
    assert context_tree(TreeCPD(X, [many], tree, np.full((70, 2), 0.5))) == ""
