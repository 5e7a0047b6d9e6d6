"""How to cool, and whether squared steps make EM faster."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from anneal_common import MANY, Answer, Deadline, EMCase, alarm, cpu
from anneal_search import SEARCH_SECONDS
from common import network_file

from unveil import BDeu, load
from unveil.anneal import Adaptive, Adversary, Annealing, Geometric, Random
from unveil.em.annealed import annealed_em
from unveil.progress import Ticker
from unveil.score import FamilyScores
from unveil.search import combined_search
from unveil.search.annealed import annealed_search


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
