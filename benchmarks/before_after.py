"""The same work by two states of the sources, in turn, in one run: what a rebuild costs or saves.

    python benchmarks/before_after.py --before CHECKOUT/src --out FILE.json

Each task runs in a fresh process for either state, `--rounds` times in turn; the best CPU time of
each counts. Beside the time stands what came out (a score, a likelihood), which should not change.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def best_of(work: Callable[[], float], times: int) -> dict[str, float]:
    """The result of the work, and the best CPU seconds of several runs after a first one."""
    result = work()
    seconds = []
    for _ in range(times):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return {"result": float(result), "seconds": min(seconds)}


def structure() -> dict[str, Any]:
    from unveil import BDeu, datasets
    from unveil.search import learn

    done = {}
    for name in ("alarm", "insurance"):
        for n_rows in (1000, 10_000):
            table = datasets.network(name).sample(n_rows, seed=1)
            for search in ("combined", "hill-climbing"):
                done[f"{search}, {name}, {n_rows:,} rows"] = best_of(
                    lambda t=table, s=search: learn(t, BDeu(1.0), s).score, 8
                )
    return done


def inference() -> dict[str, Any]:
    from unveil import datasets

    alarm = datasets.network("alarm")
    hidden = alarm.sample(5000, seed=5).without(["HR", "CO"])
    gaps = alarm.sample(5000, seed=5).knock_out(0.1, seed=1)
    one = {"HR": "LOW"}
    return {
        "posteriors, 5,000 rows, 2 unseen": best_of(
            lambda: float(alarm.posterior(hidden)["HR"].sum()), 12
        ),
        "one question, 100 times": best_of(
            lambda: sum(float(alarm.posterior(one, of="CO")["CO"][0, 0]) for _ in range(100)), 8
        ),
        "likelihood, 5,000 rows with gaps": best_of(lambda: alarm.log_likelihood(gaps), 8),
        "explanations, 5,000 rows with gaps": best_of(
            lambda: float(alarm.most_probable(gaps).log_probability.sum()), 5
        ),
    }


def em() -> dict[str, Any]:
    from unveil import EquivalentSampleSize, datasets
    from unveil.em import fit_em, latent_classes, structural_em
    from unveil.em.short import short_em

    alarm, asia = datasets.network("alarm"), datasets.network("asia")
    prior = EquivalentSampleSize(1.0)
    done = {}
    for n_rows in (128, 1000, 10_000):
        table = alarm.sample(n_rows, seed=1).without("HR")
        started = [
            fit_em(alarm.dag, table, prior, {"HR": k}, seed=1, max_iterations=2).network
            for k in (2, 3, 4)
        ]

        def short(table=table, started=started):
            return sum(short_em(n, table, prior, 10).log_likelihood(table) for n in started)

        done[f"short EM of a hidden variable, {n_rows:,} rows"] = best_of(short, 8)
    gaps = alarm.sample(2000, seed=1).knock_out(0.1, seed=2)
    done["EM, 2,000 rows of ALARM with gaps"] = best_of(
        lambda: fit_em(alarm.dag, gaps, prior, seed=1, max_iterations=10).log_likelihood, 3
    )
    few = asia.sample(1000, seed=1).knock_out(0.1, seed=2)
    done["structural EM, asia"] = best_of(lambda: structural_em(few, seed=1).score, 4)
    done["latent classes, 2 to 4"] = best_of(
        lambda: latent_classes(few, range(2, 5), seed=1, n_starts=4).network.log_likelihood(few), 2
    )
    return done


def discovery() -> dict[str, Any]:
    from unveil import datasets
    from unveil.discovery import Settings, discover_networks

    done = {}
    for name, unseen in (("insurance", "Age"), ("alarm", "HR")):
        table = datasets.network(name).sample(500, seed=1).without(unseen)
        table = table.select(table.names[:14])
        done[f"discovery, {name} without {unseen}, 500 rows"] = best_of(
            lambda t=table: discover_networks(t, Settings(max_hidden=1), seed=1, n_jobs=1).score, 1
        )
    return done


PARTS = {"structure": structure, "inference": inference, "em": em, "discovery": discovery}


def run_part(part: str, source: Path) -> dict[str, Any]:
    """One part in a process of its own that sees these sources."""
    environment = {**os.environ, "PYTHONPATH": str(source.resolve())}
    done = subprocess.run(
        [sys.executable, str(Path(__file__).resolve()), "--part", part],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--before", type=Path, help="the `src` folder of an earlier checkout")
    parser.add_argument("--after", type=Path, default=HERE.parent / "src")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--part", choices=list(PARTS), help="only this part, of these sources")
    arguments = parser.parse_args()
    if arguments.before is None:
        print(json.dumps(PARTS[arguments.part]()))
        return
    from common import machine, markdown_table, write_json

    rows, record = [], {"machine": machine(), "load": os.getloadavg()[0], "tasks": {}}
    for part in [arguments.part] if arguments.part else PARTS:
        runs: dict[str, list[dict[str, Any]]] = {"before": [], "after": []}
        for _ in range(arguments.rounds):
            runs["before"].append(run_part(part, arguments.before))
            runs["after"].append(run_part(part, arguments.after))
        for task in runs["after"][0]:
            old, new = (
                min((run[task] for run in runs[when]), key=lambda found: found["seconds"])
                for when in ("before", "after")
            )
            record["tasks"][task] = {"before": old, "after": new}
            ratio = new["seconds"] / old["seconds"]
            rows.append(
                [task, f"{old['seconds'] * 1e3:.1f}", f"{new['seconds'] * 1e3:.1f}",
                 f"{ratio:.2f}", f"{old['result']:.4f}", f"{new['result']:.4f}"]
            )  # fmt: skip
            print(" | ".join(rows[-1]), flush=True)
    head = ["task", "before, CPU ms", "after, CPU ms", "ratio", "result before", "result after"]
    print(markdown_table(head, rows))
    if arguments.out:
        write_json(arguments.out, record)


if __name__ == "__main__":
    main()
