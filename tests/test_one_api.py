"""One API: every option of a command is an argument of the call behind it, with the same default.

What has another name or place in Python is listed here, with where it is; anything else fails.
"""

import inspect

import pytest

import unveil
from unveil.cli.app import app
from unveil.discovery import RunFolder
from unveil.discovery.continuous import NumberSettings
from unveil.evaluate import average_arcs, bootstrap_arcs
from unveil.infer import fill_in, posterior, with_posteriors
from unveil.infer.approximate import gibbs
from unveil.learning import DEFAULT_SIZE
from unveil.score import ArcPenalty
from unveil.search import Constraints, combined_search, sample_size_sensitivity
from unveil.table import Table

CALLS = {
    "learn": [unveil.learn],
    "fit": [unveil.fit],
    "discover": [unveil.discover, unveil.Settings, RunFolder],
    "cluster": [unveil.latent_classes],
    "trees": [unveil.trees.mixture_of_trees, unveil.trees.hierarchy, unveil.trees.hidden_chow_liu],
    "query": [posterior],
    "predict": [with_posteriors],
    "impute": [fill_in],
    "sample": [unveil.Network.sample],
}
"""The calls behind each command that learns or asks."""

FILES = {"output", "picture", "page", "assignments", "summary", "course"}
"""Where results are written: `save` and its kin in Python."""
READING = {"delimiter", "missing", "weights", "encoding", "header", "states", "unknown",
           "max_bytes"}  # fmt: skip
"""How a table is read: arguments of `Table.read`, by the same names."""
KINDS = {"discrete", "continuous", "text"}
"""The values of `kinds=` of `Table.read`, each an option of its own."""
PREPARING = {"drop", "discretize", "n_bins"}
ROWS = {"table", "query", "memory", "engine"}
"""How rows in pieces are opened: arguments of `unveil.open_rows`, by the same names."""

ELSEWHERE = {
    "learn": {
        "require": (Constraints, "required"),
        "forbid": (Constraints, "forbidden"),
        "tier": (Constraints, "tiers"),
        "no_parents": (Constraints, "no_parents"),
        "no_children": (Constraints, "no_children"),
        "bootstrap": (bootstrap_arcs, "n_samples"),
        "average": (average_arcs, "n_structures"),
        "restarts": (combined_search, "restarts"),
        "sensitivity": (sample_size_sensitivity, "sizes"),
    },
    "discover": {
        "require": (Constraints, "required"),
        "forbid": (Constraints, "forbidden"),
        "tier": (Constraints, "tiers"),
        "no_parents": (Constraints, "no_parents"),
        "no_children": (Constraints, "no_children"),
        "arc_penalty": (ArcPenalty, "penalty"),
        "place": (unveil.Settings, "places"),
        "family": (NumberSettings, "family"),
        "ideal": (NumberSettings, "ideal"),
    },
    "fit": {
        "method": (unveil.em.refit, "method"),
        "adapt_states": (unveil.ib_em, "hidden"),
        "max_states": (unveil.ib_em, "max_states"),
        "held_out": (unveil.ib_em, "held_out"),
        "compare": (unveil.ib_em, "compare"),
    },
    "cluster": {"covariate": (unveil.latent_classes, "covariates")},
    "query": {
        "seed": (gibbs, "seed"),
        "do": (unveil.Network.do, "actions"),
        "why": (unveil.infer.finding_influence, "given"),
        "ask_next": (unveil.infer.information_about, "network"),
        "explain": (unveil.infer.most_probable, "given"),
    },
    "sample": {
        "rows": (unveil.Network.sample, "n"),
        "missing": (Table.knock_out, "fraction"),
        "keep_hidden": (Table.without, "names"),
    },
}
"""Options that Python has in another place, or by another word that fits its grammar."""

SAID_LATER = {
    ("discover", "max_hidden"): None,
    ("learn", "equivalent_sample_size"): f"{DEFAULT_SIZE:g}",
    ("learn", "family"): "linear",
    ("discover", "family"): "linear",
    ("fit", "equivalent_sample_size"): DEFAULT_SIZE,
    ("trees", "groups"): None,
}
"""Defaults that the call fills in itself, since another argument may exclude them."""


def options(command):
    """The options and arguments of a command by name, with their defaults."""
    found = next(c for c in app.registered_commands if c.callback.__name__ == command)
    return inspect.signature(found.callback).parameters


def arguments(calls):
    return {n: p for call in reversed(calls) for n, p in inspect.signature(call).parameters.items()}


@pytest.mark.parametrize("command", CALLS)
def test_every_option_is_an_argument_with_the_same_default(command):
    known, elsewhere = arguments(CALLS[command]), ELSEWHERE.get(command, {})
    for name, option in options(command).items():
        if name in elsewhere:
            call, word = elsewhere[name]
            assert word in inspect.signature(call).parameters, (command, name)
            continue
        if name in FILES | KINDS | {"data", "model"} or (name in READING and name not in known):
            continue
        if name in ROWS:
            assert name in inspect.signature(unveil.open_rows).parameters
            continue
        assert name in known, f"unveil {command} --{name.replace('_', '-')} is no argument"
        default = SAID_LATER.get((command, name), known[name].default)
        assert (option.default or None) == (default or None), (command, name)


def test_options_of_reading_are_arguments_of_reading():
    known = set(inspect.signature(Table.read).parameters) | set(
        inspect.signature(unveil.table.read_table).parameters
    )
    assert known >= READING | {"kinds"}
    for command in ("learn", "discover", "cluster", "fit"):
        assert set(options(command)) >= READING | KINDS


@pytest.mark.parametrize("call", [unveil.learn, unveil.discover, unveil.latent_classes])
def test_tables_are_prepared_alike(call):
    assert set(inspect.signature(call).parameters) >= PREPARING | {"weights", "keep"}


ESTIMATORS = {
    unveil.BayesianNetwork: unveil.learn,
    unveil.LatentClassModel: unveil.latent_classes,
    unveil.HiddenVariableDiscovery: unveil.Settings,
}
GRAMMAR = {"criterion": "score", "random_state": "seed"}
"""Words of scikit-learn, whose estimators have a method `score`."""
REASONS = {
    (unveil.LatentClassModel, "equivalent_sample_size"): "new rows must not be impossible",
    (unveil.LatentClassModel, "unknown"): "cross-validation meets labels unseen in a fold",
    (unveil.BayesianNetwork, "unknown"): "the same",
    (unveil.HiddenVariableDiscovery, "unknown"): "the same",
    (unveil.HiddenVariableDiscovery, "evidence"): "a step of a pipeline reads no evidence",
    (unveil.BayesianNetwork, "criterion"): "bdeu, by its name",
    (unveil.BayesianNetwork, "target"): "predict is about it",
}


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_estimators_have_the_names_and_defaults_of_the_calls(estimator):
    known = arguments([ESTIMATORS[estimator], unveil.discover])
    for name, setting in inspect.signature(estimator).parameters.items():
        if (estimator, name) in REASONS:
            continue
        default = known[GRAMMAR.get(name, name)].default
        if name == "equivalent_sample_size" and default is None:
            default = DEFAULT_SIZE
        assert setting.default == default, (estimator, name)


def test_fit_in_python_gives_what_the_command_gives(tmp_path):
    asia = unveil.datasets.network("asia")
    rows = asia.sample(300, seed=1)
    from unveil.cli.app import main

    for table in (rows, rows.knock_out(0.1, seed=2)):
        data, model = tmp_path / "rows.csv", tmp_path / "asia.json"
        table.write(data)
        words = ["fit", str(data), "--structure", "asia", "-o", str(model), "--seed", "1"]
        assert main(words) == 0
        ours = unveil.fit(asia, data, seed=1)
        assert ours == unveil.load(model)
        assert ours != unveil.fit(asia, data, maximum_likelihood=True, seed=1)


def test_priors_exclude_one_another():
    asia = unveil.datasets.network("asia")
    rows = asia.sample(20, seed=1)
    with pytest.raises(unveil.errors.DataError, match="equivalent sample size and maximum"):
        unveil.fit(asia, rows, equivalent_sample_size=1.0, maximum_likelihood=True)
    prior = unveil.EquivalentSampleSize(1)
    with pytest.raises(unveil.errors.DataError, match="not both"):
        unveil.latent_classes(rows, 2, prior=prior, equivalent_sample_size=1.0)


def test_folds_and_a_fraction_exclude_one_another():
    rows = unveil.datasets.network("asia").sample(50, seed=1)
    with pytest.raises(unveil.errors.DataError, match="give one of them"):
        unveil.latent_classes(rows, 2, folds=3, held_out=0.2)
    with pytest.raises(unveil.errors.DataError, match="from 2, got 1"):
        unveil.latent_classes(rows, 2, folds=1)


@pytest.mark.parametrize(
    "model",
    [
        unveil.BayesianNetwork(target="dysp", random_state=1),
        unveil.LatentClassModel(2, n_starts=1, random_state=1),
        unveil.HiddenVariableDiscovery(max_hidden=1, time_limit=0, random_state=1),
    ],
)
def test_estimators_take_the_path_of_a_file(model, tmp_path):
    from sklearn.base import clone

    rows = unveil.datasets.network("asia").sample(200, seed=1)
    path = tmp_path / "rows.csv"
    rows.write(path)
    table = Table.read(path)
    one, other = clone(model).fit(path), clone(model).fit(table)
    assert one.network_ == other.network_
    assert one.score(str(path)) == other.score(table)
    assert list(one.feature_names_in_) == list(rows.names)


def test_a_discretizer_takes_the_path_of_a_file(tmp_path):
    path = tmp_path / "numbers.csv"
    path.write_text("x,y\n0.5,a\n1.0,b\n2.0,b\n9.5,a\n")
    cut = unveil.Discretizer(method="equal_width")
    assert cut.fit_transform(str(path)).labels("x") == ["< 3.5", "< 3.5", "< 3.5", ">= 6.5"]


def test_columns_of_a_file_may_be_in_any_order_and_more(tmp_path):
    path = tmp_path / "new.csv"
    path.write_text("extra,b,a\n7,no,1\n8,yes,2\n")
    frame = {"a": [1, 2, 1, 2] * 5, "b": ["no", "yes", "no", "yes"] * 5}
    model = unveil.BayesianNetwork(target="b", random_state=1).fit(frame)
    assert model.predict(path).tolist() == ["no", "yes"]
