"""The picture of states: every value in every state, the most differing ones if there are many."""

import xml.etree.ElementTree as ElementTree

import numpy as np

from unveil.report.profile_chart import MOST_VALUES, Profile, profile_chart

SVG = "{http://www.w3.org/2000/svg}"
STATES = [("H = 0", "60% of rows"), ("H = 1", "40% of rows")]


def test_there_is_a_bar_for_every_value_and_state_and_strong_ones_are_commoner():
    shares = np.array([[0.9, 0.1], [0.3, 0.7]])
    root = ElementTree.fromstring(
        profile_chart(STATES, [Profile("<smokes>", ["no", "y&s"], shares, np.array([0.66, 0.34]))])
    )
    bars = [r for r in root.iter(f"{SVG}rect") if r.get("class") in ("bar", "before")]
    tracks = {r.get("width") for r in root.iter(f"{SVG}rect") if r.get("class") == "track"}
    full = float(tracks.pop())
    assert not tracks
    widths = [float(r.get("width")) / full for r in bars]
    np.testing.assert_allclose(widths, [0.9, 0.3, 0.1, 0.7], atol=1e-2)
    assert [r.get("class") for r in bars] == ["bar", "before", "before", "bar"]
    texts = [t.text for t in root.iter(f"{SVG}text")]
    assert {"<smokes>", "no", "y&s", "H = 0", "40% of rows", "90%", "70%"} <= set(texts)
    tips = [t.text for t in root.iter(f"{SVG}title")]
    assert tips[0] == "<smokes> = no: 90.0%, overall 66.0%"


def test_of_many_values_those_that_differ_most_are_shown_in_their_order():
    n = MOST_VALUES + 4
    overall = np.full(n, 1 / n)
    shares = np.stack([overall, overall])
    shares[0, [0, n - 1]] = [0.0, 2 / n]
    svg = profile_chart(STATES, [Profile("x", [f"v{i}" for i in range(n)], shares, overall)])
    texts = [t.text for t in ElementTree.fromstring(svg).iter(f"{SVG}text")]
    values = [t for t in texts if t and t.startswith("v")]
    assert len(values) == MOST_VALUES
    assert values[0] == "v0"
    assert values[-1] == f"v{n - 1}"
    assert f"{MOST_VALUES} of {n} values" in texts
