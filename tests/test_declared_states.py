"""A test file has a 1 where the training rows had only 0: every door has a way with it."""

import math

import numpy as np
import pytest

from unveil import (
    BayesianNetwork,
    HiddenVariableDiscovery,
    LatentClassModel,
    Network,
    Table,
    discover,
    fit_em,
    latent_classes,
    learn,
    log_loss,
    structural_em,
)
from unveil.cli.app import main
from unveil.errors import DataError, UnveilWarning

GENERATOR = np.random.default_rng(4)
RARE = {
    "rare": [0] * 60,
    "x": GENERATOR.integers(0, 2, 60).tolist(),
    "y": GENERATOR.integers(0, 2, 60).tolist(),
}
NEW = {"rare": [1, 0], "x": [0, 1], "y": [1, 1]}
STATES = {"rare": [0, 1]}


def gaps(table):
    return table.knock_out(0.1, seed=1)


LEARNERS = {
    "learn": lambda t: learn(t, seed=1).network,
    "structural EM": lambda t: structural_em(gaps(t), seed=1).network,
    "EM": lambda t: fit_em(learn(t, seed=1).network, gaps(t), seed=1).network,
    "estimator": lambda t: BayesianNetwork(random_state=1).fit(t).network_,
    "discover": lambda t: discover(t, seed=1, evidence=False, straw_men=False, n_jobs=1).network,
}


@pytest.mark.parametrize("learner", LEARNERS)
def test_declared_states_are_allowed_for(learner):
    network = LEARNERS[learner](Table.from_frame(RARE, states=STATES))
    assert network.variable("rare").states == (0, 1)
    loss = log_loss(network, Table.from_frame(NEW))
    assert math.isfinite(loss.bits)


def test_declared_states_in_latent_classes():
    found = latent_classes(Table.from_frame(RARE, states=STATES), 2, n_starts=1, seed=1)
    assert found.network.variable("rare").states == (0, 1)


@pytest.fixture(scope="module")
def network():
    return learn(Table.from_frame(RARE), seed=1).network


def test_an_unknown_label_is_an_error_that_says_what_to_do(network):
    new = Table.from_frame(NEW)
    for call in (log_loss, lambda n, t: n.predict(t, "x"), lambda n, t: n.posterior(t, of="x")):
        with pytest.raises(DataError) as caught:
            call(network, new)
        said = str(caught.value)
        assert "row 1, column 'rare': 1 is not one of the known states 0." in said
        assert 'unknown="missing"' in said
        assert "states={'rare': [0, 1]}" in said


def test_an_unknown_label_as_a_missing_cell(network):
    new, without = Table.from_frame(NEW), Table.from_frame(NEW | {"rare": [None, 0]})
    with pytest.warns(UnveilWarning, match="column 'rare': 1 cell taken as missing"):
        loss = log_loss(network, new, unknown="missing")
    assert loss.bits == pytest.approx(log_loss(network, without).bits)
    with pytest.warns(UnveilWarning, match="1 cell taken as missing"):
        best = network.predict(new, "x", unknown="missing")
    assert best == network.predict(without, "x")


def test_labels_of_the_predicted_column_itself_do_not_matter(network):
    new = Table.from_frame(NEW | {"rare": [7, 8]})
    assert network.predict(new, "rare") == [0, 0]


ESTIMATORS = [
    LatentClassModel(2, n_starts=1, random_state=1),
    HiddenVariableDiscovery(max_hidden=1, random_state=1, n_jobs=1),
]


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("form", [dict, Table.from_frame])
def test_estimators(estimator, form):
    call = "transform"
    fitted = estimator.fit(form(RARE))
    fitted.set_params(unknown="error")
    with pytest.raises(DataError, match="column 'rare': 1 is not one of the known states"):
        getattr(fitted, call)(form(NEW))
    expected = getattr(fitted, call)(form(NEW | {"rare": [None, 0]}))
    fitted.set_params(unknown="missing")
    with pytest.warns(UnveilWarning, match="1 cell taken as missing"):
        got = getattr(fitted, call)(form(NEW))
    np.testing.assert_allclose(got, expected)
    assert type(estimator)().get_params()["unknown"] == "missing"


# The command line ------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path):
    Table.from_frame(RARE).write(tmp_path / "train.csv")
    Table.from_frame(NEW).write(tmp_path / "test.csv")
    return tmp_path


COMMANDS = {
    "learn": [],
    "discover": ["--n-states", "2", "--resamples", "0", "--no-straw-men", "--n-jobs", "1"],
    "cluster": ["--n-classes", "2", "--n-starts", "1"],
}


def run(*words):
    return main([str(word) for word in words])


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_take_states(command, files):
    out = files / ("found" if command == "discover" else "found.json")
    words = [command, files / "train.csv", "--states", "rare=0,1", "--output", out, "--seed", 1]
    assert run(*words, *COMMANDS[command]) == 0
    model = out / "model.json" if command == "discover" else out
    assert Network.load(model).variable("rare").states == (0, 1)


@pytest.mark.parametrize("complete", [True, False])
def test_fit_takes_states_beyond_those_of_the_structure(complete, files, network, capsys):
    network.save(files / "model.json")
    rows = Table.from_frame(RARE)
    (rows if complete else gaps(rows)).write(files / "rows.csv")
    words = ["fit", files / "rows.csv", "--structure", files / "model.json", "--seed", 1]
    assert run(*words, "-o", files / "new.json", "--states", "rare=0,1", "--n-starts", 1) == 0
    fitted = Network.load(files / "new.json")
    assert fitted.variable("rare").states == (0, 1)
    assert fitted.dag.arcs == network.dag.arcs
    assert math.isfinite(log_loss(fitted, Table.from_frame(NEW)).bits)
    assert ("EM starts from random" in capsys.readouterr().err) is not complete


def test_predict_and_impute_say_what_to_do(files, network, capsys):
    network.save(files / "model.json")
    for command in (["predict", "--of", "x"], ["impute"], ["fit", "--structure"]):
        words = [command[0], files / "model.json", files / "test.csv", *command[1:]]
        if command[0] == "fit":
            words = ["fit", files / "test.csv", "--structure", files / "model.json"]
        out = files / ("out.json" if command[0] == "fit" else "out.csv")
        assert run(*words, "-o", out) == 1
        said = capsys.readouterr().err
        assert "row 1, column 'rare': 1 is not one of the known states 0." in " ".join(said.split())
        assert "--unknown missing" in said
        assert "--states rare=0,1" in said
        assert "table.like" not in said


def test_predict_with_unknown_labels_keeps_the_cells_as_they_came(files, network, capsys):
    network.save(files / "model.json")
    out = files / "out.csv"
    words = ["predict", files / "model.json", files / "test.csv", "--of", "x", "-o", out]
    assert run(*words, "--unknown", "missing") == 0
    assert Table.read(out).labels("rare") == [1, 0]
    assert "1 cell taken as missing" in " ".join(capsys.readouterr().err.split())


def test_impute_fills_unknown_labels(files, network, capsys):
    network.save(files / "model.json")
    out = files / "out.csv"
    words = ["impute", files / "model.json", files / "test.csv", "-o", out]
    assert run(*words, "--unknown", "missing") == 0
    assert Table.read(out).labels("rare") == [0, 0]


@pytest.mark.parametrize("words", ["rare", "rare=", "=0,1", "rare=0,,1"])
def test_states_are_written_column_equals_labels(words, files, capsys):
    assert run("info", files / "train.csv", "--states", words) == 1
    assert "expected COLUMN=A,B" in capsys.readouterr().err


def test_labels_with_commas_and_equal_signs_can_be_declared(files):
    (files / "odd.csv").write_text('x,y\n"a,b",1\nc=d,2\n')
    out = files / "odd.parquet"
    states = ["--states", 'x="a,b",c=d,e', "--states", "y=1,2,3"]
    assert run("convert", files / "odd.csv", out, *states) == 0
    assert Table.read(out).variable("x").states == ("a,b", "c=d", "e")
    assert Table.read(out).variable("y").states == (1, 2, 3)
