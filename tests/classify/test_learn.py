"""`learn_classifier` end to end: every model, odd tables, stopping, resuming."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score

from unveil import BayesianNetworkClassifier, Table, Variable, datasets, learn_classifier, load
from unveil.classify import Classifier, Recipe, TrialFolder
from unveil.classify.columns import columns_of
from unveil.classify.recipes import MODELS, recipes_for
from unveil.classify.trial import dealt
from unveil.errors import DataError, ModelError, UnveilWarning


@pytest.fixture(scope="module")
def rows() -> Table:
    return datasets.network("asia").sample(300, seed=1)


@pytest.fixture(scope="module")
def mixed() -> pd.DataFrame:
    """Labels, numbers and gaps; x and a tell the class, the rest is noise."""
    random = np.random.default_rng(1)
    y = random.integers(3, size=240)
    frame = pd.DataFrame(
        {
            "x": random.normal(2.0 * y, 1.0),
            "a": np.array(["low", "mid", "high"])[(y + (random.random(240) < 0.3)) % 3],
            "z": random.normal(size=240),
            "flag": random.random(240) < 0.5,
            "y": np.array(["c", "d", "e"])[y],
        }
    )
    frame.loc[random.random(240) < 0.1, "x"] = np.nan
    frame["a"] = frame["a"].astype(object).where(random.random(240) > 0.1, None)
    return frame


@pytest.mark.parametrize("model", [model for model in MODELS if model != "discover"])
def test_every_model_predicts_better_than_the_default(model, rows):
    found = learn_classifier(rows, "dysp", model, parameters="generative", seed=1)
    judgement = found.judgement
    assert judgement.accuracy > judgement.default_rate + 0.2
    assert judgement.log_loss < judgement.default_log_loss
    assert found.network.names[0] or found.network.hidden
    shares = found.classifier.probabilities(rows)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert found.to_dict()["judgement"]["accuracy"] == judgement.accuracy
    assert found.stopped == "converged"


def test_hidden_variables_can_be_discovered_around_the_class():
    random = np.random.default_rng(7)
    mood, y = random.integers(2, size=(2, 400))
    told = np.where(random.random(400) < 0.1, 1 - y, y)
    frame = {f"q{i}": np.where(random.random(400) < 0.1, 1 - mood, mood) ^ told for i in range(4)}
    found = learn_classifier({**frame, "y": y}, "y", "discover", judge=False, seed=1, time_limit=3)
    assert set(found.network.names) >= {"y", "q0"}
    assert found.classifier.probabilities({**frame}).shape == (400, 2)


@pytest.mark.parametrize("numbers", ["cut", "gaussian"])
@pytest.mark.parametrize("model", ["naive", "tan", "kdb", "network"])
@pytest.mark.parametrize("parameters", ["generative", "discriminative"])
def test_labels_numbers_and_gaps(model, numbers, parameters, mixed):
    if model == "network" and parameters == "discriminative":
        with pytest.raises(DataError, match="discriminative parameters are for naive, tan, kdb"):
            learn_classifier(mixed, "y", model, parameters=parameters)
        return
    found = learn_classifier(
        mixed, "y", model, parameters=parameters, numbers=numbers, strength=1.0, folds=3, seed=1
    )
    assert found.judgement.accuracy > 0.75
    assert found.importances[0].predictor in ("x", "a")


def test_auto_takes_the_best_and_tells_all(mixed):
    found = learn_classifier(mixed, "y", folds=3, seed=1)
    assert {t.recipe.model for t in found.trials} == {"naive", "tan", "kdb", "network", "hidden"}
    least = min(t.log_loss for t in found.trials)
    chosen = next(t for t in found.trials if t.recipe == found.recipe)
    assert chosen.log_loss < least + 0.03
    again = learn_classifier(mixed, "y", folds=3, seed=1)
    assert again.recipe == found.recipe
    np.testing.assert_array_equal(
        again.classifier.probabilities(mixed), found.classifier.probabilities(mixed)
    )


def test_a_model_file_predicts_the_same(mixed, tmp_path):
    found = learn_classifier(
        mixed, "y", "tan", parameters="discriminative", strength=1, judge=False
    )
    found.save(tmp_path / "model.json")
    again = Classifier.load(tmp_path / "model.json", "y")
    new = mixed.drop(columns="y").head(30)
    np.testing.assert_allclose(
        again.probabilities(new), found.classifier.probabilities(new), atol=1e-12
    )
    assert load(tmp_path / "model.json").variable("a").states[-1] == "(empty)"
    from unveil.infer import with_posteriors

    table = with_posteriors(again.network, Table.from_frame(new), ["y"])
    np.testing.assert_allclose(table.column("P(y=c)"), again.probabilities(new)[:, 0], atol=1e-12)


# Odd tables ------------------------------------------------------------------------------------


def test_one_class_is_refused(rows):
    one = rows.take(np.array(rows.labels("dysp")) == "yes")
    with pytest.raises(DataError, match="one class only: 'dysp' is 'yes'"):
        learn_classifier(one, "dysp")


def test_rows_without_a_class_are_left_aside_and_predicted(rows):
    frame = rows.to_pandas().astype(object)
    frame.loc[:49, "dysp"] = None
    found = learn_classifier(frame, "dysp", "naive", parameters="generative")
    assert (found.n_rows, found.n_without_class) == (250, 50)
    assert len(found.classifier.predict(frame)) == 300


def test_a_predictor_that_determines_the_class_is_told():
    random = np.random.default_rng(1)
    y = random.integers(2, size=100)
    table = Table.from_frame(
        {"copy": np.where(y, "p", "n"), "b": random.integers(3, size=100), "y": y}
    )
    found = learn_classifier(table, "y", seed=1)
    assert found.judgement.accuracy == 1.0
    assert found.judgement.log_loss < 0.05
    assert any("'copy' determines 'y'" in note for note in found.notes)


def test_unseen_categories(mixed):
    found = learn_classifier(mixed, "y", "naive", parameters="generative", judge=False)
    new = {"x": [1.0], "a": ["never seen"]}
    with pytest.warns(UnveilWarning, match="never seen"):
        shares = found.classifier.probabilities(new)
    assert shares.shape == (1, 3)
    with pytest.raises(DataError, match="never seen"):
        found.classifier.probabilities(new, unknown="error")


def test_tables_that_are_too_small_or_empty():
    few = Table.from_frame({"a": ["x", "y", "x"], "y": [0, 1, 0]})
    found = learn_classifier(few, "y")
    assert found.judgement is None
    assert "too few" in str(found)
    with pytest.raises(DataError, match="no column beside the class"):
        learn_classifier(few.select(["y"]), "y")
    with pytest.raises(DataError, match="no column 'z'"):
        learn_classifier(few, "z")
    with pytest.raises(DataError, match="is continuous"):
        learn_classifier({"a": ["x"] * 30, "y": np.linspace(0, 1, 30)}, "y")
    with pytest.raises(DataError, match="no row has a value of the class"):
        learn_classifier(Table([Variable("a", ["x"]), Variable("y", [0, 1])], [[0], [-1]]), "y")
    with pytest.raises(DataError, match=r"model is one of auto, naive.*Did you mean 'naive'"):
        learn_classifier(few, "y", "naif")
    with pytest.raises(ModelError, match="no variable 'z' to predict"):
        Classifier(found.network, "z")
    with pytest.raises(DataError, match="none of the predictors"):
        found.classifier.predict({"other": ["x"]})


def test_columns_that_say_nothing():
    random = np.random.default_rng(1)
    y = random.integers(2, size=80)
    noise = Table.from_frame({"same": ["k"] * 80, "z": random.normal(size=80), "y": y})
    found = learn_classifier(noise, "y", seed=1)
    assert 0.6 < found.judgement.log_loss < 0.8
    assert found.classifier.probabilities(noise).shape == (80, 2)


def test_a_class_with_a_single_row(rows):
    frame = rows.to_pandas().astype(object)
    frame.loc[0, "dysp"] = "perhaps"
    found = learn_classifier(frame, "dysp", "tan", seed=1)
    assert len(found.classes) == 3
    assert np.isfinite(found.judgement.log_loss)


def test_identifiers_are_left_out(rows):
    table = rows.with_column(Variable("id", [f"p{i}" for i in range(300)]), np.arange(300))
    with pytest.warns(UnveilWarning, match="'id' looks like an identifier and is left out"):
        found = learn_classifier(table, "dysp", "naive", parameters="generative")
    assert "id" in found.left_out


def test_every_case_is_in_one_fold():
    random = np.random.default_rng(1)
    y = np.repeat([0, 1, 2], [40, 9, 1])
    table = Table.from_frame({"a": random.integers(2, size=50), "y": y})
    weighted = table.with_weights(random.integers(1, 3, 50))
    for some in (table, weighted):
        folds = dealt(columns_of(some, "y"), 4, 1)
        assert sum(out.total_weight for _, out in folds.parts) == some.total_weight
        for training, out in folds.parts:
            assert training.total_weight + out.total_weight == some.total_weight
            counts = np.bincount(out.column("y"), out.row_weights, 3)
            assert counts[1] >= 2


# Stopping and going on -------------------------------------------------------------------------


def test_time_limits_and_wishes_give_the_best_so_far(rows):
    found = learn_classifier(rows, "dysp", seed=1, time_limit=0)
    assert found.stopped == "time limit"
    assert len(found.classifier.predict(rows)) == 300
    steps = []

    def enough(step):
        steps.append(step.phase)
        return len(steps) < 3

    found = learn_classifier(rows, "dysp", seed=1, progress=enough)
    assert found.stopped == "asked to stop"
    assert found.classifier.probabilities(rows).shape == (300, 2)


def test_a_run_is_taken_up_again(rows, tmp_path):
    settings = {"model": "tan", "folds": 3}
    first = TrialFolder(tmp_path, rows, "dysp", settings, seed=3).learn(judge=False)
    heard = []
    again = TrialFolder(tmp_path, rows, "dysp", settings)
    assert (again.seed, len(again.known)) == (3, 2)
    found = learn_classifier(
        rows, "dysp", **settings, seed=3, known=again.known, heard=heard.append, judge=False
    )
    assert heard == []
    assert found.recipe == first.recipe
    assert TrialFolder(tmp_path, rows, "dysp", {"model": "kdb"}).known == {}
    assert TrialFolder(tmp_path, rows, "dysp", settings, resume=False).known == {}
    (tmp_path / "state.json").write_text('{"fingerprint": 1}')
    assert TrialFolder(tmp_path, rows, "dysp", settings).known == {}
    (tmp_path / "state.json").write_text("no json")
    with pytest.warns(UnveilWarning, match="cannot be read"):
        assert TrialFolder(tmp_path, rows, "dysp", settings).known == {}


def test_recipes(rows):
    columns = columns_of(rows, "dysp")
    assert len(recipes_for(columns)) == 10
    assert recipes_for(columns, "kdb", "generative", k=3) == [Recipe("kdb", k=3)]
    assert recipes_for(columns, "tan", "discriminative", "cut", selective=True)[0].selective
    assert "3-dependence" in Recipe("kdb", k=3).words
    with pytest.raises(DataError, match="k is 1 or more"):
        Recipe("kdb", k=0)


# scikit-learn ----------------------------------------------------------------------------------


def test_grid_search_and_cross_validation(mixed):
    X, y = mixed.drop(columns="y"), mixed["y"]
    grid = GridSearchCV(
        BayesianNetworkClassifier(parameters="generative", numbers="cut", random_state=1),
        {"model": ["naive", "tan"], "strength": [1.0, 4.0]}, scoring="neg_log_loss", cv=3,
    )  # fmt: skip
    grid.fit(X, y)
    assert set(grid.best_params_) == {"model", "strength"}
    scores = cross_val_score(BayesianNetworkClassifier(model="naive", random_state=1), X, y, cv=3)
    assert scores.mean() > 0.75


def test_the_estimator_takes_rows_as_they_are(mixed):
    X, y = mixed.drop(columns="y"), mixed["y"].astype(object)
    y[:5] = None
    model = BayesianNetworkClassifier(model="tan", parameters="generative").fit(X, y)
    assert model.classes_.tolist() == ["c", "d", "e"]
    assert model.learned_.n_without_class == 5
    assert model.network_ is model.classifier_.network
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))
    why = model.explain(X, row=3, label="d")
    assert why.label == "d"
    assert {w.predictor for w in why.weights} == set(model.classifier_.predictors)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.predict(X.head(1)).shape == (1,)
    with pytest.raises(DataError, match="y has 3 entries and X has 240 rows"):
        BayesianNetworkClassifier().fit(X, ["c", "d", "e"])
    with pytest.raises(DataError, match="y has no class in any row"):
        BayesianNetworkClassifier().fit(X, [None] * 240)
    with pytest.raises(DataError, match="several kinds"):
        BayesianNetworkClassifier().fit(X, np.array([1, "a"] * 120, dtype=object))
