"""IB-EM in hierarchies of hidden variables against EM from random starts (thesis Table 6.1).

    python benchmarks/ib_hierarchies.py --data FOLDER --case digits3-2 --starts 20 --seeds 3
    python benchmarks/ib_hierarchies.py --data FOLDER --case yeast-4 --starts 50 --seeds 10
    python benchmarks/ib_hierarchies.py --tables        # the record as a table

Cases: `digits3` and `digits4` (Fig. 6.5: a hidden variable for the image and for every quadrant, 5
in all; and for every quadrant of these, 21), `yeast` (Fig. 6.6: 19 hidden variables above 173
conditions, grouped by their names), and the number of states of every hidden variable. `--starts`
is the number of runs of exact EM and, from the same parameters, of mean-field EM; `--seeds` that of
IB-EM, each with other vectors to begin with (`ib_em.with_other_vectors`). All go to the same
tolerance (1e-8 of the objective), with an equivalent sample size of 1, on one thread; then those of
exact EM and IB-EM, not timed, to the end (`ib_em.to_the_end`). Runs that the record
(`results/bottleneck.json`) has are not repeated, so that a case can be done in parts (`--again`
forgets those but of mean field). Likelihoods are those of the network, in nats per row, also for
mean field; ends within 0.001 are equal, and `same end` is how many runs of IB-EM end as most of
them do. Costs are CPU seconds.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import time
from pathlib import Path
from typing import Any

import numpy as np
from common import machine, markdown_table, versions, write_json
from ib_em import (
    MOST,
    PRIOR,
    RESULTS,
    TOLERANCE,
    against,
    digit_rows,
    per_row,
    to_the_end,
    with_other_vectors,
)

from unveil import DAG, Table, Variable, fit_em, ib_em, trees
from unveil.bottleneck.mean_field import MeanField
from unveil.em.loop import run_em
from unveil.em.starts import network_to_start

cpu = time.process_time

CONDITIONS = {
    "heat": {
        "heat shock": r"^Heat_Shock",
        "other temperature": r"^(37C_to_25C|heat_shock_\d)",
        "mild heat": r"^(29C|33C)",
        "growth at a temperature": r"deg_growth|dec_C",
    },
    "redox": {
        "hydrogen peroxide and mutants": r"^constant_0point32|^DBY|overexpression",
        "menadione": r"Menadione",
        "diamide": r"diamide",
        "dithiothreitol": r"(?i)dtt",
    },
    "starvation": {
        "amino acids and nitrogen": r"^aa_starv|^Nitrogen",
        "diauxic shift": r"(?i)^diauxic",
        "stationary phase": r"^YPD_",
    },
    "medium": {
        "sorbitol": r"^1M_sorbitol|^steady_state_1M",
        "hypo-osmotic shock": r"^Hypo_osmotic",
        "carbon source": r"car_\d$",
    },
}
"""A hierarchy of 19 hidden variables: the conditions of every group, by their names."""


def yeast_rows(data: Path) -> tuple[Table, Table]:
    """Genes by conditions, down / same / up by one deviation of the gene; four fifths to learn."""
    with gzip.open(data / "expression" / "yeast_gasch1.csv.gz", "rt") as file:
        head, *lines = [line.rstrip("\n").split(",") for line in file]
    names = head[1:-1]
    values = np.array([[float(x) if x else np.nan for x in line[1:-1]] for line in lines])
    mean, spread = np.nanmean(values, axis=1), np.nanstd(values, axis=1)
    beyond = (values - mean[:, None]) / np.where(spread > 0, spread, 1.0)[:, None]
    codes = np.where(np.isnan(beyond), -1, 1 + (beyond > 1) - (beyond < -1).astype(int))
    variables = [Variable(name, ["down", "same", "up"]) for name in names]
    table = Table(variables, list(codes.astype(np.int64).T))
    order = np.random.default_rng(0).permutation(table.n_rows)
    n = table.n_rows * 4 // 5
    return table.take(order[:n]), table.take(order[n:])


def yeast_groups(table: Table) -> dict[str, Any]:
    left, groups = set(table.names), {}
    for top, parts in CONDITIONS.items():
        groups[top] = {}
        for name, pattern in parts.items():
            own = [c for c in table.names if c in left and re.search(pattern, c)]
            left -= set(own)
            groups[top][name] = own
    if left:
        raise SystemExit(f"no group has {sorted(left)}")
    return {"stress": groups}


def read(data: Path, name: str) -> tuple[Table, Table, Any]:
    if name == "yeast":
        train, test = yeast_rows(data)
        return train, test, yeast_groups(train)
    train, test = digit_rows(data)
    return train, test, trees.quadrants(16, 16, int(name[-1]), train.names)


def random_start(dag: DAG, hidden: dict[str, Variable], train: Table, seed: int) -> Any:
    """The parameters at which `fit_em` starts with this seed."""
    own = np.random.SeedSequence(seed).spawn(1)[0]
    variables = {v.name: v for v in train.variables} | hidden
    return network_to_start("random", dag, variables, train, None, np.random.default_rng(own))


def mean_field_run(dag: DAG, hidden: dict[str, Variable], train: Table, seed: int) -> Any:
    network = random_start(dag, hidden, train, seed)
    problem = MeanField(network, train, list(hidden), PRIOR)
    found = run_em(lambda p: problem.step(p, 1.0), problem.parameters(network), MOST, TOLERANCE)
    return problem.network(found.parameters), found.n_iterations


def exact_run(dag: DAG, hidden: dict[str, Variable], train: Table, seed: int) -> Any:
    found = fit_em(
        dag, train, PRIOR, hidden, start="random", seed=seed, tolerance=TOLERANCE,
        max_iterations=MOST,
    )  # fmt: skip
    return found.network, len(found.trace)


def ib_run(dag: DAG, hidden: dict[str, Variable], train: Table, seed: int) -> Any:
    with_other_vectors(seed)
    found = ib_em(dag, train, PRIOR, hidden, seed=seed, tolerance=TOLERANCE, max_iterations=MOST)
    return found.network, sum(p.n_iterations for p in found.course)


def add(entry: dict[str, Any], kind: str, run: Any, case: Any, n: int, save: Any) -> None:
    """Runs of one kind until there are `n`."""
    train, test, dag, hidden = case
    lines = entry.setdefault(kind, [])
    for seed in range(len(lines), n):
        began = cpu()
        network, iterations = run(dag, hidden, train, seed)
        seconds = cpu() - began
        end = network if kind == "mean field" else to_the_end(network, train)
        lines.append([per_row(end, train), per_row(end, test), seconds, iterations])
        print(kind, seed, lines[-1], flush=True)
        save()


def do_case(
    data: Path, case: str, starts: int, seeds: int, fields: int, again: bool = False
) -> None:
    name, k = case.rsplit("-", 1)
    train, test, groups = read(data, name)
    shape = trees.hierarchy_shape(train, groups, int(k))
    hidden = dict(shape.hidden)
    whole = (train, test, shape.dag, hidden)
    small = train.take(np.arange(100))
    for run in (exact_run, mean_field_run, ib_run):  # compiles
        run(shape.dag, hidden, small, 0)

    def save() -> None:
        record = json.loads(RESULTS.read_text())
        record.setdefault("hierarchies", {})[case] = entry
        write_json(RESULTS, record)

    record = json.loads(RESULTS.read_text())
    entry = record.get("hierarchies", {}).get(case, {})
    if again:
        entry = {"mean field": entry.get("mean field", [])}
    entry |= {"rows": train.n_rows, "columns": train.n_columns, "hidden": len(hidden)}
    entry |= {"machine": machine(), "versions": versions(["numpy", "numba", "scipy"])}
    add(entry, "ib", ib_run, whole, min(seeds, 1), save)
    add(entry, "exact", exact_run, whole, starts, save)
    add(entry, "mean field", mean_field_run, whole, fields, save)
    add(entry, "ib", ib_run, whole, seeds, save)


def line(case: str, entry: dict[str, Any]) -> list[str]:
    ib, random, field = (np.array(entry.get(k, [])) for k in ("ib", "exact", "mean field"))

    def told(column: int, others: Any) -> str:
        if not len(others):
            return ""
        a = against(float(ib[0, column]), others[:, column].tolist())
        return f"{a['better']} / {a['equal']} / {a['worse']}"

    same = int((abs(ib[:, 0] - ib[:, 0, None]) <= 0.001).sum(axis=0).max())
    return [
        case, f"{ib[0, 0]:.4f}", f"{random[:, 0].max():.4f}", told(0, random), told(1, random),
        told(0, field), told(1, field), f"{ib[:, 2].mean() / random[:, 2].mean():.1f}",
        f"{same} of {len(ib)}", f"{random[:, 2].mean():.0f}",
    ]  # fmt: skip


HEAD = [
    "case", "IB-EM", "best random", "exact: better / equal / worse", "on test rows",
    "mean field: better / equal / worse", "on test rows", "cost", "same end", "CPU s of one EM",
]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--case", nargs="*", default=[])
    parser.add_argument("--starts", type=int, default=20)
    parser.add_argument("--fields", type=int, help="mean-field runs, if not as many")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument(
        "--again", action="store_true", help="forget recorded runs but of mean field"
    )
    parser.add_argument("--tables", action="store_true")
    args = parser.parse_args()
    for case in args.case:
        fields = args.starts if args.fields is None else args.fields
        do_case(args.data, case, args.starts, args.seeds, fields, args.again)
    if args.tables:
        record = json.loads(RESULTS.read_text()).get("hierarchies", {})
        done = {c: e for c, e in record.items() if e.get("ib") and e.get("exact")}
        print(markdown_table(HEAD, [line(case, e) for case, e in done.items()]))


if __name__ == "__main__":
    main()
