"""DuckDB: files with tables and views, queries, relations, and Parquet read by it."""

import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

import unveil
from unveil import Table, open_rows
from unveil.errors import DataError
from unveil.statistics import MemoryStatistics

duckdb = pytest.importorskip("duckdb")


@pytest.fixture
def database(tmp_path, asia_rows):
    path = tmp_path / "patients.duckdb"
    frame = asia_rows.to_pandas().astype("str")
    with duckdb.connect(str(path)) as connection:
        connection.register("frame", frame)
        connection.execute("CREATE TABLE patients AS SELECT * FROM frame")
        connection.execute("CREATE VIEW smokers AS SELECT * FROM patients WHERE smoke = 'yes'")
    return path


def counts(rows, *names):
    """Joint counts by name, whatever holds the rows."""
    places = [rows.names.index(n) for n in names]
    engine = MemoryStatistics(rows) if isinstance(rows, Table) else rows
    labels = [rows.variable(n).labels for n in names]
    found = engine.counts([places])[0]
    return {
        tuple(labels[k][i] for k, i in enumerate(at)): found[at] for at in np.ndindex(found.shape)
    }


@pytest.mark.parametrize("parted", [False, True])
def test_tables_views_queries_and_relations(database, asia_rows, parted, request, monkeypatch):
    if parted:
        request.getfixturevalue("small_parts")
        monkeypatch.setattr("unveil.engines.database.RANGE", 700)
    want = counts(asia_rows, "lung", "smoke")
    whole = open_rows(database, table="patients")
    assert isinstance(whole, Table) is not parted
    assert counts(whole, "lung", "smoke") == want
    query = "SELECT lung, smoke FROM patients"
    assert counts(open_rows(database, query=query), "lung", "smoke") == want
    some = open_rows(database, table="smokers")
    assert some.total_weight == sum(n for (_, smoke), n in want.items() if smoke == "yes")
    with duckdb.connect(str(database), read_only=True) as connection:
        relation = connection.table("patients").project("lung, smoke")
        assert counts(open_rows(relation), "lung", "smoke") == want
        learned = unveil.learn(connection.table("patients"), seed=1)
    names = sorted(asia_rows.names)
    assert learned.search.score == pytest.approx(unveil.learn(asia_rows.select(names), seed=1).search.score)  # fmt: skip # noqa: E501


def test_parquet_through_duckdb(folder, asia_rows):
    rows = open_rows(
        folder, engine="duckdb", query="SELECT lung, smoke FROM rows WHERE asia = 'no'"
    )
    assert rows.total_weight == float((asia_rows.column("asia") == 1).sum())


def test_labels_keep_their_types(tmp_path):
    path = tmp_path / "types.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT (i % 3)::INT AS k, (i % 2 = 0) AS b, (i % 2)::VARCHAR AS s, "
            "(i % 2 + 0.5) AS f, CASE WHEN i % 5 = 0 THEN NULL ELSE 'x' END AS gap "
            "FROM range(100) r(i)"
        )
    rows = open_rows(path)
    assert [v.states for v in rows.variables] == [
        (0, 1, 2), (False, True), ("0", "1"), None, ("x",)
    ]  # fmt: skip
    assert rows.n_missing > 0
    with duckdb.connect(str(path)) as connection:
        span = connection.sql("SELECT INTERVAL 1 MONTH AS span, 'a' AS x FROM range(9)")
        with pytest.raises(
            DataError, match=r"column 'span': the column holds month_day_nano_inter"
        ):
            open_rows(span)


def test_rows_that_were_deleted_leave_numbers_unused(tmp_path, monkeypatch):
    monkeypatch.setattr("unveil.engines.database.RANGE", 700)
    path = tmp_path / "deleted.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t AS SELECT (i % 3)::INT AS k FROM range(9000) r(i)")
        connection.execute("DELETE FROM t WHERE rowid < 6000 OR rowid % 2 = 0")
    rows = open_rows(path)
    assert rows.total_weight == 1500
    assert counts(rows, "k") == {(0,): 500, (1,): 500, (2,): 500}


def test_names_of_all_kinds(tmp_path, asia_rows, database):
    with duckdb.connect(str(database)) as connection:
        connection.execute("CREATE SCHEMA ward")
        connection.execute("CREATE TABLE ward.beds AS SELECT lung FROM patients LIMIT 10")
        connection.execute(
            """CREATE TABLE "my ""odd'' x" AS SELECT lung AS "o'k ""日" FROM patients"""
        )
    assert open_rows(database, table="ward.beds").total_weight == 10
    assert open_rows(database, table="my \"odd'' x").names == ("o'k \"日",)
    query = "SELECT lung FROM patients -- all of them\n;"
    assert open_rows(database, query=query).total_weight == asia_rows.n_rows
    where = tmp_path / "it's [1] lake"
    where.mkdir()
    asia_rows.write(where / "a*[x].parquet")
    assert open_rows(where, engine="duckdb").total_weight == asia_rows.n_rows


def test_capital_letters(tmp_path):
    parquet.write_table(pa.table({"Y": ["a", "b"]}), tmp_path / "a.parquet")
    parquet.write_table(pa.table({"y": ["a", "b"]}), tmp_path / "b.parquet")
    with pytest.raises(DataError, match=r"takes the columns 'Y' and 'y' for one"):
        open_rows(tmp_path, engine="duckdb")


def test_a_query_that_draws_other_rows_every_time(database):
    query = "SELECT lung, smoke FROM patients USING SAMPLE bernoulli(40%)"
    with pytest.raises(DataError, match=r"rows came at the first reading and .*REPEATABLE"):
        open_rows(database, query=query)
    assert open_rows(database, query=query + " REPEATABLE (3)").total_weight > 1000


def test_mistakes(database, tmp_path):
    with pytest.raises(DataError, match=r"no table 'patient'.*Did you mean 'patients'"):
        open_rows(database, table="patient")
    with pytest.raises(DataError, match=r"has 2 tables.*say which one"):
        open_rows(database)
    with pytest.raises(DataError, match="a table or a query, not both"):
        open_rows(database, table="patients", query="SELECT 1")
    with pytest.raises(
        DataError, match=r"DuckDB cannot read this: Parser Error: syntax error[^^]*$"
    ):
        open_rows(database, query="SELEC * FROM patients")
    with duckdb.connect(str(tmp_path / "empty.duckdb")):
        pass
    with pytest.raises(DataError, match="has 0 tables"):
        open_rows(tmp_path / "empty.duckdb")


def test_a_database_that_changes(database, monkeypatch):
    from unveil.engines import door

    before = door.coded_rows

    def meanwhile(*arguments):
        os.utime(database, ns=(1, 1))
        return before(*arguments)

    monkeypatch.setattr(door, "coded_rows", meanwhile)
    with pytest.raises(DataError, match=r"patients\.duckdb: the file has changed"):
        open_rows(database, table="patients")
