"""Tables that do not fit: Parquet, DuckDB and Dask beside the rows in memory and a plain scan.

    python benchmarks/engines.py --work /somewhere/with/20GB --out benchmarks/results/engines.json
    python benchmarks/engines.py --work ... --rows 20000000 --only rows hidden --keep

Rows are drawn by code from a network of 20 columns (half of them text, half whole numbers, two to
four states) with one hidden variable behind six of them, and written as Parquet files of five
million rows. Every case is a process of its own: seconds by the wall clock and of the processor
(all its threads), and the largest resident memory that the system saw, with a ceiling of 2 GiB
asked for. `rows`: open, learn, fit, beside pyarrow's scan of all columns. `hidden`: find the
hidden variable, candidates from drawn rows (`--sample`), judged on all.
`flat`: the same learning for more and more rows. `em`: steps of EM with the hidden variable.
`alarm`: ALARM through DuckDB and in memory. `dask`: a cluster of one and of two processes, and one
whose worker is killed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from common import machine, markdown_table, versions, write_json
from planted import PLANTED, planted_network, true_network

FILE_ROWS = 5_000_000
GROUP_ROWS = 1_000_000
CEILING = "2GiB"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", type=Path, required=True, help="a folder for the rows")
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--alarm-rows", type=int, default=5_000_000)
    parser.add_argument("--cluster-rows", type=int, default=5_000_000)
    parser.add_argument("--sample", type=int, help="rows to draw; by default as discover does")
    parser.add_argument("--seed", type=int, default=1, help="for --only hidden: rows and discovery")
    parser.add_argument(
        "--planted", default="benchmark",
        help="for --only hidden: the network that rows are made from: "
        f"benchmark, {', '.join(PLANTED)}, star-N, inside-N, null-N",
    )  # fmt: skip
    parser.add_argument("--repeats", type=int, default=2, help="how often clusters take turns")
    parser.add_argument("--n-jobs", type=int, default=None)
    parser.add_argument("--only", nargs="*", default=[*GROUPS])
    parser.add_argument("--keep", action="store_true", help="leave the rows in the folder")
    parser.add_argument("--case", help="for the processes that this starts")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if options.case:
        print("RESULT " + json.dumps(CASES[options.case](options)), flush=True)
        return
    options.work.mkdir(parents=True, exist_ok=True)
    found: dict[str, Any] = {}
    note = "a shared machine of two cores: see processor seconds beside wall seconds"
    if options.out and options.out.exists():
        earlier = json.loads(options.out.read_text())
        found, note = earlier["cases"], earlier["note"]
    for name in options.only:
        found |= GROUPS[name](options)
        if options.out:
            record = {
                "machine": machine(),
                "versions": versions(["unveil", "pyarrow", "duckdb", "dask", "distributed"]),
                "note": note,
                "cases": found,
            }
            write_json(options.out, record)
    if not options.keep:
        shutil.rmtree(_folder(options), ignore_errors=True)
        shutil.rmtree(options.work / "alarm", ignore_errors=True)
    rows = [
        [name, f"{r['seconds']:.1f}", f"{r['processor']:.1f}", f"{r['peak_mib']:,.0f}"]
        for name, r in found.items()
        if "peak_mib" in r
    ]
    print(markdown_table(["case", "seconds", "processor seconds", "peak MiB"], rows))


def _child(case: str, options: argparse.Namespace, **changes: Any) -> dict[str, Any]:
    """What a case gives in a process of its own, and what that process took."""
    given = {
        "--work": options.work, "--rows": options.rows, "--alarm-rows": options.alarm_rows,
        "--sample": options.sample, "--n-jobs": options.n_jobs,
        "--cluster-rows": options.cluster_rows, "--seed": options.seed,
        "--planted": options.planted,
    } | {f"--{k.replace('_', '-')}": v for k, v in changes.items()}  # fmt: skip
    words = [str(x) for k, v in given.items() if v is not None for x in (k, v)]
    began = time.monotonic()
    with subprocess.Popen(
        [sys.executable, __file__, "--case", case, *words], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        lines = process.stdout.read().splitlines()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{case} failed: {lines[-5:]}")
    told = next(line for line in reversed(lines) if line.startswith("RESULT "))
    result = json.loads(told.removeprefix("RESULT "))
    result |= {
        "seconds": round(time.monotonic() - began, 2),
        "processor": round(usage.ru_utime + usage.ru_stime, 2),
        "peak_mib": round(usage.ru_maxrss / 1024, 1),
    }
    print(case, changes, result, flush=True)
    return result


# Rows -------------------------------------------------------------------------------------------


def _make(options: argparse.Namespace) -> dict[str, Any]:
    import pyarrow as pa
    import pyarrow.parquet as parquet

    folder = _folder(options)
    folder.mkdir(parents=True, exist_ok=True)
    network = planted_network(options.planted)
    first = 1_000_000 * (options.seed - 1)
    for number in range(-(-options.rows // FILE_ROWS)):
        path = folder / f"part-{number:03}.parquet"
        if path.exists():
            continue
        writer = None
        for group in range(FILE_ROWS // GROUP_ROWS):
            size = min(GROUP_ROWS, options.rows - number * FILE_ROWS - group * GROUP_ROWS)
            if size <= 0:
                break
            table = network.sample(size, seed=first + 1000 * number + group)
            table = table.select([n for n in table.names if n != "H"])
            plain = {n: table.to_arrow().column(n) for n in table.names}
            arrow = pa.table({n: c.cast(c.type.value_type) for n, c in plain.items()})
            writer = writer or parquet.ParquetWriter(str(path) + ".part", arrow.schema)
            writer.write_table(arrow, row_group_size=GROUP_ROWS)
        assert writer is not None
        writer.close()
        os.rename(str(path) + ".part", path)
    return {"bytes": sum(p.stat().st_size for p in folder.glob("*.parquet"))}


def _folder(options: argparse.Namespace) -> Path:
    """Where the rows are: those of each network and seed by themselves."""
    which = "" if options.planted == "benchmark" else f"-{options.planted}"
    found: Path = options.work / f"rows{which}{'' if options.seed == 1 else f'-{options.seed}'}"
    return found


def _some_files(options: argparse.Namespace, n_rows: int) -> Path:
    """A folder with links to as many files as hold so many rows."""
    folder = options.work / f"first-{n_rows}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for path in sorted(_folder(options).glob("*.parquet"))[: max(1, n_rows // FILE_ROWS)]:
        os.link(path, folder / path.name)
    return folder


def _scan(options: argparse.Namespace) -> dict[str, Any]:
    import pyarrow.dataset as ds

    n_rows = 0
    for batch in ds.dataset(_folder(options)).to_batches():
        n_rows += batch.num_rows
    return {"rows": n_rows}


def _rows(options: argparse.Namespace) -> dict[str, Any]:
    import unveil
    from unveil.engines import PartedRows

    times: dict[str, Any] = {}
    rows: Any = _timed(times, "open", lambda: _open(_folder(options), options, CEILING))
    times["rows"] = rows.n_rows
    parted = isinstance(rows, PartedRows)
    times["parts"], times["stored"] = (len(rows.parts), rows.n_stored) if parted else (1, len(rows))

    def passes() -> int:
        return rows.n_passes if parted else 0

    pairs = [(i, j) for i in range(20) for j in range(i)]
    if parted:
        _timed(times, "count 190 pairs", lambda: rows.counts(pairs))
    before = passes()
    learned = _timed(times, "learn", lambda: unveil.learn(rows, seed=1, restarts=0))
    times["learn passes"], times["arcs"] = passes() - before, learned.dag.n_arcs
    before = passes()
    _timed(times, "fit", lambda: unveil.fit(learned.dag, rows))
    times["fit passes"] = passes() - before
    times["score"] = learned.search.score
    return times


def _hidden(options: argparse.Namespace) -> dict[str, Any]:
    """Open the rows and find the hidden variable, as `unveil discover` does."""
    import unveil

    times: dict[str, Any] = {}
    folder = _some_files(options, options.rows)
    rows: Any = _timed(times, "open", lambda: _open(folder, options, CEILING))
    times["rows"] = rows.n_rows
    found = _timed(
        times, "discover",
        lambda: unveil.discover(
            rows, sample=options.sample, max_hidden=1, seed=options.seed, evidence=False,
            straw_men=False, n_jobs=options.n_jobs,
        ),
    )  # fmt: skip
    times["hidden"] = {
        h: [found.network.variable(h).n_states, list(found.network.dag.children(h))]
        for h in found.hidden
    }
    times["planted"], times["seed"] = options.planted, options.seed
    network = planted_network(options.planted)
    times["truth"] = {
        h: [network.variable(h).n_states, list(network.dag.children(h))] for h in network.hidden
    }
    times["passes"] = getattr(rows, "n_passes", 0)
    if found.whole is not None:
        times["drawn"] = found.whole.n_drawn
        times["all rows"] = {k: v for k, v in found.whole.to_dict().items() if k != "words"}
    shutil.rmtree(folder)
    return times


def _open(path: Path, options: argparse.Namespace, memory: str, **more: Any) -> Any:
    import unveil

    return unveil.open_rows(path, memory=memory, n_jobs=options.n_jobs, spool=options.work, **more)


def _timed(times: dict[str, Any], name: str, work: Callable[[], Any]) -> Any:
    wall, processor = time.monotonic(), time.process_time()
    found = work()
    times[name] = {
        "seconds": round(time.monotonic() - wall, 2),
        "processor": round(time.process_time() - processor, 2),
    }
    print(name, times[name], file=sys.stderr, flush=True)
    return found


def group_rows(options: argparse.Namespace) -> dict[str, Any]:
    found = {"make": _child("make", options)}
    name = f"{options.rows:,} rows"
    found[f"{name}: learn, fit"] = _child("rows", options)
    found[f"{name}: pyarrow's scan"] = _child("scan", options)
    return found


def group_hidden(options: argparse.Namespace) -> dict[str, Any]:
    _child("make", options)
    name = f"{options.rows:,} rows: discover"
    if (options.planted, options.seed) != ("benchmark", 1):
        name += f", {options.planted}, seed {options.seed}"
    return {name: _child("hidden", options)}


# Flat memory ------------------------------------------------------------------------------------


def _flat(options: argparse.Namespace) -> dict[str, Any]:
    import unveil

    times: dict[str, Any] = {}
    folder = _some_files(options, options.rows)
    rows = _timed(times, "open", lambda: _open(folder, options, "1GiB"))
    times["rows"], times["kind"] = rows.n_rows, type(rows).__name__
    _timed(times, "learn", lambda: unveil.learn(rows, "bic", "hill-climbing", seed=1))
    shutil.rmtree(folder)
    return times


def group_flat(options: argparse.Namespace) -> dict[str, Any]:
    _child("make", options)
    sizes = [n for n in (5_000_000, 20_000_000, 80_000_000) if n <= options.rows]
    return {f"flat, {n:,} rows, 1 GiB": _child("flat", options, rows=n) for n in sizes}


# A step of EM ---------------------------------------------------------------------------------


def _em(options: argparse.Namespace) -> dict[str, Any]:
    from unveil.em.parted import PartedTableEM
    from unveil.em.steps import em_problem

    times: dict[str, Any] = {}
    folder = _some_files(options, options.rows)
    rows = _open(folder, options, "700MiB")
    times["rows"] = rows.n_rows
    grouped = _timed(times, "group the rows", lambda: em_problem(true_network(), rows))
    tables = grouped.pack(true_network())
    _timed(times, "EM over groups, 3 steps", lambda: [grouped.step(tables) for _ in range(3)])
    problem = PartedTableEM(true_network(), rows)
    start = problem.pack(true_network())
    problem.step(start)  # compiles
    _timed(times, "EM, 3 steps", lambda: [problem.step(start) for _ in range(3)])
    shutil.rmtree(folder)
    return times


def group_em(options: argparse.Namespace) -> dict[str, Any]:
    n_rows = min(FILE_ROWS, options.rows)
    _child("make", options, rows=n_rows)
    return {f"EM, {n_rows:,} rows": _child("em", options, rows=n_rows)}


# ALARM through DuckDB ---------------------------------------------------------------------------


def _alarm_make(options: argparse.Namespace) -> dict[str, Any]:
    import duckdb
    import pyarrow as pa
    import pyarrow.parquet as parquet

    from unveil import datasets

    folder = options.work / "alarm"
    folder.mkdir(exist_ok=True)
    network = datasets.network("alarm")
    path, writer = folder / "alarm.parquet", None
    for i in range(-(-options.alarm_rows // GROUP_ROWS)):
        table = network.sample(min(GROUP_ROWS, options.alarm_rows - i * GROUP_ROWS), seed=i)
        arrow = table.to_arrow()
        arrow = pa.table({n: arrow.column(n).cast(pa.string()) for n in arrow.column_names})
        writer = writer or parquet.ParquetWriter(path, arrow.schema)
        writer.write_table(arrow)
    assert writer is not None
    writer.close()
    (folder / "alarm.duckdb").unlink(missing_ok=True)
    with duckdb.connect(str(folder / "alarm.duckdb")) as connection:
        connection.execute(f"CREATE TABLE alarm AS SELECT * FROM '{path}'")
    return {"bytes": (folder / "alarm.duckdb").stat().st_size}


def _alarm_memory(options: argparse.Namespace) -> dict[str, Any]:
    import unveil

    times: dict[str, Any] = {}
    path = options.work / "alarm" / "alarm.parquet"
    table = _timed(times, "read", lambda: unveil.Table.read(path, max_bytes=None))
    learned = _timed(times, "learn", lambda: unveil.learn(table, seed=1, n_jobs=options.n_jobs))
    return times | {"score": learned.search.score}


def _alarm_duckdb(options: argparse.Namespace) -> dict[str, Any]:
    return _alarm_through(options, "8GiB")


def _alarm_parts(options: argparse.Namespace) -> dict[str, Any]:
    return _alarm_through(options, "900MiB")


def _alarm_through(options: argparse.Namespace, memory: str) -> dict[str, Any]:
    import unveil

    times: dict[str, Any] = {}
    path = options.work / "alarm" / "alarm.duckdb"
    rows = _timed(times, "open", lambda: _open(path, options, memory))
    times["kind"] = type(rows).__name__
    learned = _timed(times, "learn", lambda: unveil.learn(rows, seed=1, n_jobs=options.n_jobs))
    times["passes"] = getattr(rows, "n_passes", 0)
    return times | {"score": learned.search.score}


def group_alarm(options: argparse.Namespace) -> dict[str, Any]:
    _child("alarm-make", options)
    name = f"ALARM, {options.alarm_rows:,} rows"
    return {
        f"{name}: in memory": _child("alarm-memory", options),
        f"{name}: DuckDB, 8 GiB": _child("alarm-duckdb", options),
        f"{name}: DuckDB, 900 MiB": _child("alarm-parts", options),
    }


# Dask -------------------------------------------------------------------------------------------


def _dask(options: argparse.Namespace) -> dict[str, Any]:
    return _on_cluster(options, 1)


def _dask_two(options: argparse.Namespace) -> dict[str, Any]:
    return _on_cluster(options, 2)


def _dask_killed(options: argparse.Namespace) -> dict[str, Any]:
    return _on_cluster(options, 2, kill=True)


def _on_cluster(options: argparse.Namespace, n_workers: int, kill: bool = False) -> dict[str, Any]:
    """Counting and EM on a cluster; the result's digits say whether another run gave the same."""
    import threading
    from itertools import combinations

    from distributed import Client, LocalCluster

    import unveil
    from unveil.em.loop import run_em
    from unveil.em.parted import PartedTableEM

    times: dict[str, Any] = {"workers": n_workers, "killed": 0}
    folder = _some_files(options, options.cluster_rows)
    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        rows = _timed(
            times, "open", lambda: unveil.open_rows(folder, engine="dask", memory="700MiB")
        )
        times["rows"], times["parts"] = rows.n_rows, len(rows.parts)
        triples = list(combinations(range(20), 3))
        rows.counts(triples[:3])
        problem = PartedTableEM(true_network(), rows)  # over the rows, as where there are gaps
        start = problem.pack(true_network())
        problem.step(start)  # compiles on every worker
        before = list(client.run(time.process_time).values())
        _timed(times, "count 1,140 triples", lambda: rows.counts(triples))
        between = list(client.run(time.process_time).values())
        times["count 1,140 triples"]["workers"] = _differences(before, between)
        if kill:
            worker = next(iter(cluster.workers.values()))
            threading.Timer(4.0, _kill, [worker.pid, times]).start()
        run = _timed(times, "EM, 10 steps", lambda: run_em(problem.step, start, 10, 0.0))
        times["objective"] = run.objective.hex()
        if not kill:
            after = list(client.run(time.process_time).values())
            times["EM, 10 steps"]["workers"] = _differences(between, after)
    shutil.rmtree(folder)
    return times


def _differences(before: list[float], after: list[float]) -> list[float]:
    """The processor seconds of every worker."""
    return [round(b - a, 2) for a, b in zip(before, after, strict=True)]


def _kill(pid: int, times: dict[str, Any]) -> None:
    os.kill(pid, 9)
    times["killed"] = 1


def group_dask(options: argparse.Namespace) -> dict[str, Any]:
    """One and two processes in turns, the best of each; then two, of which one is killed."""
    _child("make", options, rows=options.cluster_rows)
    runs: dict[str, list[Any]] = {"dask": [], "dask-two": []}
    for _ in range(options.repeats):
        for case, own in runs.items():
            own.append(_child(case, options))
    one, two = ({**own[0]} for own in runs.values())
    for part in ("count 1,140 triples", "EM, 10 steps"):
        for best, own in zip((one, two), runs.values(), strict=True):
            best[part] = min((run[part] for run in own), key=lambda x: x["seconds"])
        two[f"{part}: times faster"] = round(one[part]["seconds"] / two[part]["seconds"], 2)
        busiest = max(two[part]["workers"])
        two[f"{part}: share of the busiest"] = round(sum(one[part]["workers"]) / busiest, 2)
    found = {"Dask, one process": one, "Dask, two processes": two}
    two["same result"] = one["objective"] == two["objective"]
    killed = _child("dask-killed", options)
    killed["same result"] = killed["objective"] == two["objective"]
    return found | {"Dask, two processes, one killed": killed}


CASES: dict[str, Callable[[argparse.Namespace], dict[str, Any]]] = {
    "make": _make, "scan": _scan, "rows": _rows, "hidden": _hidden, "flat": _flat, "em": _em,
    "alarm-make": _alarm_make,
    "alarm-memory": _alarm_memory, "alarm-duckdb": _alarm_duckdb, "alarm-parts": _alarm_parts,
    "dask": _dask, "dask-two": _dask_two, "dask-killed": _dask_killed,
}  # fmt: skip
GROUPS = {
    "rows": group_rows, "hidden": group_hidden, "flat": group_flat, "em": group_em,
    "alarm": group_alarm, "dask": group_dask,
}  # fmt: skip

if __name__ == "__main__":
    main()
