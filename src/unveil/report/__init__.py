"""Pictures and pages: what was found, for people to look at.

- `picture`: `draw` and `svg_text`, a network as SVG, PNG or PDF; `Picture`, what they draw
- `layout`: `layout`, where nodes and arcs go (with `layering`, `crossings`, `placement`, `curves`)
- `charts`: `bar_chart`, `before_after_chart`, `line_chart` as SVG text
- `page`: `Page`, one HTML file that refers to nothing outside itself; `theme`: its look
- `learn_page`: `learn_page`, the page of `unveil learn`
- `discover_page`: `discover_page`, the page of `unveil discover`; `merge_tree`: its tree of merges;
  `discover_folder`: `write_discovery`, page, networks and posteriors as files
- `classify_page`: `classify_page`, the page of `unveil classify`, and `write_classification`, all
  its files; `square_chart`: its curves and weights
- `colours` and `text`: shared by the files above
"""

from unveil.report.charts import bar_chart, before_after_chart, line_chart
from unveil.report.classify_page import classify_page, write_classification
from unveil.report.discover_folder import write_discovery
from unveil.report.discover_page import discover_page
from unveil.report.layout import Box, Layout, layout
from unveil.report.learn_page import ArcRecord, learn_page
from unveil.report.merge_tree import merge_tree
from unveil.report.page import Page
from unveil.report.picture import Picture, draw, svg_text
from unveil.report.square_chart import square_chart, weight_chart

__all__ = [
    "ArcRecord",
    "Box",
    "Layout",
    "Page",
    "Picture",
    "bar_chart",
    "before_after_chart",
    "classify_page",
    "discover_page",
    "draw",
    "layout",
    "learn_page",
    "line_chart",
    "merge_tree",
    "square_chart",
    "svg_text",
    "weight_chart",
    "write_classification",
    "write_discovery",
]
