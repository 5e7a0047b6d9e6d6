"""How long the first use takes, and the second: kernels are compiled once after an installation.

    python benchmarks/cold_start.py --out benchmarks/results/cold_start.json

Each command runs as a user would run it, in a process of its own. `cold`: with an empty folder for
compiled code. `warm`: again, with what was compiled. Seconds by the wall clock and of CPU (of all
processes), and how many variants of kernels were compiled. The best of `--rounds` counts.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from common import machine, markdown_table, versions, write_json

PROGRAM = [sys.executable, "-c", "from unveil.cli import main; main()"]
COMMANDS = {
    "unveil --help": ["--help"],
    "unveil info": ["info", "DATA"],
    "unveil learn": ["learn", "DATA", "--seed", "1"],
    "unveil discover": [
        "discover",
        "DATA",
        "--seed",
        "1",
        "-o",
        "OUT/found",
        "--no-resume",
        "--max-hidden",
        "1",
        "--resamples",
        "0",
        "--no-straw-men",
        "--n-jobs",
        "1",
    ],
    "unveil demo": ["demo", "-o", "OUT/demo"],
}
"""DATA is a table of 1,000 rows and 8 columns; `discover` looks for one variable."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--only", nargs="*", default=list(COMMANDS))
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    found: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "asia.csv"
        _run(["sample", "asia", "-n", "1000", "--seed", "1", "-o", str(data)], Path(folder) / "c")
        for name in options.only:
            rounds = [_cold_and_warm(COMMANDS[name], data) for _ in range(options.rounds)]
            found[name] = {k: min(r[k] for r in rounds) for k in rounds[0]}
            print(name, found[name], flush=True)
    head = ["command", "first run (s)", "of CPU", "kernels compiled", "later runs (s)", "of CPU"]
    rows = [
        [
            f"`{name}`", f"{r['cold']:.1f}", f"{r['cold_cpu']:.1f}", str(r["compiled"]),
            f"{r['warm']:.1f}", f"{r['warm_cpu']:.1f}",
        ]
        for name, r in found.items()
    ]  # fmt: skip
    print(markdown_table(head, rows))
    if options.out:
        known = versions(["unveil", "numba", "numpy"])
        write_json(options.out, {"machine": machine(), "versions": known, "commands": found})


def _cold_and_warm(words: list[str], data: Path) -> dict[str, float]:
    """The same command twice, at first with nothing compiled."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        said = [w.replace("DATA", str(data)).replace("OUT", folder) for w in words]
        cold, cold_cpu = _run(said, place / "cache")
        compiled = len(list((place / "cache").rglob("*.nbc")))
        warm, warm_cpu = _run(said, place / "cache")
    return {
        "cold": cold, "cold_cpu": cold_cpu, "compiled": compiled,
        "warm": warm, "warm_cpu": warm_cpu,
    }  # fmt: skip


def _run(words: list[str], cache: Path) -> tuple[float, float]:
    """Seconds of a command by the clock and of CPU, its workers included."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([*PROGRAM, *words], env=environment, check=True, capture_output=True)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
