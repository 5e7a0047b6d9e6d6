"""What it costs to sum over unseen cells, one way or another: all estimates in one place.

The unit is one visit of an entry of a reduced model (about a nanosecond). The figures were
measured once on tables of 100 to 100,000 rows; they need not be exact, since they only decide who
does the work, never what comes out.
"""

from __future__ import annotations

__all__ = [
    "CLIQUE",
    "ENTRY_SETUP",
    "FACTOR_BYTES",
    "FOREST_ROWS",
    "GROUP_PASS",
    "GROUP_SETUP",
    "HEAVY_CELL",
    "HEAVY_TREE",
    "MOST_ENTRIES",
    "MOST_POSTERIORS",
    "SLICE",
    "TREE_BYTES",
    "TREE_CELL",
    "TREE_PASS",
    "TREE_SETUP",
    "TREE_START",
]

# The reduced model of one pattern of gaps.
GROUP_SETUP = 200_000.0
"""To set one up, however small."""
ENTRY_SETUP = 10.0
"""To set up one of its entries, or to look at one of the network's."""
GROUP_PASS = 30_000.0
"""To start a pass over its rows."""
MOST_ENTRIES = 20_000_000
"""A reduced model with more entries is not made."""
MOST_POSTERIORS = 20_000_000
"""Posteriors of configurations are kept for so many (rows times configurations) at a time."""

# Forests of hidden variables above observed columns.
FOREST_ROWS = 50
"""For fewer rows the junction tree takes them."""

# The junction tree, for rows of any pattern.
TREE_CELL = 3.0
"""To visit one of its cells for one row."""
TREE_PASS = 5.0
"""To put new tables into one of its cells and to take the counts out, once per pass."""
TREE_START = 80_000.0
"""To start a pass over the rows."""
TREE_SETUP = 500_000.0
"""To build one, however small, where it is not kept for the next question."""
HEAVY_TREE, HEAVY_CELL = 2_000_000, 10.0
"""With more cells it is set up by the cell, each at this price."""
SLICE, CLIQUE = 4, 50
"""To visit a cell because a row agrees with it, and to find such cells of a clique, where to visit
all cells in turn costs one for each."""
TREE_BYTES, FACTOR_BYTES = 40, 60
"""The memory that a pass takes for each cell of the tree, and for each cell that a family's table
is multiplied into."""
