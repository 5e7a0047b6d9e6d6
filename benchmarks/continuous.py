"""Structures of linear Gaussian networks: unveil against PyBNesian and causal-learn's GES.

    python benchmarks/continuous.py --data FOLDER --out results.json
    python benchmarks/continuous.py --data FOLDER --part quality --limit 120

FOLDER holds networks/ecoli70.json, magic-niab.json and arth150.json (linear Gaussian networks of
the bnlearn repository: `nodes`, `cpds` with `coefficients` and `variance`), networks/*.bif,
examples/gaussian_test.csv.gz (the bnlearn manual's), expression/sachs_continuous.csv.gz.

Parts: `speed` (200 variables, 1000 rows, a random network with 391 arcs), `rows` (the same network,
up to a million rows), `wide` (1000 variables), `quality` (the repository's networks, 100 to 10,000
rows), `sachs`, `published` (a figure of the bnlearn manual), `orders` (what order search adds to
the default search of discrete tables).

Every table is standardised, so that the order of variances tells nothing; how far it would have
told is printed as varsortability (Reisach, Seiler and Weichwald 2021), before and after. One
scorer, ours, gives the BIC of every graph found. Times are seconds of CPU on one thread, from rows
in memory to a graph, kernels compiled before; the best of `--repeats`. A peer that takes longer
than `--limit` CPU seconds is killed and noted.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np  # noqa: E402
from common import machine, markdown_table, network_file, versions, write_json  # noqa: E402

from unveil import DAG, BDeu, Network, Table, Variable  # noqa: E402
from unveil.graph import PDAG, consistent_extension, equivalence_class_distance  # noqa: E402
from unveil.model import LinearGaussianCPD  # noqa: E402
from unveil.score import BIC, FamilyScores, GaussianFamilies  # noqa: E402
from unveil.search import SEARCHES, combined_search  # noqa: E402

PACKAGES = ("numpy", "numba", "scipy", "pybnesian", "causal-learn", "unveil")
OURS = {
    "unveil": "combined",
    "unveil hill climbing": "hill-climbing",
    "unveil equivalence search": "equivalence",
    "unveil order search": "order",
}
PUBLISHED = -53221.35
"""BIC of the graph below on gaussian_test, as the bnlearn manual prints it: the variances of
residuals have n - p degrees of freedom, p with the intercept."""
PUBLISHED_GRAPH = {"A": [], "B": [], "E": [], "G": [], "C": ["A", "B"], "D": ["B"],
                   "F": ["A", "D", "E", "G"]}  # fmt: skip

Record = dict[str, Any]


def main() -> None:
    """Run the parts that were asked for and write what they found."""
    asked = _arguments()
    if asked.peer:
        print(json.dumps(PEERS[asked.peer](np.load(asked.table)["rows"])))
        return
    record: Record = {
        "versions": versions(PACKAGES),
        "machine": {**machine(), "load": [round(x, 1) for x in os.getloadavg()]},
        "settings": {"repeats": asked.repeats, "limit": asked.limit, "seed": asked.seed},
    }
    if asked.out.exists():
        record = json.loads(asked.out.read_text()) | record
    print(record["versions"], record["machine"], sep="\n")
    _warm_up()
    for part in asked.part or PARTS:
        print(f"\n## {part}\n", flush=True)
        record[part] = PARTS[part](asked)
        write_json(asked.out, record)


def _arguments() -> Any:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("."))
    parser.add_argument("--out", type=Path, default=Path("continuous.json"))
    parser.add_argument("--part", nargs="*", choices=list(PARTS))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--networks", nargs="*", default=["ecoli70", "magic-niab", "arth150"])
    parser.add_argument("--peers", nargs="*", default=list(PEERS))
    parser.add_argument("--limit", type=float, default=120.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--peer", choices=list(PEERS), help=argparse.SUPPRESS)
    parser.add_argument("--table", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


# Parts -----------------------------------------------------------------------------------------


def speed(asked: Any) -> Record:
    """Rows to graph, 200 variables and 1000 rows."""
    rows, truth, order_told = random_rows(200, 391, 1000, asked.seed)
    return compared("random 200", rows, truth, asked, order_told, peers=["pybnesian"])


def rows(asked: Any) -> Record:
    """The same network, more rows: moments take longer, the search does not."""
    found: Record = {}
    lines = []
    for n_rows in (1000, 10_000, 100_000, 1_000_000):
        values, _, _ = random_rows(200, 391, n_rows, asked.seed)
        table = as_table(values)
        del values
        start = time.process_time()
        scores = GaussianFamilies(table, BIC())
        read = time.process_time() - start
        searched = best_of(asked.repeats, lambda s=scores: combined_search(fresh(s)))
        found[str(n_rows)] = {
            "moments": read,
            "search": searched[0],
            "arcs": searched[1].dag.n_arcs,
        }
        lines.append([f"{n_rows:,}", f"{read:.2f}", f"{searched[0]:.2f}",
                      str(searched[1].dag.n_arcs)])  # fmt: skip
    print(markdown_table(["rows", "moments (s)", "search (s)", "arcs"], lines))
    return found


def wide(asked: Any) -> Record:
    """1000 variables, 1000 rows, 2000 arcs."""
    values, truth, order_told = random_rows(1000, 2000, 1000, asked.seed)
    once = argparse.Namespace(**{**vars(asked), "repeats": 1})
    return compared("random 1000", values, truth, once, order_told, ours=["unveil"], peers=[])


def quality(asked: Any) -> Record:
    """The repository's networks."""
    found = json.loads(asked.out.read_text()).get("quality", {}) if asked.out.exists() else {}
    for name in asked.networks:
        network = gaussian_network(asked.data / "networks" / f"{name}.json")
        for n_rows in (100, 1000, 10_000):
            table = network.sample(n_rows, seed=asked.seed)
            values = np.array([table.column(v) for v in network.names]).T
            told = sortability(network.dag, values)
            once = argparse.Namespace(**{**vars(asked), "repeats": 1})
            key = f"{name} {n_rows}"
            found[key] = compared(
                key, standardised(values), network.dag, once, told, peers=asked.peers
            )
    return found


def sachs(asked: Any) -> Record:
    """The 853 observational cells against the consensus graph of 17 arcs."""
    table = Table.read(asked.data / "expression" / "sachs_continuous.csv.gz")
    consensus = Network.load(asked.data / "networks" / "sachs.bif").dag
    first = np.array([str(label) for label in table.labels("condition")]) == "1"
    names = sorted(consensus.nodes)
    values = np.array([table.take(first).column(name) for name in names]).T
    found = {}
    for words, change in (("as measured", lambda x: x), ("logarithms", np.log)):
        key = f"sachs, {words}"
        found[words] = compared(
            key, standardised(change(values)), consensus, asked, sortability(consensus, values),
            names=names,
        )  # fmt: skip
    return found


def published(asked: Any) -> Record:
    """The figure of the manual, and what we find on the same rows."""
    table = Table.read(asked.data / "examples" / "gaussian_test.csv.gz")
    graph = DAG.from_parents(PUBLISHED_GRAPH)
    own = GaussianFamilies(table, BIC())
    n = table.total_weight
    moments = own.moments
    theirs = 0.0
    for child, parents in PUBLISHED_GRAPH.items():
        places = [own.names.index(v) for v in (*parents, child)]
        scatter = moments.of_columns(places).scatter
        left = scatter[-1, -1]
        if parents:
            left -= scatter[-1, :-1] @ np.linalg.solve(scatter[:-1, :-1], scatter[:-1, -1])
        variance = left / (n - len(parents) - 1)
        size = len(parents) + 2
        theirs += -n / 2 * np.log(2 * np.pi * variance) - left / variance / 2 - np.log(n) / 2 * size
    learned = combined_search(fresh(own))
    record = {
        "published": PUBLISHED,
        "ours, n - p degrees of freedom": round(theirs, 2),
        "ours, maximum likelihood": round(own.total(graph), 2),
        "found": round(learned.score, 2),
        "class distance": equivalence_class_distance(learned.dag, graph),
    }
    print(record)
    return record


def orders(asked: Any) -> Record:
    """What turns of order search add to the default search of discrete tables."""
    found: Record = {}
    lines = []
    for name in ("alarm", "insurance", "hailfinder", "hepar2", "water", "andes", "pathfinder"):
        file = network_file(asked.data / "networks", name)
        if file is None:
            continue
        network = Network.load(file)
        for n_rows in (1000, 10_000):
            table = network.sample(n_rows, seed=asked.seed)
            table = table.select(sorted(table.names))
            one: Record = {}
            for words, turns in (("without", False), ("with", True)):
                scores = FamilyScores(table, BDeu(1), n_jobs=1)
                seconds, result = best_of(1, lambda s=scores, t=turns: combined_search(s, orders=t))
                one[words] = {"seconds": seconds, "bdeu": result.score, "arcs": result.dag.n_arcs}
            found[f"{name} {n_rows}"] = one
            gain = one["with"]["bdeu"] - one["without"]["bdeu"]
            times = one["with"]["seconds"] / one["without"]["seconds"]
            lines.append([f"{name} {n_rows:,}", f"{one['without']['bdeu']:,.1f}", f"{gain:+.1f}",
                          f"{one['without']['seconds']:.2f}", f"{times:.1f}"])  # fmt: skip
            print(lines[-1], flush=True)
    print(markdown_table(["table", "BDeu", "order search adds", "seconds", "times longer"], lines))
    return found


PARTS = {"speed": speed, "rows": rows, "wide": wide, "quality": quality, "sachs": sachs,
         "published": published, "orders": orders}  # fmt: skip


# Comparing -------------------------------------------------------------------------------------


def compared(
    key: str,
    values: Any,
    truth: DAG,
    asked: Any,
    order_told: Record,
    *,
    ours: Any = OURS,
    peers: Any = ("pybnesian", "causal-learn GES"),
    names: list[str] | None = None,
) -> Record:
    """Everybody's graph of the same rows: BIC, distance to the truth, seconds."""
    table = as_table(values, names or list(truth.nodes))
    scores = GaussianFamilies(table, BIC())
    record: Record = {"varsortability": order_told, "truth": {"bic": scores.total(truth),
                                                              "arcs": truth.n_arcs}}  # fmt: skip
    for tool in ours:
        search = SEARCHES[OURS[tool]]
        seconds, result = best_of(asked.repeats, lambda s=search: s(GaussianFamilies(table, BIC())))
        record[tool] = described(scores, truth, result.dag, seconds)
    for tool in peers:
        answer = asked_peer(tool, values, asked.limit)
        if "arcs" not in answer:
            record[tool] = answer
            continue
        order = table.names
        joined = [(order[i], order[j]) for i, j in answer["arcs"]]
        open_ones = [(order[i], order[j]) for i, j in answer["edges"]]
        dag = consistent_extension(PDAG(order, joined, open_ones))
        record[tool] = described(scores, truth, dag, answer["seconds"])
    lines = [
        [tool, f"{r['bic']:,.1f}", str(r["arcs"]),
         *[str(r.get(k, "")) for k in ("class distance", "right", "extra", "missing")],
         f"{r['seconds']:.2f}" if "seconds" in r else ""]
        if "bic" in r else [tool, r["failed"], "", "", "", "", "", ""]
        for tool, r in record.items() if tool != "varsortability"
    ]  # fmt: skip
    head = [key, "BIC", "arcs", "class distance", "right", "extra", "missing", "CPU s"]
    print(markdown_table(head, lines))
    print(f"varsortability {order_told}\n", flush=True)
    return record


def described(scores: GaussianFamilies, truth: DAG, dag: DAG, seconds: float) -> Record:
    """A graph in figures; `right` counts pairs that are joined in both, whatever the direction."""
    there, here = (frozenset(map(frozenset, d.arcs)) for d in (truth, dag))
    return {
        "bic": scores.total(dag),
        "arcs": dag.n_arcs,
        "class distance": equivalence_class_distance(dag, truth),
        "right": len(there & here),
        "extra": len(here - there),
        "missing": len(there - here),
        "directions": len(set(dag.arcs) & set(truth.arcs)),
        "seconds": seconds,
    }


def asked_peer(tool: str, values: Any, limit: float) -> Record:
    """What a peer finds, in a process of its own; why not, if it does not."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.npz"
        np.savez(file, rows=values)
        command = [sys.executable, __file__, "--peer", tool, "--table", str(file)]

        def limited() -> None:
            import resource

            resource.setrlimit(resource.RLIMIT_CPU, (int(limit) + 5, int(limit) + 10))

        done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limited)
    if done.returncode < 0:
        return {"failed": f"killed after {limit:.0f} CPU s"}
    if done.returncode:
        return {"failed": done.stderr.strip().splitlines()[-1][:80]}
    answer: Record = json.loads(done.stdout.strip().splitlines()[-1])
    return answer


def pybnesian(values: Any) -> Record:
    """Hill climbing with BIC over Gaussian networks."""
    import pandas as pd
    import pybnesian as pb

    frame = pd.DataFrame(values, columns=[f"v{i}" for i in range(values.shape[1])])
    seconds = []
    for _ in range(2 if values.shape[1] < 500 else 1):
        start = time.process_time()
        model = pb.hc(frame, bn_type=pb.GaussianNetworkType(), score="bic")
        seconds.append(time.process_time() - start)
    arcs = [(int(a[1:]), int(b[1:])) for a, b in model.arcs()]
    return {"arcs": arcs, "edges": [], "seconds": min(seconds)}


def causal_learn_ges(values: Any) -> Record:
    """Greedy equivalence search with its BIC, half a log n for every parameter as ours."""
    from causallearn.search.ScoreBased.GES import ges

    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph = ges(values, score_func="local_score_BIC")["G"].graph
    seconds = time.process_time() - start
    n = values.shape[1]
    pairs = [(i, j) for i in range(n) for j in range(n)]
    arcs = [(i, j) for i, j in pairs if graph[i, j] == -1 and graph[j, i] == 1]
    edges = [(i, j) for i, j in pairs if i < j and graph[i, j] == -1 and graph[j, i] == -1]
    return {"arcs": arcs, "edges": edges, "seconds": seconds}


PEERS = {"pybnesian": pybnesian, "causal-learn GES": causal_learn_ges}


# Rows ------------------------------------------------------------------------------------------


def random_rows(n: int, n_arcs: int, n_rows: int, seed: int) -> tuple[Any, DAG, Record]:
    """Rows of a random linear Gaussian network, standardised; its graph; its varsortability."""
    random = np.random.default_rng(seed)
    order = random.permutation(n)
    pairs = np.array(np.tril_indices(n, -1)).T
    chosen = pairs[random.choice(len(pairs), n_arcs, replace=False)]
    weights = np.zeros((n, n))
    signed = random.uniform(0.3, 1.0, n_arcs) * random.choice([-1, 1], n_arcs)
    weights[order[chosen[:, 0]], order[chosen[:, 1]]] = signed
    noise = np.sqrt(random.uniform(0.5, 1.5, n))
    values = np.zeros((n_rows, n), order="F")  # columns are written and read one by one
    for i in order:
        parents = np.flatnonzero(weights[i])
        values[:, i] = noise[i] * random.standard_normal(n_rows)
        values[:, i] += values[:, parents] @ weights[i, parents]
    names = [f"v{i:04d}" for i in range(n)]
    arcs = [(names[j], names[i]) for i, j in np.argwhere(weights)]
    dag = DAG(names, arcs)
    told = sortability(dag, values)
    return standardised(values), dag, told


def standardised(values: Any) -> Any:
    """Every column with mean 0 and variance 1."""
    values = values - values.mean(axis=0)
    values /= values.std(axis=0)
    return values


def sortability(dag: DAG, values: Any) -> Record:
    """The share of arcs along which the variance grows, before and after standardising."""
    place = {name: i for i, name in enumerate(dag.nodes)}
    told = {}
    for words, rows_ in (("raw", values), ("standardised", standardised(values))):
        size = rows_.var(axis=0)
        grows = [size[place[b]] - size[place[a]] for a, b in dag.arcs]
        told[words] = round(float(np.mean([0.5 if abs(g) < 1e-9 else g > 0 for g in grows])), 3)
    return told


def as_table(values: Any, names: list[str] | None = None) -> Table:
    """The rows as a table."""
    names = names or [f"v{i:04d}" for i in range(values.shape[1])]
    return Table([Variable(name) for name in names], list(np.ascontiguousarray(values.T)))


def gaussian_network(file: Path) -> Network:
    """A linear Gaussian network of the bnlearn repository, as JSON."""
    read = json.loads(file.read_text())
    variables = {name: Variable(name) for name in read["nodes"]}

    def cpds() -> Iterator[LinearGaussianCPD]:
        for name in read["nodes"]:
            cpd = read["cpds"][name]
            numbers = {key: float(np.ravel(v)[0]) for key, v in cpd["coefficients"].items()}
            yield LinearGaussianCPD(
                variables[name],
                [variables[p] for p in cpd["parents"]],
                numbers.get("(Intercept)", 0.0),
                [numbers[p] for p in cpd["parents"]],
                float(np.ravel(cpd["variance"])[0]),
            )

    return Network(cpds())


# Times -----------------------------------------------------------------------------------------


def best_of(repeats: int, work: Callable[[], Any]) -> tuple[float, Any]:
    """The least CPU seconds, and what the work gave."""
    seconds, result = [], None
    for _ in range(repeats):
        start = time.process_time()
        result = work()
        seconds.append(time.process_time() - start)
    return min(seconds), result


def fresh(scores: GaussianFamilies) -> GaussianFamilies:
    """The same scores, of which nothing is remembered but the moments."""
    return GaussianFamilies.of_moments(scores.names, scores.moments, scores.score)


def _warm_up() -> None:
    values, _, _ = random_rows(6, 6, 50, 0)
    for search in OURS.values():
        SEARCHES[search](GaussianFamilies(as_table(values), BIC()))
    coins = Table.from_frame({name: (values[:, i] > 0).tolist() for i, name in enumerate("abcd")})
    combined_search(FamilyScores(coins, BDeu(1), n_jobs=1), orders=True)


if __name__ == "__main__":
    main()
