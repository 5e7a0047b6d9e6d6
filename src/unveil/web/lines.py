"""The command line and the Python lines that give the same as a page."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from unveil.web.asked import Asked
from unveil.web.store import Job

__all__ = ["command_line", "python_lines"]

Given = dict[str, Any]


@dataclass(frozen=True)
class Spelling:
    """How a task is called: the command, its words for settings; the call, its arguments."""

    command: str
    words: Callable[[Given], list[str]]
    call: str
    arguments: Callable[[Given], Given]
    output: str = "model.json"
    is_cut: bool = True
    """Whether numbers are cut before."""


def _search_words(s: Given) -> list[str]:
    return ["--equivalent-sample-size", f"{s['equivalent_sample_size']:g}"]


def _learn_words(s: Given) -> list[str]:
    words = _search_words(s)
    words += [w for a, b in s["required"] for w in ("--require", f"{a} -> {b}")]
    words += [w for a, b in s["forbidden"] for w in ("--forbid", f"{a} -> {b}")]
    words += [w for tier in s["tiers"] for w in ("--tier", ",".join(tier))]
    return words + (["--max-parents", str(s["max_parents"])] if s["max_parents"] else [])


def _picked(*names: str) -> Callable[[Given], Given]:
    return lambda s: {name: s[name] for name in names if s[name]}


SPELLINGS = {
    "learn": Spelling(
        "learn", _learn_words, "unveil.learn", _picked("equivalent_sample_size", "max_parents")
    ),
    "discover": Spelling(
        "discover", lambda s: [*_search_words(s), "--max-hidden", str(s["max_hidden"])],
        "unveil.discover", _picked("equivalent_sample_size", "max_hidden"), "found",
    ),
    "cluster": Spelling(
        "cluster", lambda s: ["--n-classes", f"1..{s['most']}", "--score", s["score"]],
        "unveil.latent_classes",
        lambda s: {"n_classes": list(range(1, s["most"] + 1)), "score": s["score"]},
    ),
    "classify": Spelling(
        "classify", lambda s: ["--class", s["target"], "--model", s["model"]],
        "unveil.learn_classifier", _picked("target", "model"), "found", is_cut=False,
    ),
}  # fmt: skip


def command_line(job: Job, table_name: str, of: Job | None = None) -> str:
    """The command that does what the job did; `of` is the one whose classifier it used."""
    if job.task == "predict" and of is not None:
        rows = _words([_as_file(job.settings["name"])])
        return f"{command_line(of, table_name)} --predict {rows}"
    asked, spelling = Asked(**job.asked), SPELLINGS.get(job.task)
    words = ["unveil", "info" if spelling is None else spelling.command, _as_file(table_name)]
    for name, kind in asked.kinds.items():
        words += [f"--{kind}", name]
    words += ["--weights", asked.weights] if asked.weights else []
    words += [w for name in asked.keep if name not in asked.kinds for w in ("--discrete", name)]
    if spelling is not None:
        words += _preparing_words(asked, job, spelling)
        words += spelling.words(job.settings)
        words += ["--seed", str(job.settings["seed"])]
        words += ["--time-limit", f"{job.settings['seconds']:g}", "--output", spelling.output]
    return _words(words)


def _preparing_words(asked: Asked, job: Job, spelling: Spelling) -> list[str]:
    away = _away(asked, job)
    words = [w for name in away for w in ("--drop", name)]
    if asked.who and asked.who not in away:
        words += ["--id", asked.who]
    if asked.cut and spelling.is_cut:
        words += ["--discretize", asked.cut, "--n-bins", str(asked.bins)]
    return words


def python_lines(job: Job, table_name: str, of: Job | None = None) -> str:
    """The Python lines that do what the job did; `of` is the one whose classifier it used."""
    if job.task == "predict" and of is not None:
        rows = f"found.classifier.with_predictions({job.settings['name']!r})"
        lines = python_lines(of, table_name).splitlines()[:-1]
        return "\n".join([*lines, f"{rows}.write('predictions.csv')"])
    asked, spelling = Asked(**job.asked), SPELLINGS.get(job.task)
    reading = {"kinds": asked.kinds or None, "weights": asked.weights or None}
    given = "".join(f", {k}={v!r}" for k, v in reading.items() if v)
    lines = ["import unveil", "", f"table = unveil.Table.read({table_name!r}{given})"]
    if spelling is None:
        return "\n".join([*lines, "print(unveil.table.describe(table))"])
    options = _preparing(asked, job, spelling) | spelling.arguments(job.settings)
    options |= {"seed": job.settings["seed"], "time_limit": job.settings["seconds"]}
    words = [f"{k}={v!r}" for k, v in options.items()]
    wishes = {k: job.settings.get(k) for k in ("required", "forbidden", "tiers")}
    if any(wishes.values()):
        inside = ", ".join(f"{k}={v!r}" for k, v in wishes.items() if v)
        words.append(f"constraints=unveil.Constraints({inside})")
    body = "".join(f"    {word},\n" for word in ["table", *words])
    return "\n".join([*lines, f"found = {spelling.call}(\n{body})", "print(found)"])


def _preparing(asked: Asked, job: Job, spelling: Spelling) -> Given:
    away = _away(asked, job)
    options: Given = {"drop": away, "keep": asked.keep}
    if asked.who and asked.who not in away:
        options["id"] = asked.who
    if asked.cut and spelling.is_cut:
        options |= {"discretize": asked.cut, "n_bins": asked.bins}
    return {k: v for k, v in options.items() if v}


def _away(asked: Asked, job: Job) -> list[str]:
    """The columns that are left out; a discovery knows who a row is, others leave that out."""
    who = [asked.who] if asked.who and job.task != "discover" else []
    target = job.settings.get("target")
    return [name for name in dict.fromkeys([*asked.leave_out, *who]) if name != target]


def _as_file(name: str) -> str:
    """A name that no command takes for an option."""
    return f"./{name}" if name.startswith("-") else name


def _words(words: list[str]) -> str:
    return " ".join(shlex.quote(str(word)) for word in words)
