"""The tools that learn structures: each prepares its data once and returns what one run is."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from unveil import BIC, BDeu, Table, fit
from unveil.model import EquivalentSampleSize
from unveil.score import FamilyScores
from unveil.search import SEARCHES

__all__ = ["TOOLS", "Clock", "Record", "Run"]

Record = dict[str, Any]
Run = Callable[[], Record]


def ours(search: str, n_jobs: int | None) -> Callable[[Table, str], Run]:
    """One of our searches, as `unveil.learn` calls it."""

    def prepare(table: Table, target: str) -> Run:
        score = {"BDeu": BDeu(1.0), "BIC": BIC()}[target]

        def run(rows: Table = table) -> Record:
            clock = Clock()
            ordered = rows.select(sorted(rows.names))
            dag = SEARCHES[search](FamilyScores(ordered, score, None, n_jobs)).dag
            found = clock.read()
            fit(dag, rows, EquivalentSampleSize(1.0))
            return {**found, "total": clock.read()["seconds"], "arcs": list(dag.arcs)}

        run(table.take(range(min(200, table.n_rows))))
        return run

    return prepare


def agrum(search: str, n_threads: int) -> Callable[[Table, str], Run]:
    """PyAgrum's greedy hill climbing, or its local search with a tabu list."""

    def prepare(table: Table, target: str) -> Run:
        import pyagrum as gum

        frame = table.to_pandas().astype(str)
        template = gum.BayesNet()
        for v in table.variables:
            template.add(gum.LabelizedVariable(v.name, v.name, [str(x) for x in v.labels]))

        def run() -> Record:
            started = time.perf_counter()
            learner = gum.BNLearner(frame, template)
            learner.setNumberOfThreads(n_threads)
            {"BDeu": learner.useScoreBDeu, "BIC": learner.useScoreBIC}[target]()
            if search == "tabu":
                learner.useLocalSearchWithTabuList(100, 2)
            else:
                learner.useGreedyHillClimbing()
            clock = Clock()
            dag = learner.learnDAG()
            found = clock.read()
            total = time.perf_counter() - started
            arcs = [(learner.nameFromId(a), learner.nameFromId(b)) for a, b in dag.arcs()]
            return {**found, "total": total, "arcs": arcs}

        return run

    return prepare


def pgmpy(table: Table, target: str) -> Run:
    """Pgmpy's hill climbing, its settings as they come."""
    from pgmpy import structure_score
    from pgmpy.causal_discovery import HillClimbSearch

    frame = table.to_pandas()

    def run() -> Record:
        clock = Clock()
        if target == "BDeu":
            score = structure_score.BDeu(frame, equivalent_sample_size=1)
        else:
            score = structure_score.BIC(frame)
        search = HillClimbSearch(scoring_method=score, return_type="dag", show_progress=False)
        arcs = list(search.fit(frame).causal_graph_.edges())
        found = clock.read()
        return {**found, "total": found["seconds"], "arcs": arcs}

    return run


def causal_learn(stock: bool) -> Callable[[Table, str], Run]:
    """GES of causal-learn, with its own score or with plain BDeu.

    Its BDeu has a structure prior and takes the states seen for the states there are; plain, the
    prior is uniform and every variable has all its states.
    """

    def prepare(table: Table, target: str) -> Run:
        import causallearn.search.ScoreBased.GES as ges_module
        from causallearn.utils.PDAG2DAG import pdag2dag

        cells = table.codes().T.astype(int)
        n = table.n_columns
        if not stock:
            sizes = {i: v.n_states for i, v in enumerate(table.variables)}
            plain = {"sample_prior": 1.0, "structure_prior": (n - 1) / 2, "r_i_map": sizes}
            theirs = ges_module.local_score_BDeu
            ges_module.local_score_BDeu = lambda data, i, parents, parameters=None: theirs(
                data, i, parents, plain
            )

        def run() -> Record:
            clock = Clock()
            found = ges_module.ges(
                cells, score_func="local_score_BDeu", node_names=list(table.names)
            )
            record = clock.read()
            marks = pdag2dag(found["G"]).graph
            arcs = [
                (table.names[a], table.names[b])
                for a in range(n)
                for b in range(n)
                if marks[b, a] == 1 and marks[a, b] == -1
            ]
            return {**record, "total": record["seconds"], "arcs": arcs}

        return run

    return prepare


class Clock:
    """Wall clock and processor time since it was made."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def read(self) -> Record:
        return {
            "seconds": time.perf_counter() - self._wall,
            "cpu_seconds": time.process_time() - self._cpu,
        }


TOOLS: dict[str, Callable[[Table, str], Run]] = {
    "unveil hc, 1 thread": ours("hill-climbing", 1),
    "unveil hc": ours("hill-climbing", None),
    "unveil default, 1 thread": ours("combined", 1),
    "unveil default": ours("combined", None),
    "pyAgrum hc, 1 thread": agrum("hc", 1),
    "pyAgrum hc, 2 threads": agrum("hc", 2),
    "pyAgrum tabu, 1 thread": agrum("tabu", 1),
    "pgmpy hc": pgmpy,
    "causal-learn GES, plain BDeu": causal_learn(stock=False),
    "causal-learn GES, stock": causal_learn(stock=True),
}
