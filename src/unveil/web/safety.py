"""Who may ask, how often, and what a browser may load: one layer around all pages.

- The `Host` of a request must be one the server was started for: a page elsewhere that has its own
  name point at this machine is turned away (DNS rebinding).
- What changes something must come from our own pages: `Sec-Fetch-Site` and `Origin` say so.
- Beyond this machine a token is needed, once in the address and then in a cookie.
- A client may ask so often, ask for so much at once, and start so many things; see `Limits`.
- Pages may load scripts, styles and pictures from here alone, and none that is written inside them.
"""

from __future__ import annotations

import asyncio
import hmac
import re
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlencode, urlsplit

from anyio import BrokenResourceError
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from unveil.web.limits import Limits

__all__ = ["LOOPBACK", "Bucket", "Safety", "report_policy"]

LOOPBACK = ("127.0.0.1", "localhost", "::1")
COOKIE = "unveil"
READING = ("GET", "HEAD", "OPTIONS")
MOST_CLIENTS = 10_000
UPLOADS = re.compile(r"/api/analyses|/api/a/[^/]+/jobs/[^/]+/predictions")

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'self'; form-action 'self'; frame-ancestors 'none'; "
    "base-uri 'none'"
)
HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}


def report_policy() -> str:
    """The policy of a report shown by itself: its own style and sorting script, and no origin."""
    return (
        "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'; "
        "script-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; base-uri 'none'"
    )


@dataclass
class Bucket:
    """Tokens that come back at a rate: one is taken for every request."""

    rate: float
    most: float
    left: float = field(default=-1.0)
    at: float = 0.0

    def take(self, now: float) -> bool:
        """Whether there was a token left."""
        self.left = self.most if self.left < 0 else self.left
        self.left = min(self.most, self.left + (now - self.at) * self.rate)
        self.at = now
        if self.left < 1:
            return False
        self.left -= 1
        return True


class Safety:
    """The layer; `hosts` are names (without port) under which the server may be called."""

    def __init__(
        self, app: ASGIApp, limits: Limits, hosts: tuple[str, ...] = LOOPBACK, token: str = ""
    ) -> None:
        self.app, self.limits, self.hosts, self.token = app, limits, hosts, token
        self._buckets: OrderedDict[tuple[str, bool], Bucket] = OrderedDict()
        self._uploads = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, _with_headers(send))
            return
        upload = _is_upload(scope)
        if not upload:
            receive = _bounded(receive, self.limits.request_bytes, self.limits.request_seconds)
        self._uploads += upload
        try:
            await self.app(scope, receive, _with_headers(send))
        except* BrokenResourceError:
            pass  # a tab was closed while its events were sent
        finally:
            self._uploads -= upload

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        host = _host_name(headers.get("host", ""))
        if host not in self.hosts:
            return _problem(421, f"this server does not answer to the name {host[:80]!r}.")
        changes = scope["method"] not in READING
        if changes and not _is_own(headers):
            return _problem(403, "this request comes from another site, and is refused.")
        if not self._allows(scope, changes):
            return _problem(429, "too many requests from your address; wait a moment.")
        if _is_upload(scope) and self._uploads >= self.limits.uploads:
            return _problem(503, "others are sending files; try again in a moment.")
        if not _is_upload(scope) and _length(headers) > self.limits.request_bytes:
            return _problem(413, "the request is larger than this server takes.")
        return self._without_token(scope, headers) if self.token else None

    def _allows(self, scope: Scope, changes: bool) -> bool:
        client = (scope.get("client") or ("?", 0))[0]
        asking = scope["path"].endswith("/ask")  # a question changes nothing
        key = (client, changes and not asking)
        limits = self.limits
        if key not in self._buckets:
            rate, most = (
                (limits.changes, limits.changes_burst)
                if key[1]
                else (limits.requests, limits.burst)
            )
            self._buckets[key] = Bucket(rate, most)
            while len(self._buckets) > MOST_CLIENTS:
                self._buckets.popitem(last=False)
        self._buckets.move_to_end(key)
        return self._buckets[key].take(time.monotonic())

    def _without_token(self, scope: Scope, headers: Headers) -> Response | None:
        """A refusal unless the token is in a cookie; from the address it goes into one."""
        cookies = dict(
            part.strip().split("=", 1)
            for part in headers.get("cookie", "").split(";")
            if "=" in part
        )
        if hmac.compare_digest(cookies.get(COOKIE, "").encode(), self.token.encode()):
            return None
        asked = parse_qs(scope["query_string"].decode("latin-1"))
        if hmac.compare_digest("".join(asked.pop("token", [])).encode(), self.token.encode()):
            rest = f"?{urlencode(asked, doseq=True)}" if asked else ""
            answer = RedirectResponse(scope["path"] + rest, status_code=303)
            answer.set_cookie(COOKIE, self.token, httponly=True, samesite="strict")
            return answer
        return _problem(
            401, "this server wants its token: open the address it printed when it was started."
        )


def _is_upload(scope: Scope) -> bool:
    """Whether a file is sent, which is counted elsewhere."""
    return scope["method"] == "POST" and bool(UPLOADS.fullmatch(scope["path"]))


def _length(headers: Headers) -> int:
    said = headers.get("content-length", "0")
    return int(said) if said.isascii() and said.isdigit() else 0


def _bounded(receive: Receive, most: int, seconds: float) -> Receive:
    """The pieces of a request, until they are too many or too late: then it ends as if broken off.

    An honest client says the length beforehand and gets a sentence.
    """
    size, more, until = 0, True, time.monotonic() + seconds

    async def receiving() -> Message:
        nonlocal size, more
        if not more:
            return await receive()  # what comes after the body is the end of the connection
        try:
            message = await asyncio.wait_for(receive(), max(0.0, until - time.monotonic()))
        except TimeoutError:
            return {"type": "http.disconnect"}
        size, more = size + len(message.get("body", b"")), bool(message.get("more_body"))
        return message if size <= most else {"type": "http.disconnect"}

    return receiving


def _is_own(headers: Headers) -> bool:
    """Whether a request comes from a page of this server, or from no page at all."""
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return False
    origin = headers.get("origin")
    return origin is None or urlsplit(origin).netloc == headers.get("host", "")


def _host_name(host: str) -> str:
    """The name without its port; IPv6 addresses without brackets."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _problem(status: int, problem: str) -> Response:
    return JSONResponse({"problem": problem[0].upper() + problem[1:]}, status)


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.setdefault("content-security-policy", POLICY)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
            if not headers.get("cache-control"):
                headers["cache-control"] = "no-store"
        await send(message)

    return sending
