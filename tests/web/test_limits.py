"""What is too much, too slow or broken off is refused with a sentence, and leaves nothing."""

import asyncio
import errno
import shutil
from dataclasses import replace

import pytest
from starlette.requests import ClientDisconnect

from unveil.errors import DataError, SizeError
from unveil.web.places import MOST, Places
from unveil.web.store import Store
from unveil.web.upload import receive

from .conftest import served


def sent(tmp_path, limits, stream):
    return asyncio.run(receive(Store(tmp_path), limits, "x.csv", stream))


def test_a_slow_upload_is_given_up(tmp_path, limits):
    async def slow():
        yield b"a,b\n"
        await asyncio.sleep(30)

    with pytest.raises(DataError, match="was not whole after 0 seconds"):
        sent(tmp_path, replace(limits, upload_seconds=0.05), slow())
    assert list((tmp_path / "analyses").iterdir()) == []


def test_an_upload_that_is_broken_off_leaves_nothing(tmp_path, limits):
    async def broken():
        yield b"a,b\n"
        raise ClientDisconnect

    with pytest.raises(DataError, match="closed before the file was whole"):
        sent(tmp_path, limits, broken())
    assert list((tmp_path / "analyses").iterdir()) == []


def test_a_disk_that_is_almost_full_takes_no_table(tmp_path, limits):
    async def whole():
        yield b"a,b\n"

    most = shutil.disk_usage(tmp_path).total
    with pytest.raises(SizeError, match="no space left for another table"):
        sent(tmp_path, replace(limits, free_bytes=most), whole())


def test_a_full_disk_is_told(tmp_path, limits, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "no space")

    with served(tmp_path, limits) as client:
        monkeypatch.setattr(Store, "create", full)
        answer = client.post("/api/analyses", content=b"a\n1\n")
        assert answer.status_code == 507
        assert "no space left" in answer.json()["problem"]


def test_large_requests_are_refused(tmp_path, limits):
    with served(tmp_path, replace(limits, request_bytes=100)) as client:
        path = f"/api/a/{'A' * 22}/jobs"
        said = client.post(path, json={"task": "x" * 200})
        assert (said.status_code, "larger" in said.json()["problem"]) == (413, True)
        unsaid = client.post(path, content=(b"x" * 60 for _ in range(3)))
        assert unsaid.status_code == 400


def test_places_survive_and_are_bounded(tmp_path):
    analysis = Store(tmp_path).create("x", "table.data")
    Places(analysis, "learn", False).keep({"a": (1.0, 2.0), "b": (3.0, 4.0)})
    Places(analysis, "learn", False).keep({"a": (5.0, 6.0)})
    assert Places(analysis, "learn", False).known() == {"a": (5.0, 6.0), "b": (3.0, 4.0)}
    assert Places(analysis, "learn", True).known() == {}
    Places(analysis, "learn", True).keep({str(i): (0.0, 0.0) for i in range(MOST + 10)})
    assert len(Places(analysis, "learn", True).known()) == MOST
    (analysis.folder / "places-learn.json").write_text("[1]")
    assert Places(analysis, "learn", False).known() == {}
