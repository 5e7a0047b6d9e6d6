"""Structures learned from complete data: unveil against pyAgrum, pgmpy and causal-learn.

    python benchmarks/structure.py --data FOLDER --out results.json [--only "alarm 10000" pigs]
    python benchmarks/structure.py --data FOLDER --part memory
    python benchmarks/structure.py --data FOLDER --part cold
    python benchmarks/structure.py --data FOLDER --wide

FOLDER holds BIF networks (alarm.bif, ...), for `--wide` the table bbc.train.csv.gz: 1,058 binary
columns and 1,670 rows (github.com/arranger1044/DEBD). Every tool sees the same rows, drawn by us
with a fixed seed, in a process of its own. The processes take turns, one run each per round, so
that all feel the same load; a run that exceeds `--time-limit` is killed and noted. One scorer,
ours, gives the BDeu (equivalent sample size 1) and BIC of every graph found, whatever the tool says
of it.

`seconds` is the time from rows in memory to a graph: for us, counting structures and search; for
pyAgrum, `learnDAG` alone (its constructor, which writes the frame to a temporary file and reads it
back, is in `total`); for pgmpy and causal-learn, the search. `total` adds what else a user waits
for; for us, estimating the parameters. Compiling our kernels happens before (see `--part cold`).
R's bnlearn is not here: Debian 12 does not package it and its present version asks for R 4.4.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import select
import statistics
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from common import machine, markdown_table, network_file, versions, write_json
from structure_cold import cold
from structure_tools import TOOLS, Clock, Record

from unveil import BIC, DAG, BDeu, Network, Table, __version__
from unveil.graph import compare, equivalence_class_distance
from unveil.score import FamilyScores
from unveil.search import SEARCHES

SEED = 1
ROUNDS = 25
BUDGET = 6.0
"""Runs of one tool on one table stop after so many rounds, or once they took so many seconds."""


class Case(NamedTuple):
    """One table: a network's name and a number of rows."""

    network: str
    n_rows: int

    def __str__(self) -> str:
        return f"{self.network} {self.n_rows}"


ALARM_1K, ALARM, ALARM_100K = Case("alarm", 1_000), Case("alarm", 10_000), Case("alarm", 100_000)
INSURANCE_1K, HAILFINDER_1K = Case("insurance", 1_000), Case("hailfinder", 1_000)
INSURANCE, HAILFINDER = Case("insurance", 10_000), Case("hailfinder", 10_000)
HEPAR2, PIGS = Case("hepar2", 10_000), Case("pigs", 10_000)
SMALL = (ALARM_1K, INSURANCE_1K, HAILFINDER_1K)
CASES = (*SMALL, ALARM, ALARM_100K, INSURANCE, HAILFINDER, HEPAR2, PIGS)


TARGETS = {"BDeu": tuple(TOOLS), "BIC": tuple(t for t in TOOLS if "GES" not in t)}

HOPELESS = {
    "pgmpy hc": {PIGS: "over 190,000 families before the first move, some ms each"},
    "causal-learn GES, plain BDeu": {
        ALARM_100K: "over a hundred seconds at a tenth of the rows",
        PIGS: "over 190,000 families before the first move, some ms each",
    },
    "causal-learn GES, stock": {
        ALARM_100K: "over a hundred seconds at a tenth of the rows",
        HAILFINDER: "as with plain BDeu", HEPAR2: "as with plain BDeu",
        PIGS: "over 190,000 families before the first move, some ms each",
    },
}  # fmt: skip
"""What is not tried, and why."""


# Processes -------------------------------------------------------------------------------------


class Worker:
    """A tool in a process of its own, which makes a run whenever asked."""

    def __init__(self, tool: str, file: Path, case: Case, target: str) -> None:
        job = {"tool": tool, "file": str(file), "n_rows": case.n_rows, "target": target}
        self._process = subprocess.Popen(
            [sys.executable, __file__, "--worker", json.dumps(job)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env={**os.environ, "PYTHONHASHSEED": "0"},
        )  # fmt: skip
        self._answer(600)

    def run(self, time_limit: float) -> Record:
        """One run, or `failed` with the reason."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write("run\n")
            self._process.stdin.flush()
        return self._answer(time_limit)

    def _answer(self, time_limit: float) -> Record:
        out = self._process.stdout
        ready, _, _ = select.select([out], [], [], time_limit)
        if not ready:
            self.close()
            return {"failed": f"over {time_limit:.0f} s"}
        assert out is not None
        line = out.readline()
        return json.loads(line) if line else {"failed": f"exit code {self._process.wait()}"}

    def close(self) -> None:
        """End this process, and no other."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()


def work(job: Record) -> None:
    """The other side of `Worker`: prepare, then one run per line read."""
    channel = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def tell(record: Record) -> None:
        channel.write(json.dumps(record) + "\n")
        channel.flush()

    table = Network.load(job["file"]).sample(job["n_rows"], seed=SEED)
    try:
        run = TOOLS[job["tool"]](table, job["target"])
        tell({"ready": True})
        for _ in sys.stdin:
            record = run()
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            tell({**record, "peak_mib": peak})
    except Exception as error:
        tell({"failed": f"{type(error).__name__}: {error}"})


# One table -------------------------------------------------------------------------------------


def measure(file: Path, case: Case, target: str, tools: list[str], time_limit: float) -> Record:
    """Every tool on one table with one target: runs in turns, then scores and distances."""
    network = Network.load(file)
    table = network.sample(case.n_rows, seed=SEED)
    judge = Judge(network, table)
    runs: dict[str, list[Record]] = defaultdict(list)
    records: dict[str, Record] = {"true network": judge.opinion(network.dag)}
    workers = {}
    for tool in tools:
        if case in HOPELESS.get(tool, {}):
            records[tool] = {"skipped": HOPELESS[tool][case]}
        else:
            workers[tool] = Worker(tool, file, case, target)
    for _ in range(ROUNDS):
        for tool, worker in workers.items():
            past = runs[tool]
            done = past and ("failed" in past[-1] or sum(r["total"] for r in past) > BUDGET)
            if not done:
                past.append(worker.run(time_limit))
                if len(past) == 1:
                    _tell(case, target, tool, past[0])
    for tool, worker in workers.items():
        worker.close()
        records[tool] = _summary(runs[tool], judge)
    return records


def _tell(case: Case, target: str, tool: str, run: Record) -> None:
    words = run["failed"] if "failed" in run else f"{run['seconds']:.3f} s"
    print(f"{case}, {target}: {tool}: {words}", file=sys.stderr, flush=True)


def _summary(runs: list[Record], judge: Judge) -> Record:
    """Medians and bests over the runs that ended, and the judge's opinion of the last graph."""
    ended = [r for r in runs if "failed" not in r]
    if not ended:
        return {"failed": runs[-1]["failed"]}
    try:
        opinion = judge.opinion(DAG(judge.names, [tuple(arc) for arc in ended[-1]["arcs"]]))
    except ValueError as error:
        return {"failed": str(error)}
    fields = ("seconds", "cpu_seconds", "total")
    return {
        **{name: statistics.median(r[name] for r in ended) for name in fields},
        **{f"best_{name}": min(r[name] for r in ended) for name in fields},
        "n_runs": len(ended),
        "peak_mib": max(r["peak_mib"] for r in ended),
        **opinion,
    }


class Judge:
    """The common scorer: what a graph is worth on the table, and how far it is from the truth."""

    def __init__(self, network: Network, table: Table) -> None:
        self.names = network.names
        self._true = network.dag
        self._scores = {"BDeu": FamilyScores(table, BDeu(1.0)), "BIC": FamilyScores(table, BIC())}

    def opinion(self, dag: DAG) -> Record:
        """BDeu, BIC, number of arcs, and distances arc by arc and class by class."""
        return {
            **{name: scores.total(dag) for name, scores in self._scores.items()},
            "n_arcs": len(dag.arcs),
            "distance": compare(dag, self._true).hamming,
            "class_distance": equivalence_class_distance(dag, self._true),
        }


# Report ----------------------------------------------------------------------------------------


def report(results: dict[str, dict[str, Record]]) -> str:
    """A table per target, and how we stand against the targets we set ourselves."""
    parts = []
    for target in TARGETS:
        rows = [
            row for case, found in results.items() for row in _rows(case, found.get(target, {}))
        ]
        if rows:
            head = [
                "data", "tool", "seconds", "best", "processor s", "total", "BDeu", "BIC", "arcs",
                "distance", "class distance", "peak MiB",
            ]  # fmt: skip
            parts += [f"### Target {target}", markdown_table(head, rows)]
    parts += ["### Against the peers", markdown_table(*_ratios(results))]
    return "\n\n".join(parts)


def _rows(case: str, found: dict[str, Record]) -> Iterator[list[str]]:
    for tool, r in found.items():
        if "BDeu" not in r:
            yield [case, tool, r.get("failed") or f"not tried: {r['skipped']}", *[""] * 9]
            continue
        times = ["seconds", "best_seconds", "cpu_seconds", "total"]
        yield [
            case, tool, *[f"{r[t]:.4g}" if t in r else "" for t in times],
            f"{r['BDeu']:.2f}", f"{r['BIC']:.2f}", str(r["n_arcs"]), str(r["distance"]),
            str(r["class_distance"]), f"{r['peak_mib']:.0f}" if "peak_mib" in r else "",
        ]  # fmt: skip


def _ratios(results: dict[str, dict[str, Record]]) -> tuple[list[str], list[list[str]]]:
    """Speed against the fastest peer's plain hill climbing, score against the best of all peers.

    A ratio of times is given for medians, bests and processor time of one thread.
    """
    head = [
        "data", "target", "fastest peer hc", "times our hc", "our hc less theirs",
        "times our default", "best peer score", "our default less theirs",
    ]  # fmt: skip
    rows = []
    for case, by_target in results.items():
        for target, found in by_target.items():
            known = {t: r for t, r in found.items() if "seconds" in r}
            peers = {t: r for t, r in known.items() if not t.startswith("unveil")}
            climbers = {t: r for t, r in peers.items() if " hc" in t}
            if not climbers or "unveil hc" not in known:
                continue
            fastest = min(climbers, key=lambda t: climbers[t]["seconds"])
            top = max(peers, key=lambda t: peers[t][target])
            rows.append([
                case, target, fastest, _times(known, fastest, "unveil hc"),
                f"{known['unveil hc'][target] - peers[fastest][target]:+.2f}",
                _times(known, fastest, "unveil default"), top,
                f"{known['unveil default'][target] - peers[top][target]:+.2f}",
            ])  # fmt: skip
    return head, rows


def _times(known: dict[str, Record], peer: str, own: str) -> str:
    """How many times faster we are, on the number of threads that suits us best."""
    single = peer.replace("2 threads", "1 thread"), f"{own}, 1 thread"
    processor = known[single[0]]["cpu_seconds"] / known[single[1]]["cpu_seconds"]
    ours = min((known[own], known[single[1]]), key=lambda record: record["seconds"])
    median = known[peer]["seconds"] / ours["seconds"]
    best = known[peer]["best_seconds"] / ours["best_seconds"]
    return f"{median:.1f}, {best:.1f}, {processor:.1f}"


# Memory ----------------------------------------------------------------------------------------


def memory(folder: Path) -> Record:
    """Peak memory of learning in fresh processes: many variables, and many rows."""
    jobs = [
        {"network": "pigs", "n_rows": 10_000, "search": "hill-climbing"},
        {"network": "pigs", "n_rows": 10_000, "search": "combined"},
        {"network": "alarm", "n_rows": 5_000_000, "search": "hill-climbing"},
        {"network": "alarm", "n_rows": 5_000_000, "search": "combined"},
    ]
    records = []
    for job in jobs:
        full = json.dumps({**job, "file": str(network_file(folder, job["network"]))})
        done = subprocess.run(
            [sys.executable, __file__, "--memory-job", full], stdout=subprocess.PIPE, check=True
        )
        records.append({**job, **json.loads(done.stdout)})
    head = ["data", "search", "rows held, MiB", "peak of sampling, MiB", "peak of learning, MiB",
            "sampling s", "learning s", "learning, processor s"]  # fmt: skip
    rows = [
        [f"{r['network']} {r['n_rows']}", r["search"], f"{r['table_mib']:.0f}",
         f"{r['sampling_peak_mib']:.0f}", f"{r['learning_peak_mib']:.0f}",
         f"{r['sampling_seconds']:.2f}", f"{r['learning_seconds']:.2f}",
         f"{r['learning_cpu_seconds']:.2f}"]
        for r in records
    ]  # fmt: skip
    print(markdown_table(head, rows))
    return {"memory": records}


def memory_job(job: Record) -> None:
    """Sample, forget the peak so far, learn; all in this process."""
    from unveil import learn

    network = Network.load(job["file"])
    clock = Clock()
    table = network.sample(job["n_rows"], seed=SEED)
    record = {"sampling_seconds": clock.read()["seconds"], "sampling_peak_mib": _peak_mib()}
    record["table_mib"] = sum(table.column(n).nbytes for n in table.names) / 2**20
    Path("/proc/self/clear_refs").write_text("5")  # resets VmHWM, see man 5 proc
    clock = Clock()
    learned = learn(table, search=job["search"])
    record |= {f"learning_{name}": value for name, value in clock.read().items()}
    record["learning_peak_mib"] = _peak_mib()
    difference = compare(learned.dag, network.dag)
    print(json.dumps({**record, "score": learned.score, "difference": str(difference)}))


def _peak_mib() -> float:
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


# Wide tables -----------------------------------------------------------------------------------

WIDE = "bbc.train.csv.gz"
WIDE_ROUNDS = 3
WIDE_LIMIT = 2.0
"""Seconds that the default search is given in the run that shows whether limits bind."""


def wide(folder: Path) -> Record:
    """Our searches on a table of a thousand columns, in turns; a limit on time must bind there."""
    table = Table.read(folder / WIDE)
    runs: dict[str, list[Record]] = defaultdict(list)
    jobs = {name: (name, {}) for name in ("chow-liu", "hill-climbing", "combined")}
    jobs[f"combined, at most {WIDE_LIMIT:g} s"] = "combined", {"time_limit": WIDE_LIMIT}
    few = table.take(range(200)).select(table.names[:30])
    for search, options in jobs.values():
        SEARCHES[search](FamilyScores(few, BDeu(1.0)), **options)
    for _ in range(WIDE_ROUNDS):
        for job, (search, options) in jobs.items():
            clock = Clock()
            result = SEARCHES[search](FamilyScores(table, BDeu(1.0)), **options)
            found = {"BDeu": result.score, "n_arcs": result.dag.n_arcs, "stopped": result.stopped}
            runs[job].append({**clock.read(), **found})
    records = {}
    for job, past in runs.items():
        times = {f"best_{name}": min(r[name] for r in past) for name in ("seconds", "cpu_seconds")}
        median = statistics.median(r["seconds"] for r in past)
        records[job] = {**past[-1], **times, "seconds": median, "n_runs": len(past)}
    head = ["search", "seconds", "best", "processor s", "times hill climbing", "BDeu", "arcs"]
    climbing = records["hill-climbing"]["best_cpu_seconds"]
    rows = [
        [job, f"{r['seconds']:.2f}", f"{r['best_seconds']:.2f}", f"{r['best_cpu_seconds']:.2f}",
         f"{r['best_cpu_seconds'] / climbing:.1f}", f"{r['BDeu']:.2f}", str(r["n_arcs"])]
        for job, r in records.items()
    ]  # fmt: skip
    print(markdown_table(head, rows))
    shape = {"data": WIDE, "n_columns": table.n_columns, "n_rows": table.n_rows}
    about = {"unveil": __version__, "load": os.getloadavg()}
    return {"wide": shape | about | {"searches": records}}


# Front -----------------------------------------------------------------------------------------


def peers(options: argparse.Namespace, before: Record) -> Record:
    """All comparisons asked for; those of an earlier run that are not repeated are kept."""
    results: dict[str, Any] = before.get("results", {})
    for case in CASES:
        file = network_file(options.data, case.network)
        wanted = options.only is None or {str(case), case.network} & set(options.only)
        if file is None or not wanted:
            continue
        for target, tools in TARGETS.items():
            if target in options.targets:
                chosen = [
                    t for t in tools if not options.tools or any(w in t for w in options.tools)
                ]
                found = measure(file, case, target, chosen, options.time_limit)
                old = results.setdefault(str(case), {}).get(target, {})
                order = ["true network", *tools]
                results[str(case)][target] = {
                    t: (old | found)[t] for t in order if t in old | found
                }
        if options.out:
            write_json(options.out, {**before, "results": results})
    results = {str(case): results[str(case)] for case in CASES if str(case) in results}
    print(report(results))
    return {"results": results}


def main() -> None:
    """Run the part asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of BIF networks, or of the wide table")
    parser.add_argument("--out", type=Path, help="JSON file for the results")
    parser.add_argument("--part", choices=["peers", "memory", "cold", "wide"], default="peers")
    parser.add_argument(
        "--wide",
        dest="part",
        action="store_const",
        const="wide",
        help=f"the same as --part wide, on {WIDE}",
    )
    parser.add_argument("--only", nargs="*", help="networks, or cases such as 'alarm 1000'")
    parser.add_argument("--tools", nargs="*", help="tools whose names contain one of these")
    parser.add_argument("--targets", nargs="*", default=list(TARGETS))
    parser.add_argument("--time-limit", type=float, default=300.0, help="seconds per run")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--memory-job", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(json.loads(options.worker))
        return
    if options.memory_job:
        memory_job(json.loads(options.memory_job))
        return
    if options.data is None and options.part != "cold":
        parser.error("--data is needed: a folder with BIF networks")
    about = {
        "versions": versions(["numpy", "numba", "pyagrum", "pgmpy", "causal-learn"])
        | {"unveil": __version__},
        "machine": machine() | {"load": [round(x, 1) for x in os.getloadavg()]},
        "settings": {"seed": SEED, "rounds": ROUNDS, "budget": BUDGET, "limit": options.time_limit},
    }
    print(json.dumps(about, indent=1), file=sys.stderr)
    before = json.loads(options.out.read_text()) if options.out and options.out.exists() else {}
    parts = {
        "peers": lambda: peers(options, before | about),
        "memory": lambda: memory(options.data),
        "cold": cold,
        "wide": lambda: wide(options.data),
    }
    found = parts[options.part]()
    if options.out:
        # The other parts name their own load and must not change what is said of the peers.
        kept = before | about if options.part == "peers" else about | before
        write_json(options.out, kept | found)


if __name__ == "__main__":
    main()
