"""Write docs/cli.md, the command reference, from the program itself.

    python tools/make_cli_docs.py          # write the page
    python tools/make_cli_docs.py --check  # say whether it is up to date (exit code 1: it is not)

Names, defaults and help texts are taken from the functions behind the commands, so the page does
not depend on how a terminal or a version of typer lays out its help.
"""

from __future__ import annotations

import argparse
import inspect
import sys
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.models import ArgumentInfo, OptionInfo

from unveil.cli.app import app

__all__ = ["Command", "Parameter", "commands", "page", "program_options"]

PAGE = Path(__file__).parent.parent / "docs" / "cli.md"

HEAD = """\
# Command line

<!-- Made by tools/make_cli_docs.py; change the commands, not this page. -->

`unveil COMMAND --help` says the same in the terminal. Tables and notes for people go to standard
output and standard error; nothing asks questions, so every command can be part of a script.

Exit codes: 0 done; 1 refused, with a sentence that says what to try; 2 wrong usage; 3 a fault of
the program, with a sentence that says where to report it; 130 interrupted by Ctrl-C or SIGTERM,
also if the best so far was kept.
"""

READING = {
    "--delimiter", "--missing", "--weights", "--encoding", "--header", "--discrete",
    "--continuous", "--text",
}  # fmt: skip
"""Options that all commands share that read a table; told once."""


@dataclass(frozen=True)
class Parameter:
    """An argument or option of a command."""

    name: str
    spellings: tuple[str, ...]
    takes: str
    """What it takes, such as `INT`; empty for a switch."""
    repeatable: bool
    required: bool
    default: str
    help: str

    @property
    def is_option(self) -> bool:
        """Whether it is given by name."""
        return bool(self.spellings)


@dataclass(frozen=True)
class Command:
    """A command of the program and what it takes."""

    name: str
    help: str
    parameters: tuple[Parameter, ...]

    @property
    def arguments(self) -> tuple[Parameter, ...]:
        """What is given by place."""
        return tuple(p for p in self.parameters if not p.is_option)

    @property
    def options(self) -> tuple[Parameter, ...]:
        """What is given by name."""
        return tuple(p for p in self.parameters if p.is_option)


def commands() -> tuple[Command, ...]:
    """The commands of the program, in its own order."""
    found = []
    for info in app.registered_commands:
        assert info.callback is not None
        name = info.name or info.callback.__name__.replace("_", "-")
        found.append(Command(name, inspect.getdoc(info.callback) or "", _parameters(info.callback)))
    return tuple(found)


def program_options() -> tuple[Parameter, ...]:
    """The options that stand before the command."""
    assert app.registered_callback is not None
    assert app.registered_callback.callback is not None
    return _parameters(app.registered_callback.callback)


def page() -> str:
    """The text of docs/cli.md."""
    known = commands()
    lines = [HEAD, "| command | what it does |", "| --- | --- |"]
    lines += [f"| [`{c.name}`](#{c.name}) | {_first_sentence(c.help)} |" for c in known]
    lines += ["", "Before the command:", "", *_option_lines(program_options())]
    shared: dict[str, Parameter] = {}
    for command in known:
        lines += _command_lines(command, shared)
    lines += ["", "## Reading a table", "", READING_WORDS, "", *_option_lines(shared.values())]
    return "\n".join(lines) + "\n"


READING_WORDS = (
    "Commands that read a table take these as well (where they are listed above); "
    "[Tables](tables.md) tells the rules."
)


def _command_lines(command: Command, shared: dict[str, Parameter]) -> list[str]:
    own, reading = [], []
    for option in command.options:
        # `sample --missing` is something else: a share of cells to knock out.
        is_shared = option.spellings[0] in READING and option.takes != "NUMBER"
        (reading if is_shared else own).append(option)
    for option in reading:
        shared.setdefault(option.spellings[0], option)
    usage = " ".join(
        ["unveil", command.name]
        + [f"{p.name.upper()}" if p.required else f"[{p.name.upper()}]" for p in command.arguments]
        + [f"{p.spellings[0]} {p.takes}" for p in own if p.required]
        + ["[OPTIONS]"]
    )
    lines = ["", f"## {command.name}", "", command.help, "", "```text", usage, "```", ""]
    lines += [f"- `{p.name.upper()}`: {p.help}" for p in command.arguments]
    lines += [""] if command.arguments else []
    lines += _option_lines(own)
    if reading:
        lines += [""] if own else []
        names = ", ".join(f"`{p.spellings[0]}`" for p in reading)
        lines += [f"[Reading the table](#reading-a-table): {names}."]
    return lines


def _option_lines(options: typing.Iterable[Parameter]) -> list[str]:
    lines = []
    for p in options:
        spelled = ", ".join(f"`{s}`" for s in p.spellings)
        takes = f" `{p.takes}`" if p.takes else ""
        default = f" Default: `{p.default}`." if p.default else ""
        needed = " Required." if p.required else ""
        lines.append(f"- {spelled}{takes}: {p.help}{default}{needed}")
    return lines


def _first_sentence(text: str) -> str:
    return " ".join(text.split("\n\n")[0].split())


def _parameters(function: Callable[..., Any]) -> tuple[Parameter, ...]:
    hints = typing.get_type_hints(function, include_extras=True)
    return tuple(
        _parameter(name, hints[name], p.default)
        for name, p in inspect.signature(function).parameters.items()
    )


def _parameter(name: str, hint: Any, default: Any) -> Parameter:
    kind, info = _unpacked(hint)
    repeatable = typing.get_origin(kind) is list
    switch = kind is bool
    spellings: tuple[str, ...] = ()
    if isinstance(info, OptionInfo):
        dashed = "--" + name.replace("_", "-")
        usual = (dashed, f"--no-{dashed[2:]}") if switch else (dashed,)
        # Inside `Annotated`, typer keeps the first spelling where a default used to be.
        first = (info.default,) if isinstance(info.default, str) else ()
        spellings = (*first, *(info.param_decls or ())) or usual
    return Parameter(
        name=name,
        spellings=spellings,
        takes="" if switch else _takes(kind),
        repeatable=repeatable,
        required=default is inspect.Parameter.empty,
        default=_default_text(default, switch, spellings),
        help=" ".join((info.help or "").split()),
    )


def _unpacked(hint: Any) -> tuple[Any, ArgumentInfo | OptionInfo]:
    """The type behind a hint, `None` taken off, and what typer was told of it."""
    info = next(m for m in hint.__metadata__ if isinstance(m, (ArgumentInfo, OptionInfo)))
    kind = hint.__origin__
    if isinstance(kind, types.UnionType) or typing.get_origin(kind) is typing.Union:
        kind = next(part for part in typing.get_args(kind) if part is not type(None))
    return kind, info


def _takes(kind: Any) -> str:
    if typing.get_origin(kind) is list:
        kind = typing.get_args(kind)[0]
    return {int: "INT", float: "NUMBER", Path: "PATH"}.get(kind, "TEXT")


def _default_text(default: Any, switch: bool, spellings: tuple[str, ...]) -> str:
    if default is inspect.Parameter.empty or default is None:
        return ""
    if switch:
        return spellings[0 if default else 1] if len(spellings) > 1 else ""
    return default.as_posix() if isinstance(default, Path) else str(default)


def main() -> int:
    """Write the page, or check it."""
    parser = argparse.ArgumentParser(description="Write docs/cli.md from the program itself.")
    parser.add_argument("--check", action="store_true", help="only say whether it is up to date")
    text = page()
    if parser.parse_args().check:
        current = PAGE.exists() and PAGE.read_text(encoding="utf-8") == text
        print(f"{PAGE.name} is {'' if current else 'not '}up to date")
        return 0 if current else 1
    PAGE.write_text(text, encoding="utf-8")
    print(f"{PAGE.name} written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
