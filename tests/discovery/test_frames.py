"""`unveil.discover(frame)`: whatever holds the table, odd columns are seen to and told of."""

import datetime
import warnings
from dataclasses import replace

import numpy as np
import pandas
import polars
import pyarrow
import pytest

import unveil
from unveil import Settings
from unveil.discovery import Candidate
from unveil.errors import UnveilWarning

QUICK = Settings(max_hidden=1, max_candidates=2, max_adapted=1, max_polished=1, restarts=0)


def columns(n=400):
    """Four answers that one thing is behind, of people with numbers, birthdays and gaps."""
    generator = np.random.default_rng(5)
    ill = generator.integers(2, size=n)
    copied = generator.random((4, n)) < 0.9
    found = {
        name: [["nein", "ja"][v] for v in np.where(copied[i], ill, 1 - ill)]
        for i, name in enumerate(["müde", "a b", "x;y", "ok?"])
    }
    found["ok?"][7] = None
    day = datetime.date(2024, 1, 1)
    return {
        "patient": [f"P{i:05}" for i in range(n)],
        "seen on": [day + datetime.timedelta(days=int(d)) for d in generator.permutation(n)],
        **found,
    }


def found_in(data, **options):
    options = {
        "settings": QUICK,
        "seed": 1,
        "n_jobs": 1,
        "resamples": 0,
        "straw_men": False,
    } | options
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", UnveilWarning)
        report = unveil.discover(data, **options)
    return report, " | ".join(str(w.message) for w in heard)


FRAMES = {
    "dict": lambda c: c,
    "pandas": pandas.DataFrame,
    "pandas, categories": lambda c: pandas.DataFrame(c).astype({"müde": "category"}),
    "polars": polars.DataFrame,
    "arrow": pyarrow.table,
}


@pytest.fixture(scope="module")
def from_a_dict():
    return found_in(columns())


@pytest.mark.parametrize("kind", FRAMES)
def test_identifiers_and_dates_are_left_out_and_told_of(kind, from_a_dict):
    report, said = found_in(FRAMES[kind](columns()))
    assert report.table.names == ("müde", "a b", "x;y", "ok?")
    assert "'patient' looks like an identifier and is left out (keep=['patient'] keeps it)" in said
    assert "'seen on' looks like a date and is left out" in said
    assert report.hidden == ("H1",)
    assert report.network.log_likelihood(report.table) == pytest.approx(
        from_a_dict[0].network.log_likelihood(from_a_dict[0].table)
    )
    # What was left out stands beside the rows again.
    assert {"patient", "seen on"} <= set(report.posteriors().names)


@pytest.mark.parametrize("kind", ["dict", "pandas", "polars"])
def test_a_column_of_counts_is_told_of_and_can_be_the_weights(kind):
    cells = unveil.Table.from_frame(
        {n: c for n, c in columns().items() if n in ("müde", "a b", "x;y")}
    )
    folded = cells.folded()
    counted = {name: folded.labels(name) for name in folded.names}
    counted["count"] = [int(weight) for weight in folded.row_weights]
    _, said = found_in(FRAMES[kind](counted), time_limit=0.0)
    assert "column 'count' looks like how often each row counts" in said
    assert "weights='count'" in said
    report, said = found_in(FRAMES[kind](counted), weights="count", time_limit=0.0)
    assert report.table.total_weight == 400
    assert "count" not in said


@pytest.mark.parametrize("kind", ["dict", "pandas", "polars"])
def test_rows_in_order_of_time_are_told_of_and_blocks_are_taken(kind):
    generator = np.random.default_rng(6)
    epoch = np.repeat([0, 1, 0, 1], 150)
    flips = generator.random((4, 600)) < 0.05
    rows = {name: np.where(flips[i], 1 - epoch, epoch).tolist() for i, name in enumerate("abcd")}
    _, said = found_in(FRAMES[kind](rows), time_limit=0.0)
    assert "blocks" in said
    report, said = found_in(FRAMES[kind](rows), time_limit=0.0, blocks=True)
    assert said == ""
    assert report.discovery.settings.blocks


def test_the_index_of_a_frame_is_no_column_and_no_reason_to_fail():
    frame = pandas.DataFrame(columns())
    frame.index = [f"row {i}" for i in range(len(frame))][::-1]
    report, _ = found_in(frame)
    assert report.table.n_rows == len(frame)


def test_a_column_that_never_differs_is_nobodys_child():
    answers = {n: c for n, c in columns().items() if n in ("müde", "a b", "x;y")}
    rows = {**answers, "same": ["7"] * 400, "rare": [None] * 399 + ["seen"]}
    report, _ = found_in(rows, settings=replace(QUICK, adapt="em"))
    tried = [c for r in report.discovery.rounds for c in r.candidates]
    plain = [c for c in tried if isinstance(c, Candidate) and c.is_latent_class]
    assert plain
    assert all(set(c.children) == set(answers) for c in plain)
