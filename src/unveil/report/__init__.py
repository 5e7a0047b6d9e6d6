"""Pictures and pages: what was found, for people to look at.

- `picture`: `draw` and `svg_text`, a network as SVG, PNG or PDF; `Picture`, what they draw
- `layout`: `layout`, where nodes and arcs go (with `layering`, `crossings`, `placement`, `curves`)
- `charts`: `bar_chart`, `before_after_chart`, `line_chart` as SVG text
- `page`: `Page`, one HTML file that refers to nothing outside itself; `theme`: its look
- `learn_page`: `learn_page`, the page of `unveil learn`
- `discover_page`: `discover_page`, the page of `unveil discover`; `merge_tree`: its tree of merges;
  `discover_folder`: `write_discovery`, page, networks and posteriors as files
- `context_tree`: `context_tree`, a tree of contexts inside a family as SVG
- `sensitivity_figure`: `draw_sensitivity`, how the graph depends on the equivalent sample size
- `course_figure`: `draw_course`, the course of information-bottleneck EM against gamma
- `classify_page`: `classify_page`, the page of `unveil classify`, and `write_classification`, all
  its files; `square_chart`: its curves and weights
- `numbers_page`, `numbers_folder`: the same for tables of numbers; `loadings_chart`: loadings of a
  continuous hidden variable
- `colours` and `text`: shared by the files above
"""

from unveil.report.charts import bar_chart, before_after_chart, line_chart
from unveil.report.classify_page import classify_page, write_classification
from unveil.report.context_tree import context_tree
from unveil.report.course_figure import draw_course
from unveil.report.discover_folder import write_discovery
from unveil.report.discover_page import discover_page
from unveil.report.layout import Box, Layout, layout
from unveil.report.learn_page import ArcRecord, learn_page
from unveil.report.loadings_chart import loadings_chart
from unveil.report.merge_tree import merge_tree
from unveil.report.numbers_folder import write_numbers
from unveil.report.numbers_page import numbers_page
from unveil.report.page import Page
from unveil.report.picture import Picture, draw, svg_text
from unveil.report.response_chart import response_chart
from unveil.report.sensitivity_figure import draw_sensitivity
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
    "context_tree",
    "discover_page",
    "draw",
    "draw_course",
    "draw_sensitivity",
    "layout",
    "learn_page",
    "line_chart",
    "loadings_chart",
    "merge_tree",
    "numbers_page",
    "response_chart",
    "square_chart",
    "svg_text",
    "weight_chart",
    "write_classification",
    "write_discovery",
    "write_numbers",
]
