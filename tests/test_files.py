"""Files that are there whole, or as they were."""

import os
import stat

import pytest

from unveil.files import atomic_write


def everything_in(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("old", [None, "old"])
def test_a_file_is_written_whole(tmp_path, old):
    path = tmp_path / "note.txt"
    if old:
        path.write_text(old)
    with atomic_write(path) as file:
        file.write("grüße\r\nα\n")
        assert (path.read_text() if old else path.exists()) == (old or False)
    assert path.read_bytes() == "grüße\r\nα\n".encode()
    assert everything_in(tmp_path) == ["note.txt"]


def test_bytes_and_a_path_as_text(tmp_path):
    with atomic_write(str(tmp_path / "note.bin"), "wb") as file:
        file.write(bytes(range(256)))
    assert (tmp_path / "note.bin").read_bytes() == bytes(range(256))


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("old", [None, "old"])
def test_after_a_failure_all_is_as_it_was(tmp_path, error, old):
    path = tmp_path / "note.txt"
    if old:
        path.write_text(old)

    def fail():
        with atomic_write(path) as file:
            file.write("half of")
            file.flush()
            raise error

    with pytest.raises(error):
        fail()
    assert everything_in(tmp_path) == (["note.txt"] if old else [])
    if old:
        assert path.read_text() == old


def test_a_failure_to_replace_leaves_nothing_behind(tmp_path, monkeypatch):
    path = tmp_path / "note.txt"
    path.write_text("old")

    def broken(source, target):
        raise OSError("disk on fire")

    monkeypatch.setattr(os, "replace", broken)
    with pytest.raises(OSError, match="disk on fire"), atomic_write(path) as file:
        file.write("new")
    assert path.read_text() == "old"
    assert everything_in(tmp_path) == ["note.txt"]


def test_permissions_are_those_of_the_old_file_or_of_any_new_one(tmp_path):
    path, other = tmp_path / "note.txt", tmp_path / "other.txt"
    other.write_text("made the ordinary way")
    with atomic_write(path) as file:
        file.write("new")
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(other.stat().st_mode)
    path.chmod(0o640)
    with atomic_write(path) as file:
        file.write("newer")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with (
        pytest.raises(FileNotFoundError) as caught,
        atomic_write(tmp_path / "no" / "note.txt") as file,
    ):
        file.write("never")
    assert caught.value.filename == str(tmp_path / "no")
    assert caught.value.strerror == "there is no such folder"


def test_a_folder_is_not_replaced(tmp_path):
    (tmp_path / "note").mkdir()
    with pytest.raises(OSError, match="note"), atomic_write(tmp_path / "note") as file:
        file.write("new")
    assert everything_in(tmp_path) == ["note"]
