"""How long the first `unveil learn` takes, with kernels to compile, and every later one."""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from common import markdown_table

__all__ = ["cold"]

SEED = 1
Record = dict[str, Any]

COMMAND = "from unveil.cli import main; main()"
TIMED_COMMAND = """
import atexit, collections, json, sys, time
from numba.core import event
class Compilers(event.Listener):
    depth, started, took = 0, 0.0, collections.Counter()
    def on_start(self, happening):
        if self.depth == 0:
            self.started = time.process_time()
        self.depth += 1
    def on_end(self, happening):
        self.depth -= 1
        if self.depth == 0:
            function = happening.data["dispatcher"].py_func
            name = f"{function.__module__}.{function.__name__}"
            self.took[name] += time.process_time() - self.started
event.register("numba:compile", Compilers())
took = Compilers.took
atexit.register(lambda: print("COMPILED", json.dumps(took.most_common()), file=sys.stderr))
from unveil.cli import main
main()
"""
"""The same, telling at the end how much processor time compiling each kernel took."""


def cold() -> Record:
    """`unveil learn` on a small file with empty and with filled caches of compiled kernels."""
    from unveil import datasets

    record: Record = {}
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "asia.csv"
        datasets.network("asia").sample(1000, seed=SEED).write(data)
        arguments = ["learn", str(data), "-o", str(Path(folder) / "model.json")]
        for name, cache in {"cold": "first", "cold, compilers timed": "second"}.items():
            env = {**os.environ, "NUMBA_CACHE_DIR": str(Path(folder) / cache)}
            code = COMMAND if name == "cold" else TIMED_COMMAND
            record[name] = _timed([sys.executable, "-c", code, *arguments], env)
        warm = [_timed([sys.executable, "-c", COMMAND, *arguments], env) for _ in range(5)]
        listing = _timed([sys.executable, "-X", "importtime", "-c", COMMAND, *arguments], env)
    for field in ("seconds", "cpu_seconds"):
        times = [w[field] for w in warm]
        record.setdefault("warm", {})[field] = statistics.median(times)
        record["warm"][f"best_{field}"] = min(times)
    lines = record["cold, compilers timed"]["errors"]
    record["compiled"] = json.loads(next(x for x in lines if x.startswith("COMPILED"))[9:])
    record["imported"] = _import_seconds(listing["errors"])
    for part in ("cold", "cold, compilers timed"):
        del record[part]["errors"]
    print(_cold_report(record))
    return {"cold_start": record | {"load": os.getloadavg()}}


def _cold_report(record: Record) -> str:
    whole, warm = record["cold"], record["warm"]
    compiling = sum(seconds for _, seconds in record["compiled"])
    kernels = [[name, f"{seconds:.2f}"] for name, seconds in record["compiled"][:12]]
    packages = [[name, f"{seconds:.3f}"] for name, seconds in record["imported"][:14]]
    return "\n\n".join(
        [
            f"cold {whole['seconds']:.2f} s (processor {whole['cpu_seconds']:.2f} s), warm "
            f"{warm['seconds']:.2f} s, at best {warm['best_seconds']:.2f} s (processor "
            f"{warm['cpu_seconds']:.2f} s)",
            f"compiling takes {compiling:.2f} s of processor time:",
            markdown_table(["kernel", "seconds"], kernels),
            "importing (warm), by package:",
            markdown_table(["package", "seconds"], packages),
        ]
    )


def _timed(command: list[str], env: dict[str, str]) -> Record:
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        command, env=env, check=True, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    seconds, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return {"seconds": seconds, "cpu_seconds": cpu, "errors": done.stderr.splitlines()}


def _import_seconds(lines: list[str]) -> list[tuple[str, float]]:
    """Self time of `-X importtime` summed over the modules of each package, largest first."""
    seconds: dict[str, float] = defaultdict(float)
    for line in lines:
        if line.startswith("import time:") and "self [us]" not in line:
            own, _, module = line.removeprefix("import time:").split("|")
            seconds[module.strip().split(".")[0]] += int(own) / 1e6
    return sorted(seconds.items(), key=lambda item: -item[1])
