"""One step of EM for latent classes beside StepMix, on binary tables.

    python benchmarks/latent_classes.py --data FOLDER [--sets nltcs,jester] [--out FILE]

FOLDER has NAME.train.csv.gz (see density.py). Both start from the parameters that StepMix draws and
make the same steps; a step's time is that of many less that of few, divided by how many more, the
best of some rounds in which the two take turns. CPU time is that of all threads together, with one
thread for BLAS (set OMP_NUM_THREADS=1), so that other work on the machine does not count; wall time
is measured in the same rounds. The
log-likelihoods after the last step are recorded side by side.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from common import machine, markdown_table, versions, write_json
from density import read

from unveil import Network, TableCPD, Variable
from unveil.em.steps import TableEM

PACKAGES = ("unveil", "stepmix", "numpy", "scipy", "numba")
FEW, MANY, ROUNDS = 1, 11, 4
CLASSES = (10, 50, 100)
COLUMNS = ("unveil_cpu_ms", "stepmix_cpu_ms", "unveil_wall_ms", "stepmix_wall_ms")


def stepmix(codes: Any, k: int) -> tuple[Any, Callable[[int], float]]:
    """What it draws to start from, and a call that makes so many steps."""
    from stepmix import StepMix

    options = {
        "n_components": k, "measurement": "binary", "n_init": 1, "abs_tol": 0.0, "rel_tol": 0.0,
        "random_state": 1, "progress_bar": 0,
    }  # fmt: skip
    once = StepMix(max_iter=1, **options).fit(codes)
    # What it drew before its first E-step, by the same calls in the same order.
    once._initialize_parameters(codes, np.random.RandomState(1))
    drawn = once.get_parameters()

    def steps(n: int) -> float:
        model = StepMix(max_iter=n, **options).fit(codes)
        return float(model.score(codes)) * len(codes)

    return (np.asarray(drawn["weights"]), np.asarray(drawn["measurement"]["pis"])), steps


def ours(table: Any, start: Any) -> Callable[[int], float]:
    """A call that makes so many steps from the same start."""
    weights, ones = start
    root = Variable("class", range(len(weights)), hidden=True)
    cpds = [TableCPD(root, [], weights)]
    for v, p in zip(table.variables, ones.T, strict=True):
        cpds.append(TableCPD(v, [root], np.column_stack([1 - p, p])))
    network = Network(cpds)
    problem = TableEM(network, table)

    def steps(n: int) -> float:
        tables = problem.pack(network)
        for _ in range(n):
            tables, _ = problem.step(tables)
        return float(problem.row_scores(tables) @ problem.row_weights)

    return steps


def seconds(call: Callable[[int], float], n: int) -> tuple[tuple[float, float], float]:
    """The CPU and wall seconds of so many steps, and the log-likelihood after them."""
    started, wall = time.process_time(), time.perf_counter()
    found = call(n)
    return (time.process_time() - started, time.perf_counter() - wall), found


def per_step(took: list[Any]) -> tuple[float, float]:
    """The best times of many steps less the best of few, by how many more they are: CPU, wall."""
    few, many = np.min(took, axis=0)
    cpu, wall = (many - few) / (MANY - FEW)
    return float(cpu), float(wall)


def measured(folder: Path, name: str, k: int) -> dict[str, Any]:
    """Both on one table with so many classes."""
    table = read(folder, name, "train")
    codes = np.column_stack([table.column(n) for n in table.names]).astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start, theirs = stepmix(codes, k)
        mine = ours(table, start)
        mine(1)
        tools = {"unveil": mine, "stepmix": theirs}
        took: dict[str, list[Any]] = {tool: [] for tool in tools}
        ends: dict[str, float] = {}
        for _ in range(ROUNDS):
            for tool, call in tools.items():
                few, _ = seconds(call, FEW)
                many, ends[tool] = seconds(call, MANY)
                took[tool].append((few, many))
    cpu, wall = ({tool: 1e3 * per_step(own)[i] for tool, own in took.items()} for i in range(2))
    return {
        "rows": table.n_rows, "columns": table.n_columns, "classes": k,
        "unveil_cpu_ms": cpu["unveil"], "stepmix_cpu_ms": cpu["stepmix"],
        "times": cpu["stepmix"] / cpu["unveil"],
        "unveil_wall_ms": wall["unveil"], "stepmix_wall_ms": wall["stepmix"],
        "wall_times": wall["stepmix"] / wall["unveil"], "load": os.getloadavg()[0],
        "log_likelihood": ends["unveil"], "stepmix_log_likelihood": ends["stepmix"],
    }  # fmt: skip


def products(n_rows: int = 9_000, n_columns: int = 100, k: int = 100) -> dict[str, Any]:
    """The least a step with BLAS takes: one product for posteriors, one for counts."""
    generator = np.random.default_rng(1)
    rows, logs = generator.random((n_rows, n_columns)), generator.random((n_columns, k))
    took = []
    for _ in range(20):
        started = time.process_time()
        (rows @ logs).T @ rows
        took.append(time.process_time() - started)
    return {"rows": n_rows, "columns": n_columns, "classes": k, "cpu_ms": 1e3 * min(took)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder with the sets")
    parser.add_argument("--sets", default="nltcs,baudio,jester,pumsb_star")
    parser.add_argument("--out", type=Path, help="where to keep the record; sets there stay")
    options = parser.parse_args()
    record: dict[str, Any] = {"machine": machine(), "versions": versions(PACKAGES), "found": {}}
    if options.out and options.out.exists():
        record["found"] = json.loads(options.out.read_text())["found"]
    record["products"] = products()
    for name in filter(None, options.sets.split(",")):
        for k in CLASSES:
            found = measured(options.data, name, k)
            record["found"][f"{name}, {k} classes"] = found
            print(f"{name}, {k}: {json.dumps(found)}", file=sys.stderr, flush=True)
            if options.out:
                write_json(options.out, record)
    rows = [
        [word, *(f"{f[x]:.2f}" for x in COLUMNS), f"{f['times']:.1f}", f"{f['wall_times']:.1f}"]
        for word, f in record["found"].items()
    ]  # fmt: skip
    head = [
        "table", "unveil, CPU ms a step", "StepMix", "unveil, wall ms a step", "StepMix",
        "times, CPU", "times, wall",
    ]  # fmt: skip
    print(markdown_table(head, rows))
    print(f"two products of matrices alone: {json.dumps(record['products'])}")
    if options.out:
        write_json(options.out, record)


if __name__ == "__main__":
    main()
