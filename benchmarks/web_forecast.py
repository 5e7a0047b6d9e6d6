"""How long steps take in the web pages, and laws to forecast it by (`web.py --part forecast`).

Tables are drawn from the bundled networks, with and without gaps and in several sizes, and made of
numbers; every step runs as a real job. A law `exp(c) rows^a columns^b` is fitted to the seconds by
least squares of logarithms; a step that a limit of time ended counts as half as long again. By what
a law is wrong is seen on each table in turn, the law fitted to the others. Seconds are those of a
clock, on a machine as busy as it is (its load is recorded): a person waits by the clock, too.
"""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from web_server import Server

import unveil
from unveil import datasets
from unveil.web.forecast import BEGIN

__all__ = ["forecast", "laws_of"]

LIMITS = {"learn": 120, "discover": 90, "cluster": 60, "classify": 60}
MOST_ROWS = 5000
"""Discoveries of larger tables would be ended by the limit, and tell nothing."""
LEAST = 4
"""A law is fitted to so many steps at least."""
Case = dict[str, Any]


def tables() -> Iterator[tuple[str, bytes]]:
    """The tables, as CSV, with their names."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        for name in ("asia", "insurance", "alarm"):
            for n in (300, 3000, 30_000):
                for gaps in (0.0, 0.05):
                    if gaps and n > 3000:
                        continue
                    rows = datasets.network(name).sample(n, seed=n)
                    rows = rows.knock_out(gaps, seed=1) if gaps else rows
                    rows.write(path)
                    yield f"{name} {n}{' gaps' if gaps else ''}", path.read_bytes()
        for columns in (6, 30, 90):
            for n in (200, 3000):
                numbers(columns, n).write(path)
                yield f"numbers {columns} {n}", path.read_bytes()


def numbers(columns: int, n: int) -> unveil.Table:
    """Columns that hang together by a few hidden ones and by each other."""
    draw = np.random.default_rng(columns + n)
    behind = draw.normal(size=(n, max(1, columns // 8)))
    rows = behind @ draw.normal(size=(behind.shape[1], columns)) + draw.normal(size=(n, columns))
    rows[:, 1::3] += 0.5 * rows[:, :-1:3][:, : rows[:, 1::3].shape[1]]
    return unveil.Table.from_frame({f"x{i}": rows[:, i].round(4) for i in range(columns)})


def measured(server: Server, tasks: tuple[str, ...]) -> list[Case]:
    """Every step on every table: seconds, the size of the table, and the range told before."""
    cases = []
    for name, text in tables():
        key = server.ask("POST", "/api/analyses", text)["id"]
        read = server.finished(key, 1)
        assert read["state"] == "done", read
        told = server.ask("GET", f"/api/a/{key}/forecast")
        for task in tasks:
            if told["size"]["kind"] == "numbers" and task in ("cluster", "classify"):
                continue
            if task == "discover" and told["size"]["rows"] > MOST_ROWS:
                continue
            settings: Case = {"seconds": LIMITS[task]}
            if task == "classify":
                settings["target"] = read["result"]["columns"][0]["name"]
            job = server.done(key, task, **settings)
            seconds = job["ended"] - job["started"]
            stopped = job["state"] != "done" or seconds > 0.9 * LIMITS[task]
            case = {"table": name, "task": task, **told["size"], "seconds": round(seconds, 2),
                    "told": told["seconds"].get(task), "cut_short": stopped}  # fmt: skip
            cases.append(case)
            print(case, flush=True)
    return cases


def law(cases: list[Case]) -> Case:
    """The law that fits the seconds best, and by what it is wrong on tables left out."""
    constant, a, b = _fitted(cases)
    wrong = []
    for case in cases:
        others = _fitted([c for c in cases if c is not case])
        if not case["cut_short"]:
            wrong.append(round(case["seconds"] / _guess(others, case), 2))
    return {"constant": round(constant, 3), "rows": round(a, 2), "columns": round(b, 2),
            "wrong": sorted(wrong)}  # fmt: skip


def _fitted(cases: list[Case]) -> tuple[float, float, float]:
    """Constant and exponents, by least squares of logarithms over a grid of exponents."""
    rows = np.log([max(c["rows"], 1) for c in cases])
    columns = np.log([c["columns"] for c in cases])
    seconds = np.log([max(_at_least(c) - BEGIN, 0.05) for c in cases])
    grid = [(a, b) for a in np.arange(0, 1.05, 0.05) for b in np.arange(0, 2.05, 0.05)]
    a, b = min(grid, key=lambda ab: float(np.var(seconds - ab[0] * rows - ab[1] * columns)))
    return float(np.mean(seconds - a * rows - b * columns)), float(a), float(b)


def _at_least(case: Case) -> float:
    """The seconds of a step; one that was cut short would have taken longer, by half perhaps."""
    return float(case["seconds"]) * (1.5 if case["cut_short"] else 1.0)


def _guess(found: tuple[float, float, float], case: Case) -> float:
    constant, a, b = found
    return BEGIN + math.exp(constant) * max(case["rows"], 1) ** a * float(case["columns"]) ** b


def laws_of(cases: list[Case]) -> dict[str, Case]:
    """A law for every task and kind; gaps matter to the search for dependences alone."""
    groups: dict[str, list[Case]] = {}
    for case in cases:
        kind = "states" if case["kind"] == "gaps" and case["task"] != "learn" else case["kind"]
        groups.setdefault(f"{case['task']} {kind}", []).append(case)
    return {key: law(own) for key, own in sorted(groups.items()) if len(own) >= LEAST}


def forecast(tasks: tuple[str, ...] = tuple(LIMITS)) -> Case:
    """Measure every step, fit laws, and count how often the range told before held the truth."""
    with tempfile.TemporaryDirectory() as folder, Server(folder) as server:
        began = os.getloadavg()[0]
        cases = measured(server, tasks)
        busy = [round(x, 1) for x in (began, os.getloadavg()[2])]
    told = [c for c in cases if c["told"] and not c["cut_short"]]
    inside = sum(c["told"][0] <= c["seconds"] <= c["told"][1] for c in told)
    wide = [math.log(c["told"][1] / c["told"][0]) for c in told]
    return {
        "load_of_the_machine": busy, "steps": len(cases),
        "cut_short_by_time": sum(c["cut_short"] for c in cases),
        "told": len(told), "inside_the_range_told": inside,
        "middle_ratio_of_the_ends": round(math.exp(float(np.median(wide))), 1) if wide else None,
        "laws": laws_of(cases), "cases": cases,
    }  # fmt: skip
