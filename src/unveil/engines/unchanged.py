"""Files that must stay as they were: all passes must see the same rows."""

from __future__ import annotations

import os
from dataclasses import dataclass

from unveil.errors import DataError

__all__ = ["Stamp"]


@dataclass(frozen=True)
class Stamp:
    """How a file was when it was first looked at."""

    path: str
    size: int
    changed: int

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> Stamp:
        """The file as it is now."""
        now = os.stat(path)
        return cls(str(path), now.st_size, now.st_mtime_ns)

    def check(self) -> None:
        """An error if the file has changed since, or is gone."""
        try:
            now = Stamp.of(self.path)
        except OSError as error:
            raise DataError(
                f"{self.path}: the file was there at first and cannot be found any more "
                f"({error.strerror}); leave the files alone until the work is done"
            ) from error
        if now != self:
            raise DataError(
                f"{self.path}: the file has changed while it was being read; all passes must see "
                "the same rows. Leave the files alone until the work is done, and start again"
            )
