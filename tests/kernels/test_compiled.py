"""Kernels work wherever compiled code can be kept, and where it cannot."""

import errno
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numba
import pytest

import unveil
from unveil.kernels import compiled as room
from unveil.kernels.compiled import compiled

KERNELS = Path(room.__file__).parent


def doubled(x):
    return 2 * x


@pytest.fixture
def nowhere(tmp_path, monkeypatch):
    """No place for a cache but the temporary files, which are in `tmp_path`."""
    monkeypatch.setattr(numba.config, "CACHE_LOCATOR_CLASSES", "UserProvidedCacheLocator")
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path / f"unveil-kernels-{os.getuid()}"


def kept(folder):
    return sorted(path.suffix for path in folder.rglob("*") if path.is_file())


def test_where_nothing_can_be_kept_a_temporary_folder_serves(nowhere):
    assert compiled(doubled)(21) == 42
    assert nowhere.stat().st_mode & 0o777 == 0o700
    assert kept(nowhere) == [".nbc", ".nbi"]
    again = compiled(doubled)
    assert again(21) == 42
    assert sum(again.stats.cache_hits.values()) == 1
    assert numba.config.CACHE_DIR == ""


@pytest.mark.parametrize("trap", ["a file", "a link", "open to all"])
def test_a_temporary_folder_that_others_could_have_made_is_not_used(nowhere, tmp_path, trap):
    if trap == "a file":
        nowhere.write_text("")
    elif trap == "a link":
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        nowhere.symlink_to(tmp_path / "elsewhere")
    else:
        nowhere.mkdir()
        nowhere.chmod(0o777)
    kernel = compiled(doubled)
    assert kernel(21) == 42
    assert kernel.stats.cache_path is None
    assert kept(tmp_path) == ([""] if trap == "a file" else [])


def test_a_damaged_cache_is_done_without(nowhere):
    assert compiled(doubled)(21) == 42
    for path in nowhere.rglob("*"):
        if path.is_file():
            path.write_bytes(path.read_bytes()[:-9])
    assert compiled(doubled)(21) == 42


def test_a_full_disk_is_no_reason_to_fail(nowhere, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    kernel = compiled(doubled)
    monkeypatch.setattr("numba.core.caching.IndexDataCacheFile.save", full)
    assert kernel(21) == 42
    assert kernel(1.5) == 3.0


def test_every_kernel_is_compiled_this_way():
    for path in Path(unveil.__file__).parent.rglob("*.py"):
        if path != KERNELS / "compiled.py":
            assert "njit" not in path.read_text(), path


def test_the_package_works_without_a_place_for_its_kernels(tmp_path):
    """A process of its own: neither home, nor sources, nor temporary files to write to."""
    (tmp_path / f"unveil-kernels-{os.getuid()}").write_text("")
    code = (
        "import numpy as np; from unveil.kernels.bits import count_common;"
        "print(count_common(np.array([7], np.uint64), np.array([5], np.uint64)))"
    )
    places = {"NUMBA_CACHE_LOCATOR_CLASSES": "UserProvidedCacheLocator", "TMPDIR": str(tmp_path)}
    env = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"} | places
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("2\n", "")
