"""Structure and parameters together: annealed structural EM beside restarts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from anneal_common import HIDDEN, MANY, Answer, Deadline, EMCase, alarm, bits

from unveil import DAG, Table
from unveil.anneal import Annealing, Geometric, Random
from unveil.em import structural_em
from unveil.em.annealed_structure import ANNEALINGS as OF_STRUCTURAL_EM

Keep = Callable[[Answer], None]
STRUCTURAL_SECONDS = 10.0
WARM_SECONDS = 0.5
STILL = Annealing(Random(), Geometric(1e-9, 0.85, 5e-11), MANY)
"""Weights as good as the rows' own: what remains is that the arcs are looked for anew."""


def both(folder: Path, seed: int, known: Answer, keep: Keep) -> None:
    """Structural EM from hidden parents of everything, and from there each for the same time."""
    network, rows, test = alarm(folder, seed)
    arcs = [(hidden, name) for hidden in HIDDEN for name in rows.names]
    start = DAG(network.names, arcs)
    states = {name: network.variable(name).n_states for name in HIDDEN}
    name = "alarm, four hidden"
    found = dict(known.get(name, {}))
    for _ in structural(rows, test, start, states, seed, found):
        keep({name: found})
    if "true network" not in found:
        found["true network"] = {"bits": bits(network, test)}
        case = EMCase(network, rows, seed)
        silver = case.best([case.run_from(number) for number in range(20)])
        found["true structure, best of 20 EM"] = {"bits": bits(case.em.unpack(silver), test)}
        keep({name: found})


def structural(
    rows: Table, test: Table, start: Any, states: Any, seed: int, found: Answer
) -> Iterator[None]:
    """Structural EM alone, with random restarts, and with annealed weights: what is not found."""
    left = {method: options for method, options in STRUCTURAL.items() if method not in found}
    for options in left.values():  # kernels are compiled before anybody's time counts
        few, soon = rows.take(np.arange(30)), Deadline(WARM_SECONDS)
        structural_em(few, start, hidden=states, seed=seed, progress=soon, n_jobs=1, **options)
    for method, options in left.items():
        deadline = Deadline(STRUCTURAL_SECONDS)
        done = structural_em(
            rows, start, hidden=states, seed=seed, progress=deadline, n_jobs=1, **options
        )
        found[method] = {
            "score": done.score, "seconds": deadline.used, "bits": bits(done.network, test),
            "parameters": done.network.n_parameters, "log_likelihood": done.log_likelihood,
        }  # fmt: skip
        yield


STRUCTURAL: dict[str, dict[str, Any]] = {
    "structural EM": {},
    "restarts": {"restarts": MANY},
    "weights, random": {"anneal": replace(OF_STRUCTURAL_EM["random"], cycles=MANY)},
    "weights, adversary": {"anneal": replace(OF_STRUCTURAL_EM["adversary"], cycles=MANY)},
    "arcs anew, own weights": {"anneal": STILL},
}


# Real tables --------------------------------------------------------------------------------------


def real(folder: Path, seed: int, known: Answer, keep: Keep) -> None:
    """Five folds of each table: one is tested on, one hidden variable is a parent of everything."""
    found = {name: dict(answer) for name, answer in known.items()}
    for name, table in real_tables(folder):
        fold = np.random.default_rng(7).permutation(table.n_rows) % 5
        rows, test = table.take(fold != seed % 5), table.take(fold == seed % 5)
        start = DAG(["H", *table.names], [("H", n) for n in table.names])
        own = found.setdefault(name, {})
        for _ in structural(rows, test, start, {"H": 3}, seed, own):
            keep(found)


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
