"""Everything that pages show, as JSON; `/api/docs.json` describes it (OpenAPI)."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path as PathOfFile
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Path, Query, Request
from fastapi.responses import FileResponse, JSONResponse, Response
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import BaseModel, ConfigDict, Field

from unveil import datasets
from unveil.formats import FORMATS, dumps
from unveil.model.network import Network
from unveil.web.asked import Asked
from unveil.web.columns import forecast_of, used_columns
from unveil.web.drawing import drawn, drawn_before_after, places_of
from unveil.web.events import follow
from unveil.web.lines import command_line, python_lines
from unveil.web.places import Places
from unveil.web.predicting import SENT
from unveil.web.questions import Question, answer
from unveil.web.rows import ROW_FILES, page_of_rows, row_explained
from unveil.web.safety import report_policy
from unveil.web.state import Server, server_of
from unveil.web.store import Analysis, Job, NoSuchThing
from unveil.web.upload import from_example, receive, save_stream, shown_name

__all__ = ["router"]

router = APIRouter(prefix="/api")

At = Annotated[Server, Depends(server_of)]
Key = Annotated[str, Path(pattern=r"^[A-Za-z0-9_-]{22}$")]
Number = Annotated[int, Path(ge=1, le=100_000)]


class Wanted(BaseModel):
    """A job to start: the task and its settings."""

    model_config = ConfigDict(extra="forbid")

    task: str = Field(max_length=20)
    settings: dict[str, Any] = Field(default_factory=dict)


# Analyses ----------------------------------------------------------------------------------------


@router.get("/examples")
def examples() -> list[dict[str, Any]]:
    """The bundled examples."""
    return [
        {"name": e.name, "kind": e.kind, "title": e.title, "source": e.source}
        for e in datasets.catalogue()
    ]


@router.post("/examples/{name}")
async def start_example(name: str, at: At) -> dict[str, Any]:
    """A new analysis of an example."""
    analysis = await asyncio.to_thread(from_example, at.store, at.limits, name)
    at.jobs.submit(analysis, "read", {})
    return {"id": analysis.id}


@router.post("/analyses")
async def start_upload(
    request: Request, at: At, name: Annotated[str, Query(max_length=300)] = "table"
) -> dict[str, Any]:
    """A new analysis of the table in the body of the request."""
    analysis = await receive(at.store, at.limits, name, request.stream())
    at.jobs.submit(analysis, "read", {})
    return {"id": analysis.id}


@router.get("/a/{key}")
def analysis(key: Key, at: At) -> dict[str, Any]:
    """An analysis: its name, what was asked of its table, its jobs, when it will be deleted."""
    found = at.store.touch(at.store.get(key))
    jobs = at.store.jobs(found)
    return {
        "id": found.id,
        "name": found.name,
        "example": found.example,
        "asked": Asked(**found.asked).model_dump(),
        "created": found.created,
        "expires": at.store.expires(found),
        "jobs": [_job(at, found, job) for job in jobs],
    }


@router.get("/a/{key}/forecast")
def forecast(key: Key, at: At) -> dict[str, Any]:
    """How long each step may take: seconds from and to, by task."""
    return forecast_of(at.store, at.jobs.forecasts, at.store.get(key))


@router.put("/a/{key}/asked")
async def ask_of_table(key: Key, asked: Asked, at: At) -> dict[str, Any]:
    """Say how the columns are to be taken; the table is read again."""
    found = replace(at.store.get(key), asked=asked.model_dump())
    at.store.save(found)
    return _job(at, found, at.jobs.submit(found, "read", {}))


@router.delete("/a/{key}")
async def delete(key: Key, at: At) -> dict[str, Any]:
    """Delete an analysis and everything of it, now."""
    found = at.store.get(key)
    await at.jobs.forget(found)
    at.store.delete(found)
    return {"deleted": key}


# Jobs --------------------------------------------------------------------------------------------


@router.post("/a/{key}/jobs")
async def start_job(key: Key, wanted: Wanted, at: At) -> dict[str, Any]:
    """Start a job."""
    found = at.store.get(key)
    return _job(at, found, at.jobs.submit(found, wanted.task, wanted.settings))


@router.post("/a/{key}/jobs/{number}/predictions")
async def predict_rows(
    key: Key, number: Number, request: Request, at: At,
    name: Annotated[str, Query(max_length=300)] = "rows",
) -> dict[str, Any]:  # fmt: skip
    """Start a job that predicts the rows in the body of the request, with step `number`."""
    found = at.store.get(key)
    _model(at, found, number)
    sent = found.folder / f"sent-{secrets.token_hex(8)}"
    try:
        await save_stream(sent, at.limits, request.stream())
        settings = {"of": number, "name": shown_name(name)}
        return _job(at, found, at.jobs.submit(found, "predict", settings, {SENT: sent}))
    finally:
        sent.unlink(missing_ok=True)


@router.get("/a/{key}/jobs/{number}")
def job(key: Key, number: Number, at: At) -> dict[str, Any]:
    """A job, and its result if there is one."""
    found = at.store.get(key)
    told = _job(at, found, at.store.job(found, number))
    try:
        told["result"] = at.store.result(found, number)
    except NoSuchThing:
        told["result"] = None
    return told


@router.post("/a/{key}/jobs/{number}/stop")
async def stop(key: Key, number: Number, at: At) -> dict[str, Any]:
    """Ask a job to end with the best so far; asked again, it is ended at once."""
    found = at.store.get(key)
    return _job(at, found, at.jobs.stop(found, at.store.job(found, number)))


def _analysis_with_job(key: Key, number: Number, at: At) -> Analysis:
    """The analysis, if it has that job: asked for before the first event is sent."""
    found = at.store.get(key)
    at.store.job(found, number)
    return found


@router.get("/a/{key}/jobs/{number}/events", response_class=EventSourceResponse)
async def events(
    number: Number, at: At, found: Annotated[Analysis, Depends(_analysis_with_job)],
    last_event_id: Annotated[str | None, Header(max_length=20)] = None,
) -> AsyncIterator[ServerSentEvent]:  # fmt: skip
    """The steps of a job as they come (server-sent events)."""
    after = int(last_event_id) if last_event_id and last_event_id.isdigit() else 0
    async for event in follow(at.jobs, found, number, after):
        yield event


@router.get("/a/{key}/jobs/{number}/lines")
def lines(key: Key, number: Number, at: At) -> dict[str, str]:
    """The command and the Python lines that give the same."""
    found = at.store.get(key)
    return lines_of(at, found, at.store.job(found, number))


# Results -----------------------------------------------------------------------------------------


@router.get("/a/{key}/jobs/{number}/picture")
def picture(
    key: Key, number: Number, at: At,
    bars: bool = False,
    around: Annotated[str, Query(max_length=500)] = "",
) -> dict[str, Any]:  # fmt: skip
    """The network of a job, ready to draw; of a discovery, also the one before.

    Nodes stay where the last picture of this analysis had them. `bars` leaves room for those of
    the states; `around` draws the neighbourhood of a variable alone.
    """
    found = at.store.get(key)
    network, _ = at.models.load(_model(at, found, number))
    result = at.store.result(found, number)
    arcs = result.get("arcs", [])
    explained = {} if bars else {c["name"]: c["r_squared"] for c in result.get("checks", [])}
    told: dict[str, Any] = {"name": found.name}
    before = found.job_folder(number) / "baseline.json"
    if around:
        told["after"] = drawn(network, arcs, None, bars, around, explained)
        return told
    if before.exists() and not bars:
        first, _ = at.models.load(before)
        told["before"], told["after"] = drawn_before_after(first, network, arcs)
        return told
    places = Places(found, at.store.job(found, number).task, bars)
    told["after"] = drawn(network, arcs, places.known(), bars, explained=explained)
    places.keep(places_of(told["after"]))
    return told


@router.post("/a/{key}/jobs/{number}/ask")
def ask(key: Key, number: Number, question: Question, at: At) -> dict[str, Any]:
    """What follows from findings and actions."""
    found = at.store.get(key)
    network, lock = at.models.load(_model(at, found, number))
    with lock:
        return answer(network, question)


@router.get("/a/{key}/jobs/{number}/rows")
def rows(
    key: Key, number: Number, at: At,
    sort: Annotated[str, Query(max_length=500)] = "",
    down: bool = False,
    page: Annotated[int, Query(ge=1, le=10**7)] = 1,
) -> dict[str, Any]:  # fmt: skip
    """Rows with the posterior of their hidden states, a page of them."""
    found = at.store.get(key)
    return page_of_rows(_rows(at, found, number), sort, down, page)


@router.get("/a/{key}/jobs/{number}/explain")
def explain(
    key: Key, number: Number, at: At,
    row: Annotated[int, Query(ge=0, le=10**9)] = 0,
) -> dict[str, Any]:  # fmt: skip
    """Why a row of a classification got its class: the weight of every cell, in bits."""
    found = at.store.get(key)
    path = _rows(at, found, number)
    of = int(at.store.job(found, number).settings.get("of", number))
    target = str(at.store.result(found, of).get("target", ""))
    network, lock = at.models.load(_model(at, found, of))
    with lock:
        return row_explained(network, target, path, row)


@router.get("/a/{key}/jobs/{number}/files/{name}")
def file(key: Key, number: Number, name: str, at: At, show: bool = False) -> Response:
    """A file to take along: the report, the rows, the model in any format, a picture.

    `show` opens the report in the browser instead of saving it.
    """
    found = at.store.get(key)
    folder = found.job_folder(number)
    stem, _, ending = name.rpartition(".")
    if name in ("report.html", "posteriors.csv", "predictions.csv", "result.json"):
        path = folder / name
        if not path.exists():
            raise NoSuchThing(f"step {number} has no file {name!r}.")
        if name == "report.html" and show:
            return FileResponse(path, headers={"content-security-policy": report_policy()})
        return FileResponse(path, filename=name)
    if stem == "model" and f".{ending}" in _endings():
        network, _ = at.models.load(_model(at, found, number))
        kind = _endings()[f".{ending}"]
        return _saved(dumps(network, kind), f"model.{ending}", "application/octet-stream")
    if stem == "picture" and ending in ("svg", "png", "pdf"):
        network, _ = at.models.load(_model(at, found, number))
        return _picture(network, found.name, ending)
    raise NoSuchThing(
        f"there is no file {name[:80]!r}; there are report.html, posteriors.csv, predictions.csv, "
        f"picture.svg, picture.png, picture.pdf, and model with {', '.join(_endings())}."
    )


def _endings() -> dict[str, str]:
    """The endings of model files, and the format of each."""
    return {ending: name for name, known in FORMATS.items() for ending in known.endings}


def _picture(network: Network, title: str, ending: str) -> Response:
    import io

    from unveil.report import draw

    picture = draw(network, title=title)
    if ending == "svg":
        return _saved(picture.svg(), "picture.svg", "image/svg+xml")
    buffer = io.BytesIO()
    picture.figure().savefig(buffer, format=ending)
    media = {"png": "image/png", "pdf": "application/pdf"}[ending]
    return _saved(buffer.getvalue(), f"picture.{ending}", media)


def _saved(content: str | bytes, name: str, media: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=media, headers=headers)


def _model(at: Server, found: Analysis, number: int) -> PathOfFile:
    at.store.job(found, number)
    path = found.job_folder(number) / "model.json"
    if not path.exists():
        raise NoSuchThing(f"step {number} has no network.")
    return path


def _rows(at: Server, found: Analysis, number: int) -> PathOfFile:
    """The file of the rows of a step."""
    at.store.job(found, number)
    folder = found.job_folder(number)
    for name in ROW_FILES:
        if (folder / name).exists():
            return folder / name
    raise NoSuchThing(f"step {number} has no rows to show.")


def _job(at: Server, found: Analysis, job: Job) -> dict[str, Any]:
    return {
        "number": job.number,
        "task": job.task,
        "settings": job.settings,
        "state": job.state,
        "problem": job.problem,
        "created": job.created,
        "started": job.started,
        "ended": job.ended,
        "place": at.jobs.place(found, job),
        "outdated": job.asked != found.asked,
    }


def lines_of(at: Server, found: Analysis, done: Job) -> dict[str, str]:
    """The command and the Python lines of a job; a prediction names the classifier it used."""
    of = None
    if "of" in done.settings:
        with contextlib.suppress(NoSuchThing):
            of = at.store.job(found, done.settings["of"])
    return {
        "command": command_line(done, found.name, of),
        "python": python_lines(done, found.name, of, used_columns(at.store, found)["away"]),
    }


def refused(problem: str, status: int) -> JSONResponse:
    """A refusal as JSON."""
    return JSONResponse({"problem": problem}, status)
