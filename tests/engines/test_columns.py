"""What the columns are: by pieces as in memory, whatever they hold."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as parquet
import pytest

from unveil import Table, Variable, datasets, open_rows
from unveil.engines.describe import describe_rows
from unveil.errors import DataError, UnveilWarning
from unveil.table import describe

N = 300


def odd_columns():
    """Columns of every kind, with gaps, in an order that no sorting gives."""
    random = np.random.default_rng(3)
    some = random.integers(0, 4, N)

    def gaps(values):
        return [None if random.random() < 0.1 else v for v in values]

    return {
        "text": gaps([["b", "a", "", "10"][k] for k in some]),
        "digits": [["2", "1", "10", "01"][k] for k in some],
        "whole": pa.array(gaps([[7, -1, 3, 2][k] for k in some])),
        "wide": pa.array(random.integers(0, 50, N)),
        "halves": pa.array([float(k) for k in some]),
        "float": pa.array([[np.nan, 0.5, 1.25, 3][k] for k in some], pa.float32()),
        "truth": pa.array(gaps((some > 1).tolist())),
        "level": pa.array([["low", "mid", "high", "mid"][k] for k in some]).dictionary_encode(),
        "day": pa.array([dt.date(2020, 1, 1 + int(k)) for k in some]),
        "time": pa.array([dt.datetime(2020, 1, 1, 12 * (i >= N // 2)) for i in range(N)]),
        "constant": ["same"] * N,
        "decimal": pa.array([int(k) for k in some]).cast(pa.decimal128(24, 2)),
        "weight": pa.array(random.random(N)),
    }


@pytest.fixture
def odd(tmp_path):
    path = tmp_path / "odd.parquet"
    parquet.write_table(pa.table(odd_columns()), path, row_group_size=37)
    return path


@pytest.mark.filterwarnings("ignore::unveil.errors.UnveilWarning")
def test_the_columns_are_those_of_the_table_in_memory(odd, small_parts):
    table = Table.read(odd, weights="weight")
    rows = open_rows(odd, weights="weight")
    assert rows.variables == table.variables
    assert rows.total_weight == pytest.approx(table.total_weight, rel=1e-12)
    assert rows.missing_cells == {n: int(table.missing(n).sum()) for n in table.names}
    parts = list(rows.each(_itself))
    assert len(parts) > 4
    for name in table.names:
        together = np.concatenate([p.column(name) for p in parts])
        np.testing.assert_array_equal(together, table.column(name))


def _itself(table):
    return table


@pytest.mark.filterwarnings("ignore::unveil.errors.UnveilWarning")
@pytest.mark.parametrize(
    "how",
    [
        {"kinds": {"wide": "discrete", "digits": "text"}},
        {"kinds": {"whole": "continuous"}},
        {"states": {"whole": [2, 3, -1, 7, 99]}},
        {"missing": ("b",)},
        {"columns": ["level", "text"]},
    ],
)
def test_what_is_asked_of_a_reader_is_asked_of_pieces(odd, small_parts, how):
    own = {k: v for k, v in how.items() if k != "columns"}
    table = Table.read(odd, **own)
    table = table.select(how["columns"]) if "columns" in how else table
    rows = open_rows(odd, keep=table.names, **how)
    assert rows.variables == table.variables
    assert rows.n_missing == table.n_missing


def test_what_unveil_noted_comes_back(tmp_path, small_parts):
    unused = Table(
        [Variable("x", ["c", "b", "a"]), Variable("n", [1, 2])], [[2, 1], [0, 0]], [1, 3]
    )
    unused.write(tmp_path / "noted.parquet")
    rows = open_rows(tmp_path / "noted.parquet")
    assert rows.variables == unused.variables
    assert rows.total_weight == 4


def test_folders_are_columns(tmp_path, small_parts):
    for year in (2021, 2020):
        where = tmp_path / f"year={year}" / "region=north"
        where.mkdir(parents=True)
        parquet.write_table(pa.table({"x": ["a", "b"] * 100}), where / "rows.parquet")
    (tmp_path / "_SUCCESS").write_text("")
    (tmp_path / "notes.txt").write_text("not rows")
    rows = open_rows(tmp_path)
    assert [(v.name, v.labels) for v in rows.variables] == [
        ("x", ("a", "b")), ("year", (2020, 2021)), ("region", ("north",))
    ]  # fmt: skip
    again = open_rows(ds.dataset(tmp_path, partitioning="hive", exclude_invalid_files=True))
    assert again.variables == rows.variables
    np.testing.assert_array_equal(rows.counts([(0, 1)])[0], [[100, 100], [100, 100]])


def test_identifiers_and_dates_are_left_out_and_told(tmp_path):
    days = [dt.date(2000, 1, 1) + dt.timedelta(i % 40) for i in range(100)]
    made = {"x": ["a", "b"] * 50, "who": [f"p{i}" for i in range(100)], "day": days,
            "number": list(range(100))}  # fmt: skip
    parquet.write_table(pa.table(made), tmp_path / "rows.parquet")
    with pytest.warns(UnveilWarning) as told:
        rows = open_rows(tmp_path / "rows.parquet")
    assert rows.names == ("x",)
    assert [str(w.message).split(" and is")[0] for w in told] == [
        "column 'who' looks like an identifier", "column 'day' looks like a date",
        "column 'number' looks like a row number",
    ]  # fmt: skip
    kept = open_rows(tmp_path / "rows.parquet", keep=["who", "day", "number"])
    assert kept.names == ("x", "who", "day", "number")


def test_too_many_labels(tmp_path):
    made = {"x": ["a", "b"] * 40_000, "who": [f"p{i}" for i in range(80_000)]}
    parquet.write_table(pa.table(made), tmp_path / "rows.parquet")
    with pytest.warns(UnveilWarning, match="'who' looks like an identifier and is left out"):
        assert open_rows(tmp_path / "rows.parquet").names == ("x",)
    with pytest.raises(DataError, match="'who' has more than 65,535 different labels"):
        open_rows(tmp_path / "rows.parquet", keep=["who"])


@pytest.mark.parametrize("method", ["equal_width", "equal_frequency"])
def test_numbers_are_cut_as_in_memory(tmp_path, small_parts, method):
    random = np.random.default_rng(0)
    table = Table.from_frame({"x": random.normal(size=500), "y": ["a", "b"] * 250})
    table.write(tmp_path / "rows.parquet")
    rows = open_rows(tmp_path / "rows.parquet", discretize=method, n_bins=4)
    from unveil.table import prepare

    assert rows.variables == prepare(table, discretize=method, n_bins=4).table.variables


@pytest.mark.filterwarnings("ignore::unveil.errors.UnveilWarning")
def test_description_as_in_memory(odd):
    ours, theirs = describe_rows(odd), describe(Table.read(odd))
    assert (ours.n_rows, ours.n_missing, ours.n_distinct_rows) == (N, theirs.n_missing, None)
    for a, b in zip(ours.columns, theirs.columns, strict=True):
        assert (a.name, a.kind, a.n_states, a.n_missing) == (
            b.name,
            b.kind,
            b.n_states,
            b.n_missing,
        )
        assert a.common == pytest.approx(b.common) if not b.common else a.common[0] == b.common[0]
        assert (a.minimum, a.maximum) == (b.minimum, b.maximum)
        assert a.mean is None or a.mean == pytest.approx(b.mean)


def test_what_cannot_be_read(tmp_path):
    with pytest.raises(DataError, match="there is no such file"):
        open_rows(tmp_path / "nothing.parquet")
    with pytest.raises(DataError, match=r"there is no Parquet file"):
        open_rows(tmp_path)
    (tmp_path / "rows.csv").write_text("x\n1\n")
    with pytest.raises(DataError, match="no engine reads"):
        open_rows(tmp_path / "rows.csv")
    empty = pa.table({"x": pa.array([], pa.string())})
    parquet.write_table(empty, tmp_path / "empty.parquet")
    with pytest.raises(DataError, match="the table has no rows"):
        open_rows(tmp_path / "empty.parquet")
    nested = pa.table({"x": [[1], [2]]})
    parquet.write_table(nested, tmp_path / "nested.parquet")
    with pytest.raises(DataError, match="a cell must be one label or number"):
        open_rows(tmp_path / "nested.parquet")
    datasets.network("asia").sample(100, seed=1).write(tmp_path / "asia.parquet")
    with pytest.raises(DataError, match=r"no column 'smok' to leave out.*Did you mean 'smoke'"):
        open_rows(tmp_path / "asia.parquet", drop="smok")
    with pytest.raises(DataError, match="no column 'n'"):
        open_rows(tmp_path / "asia.parquet", weights="n")


def test_unknown_labels_are_missing_cells(tmp_path, small_parts):
    path = tmp_path / "rows.parquet"
    parquet.write_table(pa.table({"k": [1, 2, 3, None] * 50, "x": ["a", "b"] * 100}), path)
    how = {"states": {"k": [1, 2]}, "unknown": "missing"}
    with pytest.warns(UnveilWarning) as told:
        rows = open_rows(path, memory="1GiB", **how)
    words = [str(w.message) for w in told]
    assert words == [
        f"{path}, column 'k': 50 cells taken as missing; 3 not among the known states 1, 2"
    ]
    assert rows.missing_cells == {"k": 100, "x": 0}
    with pytest.raises(DataError, match="column 'k' has 100 missing cells"):
        rows.counts([(0, 1)])
    with pytest.warns(UnveilWarning):
        assert describe_rows(path, **how).columns[0].n_missing == 100


def test_the_states_of_another_table_are_taken(tmp_path, small_parts):
    path = tmp_path / "rows.parquet"
    parquet.write_table(pa.table({"k": [1, 2, 3, 1] * 50}), path)
    known = [Variable("k", [0, 1, 2, 3])]
    assert open_rows(path, like=known).variables == tuple(known)
    few = [Variable("k", [1, 2])]
    with pytest.raises(DataError, match="row 3, column 'k': 3 is not one of the known states 1, 2"):
        open_rows(path, like=few)
    with pytest.warns(UnveilWarning, match="50 cells taken as missing"):
        assert open_rows(path, like=few, unknown="missing").n_missing == 50


def test_half_floats(tmp_path, small_parts):
    path = tmp_path / "rows.parquet"
    halves = np.array([1, 2.5, np.nan] * 40, np.float16)
    parquet.write_table(pa.table({"h": halves, "w": np.array([1, 2, 1] * 40, np.float16)}), path)
    rows, table = open_rows(path), Table.read(path)
    assert rows.variables == table.variables
    assert rows.missing_cells == {"h": 40, "w": 0}


def test_two_columns_of_one_name(tmp_path):
    same = pa.table([["a", "b"], ["a", "c"]], names=["x", "x"])
    parquet.write_table(pa.table({"x": ["a", "b"]}), tmp_path / "a.parquet")
    parquet.write_table(same, tmp_path / "b.parquet")
    for path in (tmp_path, tmp_path / "b.parquet"):
        with pytest.raises(DataError, match=r"b\.parquet: columns 1 and 2 are both called 'x'"):
            open_rows(path)


@pytest.mark.parametrize("engine", ["parquet", "duckdb"])
def test_names_of_folders_are_labels_as_written(tmp_path, small_parts, engine):
    if engine == "duckdb":
        pytest.importorskip("duckdb")
    for month, year in (("01", "2020"), ("1", "99999999999")):
        where = tmp_path / f"month={month}" / f"year={year}" / "x=inside"
        where.mkdir(parents=True)
        parquet.write_table(pa.table({"x": ["a", "b"], "y": [1, 2]}), where / "rows.parquet")
    rows = open_rows(tmp_path, engine=engine)
    states = {v.name: v.states for v in rows.variables}
    assert states == {
        "x": ("inside",), "y": (1, 2), "month": ("01", "1"), "year": (2020, 99999999999)
    }  # fmt: skip
