"""Constraints, places, starts and other scores: what is asked for holds in all that is found."""

import numpy as np
import pytest

from unveil import DAG, Table, Variable, datasets, discover
from unveil.discovery import Settings, discover_networks
from unveil.errors import DataError, ModelError
from unveil.score import ArcPenalty
from unveil.search import Constraints

PLANS = datasets.table("college_plans")
CASE = Constraints(no_parents=["SEX", "SES"], no_children=["CP"])
QUICK = Settings(max_hidden=1, max_candidates=6, max_adapted=2, max_polished=1, restarts=1)


def five_of_one_mood(n_rows=800, seed=7):
    generator = np.random.default_rng(seed)
    mood = generator.integers(0, 2, n_rows)
    odds = np.where(mood == 1, 0.85, 0.2)
    return Table(
        [Variable(n, ["no", "yes"]) for n in "abcde"],
        [(generator.random(n_rows) < odds).astype(int) for _ in "abcde"],
    )


MOOD = five_of_one_mood()


def test_the_case_study_of_the_lecture():
    """004, slides 17 and 18: -45652.73 without, and 2 x 10^10 times more likely with H.

    H leads to SES and IQ in the place of the arc between them; the others stay.
    """
    settings = Settings(
        constraints=CASE, equivalent_sample_size=5.0, adapt="em", places=[("SES", "IQ")],
        n_states=2, max_hidden=1, max_candidates=1,
    )  # fmt: skip
    found = discover_networks(PLANS, settings, seed=1, n_jobs=1)
    assert found.baseline_score == pytest.approx(-45652.73, abs=0.01)
    best = max(c.gain for r in found.rounds for c in r.candidates)
    assert found.baseline_score + best == pytest.approx(-45628.3, abs=1.0)
    assert 1e10 < np.exp(best) < 1e11


def test_no_column_leads_to_another_through_a_hidden_one():
    limits = CASE.with_hidden(["H1"]).rules([*PLANS.names, "H1"])
    place = {n: i for i, n in enumerate([*PLANS.names, "H1"])}
    assert limits.allowed[place["SES"]].nonzero()[0].tolist() == [place["H1"]]
    assert not limits.allowed[place["H1"]].any()
    assert not limits.allowed[:, place["CP"]].any()
    tiers = Constraints(tiers=[["SEX", "SES"], ["IQ", "PE"], ["CP"]]).with_hidden(["H1"])
    above = tiers.rules([*PLANS.names, "H1"]).allowed[place["H1"]]
    assert [n for n in PLANS.names if above[place[n]]] == ["SEX", "SES"]
    free = Constraints(forbidden=[("IQ", "SES")])
    assert free.with_hidden(["H1"]) is free


@pytest.mark.parametrize(
    "limits",
    [
        Constraints(required=[("d", "a")], forbidden=[("a", "b"), ("b", "a")]),
        Constraints(tiers=[["c", "d"], ["a", "b"]], no_children=["b"]),
        Constraints(no_parents=["a", "c"], max_parents=2),
    ],
    ids=["arcs", "tiers", "roots"],
)
@pytest.mark.parametrize("gaps", [False, True], ids=["complete", "gaps"])
def test_every_network_keeps_to_the_constraints(limits, gaps):
    table = MOOD.knock_out(0.05, seed=1) if gaps else MOOD
    found = discover_networks(table, Settings(**vars(QUICK) | {"constraints": limits}), seed=1)
    tried = [c for r in found.rounds for c in r.candidates]
    networks = [found.baseline, found.network]
    networks += [c.network for c in tried if hasattr(c, "network")]
    for network in networks:
        unseen = [n for n in network.names if n not in table]
        rules = limits.with_hidden(unseen).rules(network.names)
        for parent, child in network.dag.arcs:
            x, y = network.names.index(parent), network.names.index(child)
            assert rules.allowed[y, x]
    for network in networks[:2]:
        assert all(network.dag.has_arc(*arc) for arc in limits.required)


@pytest.mark.parametrize("score", ["bic", "mdl"])
def test_discovery_under_penalised_likelihoods(score):
    settings = Settings(**vars(QUICK) | {"score": score, "max_luck": 0.1})
    found = discover_networks(MOOD, settings, seed=1, n_jobs=1)
    assert found.hidden == ("H1",)
    assert len(found.network.dag.children("H1")) == 5
    assert found.score == pytest.approx(found.settings.score_of(found.network, MOOD), abs=0.01)


def test_a_dear_structure_prior_leaves_fewer_arcs():
    dear = Settings(**vars(QUICK) | {"structure_prior": ArcPenalty(1000.0)})
    found = discover_networks(MOOD, dear, seed=1, n_jobs=1)
    assert found.network.dag.n_arcs == 0
    assert found.score == pytest.approx(dear.score_of(found.network, MOOD))


def test_a_network_with_hidden_variables_is_gone_on_from():
    first = discover_networks(MOOD, QUICK, seed=1, n_jobs=1)
    assert first.hidden
    again = Settings(**vars(QUICK) | {"start": first.network})
    found = discover_networks(MOOD, again, seed=1, n_jobs=1)
    assert found.hidden == first.hidden
    assert found.rounds == ()
    assert found.score == pytest.approx(first.score, abs=0.5)


def test_places_are_tried_first_and_starts_are_heard():
    asked = Settings(**vars(QUICK) | {"places": [("b", "d")], "max_candidates": 1})
    found = discover_networks(MOOD, asked, seed=1, n_jobs=1)
    assert ("b", "d") in {c.place.nodes for r in found.rounds for c in r.candidates}
    start = DAG(MOOD.names, [("a", "b"), ("c", "d")])
    assert Settings(start=start).first_graph == start


def test_what_is_not_about_the_table_is_refused():
    with pytest.raises(ModelError, match="a constraint names 'x'"):
        discover(MOOD, constraints=Constraints(no_parents=["x"]))
    with pytest.raises(DataError, match="the settings name 'x', but the columns are a, b, c, d, e"):
        discover(MOOD, places=[("a", "x")])
    with pytest.raises(DataError, match="a place is two columns or more, got a"):
        discover(MOOD, places=[("a",)])
    with pytest.raises(DataError, match="the start has no variable 'e'"):
        discover(MOOD, start=DAG(list("abcd")))
    with pytest.raises(DataError, match=r"there is no score 'bicc'.*Did you mean 'bic'"):
        discover(MOOD, score="bicc")
