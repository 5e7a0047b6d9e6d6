"""`Server`: what all requests share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

from fastapi import Request

from unveil.web.jobs import Jobs
from unveil.web.limits import Limits
from unveil.web.questions import Models
from unveil.web.store import Store

__all__ = ["Server", "server_of"]


@dataclass
class Server:
    """The store, the queue and what is remembered between requests."""

    store: Store
    jobs: Jobs
    limits: Limits
    models: Models = field(default_factory=Models)


def server_of(request: Request) -> Server:
    """The server behind a request."""
    return cast(Server, request.app.state.server)
