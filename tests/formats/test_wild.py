"""Files as other programs and people write them."""

import numpy as np
import pytest

from unveil.errors import UnveilWarning
from unveil.formats import load, loads

SLOPPY_BIF = """
// the dog problem, as JavaBayes writes it, and worse
network "Dog-Problem" { property version = 1.1; property "author; someone" ; }
variable "family-out" {  // two values
  type discrete[2] { "true" "false" };
  property "position = (112, 69)" ;
}
/* probability ( nothing ) { } */
probability ( "family-out" ) { table 0.15 0.85 }
variable dog.out { type discrete [ 3 ] { <5, 5-10%, >10/day, } }
variable "light on" { property x; type discrete [2] {on, off}; }
probability ( "light on" "family-out" ) { table 0.6 0.05 0.4 0.95 ; }
probability ( dog.out | "family-out", "light on" ) {
  default 2e-1, 3.0E-1, .5,;
  (false, off) 1, 0, 0;
  (true on) 0 1 0
  ("true", "off") 0,0,1;
}
"""


def test_sloppy_bif():
    network = loads(SLOPPY_BIF, "bif")
    assert network.name == "Dog-Problem"
    assert network.names == ("family-out", "dog.out", "light on")
    assert network.variable("dog.out").states == ("<5", "5-10%", ">10/day")
    dog = network.cpd("dog.out")
    assert [p.name for p in dog.parents] == ["family-out", "light on"]
    np.testing.assert_allclose(dog.values, [[[0, 1, 0], [0, 0, 1]], [[0.2, 0.3, 0.5], [1, 0, 0]]])


@pytest.mark.parametrize(
    ("listed", "states"),
    [
        ("a, b", ("a", "b")),
        ("a b", ("a", "b")),
        ('"a" "b"', ("a", "b")),
        ('"a, b" "c d"', ("a, b", "c d")),
        ("very low, high (ish)", ("very low", "high (ish)")),
        ("<=-1.5,+1e3,", ("<=-1.5", "+1e3")),
    ],
)
def test_how_people_list_states_in_bif(listed, states):
    text = f"variable x {{ type discrete[2] {{ {listed} }} }} probability (x) {{ table 0 1 }}"
    assert loads(text, "bif").variable("x").states == states


def test_a_bif_table_lists_the_own_state_slowest():
    """The dog problem: P(light on | family out) is 0.6, without the family 0.05."""
    np.testing.assert_allclose(
        loads(SLOPPY_BIF, "bif").cpd("light on").values, [[0.6, 0.4], [0.05, 0.95]]
    )


def test_a_bif_table_in_the_other_order_is_recognised_by_its_sums():
    text = SLOPPY_BIF.replace("0.6 0.05 0.4 0.95", "0.6 0.4 0.05 0.95")
    with pytest.warns(UnveilWarning, match="'light on' lists its own states fastest"):
        network = loads(text, "bif")
    np.testing.assert_allclose(network.cpd("light on").values, [[0.6, 0.4], [0.05, 0.95]])


XMLBIF = """<?xml version="1.0"?>
<!DOCTYPE BIF [
  <!ELEMENT BIF ( NETWORK )*>
  <!ATTLIST BIF VERSION CDATA #REQUIRED>
]>
<BIF VERSION="0.3" xmlns="http://www.cs.ubc.ca/labs/lci/fopi/ve/XMLBIFv0_3">
<NETWORK>
<NAME>Dogs &amp; lights</NAME>
<!-- a comment -->
<VARIABLE TYPE="nature"><NAME> out </NAME><OUTCOME>true</OUTCOME><OUTCOME>false</OUTCOME>
  <PROPERTY>position = (154.0, 10.0)</PROPERTY></VARIABLE>
<VARIABLE TYPE="nature"><NAME>on</NAME><OUTCOME>&lt;1</OUTCOME><OUTCOME>1</OUTCOME></VARIABLE>
<VARIABLE><NAME>bark</NAME><OUTCOME>y</OUTCOME><OUTCOME>n</OUTCOME><OUTCOME>?</OUTCOME></VARIABLE>
<DEFINITION><FOR>bark</FOR><GIVEN>out</GIVEN><GIVEN>on</GIVEN><TABLE>
  <!-- one row each --> 1 0 0
  0 1 0  0 0 1  0.25 0.25 5.0E-1
</TABLE></DEFINITION>
<DEFINITION><FOR>out</FOR><TABLE>0.15 0.85</TABLE></DEFINITION>
<DEFINITION><FOR>on</FOR><TABLE>0.5 0.5</TABLE></DEFINITION>
</NETWORK>
</BIF>"""


def test_xmlbif_with_document_type_and_namespace():
    network = loads(XMLBIF, "xmlbif")
    assert network.name == "Dogs & lights"
    assert network.variable("on").states == ("<1", "1")
    assert network.cpd("bark").values[1, 1].tolist() == [0.25, 0.25, 0.5]
    assert network.cpd("bark").values[0, 1].tolist() == [0, 1, 0]


NET = """
% Hugin
net { node_size = (80 40); HR_Desc = "a { brace } and a ; in text"; name = "Rain % it"; }
node Rain { label = "Rain?"; position = (0 0); states = ("no" "yes; a lot"); HR_State_0 = ""; }
discrete node Grass { states = (dry wet soaked); subtype = label; }
node Idle { states = ("a" "b"); }
potential (Rain) { data = ( 0.8 0.2 ); }
potential ( Grass | Rain Idle )
{ data = ((( 1 0 0 ) % Rain=no Idle=a
           ( 0 1 0 )) (( 0 0 1 ) ( .25 .25 .5 ))); }
potential (Idle) { }
"""


@pytest.mark.parametrize("wrapped", [False, True])
def test_hugin_net_old_style_and_in_a_class(wrapped):
    text = NET
    if wrapped:
        body = NET.split("node Rain", 1)[1]
        text = f"class Weather {{ inputs = (); outputs = (Rain);\nnode Rain{body}}}\n"
    network = loads(text, "net")
    assert network.name == ("Weather" if wrapped else "Rain % it")
    assert network.variable("Rain").states == ("no", "yes; a lot")
    assert network.variable("Grass").states == ("dry", "wet", "soaked")
    assert network.cpd("Grass").values[1].tolist() == [[0, 0, 1], [0.25, 0.25, 0.5]]
    assert network.cpd("Idle").values.tolist() == [0.5, 0.5]


XDSL = """<?xml version="1.0" encoding="ISO-8859-1"?>
<smile version="1.0" id="Demo" numsamples="1000" discsamples="10000">
 <nodes>
  <cpt id="Success" diagtype="observation" ranked="true">
   <state id="Yes" fault="true" label="oui" /><state id="No" />
   <probabilities>0.2 0.8</probabilities>
   <property id="cost">3</property>
  </cpt>
  <submodel id="inner">
   <deterministic id="Report"><state id="Good" /><state id="Bad" />
    <parents>Success Luck</parents><resultingstates>Good Good Good Bad</resultingstates>
   </deterministic>
  </submodel>
  <cpt id="Luck"><state id="Up" /><state id="Down" /><probabilities>0.5 0.5</probabilities></cpt>
 </nodes>
 <extensions><genie version="1.0" app="GeNIe 2.1" name="D\xe9mo"><node id="Luck"><name>Luck</name>
 </node></genie></extensions>
</smile>"""


def test_genie_with_deterministic_nodes_submodels_and_latin_letters(tmp_path):
    path = tmp_path / "demo.xdsl"
    path.write_bytes(XDSL.encode("latin-1"))
    network = load(path)
    assert network.name == "Demo"
    assert network.cpd("Report").values.tolist() == [[[1, 0], [1, 0]], [[1, 0], [0, 1]]]


def test_uai_example_of_the_competition():
    """The two-parent layout of the UAI definition: the last variable of the scope is fastest."""
    text = """BAYES
    3
    2 2 3
    3
    1 0
    2 0 1
    2 1 2

    2
     0.436 0.564

    4
     0.128 0.872
     0.920 0.080

    6
     0.210 0.333 0.457
     0.811 0.000 0.189
    """
    network = loads(text, "uai")
    assert network.names == ("x0", "x1", "x2")
    assert network.variable("x2").states == (0, 1, 2)
    assert network.cpd("x2").parents[0].name == "x1"
    np.testing.assert_allclose(network.cpd("x2").values[1], [0.811, 0, 0.189])


def test_text_that_is_not_utf8_is_read_as_latin1_with_a_warning(tmp_path):
    path = tmp_path / "x.bif"
    path.write_bytes(
        "variable x { type discrete [1] {\xe6} } probability(x) {table 1;}".encode("latin-1")
    )
    with pytest.warns(UnveilWarning, match="not UTF-8"):
        network = load(path)
    assert network.variable("x").states == ("æ",)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_byte_order_marks(tmp_path, encoding):
    path = tmp_path / "x.net"
    path.write_text(NET, encoding=encoding)
    assert load(path).names == ("Rain", "Grass", "Idle")


def test_a_stale_note_gives_way_to_what_the_file_says():
    text = (
        "variable x { type discrete [2] {low, high};"
        ' // unveil: {"states": [1, 2], "hidden": true}\n}'
        "probability (x) { table 0.5 0.5; }"
    )
    with pytest.warns(UnveilWarning, match="no longer fits the states low, high"):
        network = loads(text, "bif")
    assert network.variable("x").states == ("low", "high")
    assert network.hidden == ("x",)


def test_a_damaged_note_is_ignored_with_a_warning():
    text = "variable x { type discrete [1] {a}; // unveil: {oops\n} probability (x) { table 1; }"
    with pytest.warns(UnveilWarning, match="note '{oops' is damaged"):
        loads(text, "bif")


def test_small_rounding_is_rescaled_with_a_warning():
    text = "variable x { type discrete [3] {a, b, c}; } probability (x) { table .333 .333 .333; }"
    with pytest.warns(UnveilWarning, match="did not sum to 1"):
        network = loads(text, "bif")
    np.testing.assert_allclose(network.cpd("x").values, 1 / 3)


def test_unknown_json_keys_are_ignored_with_a_warning():
    text = """{"format": "unveil-network", "version": 1, "colour": "red",
      "variables": [{"name": "x", "states": [1]}],
      "cpds": [{"variable": "x", "parents": [], "kind": "table", "values": [[1]]}]}"""
    with pytest.warns(UnveilWarning, match="unknown key 'colour' was ignored"):
        network = loads(text, "json")
    assert network.variable("x").states == (1,)
