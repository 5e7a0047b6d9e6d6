"""Structure from complete rows: annealed searches beside restarts, tabu lists and walks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from anneal_common import MANY, PRIOR, TEST_ROWS, Answer, Deadline, bits, cpu
from common import network_file

from unveil import DAG, BDeu, Table, Variable, load
from unveil.model import fit
from unveil.score import FamilyScores
from unveil.search import combined_search, hill_climbing, simulated_annealing
from unveil.search.annealed import ANNEALINGS as OF_SEARCHES
from unveil.search.annealed import annealed_search
from unveil.search.constraints import Constraints
from unveil.search.graph_state import GraphState
from unveil.search.hill_climbing import shake

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


def truth(folder: Path, seed: int) -> Answer:
    """The networks that the rows of `structure` came from, and their graphs fitted to the rows."""
    found: Answer = {}
    for name, rows, test in complete_cases(folder, seed):
        path = network_file(folder / "networks", name)
        if path is not None:
            network = load(path)
            silver = fit(network.dag, rows, PRIOR)
            found[name] = {
                "true network": {"bits": bits(network, test)},
                "true structure, fitted": {"bits": bits(silver, test)},
            }
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
