"""Mixed tables: hidden parents of numbers beyond what columns with states say of them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import unveil
from unveil import DAG, Table
from unveil.cli import main
from unveil.discovery import discover_numbers
from unveil.discovery.continuous.given import beyond_states
from unveil.em.line_structure import fitted_graph
from unveil.em.lines import Observed
from unveil.errors import UnveilWarning

QUIET = {"evidence": False, "compare": False, "resamples": 0}


def grouped(seed: int = 3, n: int = 400, hidden: float = 0.0, groups: int = 3) -> dict[str, object]:
    """Six measurements that differ between groups, and a factor beyond that if `hidden`."""
    generator = np.random.default_rng(seed)
    group = generator.integers(groups, size=n)
    factor = generator.normal(size=n)
    shifts = generator.normal(0.0, 2.0, size=(6, groups))
    rows: dict[str, object] = {"group": ["abc"[g] for g in group]}
    for i in range(6):
        own = shifts[i, group] + hidden * (1 + 0.1 * i) * factor
        rows[f"x{i}"] = 10.0**i * (own + generator.normal(size=n))
    return rows


def quietly(table: Table, **options: object):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnveilWarning)
        return discover_numbers(table, seed=1, **{**QUIET, **options})


def test_groups_alone_are_no_hidden_variable():
    table = Table.from_frame(grouped(groups=2))
    assert quietly(table).hidden == ()
    # Without the column that says it, the groups are what is hidden.
    assert quietly(table.without(["group"])).hidden


@pytest.mark.parametrize("gaps", [0.0, 0.08])
def test_a_factor_beyond_groups_is_found(gaps):
    table = Table.from_frame(grouped(hidden=1.0))
    if gaps:
        table = table.knock_out(gaps, seed=2)
    report = quietly(table)
    assert report.given == ("group",)
    assert report.hidden == ("H1",)
    assert sorted(report.network.dag.children("H1")) == [f"x{i}" for i in range(6)]
    assert report.headline.startswith("Found beyond group: H1")


def test_it_is_the_regression_with_a_level_for_every_state():
    # Frisch, Waugh and Lovell: lines among what is left have the likelihood of lines with levels.
    table = Table.from_frame(grouped(hidden=1.0))
    with pytest.warns(UnveilWarning, match="beyond what 'group' says"):
        left = beyond_states(table).table
    names = ("x0", "x1", "x2")
    arcs = [("x0", "x2"), ("x1", "x2")]
    graph = fitted_graph(Observed.of(left.select(names)), DAG(names, arcs))
    states = np.asarray(table.column("group"))
    levels = np.array([states == s for s in np.unique(states)], float).T
    total = 0.0
    for child, parents in (("x0", []), ("x1", []), ("x2", ["x0", "x1"])):
        design = np.column_stack([levels, *(table.column(p) for p in parents)])
        y = table.column(child)
        scale = np.linalg.norm(design, axis=0)
        rest = y - design / scale @ np.linalg.lstsq(design / scale, y, rcond=None)[0]
        total -= 0.5 * len(y) * (np.log(2 * np.pi * np.mean(rest**2)) + 1)
    assert graph.log_likelihood == pytest.approx(total, abs=1e-4)


def test_missing_states_are_a_level_and_weights_count():
    rows = grouped(hidden=1.0, n=60)
    twice = Table.from_frame({k: [*v, *v] for k, v in rows.items()})  # type: ignore[misc]
    once = Table.from_frame(rows).with_weights(np.full(60, 2.0))
    with pytest.warns(UnveilWarning):
        a, b = beyond_states(twice).table, beyond_states(once).table
    assert a.column("x3")[:60] == pytest.approx(b.column("x3"))
    group = [None if i % 5 == 0 else g for i, g in enumerate(rows["group"])]  # type: ignore[arg-type]
    with pytest.warns(UnveilWarning):
        left = beyond_states(Table.from_frame({**rows, "group": group})).table
    lost = np.arange(60) % 5 == 0
    assert left.column("x0")[lost].mean() == pytest.approx(left.column("x0")[~lost].mean())


def test_what_is_not_heeded_or_left_out_is_told():
    rows = grouped(n=60)
    rows["where"] = [f"town {i % 25}" for i in range(60)]
    rows["level"] = [{"a": 1.5, "b": 2.5, "c": 4.0}[g] for g in rows["group"]]  # type: ignore[attr-defined]
    table = Table.from_frame(rows, kinds={"level": "continuous"})
    with pytest.warns(UnveilWarning) as told:
        beyond = beyond_states(table)
    said = " ".join(str(w.message) for w in told)
    assert "'where' has too many states" in said
    assert "'level' follows from 'group'" in said
    assert beyond.given == ("group",)
    assert beyond.table.names == tuple(f"x{i}" for i in range(6))


def test_every_door_takes_a_mixed_table(tmp_path, capsys):
    rows = grouped(hidden=1.2, n=200)
    with pytest.warns(UnveilWarning, match="beyond what 'group' says"):
        report = unveil.discover(rows, seed=1, evidence=False, straw_men=False)
    beside = report.posteriors()
    # Rows have the numbers that were read, and their states.
    assert beside.column("x2") == pytest.approx(np.asarray(rows["x2"]))
    assert beside.names == (*(f"x{i}" for i in range(6)), "group", "H1", "H1 (sd)")
    path = tmp_path / "rows.csv"
    Table.from_frame(rows).write(path)
    words = ["discover", path, "-o", tmp_path / "out", "--seed", 1, "--resamples", 0]
    assert main([str(word) for word in words]) == 0
    out, err = capsys.readouterr()
    assert "beyond group:" in out
    assert "--discretize equal_frequency" in err
    assert "held fixed" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
