"""What benchmark scripts share: versions and machine, JSON out, and tables in markdown."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

__all__ = [
    "clocked",
    "machine",
    "markdown_table",
    "network_file",
    "shown",
    "versions",
    "write_json",
]


def versions(packages: Iterable[str]) -> dict[str, str]:
    """The installed version of each package, or `not installed`."""
    found = {"python": platform.python_version()}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def machine() -> dict[str, Any]:
    """What the numbers were measured on."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "system": platform.platform(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gib": round(memory / 2**30, 1),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((x.split(":")[1].strip() for x in lines if x.startswith("model name")), "")


def network_file(folder: Path, name: str) -> Path | None:
    """The BIF file of a network in a folder, packed or not; `None` when it is not there."""
    return next(
        (p for p in (folder / f"{name}.bif", folder / f"{name}.bif.gz") if p.exists()), None
    )


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in markdown, the first column to the left and the others to the right."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def write_json(path: Path, record: Any) -> None:
    """The record as indented JSON."""
    path.write_text(json.dumps(record, indent=1) + "\n")


def clocked(work: Callable[[], Any]) -> tuple[Any, float]:
    """What the work gives, and the processor time it took: others may share the machine."""
    started = time.process_time()
    result = work()
    return result, time.process_time() - started


def shown(value: Any) -> str:
    """A value as a cell of a table; nothing for `None`."""
    if value is None:
        return ""
    return f"{value:.3f}" if isinstance(value, float) else str(value)
