"""The scikit-learn faces: scikit-learn's own checks, and what is ours."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from unveil import Table, datasets
from unveil.em.mixture import latent_classes
from unveil.errors import DataError, UnveilWarning
from unveil.estimators import (
    BayesianNetwork,
    Discretizer,
    HiddenVariableDiscovery,
    LatentClassModel,
)

# The checks feed continuous numbers, so the estimators are told to cut them. equal_width, because
# the cuts of the other methods do not heed weights, which check_sample_weight_equivalence needs.
CHECKED = [
    LatentClassModel(discretize="equal_width", n_starts=2, max_iterations=200),
    BayesianNetwork(discretize="equal_width", target="y"),
    BayesianNetwork(discretize="equal_width"),
    Discretizer(),
]
EXCLUDED = {
    "check_sample_weight_equivalence_on_dense_data": "subtracts predictions, which are labels here",
    "check_classifiers_regression_target": "a continuous target is cut, as asked for",
    "check_supervised_y_no_nan": "rows without a label of the target are welcome",
}


@parametrize_with_checks(
    CHECKED, expected_failed_checks=lambda e: EXCLUDED if isinstance(e, BayesianNetwork) else {}
)
@pytest.mark.filterwarnings("default")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def answers() -> Table:
    generator = np.random.default_rng(0)
    side = generator.random(500) < 0.6
    columns = {
        f"q{i}": np.where(side ^ (generator.random(500) < 0.1), "yes", "no") for i in range(4)
    }
    return Table.from_frame(columns)


def test_settings_are_kept_and_cloned():
    settings = {"n_classes": (2, 3), "criterion": "aic", "equivalent_sample_size": None}
    model = LatentClassModel(**settings)
    assert {k: model.get_params()[k] for k in settings} == settings
    assert clone(model).get_params() == model.get_params()
    assert model.set_params(n_starts=3).n_starts == 3


def test_every_kind_of_table_gives_the_same_fit(answers):
    columns = answers.to_dict()
    kinds = [answers, columns, pd.DataFrame(columns), pl.DataFrame(columns)]
    scores = []
    for X in kinds:
        model = LatentClassModel(n_classes=2, n_starts=2, random_state=1).fit(X)
        assert model.feature_names_in_.tolist() == list(columns)
        assert model.n_features_in_ == 4
        scores.append(model.score(X))
    array = np.array([columns[name] for name in columns], dtype=object).T
    model = LatentClassModel(n_classes=2, n_starts=2, random_state=1).fit(array)
    assert not hasattr(model, "feature_names_in_")
    assert [*scores, model.score(array)] == pytest.approx([scores[0]] * 5)


def test_classes_as_features(answers):
    model = LatentClassModel(n_classes=range(1, 4), n_starts=3, random_state=1).fit(answers)
    assert model.n_classes_ == 2
    proba = model.predict_proba(answers)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    np.testing.assert_array_equal(model.transform(answers), proba)
    np.testing.assert_array_equal(model.predict(answers), model.classes_[proba.argmax(axis=1)])
    assert model.get_feature_names_out().tolist() == ["class_1", "class_2"]
    frame = answers.to_pandas()
    out = model.set_output(transform="pandas").transform(frame)
    assert list(out.columns) == ["class_1", "class_2"]


def test_a_column_called_class_is_no_trouble():
    X = {"class": ["a", "b"] * 10, "other": ["c", "d"] * 10}
    model = LatentClassModel(n_starts=1, random_state=1).fit(X)
    assert model.get_feature_names_out().tolist() == ["class__1", "class__2"]


def test_likelihoods_are_those_of_the_network(answers):
    model = LatentClassModel(
        n_classes=2, equivalent_sample_size=None, n_starts=2, random_state=1
    ).fit(answers)
    rows = model.score_samples(answers)
    assert rows.sum() == pytest.approx(latent_classes(answers, 2, seed=1).best.log_likelihood)
    assert model.score(answers) == pytest.approx(rows.mean())
    weights = np.arange(len(rows), dtype=float)
    assert model.score(answers, sample_weight=weights) == pytest.approx(
        np.average(rows, weights=weights)
    )


def test_in_a_pipeline(answers):
    frame = answers.to_pandas()
    y = (frame["q0"] == "yes").to_numpy()
    X = frame.drop(columns="q0")
    line = make_pipeline(
        LatentClassModel(n_starts=2, random_state=1), DecisionTreeClassifier(max_depth=1)
    )
    assert line.fit(X, y).score(X, y) > 0.8


def test_new_rows_with_gaps_and_new_labels(answers):
    model = LatentClassModel(n_starts=2, random_state=1).fit(answers)
    some = model.predict_proba(
        {"q0": ["yes", None], "q1": [None, None], "q2": ["yes", None], "q3": [None] * 2}
    )
    assert some[1] == pytest.approx(model.result_.best.shares)
    strange = {name: ["perhaps"] for name in answers.names}
    with pytest.warns(UnveilWarning, match="taken as missing; 'perhaps' not among"):
        assert model.predict_proba(strange)[0] == pytest.approx(model.result_.best.shares)
    with pytest.raises(DataError, match="perhaps"):
        model.set_params(unknown="error").predict(strange)


def test_continuous_columns_are_refused_unless_cut():
    X = np.random.default_rng(1).normal(size=(60, 2))
    with pytest.raises(
        DataError, match=r"2 columns are continuous \(x1, x2\)\. Make.* discretize="
    ):
        LatentClassModel().fit(X)
    model = LatentClassModel(discretize="equal_frequency", n_starts=1, random_state=1).fit(X)
    assert set(model.cuts_) == {"x1", "x2"}
    # A few rows alone would look like labels; they are read as the numbers they are.
    assert model.predict(X[:2]).tolist() == model.predict(X)[:2].tolist()


def test_network_from_complete_and_incomplete_rows():
    asia = datasets.network("asia")
    rows = asia.sample(1500, seed=1)
    whole = BayesianNetwork(random_state=1).fit(rows)
    holes = BayesianNetwork(random_state=1).fit(rows.knock_out(0.05, seed=2))
    test = asia.sample(2000, seed=3)
    best = asia.log_likelihood(test) / 2000
    for model in (whole, holes):
        assert best - 0.05 < model.score(test) <= best + 0.01
        assert model.dag_.n_arcs >= 5
    assert BayesianNetwork(max_parents=1).fit(rows).dag_.n_arcs <= 7


def test_prediction_of_a_target():
    asia = datasets.network("asia")
    rows = asia.sample(1000, seed=1)
    model = BayesianNetwork(target="either", random_state=1).fit(rows)
    predicted = model.predict(rows)
    assert (predicted == np.array(rows.labels("either"))).mean() > 0.95
    np.testing.assert_array_equal(model.predict(rows.without("either")), predicted)
    frame = rows.to_pandas()
    np.testing.assert_array_equal(model.predict(frame.drop(columns="either")), predicted)
    proba = model.predict_proba(rows, target="smoke")
    assert proba.shape == (1000, 2)
    with pytest.raises(DataError, match="say which column to predict"):
        BayesianNetwork().fit(rows).predict(rows)


def test_samples_come_without_the_hidden_class(answers):
    model = LatentClassModel(n_starts=2, random_state=1).fit(answers)
    drawn = model.sample(50, random_state=1)
    assert drawn.names == answers.names
    assert drawn == model.sample(50, random_state=1)
    with pytest.raises(NotFittedError):
        LatentClassModel().sample()


def test_hidden_variables_as_features(answers):
    columns = answers.to_dict()
    frame = pd.DataFrame(columns)
    model = HiddenVariableDiscovery(max_hidden=1, max_luck=0.4, n_jobs=1, random_state=1).fit(frame)
    assert model.hidden_ == ("H1",)
    features = model.transform(frame)
    assert features.shape == (500, 2)
    np.testing.assert_allclose(features.sum(axis=1), 1.0)
    expected = model.network_.posterior(answers, of="H1")["H1"]
    np.testing.assert_allclose(features, expected)
    assert model.get_feature_names_out().tolist() == ["H1_0", "H1_1"]
    # A dict is matched by name, an array by position (scikit-learn warns that it has no names).
    backwards = {name: columns[name] for name in reversed(columns)}
    np.testing.assert_array_equal(model.transform(backwards), features)
    with pytest.warns(UserWarning, match="feature names"):
        np.testing.assert_array_equal(model.transform(frame.to_numpy()), features)
    gaps = frame.mask(np.eye(500, 4, dtype=bool))
    assert np.isfinite(model.transform(gaps)).all()


def test_no_time_finds_nothing(answers):
    model = HiddenVariableDiscovery(time_limit=0.0, n_jobs=1, random_state=1).fit(answers)
    assert model.hidden_ == ()
    assert model.transform(answers).shape == (500, 0)


def test_seeds_that_are_none(answers):
    with pytest.raises(DataError, match=r"'random_state' .* Got -1 instead"):
        HiddenVariableDiscovery(random_state=-1).fit(answers)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (LatentClassModel(0), "'n_classes' .* int in the range .1, inf.*Got 0"),
        (LatentClassModel(criterion="luck"), "'criterion' .*{'bic', 'aic'.*Got 'luck'"),
        (LatentClassModel(n_starts=0), "'n_starts' .*Got 0"),
        (LatentClassModel(equivalent_sample_size=-1), "'equivalent_sample_size' .*Got -1"),
        (LatentClassModel(tolerance="small"), "'tolerance' .*Got 'small'"),
        (
            LatentClassModel(discretize="luck"),
            "'discretize' .*{'equal_width', .*Got 'luck'",
        ),
        (BayesianNetwork(criterion="luck"), "'criterion' .*{'bdeu', 'bic'.*Got 'luck'"),
        (BayesianNetwork(search="luck"), "'search' .*{'combined', .*Got 'luck'"),
        (BayesianNetwork(max_parents=-1), "'max_parents' .*Got -1"),
        (BayesianNetwork(equivalent_sample_size=None), "'equivalent_sample_size' .*Got None"),
        (BayesianNetwork(n_bins=1), "'n_bins' .*Got 1"),
        (BayesianNetwork(unknown="guess"), "'unknown' .*Got 'guess'"),
        (HiddenVariableDiscovery(max_hidden=0), "'max_hidden' .*Got 0"),
        (HiddenVariableDiscovery(n_states=1), "'n_states' .*Got 1"),
        (
            HiddenVariableDiscovery(adapt="magic"),
            "'adapt' .*{'em', 'blanket', .*Got 'magic'",
        ),
        (HiddenVariableDiscovery(time_limit=-1), "'time_limit' .*Got -1"),
    ],
)
def test_a_wrong_value_is_told_at_fit_before_anything_is_read(model, words):
    with pytest.raises(DataError, match=f"The {words}"):
        model.fit(None)


@pytest.mark.parametrize("kind", [LatentClassModel, BayesianNetwork, HiddenVariableDiscovery])
def test_every_setting_has_its_constraint(kind):
    assert set(kind._parameter_constraints) == set(kind().get_params())


# Manners ---------------------------------------------------------------------------------------


def test_y_is_the_target(answers):
    frame = answers.to_pandas()
    X, y = frame.drop(columns="q0"), frame["q0"]
    model = BayesianNetwork(random_state=1).fit(X, y)
    assert (model.target_, model.classes_.tolist()) == ("q0", ["no", "yes"])
    assert model.network_.dag == BayesianNetwork(random_state=1).fit(frame).network_.dag
    right = float(np.mean(model.predict(X) == y.to_numpy()))
    assert model.score(X, y) == pytest.approx(right)
    assert right > 0.8
    assert BayesianNetwork(random_state=1, target="q0").fit(frame).score(frame) == right
    assert BayesianNetwork(random_state=1).fit(X.to_numpy(), y.to_list()).target_ == "y"
    with pytest.raises(DataError, match="X has a column 'q0', the target, and y is given"):
        BayesianNetwork(target="q0").fit(frame, y)
    with pytest.raises(DataError, match="needs the true labels of 'q0'"):
        model.score(X)
    with pytest.raises(DataError, match="y has 3 entries and X has 500 rows"):
        BayesianNetwork().fit(X, y[:3])


def test_cross_validation_with_scikit_learn(answers):
    frame = answers.to_pandas().astype(object)
    frame.loc[7, "q1"] = "perhaps"  # one fold alone sees this label
    X, y = frame.drop(columns="q0"), frame["q0"]
    with pytest.warns(UnveilWarning, match="'perhaps' not among the known states"):
        found = cross_validate(
            BayesianNetwork(random_state=1), X, y, scoring=["accuracy", "neg_log_loss", "roc_auc"]
        )
    assert found["test_accuracy"].mean() > 0.8
    assert found["test_roc_auc"].mean() > 0.8
    with pytest.warns(UnveilWarning):
        assert np.isfinite(cross_val_score(LatentClassModel(n_starts=2), X)).all()


def test_what_mixtures_of_scikit_learn_have(answers):
    weights = np.random.default_rng(1).uniform(0.5, 2, answers.n_rows)
    model = LatentClassModel(n_starts=2, random_state=1)
    assert model.fit_predict(answers).tolist() == model.predict(answers).tolist()
    best = model.result_.best
    assert model.bic(answers) == pytest.approx(-2 * best.bic)
    assert model.aic(answers) == pytest.approx(-2 * best.aic)
    heavy = model.fit(answers, sample_weight=weights)
    assert heavy.bic(answers, weights) == pytest.approx(-2 * heavy.result_.best.bic)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_output_as_asked_for(answers, kind):
    frame = getattr(answers, f"to_{kind}")()
    model = LatentClassModel(n_starts=1, random_state=1).set_output(transform=kind)
    out = model.fit(frame).transform(frame)
    assert type(out) is type(frame)
    assert list(out.columns) == ["class_1", "class_2"]
    numbers = Table.from_frame({"x": np.linspace(0, 1, 60), "q": ["a", "b"] * 30})
    coarse = Discretizer(n_bins=2).set_output(transform=kind)
    cut = coarse.fit_transform(getattr(numbers, f"to_{kind}")())
    assert type(cut) is type(frame)
    assert cut["x"].to_list() == ["< 0.5"] * 30 + [">= 0.5"] * 30


def test_a_discretizer_keeps_rows_and_kinds():
    frame = pd.DataFrame({"x": [1.5, 2.5, None], "z": ["a", "b", "c"]}, index=[7, 8, 9])
    coarse = Discretizer(method="equal_width", n_bins=2).fit(frame)
    out = coarse.transform(frame)
    assert (out.index.tolist(), out["z"].tolist()) == ([7, 8, 9], ["a", "b", "c"])
    assert out["x"].isna().tolist() == [False, False, True]
    assert coarse.transform({"x": [9.0], "z": ["new"]}) == {"x": [">= 2"], "z": ["new"]}
    line = make_pipeline(Discretizer(), BayesianNetwork(random_state=1))
    numbers = np.random.default_rng(1).normal(size=(200, 2))
    label = numbers[:, 0] > 0
    assert line.fit(numbers, label).score(numbers, label) > 0.8
