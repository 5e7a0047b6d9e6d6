"""`patient`: connections that are waited for so long and no longer, and not too many of them.

A client that opens connections and says nothing, a byte a minute, or never reads its answer, must
not keep others out. So the head of a request has to be whole in time, an answer has to be taken in
time, and there is a bound on connections: at the bound, the one that has been idle longest goes.
How long the body of a request may take is said in `safety.py` and `upload.py`.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from unveil.web.limits import Limits

__all__ = ["patient"]


def patient(limits: Limits) -> type[H11Protocol]:
    """The protocol of a server with these limits, for `uvicorn.Config(http=...)`."""

    class Patient(H11Protocol):
        """One connection; `busy` while a request is worked on."""

        began = 0.0
        _head: asyncio.TimerHandle | None = None
        _taking: asyncio.TimerHandle | None = None

        @property
        def busy(self) -> bool:
            """Whether a request has come in whose answer is not complete."""
            return self.cycle is not None and not self.cycle.response_complete

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self.began = self.loop.time()
            self._head = self.loop.call_later(limits.head_seconds, self._give_up)
            if len(self.connections) > limits.connections:
                self._make_room()

        def _make_room(self) -> None:
            """End the connection that has been idle longest; there is one at least, this one."""
            kept: Any = [c for c in self.connections if not c.transport.is_closing()]
            if len(kept) > limits.connections:
                min((c for c in kept if not c.busy), key=lambda c: c.began).transport.abort()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.busy:
                self._head = _cancelled(self._head)
            elif self._head is None and not self.transport.is_closing():
                # The beginning of a further request on a connection that was kept.
                self._head = self.loop.call_later(limits.head_seconds, self._give_up)

        def on_response_complete(self) -> None:
            self.began = self.loop.time()
            super().on_response_complete()

        def pause_writing(self) -> None:
            """Called when the client does not take its answer."""
            self._taking = self.loop.call_later(limits.taking_seconds, self.transport.abort)
            self.flow.pause_writing()

        def resume_writing(self) -> None:
            """Called when it takes it again."""
            self._taking = _cancelled(self._taking)
            self.flow.resume_writing()

        def connection_lost(self, exc: Exception | None) -> None:
            self._head, self._taking = _cancelled(self._head), _cancelled(self._taking)
            super().connection_lost(exc)

        def _give_up(self) -> None:
            if not self.busy:
                self.transport.abort()

    return Patient


def _cancelled(timer: asyncio.TimerHandle | None) -> Any:
    if timer is not None:
        timer.cancel()
    return None
