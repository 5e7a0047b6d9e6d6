"""Broken files are refused with a sentence that says where, what was expected and what came."""

import gzip
import json

import pytest

from unveil.errors import CycleError, FormatError, ModelError, SizeError
from unveil.formats import load, loads, save

from .networks import plain_network

BIF = """variable A { type discrete [2] { a0, a1 }; }
variable B { type discrete [2] { b0, b1 }; }
probability ( A ) { table 0.5, 0.5; }
probability ( B | A ) {
  (a0) 0.1, 0.9;
  (a1) 0.2, 0.8;
}
"""
XML = """<BIF VERSION="0.3"><NETWORK><NAME>n</NAME>
<VARIABLE TYPE="nature"><NAME>A</NAME><OUTCOME>a0</OUTCOME><OUTCOME>a1</OUTCOME></VARIABLE>
<DEFINITION><FOR>A</FOR><TABLE>0.5 0.5</TABLE></DEFINITION>
</NETWORK></BIF>"""
NET = """net { }
node A { states = ("a0" "a1"); }
node B { states = ("b0" "b1"); }
potential (A) { data = (0.5 0.5); }
potential (B | A) { data = ((0.1 0.9)(0.2 0.8)); }
"""
XDSL = """<smile version="1.0" id="n"><nodes>
<cpt id="A"><state id="a0"/><state id="a1"/><probabilities>0.5 0.5</probabilities></cpt>
<deterministic id="D"><state id="d0"/><state id="d1"/><parents>A</parents>
<resultingstates>d0 d1</resultingstates></deterministic>
</nodes></smile>"""
UAI = "BAYES 2  2 2  2  1 0  2 0 1   2 0.5 0.5   4 0.1 0.9 0.2 0.8"


def document():
    return {
        "format": "unveil-network",
        "version": 1,
        "variables": [
            {"name": "A", "kind": "discrete", "states": ["a0", "a1"], "hidden": False},
            {"name": "B", "kind": "discrete", "states": ["b0", "b1"], "hidden": False},
        ],
        "cpds": [
            {"variable": "A", "parents": [], "kind": "table", "values": [[0.5, 0.5]]},
            {
                "variable": "B",
                "parents": ["A"],
                "kind": "table",
                "values": [[0.1, 0.9], [0.2, 0.8]],
            },
        ],
    }


def changed(*path_and_value):
    """The document with one place changed; `...` as the value deletes the key."""
    *path, last, value = path_and_value
    root = place = document()
    for key in path:
        place = place[key]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return json.dumps(root)


def many_parents():
    root = document()
    names = [f"p{i}" for i in range(40)]
    root["variables"] += [{"name": n, "states": ["x", "y"]} for n in names]
    root["cpds"] += [
        {"variable": n, "parents": [], "kind": "table", "values": [[0.5, 0.5]]} for n in names
    ]
    root["cpds"][1]["parents"] = names
    return json.dumps(root)


LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY lol "lol">'
    + "".join(f'<!ENTITY lol{i} "{f"&lol{i - 1};" * 10}">' for i in range(1, 10))
    + "]><BIF><NETWORK><NAME>&lol9;</NAME></NETWORK></BIF>"
)
EXTERNAL = (
    '<!DOCTYPE BIF [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    "<BIF><NETWORK><NAME>&x;</NAME></NETWORK></BIF>"
)
SKIPPED = '<!DOCTYPE BIF SYSTEM "http://x/y.dtd"><BIF><NETWORK><NAME>&x;</NAME></NETWORK></BIF>'

BROKEN = {
    # kind: (format, text, error, words of the sentence)
    "empty file": ("bif", " \n", FormatError, "the file is empty"),
    "not this format at all": ("bif", "hello, world", FormatError, "line 1: expected a block"),
    "no variables": ("bif", "network x { }", FormatError, "declares no variables"),
    "BIF cyclic": (
        "bif",
        BIF.replace("( A ) { table 0.5, 0.5; }", "( A | B ) { (b0) .5 .5; (b1) .5 .5; }"),
        CycleError,
        "the arcs form a cycle: A -> B -> A",
    ),
    "BIF own parent": (
        "bif",
        BIF.replace("( B | A )", "( B | B )").replace("(a", "(b"),
        CycleError,
        "B -> B",
    ),
    "BIF truncated": ("bif", BIF[:-20], FormatError, "expected '}' .* end of the file"),
    "BIF truncated in a header": (
        "bif",
        BIF.split("| A")[0],
        FormatError,
        "expected '}' .* end of the file",
    ),
    "BIF missing row": (
        "bif",
        BIF.replace("  (a1) 0.2, 0.8;\n", ""),
        FormatError,
        r"line 4: 'B' lacks 1 of 2 rows, the first for A=a1",
    ),
    "BIF row given twice": (
        "bif",
        BIF.replace("(a1)", "(a0)"),
        FormatError,
        r"line 6: the row \(a0\) of 'B' .* twice",
    ),
    "BIF unknown state in a row": (
        "bif",
        BIF.replace("(a1)", "(a7)"),
        FormatError,
        r"line 6: the row \(a7\) of 'B' names 'a7', which is no state of 'A'; it has a0, a1",
    ),
    "BIF row with too many states": (
        "bif",
        BIF.replace("(a1)", "(a1, b0)"),
        FormatError,
        "names 2 states, but there are 1 par",
    ),
    "BIF row too short": (
        "bif",
        BIF.replace("0.2, 0.8", "0.2"),
        FormatError,
        "line 6: a row of 'B' needs 2 .* got 1",
    ),
    "BIF unconditional table too long": (
        "bif",
        BIF.replace("0.5, 0.5", "0.5, 0.2, 0.3"),
        FormatError,
        "line 3: .* needs 2 .* got 3",
    ),
    "BIF negative probability": (
        "bif",
        BIF.replace("0.2, 0.8", "-0.2, 1.2"),
        ModelError,
        r"line 4: P\(B \| A\) given A=a1: -0.2 is not a probability",
    ),
    "BIF row sum": (
        "bif",
        BIF.replace("0.2, 0.8", "0.2, 0.7"),
        ModelError,
        r"given A=a1: the probabilities sum to 0.9, not 1",
    ),
    "BIF word instead of a number": (
        "bif",
        BIF.replace("0.2, 0.8", "0.2, half"),
        FormatError,
        "line 6: expected a number, got 'half'",
    ),
    "BIF malformed number": (
        "bif",
        BIF.replace("0.8", "0.8.1"),
        FormatError,
        "line 6: expected a number, got '0.8.1'",
    ),
    "BIF state count": (
        "bif",
        BIF.replace("[2] { b0", "[3] { b0"),
        FormatError,
        "line 2: variable 'B' is said to have 3 states, but 2 are listed",
    ),
    "BIF huge state count": (
        "bif",
        BIF.replace("[2] { b0", "[9999999999999] { b0"),
        FormatError,
        "said to have 9999999999999 states, but 2",
    ),
    "BIF duplicate variable": (
        "bif",
        BIF + BIF.splitlines()[0],
        FormatError,
        "line 8: variable 'A' is declared twice",
    ),
    "BIF duplicate state": (
        "bif",
        BIF.replace("b1", "b0"),
        FormatError,
        "line 2: variable 'B' has the state 'b0' twice",
    ),
    "BIF two distributions": (
        "bif",
        BIF + BIF.splitlines()[2],
        FormatError,
        "line 8: variable 'A' has two distributions",
    ),
    "BIF no distribution": (
        "bif",
        BIF.replace("probability ( A ) { table 0.5, 0.5; }\n", ""),
        FormatError,
        "variable 'A' has no distribution",
    ),
    "BIF unknown parent": (
        "bif",
        BIF.replace("| A", "| Z"),
        FormatError,
        "line 4: 'B' has the parent 'Z', but no variable of that name is declared; there are: A, B",
    ),
    "BIF continuous variable": (
        "bif",
        BIF.replace("discrete [2] { b0, b1 }", "continuous"),
        FormatError,
        "'B' is continuous",
    ),
    "XML truncated": ("xmlbif", XML[:-30], FormatError, "not well-formed XML: .*cut off"),
    "XML not XML": ("xmlbif", "hello", FormatError, "line 1: this is not well-formed XML"),
    "XML billion laughs": ("xmlbif", LAUGHS, FormatError, "XML entity; these are refused"),
    "XML external entity": ("xmlbif", EXTERNAL, FormatError, "XML entity; these are refused"),
    "XML skipped entity": ("xdsl", SKIPPED, FormatError, "XML entity; these are refused"),
    "XML deep": ("xmlbif", "<a>" * 100_000, FormatError, "nested more than 100 deep"),
    "XML other root": ("xmlbif", "<html></html>", FormatError, "expected <BIF> .* got <html>"),
    "XMLBIF wrong shape": (
        "xmlbif",
        XML.replace("0.5 0.5", "0.5"),
        FormatError,
        r"line 3: .* 'A' needs 2 .* got 1",
    ),
    "XMLBIF bad number": (
        "xmlbif",
        XML.replace("0.5 0.5", "0.5 half"),
        FormatError,
        "expected a number, got 'half'",
    ),
    "XMLBIF decision": (
        "xmlbif",
        XML.replace("nature", "decision"),
        FormatError,
        "'A' is a decision node; only nat",
    ),
    "XMLBIF no states": (
        "xmlbif",
        XML.replace("OUTCOME", "OOPS"),
        FormatError,
        "line 2: .*'A' needs at least one st",
    ),
    "NET continuous": (
        "net",
        NET.replace("node B", "continuous node B"),
        FormatError,
        "'B' is a continuous node",
    ),
    "NET utility": (
        "net",
        NET.replace("node B", "utility B"),
        FormatError,
        "'B' is a utility node",
    ),
    "NET wrong shape": (
        "net",
        NET.replace("(0.2 0.8)", "(0.2)"),
        FormatError,
        "line 5: .* needs 4 .*2 x 2.* got 3",
    ),
    "NET truncated": ("net", NET[:-8], FormatError, "expected 'attribute = value;' or '}'.*end of"),
    "NET joint potential": (
        "net",
        NET.replace("(B | A)", "(B A | )"),
        FormatError,
        "must be of one node .* over B, A",
    ),
    "NET unknown block": (
        "net",
        NET + "gadget { }",
        FormatError,
        "line 6: expected a block.*'gadget'",
    ),
    "NET negative": (
        "net",
        NET.replace("(0.2 0.8)", "(-0.2 1.2)"),
        ModelError,
        "line 5: .*-0.2 is not a prob",
    ),
    "XDSL other node kind": (
        "xdsl",
        XDSL.replace("cpt", "noisymax"),
        FormatError,
        "'A' is of the kind 'noisymax'",
    ),
    "XDSL unknown result": (
        "xdsl",
        XDSL.replace(">d0 d1<", ">d0 d2<"),
        FormatError,
        "has 'd2', which is not one of .* d0",
    ),
    "XDSL results missing": (
        "xdsl",
        XDSL.replace(">d0 d1<", ">d0<"),
        FormatError,
        "needs 2 states, got 1",
    ),
    "XDSL unknown parent": (
        "xdsl",
        XDSL.replace("<parents>A", "<parents>Z"),
        FormatError,
        "line 3: 'D' has the parent 'Z'",
    ),
    "XDSL no probabilities": (
        "xdsl",
        XDSL.replace("probabilities", "p"),
        FormatError,
        "'A' has no <probabilities>",
    ),
    "UAI Markov": (
        "uai",
        UAI.replace("BAYES", "MARKOV"),
        FormatError,
        "MARKOV network .undirected",
    ),
    "UAI other word": ("uai", "COUNTS 2", FormatError, "expected 'BAYES' .* got 'COUNTS'"),
    "UAI truncated": ("uai", UAI[:-4], FormatError, "factor 1 .* 4 entries, .* ends after 3"),
    "UAI too long": ("uai", UAI + " 1", FormatError, "1 more numbers than expected"),
    "UAI factor count": (
        "uai",
        UAI.replace("2 2  2  1", "2 2  1  1"),
        FormatError,
        "1 factors for 2 variables",
    ),
    "UAI entry count": (
        "uai",
        UAI.replace("4 0.1 0.9 0.2", "3 0.1 0.9"),
        FormatError,
        "factor 1: .* needs 4 .* got 3",
    ),
    "UAI unknown variable": ("uai", UAI.replace("2 0 1 ", "2 7 1 "), FormatError, "the parent '7'"),
    "UAI two factors for one child": (
        "uai",
        UAI.replace("2 0 1 ", "2 1 0 "),
        FormatError,
        "factor 1: .*'x0' has two distributions",
    ),
    "UAI not a count": ("uai", UAI.replace("BAYES 2", "BAYES -2"), FormatError, "got '-2'"),
    "UAI huge state count": (
        "uai",
        UAI.replace("2 2  2", "2 999999999999  2"),
        FormatError,
        "said to have 1,000,000,000,001 states, but the file has only 14 more",
    ),
    "UAI huge variable count": (
        "uai",
        "BAYES 999999999999 2",
        FormatError,
        "states of variable 1, got the end of the file",
    ),
    "JSON truncated": (
        "json",
        changed("version", 1)[:-9],
        FormatError,
        "line 1, column .*: this is not JSON.*cut off",
    ),
    "JSON another document": (
        "json",
        '{"a": 1}',
        FormatError,
        "expected 'unveil-network', got not",
    ),
    "JSON a list": ("json", "[1]", FormatError, r"\$: expected an object {...}, got a list"),
    "JSON newer version": ("json", changed("version", 2), FormatError, "made by a newer unveil"),
    "JSON odd version": (
        "json",
        changed("version", "1"),
        FormatError,
        r"\$.version: .* got a text",
    ),
    "JSON version zero": ("json", changed("version", 0), FormatError, "there is no version 0"),
    "JSON missing key": (
        "json",
        changed("cpds", ...),
        FormatError,
        r"\$: the key 'cpds' is missing",
    ),
    "JSON repeated key": (
        "json",
        '{"format": 1, "format": 2}',
        FormatError,
        "the key 'format' is given twice",
    ),
    "JSON NaN": (
        "json",
        changed("cpds", 0, "values", [[float("nan"), 1]]),
        FormatError,
        "NaN, which is not",
    ),
    "JSON infinite label": (
        "json",
        changed("variables", 0, "states", [1.5, "?"]).replace('"?"', "1e999"),
        FormatError,
        r"\$.variables\[0\].states\[1\]: the number is too large",
    ),
    "JSON null label": (
        "json",
        changed("variables", 0, "states", ["a0", None]),
        FormatError,
        r"\$.variables\[0\].states\[1\]: expected a text, a number or a boolean, got null",
    ),
    "JSON no states": (
        "json",
        changed("variables", 0, "states", []),
        FormatError,
        "needs at least one state",
    ),
    "JSON duplicate variable": (
        "json",
        changed("variables", 1, "name", "A"),
        FormatError,
        r"\[1\]: variable 'A' is declared tw",
    ),
    "JSON empty name": (
        "json",
        changed("variables", 1, "name", ""),
        FormatError,
        r"\$.variables\[1\]: .* non-empty",
    ),
    "JSON hidden is a text": (
        "json",
        changed("variables", 1, "hidden", "no"),
        FormatError,
        "hidden: expected true or false",
    ),
    "JSON continuous": (
        "json",
        changed("variables", 1, "kind", "real"),
        FormatError,
        "expected 'discrete' or 'continuous', got 'real'",
    ),
    "JSON unknown CPD kind": (
        "json",
        changed("cpds", 1, "kind", "forest"),
        FormatError,
        "unknown kind 'forest'; known are 'ta",
    ),
    "JSON unknown parent": (
        "json",
        changed("cpds", 1, "parents", ["Z"]),
        FormatError,
        r"\$.cpds\[1\].parents\[0\]: 'Z' is not one of the file's variables",
    ),
    "JSON unknown variable": (
        "json",
        changed("cpds", 1, "variable", "Z"),
        FormatError,
        r"\$.cpds\[1\].variable: 'Z' is not",
    ),
    "JSON cyclic": (
        "json",
        changed("cpds", 0, {**document()["cpds"][1], "variable": "A", "parents": ["B"]}),
        CycleError,
        "the arcs form a cycle",
    ),
    "JSON parent twice": (
        "json",
        changed(
            "cpds", 1, {**document()["cpds"][1], "parents": ["A", "A"], "values": [[1, 0]] * 4}
        ),
        ModelError,
        "A -> B is there already",
    ),
    "JSON wrong number of rows": (
        "json",
        changed("cpds", 1, "values", [[0.1, 0.9]]),
        ModelError,
        r"\$.cpds\[1\]: the table of 'B' needs a list of 2 rows in 'values', got 1",
    ),
    "JSON ragged row": (
        "json",
        changed("cpds", 1, "values", [[0.1, 0.9], [1]]),
        ModelError,
        "row 2: expected 2 num",
    ),
    "JSON text as number": (
        "json",
        changed("cpds", 0, "values", [["0.5", 0.5]]),
        ModelError,
        "expected numbers, got '0.5'",
    ),
    "JSON negative": (
        "json",
        changed("cpds", 0, "values", [[-0.5, 1.5]]),
        ModelError,
        "-0.5 is not a probability",
    ),
    "JSON number too large": (
        "json",
        changed("cpds", 0, "values", [[10**400, 0]]),
        ModelError,
        "too large to be a prob",
    ),
    "JSON number absurdly long": (
        "json",
        changed("cpds", 0, "values", [["?", 0]]).replace('"?"', "9" * 5000),
        FormatError,
        "a number that cannot be read",
    ),
    "JSON row sum": (
        "json",
        changed("cpds", 0, "values", [[0.5, 0.2]]),
        ModelError,
        "sum to 0.7, not 1",
    ),
    "JSON no distribution": (
        "json",
        changed("cpds", document()["cpds"][:1]),
        FormatError,
        "'B' has no distribution",
    ),
    "JSON two distributions": (
        "json",
        changed("cpds", document()["cpds"] * 2),
        FormatError,
        "'A' has two distributions",
    ),
    "JSON huge table": ("json", many_parents(), SizeError, "would have .* cells"),
    "JSON deep": ("json", "[" * 200_000, FormatError, "nested absurdly deep"),
    "unknown format": ("dne", "x", FormatError, "unknown format 'dne'; known are json, bif"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_broken_texts_are_refused_with_a_sentence(kind):
    format, text, error, words = BROKEN[kind]
    with pytest.raises(error, match=words):
        loads(text, format)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("x.bif", b"\x89PNG\0\0", "not a text file"),
        ("x.bif", b"\xff\xfe\0", "not a text file"),
        ("x.bif", gzip.compress(b"network x {}", mtime=0)[:-9], "compressed file is damaged"),
        (
            "x.bif.gz",
            gzip.compress(b"x" * 1000, mtime=0)[:20] + b"garbage....",
            "compressed file is damaged",
        ),
        ("x.dne", b"something else", r"neither the ending nor .* \.json, \.bif, .*format="),
        ("x.json", b"", "the file is empty"),
    ],
)
def test_broken_files_are_named(tmp_path, name, content, words):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(FormatError, match=words) as caught:
        load(path)
    assert str(caught.value).startswith(f"{path}: ")


def test_a_cycle_in_a_file_is_named_and_keeps_its_nodes(tmp_path):
    path = tmp_path / "x.bif"
    path.write_text(BROKEN["BIF cyclic"][1])
    with pytest.raises(CycleError, match="the arcs form a cycle") as caught:
        load(path)
    assert str(caught.value).startswith(str(path))
    assert set(caught.value.cycle) == {"A", "B"}


def test_more_text_than_anyone_writes_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("unveil.formats.MAX_BYTES", 100)
    path = tmp_path / "x.bif.gz"
    path.write_bytes(gzip.compress(b" " * 101))
    with pytest.raises(SizeError, match="more than 100 bytes"):
        load(path)


def test_saving_under_an_unknown_ending_lists_the_known(tmp_path):
    with pytest.raises(FormatError, match=r"known endings are \.json, \.bif"):
        save(plain_network(1), tmp_path / "model.xyz")
    assert not list(tmp_path.iterdir())
