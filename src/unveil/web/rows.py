"""Rows of a step: a page of them, sorted, and why one got its class; files are kept at hand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unveil.errors import DataError, did_you_mean
from unveil.model.network import Network
from unveil.table.variable import Variable, label_text

if TYPE_CHECKING:
    import pyarrow

__all__ = ["PER_PAGE", "ROW_FILES", "found_first", "page_of_rows", "row_explained"]

PER_PAGE = 50
ROW_FILES = ("posteriors.csv", "predictions.csv")
"""The files of a step that hold rows."""

_FOUND = re.compile(r"predicted |P\(|deviation of |.* \(sd\)$")


def page_of_rows(path: Path, sort: str, down: bool, page: int) -> dict[str, Any]:
    """The rows of one page, as lists of cells; `sort` names a column, `down` the largest first.

    What was found about a row stands first. `numbers` are the positions of the rows in the file.
    """
    table = _read(path, path.stat().st_mtime)
    table = table.select(found_first(table.column_names))
    order = _order(path, path.stat().st_mtime, sort, down)
    start = (page - 1) * PER_PAGE
    shown = order.slice(start, PER_PAGE)
    return {
        "columns": table.column_names,
        "rows": [list(row.values()) for row in table.take(shown).to_pylist()],
        "numbers": shown.to_pylist(),
        "page": page,
        "n_pages": max(1, -(-table.num_rows // PER_PAGE)),
        "n_rows": table.num_rows,
        "sort": sort,
        "down": down,
    }


def found_first(names: Sequence[str]) -> list[str]:
    """The columns of such a file with what was found about the rows before the others.

    >>> found_first(["age", "sex", "predicted ill", "P(ill=no)", "P(ill=yes)"])
    ['predicted ill', 'P(ill=no)', 'P(ill=yes)', 'age', 'sex']
    >>> found_first(["a", "b", "H1", "H1 (sd)"])
    ['H1', 'H1 (sd)', 'a', 'b']
    """
    found = [name for name in names if _FOUND.match(name) or f"{name} (sd)" in names]
    return [*found, *(name for name in names if name not in found)]


def row_explained(network: Network, target: str, path: Path, row: int) -> dict[str, Any]:
    """Why a row of a file gets its class: the weight of every cell, the strongest first."""
    from unveil.classify import Classifier
    from unveil.records import as_json

    if not target:
        raise DataError("these rows have no class to explain.")
    classifier = Classifier(network, target)
    texts = _texts(path, path.stat().st_mtime)
    if row >= texts.num_rows:
        raise DataError(f"there are {texts.num_rows:,} rows; there is no row {row + 1:,}.")
    cells = texts.slice(row, 1).to_pylist()[0]
    known = {
        name: [_value(network.variable(name), cells[name])]
        for name in classifier.predictors
        if name in cells
    }
    why = classifier.explain(known)
    return {
        "row": row,
        "label": label_text(why.label),
        "probability": as_json(why.probability),
        "before": as_json(why.before),
        "after": as_json(why.after),
        "weights": [
            {
                "predictor": w.predictor,
                "value": cells.get(w.predictor) or "empty",
                "bits": as_json(w.bits),
            }
            for w in why.strongest
        ],
    }


def _value(variable: Variable, text: str | None) -> Any:
    """The label or the number that a cell says; none for an empty or unknown one."""
    if text is None or text == "":
        return None
    if not variable.is_discrete or variable.cuts is not None:
        try:
            return float(text)
        except ValueError:
            return None
    return next((label for label in variable.labels if label_text(label) == text), None)


@lru_cache(maxsize=4)
def _read(path: Path, stamp: float) -> pyarrow.Table:
    import pyarrow.csv

    return pyarrow.csv.read_csv(path)


@lru_cache(maxsize=1)
def _texts(path: Path, stamp: float) -> pyarrow.Table:
    """Every cell as it is written."""
    import pyarrow
    import pyarrow.csv

    names = _read(path, stamp).column_names
    options = pyarrow.csv.ConvertOptions(
        column_types={name: pyarrow.string() for name in names}, strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )  # fmt: skip
    return pyarrow.csv.read_csv(path, convert_options=options)


@lru_cache(maxsize=4)
def _order(path: Path, stamp: float, sort: str, down: bool) -> pyarrow.Array:
    """The positions of the rows in the order asked for."""
    import pyarrow
    import pyarrow.compute

    table = _read(path, stamp)
    if not sort:
        return pyarrow.array(range(table.num_rows))
    if sort not in table.column_names:
        raise DataError(
            f"there is no column {sort[:80]!r}.{did_you_mean(sort, table.column_names)}"
        )
    keys = [(sort, "descending" if down else "ascending")]
    return pyarrow.compute.sort_indices(table, sort_keys=keys)
