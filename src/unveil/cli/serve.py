"""`unveil serve`: the pages in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unveil.cli.screen import note, say
from unveil.errors import DataError

__all__ = ["serve"]


def serve(
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes any.")] = 8765,
    host: Annotated[
        str, typer.Option(help="The address to listen on; other machines then need a token.")
    ] = "127.0.0.1",
    name: Annotated[
        list[str] | None,
        typer.Option(help="A further name under which this machine is called; repeatable."),
    ] = None,
    folder: Annotated[
        Path | None, typer.Option(help="Where analyses are kept; your data folder if not given.")
    ] = None,
    keep_days: Annotated[
        float, typer.Option(min=0.01, help="Delete an analysis so many days after its last use.")
    ] = 14.0,
    open_browser: Annotated[
        bool, typer.Option("--open", help="Open the page in a browser.")
    ] = False,
) -> None:
    """Serve the web pages: upload a table, look, ask, find what is hidden; Ctrl-C ends it."""
    try:
        from unveil.web.limits import Limits
        from unveil.web.serve import serve as run
    except ImportError as error:
        raise DataError(
            f"the web pages need more than is installed ({error.name}); install them with "
            "pip install 'unveil[web]'"
        ) from None

    def ready(address: str) -> None:
        say(f"unveil is at {address}")
        note("Ctrl-C ends it; analyses stay where they are")
        if open_browser:
            import webbrowser

            webbrowser.open(address)

    run(folder, host, port, Limits(keep_days=keep_days), tuple(name or ()), ready)
