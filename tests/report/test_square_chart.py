"""Curves in the unit square, and weights for and against."""

import re
import xml.etree.ElementTree as ElementTree

import pytest

from unveil.errors import DataError
from unveil.report import square_chart, weight_chart


def test_a_curve_runs_from_corner_to_corner():
    drawn = square_chart([0, 0.5, 1], [0, 0.9, 1], x_name="a & b", y_name="hits")
    ElementTree.fromstring(drawn)
    line = re.search(r'class="line" d="M([^"]+)"', drawn)[1].split("L")
    (x0, y0), (x1, y1) = (map(float, point.split(",")) for point in (line[0], line[-1]))
    assert x1 - x0 == pytest.approx(300)
    assert y0 - y1 == pytest.approx(300)
    assert "a &amp; b" in drawn
    with pytest.raises(DataError, match="as many x as y"):
        square_chart([0], [0, 1], x_name="", y_name="")


def test_bars_go_both_ways_from_zero():
    drawn = weight_chart([("for <it>", 4.0), ("against", -2.0)])
    ElementTree.fromstring(drawn)
    bars = re.findall(r'<rect class="(\w+)" x="([\d.]+)" y="[\d.]+" width="([\d.]+)"', drawn)
    (_, x, width), (_, other, half) = bars
    assert [kind for kind, *_ in bars] == ["bar", "before"]
    assert float(other) + float(half) == pytest.approx(float(x), abs=0.2)
    assert float(width) == pytest.approx(2 * float(half), abs=0.2)
    assert "for &lt;it&gt;" in drawn
    assert "<svg" in weight_chart([])
