"""Discovery end to end on tables whose hidden variables are known."""

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from unveil import DAG, EquivalentSampleSize, Network, Table, TableCPD, Variable, learn
from unveil.discovery import Candidate, Refused, Verdict, call, check, phases
from unveil.discovery.baseline import best_graph, learn_without, n_restarts
from unveil.discovery.meaning import meaning_of
from unveil.discovery.memory import rounds_as_json, rounds_from_json
from unveil.discovery.procedure import discover_networks
from unveil.discovery.redundancy import redundancy
from unveil.discovery.settings import Settings
from unveil.em import cheeseman_stutz
from unveil.errors import DataError, FormatError, SizeError, UnveilError
from unveil.evaluate import log_loss
from unveil.hidden import find_semi_cliques
from unveil.model import fit
from unveil.progress import Ticker
from unveil.score import BDeu, FamilyScores

QUICK = Settings(max_hidden=1, max_candidates=4, max_adapted=2, max_polished=1, restarts=1)


def naive_rows(n_rows, seed, n_children=5, n_states=3, names="abcdefgh"):
    """A hidden root with children that copy it with probability 0.8, and its states."""
    generator = np.random.default_rng(seed)
    hidden = generator.integers(n_states, size=n_rows)
    columns = []
    for _ in range(n_children):
        noise = generator.integers(n_states, size=n_rows)
        columns.append(np.where(generator.random(n_rows) < 0.8, hidden, noise))
    variables = [Variable(n, range(n_states)) for n in names[:n_children]]
    return Table(variables, columns), hidden


@pytest.fixture(scope="module")
def found():
    """A discovery on 5000 rows of a hidden root with five children and two bystanders."""
    table, hidden = naive_rows(5000, 7)
    generator = np.random.default_rng(1)
    y = generator.integers(2, size=5000)
    z = np.where(generator.random(5000) < 0.9, y, 1 - y)
    table = table.with_column(Variable("y", [0, 1]), y).with_column(Variable("z", [0, 1]), z)
    return table, hidden, discover_networks(table, QUICK, seed=1, n_jobs=1)


def test_the_graph_without_the_root_has_its_children_in_a_semi_clique(found):
    """Proposition 4.1.1: without their parent, the children are linked to one another."""
    table, _, _ = found
    cliques = find_semi_cliques(learn(table, BDeu(1.0), "tabu").dag)
    assert set("abcde") <= set(cliques[0].nodes)


def test_the_hidden_root_is_found_with_its_children_and_states(found):
    table, hidden, discovery = found
    assert discovery.hidden == ("H1",)
    assert set(discovery.network.dag.neighbours("H1")) == set("abcde")
    assert discovery.network.variable("H1").n_states == 3
    posterior = discovery.network.posterior(table, of="H1")["H1"]
    assert adjusted_rand_score(hidden, posterior.argmax(axis=1)) > 0.8
    assert discovery.network.dag.adjacent("y", "z")


def test_gains_are_differences_of_scores_and_predict_unseen_rows(found):
    table, _, discovery = found
    prior = EquivalentSampleSize(1.0)
    score = cheeseman_stutz(discovery.network, table, prior)
    assert discovery.score == pytest.approx(score, abs=1e-6)
    assert discovery.baseline_score == pytest.approx(
        FamilyScores(table, BDeu(1.0)).total(discovery.baseline.dag)
    )
    assert discovery.gain == pytest.approx(discovery.rounds[0].kept.gain, abs=1e-6)
    test = discovery.network.sample(2000, seed=5).without("H1")
    assert log_loss(discovery.network, test).bits < log_loss(discovery.baseline, test).bits
    assert discovery.stopped == "converged"
    assert discovery.seed == 1


def test_every_candidate_is_reported_with_a_verdict(found):
    _, _, discovery = found
    candidates = discovery.rounds[0].candidates
    assert discovery.rounds[0].kept in candidates
    assert all(isinstance(c.verdict, Verdict) and c.words for c in candidates)
    assert [c for c in candidates if c.verdict is Verdict.KEPT] == [discovery.rounds[0].kept]
    gains = [c.gain for c in candidates if isinstance(c, Candidate)]
    assert gains == sorted(gains, reverse=True)


def test_independent_columns_warrant_nothing(random_seed):
    generator = np.random.default_rng(random_seed)
    columns = list(generator.integers(3, size=(6, 800)))
    table = Table([Variable(n, range(3)) for n in "abcdef"], columns)
    discovery = discover_networks(table, QUICK, seed=0, n_jobs=1)
    assert discovery.hidden == ()
    assert discovery.network is discovery.baseline
    assert discovery.gain == 0.0


def test_a_chain_without_hidden_variables_warrants_nothing(random_seed):
    generator = np.random.default_rng(random_seed)
    columns = [generator.integers(2, size=1500)]
    for _ in range(5):
        flip = generator.random(1500) < 0.2
        columns.append(np.where(flip, 1 - columns[-1], columns[-1]))
    table = Table([Variable(n, [0, 1]) for n in "abcdef"], columns)
    assert discover_networks(table, QUICK, seed=0, n_jobs=1).hidden == ()


def test_the_same_seed_gives_the_same_result_whatever_the_number_of_workers():
    table, _ = naive_rows(800, 3, n_children=4)
    one, again, two = (discover_networks(table, QUICK, seed=4, n_jobs=n) for n in (1, 1, 2))
    assert one.network == again.network == two.network
    assert [c.gain for c in one.rounds[0].candidates] == [c.gain for c in two.rounds[0].candidates]


def test_missing_cells_are_fine():
    table, _ = naive_rows(1500, 2, n_children=4)
    holes = table.knock_out(0.05, seed=1)
    discovery = discover_networks(holes, QUICK, seed=1, n_jobs=1)
    assert set(discovery.network.dag.neighbours("H1")) == set("abcd")
    assert discovery.gain > 20


def test_two_hidden_roots_come_out_one_by_one():
    first, _ = naive_rows(2000, 5, n_children=4)
    second, _ = naive_rows(2000, 6, n_children=4, n_states=2, names="wxyz")
    table = first
    for name in "wxyz":
        table = table.with_column(second.variable(name), second.column(name))
    settings = Settings(max_hidden=3, max_candidates=4, max_adapted=2, max_polished=1, restarts=1)
    discovery = discover_networks(table, settings, seed=1, n_jobs=1)
    assert discovery.hidden == ("H1", "H2")
    places = {frozenset(discovery.network.dag.neighbours(h)) for h in discovery.hidden}
    assert places == {frozenset("abcd"), frozenset("wxyz")}
    assert discovery.rounds[0].kept.gain > discovery.rounds[1].kept.gain
    assert discovery.rounds[2].kept is None


def test_it_can_start_from_what_was_found(found):
    table, _, discovery = found
    again = discover_networks(table, QUICK, earlier=discovery.rounds)
    assert again.network is discovery.network
    assert again.baseline is discovery.baseline
    assert again.rounds == discovery.rounds
    assert again.score == pytest.approx(discovery.score)


def test_rounds_survive_as_json(found):
    table, _, discovery = found
    records = json.loads(json.dumps(rounds_as_json(discovery.rounds)))
    (there,), (back,) = discovery.rounds, rounds_from_json(records, table, discovery.seed)
    assert (back.before, back.score_before) == (there.before, there.score_before)
    assert back.kept.network == there.kept.network
    assert back.kept in back.candidates
    np.testing.assert_array_equal(back.kept.agglomeration.merges, there.kept.agglomeration.merges)
    for a, b in zip(back.candidates, there.candidates, strict=True):
        assert (a.name, a.children, a.n_states, a.gain, a.words, a.place, a.refined) == (
            b.name, b.children, b.n_states, b.gain, b.words, b.place, b.refined
        )  # fmt: skip
        assert a.verdict is b.verdict
        assert a.predicted == b.predicted or np.isnan([a.predicted, b.predicted]).all()
    strange = [{**records[0]["candidates"][0], "verdict": "splendid"}]
    wrong = ({"kept": 10_000}, {"network": None}, {"candidates": strange})
    for damaged in ([{}], [None], 7, *([{**records[0], **of}] for of in wrong)):
        with pytest.raises(FormatError):
            rounds_from_json(damaged, table, 1)


def test_a_fixed_number_of_states_is_kept():
    table, _ = naive_rows(1500, 3, n_children=5, n_states=2)
    settings = Settings(n_states=2, max_hidden=1, max_candidates=3, max_adapted=2, restarts=1)
    discovery = discover_networks(table, settings, seed=1, n_jobs=1)
    assert discovery.network.variable("H1").n_states == 2


def test_a_listener_may_stop_it_with_the_best_so_far():
    table, _ = naive_rows(1000, 3, n_children=4)
    phases = []

    def listener(step):
        phases.append(step.phase)
        return "adapting" not in step.phase

    discovery = discover_networks(table, QUICK, seed=1, progress=listener, n_jobs=1)
    assert discovery.stopped == "asked to stop"
    assert discovery.hidden == ("H1",)
    assert any("first look" in p for p in phases)


def test_no_time_gives_the_network_without():
    table, _ = naive_rows(500, 3, n_children=4)
    discovery = discover_networks(table, QUICK, seed=1, time_limit=0.0, n_jobs=1)
    assert discovery.stopped == "time limit"
    assert discovery.hidden == ()


def test_redundant_hidden_variables_are_named():
    h = Variable("H", [0, 1], hidden=True)
    x, y = Variable("x", [0, 1]), Variable("y", [0, 1])
    same, steep = [[0.3, 0.7], [0.3, 0.7]], [[0.9, 0.1], [0.2, 0.8]]
    root, loose = TableCPD(h, [], [0.5, 0.5]), TableCPD(y, [], [0.5, 0.5])
    twins = Network([root, TableCPD(x, [h], same), TableCPD(y, [h], same)])
    assert "states 0 and 1 are the same" in redundancy(twins, "H")
    single = Network([root, TableCPD(x, [h], steep), loose])
    assert "linked to a single variable" in redundancy(single, "H")
    one = Variable("H", [0], hidden=True)
    constant = Network([TableCPD(one, [], [1.0]), TableCPD(x, [one], [[0.5, 0.5]]), loose])
    assert "a single state" in redundancy(constant, "H")
    good = Network([root, TableCPD(x, [h], steep), TableCPD(y, [h], steep)])
    assert redundancy(good, "H") == ""


def test_continuous_and_narrow_tables_are_refused():
    variables = [Variable("a"), Variable("b", [0, 1]), Variable("c", [0, 1])]
    table = Table(variables, [np.ones(4), [0, 1, 0, 1], [0, 0, 1, 1]])
    with pytest.raises(DataError, match="'a' are continuous"):
        discover_networks(table)
    with pytest.raises(DataError, match="at least three columns, got 2"):
        discover_networks(table.without("a"))


def test_restarts_never_lower_the_score_and_keep_the_order(random_seed):
    from unveil import datasets

    table = datasets.network("insurance").sample(400, seed=random_seed)
    scores = FamilyScores(table.select(sorted(table.names)), BDeu(1.0))
    plain = best_graph(table, Settings(), 0, 0)
    more = best_graph(table, Settings(), 6, 0)
    assert scores.total(more) >= scores.total(plain) - 1e-9
    assert more.nodes == table.names
    assert n_restarts(table, 20) == 20


def test_the_network_without_gets_the_same_chance(found):
    table, _, discovery = found
    prior = EquivalentSampleSize(1.0)
    rival = learn_without(discovery.network, ["H1"], table, Settings(), 0, Ticker())
    assert set(rival.names) == set(table.names)
    assert cheeseman_stutz(rival, table, prior) < discovery.score
    gaps = table.take(np.arange(500)).knock_out(0.02, seed=1)
    with_gaps = learn_without(discovery.network, ["H1"], gaps, Settings(), 0, Ticker())
    assert set(with_gaps.names) == set(table.names)


def test_a_poor_baseline_is_replaced_before_anything_is_claimed():
    """A baseline without arcs would credit a hidden variable with what a search can do."""
    table, _ = naive_rows(600, 3, n_children=4)
    prior = EquivalentSampleSize(1.0)
    empty = fit(DAG(table.names), table, prior)
    discovery = discover_networks(table, QUICK, baseline=empty, seed=1, n_jobs=1)
    assert discovery.baseline_score > cheeseman_stutz(empty, table, prior) + 10


@pytest.mark.parametrize("adapt", ["em", "blanket", "full"])
def test_at_most_so_many_parents(adapt):
    from unveil import datasets

    names = ["Age", "SocioEcon", "RiskAversion", "HomeBase", "AntiTheft", "GoodStudent"]
    table = datasets.network("insurance").sample(300, seed=1).select(names)
    settings = replace(QUICK, max_parents=1, adapt=adapt)
    discovery = discover_networks(table, settings, seed=1, n_jobs=1)
    for round_ in discovery.rounds:
        for c in round_.candidates:
            if isinstance(c, Candidate):
                assert max(len(c.network.dag.parents(n)) for n in c.network.names) < 2


def test_an_earlier_hidden_variable_keeps_a_child():
    table, _ = naive_rows(1500, 2, n_children=5, n_states=4)
    first = discover_networks(table, replace(QUICK, n_states=2), seed=1, n_jobs=1)
    settings = replace(QUICK, max_hidden=2)
    again = discover_networks(table, settings, earlier=first.rounds, seed=1, n_jobs=1)
    assert first.hidden == ("H1",)
    assert all(again.network.dag.children(h) for h in again.hidden)


def test_stopped_against_a_better_rival_the_best_so_far_stays():
    table, _ = naive_rows(600, 3, n_children=4)
    poor = fit(DAG(table.names), table, EquivalentSampleSize(1.0))
    stopped = discover_networks(
        table, QUICK, baseline=poor, seed=1, n_jobs=1,
        progress=lambda step: "adapting" not in step.phase,
    )  # fmt: skip
    assert stopped.hidden == ("H1",)
    assert stopped.baseline.dag.n_arcs > 0
    score = cheeseman_stutz(stopped.network, table, EquivalentSampleSize(1.0))
    assert stopped.score == pytest.approx(score, abs=1e-6)


def test_columns_marked_as_hidden_are_refused():
    table, _ = naive_rows(50, 3, n_children=4)
    with pytest.raises(DataError, match="'a' are marked as hidden; leave them out"):
        discover_networks(table.hide("a"))


@pytest.mark.parametrize("weights", [[1.0], [0, 1], [1, 1, 0, 1, 0, 0], [1000.5], [0.5] * 6])
def test_few_cases_and_odd_weights_come_through(weights):
    from unveil import discover

    table, _ = naive_rows(len(weights), 3, n_children=4)
    report = discover(table.with_weights(weights), settings=QUICK, seed=1, resamples=1)
    assert report.hidden == ()
    assert "No hidden variable is warranted" in report.summary


def test_with_gaps_too_em_leaves_the_graph_as_constructed():
    table, _ = naive_rows(1500, 2, n_children=5)
    copied = np.random.default_rng(1).random(1500) < 0.5
    column = np.where(copied, table.column("a"), table.column("b"))
    holes = table.with_column(table.variable("b"), column).knock_out(0.05, seed=1)
    settings = replace(QUICK, adapt="em")
    discovery = discover_networks(holes, settings, seed=1, n_jobs=1)
    candidates = [c for r in discovery.rounds for c in r.candidates if isinstance(c, Candidate)]
    assert candidates
    for c in candidates:
        inside = set(c.place.nodes)
        assert not any({p, q} <= inside for p, q in c.network.dag.arcs)
    assert any(c.filled_in and "gaps filled in" in c.words for c in candidates)
    prior = EquivalentSampleSize(1.0)
    for c in candidates:
        if not c.filled_in:
            gain = cheeseman_stutz(c.network, holes, prior) - discovery.rounds[0].score_before
            assert c.gain == pytest.approx(gain, abs=1e-6)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"n_states": 1}, "n_states must be at least 2, got 1"),
        ({"max_hidden": 0}, "max_hidden must be at least 1, got 0"),
        ({"restarts": -1}, "restarts must be at least 0, got -1"),
        ({"adapt": "magic"}, "adapt is one of em, blanket, full, not 'magic'"),
        ({"equivalent_sample_size": 0.0}, "must be a positive number, got 0.0"),
    ],
)
def test_settings_that_make_no_sense(wrong, words):
    with pytest.raises(UnveilError, match=words):
        Settings(**wrong)


def test_time_that_is_up_leaves_evidence_for_what_was_found(monkeypatch):
    table, _ = naive_rows(500, 3, n_children=4)
    found = discover_networks(table, QUICK, seed=1, n_jobs=1)
    limits = []

    def at_once(*given):
        limits.append(given[5].time_left())
        return found

    monkeypatch.setattr(call, "discover_networks", at_once)
    report = call.discover(table, time_limit=0.0, seed=1)
    assert list(report.evidence) == list(report.hidden) == ["H1"]
    assert not report.straw_men
    call.discover(table, time_limit=100.0, evidence=False, straw_men=False)
    call.discover(table, time_limit=100.0, resamples=0, straw_men=False)
    assert limits == pytest.approx([0.0, 100.0, 80.0], rel=0.01)


def test_columns_of_the_table_are_not_overwritten_by_posteriors(found):
    table, _, discovery = found
    renamed = table.with_column(table.variable("a").renamed("P(H1=0)"), table.column("a"))
    report = call.DiscoveryReport(
        discovery, {}, {"H1": meaning_of(discovery.network, table, "H1")}, (), renamed
    )
    names = report.posteriors().names
    assert names[: len(renamed.names)] == renamed.names
    assert {"P(H1=0)'", "P(H1=1)"} <= set(names)


@pytest.mark.parametrize(
    ("module", "step"),
    [
        (phases, "started"),
        (phases, "adapted"),
        (phases, "first_look"),
        (phases, "adapt_candidate"),
        (check, "with_gaps"),
    ],
)
def test_what_is_too_large_is_given_up_and_listed(monkeypatch, module, step):
    """The others go on."""
    table, _ = naive_rows(400, 3, n_children=4)
    real, calls = getattr(module, step), []

    def sometimes(*arguments):
        calls.append(arguments)
        if len(calls) % 2:
            raise SizeError("too large")
        return real(*arguments)

    monkeypatch.setattr(module, step, sometimes)
    discovery = discover_networks(table, replace(QUICK, restarts=4), seed=1, n_jobs=1)
    listed = [c for c in discovery.rounds[0].candidates if c.verdict is Verdict.TOO_LARGE]
    assert calls
    assert listed
    assert all(isinstance(c, Refused) for c in listed)
    assert discovery.stopped == "converged"
