"""Files that are there whole, or as they were."""

import errno
import os
import stat

import pytest

from unveil.files import atomic_write, check_folder, check_target


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


def test_a_file_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    """What was renamed and not flushed may be empty after a power cut."""
    done = []
    fsync, replace = os.fsync, os.replace

    def flushed(number):
        done.append(("flush", os.fstat(number).st_size if not done else "folder"))
        fsync(number)

    def renamed(source, target):
        done.append(("rename", os.path.basename(target)))
        replace(source, target)

    monkeypatch.setattr(os, "fsync", flushed)
    monkeypatch.setattr(os, "replace", renamed)
    with atomic_write(tmp_path / "note.txt") as file:
        file.write("hello")
    assert done == [("flush", 5), ("rename", "note.txt"), ("flush", "folder")]


def test_errors_name_the_file_that_was_meant(tmp_path, monkeypatch):
    def full(number):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space") as caught, atomic_write(tmp_path / "a") as file:
        file.write("hello")
    assert caught.value.filename == str(tmp_path / "a")
    assert everything_in(tmp_path) == []


def test_names_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    check_target(tmp_path / "new")
    check_folder(tmp_path / "new" / "deep")
    check_folder(tmp_path)
    for check, path in [
        (check_target, tmp_path), (check_target, tmp_path / "no" / "x"),
        (check_folder, tmp_path / "file"), (check_folder, tmp_path / "file" / "deep"),
    ]:  # fmt: skip
        with pytest.raises(OSError, match="folder"):
            check(path)


@pytest.mark.skipif(os.getuid() == 0, reason="everything may be written by root")
def test_a_folder_that_may_not_be_written_to(tmp_path):
    tmp_path.chmod(0o500)
    for check in (check_target, check_folder):
        with pytest.raises(PermissionError):
            check(tmp_path / "new")
