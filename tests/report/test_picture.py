"""Pictures: valid files, escaped names, the same every time."""

import xml.etree.ElementTree as ElementTree

import pytest

from unveil import DAG, Network, TableCPD, Variable
from unveil.errors import FormatError, ModelError
from unveil.report import draw, svg_text

NASTY = '<b>&"x"'
SVG = "{http://www.w3.org/2000/svg}"


def network() -> Network:
    a = Variable(NASTY, ["no", "<yes>"])
    h = Variable("H", ["0", "1"], hidden=True)
    return Network(
        [TableCPD(h, [], [0.5, 0.5]), TableCPD(a, [h], [[0.1, 0.9], [0.7, 0.3]])], name="t"
    )


def texts(svg: str) -> list[str]:
    return [e.text for e in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_names_are_text_and_come_back_whole():
    assert set(texts(svg_text(network()))) == {NASTY, "H"}


def test_nodes_and_arcs_have_tooltips():
    svg = svg_text(network(), tips={("H", NASTY): "because"})
    tips = [e.text for e in ElementTree.fromstring(svg).iter(f"{SVG}title")]
    assert tips == [f"H → {NASTY}: because", "H (hidden; 2 states: 0, 1)",
                    f"{NASTY} (2 states: no, <yes>)"]  # fmt: skip


def test_hidden_variables_are_dashed():
    root = ElementTree.fromstring(svg_text(network()))
    dashed = [g for g in root.iter(f"{SVG}g") if g.get("class") == "node hidden"]
    assert len(dashed) == 1
    assert dashed[0].find(f"{SVG}rect").get("stroke-dasharray")


def test_strength_is_width():
    dag = DAG(["A", "B", "C"], [("A", "B"), ("A", "C")])
    widths = [a.width for a in draw(dag, strength={("A", "B"): 1, ("A", "C"): 0.25}).arrows]
    assert widths == [5, 2]


def test_highlight_title_and_labels_show():
    dag = DAG(["A", "B"], [("A", "B")])
    svg = svg_text(dag, highlight=["A", ("A", "B")], title="A & B", labels={("A", "B"): "0.9"})
    assert texts(svg) == ["A & B", "A", "B", "0.9"]
    assert svg.count("marked") == 2


def test_long_names_are_cut_in_the_box_and_whole_in_the_tooltip():
    svg = svg_text(DAG(["x" * 300]))
    assert len(texts(svg)[0]) == 28
    assert "x" * 300 in svg


@pytest.mark.parametrize(
    ("ending", "magic"), [("svg", b"<svg"), ("png", b"\x89PNG\r\n"), ("pdf", b"%PDF-")]
)
def test_files_are_valid_and_repeatable(tmp_path, ending, magic):
    for name in ("one", "two"):
        draw(network(), tmp_path / f"{name}.{ending}", title="$a_b$ $")
    one = (tmp_path / f"one.{ending}").read_bytes()
    assert one.startswith(magic)
    assert one == (tmp_path / f"two.{ending}").read_bytes()
    assert len(list(tmp_path.iterdir())) == 2


def test_an_empty_graph_is_an_empty_picture(tmp_path):
    ElementTree.fromstring(svg_text(DAG([])))
    draw(DAG([]), tmp_path / "empty.png")


def test_an_unknown_ending_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(FormatError, match=r"\.svg, \.png or \.pdf.*'\.gif'"):
        draw(DAG("A"), tmp_path / "a.gif")
    assert not list(tmp_path.iterdir())


def test_things_that_are_not_in_the_graph_are_named():
    dag = DAG(["A", "B"], [("A", "B")])
    with pytest.raises(ModelError, match=r"strength.*\('B', 'A'\)"):
        draw(dag, strength={("B", "A"): 1})
    with pytest.raises(ModelError, match="highlight has 'C'"):
        draw(dag, highlight=["C"])


def test_drawing_leaves_pyplot_alone():
    import subprocess
    import sys

    code = (
        "import sys; from unveil import DAG; from unveil.report import draw; "
        "draw(DAG(['A'])).figure(); assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_captions_stand_behind_names():
    dag = DAG(["A", "B"], [("A", "B")])
    plain, told = draw(dag), draw(dag, captions={"B": "R² 0.50"})
    assert "R² 0.50" in told.svg()
    assert told.nodes[1].box.width > plain.nodes[1].box.width
    told.figure()
    with pytest.raises(ModelError, match="captions has 'C'"):
        draw(dag, captions={"C": "?"})
