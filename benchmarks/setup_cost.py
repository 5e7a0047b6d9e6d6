"""What it costs to get rows ready for EM: how often in a discovery, and which share of EM's time.

    python benchmarks/setup_cost.py --before CHECKOUT/src --out FILE.json

A discovery on few rows runs hundreds of short EMs. Counted are the calls that code, fold and group
rows by what they lack; measured is the CPU time of setting up the E-step within the short EMs,
beside their whole CPU time. The functions that do it have other names in either state of the
sources, so they are listed for both.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PREPARING = [
    "em.expectation:rows_to_learn_from", "infer.rows:_coded", "infer.evidence:evidence_from",
]  # fmt: skip
SETTING_UP = ["em.expectation:Expectation.__init__", "infer.unseen:UnseenCells.to_learn_from"]
SHORT_EM = ["em.short:short_em"]
N_ROWS, N_COLUMNS = 128, 14


class Watch:
    """How often functions were called, and their CPU time (only `within` calls of others).

    The time of calls within each other counts once.
    """

    def __init__(self, places: list[str], within: Watch | None = None) -> None:
        self.calls, self.seconds, self.depth, self._within = 0, 0.0, 0, within
        for place in places:
            self._put_on(*place.split(":"))

    def _put_on(self, module: str, path: str) -> None:
        """Watch one function, under whatever name a module has it; those not there are left out."""
        try:
            owner: Any = importlib.import_module(f"unveil.{module}")
        except ModuleNotFoundError:
            return
        *classes, name = path.split(".")
        for inner in classes:
            owner = getattr(owner, inner)
        if classes:
            found = vars(owner)[name]
            plain = isinstance(found, classmethod)
            watched = self._watched(found.__func__ if plain else found)
            setattr(owner, name, classmethod(watched) if plain else watched)
            return
        found = getattr(owner, name)
        for other in [m for n, m in sys.modules.items() if n.startswith("unveil")]:
            if getattr(other, name, None) is found:
                setattr(other, name, self._watched(found))

    def _watched(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            if self._within is not None and not self._within.depth:
                return function(*arguments, **options)
            self.calls += 1
            self.depth += 1
            start = time.process_time()
            try:
                return function(*arguments, **options)
            finally:
                self.depth -= 1
                if not self.depth:
                    self.seconds += time.process_time() - start

        return call


def measured() -> dict[str, float]:
    """One discovery, after a first one that compiles what it needs."""
    from unveil import datasets
    from unveil.discovery import Settings, discover_networks

    whole = datasets.network("insurance").sample(N_ROWS, seed=1).without("Age")

    def discovery() -> float:
        table = whole.select(whole.names[:N_COLUMNS])  # a table nobody has prepared yet
        return discover_networks(table, Settings(max_hidden=1), seed=1, n_jobs=1).score

    discovery()
    preparing, short = Watch(PREPARING), Watch(SHORT_EM)
    setting_up = Watch(SETTING_UP, within=short)
    start = time.process_time()
    score = discovery()
    return {
        "rows_prepared": preparing.calls, "short_ems": short.calls, "short_em_s": short.seconds,
        "set_up_s": setting_up.seconds, "set_up_share": setting_up.seconds / short.seconds,
        "discovery_s": time.process_time() - start, "score": score,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--before", type=Path, help="the `src` folder of an earlier checkout")
    parser.add_argument("--after", type=Path, default=HERE.parent / "src")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(measured()))
        return
    from common import machine, markdown_table, write_json

    record: dict[str, Any] = {"machine": machine(), "rows": N_ROWS, "columns": N_COLUMNS}
    for when, source in (("before", arguments.before), ("after", arguments.after)):
        if source is None:
            continue
        environment = {**os.environ, "PYTHONPATH": str(source.resolve())}
        done = subprocess.run(
            [sys.executable, str(Path(__file__).resolve()), "--measure"],
            env=environment, stdout=subprocess.PIPE, text=True, check=True,
        )  # fmt: skip
        record[when] = json.loads(done.stdout.splitlines()[-1])
    states = [when for when in ("before", "after") if when in record]
    keys = list(record["after"])
    rows = [[key, *(f"{record[when][key]:.6g}" for when in states)] for key in keys]
    print(markdown_table([f"{N_ROWS} rows, {N_COLUMNS} columns", *states], rows))
    if arguments.out:
        write_json(arguments.out, record)


if __name__ == "__main__":
    main()
