"""Names of files to write, checked while the command is read: before the work, not after it.

Every option that names something to write has one of these as its `callback`. They refuse a folder
that is not there, an ending that tells no format, and the name of a folder where a file is meant.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from unveil.errors import DataError, UnveilError
from unveil.files import check_folder, check_target

__all__ = ["writes_any", "writes_file", "writes_folder", "writes_network", "writes_picture",
           "writes_table"]  # fmt: skip


def writes_network(value: Path | None) -> Path | None:
    """The name of a network file."""
    from unveil.formats import check_network_target

    return _checked(check_network_target, value)


def writes_table(value: Path | None) -> Path | None:
    """The name of a table file."""
    from unveil.table.io.write import check_table_target

    return _checked(check_table_target, value)


def writes_any(value: Path | None) -> Path | None:
    """The name of a network or a table; which of them it has to be, the command knows."""
    _checked(check_target, value)
    try:
        return writes_table(value)
    except UnveilError:
        return writes_network(value)


def writes_picture(value: Path | None) -> Path | None:
    """The name of a picture."""
    from unveil.report.picture import check_picture_target

    return _checked(check_picture_target, value)


def writes_file(*endings: str) -> Callable[[Path | None], Path | None]:
    """The name of a file with one of these endings."""

    def check(value: Path | None) -> Path | None:
        if value is not None and value.suffix.lower() not in endings:
            raise DataError(f"{value}: this is written as {' or '.join(endings)}; name it so")
        return _checked(check_target, value)

    return check


def writes_folder(value: Path | None) -> Path | None:
    """The name of a folder, there already or not."""
    return _checked(check_folder, value)


def _checked(check: Callable[[Path], object], value: Path | None) -> Path | None:
    if value is not None:
        check(value)
    return value
