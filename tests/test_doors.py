"""Every call that takes data takes it the same way: tables, frames, arrays, paths; weights."""

import inspect

import numpy as np
import pandas as pd
import polars as pl
import pytest

import unveil
from unveil import Table, datasets
from unveil.bottleneck import learn_hierarchy
from unveil.classify import learn_classifier
from unveil.em import fit_em, latent_classes, refit, structural_em
from unveil.errors import DataError
from unveil.evaluate import bootstrap_arcs, cross_validate, log_loss
from unveil.infer import fill_in, with_posteriors

ASIA = datasets.network("asia")
ROWS = ASIA.sample(120, seed=1).select(["smoke", "lung", "xray"]).folded()
CHAIN = Table.from_frame(ROWS.to_dict(), weights="weight")
DAG = unveil.DAG(CHAIN.names, [("smoke", "lung"), ("lung", "xray")])
STAR = unveil.DAG([*CHAIN.names, "H"], [("H", name) for name in CHAIN.names])
MODEL = unveil.fit(DAG, CHAIN, equivalent_sample_size=1.0)

DOORS = {
    "learn": lambda data, **o: unveil.learn(data, seed=1, **o).score,
    "fit": lambda data, **o: unveil.fit(DAG, data, **o).log_likelihood(CHAIN),
    "fit_em": lambda data, **o: fit_em(DAG, data, seed=1, **o).log_likelihood,
    "refit": lambda data, **o: refit(MODEL, data, **o).network.log_likelihood(CHAIN),
    "ib_em": lambda data, **o: unveil.ib_em(
        STAR, data, hidden={"H": 2}, seed=1, **o
    ).network.log_likelihood(CHAIN),
    "structural_em": lambda data, **o: structural_em(data, seed=1, **o).score,
    "latent_classes": lambda data, **o: (
        latent_classes(data, [2], n_starts=1, seed=1, **o).best.log_likelihood
    ),
    "discover": lambda data, **o: (
        unveil.discover(
            data, evidence=False, straw_men=False, seed=1, max_hidden=1, adapt="em", n_jobs=1, **o
        ).discovery.score
    ),
    "learn_classifier": lambda data, **o: (
        unveil.learn_classifier(
            data, "lung", "naive", parameters="generative", seed=1, **o
        ).judgement.log_loss
    ),
    "log_loss": lambda data, **o: log_loss(MODEL, data, **o).bits,
    "cross_validate": lambda data, **o: (
        cross_validate(
            data, lambda rows: unveil.fit(DAG, rows, equivalent_sample_size=1.0), seed=1, **o
        ).bits
    ),
    "bootstrap_arcs": lambda data, **o: bootstrap_arcs(
        data, lambda rows: unveil.learn(rows).dag, 3, seed=1, **o
    ).of("lung", "xray"),
    "log_likelihood": lambda data, **o: MODEL.log_likelihood(data, **o),
}
"""Every door as a function from data to a number."""


def kinds(folder):
    """The same weighted rows in every kind of data that has a column of weights."""
    CHAIN.write(folder / "rows.csv")
    CHAIN.write(folder / "rows.parquet")
    columns = CHAIN.to_dict()
    return {
        "dict": columns,
        "pandas": pd.DataFrame(columns),
        "polars": pl.DataFrame(columns),
        "arrow": CHAIN.to_arrow(),
        "path": folder / "rows.csv",
        "text": str(folder / "rows.parquet"),
        "table": Table.from_frame(columns),
    }


@pytest.mark.parametrize("door", DOORS)
def test_every_door_takes_every_kind_of_data_with_weights(door, tmp_path):
    expected = DOORS[door](CHAIN)
    for kind, data in kinds(tmp_path).items():
        assert DOORS[door](data, weights="weight") == pytest.approx(expected, abs=1e-9), kind
    plain = CHAIN.with_weights(None).to_pandas()
    assert DOORS[door](plain, weights=CHAIN.weights) == pytest.approx(expected, abs=1e-9)
    with pytest.raises(DataError, match="weights"):
        DOORS[door](plain, weights=[1.0, 2.0])


def test_every_public_call_that_takes_data_takes_weights():
    """A new door cannot forget: whatever takes `data` takes `weights`, and is tried above."""
    for name in unveil.__all__:
        call = getattr(unveil, name)
        if not inspect.isfunction(call) or name == "open_rows":
            continue  # the table of `open_rows` is one of a database; see tests/engines
        names = set(inspect.signature(call).parameters)
        assert "table" not in names, f"{name} calls its rows table, not data"
        if "data" in names:
            assert "weights" in names, f"{name} takes data and no weights"
            assert name in DOORS, f"{name} is not tried here"


def test_arrays():
    array = np.array([[0, 1], [1, 1], [0, 0], [1, 0]] * 5)
    assert unveil.learn(array).network.names == ("x1", "x2")
    assert latent_classes(array, [1]).n_classes == 1


def test_numbers_are_cut_and_columns_dropped_where_something_is_learned():
    x = np.linspace(0, 1, 90)
    frame = pd.DataFrame({"x": x, "y": np.where(x > 0.5, "high", "low"), "id": range(90)})
    options = {"discretize": "equal_width", "n_bins": 2, "drop": "id"}
    learned = unveil.learn(frame, **options).network
    assert learned.variable("x").cuts == (0.5,)
    assert learned.dag.n_arcs == 1
    found = latent_classes(frame, [2], n_starts=2, seed=1, **options)
    assert found.network.variable("x").cuts == (0.5,)
    assert found.network.predict(frame.head(2).drop(columns="y"), "y") == ["low", "low"]
    with pytest.raises(DataError, match="discretize='equal_frequency'"):
        latent_classes(frame[["x", "y"]], [2])
    assert not unveil.learn(frame[["x", "y"]]).network.variable("x").is_discrete
    fitted = unveil.fit(learned.dag, frame[["x", "y"]], discretize="equal_width", n_bins=2)
    assert fitted.variable("x").cuts == (0.5,)


def test_gaps_go_to_em():
    gaps = CHAIN.to_pandas().drop(columns="weight").copy()
    gaps.loc[3, "lung"] = None
    assert unveil.learn(gaps, seed=1).search.search == "structural EM"
    assert unveil.fit(DAG, gaps, seed=1).names == DAG.nodes
    wider = unveil.DAG([*DAG.nodes, "h"], [*DAG.arcs, ("h", "xray")])
    assert unveil.fit(wider, gaps, hidden={"h": 2}, seed=1).hidden == ("h",)


def test_words_of_the_command_line():
    rows = ASIA.sample(200, seed=1)
    assert unveil.learn(rows, equivalent_sample_size=5.0).score == (
        unveil.learn(rows, unveil.BDeu(5.0)).score
    )
    few = unveil.learn(rows, max_parents=1).dag
    assert max(len(few.parents(n)) for n in few.nodes) == 1
    with pytest.raises(DataError, match="has its own"):
        unveil.learn(rows, unveil.BIC(), equivalent_sample_size=5.0)
    with pytest.raises(DataError, match="contradict"):
        unveil.learn(rows, max_parents=1, constraints=unveil.Constraints(max_parents=2))
    with pytest.raises(TypeError, match=r"no setting 'max_hiden'.*Did you mean 'max_hidden'\?"):
        unveil.discover(rows, max_hiden=1)


def test_questions_about_frames(tmp_path):
    frame = CHAIN.with_weights(None).to_pandas()
    given = frame.drop(columns="lung")
    table = MODEL.posterior(Table.from_frame(given), of="lung")["lung"]
    assert MODEL.posterior(given, of="lung")["lung"] == pytest.approx(table)
    assert MODEL.posterior(given.to_dict("list"), of="lung")["lung"] == pytest.approx(table)
    assert MODEL.most_probable(given).table.is_complete
    assert len(MODEL.predict(frame, "lung")) == CHAIN.n_rows
    assert with_posteriors(MODEL, given).names[-1] == "P(lung=yes)"
    assert fill_in(MODEL, frame).is_complete


def test_a_weight_that_is_none():
    columns = {"x": ["a", "b"], "n": [1, None]}
    with pytest.raises(DataError, match="column 'n': a weight must be a number"):
        unveil.learn(Table.from_frame(columns), weights="n")
    with pytest.raises(DataError, match="weights are the name of a column or one number"):
        unveil.learn(columns, weights=["a", "b"])


NUMBERS = {name: np.random.default_rng(1).normal(size=12) for name in "ab"}

SEEDS = {
    "learn": lambda seed: unveil.learn(CHAIN, seed=seed),
    "fit_em": lambda seed: fit_em(STAR, CHAIN, hidden={"H": 2}, seed=seed),
    "structural_em": lambda seed: structural_em(CHAIN, STAR, hidden={"H": 2}, seed=seed),
    "latent_classes": lambda seed: latent_classes(CHAIN, [2], n_starts=1, seed=seed),
    "discover": lambda seed: unveil.discover(CHAIN, seed=seed),
    "discover, numbers": lambda seed: unveil.discover(NUMBERS, seed=seed),
    "ib_em": lambda seed: unveil.ib_em(STAR, CHAIN, hidden={"H": 2}, seed=seed),
    "learn_hierarchy": lambda seed: learn_hierarchy(CHAIN, 2, seed=seed),
    "learn_classifier": lambda seed: learn_classifier(CHAIN, CHAIN.names[0], seed=seed),
    "bootstrap_arcs": lambda seed: bootstrap_arcs(CHAIN, lambda rows: DAG, 2, seed=seed),
    "sample": lambda seed: ASIA.sample(3, seed=seed),
    "split": lambda seed: CHAIN.split(0.5, seed=seed),
    "knock_out": lambda seed: CHAIN.knock_out(0.5, seed=seed),
}


@pytest.mark.parametrize("seed", ["a", -1, 1.5, True])
@pytest.mark.parametrize("door", SEEDS)
def test_what_is_no_seed_is_refused(door, seed):
    with pytest.raises(DataError, match="a seed is a whole number, zero or more, got"):
        SEEDS[door](seed)


def test_numpy_numbers_and_generators_are_seeds():
    same = [ASIA.sample(20, seed=s) for s in (7, np.int64(7), np.random.default_rng(7))]
    assert same[0] == same[1] == same[2]
