"""The command line and the Python lines that give the same as a page."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from unveil.web.asked import Asked
from unveil.web.searching import WISHES
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
    words = ["--equivalent-sample-size", f"{s['equivalent_sample_size']:g}"]
    words += [w for a, b in s["required"] for w in ("--require", f"{a} -> {b}")]
    words += [w for a, b in s["forbidden"] for w in ("--forbid", f"{a} -> {b}")]
    words += [w for tier in s["tiers"] for w in ("--tier", ",".join(tier))]
    words += [w for name in s["no_parents"] for w in ("--no-parents", name)]
    words += [w for name in s["no_children"] for w in ("--no-children", name)]
    words += ["--max-parents", str(s["max_parents"])] if s["max_parents"] else []
    return words + (["--anneal", s["anneal"]] if s["anneal"] else [])


def _learn_words(s: Given) -> list[str]:
    words = [*_search_words(s), *(["--local", s["local"]] if s["local"] != "table" else [])]
    return words + (["--average", str(s["average"])] if s.get("average") else [])


def _discover_words(s: Given) -> list[str]:
    words = _search_words(s)
    for name in ("max_hidden", "n_states"):
        words += [f"--{name.replace('_', '-')}", str(s[name])] if s[name] else []
    return words + [w for place in s["places"] for w in ("--place", ",".join(place))]


def _discover_arguments(s: Given) -> Given:
    given = _picked("max_hidden", "n_states", "max_parents", "anneal", "places")(s)
    # Numbers have no equivalent sample size, and 1 is what all others have unless said.
    size = s["equivalent_sample_size"]
    return given | ({"equivalent_sample_size": size} if size != 1 else {})


def _learn_arguments(s: Given) -> Given:
    given = _picked("equivalent_sample_size", "max_parents", "anneal")(s)
    return given | ({"local": s["local"]} if s["local"] != "table" else {})


def _picked(*names: str) -> Callable[[Given], Given]:
    return lambda s: {name: s[name] for name in names if s[name]}


SPELLINGS = {
    "learn": Spelling(
        "learn", _learn_words, "unveil.learn", _learn_arguments
    ),
    "discover": Spelling(
        "discover", _discover_words, "unveil.discover", _discover_arguments, "found",
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
    cut, bins = _cut(asked, job)
    if cut and spelling.is_cut:
        words += ["--discretize", cut, "--n-bins", str(bins)]
    return words


def python_lines(job: Job, table_name: str, of: Job | None = None, away: Sequence[str] = ()) -> str:
    """The Python lines that do what the job did; `of` is the one whose classifier it used.

    `away` are columns that were left out unasked.
    """
    if job.task == "predict" and of is not None:
        rows = f"found.classifier.with_predictions({job.settings['name']!r})"
        lines = python_lines(of, table_name, away=away).splitlines()[:-1]
        return "\n".join([*lines, f"{rows}.write('predictions.csv')"])
    asked, spelling = Asked(**job.asked), SPELLINGS.get(job.task)
    reading = {"kinds": asked.kinds or None, "weights": asked.weights or None}
    given = "".join(f", {k}={v!r}" for k, v in reading.items() if v)
    lines = ["import unveil", "", f"table = unveil.Table.read({table_name!r}{given})"]
    if spelling is None:
        return "\n".join([*lines, "print(unveil.table.describe(table))"])
    options = _preparing(asked, job, spelling, away) | spelling.arguments(job.settings)
    options |= {"seed": job.settings["seed"], "time_limit": job.settings["seconds"]}
    words = [f"{k}={v!r}" for k, v in options.items()]
    wishes = {k: v for k in WISHES if (v := job.settings.get(k))}
    known = f"unveil.Constraints({', '.join(f'{k}={v!r}' for k, v in wishes.items())})"
    words += [f"constraints={known}"] if wishes else []
    body = "".join(f"    {word},\n" for word in ["table", *words])
    lines += [f"found = {spelling.call}(\n{body})", "print(found)"]
    if job.settings.get("average"):
        given = f"{job.settings['average']}, {known}" if wishes else job.settings["average"]
        averaged = f"unveil.evaluate.average_arcs(found.scores, found.search.dag, {given})"
        lines.append(f"print({averaged})")
    return "\n".join(lines)


def _preparing(asked: Asked, job: Job, spelling: Spelling, unasked: Sequence[str]) -> Given:
    away = _away(asked, job)
    # A table that nothing is asked of is taken as it is, so what goes unasked is named here.
    named = [name for name in unasked if name not in (*asked.keep, job.settings.get("target"))]
    options: Given = {"drop": list(dict.fromkeys([*away, *named])), "keep": asked.keep}
    if asked.who and asked.who not in away:
        options["id"] = asked.who
    cut, bins = _cut(asked, job)
    if cut and spelling.is_cut:
        options |= {"discretize": cut, "n_bins": bins}
    return {k: v for k, v in options.items() if v}


def _away(asked: Asked, job: Job) -> list[str]:
    """The columns that are left out; a discovery knows who a row is, others leave that out."""
    who = [asked.who] if asked.who and job.task != "discover" else []
    target = job.settings.get("target")
    return [name for name in dict.fromkeys([*asked.leave_out, *who]) if name != target]


def _cut(asked: Asked, job: Job) -> tuple[str, int]:
    """How numbers are cut, and in how many bins: the step's own choice, or the table's."""
    own, bins = job.settings.get("cut"), job.settings.get("bins")
    return asked.cut if own is None else own, asked.bins if bins is None else bins


def _as_file(name: str) -> str:
    """A name that no command takes for an option."""
    return f"./{name}" if name.startswith("-") else name


def _words(words: list[str]) -> str:
    return " ".join(shlex.quote(str(word)) for word in words)
