"""`Work`: what every task gets, and `TaskSettings`: what all settings share."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from unveil.errors import DataError, ModelError, UnveilWarning
from unveil.files import atomic_write
from unveil.progress import Listener
from unveil.web.asked import Asked
from unveil.web.limits import Limits

if TYPE_CHECKING:
    from unveil.table import Table

__all__ = ["TaskSettings", "Work"]

T = TypeVar("T")


class TaskSettings(BaseModel):
    """Settings of a task; one that is not known is refused."""

    model_config = ConfigDict(extra="forbid")

    seed: int = Field(default=1, ge=0, lt=2**31)


@dataclass(frozen=True)
class Work:
    """What every task gets: the table, what was asked, where to write, who listens."""

    table_path: Path
    table_name: str
    asked: Asked
    folder: Path
    limits: Limits
    progress: Listener
    n_jobs: int = 1

    def table(self) -> Table:
        """The table as it was asked for, its size checked."""
        return self.checked(self.asked.read(self.table_path, self.limits.table_bytes))

    def checked(self, table: Table) -> Table:
        """The table, if it is no larger than allowed."""
        for what, n, most in (
            ("rows", table.n_rows, self.limits.max_rows),
            ("columns", table.n_columns, self.limits.max_columns),
        ):
            if n > most:
                raise DataError(
                    f"the table has {n:,} {what}, and this server takes {most:,}. Send fewer, or "
                    "use the program on the command line, which has no such limit."
                )
        return table

    def heard(self, call: Callable[[], T]) -> tuple[list[str], T]:
        """What the library warned of during a call, each sentence once, and what came of it."""
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always", UnveilWarning)
            made = call()
        said = (
            w.message.said("web") if isinstance(w.message, UnveilWarning) else str(w.message)
            for w in told
        )
        return list(dict.fromkeys(said)), made

    @contextmanager
    def advising(self, table: Table) -> Iterator[None]:
        """Where a table with numbers is refused, say what can be done about them."""
        numbers = [v.name for v in table.variables if not v.is_discrete]
        try:
            yield
        except (DataError, ModelError) as error:
            if not numbers or (error.hint is not None and error.hint.web):
                raise
            some = ", ".join(repr(name) for name in numbers[:3]) + (", ..." if numbers[3:] else "")
            raise DataError(
                f"{error.said('web').rstrip('.')}. The table has numbers ({some}): cut them into "
                "bins on the page Table, or leave them out, and try again."
            ) from error

    def write(self, result: dict[str, Any]) -> None:
        """Write the result down; nothing comes after it."""
        with atomic_write(self.folder / "result.json") as file:
            file.write(json.dumps(result, ensure_ascii=False))
