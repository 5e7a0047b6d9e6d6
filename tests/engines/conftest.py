"""Small parts, so that few rows are many of them, and one cluster for all tests that need one."""

import numpy as np
import pytest

from unveil import datasets
from unveil.engines import Ceiling, PartedRows
from unveil.engines import ceiling as ceilings


@pytest.fixture
def small_parts(monkeypatch):
    """Parts of few rows, none of which fit in memory together, and nothing folded."""
    monkeypatch.setattr(ceilings, "CELLS", 1 << 9)
    monkeypatch.setattr(ceilings, "FEWEST_ROWS", 64)
    monkeypatch.setattr(Ceiling, "holds", lambda *_: False)
    monkeypatch.setattr("unveil.engines.second_pass.FOLDS", 0.0)


def parts_of(table, n_parts=5, n_workers=1):
    """The rows of a table in parts."""
    places = np.array_split(np.arange(table.n_rows), n_parts)
    return PartedRows.of_tables([table.take(p) for p in places], n_workers)


@pytest.fixture(scope="session")
def asia():
    return datasets.network("asia")


@pytest.fixture(scope="session")
def asia_rows(asia):
    return asia.sample(3000, seed=1)


@pytest.fixture
def folder(tmp_path, asia_rows):
    """Three Parquet files with the rows of `asia_rows`."""
    where = tmp_path / "lake"
    where.mkdir()
    for i, places in enumerate(np.array_split(np.arange(asia_rows.n_rows), 3)):
        asia_rows.take(places).write(where / f"part-{i}.parquet")
    return where


@pytest.fixture(scope="session")
def cluster():
    """A cluster of two processes on this machine."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1"
    ) as found:
        yield found


@pytest.fixture
def client(cluster):
    from distributed import Client

    with Client(cluster, set_as_default=True) as found:
        yield found
