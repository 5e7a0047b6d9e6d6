"""Writing files so that a reader never sees half of one, and nothing is lost when power is."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from unveil.errors import did_you_mean

__all__ = ["atomic_write", "check_folder", "check_target", "no_such_file", "open_for_one"]


@contextmanager
def atomic_write(path: str | os.PathLike[str], mode: str = "w") -> Iterator[IO[Any]]:
    """An open file that takes the place of `path` when the block ends without an error.

    The bytes go to a temporary file in the same folder, which is flushed to the disk and renamed at
    the end, so another program (or the same after a power cut) sees the old file or the new one and
    never a piece. After an error the old file is
    untouched and the temporary one is gone. `mode` is "w" (UTF-8 text, line ends as written) or
    "wb" (bytes).

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "note.txt"
    >>> with atomic_write(path) as file:
    ...     _ = file.write("hello")
    >>> path.read_text()
    'hello'
    """
    target = Path(path)
    check_target(target)  # said here, or the complaint would be about the temporary file
    number, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    try:
        text: dict[str, Any] = {} if "b" in mode else {"encoding": "utf-8", "newline": ""}
        with os.fdopen(number, mode, **text) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, _permissions(target))
        os.replace(name, target)
    except BaseException as error:
        Path(name).unlink(missing_ok=True)
        if (
            isinstance(error, OSError) and error.strerror
            and error.filename in (None, name, number)
        ):  # fmt: skip
            error.filename = str(target)
        raise
    _flush_folder(target.parent)


def check_target(path: str | os.PathLike[str]) -> None:
    """Refuse, with an `OSError`, a name that no file can be written under.

    Called before long work, so that nobody learns only after it that there is no such folder.
    """
    target = Path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(target.parent))
    if target.is_dir():
        words = "this is a folder; give the name of a file"
        raise IsADirectoryError(errno.EISDIR, words, str(target))
    if not os.access(target.parent, os.W_OK | os.X_OK):
        words = "nothing may be written to this folder"
        raise PermissionError(errno.EACCES, words, str(target.parent))


def check_folder(path: str | os.PathLike[str]) -> None:
    """Refuse, with an `OSError`, a name that cannot be that of a folder to write files to."""
    folder = Path(path)
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    if not folder.is_dir():
        words = "this is a file; give the name of a folder"
        raise NotADirectoryError(errno.ENOTDIR, words, str(folder))
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, "nothing may be written to this folder", str(folder))


def open_for_one(path: str | os.PathLike[str]) -> int:
    """A file to append to, open for one program at a time; a `BlockingIOError` for any other.

    It is made if there is none. A symbolic link is refused: what is written would go elsewhere. The
    lock goes with the file number, so it never outlives the program.
    """
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    if Path(path).is_symlink() or (Path(path).exists() and not Path(path).is_file()):
        words = "this is no plain file; remove it, or write elsewhere"
        raise OSError(errno.EINVAL, words, str(path))
    number = os.open(path, flags | getattr(os, "O_CLOEXEC", 0), 0o666)
    try:
        import fcntl

        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(number)
        raise
    except (ImportError, OSError):
        pass  # a system without such locks
    return number


def _flush_folder(folder: Path) -> None:
    """Have the new name on the disk, too, where folders can be flushed."""
    with contextlib.suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def _permissions(target: Path) -> int:
    """The permissions of the file that is replaced, or those a new file would get."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def no_such_file(path: str | os.PathLike[str]) -> str:
    """A sentence for a file that is not there, with what in its folder could have been meant.

    >>> no_such_file("nowhere/rows.csv")
    'nowhere/rows.csv: there is no such file; there is no folder nowhere either.'
    """
    file = Path(path)
    if not file.parent.is_dir():
        return f"{file}: there is no such file; there is no folder {file.parent} either."
    here = sorted(other.name for other in file.parent.iterdir() if other.is_file())
    looked = file.parent.resolve()
    return f"{file}: there is no such file (looked in {looked}).{did_you_mean(file.name, here)}"
