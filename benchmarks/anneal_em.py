"""Parameters of a true structure: annealed EM beside restarts and deterministic annealing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from anneal_common import MANY, PRIOR, Answer, Deadline, EMCase, alarm, bits, cpu

from unveil.em.annealed import ANNEALINGS as OF_EM
from unveil.em.annealed import annealed_em
from unveil.em.loop import run_em
from unveil.em.steps import TableEM
from unveil.progress import Ticker

EM_RUNS = 100
TIMES_ONE_RUN = 15.0


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
