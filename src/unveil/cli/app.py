"""The `unveil` program: its commands, and the one place where errors become sentences.

Exit codes: 0 done, 1 refused (bad input; the sentence says what to try), 2 wrong usage,
130 interrupted.
"""

from __future__ import annotations

import os
import sys
import warnings
from typing import Annotated

import typer

from unveil.cli.cluster import cluster
from unveil.cli.convert import convert
from unveil.cli.datasets import datasets
from unveil.cli.demo import demo
from unveil.cli.discover import discover
from unveil.cli.fit import fit
from unveil.cli.info import info
from unveil.cli.learn import learn
from unveil.cli.options import Command
from unveil.cli.predict import impute, predict
from unveil.cli.query import query
from unveil.cli.sample import sample
from unveil.cli.screen import complain, note, say
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
    info, learn, fit, discover, cluster, query, predict, impute, convert, sample, datasets, demo,
)  # fmt: skip
for command in COMMANDS:
    app.command(cls=Command)(command)

INTERRUPTED = 130


def main(arguments: list[str] | None = None) -> int:
    """Run the program; returns its exit code."""
    words = sys.argv[1:] if arguments is None else arguments
    screen = sys.stdout, sys.stderr
    with warnings.catch_warnings():
        warnings.simplefilter("always", UnveilWarning)
        warnings.showwarning = _show_warning  # type: ignore[assignment]
        try:
            code = _run(words)
            sys.stdout.flush()
        except (BrokenPipeError, SystemExit):
            # Whoever read our output has left (typer makes a SystemExit of it and wraps the
            # streams); say nothing, and nothing more on the way out.
            sys.stdout, sys.stderr = screen
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
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


def _explain(error: Exception) -> int:
    """Say what went wrong in a sentence; returns the exit code."""
    if isinstance(error, BrokenPipeError):
        raise error
    if isinstance(error, (UnveilError, OSError)):
        complain(_sentence(error))
        return 1
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
    raise error


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'file'}: {error.strerror}"
    return error.said("command") if isinstance(error, UnveilError) else str(error)


def _show_warning(message: object, category: type[Warning], *rest: object) -> None:
    if isinstance(message, UnveilWarning):
        note(message.said("command"))
