"""The command line and the Python lines that give the same as a page."""

from __future__ import annotations

import shlex
from typing import Any

from unveil.web.asked import Asked
from unveil.web.store import Job

__all__ = ["command_line", "python_lines"]

CALLS = {"learn": "learn", "discover": "discover", "cluster": "latent_classes"}


def command_line(job: Job, table_name: str) -> str:
    """The command that does what the job did."""
    asked, s = Asked(**job.asked), job.settings
    words = ["unveil", "info" if job.task == "read" else job.task, table_name]
    for name, kind in asked.kinds.items():
        words += [f"--{kind}", name]
    words += ["--weights", asked.weights] if asked.weights else []
    words += [w for name in asked.keep if name not in asked.kinds for w in ("--discrete", name)]
    if job.task != "read":
        words += _preparing_words(asked, job.task)
        words += _setting_words(job.task, s)
    return " ".join(shlex.quote(str(word)) for word in words)


def _preparing_words(asked: Asked, task: str) -> list[str]:
    words = [w for name in asked.leave_out for w in ("--drop", name)]
    if asked.who:
        words += ["--id" if task == "discover" else "--drop", asked.who]
    if asked.cut:
        words += ["--discretize", asked.cut, "--bins", str(asked.bins)]
    return words


def _setting_words(task: str, s: dict[str, Any]) -> list[str]:
    words: list[str] = []
    if task in ("learn", "discover"):
        words += ["--equivalent-sample-size", f"{s['equivalent_sample_size']:g}"]
        words += [w for a, b in s["required"] for w in ("--require", f"{a} -> {b}")]
        words += [w for a, b in s["forbidden"] for w in ("--forbid", f"{a} -> {b}")]
        words += [w for tier in s["tiers"] for w in ("--tier", ",".join(tier))]
    if task == "learn" and s["max_parents"]:
        words += ["--max-parents", str(s["max_parents"])]
    if task == "discover":
        words += ["--max-hidden", str(s["max_hidden"])]
    if task == "cluster":
        words += ["--classes", f"1..{s['most']}", "--score", s["score"]]
    words += ["--seed", str(s["seed"]), "--time-limit", f"{s['seconds']:g}"]
    return [*words, "--output", {"discover": "found"}.get(task, "model.json")]


def python_lines(job: Job, table_name: str) -> str:
    """The Python lines that do what the job did."""
    asked, s = Asked(**job.asked), job.settings
    reading = {"kinds": asked.kinds or None, "weights": asked.weights or None}
    given = "".join(f", {k}={v!r}" for k, v in reading.items() if v)
    lines = ["import unveil", "", f"table = unveil.Table.read({table_name!r}{given})"]
    if job.task == "read":
        return "\n".join([*lines, "print(unveil.table.describe(table))"])
    options = {
        k: v for k, v in asked.preparing().items() if v and not (k == "n_bins" and not asked.cut)
    }
    if job.task == "discover" and asked.who:
        options |= {"drop": list(asked.leave_out), "id": asked.who}
        options = {k: v for k, v in options.items() if v}
    limits = {k: s[k] for k in ("required", "forbidden", "tiers") if s.get(k)}
    if job.task in ("learn", "discover"):
        options["equivalent_sample_size"] = s["equivalent_sample_size"]
    if job.task == "learn" and s["max_parents"]:
        options["max_parents"] = s["max_parents"]
    if job.task == "discover":
        options["max_hidden"] = s["max_hidden"]
    if job.task == "cluster":
        options |= {"classes": list(range(1, s["most"] + 1)), "score": s["score"]}
    options |= {"seed": s["seed"], "time_limit": s["seconds"]}
    words = [f"{k}={v!r}" for k, v in options.items()]
    if limits:
        inside = ", ".join(f"{k}={v!r}" for k, v in limits.items())
        words.append(f"constraints=unveil.Constraints({inside})")
    body = "".join(f"    {word},\n" for word in ["table", *words])
    return "\n".join([*lines, f"found = unveil.{CALLS[job.task]}(\n{body})", "print(found)"])
