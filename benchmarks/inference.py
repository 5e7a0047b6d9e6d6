"""All marginals for many random questions: unveil against pyAgrum and pgmpy.

    python benchmarks/inference.py --data FOLDER --out results.json

FOLDER holds BIF networks (alarm.bif, munin1.bif.gz, ...). A question observes ten variables, as
drawn from the network itself so that it is possible, and asks for the marginals of all others.
Every tool gets the same questions and the same tables in double precision, in a process of its
own with a time and a memory limit. A tool that is not through after `--budget` seconds is stopped
and its time scaled up from the questions it answered; this is marked with `~`. Building the tree
counts; reading the file, making the peer's network and compiling kernels do not.
`--gaps` measures unveil alone on rows that lack few cells, as EM sees them.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from common import machine, markdown_table, network_file, versions, write_json

from unveil import Network, Table, datasets, load
from unveil.infer import costs
from unveil.infer.evidence import evidence_from
from unveil.infer.posterior import posterior
from unveil.infer.tree import JunctionTree

NETWORKS = ("alarm", "hailfinder", "hepar2", "munin1", "andes")
N_SEEN = 10
N_COMPARED = 50
N_SINGLE = 200
HEAVY = 3_000_000
ALLOWED = 1 << 50
"""Our own memory limit is lifted: like the others, we run under that of the process."""

Answer = dict[str, Any]
Question = dict[str, int]


def questions(network: Network, n: int, seed: int) -> Table:
    """A table of `n` rows, each with ten random cells of a row drawn from the network."""
    generator = np.random.default_rng(seed)
    rows = network.sample(n, seed=generator)
    n_seen = min(N_SEEN, len(network.names) // 2)
    rank = generator.random((n, len(network.names))).argsort(axis=1).argsort(axis=1)
    columns = [
        np.where(rank[:, i] < n_seen, rows.column(name).astype(np.int64), -1)
        for i, name in enumerate(network.names)
    ]
    return Table(network.variables, columns)


def as_dicts(table: Table, rows: range) -> Iterator[Question]:
    """The same questions as codes by name."""
    known = [(name, table.column(name), table.missing(name)) for name in table.names]
    for r in rows:
        yield {name: int(column[r]) for name, column, missing in known if not missing[r]}


# Tools -----------------------------------------------------------------------------------------


def ours(network: Network, table: Table, budget: float, n_jobs: int | None) -> Answer:
    """All questions in one call, or blocks of growing size as long as the time lasts."""
    _compile()
    ask = partial(posterior, network, of=network.names, max_bytes=ALLOWED, n_jobs=n_jobs)
    started = time.perf_counter()
    done, size, answers, first = 0, 1, [], 0.0
    while done < table.n_rows and (done == 0 or time.perf_counter() - started < budget):
        block = np.arange(done, min(done + size, table.n_rows))
        found = ask(table.take(block))
        if done < N_COMPARED:
            answers.append(np.hstack([found[name] for name in network.names]))
        done += len(block)
        spent = time.perf_counter() - started
        first = first or spent
        # The first question builds the tree. After a second and then some more: all the rest, or
        # as many as the time left allows.
        per_row = max((spent - first) / (done - 1), 1e-6) if done > 1 else 0.0
        fits = int((budget - spent) / per_row) if per_row else 1
        size = max(1, min(fits, 100 if done < 100 else table.n_rows))
    return {
        "seconds": time.perf_counter() - started, "done": done, "first_seconds": first,
        "single_ms": _single(network, table, budget), "answers": np.vstack(answers)[:N_COMPARED],
    }  # fmt: skip


def _compile() -> None:
    """Have the kernels compiled, for one row at a time and for many."""
    asia = datasets.network("asia")
    for n in (1, 16):
        posterior(asia, asia.sample(n, seed=1).without("asia"))


def _single(network: Network, table: Table, budget: float) -> float:
    """Median milliseconds of one question, given as a dict of findings."""
    times: list[float] = []
    labels = {v.name: v.labels for v in network.variables}
    spent = 0.0
    for codes in as_dicts(table, range(min(N_SINGLE, table.n_rows))):
        findings = {name: labels[name][code] for name, code in codes.items()}
        started = time.perf_counter()
        posterior(network, findings, max_bytes=ALLOWED)
        times.append(time.perf_counter() - started)
        spent += times[-1]
        if spent > budget:
            break
    return 1e3 * float(np.median(times))


def _one_by_one(
    network: Network, table: Table, budget: float, start: Callable[[], Callable[[Question], Answer]]
) -> Answer:
    """A peer that answers one question at a time; `start` builds what it keeps between them."""
    begun = time.perf_counter()
    ask = start()
    build = time.perf_counter() - begun
    times: list[float] = []
    answers = []
    for codes in as_dicts(table, range(table.n_rows)):
        started = time.perf_counter()
        found = ask(codes)
        times.append(time.perf_counter() - started)
        if len(answers) < N_COMPARED:
            certain = {
                name: np.eye(network.variable(name).n_states)[c] for name, c in codes.items()
            }
            answers.append(np.hstack([(found | certain)[name] for name in network.names]))
        if sum(times) > budget:
            break
    return {
        "seconds": build + sum(times), "done": len(times), "first_seconds": build + times[0],
        "single_ms": 1e3 * float(np.median(times[1:201] or times)), "answers": np.array(answers),
    }  # fmt: skip


def agrum(kind: str, n_threads: int) -> Callable[[Network, Table, float], Answer]:
    """An engine of pyAgrum; 0 threads: as many as it likes."""

    def run(network: Network, table: Table, budget: float) -> Answer:
        import pyagrum as gum

        bn = _agrum_network(network)

        def start() -> Callable[[Question], Answer]:
            engine = getattr(gum, kind)(bn)
            if n_threads:
                engine.setNumberOfThreads(n_threads)

            def ask(codes: Question) -> Answer:
                engine.setEvidence(codes)
                engine.makeInference()
                return {
                    name: engine.posterior(name).toarray()
                    for name in network.names
                    if name not in codes
                }

            return ask

        return _one_by_one(network, table, budget, start)

    return run


def _agrum_network(network: Network) -> Any:
    """Built from our tables: pyAgrum's BIF reader keeps single precision."""
    import pyagrum as gum

    bn = gum.BayesNet()
    for v in network.variables:
        bn.add(gum.LabelizedVariable(v.name, v.name, [f"s{i}" for i in range(v.n_states)]))
    for name, cpd in network.cpds.items():
        for parent in cpd.parents:
            bn.addArc(parent.name, name)
    for name, cpd in network.cpds.items():
        own = [v.name for v in (*cpd.parents, cpd.variable)]
        # pyAgrum's first axis varies fastest.
        order = [own.index(n) for n in reversed(bn.cpt(name).names)]
        bn.cpt(name).fillWith(np.transpose(cpd.values, order).ravel().tolist())
    return bn


def pgmpy(network: Network, table: Table, budget: float) -> Answer:
    """Variable elimination, one marginal after another."""
    from pgmpy.factors.discrete import TabularCPD
    from pgmpy.inference import VariableElimination
    from pgmpy.models import DiscreteBayesianNetwork

    model = DiscreteBayesianNetwork()
    model.add_nodes_from(network.names)
    model.add_edges_from((p.name, n) for n, cpd in network.cpds.items() for p in cpd.parents)
    for name, cpd in network.cpds.items():
        sizes = [p.n_states for p in cpd.parents]
        names = [p.name for p in cpd.parents]
        values = cpd.values.reshape(-1, cpd.variable.n_states).T
        model.add_cpds(
            TabularCPD(name, cpd.variable.n_states, values, names or None, sizes or None)
        )

    def start() -> Callable[[Question], Answer]:
        engine = VariableElimination(model)

        def ask(codes: Question) -> Answer:
            wanted = [name for name in network.names if name not in codes]
            # One at a time: `joint=False` in pgmpy 1.1 still builds the joint of all of them.
            return {
                name: engine.query([name], evidence=codes, show_progress=False).values
                for name in wanted
            }

        return ask

    return _one_by_one(network, table, budget, start)


TOOLS: dict[str, Callable[[Network, Table, float], Answer]] = {
    "unveil, 1 thread": lambda n, t, b: ours(n, t, b, 1),
    "unveil": lambda n, t, b: ours(n, t, b, None),
    "pyAgrum LazyPropagation, 1 thread": agrum("LazyPropagation", 1),
    "pyAgrum LazyPropagation": agrum("LazyPropagation", 0),
    "pyAgrum ShaferShenoy": agrum("ShaferShenoyInference", 0),
    "pgmpy VariableElimination": pgmpy,
}


# Processes -------------------------------------------------------------------------------------


def in_process(job: dict[str, Any], limit: float) -> Answer:
    """The record of one tool on one network; `{"failed": why}` past its limits."""
    with tempfile.TemporaryDirectory() as folder:
        job = job | {"answers": str(Path(folder) / "answers.npy")}
        command = [sys.executable, __file__, "--job", json.dumps(job)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
        except subprocess.TimeoutExpired:
            return {"failed": f"no answer in {limit:.0f} s"}
        if done.returncode:
            last = (done.stderr.strip().splitlines() or [f"ended by signal {-done.returncode}"])[-1]
            return {"failed": last[:200]}
        record = json.loads(done.stdout.splitlines()[-1])
        if Path(job["answers"]).exists():
            record["answers"] = np.load(job["answers"])
        return record


def work(job: dict[str, Any]) -> None:
    """What such a process does."""
    resource.setrlimit(resource.RLIMIT_AS, (job["max_bytes"], job["max_bytes"]))
    network = Network.load(job["file"])
    if job["tool"] == "no evidence":
        record = no_evidence(network)
    else:
        table = questions(network, job["queries"], job["seed"])
        record = TOOLS[job["tool"]](network, table, job["budget"])
        np.save(job["answers"], record.pop("answers"))
    record["peak_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(record))


def no_evidence(network: Network) -> Answer:
    """All marginals of a network at rest, with the memory forecast and what was used."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    started = time.perf_counter()
    tree = JunctionTree(network, ALLOWED)
    forecast = tree.forecast / 2**20
    print(f"forecast: {forecast:,.0f} MiB for {tree.n_cells:,} cells", flush=True)
    triangulated = time.perf_counter() - started
    started = time.perf_counter()
    found = posterior(network, max_bytes=ALLOWED)
    seconds = time.perf_counter() - started
    off = max(abs(found[name].sum() - 1) for name in network.names)
    return {
        "variables": len(network.names), "cells": tree.n_cells, "forecast_mib": forecast,
        "before_mib": before, "triangulation_seconds": triangulated, "seconds": seconds,
        "largest_error_of_a_sum": float(off),
    }  # fmt: skip


# Report ----------------------------------------------------------------------------------------


def compare(name: str, file: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Every tool on one network."""
    records = {}
    for tool in TOOLS:
        job = {
            "tool": tool, "file": str(file), "queries": options.queries, "seed": options.seed,
            "budget": options.budget, "max_bytes": int(options.max_gib * 2**30),
        }  # fmt: skip
        record = in_process(job, 3 * options.budget + 60)
        if "failed" not in record:
            record["scaled_seconds"] = _scaled(record, options.queries)
        records[tool] = record
        print(f"{name}: {tool}: {_shown(record, options.queries)}", file=sys.stderr, flush=True)
    reference = records["unveil"].get("answers")
    for record in records.values():
        answers = record.pop("answers", None)
        if answers is not None and reference is not None:
            n = min(len(answers), len(reference))
            record["compared"] = n
            record["largest_difference"] = float(np.abs(answers[:n] - reference[:n]).max())
    return records


def _scaled(record: Answer, n: int) -> float:
    """The time for `n` questions: the first once, with what it built, and the others per piece."""
    later = record["seconds"] - record["first_seconds"]
    pieces = max(record["done"] - 1, 1)
    per_piece = (later if record["done"] > 1 else record["seconds"]) / pieces
    return record["first_seconds"] + per_piece * (n - 1)


def _shown(record: Answer, n: int) -> str:
    if "failed" in record:
        return record["failed"]
    mark = "" if record["done"] == n else f"~ ({record['done']:,} done)"
    return f"{record['scaled_seconds']:,.2f} s{mark}"


def report(results: dict[str, dict[str, Any]], n: int) -> str:
    """The results in markdown."""
    rows = []
    for name, records in results.items():
        own = records["unveil"].get("scaled_seconds")
        for tool, r in records.items():
            if "failed" in r:
                rows.append([name, tool, r["failed"], "", "", "", ""])
                continue
            ratio = f"{r['scaled_seconds'] / own:,.1f}" if own else ""
            off = f"{r['largest_difference']:.0e} ({r['compared']})" if "compared" in r else ""
            rows.append(
                [
                    name,
                    tool,
                    _shown(r, n),
                    ratio,
                    f"{r['single_ms']:.3g}",
                    off,
                    f"{r['peak_mib']:,.0f}",
                ]
            )
    head = ["network", "tool", f"{n:,} questions", "times unveil", "one question, ms",
            "largest difference (questions)", "peak MiB"]  # fmt: skip
    return markdown_table(head, rows)


def rows_with_gaps(network: Network, seed: int) -> list[Answer]:
    """Expected counts of rows with few gaps: through the cells they agree with, or through all."""
    tree = JunctionTree(network, ALLOWED)
    n = 500 if tree.n_cells < HEAVY else 20
    found = []
    for missing in (0.05, 0.3):
        rows = network.sample(n, seed=seed).knock_out(missing, seed=seed)
        evidence = evidence_from(network, network.names, rows, {})
        times = {}
        cost = costs.CLIQUE
        for way, clique_cost in (("agreeing", cost), ("all", 10**12)):
            costs.CLIQUE = clique_cost
            tree.expected_counts(evidence, np.ones(n), n_jobs=1)
            started = time.perf_counter()
            tree.expected_counts(evidence, np.ones(n), n_jobs=1)
            times[way] = (time.perf_counter() - started) / n * 1e6
        costs.CLIQUE = cost
        found.append({"missing": missing, "cells": tree.n_cells, "rows": n, "us_per_row": times})
    return found


def report_gaps(results: dict[str, list[Answer]]) -> str:
    """The same in markdown."""
    lines = [
        [name, f"{x['cells']:,}", f"{x['missing']:.0%}", f"{x['us_per_row']['agreeing']:,.0f}",
         f"{x['us_per_row']['all']:,.0f}"]
        for name, found in results.items() for x in found
    ]  # fmt: skip
    return markdown_table(["network", "cells", "missing", "us a row", "through all cells"], lines)


def main() -> None:
    """Run the comparisons asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of BIF networks")
    parser.add_argument("--out", type=Path, help="JSON file for the results")
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--networks", nargs="*", default=NETWORKS)
    parser.add_argument("--budget", type=float, default=20.0, help="seconds per tool and network")
    parser.add_argument("--max-gib", type=float, default=14.0, help="address space per process")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--gaps", action="store_true", help="only rows with gaps, unveil alone")
    parser.add_argument("--job", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.job:
        work(json.loads(options.job))
        return
    if options.data is None:
        parser.error("--data is needed: a folder with BIF networks")
    about = {
        "versions": versions(["unveil", "numpy", "numba", "pyagrum", "pgmpy"]),
        "machine": machine(),
        "settings": {k: str(v) for k, v in vars(options).items() if k != "job"},
    }
    print(json.dumps(about, indent=1))
    if options.gaps:
        files = {name: network_file(options.data, name) for name in options.networks}
        gaps = {n: rows_with_gaps(load(f), options.seed) for n, f in files.items() if f is not None}
        print(report_gaps(gaps))
        if options.out:
            write_json(options.out, {**about, "gaps": gaps})
        return
    results = {}
    for name in options.networks:
        file = network_file(options.data, name)
        if file is None:
            print(f"{name}: no such file in {options.data}", file=sys.stderr)
        else:
            results[name] = compare(name, file, options)
    print(report(results, options.queries))
    file = network_file(options.data, "munin")
    rest: Answer = {}
    if file is not None:
        job = {"tool": "no evidence", "file": str(file), "max_bytes": int(options.max_gib * 2**30)}
        rest = in_process(job, 600)
        print("MUNIN, all marginals without evidence:", json.dumps(rest))
    if options.out:
        write_json(options.out, {**about, "questions": results, "munin": rest})


if __name__ == "__main__":
    main()
