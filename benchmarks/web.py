"""The web pages measured: under load, by every request one can think of, by slow clients, in time.

    python benchmarks/web.py [--part load] [--part schema] [--part slow] [--part forecast]

Each part starts `unveil serve` on loopback in a folder of its own; all four without `--part`.

| part | what is done |
| --- | --- |
| load | a hundred people browse and ask about ALARM at once, then twenty jobs are queued |
| schema | schemathesis sends requests made from the description of the API (OpenAPI): no 5xx |
| slow | clients that send almost nothing, and never finish, while others ask |
| forecast | seconds of real steps on tables of many sizes, and the laws that forecast them |

Needs `unveil[web]`, the part schema also `schemathesis`. The record of each part goes to
`benchmarks/results/web.json`.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from common import machine, versions, write_json

RESULTS = Path(__file__).parent / "results" / "web.json"
PARTS = ("load", "schema", "slow", "forecast")


def measured(part: str, asked: argparse.Namespace) -> dict[str, Any]:
    """What one part found."""
    if part == "load":
        from web_load import load

        return load(asked.users, asked.seconds, asked.jobs)
    if part == "schema":
        from web_schema import schema

        return schema(asked.examples)
    if part == "slow":
        from web_slow import slow

        return slow()
    from web_forecast import forecast

    return forecast()


def main() -> None:
    """Measure, print and record."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=PARTS, action="append")
    parser.add_argument("--users", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--jobs", type=int, default=20)
    parser.add_argument("--examples", type=int, default=40, help="requests per door and kind")
    asked = parser.parse_args()
    record = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for part in asked.part or PARTS:
        found = measured(part, asked)
        print(json.dumps({k: v for k, v in found.items() if k != "cases"}, indent=1), flush=True)
        record["machine"] = machine()
        record["versions"] = versions(["fastapi", "uvicorn", "schemathesis", "unveil"])
        record[part] = found
        write_json(RESULTS, record)


if __name__ == "__main__":
    main()
