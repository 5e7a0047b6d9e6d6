"""Weight annealing against what else gets out of local maxima, at the same CPU time.

    python benchmarks/anneal.py --data FOLDER --part structure --seeds 10
    python benchmarks/anneal.py --data FOLDER --part truth
    python benchmarks/anneal.py --data FOLDER --part parameters
    python benchmarks/anneal.py --data FOLDER --part both
    python benchmarks/anneal.py --data FOLDER --part real
    python benchmarks/anneal.py --data FOLDER --part cooling
    python benchmarks/anneal.py --data FOLDER --part faster
    python benchmarks/anneal.py --tables                # the record as tables

FOLDER has `networks/*.bif`, `uci`, `stocks` and `expression`. Every part writes its own entry of
`results/anneal.json`, after every seed, so that a run that is stopped loses nothing; seeds that are
in the record already are not run again (`--anew` forgets them; `--only 3 4` runs just these). All
methods of a case get the same CPU seconds on one thread, by the process' own clock; each goes on
with fresh randomness until its time is up, and its best counts. Test rows were never seen. Scores
are in nats, log-losses in bits per row, gains are over the first method of the case.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from anneal_common import Answer, cpu
from anneal_em import parameters
from anneal_schedules import cooling, faster
from anneal_search import structure, truth
from anneal_structural import Keep, both, real
from common import machine, markdown_table, versions, write_json

RESULTS = Path(__file__).parent / "results" / "anneal.json"

PARTS: dict[str, Callable[[Path, int], Answer]] = {
    "structure": structure,
    "truth": truth,
    "parameters": parameters,
    "cooling": cooling,
    "faster": faster,
}
IN_PIECES: dict[str, Callable[[Path, int, Answer, Keep], None]] = {"both": both, "real": real}
"""Those that write down every method at once, and leave out what is in the record."""


def record() -> Answer:
    """What was measured before."""
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else {}


def measure(part: str, folder: Path, seeds: Sequence[int], anew: bool) -> None:
    """One part, seed by seed, each written down as soon as it is there."""
    if anew:
        write_json(RESULTS, {name: entry for name, entry in record().items() if name != part})
    for seed in seeds:
        known = record().get(part, {}).get("seeds", {}).get(str(seed), {})
        begun = cpu()
        if part in IN_PIECES:
            IN_PIECES[part](folder, seed, known, partial(keep, part, seed))
        elif not known:
            keep(part, seed, PARTS[part](folder, seed))
        print(f"{part}, seed {seed}: {cpu() - begun:.0f} CPU s", flush=True)


def keep(part: str, seed: int, answer: Answer) -> None:
    """Write down what a seed has brought so far; others may have written other seeds meanwhile."""
    done = {**record().get(part, {}).get("seeds", {}), str(seed): answer}
    entry = {
        "machine": machine(), "versions": versions(("unveil", "numpy", "numba")),
        "seeds": dict(sorted(done.items(), key=lambda pair: int(pair[0]))),
    }  # fmt: skip
    write_json(RESULTS, {**record(), part: entry})


def tables() -> str:
    """All parts as tables: mean and spread over the seeds."""
    lines: list[str] = []
    for part, entry in record().items():
        seeds = list(entry["seeds"].values())
        lines += ["", f"## {part}, {len(seeds)} seeds"]
        for case in seeds[0]:
            methods = dict.fromkeys(m for seed in seeds for m in seed.get(case, {}))
            rows = [row(case, method, seeds) for method in methods]
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
    parser.add_argument("--part", choices=[*PARTS, *IN_PIECES])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--only", type=int, nargs="*", help="these seeds, instead of the first")
    parser.add_argument("--anew", action="store_true", help="forget what was measured before")
    parser.add_argument("--tables", action="store_true", help="show the record")
    options = parser.parse_args()
    if options.part is not None:
        if options.data is None:
            parser.error("--part needs --data")
        seeds = range(options.seeds) if options.only is None else options.only
        measure(options.part, options.data, seeds, options.anew)
    if options.tables or options.part is None:
        print(tables())


if __name__ == "__main__":
    main()
