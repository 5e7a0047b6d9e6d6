"""`compiled`: the one way a kernel is compiled, wherever what was compiled can be kept.

Compiled code is kept in a folder, so that it is made once: beside the sources, in the user's cache
folder, or where `NUMBA_CACHE_DIR` says. In a container, for a service user or beside a read-only
installation none of these may be writable; then a folder of the user's own among the temporary
files serves, and if there is none either, kernels are compiled anew by every process. A cache that
is damaged or full is done without.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar, overload

import numba
from numba.core.caching import FunctionCache

__all__ = ["compiled"]

ErrorModel = Literal["python", "numpy"]
F = TypeVar("F", bound=Callable[..., Any])


@overload
def compiled(function: F) -> F: ...
@overload
def compiled(*, error_model: ErrorModel = "python") -> Callable[[F], F]: ...
def compiled(function: Any = None, *, error_model: ErrorModel = "python") -> Any:
    """The function as machine code that lets go of the interpreter.

    With `error_model="numpy"` a division by zero gives infinity, not an error.
    """
    if function is None:
        return partial(_made, error_model=error_model)
    return _made(function, error_model)


def _made(function: Any, error_model: ErrorModel) -> Any:
    kernel: Any = numba.njit(nogil=True, error_model=error_model)(function)
    cache = _cache(function)
    if cache is not None:
        kernel._cache = cache  # what njit(cache=True) does, with a cache that forgives
    return kernel


class _Cache(FunctionCache):
    """A cache that is never a reason to fail: what it cannot read or keep is compiled."""

    def load_overload(self, *asked: Any) -> Any:
        try:
            return super().load_overload(*asked)
        except Exception:  # damaged files fail in every way there is
            with contextlib.suppress(OSError):
                self.flush()
            return None

    def save_overload(self, *made: Any) -> None:
        try:
            super().save_overload(*made)
        except Exception:
            self.disable()


def _cache(function: Any) -> _Cache | None:
    """A cache where numba finds a place for it, else among the temporary files, else none."""
    try:
        return _Cache(function)
    except (RuntimeError, OSError):  # "no locator available"
        pass
    try:
        with _cached_in(_own_temporary_folder()):
            return _Cache(function)
    except (RuntimeError, OSError):
        return None


@contextlib.contextmanager
def _cached_in(folder: Path) -> Iterator[None]:
    """Let numba make caches there, for the moment: its setting is everybody's."""
    settings: Any = numba.config
    before, settings.CACHE_DIR = settings.CACHE_DIR, str(folder)
    try:
        yield
    finally:
        settings.CACHE_DIR = before


def _own_temporary_folder() -> Path:
    """A folder among the temporary files that nobody else can write to; an `OSError` if not.

    Whoever could write there could make us run anything. Its name is the same for every process of
    the user, so that workers and the next run find what was compiled.
    """
    user = os.getuid() if hasattr(os, "getuid") else "own"
    path = Path(tempfile.gettempdir()) / f"unveil-kernels-{user}"
    path.mkdir(mode=0o700, exist_ok=True)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode):
        raise NotADirectoryError(f"{path} is not a folder")
    if hasattr(os, "getuid") and (found.st_uid != os.getuid() or found.st_mode & 0o077):
        raise PermissionError(f"{path} is not this user's alone")
    return path
