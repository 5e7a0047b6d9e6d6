"""The exact text of a small network, so that a change of layout does not slip in."""

from pathlib import Path

import pytest

from unveil import Network, TableCPD, Variable
from unveil.formats import dumps, loads

A = Variable("A", ["a0", "a1"])
B = Variable("B", [0, 1, 2], hidden=True)
C = Variable("C c", ["no", "yes"])
ROWS = [[[1, 0], [0.5, 0.5], [0.25, 0.75]], [[0, 1], [0.1, 0.9], [0.75, 0.25]]]
NETWORK = Network(
    [TableCPD(A, [], [0.25, 0.75]), TableCPD(B, [], [0.5, 0.2, 0.3]), TableCPD(C, [A, B], ROWS)],
    "demo",
)

JSON = """{
 "format": "unveil-network",
 "version": 1,
 "name": "demo",
 "description": "",
 "variables": [
  {"name": "A", "kind": "discrete", "states": ["a0", "a1"], "hidden": false},
  {"name": "B", "kind": "discrete", "states": [0, 1, 2], "hidden": true},
  {"name": "C c", "kind": "discrete", "states": ["no", "yes"], "hidden": false}
 ],
 "cpds": [
  {"variable": "A", "parents": [], "kind": "table", "values": [
    [0.25, 0.75]
   ]},
  {"variable": "B", "parents": [], "kind": "table", "values": [
    [0.5, 0.2, 0.3]
   ]},
  {"variable": "C c", "parents": ["A", "B"], "kind": "table", "values": [
    [1.0, 0.0],
    [0.5, 0.5],
    [0.25, 0.75],
    [0.0, 1.0],
    [0.1, 0.9],
    [0.75, 0.25]
   ]}
 ]
}
"""
BIF = """network demo {
}
variable A {
  type discrete [ 2 ] { a0, a1 };
}
variable B {
  type discrete [ 3 ] { 0, 1, 2 };
  // unveil: {"states": [0, 1, 2], "hidden": true}
}
variable C_c {
  type discrete [ 2 ] { no, yes };
  // unveil: {"name": "C c"}
}
probability ( A ) {
  table 0.25, 0.75;
}
probability ( B ) {
  table 0.5, 0.2, 0.3;
}
probability ( C_c | A, B ) {
  (a0, 0) 1.0, 0.0;
  (a0, 1) 0.5, 0.5;
  (a0, 2) 0.25, 0.75;
  (a1, 0) 0.0, 1.0;
  (a1, 1) 0.1, 0.9;
  (a1, 2) 0.75, 0.25;
}
"""
NET = """potential ( C_c | A B )
{
  data = (((1.0 0.0)
   (0.5 0.5)
   (0.25 0.75))
   ((0.0 1.0)
   (0.1 0.9)
   (0.75 0.25)));
}
"""
XMLBIF = """  <FOR>C c</FOR>
  <GIVEN>A</GIVEN>
  <GIVEN>B</GIVEN>
  <TABLE>
1.0 0.0
0.5 0.5
0.25 0.75
0.0 1.0
0.1 0.9
0.75 0.25
  </TABLE>
"""
XDSL = """    <cpt id="C_c">
      <state id="no" />
      <state id="yes" />
      <parents>A B</parents>
      <probabilities>1.0 0.0 0.5 0.5 0.25 0.75 0.0 1.0 0.1 0.9 0.75 0.25</probabilities>
      <property id="unveil">{"name": "C c"}</property>
    </cpt>
"""
UAI = """BAYES
3
2 3 2
3
1 0
1 1
3 0 1 2

2
0.25 0.75

3
0.5 0.2 0.3

12
1.0 0.0
0.5 0.5
0.25 0.75
0.0 1.0
0.1 0.9
0.75 0.25
"""


@pytest.mark.parametrize(("format", "text"), [("json", JSON), ("bif", BIF), ("uai", UAI)])
def test_whole_texts(format, text):
    assert dumps(NETWORK, format) == text


@pytest.mark.parametrize(("format", "part"), [("net", NET), ("xmlbif", XMLBIF), ("xdsl", XDSL)])
def test_the_family_with_two_parents(format, part):
    assert part in dumps(NETWORK, format)


def test_the_example_in_the_docs_is_what_is_written():
    page = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
    example = page.split("```json\n")[1].split("```")[0]
    assert dumps(loads(example, "json"), "json") == example
