"""Rows in: files and frames become typed, coded columns with missing cells and weights.

- `variable.py`: a name and the labels of its states; `core.py`: `Table`
- `io/`: files in and out; `frames.py`, `export.py`: frames in memory, in and out
- `options.py`: what can be asked of a reader; `assemble.py`: the one door behind all of them
- `text.py`, `typed.py`: what a column becomes, by its texts or by its type; `coding.py`: labels
  into codes, for both
- `conform.py`: the same rows by the states of a model or another table
- `fold.py`, `sampling.py`: rows merged, split, hidden, knocked out
- `discretize.py`, `cuts.py`: numbers into states; `prepare.py`: a table made ready to learn from
- `door.py`: whatever holds a table becomes one, for the calls of Python
- `describe.py`, `oddities.py`: what is there, what looks odd
- `missingness.py`, `gaps.py`: what is missing, and whether it looks random; the records of it
- `places.py`: words for where something happened
"""

from unveil.table.core import Column, Table, code_dtype, missing_code
from unveil.table.describe import ColumnDescription, TableDescription, describe
from unveil.table.discretize import cut_variables, interval_variable
from unveil.table.door import Data, Weights, as_table, ready_table
from unveil.table.frames import from_frame
from unveil.table.gaps import MissingnessReport
from unveil.table.io import read_table, write_table
from unveil.table.missingness import EMPTY_STATE, empty_as_state, missing_as_state, missingness
from unveil.table.prepare import Prepared, prepare
from unveil.table.text import DEFAULT_MISSING, MAX_INTEGER_STATES
from unveil.table.variable import Label, Variable, label_finder, label_key, label_text

__all__ = [
    "DEFAULT_MISSING",
    "EMPTY_STATE",
    "MAX_INTEGER_STATES",
    "Column",
    "ColumnDescription",
    "Data",
    "Label",
    "MissingnessReport",
    "Prepared",
    "Table",
    "TableDescription",
    "Variable",
    "Weights",
    "as_table",
    "code_dtype",
    "cut_variables",
    "describe",
    "empty_as_state",
    "from_frame",
    "interval_variable",
    "label_finder",
    "label_key",
    "label_text",
    "missing_as_state",
    "missing_code",
    "missingness",
    "prepare",
    "read_table",
    "ready_table",
    "write_table",
]
