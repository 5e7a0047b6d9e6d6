"""Counts and moments of weighted rows: the meeting place of tables, models, scores and EM.

- `protocol.py`: what every engine offers, so that another one only changes who counts
- `memory.py`: `MemoryStatistics`, compiled counting over a table in memory; `as_statistics`
  and `as_rows` take a table or an engine for either
- `counting.py`: positions of rows in joint tables, counts, distinct assignments
- `moments.py`: weight, mean and scatter of continuous columns
- `redundant.py`: continuous columns that say nothing of their own
- `remembered.py`: counts that are asked for once; `remembered_moments.py`: moments
- `selected.py`: some variables of an engine
- `score_terms.py`: data terms of scores straight from rows, the fast path of `MemoryStatistics`
"""

from unveil.statistics.memory import MemoryStatistics, as_rows, as_statistics
from unveil.statistics.moments import ConditionalMoments, GaussianMoments
from unveil.statistics.protocol import (
    Distinct,
    Family,
    Need,
    Reweightable,
    ScoreTerms,
    Statistics,
)
from unveil.statistics.redundant import Redundant, redundant_columns
from unveil.statistics.remembered import RememberedCounts
from unveil.statistics.remembered_moments import RememberedMoments
from unveil.statistics.selected import SelectedStatistics

__all__ = [
    "ConditionalMoments",
    "Distinct",
    "Family",
    "GaussianMoments",
    "MemoryStatistics",
    "Need",
    "Redundant",
    "RememberedCounts",
    "RememberedMoments",
    "Reweightable",
    "ScoreTerms",
    "SelectedStatistics",
    "Statistics",
    "as_rows",
    "as_statistics",
    "redundant_columns",
]
