"""Discovery by the bottleneck: what is followed, what is left, and what is remembered of it."""

import json
from dataclasses import replace

import numpy as np
import pytest

from unveil import DAG, Network, Table, TableCPD, Variable, fit, ib_em
from unveil.discovery import (
    Discovery,
    DiscoveryReport,
    Round,
    Settings,
    Verdict,
    discover_networks,
    meaning_of,
)
from unveil.discovery.baseline import learn_without
from unveil.discovery.bench import Bench
from unveil.discovery.candidates import Candidate, Place
from unveil.discovery.choice import finalists, merit
from unveil.discovery.narrow import Narrow, distinct, narrow_starts, narrowed
from unveil.discovery.soft import soft_places
from unveil.discovery.told import tried_as_json, tried_from_json
from unveil.errors import DataError
from unveil.progress import Ticker
from unveil.report.discover_page import discover_page


def two_groups(n_rows=300, seed=1, size=3):
    """Columns of one hidden variable and of another below it; and rows."""
    one, two = (Variable(name, [0, 1], hidden=True) for name in ("T1", "T2"))
    cpds = [TableCPD(one, [], [0.5, 0.5]), TableCPD(two, [one], [[0.6, 0.4], [0.4, 0.6]])]
    for parent, letter in ((one, "a"), (two, "b")):
        for i in range(size):
            column = Variable(f"{letter}{i}", [0, 1])
            cpds.append(TableCPD(column, [parent], [[0.9, 0.1], [0.1, 0.9]]))
    network = Network(cpds)
    return network, network.sample(n_rows, seed=seed).without(["T1", "T2"])


def bench_of(rows, **changes):
    settings = Settings(method="bottleneck", adapt="em", **changes)
    empty = fit(DAG(rows.names), rows, settings.prior)
    return Bench.of(empty, settings.score_of(empty, rows), rows, settings, 1)


@pytest.fixture(scope="module")
def bench():
    return bench_of(two_groups()[1])


@pytest.fixture(scope="module")
def parent(bench):
    """One hidden parent of all columns, four states."""
    return narrowed(bench, Narrow(Place("H1", bench.table.names, "bottleneck"), 4), Ticker())[0]


@pytest.fixture(scope="module")
def hierarchy(bench):
    return narrowed(bench, Narrow(Place("H1", bench.table.names, "hierarchy"), 2), Ticker())[0]


def test_a_parent_of_all_is_that_of_ib_em(bench, parent):
    rows = bench.table
    dag = DAG([*rows.names, "H1"], [("H1", name) for name in rows.names])
    alone = ib_em(dag, rows, bench.prior, {"H1": 4}, tolerance=1e-7, seed=1)
    assert parent.is_latent_class
    assert parent.course[-1].gamma == 1.0
    own = parent.network.log_likelihood(rows)
    assert own == pytest.approx(alone.log_likelihood, abs=0.05)


def test_a_hierarchy_brings_others(bench, hierarchy):
    assert len(hierarchy.others) == 1
    dag = hierarchy.network.dag
    groups = {frozenset(c for c in dag.children(h) if c in bench.table) for h in ("H1", "H2")}
    assert groups == {frozenset({"a0", "a1", "a2"}), frozenset({"b0", "b1", "b2"})}
    without = learn_without(
        hierarchy.network, ("H1", "H2"), bench.table, bench.settings, 1, Ticker()
    )
    assert without.hidden == ()


def test_what_is_followed(bench):
    starts = narrow_starts(bench, "H1")
    assert [s.n_states for s in starts][:3] == [None, 2, 3]
    assert starts[-1].place.start == "hierarchy"
    one = bench_of(bench.table, max_hidden=1, n_states=3)
    assert [s.n_states for s in narrow_starts(one, "H1")] == [3]


def test_nothing_is_followed_where_no_column_varies():
    constant = Table([Variable(n, ["x"]) for n in "abc"], [np.zeros(5, np.int64)] * 3)
    assert narrow_starts(bench_of(constant), "H1") == []
    found = discover_networks(constant, Settings(method="bottleneck"), seed=1)
    assert not found.network.hidden


def test_a_course_is_remembered(hierarchy):
    record = json.loads(json.dumps(tried_as_json(hierarchy)))
    again = tried_from_json(record)
    assert isinstance(again, Candidate)
    assert (again.course, again.others) == (hierarchy.course, hierarchy.others)


def test_what_is_left_unexplained_comes_first():
    """Given the states of T1, the columns of T2 tell of one another, and those of T1 do not."""
    network, rows = two_groups(600)
    a = [cpd for name, cpd in network.cpds.items() if name == "T1" or name.startswith("a")]
    rest = fit(DAG(["b0", "b1", "b2"]), rows.select(["b0", "b1", "b2"]))
    known = Network([*a, *rest.cpds.values()])
    bench = Bench.of(known, 0.0, rows, Settings(), 1)
    assert soft_places(bench, "H2", 3)[0].nodes == ("b0", "b1", "b2")


def test_the_same_end_counts_once(parent, hierarchy):
    assert distinct([parent, hierarchy, parent]) == sorted(
        [parent, hierarchy], key=lambda c: -c.gain
    )


def test_rows_left_out_decide_alone(parent):
    checked = replace(parent, predicted=7.0)
    assert merit(checked) == 7.0
    assert merit(replace(checked, place=Place("H1", ("a0", "a1")))) == 7.0 + checked.gain
    assert finalists([checked, replace(checked, predicted=6.0)], checked) == [checked]


def test_a_method_that_is_none():
    with pytest.raises(DataError, match="Did you mean 'bottleneck'"):
        Settings(method="botleneck")  # type: ignore[arg-type]


def report_of(bench, candidate):
    """The report of a discovery that kept the candidate in its only round."""
    kept = replace(candidate, verdict=Verdict.KEPT)
    round_ = Round(bench.network, bench.score, (kept,), kept)
    found = Discovery(
        kept.network, bench.score + kept.gain, bench.network, bench.score, (round_,), "converged",
        1, bench.settings, 0.1,
    )  # fmt: skip
    meanings = {h: meaning_of(kept.network, bench.table, h) for h in kept.network.hidden}
    return DiscoveryReport(found, {}, meanings, (), bench.table)


def test_the_page(bench, hierarchy):
    report = report_of(bench, hierarchy)
    words = discover_page(report, "made").html()
    for part in ("how it came about", "Groups", "came with H1", "information-bottleneck EM"):
        assert part in words
    assert "came with H1" in report.summary
    renamed = report.named({"H2": "second"})
    assert renamed.discovery.rounds[0].kept.others == ("second",)


def test_a_discovery_tells_of_gamma():
    _, rows = two_groups(100)
    heard = []
    found = discover_networks(
        rows, Settings(method="bottleneck", adapt="em", n_states=2, max_hidden=1), seed=1,
        n_jobs=1, time_limit=2.0, progress=lambda step: heard.append(step.phase + step.detail),
    )  # fmt: skip
    assert any("gamma" in words for words in heard)
    assert any(c.place.start == "bottleneck" for c in found.rounds[0].candidates)


@pytest.mark.parametrize(
    ("columns", "rows", "method"),
    [(79, 100, "signatures"), (80, 100, "bottleneck"), (80, 8001, "signatures")],
)
def test_the_method_goes_by_columns_and_rows(columns, rows, method):
    random = np.random.default_rng(0)
    made = Table(
        [Variable(f"x{i}", [0, 1]) for i in range(columns)],
        [random.integers(0, 2, rows) for _ in range(columns)],
    )
    assert Settings().method_for(made) == method
    assert Settings(method="signatures").method_for(made) == "signatures"
    assert Settings(places=[["x0", "x1"]]).method_for(made) == "signatures"
    gaps = made.knock_out(0.1, seed=1)
    assert Settings().method_for(gaps) == "signatures"
    assert Settings(method="bottleneck").method_for(gaps) == "bottleneck"
