"""`serve`: the pages on an address, until somebody ends it."""

from __future__ import annotations

import os
import secrets
import socket
import threading
from collections.abc import Callable
from pathlib import Path

from unveil.errors import DataError, Hint
from unveil.web.limits import Limits
from unveil.web.safety import LOOPBACK

__all__ = ["default_folder", "serve"]


def default_folder() -> Path:
    """Where analyses are kept unless said otherwise: the user's own place for data."""
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "unveil"


def serve(
    folder: Path | None = None,
    host: str = "127.0.0.1",
    port: int = 8765,
    limits: Limits | None = None,
    names: tuple[str, ...] = (),
    ready: Callable[[str], object] = print,
) -> None:
    """Serve the pages; `ready` is told the address to open.

    On any address but this machine's own (`127.0.0.1`, `::1`), a token is part of that address;
    `names` are further names under which the server is called there.
    """
    import uvicorn

    from unveil.web.app import create_app
    from unveil.web.patience import patient

    taken = _listen(host, port)
    port = taken.getsockname()[1]
    local = host in LOOPBACK
    token = "" if local else secrets.token_urlsafe(16)
    shown = f"[{host}]" if ":" in host else host
    hosts = tuple(dict.fromkeys([*LOOPBACK, host, *names]))
    limits = limits or Limits()
    app = create_app(folder or default_folder(), limits, hosts, token)
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, timeout_keep_alive=30,
        timeout_graceful_shutdown=3, http=patient(limits), ws="none",
    )  # fmt: skip
    threading.Thread(target=_warm_up, daemon=True).start()
    ready(f"http://{shown}:{port}/" + (f"?token={token}" if token else ""))
    try:
        uvicorn.Server(config).run(sockets=[taken])
    except KeyboardInterrupt:
        pass
    finally:
        taken.close()


def _warm_up() -> None:
    """Ask one question, so that what is compiled is there before the first person asks."""
    from unveil import datasets
    from unveil.web.questions import Question, answer

    answer(datasets.network("asia"), Question(given={"smoke": 0}, explain=True))


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    taken = socket.socket(family, socket.SOCK_STREAM)
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        taken.bind((host, port))
        taken.listen(512)  # who comes before the server is ready waits for it
    except OSError as error:
        taken.close()
        raise DataError(
            f"port {port} of {host} cannot be had ({error.strerror or error}).",
            hint=Hint("Give another port.", "Give another one with --port, or 0 for any."),
        ) from None
    return taken
