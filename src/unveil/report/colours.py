"""The colours of pictures and charts: calm, on light ground, apart for colour-blind eyes too.

The accents are from the palette of Okabe and Ito (2008). A page recolours them for dark screens by
the classes that the SVG elements carry.
"""

__all__ = [
    "ACCENT",
    "ARC",
    "BEFORE",
    "GONE",
    "GRID",
    "GROUND",
    "HIDDEN_FILL",
    "HIDDEN_LINE",
    "INK",
    "MAIN",
    "MUTED",
    "NODE_FILL",
    "NODE_LINE",
]

GROUND = "#ffffff"
INK = "#1f2933"
MUTED = "#66727f"
GRID = "#e3e8ed"
NODE_FILL = "#eef4fa"
NODE_LINE = "#5b7ea3"
HIDDEN_FILL = "#fdf0d5"
HIDDEN_LINE = "#b97400"
ARC = "#748494"
ACCENT = "#d55e00"
MAIN = "#2f7ab8"
BEFORE = "#b9c6d3"
GONE = "#a3437a"
