"""How much memory may be used: a ceiling for the whole process, and what follows from it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from unveil.errors import DataError, Hint, SizeError

__all__ = ["Ceiling", "bytes_of", "size_words"]

UNITS = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
BASE = 420 << 20
"""What Python, the libraries and compiled kernels take before there is any row."""
LEAST = 160 << 20
"""What work on one part takes at least, besides."""
CELLS = 1 << 23
"""A part has so many cells at most."""
MOST_ROWS, FEWEST_ROWS = 1 << 20, 1 << 12
UNTOLD = 8 << 30
"""What a machine is taken to have that does not say."""
SHARE = 0.5
"""The share of the physical memory that is used when nothing is said."""


def bytes_of(memory: int | float | str) -> int:
    """The bytes that a number, or a text such as `2GiB`, `500 MB` or `0.5g`, stands for.

    >>> bytes_of("2GiB"), bytes_of("1.5 MB"), bytes_of(4096)
    (2147483648, 1500000, 4096)
    """
    if isinstance(memory, str):
        found = re.fullmatch(r"\s*([\d.,_]+)\s*([bkmgt]?)(i?)(b?)\s*", memory.lower())
        try:
            number = float(found[1].replace(",", "").replace("_", "")) if found else None
        except ValueError:
            number = None
        if found is None or number is None:
            raise DataError(
                f"memory is a size such as 2GiB or 500MB, not {memory!r}",
                hint=Hint('(memory="2GiB")', "(--memory 2GiB)"),
            )
        unit = UNITS[found[2]]
        if found[4] and not found[3] and found[2] not in ("", "b"):
            unit = 1000 ** list(UNITS.values())[1:].index(unit)  # MB are a million bytes
        memory = number * unit
    if not isinstance(memory, int | float):
        raise DataError(
            f"memory is a size such as 2GiB or a number of bytes, not {type(memory).__name__}",
            hint=Hint('(memory="2GiB")', "(--memory 2GiB)"),
        )
    if not memory > 0:
        raise DataError(f"memory must be more than nothing, got {memory}")
    return int(memory)


def size_words(n_bytes: float) -> str:
    """A size in words.

    >>> size_words(3 << 30), size_words(1_600_000)
    ('3.0 GiB', '1.5 MiB')
    """
    for name, unit in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if n_bytes >= unit:
            return f"{n_bytes / unit:,.1f} {name}"
    return f"{n_bytes:,.0f} bytes"


@dataclass(frozen=True)
class Ceiling:
    """What may be in memory at once, so that the whole process stays below `n_bytes`."""

    n_bytes: int

    @classmethod
    def of(cls, memory: int | float | str | None) -> Ceiling:
        """The ceiling that was asked for; half of the physical memory if none was."""
        if memory is None:
            return cls(max(int(SHARE * _physical()), BASE + 2 * LEAST))
        found = cls(bytes_of(memory))
        if found.n_bytes < BASE + LEAST:
            raise SizeError(
                f"{size_words(found.n_bytes)} of memory are too few: Python with its libraries "
                f"takes about {size_words(BASE)}, and work on one part of the rows "
                f"{size_words(LEAST)} besides. Give at least {size_words(BASE + LEAST)}"
            )
        return found

    @property
    def room(self) -> int:
        """What is left for rows and for work on them."""
        return self.n_bytes - BASE

    def part_rows(self, n_columns: int) -> int:
        """How many rows a part has; the same whatever the ceiling, as sums depend on it."""
        return max(FEWEST_ROWS, min(MOST_ROWS, CELLS // max(1, n_columns)))

    def n_workers(self, n_columns: int, n_jobs: int | None) -> int:
        """How many parts can be worked on at once."""
        if n_jobs is not None and n_jobs < 0:
            raise DataError(f"n_jobs is how many cores to use, at least 1, not {n_jobs}")
        wanted = n_jobs or os.cpu_count() or 1
        rows = self.part_rows(n_columns)
        each = LEAST / 2 + rows * n_columns * 12
        if each > self.room:
            raise SizeError(
                f"a part of {rows:,} rows of {n_columns:,} columns needs about "
                f"{size_words(each)}, and of {size_words(self.n_bytes)} of memory "
                f"{size_words(self.room)} are left for it. Allow {size_words(BASE + each)}, or "
                "leave columns out"
            )
        return max(1, min(wanted, int(0.6 * self.room / each)))

    def holds(self, n_rows: int, row_bytes: int) -> bool:
        """Whether so many coded rows can be worked on as one table in memory."""
        return n_rows * (4 * row_bytes + 100) <= 0.6 * self.room

    @property
    def kept(self) -> int:
        """How many bytes of coded rows may stay in memory between passes."""
        return self.room // 5


def _physical() -> int:
    """The memory of this machine, or what its container may use of it."""
    try:
        limits = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    except (AttributeError, ValueError, OSError):  # a system that does not say
        limits = [UNTOLD]
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            with open(path, encoding="ascii") as file:
                limits.append(int(file.read()))
        except (OSError, ValueError):
            continue
    return min(limits)
