"""Requests made from the description of the API, right and wrong ones (`web.py --part schema`).

Schemathesis draws them for every door, half of them with the key of an analysis that is there and
the number of one of its steps, so that they come farther than the door. None may be answered with a
status of 500 or more, and no job that they start may end by a fault of the program.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from web_server import Server

__all__ = ["schema"]

FAULT = "This should not have happened"


def schema(examples: int = 40) -> dict[str, Any]:
    """Every door, with so many requests of every kind; statuses, and those that should not be."""
    statuses: Counter[int] = Counter()
    bad: list[str] = []
    with tempfile.TemporaryDirectory() as folder, Server(folder, at_once=2) as server:
        key = server.ask("POST", "/api/examples/asia")["id"]
        server.finished(key, 1)
        numbers = [
            1,
            *(server.done(key, task, seconds=20)["number"] for task in ("learn", "cluster")),
        ]
        numbers.append(server.done(key, "classify", target="dysp", model="naive")["number"])
        base = f"http://127.0.0.1:{server.port}"
        doors = schemathesis.openapi.from_url(f"{base}/api/docs.json")
        operations = [found.ok() for found in doors.get_all_operations()]
        for operation in operations:
            for mode in GenerationMode:
                for known in (False, True):
                    if known and operation.method == "delete":
                        continue  # the analysis is still needed
                    told = _sent(operation, mode, base, key if known else "", numbers, examples)
                    statuses.update(status for status, _ in told)
                    bad += [f"{status} {words}" for status, words in told if status >= 500]
        jobs = server.ask("GET", f"/api/a/{key}")["jobs"]
        for job in jobs:
            server.finished(key, job["number"])
        jobs = server.ask("GET", f"/api/a/{key}")["jobs"]
        faults = [job for job in jobs if job["problem"].startswith(FAULT)]
    return {
        "doors": len(operations), "requests": sum(statuses.values()),
        "by_status": {str(k): v for k, v in sorted(statuses.items())},
        "server_errors": bad[:20], "n_server_errors": len(bad),
        "jobs_begun": len(jobs), "jobs_that_ended_by_a_fault": len(faults),
        "faults": [[job["task"], job["settings"]] for job in faults[:5]],
    }  # fmt: skip


def _sent(
    operation: Any, mode: GenerationMode, base: str, key: str, numbers: list[int], examples: int
) -> list[tuple[int, str]]:
    """The statuses of so many requests to one door, each with what was asked."""
    told: list[tuple[int, str]] = []

    @settings(
        max_examples=examples, deadline=None, database=None, derandomize=True,
        suppress_health_check=list(HealthCheck), phases=[Phase.generate],
    )  # fmt: skip
    @given(case=operation.as_strategy(generation_mode=mode))
    def send(case: Any) -> None:
        if key and "key" in (case.path_parameters or {}):
            case.path_parameters["key"] = key
            if "number" in case.path_parameters:
                case.path_parameters["number"] = numbers[len(told) % len(numbers)]
        answer = case.call(base_url=base, timeout=120)
        told.append((answer.status_code, f"{operation.label}: {case.as_curl_command()[:300]}"))

    try:
        send()
    except schemathesis.errors.SchemathesisError as error:
        if "negative" not in str(error).lower() and "unsatisf" not in type(error).__name__.lower():
            raise
    except Exception as error:  # a door without parameters has no wrong requests
        if type(error).__name__ not in ("Unsatisfiable", "SkipTest"):
            raise
    return told
