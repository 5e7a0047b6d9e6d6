"""Counts of weighted rows: the meeting place of tables, scores, searches and EM.

- `protocol.py`: what every engine offers, so that another one only changes who counts
- `memory.py`: `MemoryStatistics`, compiled counting over a table in memory
"""

from unveil.statistics.memory import MemoryStatistics
from unveil.statistics.protocol import Statistics

__all__ = ["MemoryStatistics", "Statistics"]
