"""The picture of a graph."""

import pytest

from unveil import Network, TableCPD, Variable
from unveil.errors import FormatError
from unveil.formats import dumps, loads, save


def test_quoting_arcs_and_hidden_look(tmp_path):
    a, b = Variable('a "b"\\', ["x", "y"]), Variable("two\nlines", ["x", "y"], hidden=True)
    network = Network(
        [TableCPD(a, [], [0.5, 0.5]), TableCPD(b, [a], [[0.5, 0.5], [0.5, 0.5]])], "my net"
    )
    assert dumps(network, "dot") == (
        'digraph "my net" {\n'
        "  rankdir=TB;\n"
        "  node [shape=ellipse];\n"
        '  "a \\"b\\"\\\\";\n'
        '  "two\\nlines" [style="dashed,filled", fillcolor="grey90"];\n'
        '  "a \\"b\\"\\\\" -> "two\\nlines";\n'
        "}\n"
    )
    save(network, tmp_path / "x.gv", direction="LR")
    assert "rankdir=LR" in (tmp_path / "x.gv").read_text()
    with pytest.raises(ValueError, match="TB, LR, BT or RL, not 'up'"):
        dumps(network, "dot", direction="up")
    with pytest.raises(FormatError, match="can only be written"):
        loads(dumps(network, "dot"), "dot")
