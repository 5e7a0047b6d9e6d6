"""`create_app`: pages, their JSON twin, and the queue, in one program."""

from __future__ import annotations

import errno
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from unveil.errors import SizeError, UnveilError
from unveil.web import api, pages
from unveil.web.jobs import Jobs, TooMany
from unveil.web.limits import Limits
from unveil.web.safety import LOOPBACK, Safety
from unveil.web.state import Server
from unveil.web.store import NoSuchThing, Store

__all__ = ["create_app"]

LOG = logging.getLogger("unveil.web")
STATUSES: tuple[tuple[type[Exception], int], ...] = (
    (NoSuchThing, 404), (TooMany, 429), (SizeError, 413), (UnveilError, 422),
)  # fmt: skip
"""The status of each refusal; the first that fits counts."""


def create_app(
    folder: Path,
    limits: Limits | None = None,
    hosts: tuple[str, ...] = LOOPBACK,
    token: str = "",
) -> FastAPI:
    """The program behind `unveil serve`; `folder` is where analyses are kept.

    `hosts` are the names it answers to; with a `token`, only whoever has it is answered.
    """
    limits = limits or Limits()
    store = Store(folder, limits.keep_days)
    server = Server(store, Jobs(store, limits), limits)

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        await server.jobs.start()
        yield
        await server.jobs.close()

    app = FastAPI(
        title="unveil", version=version("unveil"), lifespan=life, docs_url=None, redoc_url=None,
        openapi_url="/api/docs.json",
    )  # fmt: skip
    app.state.server = server
    app.include_router(api.router)
    app.include_router(pages.router)
    static = str(files("unveil.web").joinpath("static"))
    app.mount("/static", StaticFiles(directory=static), name="static")
    for kind in (UnveilError, HTTPException, RequestValidationError):
        app.add_exception_handler(kind, _refusal)
    app.add_exception_handler(OSError, _full)
    app.add_exception_handler(ClientDisconnect, _gone)
    app.add_exception_handler(Exception, _fault)
    app.add_middleware(Safety, limits=limits, hosts=hosts, token=token)
    return app


async def _refusal(request: Request, error: Exception) -> Response:
    """Every refusal in one place: a sentence, as a page or as JSON."""
    if isinstance(error, RequestValidationError):
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"][1:])
        what = f"the value of {where!r}" if where else "the request"
        return _answer(request, f"{what} cannot be used: {first['msg'].lower()}.", 422)
    if isinstance(error, HTTPException):
        words = "There is no such page." if error.status_code == 404 else f"{error.detail}."
        return _answer(request, words, error.status_code)
    status = next(status for kind, status in STATUSES if isinstance(error, kind))
    assert isinstance(error, UnveilError)
    return _answer(request, error.said("web"), status)


async def _full(request: Request, error: Exception) -> Response:
    """The disk does not take what is to be written; anything else is a fault."""
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS):
        words = "The server has no space left to write on. Delete an analysis, or tell its owner."
        return _answer(request, words, 507)
    LOG.error("a file of an analysis", exc_info=error)
    return await _fault(request, error)


async def _gone(request: Request, _: Exception) -> Response:
    """Nobody is there to read it."""
    return _answer(request, "The request was broken off, or is larger than allowed.", 400)


async def _fault(request: Request, _: Exception) -> Response:
    words = "This should not have happened: it is a fault of the program. Please report it."
    return _answer(request, words, 500)


def _answer(request: Request, problem: str, status: int) -> Response:
    problem = problem[:1].upper() + problem[1:]
    if request.url.path.startswith("/api/"):
        return api.refused(problem, status)
    return pages.problem_page(request, problem, status)
