"""Writing files so that a reader never sees half of one."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

__all__ = ["atomic_write"]


@contextmanager
def atomic_write(path: str | os.PathLike[str], mode: str = "w") -> Iterator[IO[Any]]:
    """An open file that takes the place of `path` when the block ends without an error.

    The bytes go to a temporary file in the same folder, which is renamed at the end, so another
    program sees the old file or the new one and never a piece. After an error the old file is
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
    if not target.parent.is_dir():
        # Said here, or the complaint would be about the temporary file.
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(target.parent))
    number, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    try:
        text: dict[str, Any] = {} if "b" in mode else {"encoding": "utf-8", "newline": ""}
        with os.fdopen(number, mode, **text) as file:
            yield file
        os.chmod(name, _permissions(target))
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _permissions(target: Path) -> int:
    """The permissions of the file that is replaced, or those a new file would get."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
