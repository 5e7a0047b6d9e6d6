"""The command reference is up to date, and commands shown elsewhere exist with their options."""

import shlex
from pathlib import PurePosixPath

import pytest

from unveil.discovery.folder import RESULTS

from .pages import ROOT, blocks, page_id, pages, tool

MAKER = tool("make_cli_docs")
COMMANDS = {command.name: command for command in MAKER.commands()}
PAGES = [page for page in pages() if any(b.language == "sh" for b in blocks(page))]


def test_the_command_reference_is_up_to_date():
    written = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert written == MAKER.page(), "run: python tools/make_cli_docs.py"


def test_every_command_and_option_says_what_it_is_for():
    for command in COMMANDS.values():
        assert command.help, f"unveil {command.name} has no help"
        for parameter in command.parameters:
            assert parameter.help, f"unveil {command.name}: {parameter.name} has no help"
            assert parameter.help.endswith("."), f"{command.name} {parameter.name}: a sentence"
    assert all(option.help for option in MAKER.program_options())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_shown_on_a_page_besides_the_reference(name):
    shown = [
        page_id(page)
        for page in PAGES
        for command in _commands(page)
        if command[1:2] == [name] and page.name != "cli.md"
    ]
    assert shown, f"no page shows how to use unveil {name}"


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_commands_shown_exist_with_their_options(page):
    for words in _commands(page):
        _check(words, page_id(page))


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_files_of_a_run_are_called_as_it_calls_them(page):
    for words in _commands(page):
        shown = [PurePosixPath(word) for word in words]
        names = {path.name for path in shown if path.parts[:1] == ("out",) and path.suffix}
        assert names <= {*RESULTS}, page_id(page)


@pytest.mark.parametrize(
    "line", ["unveil lern x.csv", "unveil learn x.csv --colour red", "unveil learn x.csv y.csv"]
)
def test_a_wrong_command_would_be_noticed(line):
    with pytest.raises(AssertionError):
        _check(shlex.split(line), "here")


def _commands(page):
    """The words of every `unveil` line in the page's shell blocks."""
    for block in blocks(page):
        if block.language == "sh":
            for line in block.text.replace("\\\n", " ").splitlines():
                words = shlex.split(line, comments=True)
                if words[:1] == ["unveil"]:
                    yield words


def _check(words, where):
    line = shlex.join(words)
    if words[1:] in (["--help"], ["--version"]):
        return
    assert words[1] in COMMANDS, f"{where}: there is no command in `{line}`"
    command = COMMANDS[words[1]]
    known = {spelling: option for option in command.options for spelling in option.spellings}
    rest, places = iter(words[2:]), 0
    for word in rest:
        if not word.startswith("-"):
            places += 1
            continue
        if word == "--help":
            return
        assert word in known, f"{where}: `{line}` has an option that does not exist: {word}"
        if known[word].takes:
            assert next(rest, None) is not None, f"{where}: `{line}` lacks a value for {word}"
    needed = sum(argument.required for argument in command.arguments)
    assert needed <= places <= len(command.arguments), f"{where}: wrong arguments in `{line}`"
    for option in command.options:
        if option.required:
            assert set(option.spellings) & set(words), f"{where}: `{line}` lacks {option.name}"
