"""Weight annealing against what else gets out of local maxima, at the same CPU time.

    python benchmarks/anneal.py --data FOLDER --part structure --seeds 10
    python benchmarks/anneal.py --data FOLDER --part parameters
    python benchmarks/anneal.py --data FOLDER --part both
    python benchmarks/anneal.py --data FOLDER --part real
    python benchmarks/anneal.py --data FOLDER --part cooling
    python benchmarks/anneal.py --data FOLDER --part faster
    python benchmarks/anneal.py --tables                # the record as tables

FOLDER has `networks/*.bif`, `uci`, `stocks` and `expression`. Every part writes its own entry of
`results/anneal.json`, after every seed, so that a run that is stopped loses nothing; seeds that are
in the record already are not run again (`--anew` forgets them). All methods of a case get the same
CPU seconds on one thread, by the process' own clock; each goes on with fresh randomness until its
time is up, and its best counts. Test rows were never seen. Scores are in nats, log-losses in bits
per row, gains are over the first method of the case.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from common import machine, markdown_table, network_file, versions, write_json

from unveil import DAG, BDeu, EquivalentSampleSize, Network, Table, Variable, load, log_loss
from unveil.anneal import Adaptive, Adversary, Annealing, Geometric, Random
from unveil.em import structural_em
from unveil.em.annealed import ANNEALINGS as OF_EM
from unveil.em.annealed import annealed_em
from unveil.em.annealed_structure import ANNEALINGS as OF_STRUCTURAL_EM
from unveil.em.loop import run_em
from unveil.em.parametric import variables_of
from unveil.em.squared import squared_steps
from unveil.em.starts import network_to_start
from unveil.em.steps import TableEM
from unveil.model import fit
from unveil.progress import Ticker
from unveil.score import FamilyScores
from unveil.search import combined_search, hill_climbing, simulated_annealing
from unveil.search.annealed import ANNEALINGS as OF_SEARCHES
from unveil.search.annealed import annealed_search
from unveil.search.constraints import Constraints
from unveil.search.graph_state import GraphState
from unveil.search.hill_climbing import shake

RESULTS = Path(__file__).parent / "results" / "anneal.json"
PRIOR = EquivalentSampleSize(1.0)
HIDDEN = ("HR", "INTUBATION", "LVFAILURE", "VENTLUNG")
TEST_ROWS = 10_000
MANY = 10_000
"""So many cycles are more than the time allows."""

Answer = dict[str, Any]
cpu = time.process_time


class Deadline:
    """A listener that asks to stop when so many CPU seconds are used up."""

    def __init__(self, seconds: float) -> None:
        self.begun, self.seconds = cpu(), seconds

    def __call__(self, step: Any = None) -> bool:
        return self.left > 0

    @property
    def used(self) -> float:
        return cpu() - self.begun

    @property
    def left(self) -> float:
        return self.seconds - self.used


def bits(network: Network, test: Table) -> float:
    """The log-loss on rows never seen."""
    return float(log_loss(network, test).bits)


# Structure, complete rows -------------------------------------------------------------------------

SEARCH_SECONDS = 1.0


def stocks(folder: Path) -> Table:
    """Daily moves of twenty technology stocks, cut into down, same and up, as in the thesis."""
    table = Table.read(folder / "stocks" / "stocks_close_1990_2017.csv.gz")
    names = [n for n in table.names if n != "date"][:20]
    close = np.column_stack([table.column(n) for n in names]).astype(float)
    close = close[~np.isnan(close).any(axis=1)][-1517:]
    moves = np.diff(np.log(close), axis=0)
    states = np.digitize(moves, [-0.005, 0.005])
    return Table([Variable(n, ["down", "same", "up"]) for n in names], list(states.T))


def complete_cases(folder: Path, seed: int) -> Iterator[tuple[str, Table, Table]]:
    """1000 rows of each network and fresh ones to test on; two thirds of the stock moves."""
    for name in ("alarm", "insurance", "hailfinder", "hepar2"):
        path = network_file(folder / "networks", name)
        assert path is not None, f"no {name} in {folder}"
        network = load(path)
        rows = network.sample(1000 + TEST_ROWS, seed=1000 + seed)
        yield name, rows.take(np.arange(1000)), rows.take(np.arange(1000, rows.n_rows))
    moves = stocks(folder)
    order = np.random.default_rng(seed).permutation(moves.n_rows)
    first = 2 * moves.n_rows // 3
    yield "stocks", moves.take(order[:first]), moves.take(order[first:])


def structure(folder: Path, seed: int) -> Answer:
    """Every search on every table, each for the same time."""
    found: Answer = {}
    for name, rows, test in complete_cases(folder, seed):
        rows = rows.select(sorted(rows.names))
        scores = FamilyScores(rows, BDeu(1.0), n_jobs=1)
        begun = cpu()
        base = combined_search(scores)
        alone = cpu() - begun
        case: Answer = {"default search": told(base.dag, scores, rows, test, alone)}
        begun = cpu()
        fresh = FamilyScores(rows, BDeu(1.0), n_jobs=1)
        thesis = hill_climbing(fresh, tabu=200, patience=101, restarts=5, seed=seed)
        case["tabu 200, 5 restarts"] = told(thesis.dag, scores, rows, test, cpu() - begun)
        for method, run in SEARCHERS.items():
            deadline = Deadline(SEARCH_SECONDS)
            dag = run(FamilyScores(rows, BDeu(1.0), n_jobs=1), seed, deadline)
            case[method] = told(dag, scores, rows, test, deadline.used)
        found[name] = case
    return found


def told(dag: DAG, scores: FamilyScores, rows: Table, test: Table, seconds: float) -> Answer:
    """The score of a graph and its log-loss."""
    network = fit(dag, rows, PRIOR)
    return {"score": scores.total(dag), "bits": bits(network, test), "seconds": seconds}


def by_annealing(word: str) -> Callable[[FamilyScores, int, Deadline], DAG]:
    """The default search with annealed weights, heated again until the time is up."""
    chosen = replace(OF_SEARCHES[word], cycles=MANY)

    def run(scores: FamilyScores, seed: int, deadline: Deadline) -> DAG:
        return annealed_search(combined_search, scores, chosen, seed=seed, progress=deadline).dag

    return run


def by_perturbation(scores: FamilyScores, seed: int, deadline: Deadline) -> DAG:
    """The default search again and again, from the best graph after ten random moves."""
    best, generator = combined_search(scores), np.random.default_rng(seed)
    rules = Constraints().rules(scores.names)
    while deadline():
        state = GraphState(scores, rules, best.dag)
        shake(state, 10, generator)
        found = combined_search(scores, state.dag(), progress=deadline)
        best = max(best, found, key=lambda r: r.score)
    return best.dag


def by_tabu(scores: FamilyScores, seed: int, deadline: Deadline) -> DAG:
    """Greedy search with a tabu list of 200 and random restarts."""
    return hill_climbing(
        scores, tabu=200, patience=101, restarts=MANY, seed=seed, progress=deadline
    ).dag


def by_simulated_annealing(scores: FamilyScores, seed: int, deadline: Deadline) -> DAG:
    """Walks that grow greedier, each climbed from at its end."""
    best = None
    while best is None or deadline():
        walk = simulated_annealing(scores, seed=seed, progress=deadline)
        found = hill_climbing(scores, walk.dag, tabu=20)
        best = found if best is None else max(best, found, key=lambda r: r.score)
        seed += 1000
    return best.dag


SEARCHERS = {
    "restarts, 10 random moves": by_perturbation,
    "tabu 200, restarts": by_tabu,
    "simulated annealing": by_simulated_annealing,
    "weights, random": by_annealing("random"),
    "weights, adversary": by_annealing("adversary"),
}


# Parameters, true structure -----------------------------------------------------------------------

EM_RUNS = 100
TIMES_ONE_RUN = 15.0


def alarm(folder: Path, seed: int) -> tuple[Network, Table, Table]:
    """The network, 1000 rows without four central variables, and rows to test on."""
    path = network_file(folder / "networks", "alarm")
    assert path is not None, f"no alarm in {folder}"
    network = load(path)
    rows = network.sample(1000 + TEST_ROWS, seed=2000 + seed).without(HIDDEN)
    return network, rows.take(np.arange(1000)), rows.take(np.arange(1000, rows.n_rows))


def parameters(folder: Path, seed: int) -> Answer:
    """A hundred runs of EM, and every method for fifteen times the time of one."""
    network, rows, test = alarm(folder, seed)
    case = EMCase(network, rows, seed)
    case.run_from(0)
    runs, seconds = [], []
    for number in range(EM_RUNS):
        begun = cpu()
        runs.append(case.run_from(number))
        seconds.append(cpu() - begun)
    objectives = np.array([case.value(r) for r in runs])
    budget = TIMES_ONE_RUN * float(np.median(seconds))
    found: Answer = {
        "EM, 100 runs": {
            "objectives": objectives.tolist(), "seconds": float(np.median(seconds)),
            "bits": [bits(case.em.unpack(r), test) for r in runs[:20]],
        },
        "true network": {"bits": bits(network, test)},
    }  # fmt: skip
    for method, run in ESTIMATORS.items():
        deadline = Deadline(budget)
        tables = run(case, runs[0], deadline)
        used, value = deadline.used, case.value(tables)
        found[method] = {
            "objective": value, "share_below": float((objectives < value - 1e-6).mean()),
            "seconds": used, "bits": bits(case.em.unpack(tables), test),
        }  # fmt: skip
    return {"alarm, four hidden": found}


class EMCase:
    """EM for one network and one table, from random starts by number."""

    def __init__(self, network: Network, rows: Table, seed: int) -> None:
        self.network, self.rows, self.seed = network, rows, seed
        self.em = TableEM(network, rows, PRIOR)
        self.variables = variables_of(network, rows, {})

    def start(self, number: int) -> Any:
        generator = np.random.default_rng([self.seed, number])
        drawn = network_to_start(
            "random", self.network.dag, self.variables, self.rows, None, generator
        )
        return self.em.pack(drawn)

    def run_from(self, number: int, listener: Any = None, fast: bool = False) -> Any:
        step = squared_steps(self.em.step, self.em.layout.normalised) if fast else self.em.step
        return run_em(step, self.start(number), 500, 1e-8, Ticker(listener)).parameters

    def value(self, tables: Any) -> float:
        return float(self.em.step(tables)[1])

    def best(self, many: list[Any]) -> Any:
        return max(many, key=self.value)


def em_by_annealing(word: str) -> Callable[[EMCase, Any, Deadline], Any]:
    chosen = replace(OF_EM[word], cycles=MANY)

    def run(case: EMCase, first: Any, deadline: Deadline) -> Any:
        done = annealed_em(case.em, first, chosen, seed=case.seed, ticker=Ticker(deadline))
        return done.hypothesis

    return run


def em_by_restarts(fast: bool) -> Callable[[EMCase, Any, Deadline], Any]:
    def run(case: EMCase, first: Any, deadline: Deadline) -> Any:
        best, number = first, EM_RUNS
        while deadline():
            best = case.best([best, case.run_from(number, deadline, fast)])
            number += 1
        return best

    return run


def em_by_deterministic_annealing(case: EMCase, first: Any, deadline: Deadline) -> Any:
    """Ueda and Nakano (1998): the posterior at a temperature, from hot to cold."""
    best, number = first, EM_RUNS
    while deadline():
        tables = case.start(number)
        for temperature in (2.0, 1.7, 1.45, 1.25, 1.1, 1.0):
            em = TableEM(case.network, case.rows, PRIOR, temperature=temperature)
            most = 500 if temperature == 1.0 else 30
            tables = run_em(em.step, tables, most, 1e-8, Ticker(deadline)).parameters
        best, number = case.best([best, tables]), number + 1
    return best


ESTIMATORS = {
    "restarts": em_by_restarts(False),
    "restarts, squared steps": em_by_restarts(True),
    "deterministic annealing": em_by_deterministic_annealing,
    "weights, random": em_by_annealing("random"),
    "weights, adversary": em_by_annealing("adversary"),
}


# Structure and parameters -------------------------------------------------------------------------

STRUCTURAL_SECONDS = 10.0


def both(folder: Path, seed: int) -> Answer:
    """Structural EM from hidden parents of everything, and from there each for the same time."""
    network, rows, test = alarm(folder, seed)
    arcs = [(hidden, name) for hidden in HIDDEN for name in rows.names]
    start = DAG(network.names, arcs)
    states = {name: network.variable(name).n_states for name in HIDDEN}
    found = structural(rows, test, start, states, seed, STRUCTURAL_SECONDS)
    found["true network"] = {"bits": bits(network, test)}
    case = EMCase(network, rows, seed)
    silver = case.best([case.run_from(number) for number in range(20)])
    found["true structure, best of 20 EM"] = {"bits": bits(case.em.unpack(silver), test)}
    return {"alarm, four hidden": found}


def structural(
    rows: Table, test: Table, start: Any, states: Any, seed: int, seconds: float
) -> Answer:
    """Structural EM alone, with random restarts, and with annealed weights."""
    found: Answer = {}
    for method, options in STRUCTURAL.items():
        deadline = Deadline(seconds)
        done = structural_em(
            rows, start, hidden=states, seed=seed, progress=deadline, n_jobs=1, **options
        )
        found[method] = {
            "score": done.score, "bits": bits(done.network, test), "seconds": deadline.used,
        }  # fmt: skip
    return found


STRUCTURAL: dict[str, dict[str, Any]] = {
    "structural EM": {},
    "restarts": {"restarts": MANY},
    "weights, random": {"anneal": replace(OF_STRUCTURAL_EM["random"], cycles=MANY)},
    "weights, adversary": {"anneal": replace(OF_STRUCTURAL_EM["adversary"], cycles=MANY)},
}


# Real tables --------------------------------------------------------------------------------------


def real(folder: Path, seed: int) -> Answer:
    """Five folds of each table: one is tested on, one hidden variable is a parent of everything."""
    found: Answer = {}
    for name, table in real_tables(folder):
        fold = np.random.default_rng(7).permutation(table.n_rows) % 5
        rows, test = table.take(fold != seed % 5), table.take(fold == seed % 5)
        start = DAG(["H", *table.names], [("H", n) for n in table.names])
        found[name] = structural(rows, test, start, {"H": 3}, seed, STRUCTURAL_SECONDS)
    return found


def real_tables(folder: Path) -> Iterator[tuple[str, Table]]:
    for name in ("soybean_large", "audiology"):
        parts = [Table.read(folder / "uci" / f"{name}_{p}.csv") for p in ("train", "test")]
        frame = {n: [*parts[0].labels(n), *parts[1].labels(n)] for n in parts[0].names}
        whole = Table.from_frame({n: [None if x is None else str(x) for x in v]
                                  for n, v in frame.items()})  # fmt: skip
        kept = [v.name for v in whole.variables if v.n_states > 1]
        yield name, whole.select(kept)
    yield "yeast, 37 genes", genes(folder)


def genes(folder: Path) -> Table:
    """The 37 genes of the compendium that vary most, in 80 experiments: down, same, up."""
    table = Table.read(folder / "expression" / "yeast_eisen80.csv.gz")
    names = [v.name for v in table.variables if not v.is_discrete]
    values = np.column_stack([table.column(n) for n in names])
    known = np.isnan(values).sum(axis=1) <= 2
    chosen = np.flatnonzero(known)[np.argsort(-np.nanstd(values[known], axis=1))[:37]]
    columns = {}
    for gene in chosen:
        levels = np.digitize(values[gene], [-1.0, 1.0]).astype(float)
        levels[np.isnan(values[gene])] = np.nan
        words = [None if np.isnan(x) else ("down", "same", "up")[int(x)] for x in levels]
        if len({w for w in words if w}) > 1:
            columns[f"gene{gene}"] = words
    return Table.from_frame(columns)


# How to cool, and whether EM gets faster ----------------------------------------------------------


def cooling(folder: Path, seed: int) -> Answer:
    """Geometric and adaptive cooling at the same time, for a search and for EM."""
    ways = {"geometric": lambda t, e: Geometric(t, 0.7 if t > 1 else 0.9, e),
            "adaptive": lambda t, e: Adaptive(t, 0.7 if t > 1 else 0.8, e)}  # fmt: skip
    found: Answer = {}
    path = network_file(folder / "networks", "insurance")
    assert path is not None
    rows = load(path).sample(1000, seed=3000 + seed)
    rows = rows.select(sorted(rows.names))
    network, hidden, _ = alarm(folder, seed)
    case = EMCase(network, hidden, seed)
    first = case.run_from(0)
    for word, reweighting in {"random": Random(), "adversary": Adversary(noise=0.5)}.items():
        for way, make in ways.items():
            scores = FamilyScores(rows, BDeu(1.0), n_jobs=1)
            chosen = Annealing(reweighting, make(1.0, 0.05), MANY)
            done = annealed_search(
                combined_search, scores, chosen, seed=seed, progress=Deadline(SEARCH_SECONDS)
            )
            found.setdefault("search, insurance", {})[f"{word}, {way}"] = {"score": done.score}
            chosen = Annealing(reweighting, make(4.0, 0.1), MANY)
            done = annealed_em(case.em, first, chosen, seed=seed, ticker=Ticker(Deadline(2.0)))
            found.setdefault("EM, alarm", {})[f"{word}, {way}"] = {"score": done.score}
    return found


def faster(folder: Path, seed: int) -> Answer:
    """Plain EM and squared steps from the same start: CPU time, iterations and where they end."""
    network, hidden, _ = alarm(folder, seed)
    whole = network.sample(1000, seed=2000 + seed)
    found: Answer = {}
    for name, rows in {
        "four hidden": hidden,
        "10% missing": whole.knock_out(0.1, seed=seed),
    }.items():
        case = EMCase(network, rows, seed)
        case.run_from(0)
        plain, squared = [], []
        for number in range(10):
            for fast, kept in ((False, plain), (True, squared)):
                begun = cpu()
                tables = case.run_from(number, fast=fast)
                kept.append((cpu() - begun, case.value(tables)))
        a, b = np.array(plain), np.array(squared)
        found[name] = {
            "plain": {"seconds": a[:, 0].mean(), "objective": a[:, 1].mean()},
            "squared": {"seconds": b[:, 0].mean(), "objective": b[:, 1].mean(),
                        "times_as_fast": a[:, 0].sum() / b[:, 0].sum()},
        }  # fmt: skip
    return found


# The record ---------------------------------------------------------------------------------------

PARTS: dict[str, Callable[[Path, int], Answer]] = {
    "structure": structure,
    "parameters": parameters,
    "both": both,
    "real": real,
    "cooling": cooling,
    "faster": faster,
}


def record() -> Answer:
    """What was measured before."""
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else {}


def measure(part: str, folder: Path, seeds: int, anew: bool) -> None:
    """One part, seed by seed, each written down as soon as it is there."""
    for seed in range(seeds):
        done = record().get(part, {}).get("seeds", {})
        if str(seed) in done and not (anew and seed == 0):
            continue
        kept = {} if anew and seed == 0 else done
        begun = cpu()
        answer = PARTS[part](folder, seed)
        entry = {
            "machine": machine(), "versions": versions(("unveil", "numpy", "numba")),
            "seeds": {**kept, str(seed): answer},
        }  # fmt: skip
        write_json(RESULTS, {**record(), part: entry})
        print(f"{part}, seed {seed}: {cpu() - begun:.0f} CPU s", flush=True)


def tables() -> str:
    """All parts as tables: mean and spread over the seeds."""
    lines: list[str] = []
    for part, entry in record().items():
        seeds = list(entry["seeds"].values())
        lines += ["", f"## {part}, {len(seeds)} seeds"]
        for case in seeds[0]:
            rows = [row(case, method, seeds) for method in seeds[0][case]]
            head = ["method", "gain (nats)", "bits per row", "gain (bits)", "CPU s", "above"]
            lines += ["", f"### {case}", "", markdown_table(head, rows)]
    return "\n".join(lines)


def row(case: str, method: str, seeds: list[Answer]) -> list[str]:
    """One method: what it gains over the first of the case, mean and standard deviation."""
    first = next(iter(seeds[0][case]))
    own = [s[case][method] for s in seeds if case in s and method in s[case]]
    base = [s[case][first] for s in seeds if case in s and method in s[case]]
    return [
        method,
        spread([_score(a) - _score(b) for a, b in zip(own, base, strict=True)]),
        spread([np.mean(a.get("bits", np.nan)) for a in own]),
        spread([np.mean(b.get("bits", np.nan)) - np.mean(a.get("bits", np.nan))
                for a, b in zip(own, base, strict=True)]),
        spread([a.get("seconds", np.nan) for a in own]),
        spread([a.get("share_below", np.nan) for a in own]),
    ]  # fmt: skip


def _score(answer: Answer) -> float:
    if "objectives" in answer:
        return float(np.median(answer["objectives"]))
    return float(answer.get("score", answer.get("objective", np.nan)))


def spread(values: list[Any]) -> str:
    """Mean and standard deviation, or nothing."""
    known = np.array(values, float)
    if np.isnan(known).all():
        return ""
    return f"{np.nanmean(known):.3f} ± {np.nanstd(known):.3f}"


def main() -> None:
    """Measure one part, or show the record."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, help="the folder of networks and tables")
    parser.add_argument("--part", choices=[*PARTS])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--anew", action="store_true", help="forget what was measured before")
    parser.add_argument("--tables", action="store_true", help="show the record")
    options = parser.parse_args()
    if options.part is not None:
        if options.data is None:
            parser.error("--part needs --data")
        measure(options.part, options.data, options.seeds, options.anew)
    if options.tables or options.part is None:
        print(tables())


if __name__ == "__main__":
    main()
