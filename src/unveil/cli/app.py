"""The `unveil` program: its commands, and the one place where errors become sentences.

Exit codes: 0 done, 1 refused (bad input; the sentence says what to try), 2 wrong usage, 3 a fault
of the program, 130 interrupted (also if there is a best so far).
"""

from __future__ import annotations

import errno
import os
import signal
import sys
import warnings
from typing import Annotated

import typer

from unveil.cli.classify import classify
from unveil.cli.cluster import cluster
from unveil.cli.convert import convert
from unveil.cli.datasets import datasets
from unveil.cli.demo import demo
from unveil.cli.discover import discover
from unveil.cli.fit import fit
from unveil.cli.info import info
from unveil.cli.learn import learn
from unveil.cli.live import INTERRUPTION, heeding
from unveil.cli.options import Command
from unveil.cli.predict import impute, predict
from unveil.cli.query import query
from unveil.cli.sample import sample
from unveil.cli.screen import complain, note, say
from unveil.cli.serve import serve
from unveil.cli.trees import trees
from unveil.errors import UnveilError, UnveilWarning

__all__ = ["app", "main"]

app = typer.Typer(
    name="unveil",
    help="Find the variables your table does not have: Bayesian networks with hidden variables.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=False)
def _options(
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the full traceback of an error.")
    ] = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Show the version and stop.",
            is_eager=True,
            callback=lambda v: _version(v),
        ),
    ] = False,
) -> None:
    """Find the variables your table does not have: Bayesian networks with hidden variables."""


def _version(wanted: bool) -> None:
    if wanted:
        from unveil import __version__

        typer.echo(f"unveil {__version__}")
        raise typer.Exit


COMMANDS = (
    info, learn, fit, discover, classify, cluster, trees, query, predict, impute, convert, sample,
    datasets, demo, serve,
)  # fmt: skip
for command in COMMANDS:
    app.command(cls=Command)(command)

REFUSED, FAULT, INTERRUPTED = 1, 3, 130
"""Exit codes, besides 0 and that of wrong usage."""


def main(arguments: list[str] | None = None) -> int:
    """Run the program; returns its exit code."""
    words = sys.argv[1:] if arguments is None else arguments
    screen = sys.stdout, sys.stderr
    INTERRUPTION.asked = False
    with warnings.catch_warnings(), heeding((signal.SIGTERM,), signal.default_int_handler):
        warnings.simplefilter("always", UnveilWarning)
        warnings.showwarning = _show_warning  # type: ignore[assignment]
        try:
            code = _flushed(_run(words))
            if INTERRUPTION.asked and code == 0:
                code = INTERRUPTED  # it gave the best so far; a script can tell
        except (BrokenPipeError, SystemExit):
            # Whoever read our output has left (typer makes a SystemExit of it and wraps the
            # streams); say nothing, and nothing more on the way out.
            sys.stdout, sys.stderr = screen
            _say_no_more()
            code = 0
    if arguments is None:
        sys.exit(code)
    return code


def _run(words: list[str]) -> int:
    plain = [word for word in words if word != "--debug"]  # wherever it stands
    try:
        answer = app(plain, prog_name="unveil", standalone_mode=False)
        code = answer if isinstance(answer, int) else 0
    except Exception as error:
        if plain != words and not hasattr(error, "format_message"):
            raise
        code = _explain(error)
    except KeyboardInterrupt:
        code = INTERRUPTED
    if code == INTERRUPTED:  # typer's own answer to Ctrl-C, too
        complain("stopped")
    return code


def _flushed(code: int) -> int:
    """The exit code once all that was said is written out; another, if there is no room for it."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        _say_no_more()
        return _explain(OSError(error.errno, error.strerror, "standard output"))
    return code


def _say_no_more() -> None:
    """Let everything that is still to be written to standard output go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _explain(error: Exception) -> int:
    """Say what went wrong in a sentence; returns the exit code."""
    if isinstance(error, BrokenPipeError):
        raise error
    if isinstance(error, (UnveilError, OSError, MemoryError)):
        complain(_sentence(error))
        return REFUSED
    if type(error).__name__ == "NoArgsIsHelpError":
        say(str(error))
        return 0
    if hasattr(error, "exit_code") and hasattr(error, "format_message"):
        context = getattr(error, "ctx", None)
        hint = f" (try: {context.command_path} --help)" if context is not None else ""
        complain(f"{error.format_message()}{hint}")
        return int(error.exit_code)
    if type(error).__name__ == "Abort":
        return INTERRUPTED
    complain(_apology(error))
    return FAULT


def _sentence(error: Exception) -> str:
    if isinstance(error, UnveilError):
        return error.said("command")
    if isinstance(error, MemoryError):
        said = f" ({error})" if str(error) else ""
        return (
            f"there is not enough memory for this{said}. Try fewer columns (--drop), fewer rows, "
            "--n-jobs 1 where there is such an option, or a larger machine."
        )
    if isinstance(error, OSError) and error.strerror:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        hint = ". Make room there, or write to another disk" if full else ""
        place = f"{error.filename}: " if error.filename else ""
        return f"{place}{error.strerror}{hint}"
    return str(error)


def _apology(error: Exception) -> str:
    """The last net: what nobody foresaw is a sentence, too, and says where to tell of it."""
    said = " ".join(str(error).split())
    return (
        f"this should not have happened: {type(error).__name__}{f': {said}' if said else ''}. "
        f"It is a fault of unveil, not yours. Please report it {_where_to_report()}, with what the "
        "same command shows when you add --debug."
    )


def _where_to_report() -> str:
    from importlib.metadata import PackageNotFoundError, metadata

    try:
        links = metadata("unveil").get_all("Project-URL") or []
    except PackageNotFoundError:
        links = []
    named = (link.partition(", ")[::2] for link in links)
    places = [url for name, url in named if name.lower() in ("issues", "bug tracker", "tracker")]
    return f"at {places[0]}" if places else "as CONTRIBUTING.md of its sources says"


def _show_warning(message: object, category: type[Warning], *rest: object) -> None:
    if isinstance(message, UnveilWarning):
        note(message.said("command"))
