"""The bottleneck behind latent classes, `refit`, the command line and the picture."""

import json

import pytest

from unveil import EquivalentSampleSize, datasets, latent_classes
from unveil.cli import main
from unveil.em import refit
from unveil.errors import DataError
from unveil.report import draw_course

PLANS = datasets.table("college_plans")


@pytest.fixture(scope="module")
def found():
    return latent_classes(PLANS, [1, 3], method="bottleneck", compare=3, seed=1)


def test_latent_classes(found):
    best = found[3]
    assert best.log_likelihood == pytest.approx(-45450.45, abs=0.02)
    assert best.course[-1].gamma == 1
    assert [s.kind for s in best.starts].count("random") == 3
    assert best.n_beaten is not None
    assert any(line.startswith("bottleneck: ") for line in str(found).splitlines())
    assert found[1].course == ()
    assert json.dumps(found.to_dict())


def test_latent_classes_that_are_stopped():
    found = latent_classes(PLANS, 4, method="bottleneck", seed=1, progress=lambda step: False)
    assert found.network.variable("class").n_states == 4
    assert found.stopped == "asked to stop"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"method": "bottle"}, "Did you mean 'bottleneck'"),
        ({"compare": 5}, "the bottleneck's run can be compared"),
    ],
)
def test_sentences(options, sentence):
    with pytest.raises(DataError, match=sentence):
        latent_classes(PLANS, 2, **options)


def test_refit(found):
    network = found[3].network
    made = refit(network, PLANS, EquivalentSampleSize(1.0), method="bottleneck", seed=1)
    assert made.em is None
    assert made.bottleneck.gamma == 1
    assert made.network.variable("class").labels == network.variable("class").labels
    with pytest.raises(DataError, match="em, bottleneck, not 'x'"):
        refit(network, PLANS, method="x")


@pytest.fixture(scope="module")
def files(tmp_path_factory, found):
    folder = tmp_path_factory.mktemp("bottleneck")
    PLANS.write(folder / "plans.csv")
    found[3].network.save(folder / "model.json")
    return folder


@pytest.fixture
def run(capsys):
    def run(*words):
        code = main([str(w) for w in words])
        out = capsys.readouterr()
        return code, out.out + out.err

    return run


def test_cluster(files, run):
    code, out = run(
        "cluster", files / "plans.csv", "--weights", "weight", "--n-classes", 2, "--method",
        "bottleneck", "--compare", 2, "--course", files / "course.svg", "--seed", 1,
    )  # fmt: skip
    assert code == 0, out
    assert "beats 0 of 2 random starts, equals 2, is beaten by 0" in out
    assert (files / "course.svg").read_text().startswith("<?xml")


def test_fit(files, run):
    code, out = run(
        "fit", files / "plans.csv", "--weights", "weight", "--structure", files / "model.json",
        "--method", "bottleneck", "--compare", 2, "--course", files / "fit.png", "--seed", 1,
    )  # fmt: skip
    assert code == 0, out
    assert "information-bottleneck EM, posterior exact" in out
    assert "of 2 random starts" in out
    assert (files / "fit.png").exists()


def test_fit_with_states_learned_and_rows_held_out(files, run):
    code, out = run(
        "fit", files / "plans.csv", "--weights", "weight", "--structure", files / "model.json",
        "--method", "bottleneck", "--adapt-states", "--max-states", 4, "--held-out", 0.2,
        "--seed", 1,
    )  # fmt: skip
    assert code == 0, out
    assert "held out, nats per row" in out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["fit", "--structure", "model.json", "--compare", "3"], "belong to --method bottleneck"),
        (["fit", "--structure", "model.json", "--method", "bottleneck", "--accelerate"],
         "belong to --method em"),
        (["cluster", "--course", "x.svg"], "needs --method bottleneck"),
        (["cluster", "--method", "bottelneck"], "Did you mean 'bottleneck'"),
    ],
)  # fmt: skip
def test_words_that_do_not_go_together(files, run, words, sentence, monkeypatch):
    monkeypatch.chdir(files)
    code, out = run(words[0], "plans.csv", "--weights", "weight", *words[1:])
    assert code != 0
    assert sentence in " ".join(out.split())


def test_no_course_to_draw(tmp_path):
    with pytest.raises(DataError, match="no points"):
        draw_course([], tmp_path / "x.svg")
