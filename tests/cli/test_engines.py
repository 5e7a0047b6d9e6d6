"""Commands on rows that need not fit: folders of Parquet, DuckDB files, ceilings of memory."""

import numpy as np
import pyarrow.parquet as parquet
import pytest

import unveil
from unveil.cli.app import main
from unveil.engines import Ceiling
from unveil.engines import ceiling as ceilings


@pytest.fixture(scope="module")
def lake(tmp_path_factory):
    """A folder of Parquet by year, a DuckDB file with the same rows, and these."""
    duckdb = pytest.importorskip("duckdb")
    where = tmp_path_factory.mktemp("lake")
    rows = unveil.datasets.network("asia").sample(1200, seed=1)
    for year, places in zip((2020, 2021), np.array_split(np.arange(1200), 2), strict=True):
        (where / "rows" / f"year={year}").mkdir(parents=True)
        rows.take(places).write(where / "rows" / f"year={year}" / "a.parquet")
    with duckdb.connect(str(where / "rows.duckdb")) as connection:
        connection.execute(
            f"CREATE TABLE asia AS SELECT * FROM read_parquet('{where}/rows/*/*.parquet')"
        )
    return where


@pytest.fixture
def in_parts(monkeypatch):
    monkeypatch.setattr(ceilings, "CELLS", 1 << 11)
    monkeypatch.setattr(ceilings, "FEWEST_ROWS", 64)
    monkeypatch.setattr(Ceiling, "holds", lambda *_: False)
    monkeypatch.setattr("unveil.engines.second_pass.FOLDS", 0.0)


def said(capsys, *words):
    """What a command says, all of it; it must succeed."""
    code = main([str(word) for word in words])
    told = capsys.readouterr()
    assert code == 0, told
    return told.out + told.err


def test_looking_at_a_folder(lake, capsys):
    text = said(capsys, "info", lake / "rows")
    assert "1,200 rows, 9 columns" in text
    assert "year" in text
    assert "1,200 rows, 8 columns" in said(
        capsys, "info", lake / "rows.duckdb", "--query", "SELECT * EXCLUDE year FROM asia"
    )


def test_learning_fitting_and_predicting(lake, tmp_path, capsys, in_parts):
    model, fitted, out = tmp_path / "a.json", tmp_path / "b.json", tmp_path / "lung.parquet"
    text = said(capsys, "learn", lake / "rows", "--drop", "year", "-o", model, "--seed", 1)
    assert "1,200 rows do not fit in memory" in text
    rows = unveil.Table.read(lake / "rows" / "year=2020" / "a.parquet")
    table = unveil.datasets.network("asia").sample(1200, seed=1)
    assert rows.names == table.names
    assert unveil.load(model).dag == unveil.learn(table, seed=1).dag
    text = said(capsys, "fit", lake / "rows.duckdb", "--structure", model, "-o", fitted)
    assert "1,200 rows, 8 of 8 variables" in text
    assert "complete table, counted" in text
    assert unveil.load(fitted).dag == unveil.load(model).dag
    text = said(capsys, "predict", model, lake / "rows", "--of", "lung", "-o", out)
    assert "1,200 rows with posteriors of lung" in text
    assert parquet.read_table(out).column_names[-3:] == [
        "predicted lung", "P(lung=yes)", "P(lung=no)"
    ]  # fmt: skip


def test_folded_rows_say_what_they_stand_for(lake, capsys):
    text = said(capsys, "learn", lake / "rows.duckdb", "--memory", "1GiB", "--drop", "year")
    assert "standing for 1,200 cases" in text


@pytest.mark.filterwarnings("ignore::unveil.errors.UnveilWarning")
def test_clusters_and_discovery(lake, tmp_path, capsys, in_parts):
    text = said(
        capsys, "cluster", lake / "rows.duckdb", "--drop", "year", "--n-classes", 2,
        "--n-starts", 1, "--seed", 1, "--max-iterations", 30, "-o", tmp_path / "classes.json",
    )  # fmt: skip
    assert "2 classes chosen by bic" in text
    text = said(
        capsys, "discover", lake / "rows", "--drop", "year", "--sample", 300, "--seed", 1,
        "--max-hidden", 1, "--resamples", 0, "--no-straw-men", "--time-limit", 20, "--n-jobs", 1,
        "-o", tmp_path / "out",
    )  # fmt: skip
    assert (tmp_path / "out" / "report.html").exists()
    assert "the report is" in text


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["learn", "rows.duckdb", "--table", "asiaa"], "Did you mean 'asia'"),
        (["learn", "rows", "--memory", "10MB"], "Give at least 580.0 MiB"),
        (["learn", "rows", "--memory", "lots"], "memory is a size such as 2GiB"),
        (["learn", "rows", "--engine", "duck"], "Did you mean 'duckdb'"),
        (["learn", "rows", "--table", "asia"], "asked of a DuckDB file"),
        (["learn", "rows.csv", "--memory", "1GiB"], "--memory is for rows"),
        (["predict", "asia", "rows", "--of", "lung", "-o", "out.csv"], "call the file .parquet"),
        (["cluster", "rows", "--assignments", "c.csv"], "unveil predict"),
        (["discover", "rows", "--id", "year"], "tables in memory"),
        (["learn", "nothing"], "there is no such file"),
    ],
)
def test_mistakes_are_answered(lake, words, answer, capsys, monkeypatch, tmp_path):
    unveil.datasets.network("asia").sample(10, seed=1).write(lake / "rows.csv")
    monkeypatch.chdir(lake)
    assert main(words) == 1
    assert answer in " ".join(capsys.readouterr().err.split())
