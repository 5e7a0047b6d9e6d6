"""Choosing inside of folds: what is sure, what is luck, and what local structure explains."""

import math
from dataclasses import replace

import numpy as np
import pytest

from unveil import Table, Variable
from unveil.discovery import Settings, Verdict, discover_networks
from unveil.discovery import confirm as confirming
from unveil.discovery.afresh import found_afresh, known_of
from unveil.discovery.bench import Bench
from unveil.discovery.candidates import Candidate, Place
from unveil.discovery.confirm import _fairly_without, confirm
from unveil.discovery.confirmation import Confirmation
from unveil.discovery.evidence import Evidence
from unveil.discovery.rivals import RIVALS
from unveil.discovery.starts import Star
from unveil.em import fit_em
from unveil.evaluate.log_loss import LogLoss
from unveil.graph import DAG
from unveil.model import fit
from unveil.progress import Ticker
from unveil.search.learn import learn

QUICK = Settings(max_hidden=1, max_candidates=6, max_adapted=2, max_polished=1, restarts=1)


def binary(columns):
    return Table([Variable(n, [0, 1]) for n in columns], list(columns.values()))


def of_one_mood(n_rows, seed=7, names="abcd"):
    generator = np.random.default_rng(seed)
    odds = np.where(generator.integers(0, 2, n_rows) == 1, 0.85, 0.2)
    return binary({n: (generator.random(n_rows) < odds).astype(int) for n in names})


def with_a_star(table, n_states=2, settings=QUICK):
    """The bench without a hidden variable, and a hidden parent of everything."""
    network = learn(table).network
    bench = Bench.of(network, settings.score_of(network, table), table, settings, 1)
    dag = DAG([*table.names, "H1"], [("H1", n) for n in table.names])
    star = fit_em(dag, table, settings.prior, {"H1": n_states}, n_starts=3, seed=1).network
    gain = settings.score_of(star, table) - bench.score
    return bench, Candidate(place=Place("H1", table.names), network=star, gain=gain)


def test_a_true_one_is_chosen_in_every_fold_and_is_sure():
    bench, candidate = with_a_star(of_one_mood(800))
    found = confirm(bench, [candidate], Ticker(), folds=5)
    assert (found.n_chosen, found.n_folds) == (5, 5)
    assert found.is_sure
    assert not found.is_explained
    low, high = found.interval
    assert low < found.saved.bits < high


def test_folds_gain_no_more_than_all_rows_do():
    bench, candidate = with_a_star(of_one_mood(800))
    poor = confirm(bench, [replace(candidate, gain=1.0)], Ticker(), folds=5)
    assert poor.nats == 1.0
    assert poor.saved.bits > 0


def test_where_there_is_nothing_none_is_chosen_and_nothing_is_saved():
    generator = np.random.default_rng(3)
    coins = binary({n: generator.integers(0, 2, 300) for n in "abcd"})
    bench, candidate = with_a_star(coins)
    found = confirm(bench, [candidate], Ticker(), folds=5)
    assert found.n_chosen == 0
    assert found.saved.bits == 0
    assert not found.is_sure
    assert found.rival is None


def test_rows_left_out_are_predicted_by_what_was_learned_without_them():
    """With the folds made by hand and one finalist, it is the plain paired comparison."""
    table = of_one_mood(400)
    bench, candidate = with_a_star(table)
    found = confirm(bench, [candidate], Ticker(), folds=4)
    assert len(found.saved.per_row) == table.n_rows
    assert found.saved.weights.sum() == table.n_rows


def test_local_structure_that_explains_it_as_well_refuses_it():
    """A parent that matters only when another is on: y copies p1 if s, else p2, else p3 ..."""
    generator = np.random.default_rng(5)
    n = 1500
    columns = {x: generator.integers(0, 2, n) for x in ("s", "t", "p", "q", "r")}
    source = np.where(columns["s"] == 1, columns["p"],
                      np.where(columns["t"] == 1, columns["q"], columns["r"]))  # fmt: skip
    columns["y"] = np.where(generator.random(n) < 0.85, source, 1 - source)
    found = discover_networks(binary(columns), QUICK, seed=1, n_jobs=1)
    assert found.hidden == ()
    words = {c.verdict for c in found.rounds[-1].candidates}
    assert Verdict.KEPT not in words


def test_the_interval_is_wider_than_the_folds_say():
    bits = LogLoss.of(np.array([0.1, 0.3, -0.1, 0.2]), np.ones(4))
    found = Confirmation(bits, 10, 10)
    assert found.error == pytest.approx(bits.standard_error * math.sqrt(1 + 10 / 9))
    low, high = found.interval
    assert high - low == pytest.approx(2 * 1.96 * found.error)
    assert found.luck == pytest.approx(1.645 * found.error, rel=1e-3)
    assert replace(found, max_luck=0.5).luck == pytest.approx(0)


def test_folds_that_differ_more_than_their_rows_widen_the_interval():
    """Student's t for the means of folds, with the same widening; all rows have only two halves."""
    bits = bits_saved(0.1, 0.01)
    rows = Confirmation(bits, 5, 5)
    assert rows.half_width == pytest.approx(1.96 * rows.error)
    folds = replace(rows, by_fold=0.03)
    assert folds.half_width == pytest.approx(2.7764 * 0.03 * math.sqrt(1 + 5 / 4), rel=1e-4)
    assert folds.error == rows.error  # what is decided by is the same
    assert replace(folds, of_all=True).half_width == rows.half_width


def test_how_folds_differ_is_taken_from_their_means():
    bench, candidate = with_a_star(of_one_mood(800))
    found = confirm(bench, [candidate], Ticker(), folds=5)
    means = found.saved.per_row.reshape(5, -1).mean(axis=1)
    assert found.by_fold == pytest.approx(means.std(ddof=1) / math.sqrt(5))
    proof = Evidence(
        "H1", 1.0, "", found.saved, 1.0, 0, found.error, half_width=found.half_width,
        of_graph=found.of_graph,
    )  # fmt: skip
    assert proof.interval == found.interval


def test_the_interval_holds_what_the_graph_of_all_rows_says_too():
    """Folds that find less than all rows do say too little; they decide, but do not stand alone."""
    alone = Confirmation(bits_saved(0.1, 0.2), 10, 10)
    low, high = alone.interval
    more, less = replace(alone, of_graph=0.15), replace(alone, of_graph=0.02)
    assert more.interval == pytest.approx((low, high + 0.05))
    assert less.interval == pytest.approx((low - 0.08, high))
    assert more.is_sure == less.is_sure == alone.is_sure


def test_the_graph_of_all_rows_is_asked_for_its_bits():
    bench, candidate = with_a_star(of_one_mood(800))
    told = replace(candidate, predicted=800 * math.log(2) * 0.25)
    assert confirm(bench, [told], Ticker(), folds=4).of_graph == pytest.approx(0.25)


def bits_saved(mean, spread, n=400):
    """What rows save: `mean` bits each, with that standard deviation."""
    return LogLoss.of(mean + spread * np.tile([-1.0, 1.0], n // 2), np.ones(n))


def test_score_rows_folds_and_rivals_all_have_a_word():
    """Each of them alone can refuse what the others speak for."""
    some, less = bits_saved(0.1, 0.2), bits_saved(-0.001, 0.2)
    sure = Confirmation(some, 10, 10, nats=20.0, lucky_nats=6.0)
    assert sure.is_sure
    assert not sure.is_explained
    assert not replace(sure, nats=-20.0).is_sure
    assert not replace(sure, lucky_nats=30.0).is_sure
    assert not replace(sure, saved=less).is_sure
    assert not replace(sure, n_chosen=5).is_sure
    beside = replace(sure, rival=RIVALS[0], without=some, beyond=some)
    assert beside.is_sure
    explained = replace(beside, beyond=bits_saved(-0.02, 0.2))
    assert not explained.is_sure
    assert explained.is_explained
    assert replace(beside, beyond=less).is_sure  # the rows cannot tell, and the score can
    assert not replace(beside, beyond=less, nats=6.0).is_sure


def test_what_is_gained_is_the_mean_of_both_in_nats():
    found = Confirmation(bits_saved(0.1, 0.2), 10, 10, nats=20.0, lucky_nats=6.0)
    rows = 400 * 0.1 * math.log(2)
    assert found.gained == pytest.approx((20.0 + rows) / 2)
    beside = replace(found, rival=RIVALS[0], without=found.saved, beyond=bits_saved(0.02, 0.2))
    assert beside.gained == pytest.approx((20.0 + rows / 5) / 2)


def test_folds_say_no_more_than_the_graph_that_is_kept():
    """A network that others found in folds would save more than the one of all rows."""
    bench, candidate = with_a_star(of_one_mood(800))
    sure = confirm(bench, [replace(candidate, predicted=1000.0)], Ticker(), folds=5)
    over = sure.saved if sure.beyond is None else sure.beyond
    assert sure.gained == pytest.approx(0.5 * (sure.nats - over.log_likelihood))
    poor = confirm(bench, [replace(candidate, predicted=0.1)], Ticker(), folds=5)
    assert poor.gained == pytest.approx(0.5 * (poor.nats + 0.1))
    assert poor.gained < sure.gained


def test_rows_that_differ_much_ask_for_more():
    """The same gain in score and on rows left out is sure, or luck, by how rows differ in it."""
    alike, apart = (
        Confirmation(bits_saved(0.05, spread), 10, 10, nats=14.0, lucky_nats=6.0)
        for spread in (0.2, 1.2)
    )
    assert alike.gained == pytest.approx(apart.gained)
    assert alike.lucky == 6.0
    assert apart.lucky == pytest.approx(1.645 * apart.saved.total_error, rel=1e-3)
    assert alike.is_sure
    assert not apart.is_sure
    assert replace(apart, max_luck=0.3).is_sure


def test_a_strong_score_needs_rows_left_out_to_agree_only():
    """Ten thousand rows, a gain of 127 nats, and rows left out that alone could not tell."""
    rows = bits_saved(0.002, 0.3, 10_000)
    found = Confirmation(rows, 10, 10, nats=127.0, lucky_nats=6.0)
    assert found.interval[0] < 0
    assert found.is_sure
    assert not replace(found, nats=20.0).is_sure


def test_folds_are_told_where_candidates_ended_and_no_arcs():
    _, candidate = with_a_star(of_one_mood(200))
    elsewhere = replace(candidate, place=Place("H1", ("a", "b")))
    (known,) = known_of([elsewhere, candidate], 12, 1)
    assert known == Place("H1", ("a", "b", "c", "d"))
    assert known_of([elsewhere], 3, 1) == (elsewhere.place,)
    wide = replace(candidate, place=Place("H1", candidate.place.nodes, "cluster"))
    ended, star = known_of([wide], 12, 1)
    assert ended == known
    assert star == Star(wide.place, 2, "cluster", 1)


def test_the_place_alone_leads_to_the_variable_again():
    bench, _ = with_a_star(of_one_mood(800))
    network = found_afresh(bench, [Place("H1", ("a", "b", "c", "d"))], Ticker())
    assert sorted(network.dag.neighbours("H1")) == ["a", "b", "c", "d"]
    assert bench.settings.score_of(network, bench.table) > bench.score + 20


def test_what_the_search_gains_is_no_merit_of_the_variable():
    """Where the network without stopped too early, it is searched for again before comparing."""
    bench, candidate = with_a_star(of_one_mood(400))
    table, settings = bench.table, bench.settings
    poor = fit(DAG(table.names), table, settings.prior)
    poor_bench = Bench.of(poor, settings.score_of(poor, table), table, settings, 1)
    fair = _fairly_without(poor_bench, candidate.network, Ticker())
    assert fair.names == table.names
    assert settings.score_of(fair, table) >= bench.score > poor_bench.score


def test_folds_that_save_nothing_end_it_early():
    generator = np.random.default_rng(3)
    coins = binary({n: generator.integers(0, 2, 100) for n in "abcd"})
    bench, candidate = with_a_star(coins)
    found = confirm(bench, [candidate], Ticker(), folds=10)
    assert found.n_folds == 4
    assert not found.is_sure


def test_folds_that_are_plain_are_enough():
    """Half of them say it with fewer rows; where it is faint, all are asked."""
    bench, candidate = with_a_star(of_one_mood(1000, names="abcdefgh"))
    early = confirm(bench, [candidate], Ticker(), folds=10)
    assert (early.n_chosen, early.n_folds) == (5, 5)
    assert early.is_sure
    assert early.interval[0] > 0
    assert len(early.saved.per_row) == 500
    assert early.gained < candidate.gain
    bench, candidate = with_a_star(of_one_mood(800))
    assert confirm(bench, [candidate], Ticker(), folds=10).n_folds == 10


def test_folds_that_differ_are_not_plain(monkeypatch):
    """Five folds whose interval holds zero are not enough, whatever the score says."""
    bench, candidate = with_a_star(of_one_mood(1000, names="abcdefgh"))
    monkeypatch.setattr(confirming, "_error_by_fold", lambda done: 1.0)
    assert confirm(bench, [candidate], Ticker(), folds=10).n_folds == 10


def test_luck_grows_with_the_places_tried():
    bench, candidate = with_a_star(of_one_mood(200))
    one, forty = (confirm(bench, [candidate], Ticker(), 2, places) for places in (1, 40))
    assert one.lucky_nats == pytest.approx(math.log(20))
    assert forty.lucky_nats == pytest.approx(math.log(40 * 20))
    assert one.nats == forty.nats


def test_stopped_it_says_nothing():
    bench, candidate = with_a_star(of_one_mood(100))
    assert confirm(bench, [candidate], Ticker(time_limit=0.0), folds=3) is None
