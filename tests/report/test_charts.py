"""Charts: valid SVG, honest lengths, escaped labels."""

import xml.etree.ElementTree as ElementTree

import pytest

from unveil.errors import DataError
from unveil.report import bar_chart, before_after_chart, line_chart
from unveil.report.charts import ticks

NASTY = '<b>&"x"'
SVG = "{http://www.w3.org/2000/svg}"


def bars(svg: str, kind: str = "bar") -> list[float]:
    root = ElementTree.fromstring(svg)
    return [float(r.get("width")) for r in root.iter(f"{SVG}rect") if r.get("class") == kind]


def test_bars_are_as_long_as_their_values():
    long, short, none = bars(bar_chart([(NASTY, 4), ("b", 1), ("c", 0)]))
    assert long == pytest.approx(4 * short, rel=0.01)
    assert none == 0


def test_pairs_of_bars_compare_before_and_after():
    svg = before_after_chart([(NASTY, 0.2, 0.6)], names=(NASTY, "now"))
    after, before = bars(svg)[-1], bars(svg, "before")[-1]
    assert after == pytest.approx(3 * before, rel=0.01)


def test_a_line_rises_where_its_values_do():
    svg = line_chart([1, 2, 3], [-5, -2, -9], x_name=NASTY, y_name=NASTY, highlight=1)
    circles = list(ElementTree.fromstring(svg).iter(f"{SVG}circle"))
    heights = [float(c.get("cy")) for c in circles]
    assert heights[1] < heights[0] < heights[2]
    assert [c.get("class") for c in circles] == ["mark", "marked", "mark"]


@pytest.mark.parametrize("values", [[], [3.0], [2.0, 2.0], [0.0], [1e-12, 2e-12], [1e9, 1e12]])
def test_odd_lines_are_still_charts(values):
    ElementTree.fromstring(line_chart(range(len(values)), values))


def test_points_that_are_not_finite_are_left_out():
    assert line_chart([1, 2, 3], [1.0, float("nan"), float("-inf")]).count("<circle") == 1


def test_empty_charts_are_valid():
    ElementTree.fromstring(bar_chart([]))
    ElementTree.fromstring(before_after_chart([]))


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf")])
def test_bars_refuse_what_has_no_length(value):
    with pytest.raises(DataError, match=str(value)):
        bar_chart([("a", value)])


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-3, 7), (1e-9, 3e-9), (1e8, 9e9), (2, 2)])
def test_ticks_are_few_and_inside(low, high):
    found = ticks(low, high)
    assert 1 <= len(found) <= 7
    assert found == sorted(set(found))
    assert all(low - 1e-12 <= t <= high + 1e-12 for t in found)
