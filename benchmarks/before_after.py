"""The same work by two states of the sources, in turn, in one run: what a rebuild costs or saves.

    python benchmarks/before_after.py --before CHECKOUT/src --out FILE.json

Two processes stay open, one for either state. Each task is run in turns, once here and once there,
until it was run `--repeats` times or for `--seconds`; the best CPU time of each counts. So a
machine with other work to do slows both alike. Beside the time stands what came out (a score, a
likelihood), which should not change. Results of tasks that were not run stay in the JSON file.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
Work = Callable[[], float]
Tasks = Iterator[tuple[str, Work]]
FEWEST = 3
"""Every task is run so often, however long it takes."""


# The work: each part gives its tasks one by one, ready to run. ---------------------------------


def structure() -> Tasks:
    from unveil import BDeu, datasets
    from unveil.search import learn

    for name in ("alarm", "insurance"):
        for n_rows in (1000, 10_000):
            table = datasets.network(name).sample(n_rows, seed=1)
            for search in ("combined", "hill-climbing"):
                yield (
                    f"{search}, {name}, {n_rows:,} rows",
                    lambda t=table, s=search: learn(t, BDeu(1.0), s).score,
                )


def inference() -> Tasks:
    from unveil import datasets

    alarm = datasets.network("alarm")
    hidden = alarm.sample(5000, seed=5).without(["HR", "CO"])
    gaps = alarm.sample(5000, seed=5).knock_out(0.1, seed=1)
    one = {"HR": "LOW"}

    def questions() -> float:
        return sum(float(alarm.posterior(one, of="CO")["CO"][0, 0]) for _ in range(100))

    yield "posteriors, 5,000 rows, 2 unseen", lambda: float(alarm.posterior(hidden)["HR"].sum())
    yield "one question, 100 times", questions
    yield "likelihood, 5,000 rows with gaps", lambda: alarm.log_likelihood(gaps)
    yield (
        "explanations, 5,000 rows with gaps",
        lambda: float(alarm.most_probable(gaps).log_probability.sum()),
    )


def em() -> Tasks:
    from unveil import EquivalentSampleSize, datasets
    from unveil.em import fit_em, latent_classes, structural_em
    from unveil.em.short import short_em

    alarm, asia = datasets.network("alarm"), datasets.network("asia")
    prior = EquivalentSampleSize(1.0)
    for n_rows in (128, 1000, 10_000):
        table = alarm.sample(n_rows, seed=1).without("HR")
        started = [
            fit_em(alarm.dag, table, prior, {"HR": k}, seed=1, max_iterations=2).network
            for k in (2, 3, 4)
        ]
        yield (
            f"short EM of a hidden variable, {n_rows:,} rows",
            lambda t=table, s=started: sum(short_em(n, t, prior, 10).log_likelihood(t) for n in s),
        )
    gaps = alarm.sample(2000, seed=1).knock_out(0.1, seed=2)
    yield (
        "EM, 2,000 rows of ALARM with gaps",
        lambda: fit_em(alarm.dag, gaps, prior, seed=1, max_iterations=10).log_likelihood,
    )
    few = asia.sample(1000, seed=1).knock_out(0.1, seed=2)
    yield "structural EM, asia", lambda: structural_em(few, seed=1).score
    yield (
        "latent classes, 2 to 4",
        lambda: latent_classes(few, range(2, 5), seed=1, n_starts=4).network.log_likelihood(few),
    )


def discovery() -> Tasks:
    from unveil import datasets
    from unveil.discovery import Settings, discover_networks

    for name, unseen in (("insurance", "Age"), ("alarm", "HR")):
        table = datasets.network(name).sample(500, seed=1).without(unseen)
        table = table.select(table.names[:14])
        yield (
            f"discovery, {name} without {unseen}, 500 rows",
            lambda t=table: discover_networks(t, Settings(max_hidden=1), seed=1, n_jobs=1).score,
        )


PARTS = {"structure": structure, "inference": inference, "em": em, "discovery": discovery}


# Two processes in turn -------------------------------------------------------------------------


def serve(part: str) -> None:
    """Get each task ready and say its name; then run it once for every line that asks for it."""
    for name, work in PARTS[part]():
        work()  # compiled and loaded before the clock runs
        print(json.dumps(name), flush=True)
        while sys.stdin.readline().strip() == "again":
            start = time.process_time()
            result = work()
            done = {"seconds": time.process_time() - start, "result": float(result)}
            print(json.dumps(done), flush=True)
    print(json.dumps(None), flush=True)


class Worker:
    """A process that sees one state of the sources."""

    def __init__(self, part: str, source: Path) -> None:
        environment = {**os.environ, "PYTHONPATH": str(source.resolve())}
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).resolve()), "--serve", part],
            env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def told(self) -> Any:
        """What the process says next: a task's name (`None`: no more), or what a run gave."""
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())

    def ask(self, word: str) -> None:
        """`again` runs the task, `next` goes on to the one after it."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{word}\n")
        self._process.stdin.flush()

    def run(self) -> dict[str, float]:
        """One run of the task: its CPU seconds and its result."""
        self.ask("again")
        done: dict[str, float] = self.told()
        return done


def compared(workers: dict[str, Worker], repeats: int, seconds: float) -> dict[str, Any]:
    """The best run of either worker, and how many there were of each."""
    runs: dict[str, list[dict[str, float]]] = {when: [] for when in workers}
    started = time.monotonic()
    for n in range(repeats):
        if n >= FEWEST and time.monotonic() - started > seconds:
            break
        # Who goes first changes, so that neither always follows the other's disturbance.
        for when in list(workers)[:: 1 if n % 2 else -1]:
            runs[when].append(workers[when].run())
    best = {when: min(done, key=lambda run: run["seconds"]) for when, done in runs.items()}
    return {**best, "runs": len(runs["after"])}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--before", type=Path, help="the `src` folder of an earlier checkout")
    parser.add_argument("--after", type=Path, default=HERE.parent / "src")
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=20.0, help="for each task")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--part", choices=list(PARTS), help="only this part")
    parser.add_argument("--serve", choices=list(PARTS), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve(arguments.serve)
        return
    if arguments.before is None:
        parser.error("--before is needed: the `src` folder of an earlier checkout")
    from common import machine, markdown_table, write_json

    out = arguments.out
    old = json.loads(out.read_text())["tasks"] if out and out.exists() else {}
    record = {"machine": machine(), "load": os.getloadavg()[0], "tasks": old}
    head = ["task", "before, CPU ms", "after, CPU ms", "ratio", "result before", "result after"]
    print(markdown_table(head, []))
    for part in [arguments.part] if arguments.part else PARTS:
        sources = {"before": arguments.before, "after": arguments.after}
        workers = {when: Worker(part, source) for when, source in sources.items()}
        while name := {worker.told() for worker in workers.values()}.pop():
            done = compared(workers, arguments.repeats, arguments.seconds)
            for worker in workers.values():
                worker.ask("next")
            record["tasks"][name] = done
            before, after = done["before"], done["after"]
            line = [
                name, f"{before['seconds'] * 1e3:.2f}", f"{after['seconds'] * 1e3:.2f}",
                f"{after['seconds'] / before['seconds']:.2f}", f"{before['result']:.4f}",
                f"{after['result']:.4f}",
            ]  # fmt: skip
            print(f"| {' | '.join(line)} |", flush=True)
            if out:
                write_json(out, record)


if __name__ == "__main__":
    main()
