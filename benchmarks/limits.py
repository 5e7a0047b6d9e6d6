"""Does `unveil discover --time-limit` bind? Large and wide tables, made from a seed.

    python benchmarks/limits.py --out benchmarks/results/limits.json

Each case is a table of labels with hidden variables behind it, written as CSV, and one run of the
command in a process of its own: seconds by the wall clock, from start to end (reading, search,
evidence, report), the limit, and how many candidates were tried.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from common import machine, markdown_table, versions, write_json

PROGRAM = [sys.executable, "-c", "from unveil.cli import main; main()", "discover"]


@dataclass(frozen=True)
class Case:
    """A table of so many rows and columns, and the seconds allowed for it."""

    n_rows: int
    n_columns: int
    limit: float

    @property
    def name(self) -> str:
        return f"{self.n_rows:,} x {self.n_columns}, {self.limit:g} s"


CASES = [
    Case(1_000_000, 30, 120),
    Case(200, 300, 30),
    Case(300_000, 30, 40),
    Case(2_000, 30, 10),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", type=int, default=range(len(CASES)))
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    found: dict[str, Any] = {}
    for case in (CASES[i] for i in options.only):
        found[case.name] = _run(case)
        print(case.name, found[case.name], flush=True)
    head = ["table and limit", "command (s)", "search ends (s)", "candidates", "found"]
    rows = [
        [name, f"{r['seconds']:.1f}", f"{r['search']:.1f}", str(r["candidates"]), r["said"]]
        for name, r in found.items()
    ]
    print(markdown_table(head, rows))
    if options.out:
        known = versions(["unveil", "numba", "numpy"])
        write_json(options.out, {"machine": machine(), "versions": known, "cases": found})


def _run(case: Case) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        data, out = Path(folder) / "rows.csv", Path(folder) / "out"
        _write(case, data)
        words = [str(data), "-o", str(out), "--seed", "1", "--time-limit", str(case.limit)]
        began = time.perf_counter()
        done = subprocess.run([*PROGRAM, *words], capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - began
        page = (out / "report.html").read_text()
        tried = re.search(r"candidates tried.*?(\d[\d,]*)", page, re.DOTALL)
        last = (out / "log.jsonl").read_text().splitlines()[-1]
    elapsed = re.search(r'"elapsed": ([\d.]+)', last)
    return {
        "limit": case.limit,
        "seconds": round(seconds, 1),
        "search": round(float(elapsed[1]), 1) if elapsed else float("nan"),
        "candidates": int(tried[1].replace(",", "")) if tried else 0,
        "said": done.stdout.partition("\n")[0][:120],
        "code": done.returncode,
    }


def _write(case: Case, path: Path) -> None:
    """Rows of columns with two to four states; three hidden variables are behind a third each."""
    from unveil import Table, Variable

    generator = np.random.default_rng([case.n_rows, case.n_columns])
    hidden = generator.integers(3, size=(3, case.n_rows))
    variables, columns = [], []
    for i in range(case.n_columns):
        k = 2 + i % 3
        table = generator.dirichlet(np.full(k, 0.7), size=3)
        draws = generator.random(case.n_rows)[:, None]
        codes = (draws > table.cumsum(axis=1)[hidden[i % 3]][:, :-1]).sum(axis=1)
        variables.append(Variable(f"v{i}", [f"s{s}" for s in range(k)]))
        columns.append(codes)
    Table(variables, columns).write(path)


if __name__ == "__main__":
    main()
