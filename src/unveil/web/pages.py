"""What a person sees: pages made on the server; scripts fill in what changes."""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass
from importlib.resources import files
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Request
from fastapi.responses import HTMLResponse, Response
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from unveil import datasets
from unveil.web.api import analysis as analysis_twin
from unveil.web.api import lines_of
from unveil.web.columns import used_columns
from unveil.web.rows import ROW_FILES
from unveil.web.state import Server, server_of
from unveil.web.store import Analysis, Job, NoSuchThing, State
from unveil.web.tasks import TASKS

__all__ = ["problem_page", "router"]

router = APIRouter(default_response_class=HTMLResponse, include_in_schema=False)

At = Annotated[Server, Depends(server_of)]
Key = Annotated[str, Path(pattern=r"^[A-Za-z0-9_-]{22}$")]


@dataclass(frozen=True)
class Trail:
    """One page of an analysis: its address, its name, and which task it shows."""

    path: str
    title: str
    template: str
    task: str = ""


TRAILS = (
    Trail("", "Table", "table.html", "read"),
    Trail("dependences", "Dependences", "dependences.html", "learn"),
    Trail("hidden", "Hidden variables", "hidden.html", "discover"),
    Trail("classes", "Latent classes", "classes.html", "cluster"),
    Trail("classification", "Classification", "classification.html", "classify"),
    Trail("playground", "Playground", "playground.html"),
    Trail("rows", "Rows", "rows.html"),
    Trail("take", "Take it with you", "take.html"),
)
LIBRARY = {
    "networks": "What is a Bayesian network?",
    "learning": "How is it learned from a table?",
    "arrows": "What arrows mean, and what they do not",
    "hidden": "What is a hidden variable?",
    "evidence": "When to believe it",
    "asking": "Asking a network",
    "classes": "Latent classes",
    "predicting": "Predicting a column",
    "glossary": "Words, one by one",
}
"""The pages of the library, in the order of reading."""

_ENVIRONMENT = Environment(
    loader=PackageLoader("unveil.web"),
    autoescape=select_autoescape(default=True),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_ENVIRONMENT.filters["day"] = lambda t: time.strftime("%d %B %Y", time.localtime(t)).lstrip("0")


@router.get("/")
def start(request: Request, at: At) -> Response:
    """The first page: examples, or a table of one's own."""
    return _page("start.html", examples=datasets.catalogue(), limits=at.limits)


@router.get("/library")
def library() -> Response:
    """What there is to read."""
    return _page("library.html", entries=LIBRARY, current="", text="")


@router.get("/library/{name}.svg")
def library_picture(name: str) -> Response:
    """A picture of the library."""
    picture = files("unveil.web").joinpath("library", f"{name}.svg")
    if name not in LIBRARY or not picture.is_file():
        raise NoSuchThing("there is no such picture in the library.")
    return Response(picture.read_bytes(), media_type="image/svg+xml")


@router.get("/library/{name}")
def library_page(name: str) -> Response:
    """One page of the library."""
    if name not in LIBRARY:
        raise NoSuchThing("there is no such page in the library.")
    return _page("library.html", entries=LIBRARY, current=name, text=_rendered(name))


@router.get("/a/{key}")
def table_page(key: Key, at: At) -> Response:
    """The table of an analysis."""
    return _trail(key, "", at)


@router.get("/a/{key}/{path}")
def trail_page(key: Key, path: str, at: At) -> Response:
    """Any other page of an analysis."""
    return _trail(key, path, at)


def problem_page(request: Request, problem: str, status: int) -> Response:
    """A page that says what is wrong."""
    answer = _page("problem.html", problem=problem)
    answer.status_code = status
    return answer


def _trail(key: str, path: str, at: Server) -> Response:
    trail = next((t for t in TRAILS if t.path == path), None)
    if trail is None:
        raise NoSuchThing("there is no such page.")
    found = at.store.touch(at.store.get(key))
    jobs = at.store.jobs(found)
    last = _last(jobs, trail.task)
    return _page(
        trail.template,
        analysis=found,
        trails=TRAILS,
        trail=trail,
        jobs=jobs,
        last=last,
        expires=at.store.expires(found),
        limits=at.limits,
        with_network=[j for j in jobs if j.task != "read" and _has(found, j, "model.json")],
        with_rows=[j for j in jobs if any(_has(found, j, name) for name in ROW_FILES)],
        titles={name: task.title for name, task in TASKS.items()},
        lines=[(j, lines_of(at, found, j)) for j in jobs],
        endings=lambda job: _endings(at, found, job),
        data=json.dumps(
            {
                "analysis": analysis_twin(key, at),
                "task": trail.task,
                "job": None if last is None else last.number,
                "columns": used_columns(at.store, found),
            }
        ),
    )


def _last(jobs: list[Job], task: str) -> Job | None:
    """The last job of a task that is not a failure, if there is one."""
    own = [job for job in jobs if job.task == task]
    return next((j for j in reversed(own) if j.state is not State.FAILED), own[-1] if own else None)


ENDINGS = ("json", "bif", "xmlbif", "net", "xdsl", "uai", "dot")
"""Those of the formats that a network can be taken along in."""


def _endings(at: Server, found: Analysis, job: Job) -> list[str]:
    """The endings of the formats that can hold the network of a job."""
    network, _ = at.models.load(found.job_folder(job.number) / "model.json")
    if all(v.is_discrete for v in network.variables):
        return list(ENDINGS)
    return [e for e in ENDINGS if e in ("json", "dot")]


def _has(found: Analysis, job: Job, name: str) -> bool:
    return (found.job_folder(job.number) / name).exists()


def _page(template: str, **values: Any) -> HTMLResponse:
    return HTMLResponse(_ENVIRONMENT.get_template(template).render(**values))


def _rendered(name: str) -> str:
    """A text of the library as HTML; the texts are ours, so they are taken as they are."""
    import markdown

    text = files("unveil.web").joinpath("library", f"{name}.md").read_text(encoding="utf-8")
    # The same texts are pages of the documentation, where links end in .md.
    text = re.sub(r"\((\w+)\.md\)", r"(\1)", text)
    if name != "glossary":
        return markdown.markdown(text, extensions=["tables"])
    # Its words alone, each of which can be linked to; the rest is for people who program.
    words = markdown.markdown(text.split("\n## ")[0], extensions=["tables"])
    return re.sub(r"<tr>\n<td>([^<]+)</td>", _linkable, words)


def _linkable(found: re.Match[str]) -> str:
    """A row of the glossary with its word as its name: `equivalent-sample-size`."""
    word = re.sub(r"\W+", "-", found[1].lower()).strip("-")
    return f'<tr id="{word}">\n<td>{found[1]}</td>'
