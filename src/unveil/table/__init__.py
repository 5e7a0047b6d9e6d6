"""Rows in: files and frames become typed, coded columns with missing cells and weights."""

from unveil.table.core import Column, Table, code_dtype, missing_code
from unveil.table.describe import ColumnDescription, TableDescription, describe
from unveil.table.discretize import Discretizer
from unveil.table.frames import from_frame
from unveil.table.inference import DEFAULT_MISSING, MAX_INTEGER_STATES
from unveil.table.read import read_table
from unveil.table.variable import Label, Variable, label_finder, label_key, label_text
from unveil.table.write import write_table

__all__ = [
    "DEFAULT_MISSING",
    "MAX_INTEGER_STATES",
    "Column",
    "ColumnDescription",
    "Discretizer",
    "Label",
    "Table",
    "TableDescription",
    "Variable",
    "code_dtype",
    "describe",
    "from_frame",
    "label_finder",
    "label_key",
    "label_text",
    "missing_code",
    "read_table",
    "write_table",
]
