"""Results as JSON: every result has a twin that any reader of JSON takes."""

import json
import math
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

import numpy as np
import pytest

import unveil
from unveil import datasets
from unveil.em import fit_em, structural_em
from unveil.evaluate import arc_worth, bootstrap_arcs, log_loss
from unveil.infer import finding_influence
from unveil.records import Record, as_json
from unveil.table import describe, missingness

ASIA = datasets.network("asia")
ROWS = ASIA.sample(200, seed=1)
GAPS = ROWS.knock_out(0.1, seed=2)
LEARNED = unveil.learn(ROWS, search="hill-climbing", seed=1)


class Colour(Enum):
    RED = "red"


@dataclass(frozen=True)
class Inner:
    share: float


@dataclass(frozen=True)
class Outer(Record):
    told = ("double",)

    n: int
    inner: Inner
    rows: np.ndarray = field(repr=False)

    @property
    def double(self):
        return 2 * self.n


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (True, True),
        ("text", "text"),
        (np.float64(0.5), 0.5),
        (np.int32(3), 3),
        (np.bool_(True), True),
        (math.nan, None),
        (-math.inf, None),
        (np.array([[1, 2], [3, 4]], np.uint8), [[1, 2], [3, 4]]),
        (np.array([1.0, np.nan]), [1.0, None]),
        (np.array(2.5), 2.5),
        (Colour.RED, "red"),
        ({Colour.RED: Path("a/b")}, {"red": "a/b"}),
        ({2: (1, [2])}, {"2": [1, [2]]}),
        (frozenset("ba"), ["a", "b"]),
        (Inner(math.inf), {"share": None}),
    ],
)
def test_what_becomes_of_a_value(value, expected):
    found = as_json(value)
    assert found == expected
    assert type(found) is type(expected)
    json.dumps(found, allow_nan=False)


def test_a_record_tells_what_it_shows_and_more_if_asked():
    outer = Outer(2, Inner(0.5), np.zeros(9))
    assert outer.to_dict() == {"n": 2, "inner": {"share": 0.5}, "double": 4}


def test_what_cannot_be_told_is_refused():
    with pytest.raises(TypeError, match="a object cannot be told as JSON"):
        as_json(object())


RESULTS = {
    "learned": lambda: LEARNED,
    "structural EM": lambda: structural_em(GAPS, max_rounds=1, seed=1),
    "EM": lambda: fit_em(ASIA, GAPS, n_starts=2, max_iterations=2, seed=1),
    "classes": lambda: unveil.latent_classes(ROWS, [1, 2], n_starts=1, seed=1, folds=2),
    "log-loss": lambda: log_loss(ASIA, ROWS),
    "cross-validation": lambda: unveil.cross_validate(ROWS, lambda t: ASIA, folds=2, seed=1),
    "arc": lambda: arc_worth(LEARNED.scores, LEARNED.dag)[0],
    "bootstrap": lambda: bootstrap_arcs(ROWS, lambda t: LEARNED.dag, n_samples=1, seed=1),
    "posterior": lambda: ASIA.posterior({"smoke": "yes"}),
    "explanation": lambda: ASIA.most_probable({"smoke": "yes"}),
    "influence": lambda: finding_influence(ASIA, {"smoke": "yes"}, "lung")[0],
    "table": lambda: describe(ROWS),
    "gaps": lambda: missingness(GAPS),
}


@pytest.mark.parametrize("name", RESULTS)
def test_every_result_has_a_twin(name):
    told = RESULTS[name]().to_dict()
    assert json.loads(json.dumps(told, allow_nan=False)) == told


def test_twins_tell_the_numbers_and_the_network():
    told = LEARNED.to_dict()
    assert set(told) == {"network", "search"}
    assert unveil.formats.loads(json.dumps(told["network"]), "json") == LEARNED.network
    assert told["search"]["score"] == LEARNED.score
    assert unveil.DAG(**told["search"]["dag"]) == LEARNED.dag
    found = ASIA.posterior({"smoke": "yes"}, of="lung").to_dict()
    assert found["probabilities"]["lung"] == [[0.1, 0.9]]
    explained = ASIA.most_probable({"smoke": "yes"})
    assert explained.to_dict()["rows"] == [explained.row()]


def test_the_twin_of_a_discovery():
    plans = datasets.table("college_plans")
    settings = unveil.Settings(max_hidden=1, adapt="em", max_candidates=2)
    report = unveil.discover(plans, settings=settings, resamples=0, folds=2, seed=1, n_jobs=1)
    told = report.to_dict()
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert told["summary"] == report.summary
    assert "table" not in told
    tried = told["discovery"]["rounds"][0]["candidates"][0]
    assert {"place", "verdict", "gain", "children", "n_states", "words"} < set(tried)
    assert not {"network", "agglomeration"} & set(tried)
