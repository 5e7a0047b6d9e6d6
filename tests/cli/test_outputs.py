"""What is to be written is checked before the work; and a last net below all commands."""

import errno
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
from typer.models import OptionInfo

from unveil.cli import app as room
from unveil.cli import main
from unveil.cli.app import COMMANDS

READ = {"data", "source", "start", "predict"}
"""Names of files that are read."""
FOLDERS = {"discover", "demo", "classify"}
"""Commands whose output is a folder."""


def outputs():
    """Every option that names something to write, as (command, option)."""
    for command in COMMANDS:
        for name, hint in get_type_hints(command, include_extras=True).items():
            kind, *about = get_args(hint) or (hint,)
            served = command.__name__ == "serve"  # its folder is one to keep things in
            if kind in (Path, Path | None) and name not in READ and not served:
                option = isinstance(about[0], OptionInfo)
                yield command.__name__, f"--{name.replace('_', '-')}" if option else ""


def words_for(command, option, path, folder):
    """The command with a table or network that is not there: whoever looks at it is too late."""
    absent = folder / "absent"
    first = {
        "predict": [absent, absent], "impute": [absent, absent], "demo": [],
        "fit": [absent, "--structure", absent], "datasets": ["no such dataset"],
        "classify": [absent, "--class", "x"],
    }.get(command, [absent])  # fmt: skip
    return [command, *first, *([option] if option else []), path]


@pytest.fixture
def run(capsys):
    def run(*words):
        code = main([str(word) for word in words])
        out, err = capsys.readouterr()
        assert "Traceback" not in err + out
        return code, err

    return run


def test_all_are_found():
    assert len(list(outputs())) >= 14
    assert ("learn", "--page") in outputs()
    assert ("convert", "") in outputs()


@pytest.mark.parametrize(("command", "option"), list(outputs()))
def test_an_impossible_name_is_refused_before_the_work(run, tmp_path, command, option):
    file = tmp_path / "a file"
    file.write_text("as it was")
    if command in FOLDERS:
        wrong = {file: "this is a file", file / "out": "this is a file"}
    else:
        drawn = "picture" in option or option in ("--sensitivity", "--course")
        ending = "svg" if drawn else "html" if "page" in option else "csv"
        ending = "json" if (command, option) in JSON else ending
        (tmp_path / f"a.{ending}").mkdir()
        wrong = {
            tmp_path / "no" / f"x.{ending}": "there is no",
            tmp_path / f"a.{ending}": "this is a folder",
            tmp_path / "x.xyz": "",
        }
    for path, sentence in wrong.items():
        code, err = run(*words_for(command, option, path, tmp_path))
        assert code == 1
        assert sentence in err
        assert "absent" not in err
        assert str(path)[:-4] in err or str(path.parent) in err
    assert file.read_text() == "as it was"


JSON = {
    ("learn", "--output"),
    ("fit", "--output"),
    ("cluster", "--output"),
    ("cluster", "--summary"),
    ("trees", "--output"),
    ("trees", "--summary"),
}
"""Outputs that may be written as .json; the others are pictures, pages and tables."""


def test_a_network_is_not_written_as_a_table_nor_the_other_way_round(run, tmp_path):
    assert run("convert", "asia", tmp_path / "asia.csv")[0] == 1
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    code, err = run("convert", tmp_path / "t.csv", tmp_path / "t.bif")
    assert code == 1
    assert "the ending does not tell a format" in err


# The last net ------------------------------------------------------------------------------------


def failing_with(error, monkeypatch):
    def fails(*_, **__):
        raise error

    monkeypatch.setattr("unveil.datasets.catalogue", fails)


def test_what_nobody_foresaw_is_a_sentence(run, monkeypatch):
    failing_with(KeyError("three\nlines of\nwords"), monkeypatch)
    code, err = run("datasets")
    assert code == 3
    assert err.startswith("unveil: this should not have happened: KeyError: ")
    assert "Please report it as CONTRIBUTING.md of its sources says, with what" in err
    assert err.count("\n") == 1
    with pytest.raises(KeyError):
        run("--debug", "datasets")


def test_it_is_said_where_to_report(run, monkeypatch):
    links = {"Project-URL": ["Docs, https://example.org", "Issues, https://example.org/issues"]}

    class Metadata:
        get_all = links.get

    monkeypatch.setattr("importlib.metadata.metadata", lambda name: Metadata)
    assert room._where_to_report() == "at https://example.org/issues"


@pytest.mark.parametrize("words", ["", "Unable to allocate 9.31 TiB for an array"])
def test_no_memory_is_a_sentence(run, monkeypatch, words):
    failing_with(MemoryError(*filter(None, [words])), monkeypatch)
    code, err = run("datasets")
    assert code == 1
    assert err.startswith("unveil: there is not enough memory for this")
    assert words in err


def test_no_room_is_a_sentence_that_says_where(run, monkeypatch, tmp_path):
    def full(number):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    code, err = run("datasets", "asia", "-o", tmp_path / "asia.bif")
    assert code == 1
    assert err == (
        f"unveil: {tmp_path / 'asia.bif'}: No space left on device. "
        "Make room there, or write to another disk\n"
    )
    assert list(tmp_path.iterdir()) == []
