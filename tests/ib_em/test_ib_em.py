"""`ib_em` as a whole: EM's fixed points, known models found again, sentences, limits."""

import numpy as np
import pytest

from unveil import DAG, EquivalentSampleSize, Table, Variable, datasets, fit_em, ib_em
from unveil.bottleneck import Continuation
from unveil.errors import DataError
from unveil.evaluate import log_loss
from unveil.progress import Ticker

from .cases import PRIOR, classes, latent_dag

PLANS = datasets.table("college_plans")


@pytest.fixture(scope="module")
def three():
    """Rows of three classes, and the run that finds them."""
    network, rows = classes(3, 9, 1200)
    return network, rows, ib_em(latent_dag(rows), rows, PRIOR, {"class": 3}, seed=0)


def test_a_known_model_is_found_again(three):
    truth, rows, found = three
    own = found.network
    best = fit_em(truth, rows, PRIOR, seed=0)
    assert found.objective == pytest.approx(best.objective, abs=0.01)
    assert found.gamma == 1.0
    assert own.variable("class").n_states == 3
    assert own.variable("class").hidden


def test_the_end_is_a_fixed_point_of_em(three):
    _, rows, found = three
    again = fit_em(found.network, rows, PRIOR, start="given", max_iterations=5)
    assert again.objective - found.objective < 1e-3


def test_the_course_goes_up(three):
    """gamma and the information grow, states are only added, and the ends are told."""
    _, rows, found = three
    gammas = [p.gamma for p in found.course]
    assert gammas[0] == 0
    assert gammas == sorted(gammas)
    assert gammas[-1] == 1
    assert found.course[0].information == (0.0,)
    states = [p.n_states[0] for p in found.course]
    assert states == sorted(states)
    assert (states[0], states[-1]) == (1, 3)
    for p in found.course:
        assert 0 <= p.information[0] <= np.log(p.n_states[0]) + 1e-12
        assert 1 <= p.effective[0] <= p.n_states[0]
    assert found.log_likelihood == pytest.approx(found.network.log_likelihood(rows))
    assert found.course[-1].log_likelihood == pytest.approx(found.log_likelihood)


def test_seeds_do_not_matter(three):
    _, rows, found = three
    for seed in (1, 2):
        other = ib_em(latent_dag(rows), rows, PRIOR, {"class": 3}, seed=seed)
        assert other.objective == pytest.approx(found.objective, abs=0.01)


def test_the_same_seed_is_the_same_run():
    one, two = (ib_em(latent_dag(PLANS), PLANS, hidden={"class": 3}, seed=4) for _ in range(2))
    assert one == two


@pytest.mark.parametrize("direction", ["whole", "diagonal", "none"])
def test_every_direction_leads_there(direction):
    found = ib_em(
        latent_dag(PLANS), PLANS, hidden={"class": 3}, seed=1,
        continuation=Continuation(direction=direction),
    )  # fmt: skip
    # The best of many random starts (maximum likelihood, three classes).
    assert found.log_likelihood == pytest.approx(-45450.45, abs=0.1)


@pytest.mark.parametrize("steps", ["information", "fixed"])
def test_noise_for_comparison(steps):
    settings = Continuation(splits="noise", steps=steps, n_steps=10, exchanges=0)
    found = ib_em(latent_dag(PLANS), PLANS, hidden={"class": 2}, seed=1, continuation=settings)
    assert found.log_likelihood == pytest.approx(-45609.76, abs=0.1)
    assert found.course[1].n_states == (2,)


def test_the_number_of_states_is_learned():
    """Three classes that rows tell apart; none of them where columns are independent."""
    _, rows = classes(3, 9, 1500, sure=0.9)
    found = ib_em(latent_dag(rows), rows, EquivalentSampleSize(1.0), {"class": None}, seed=0)
    assert found.n_states == {"class": 3}


def test_noise_needs_one_state():
    random = np.random.default_rng(0)
    rows = Table.from_frame({f"x{i}": random.integers(0, 2, 400) for i in range(5)})
    found = ib_em(latent_dag(rows), rows, EquivalentSampleSize(1.0), {"class": None}, seed=0)
    assert found.n_states == {"class": 1}


def test_held_out_rows_may_ask_to_stop_early():
    """Few rows, many states: at gamma = 1 they are learned by heart."""
    truth, _ = classes(2, 8, 10)
    rows, test = (truth.sample(n, seed=n).without("class") for n in (120, 4000))
    dag, prior = latent_dag(rows), EquivalentSampleSize(1.0)
    early = ib_em(dag, rows, prior, {"class": 8}, held_out=0.3, seed=0)
    whole = ib_em(dag, rows, prior, {"class": 8}, seed=0)
    assert early.gamma < 1
    assert log_loss(early.network, test).bits < log_loss(whole.network, test).bits
    assert all(p.held_out is not None for p in early.course)


def test_gaps_and_several_hidden_variables():
    asia = datasets.network("asia")
    rows = asia.sample(400, seed=1).knock_out(0.1, seed=2).without("lung").without("bronc")
    found = ib_em(asia, rows, PRIOR, seed=0, compare=4)
    assert found.hidden == ("lung", "bronc")
    assert found.posterior == "exact"
    assert found.random.n_better == 0
    assert sum((found.random.n_better, found.random.n_equal, found.random.n_worse)) == 4
    assert "beats" in str(found)


def test_weights_are_rows():
    rows = PLANS.take(np.arange(20))
    heavy = ib_em(latent_dag(rows), rows, PRIOR, {"class": 2}, seed=0)
    columns = {n: np.repeat(rows.column(n), rows.weights.astype(int)) for n in rows.names}
    spelled = Table(rows.variables, [columns[n] for n in rows.names])
    light = ib_em(latent_dag(rows), spelled, PRIOR, {"class": 2}, seed=0)
    assert heavy.objective == pytest.approx(light.objective, rel=1e-9)


def test_odd_tables():
    """A constant column, a single row."""
    rows = Table.from_frame({"x": ["a", "b", "a", "b"], "same": ["c"] * 4})
    assert ib_em(latent_dag(rows), rows, PRIOR, {"class": 2}, seed=0).gamma == 1
    one = Table.from_frame({"x": ["a"], "y": ["b"]})
    with pytest.raises(DataError, match="2 states, but there is only 1 case;"):
        ib_em(latent_dag(one), one, PRIOR, {"class": 2})


def test_stopped_early_is_the_best_so_far():
    steps = []

    def listen(step):
        steps.append(step)
        return len(steps) < 4

    found = ib_em(latent_dag(PLANS), PLANS, hidden={"class": 4}, seed=1, progress=listen)
    assert found.stopped == "asked to stop"
    assert found.gamma < 1
    assert found.n_states == {"class": 4}
    assert np.isfinite(found.network.log_likelihood(PLANS))


@pytest.mark.parametrize("several", [False, True])
def test_the_order_of_columns_and_their_names_do_not_matter(several):
    """Not in a single digit; and what is found comes in the order that was asked for."""
    _, rows = classes(3, 8, 400)
    names = list(rows.names)
    arcs = [("A" if several and i % 2 else "class", name) for i, name in enumerate(names)]
    hidden = {"class": 3}
    if several:
        arcs, hidden = [("class", "A"), *arcs], {"class": 3, "A": 2}
    ends = []
    for nodes in ([*hidden, *names], [*reversed(names), *reversed(hidden)]):
        dag = DAG(nodes, arcs)
        table = rows.select(name for name in nodes if name in rows)
        found = ib_em(dag, table, PRIOR, hidden, seed=0)
        assert found.network.names == tuple(nodes)
        assert found.hidden == tuple(name for name in nodes if name in hidden)
        assert found.n_states == hidden
        assert found.course[-1].n_states == tuple(hidden[name] for name in found.hidden)
        ends.append(found)
    one, other = ends
    assert one.objective == other.objective
    assert [p.log_likelihood for p in one.course] == [p.log_likelihood for p in other.course]
    for name in nodes:
        assert np.array_equal(one.network.cpd(name).values, other.network.cpd(name).values)
    if not several:
        short = {name: f"q{len(names) - i}" for i, name in enumerate(names)}
        renamed = [Variable(short[n], rows.variable(n).states) for n in names]
        table = Table(renamed, [rows.column(n) for n in names])
        again = ib_em(latent_dag(table), table, PRIOR, hidden, seed=0)
        assert again.objective == one.objective


def test_without_time_the_columns_have_their_shares():
    """What is given back is not what EM was to start from."""
    alone = sum(
        PLANS.select([name]).total_weight * np.log(share) * share
        for name in PLANS.names
        for share in _shares(name)
    )
    found = ib_em(latent_dag(PLANS), PLANS, hidden={"class": 2}, seed=1, time_limit=0)
    assert found.stopped == "time limit"
    assert found.log_likelihood == pytest.approx(alone, rel=1e-4)


def _shares(name):
    counts = np.bincount(PLANS.column(name), weights=PLANS.weights)
    return counts / counts.sum()


def test_progress_tells_of_gamma():
    told = []
    ib_em(
        latent_dag(PLANS), PLANS, hidden={"class": 2}, seed=1,
        progress=Ticker(lambda step: told.append(step)),
    )  # fmt: skip
    details = [step.detail for step in told if step.detail]
    assert details[-1].startswith("gamma 1.000, 2 states, I(T;Y) ")


def test_labels_and_order():
    """The largest state first, under the labels of the variable that was given."""
    kind = Variable("class", ["big", "small"], hidden=True)
    found = ib_em(latent_dag(PLANS), PLANS, hidden={"class": kind}, seed=1)
    assert found.network.variable("class").labels == ("big", "small")
    shares = found.network.cpd("class").values
    assert shares[0] >= shares[1]


BAD = [
    ({"hidden": {"klass": 2}}, "the structure has no such variable. Did you mean 'class'"),
    ({"hidden": {"SEX": 2}}, "the table has a column of that name"),
    ({"hidden": {"class": 1}}, "a whole number of states from 2, got 1"),
    ({"hidden": {"class": 2.5}}, "a whole number of states from 2, got 2.5"),
    ({"hidden": {"class": 20_000}}, "only 10,318 cases"),
    ({}, "has no column 'class'"),
    ({"hidden": {"class": 2}, "posterior": "exakt"}, "Did you mean 'exact'"),
    ({"hidden": {"class": 2}, "end": 0}, "above 0 and at most 1, got 0"),
    ({"hidden": {"class": 2}, "compare": -1}, "got -1"),
    ({"hidden": {"class": 2}, "compare": 2.5}, "a number of random starts, or 0 for none; got 2.5"),
    ({"hidden": {"class": 2}, "max_iterations": 0}, "a whole number from 1, got 0"),
    ({"hidden": {"class": 2}, "tolerance": -1.0}, "0 or more; got -1.0"),
    ({"hidden": {"class": 2}, "tolerance": float("nan")}, "0 or more; got nan"),
    ({"hidden": {"class": 2}, "continuation": {"rounds": 1}}, "an unveil.bottleneck.Continuation"),
    ({"hidden": {"class": 2}, "held_out": 2}, "got 2"),
    (
        {"hidden": {"class": 2}, "compression": DAG(["x"])},
        "a graph over the hidden variables class",
    ),
    ({"hidden": {"class": None}, "max_states": 1}, "a whole number from 2, got 1"),
]


@pytest.mark.parametrize(("options", "sentence"), BAD)
def test_sentences(options, sentence):
    with pytest.raises(DataError, match=sentence.replace("(", r"\(")):
        ib_em(latent_dag(PLANS), PLANS, **options)


def test_nothing_hidden():
    with pytest.raises(DataError, match="nothing is hidden"):
        ib_em(DAG(PLANS.names), PLANS)


def test_a_hidden_leaf():
    dag = DAG(["h", *PLANS.names], [("SEX", "h")])
    with pytest.raises(DataError, match="'h' has no children"):
        ib_em(dag, PLANS, hidden={"h": 2})


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("direction", "left"),
        ("splits", "x"),
        ("steps", "y"),
        ("kick", 0),
        ("rounds", -1),
        ("noise", -0.1),
        ("exchanges", -1),
        ("n_steps", 0),
    ],
)
def test_settings_are_checked(option, value):
    with pytest.raises(DataError, match=option):
        Continuation(**{option: value})
