"""Files in and out.

- `read.py`: `read_table`, which finds out what a file is and hands it on
- `sniff.py`: compression, delimiter and header of a text file, from its start; `encoding.py`: its
  encoding
- `csv.py`: delimited text into columns of text; `complain.py`: why that did not work
- `arff.py`: Weka's files, with declared columns
- `arrow.py`: Parquet and Feather, and the note about its variables that unveil leaves in them
- `write.py`: `write_table`
"""

from unveil.table.io.read import read_table
from unveil.table.io.write import write_table

__all__ = ["read_table", "write_table"]
