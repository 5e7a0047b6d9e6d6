"""The page of a discovery: what users look for is on it, and it does not contradict itself."""

import re
from dataclasses import replace

import numpy as np
import pytest

from unveil import Table, Variable
from unveil.discovery import Settings, Verdict, discover
from unveil.evaluate import usual_bic
from unveil.report import discover_page
from unveil.report.states_part import best_by_states
from unveil.report.tried_part import distinct

QUICK = Settings(max_hidden=1, max_candidates=3, max_adapted=2, max_polished=2, restarts=1)


@pytest.fixture(scope="module")
def rows():
    generator = np.random.default_rng(7)
    hidden = generator.integers(3, size=900)
    columns = [
        np.where(generator.random(900) < 0.8, hidden, generator.integers(3, size=900))
        for _ in range(4)
    ]
    variables = [Variable(n, ["low", "mid", "top"]) for n in "abcd"]
    names = Variable("who", [f"p{i:03}" for i in range(900)])
    truth = Variable("truth", ["x", "y", "z"])
    return Table([names, *variables, truth], [np.arange(900), *columns, hidden])


@pytest.fixture(scope="module")
def report(rows):
    return discover(
        rows, id="who", compare=["truth"], settings=QUICK, seed=1, resamples=1, n_jobs=1
    )


@pytest.fixture(scope="module")
def html(report):
    return discover_page(report, "t.csv").html()


def text(html):
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def test_the_sections_are_those_that_users_look_for(html):
    assert re.findall(r"<h2>(.*?)</h2>", html) == [
        "Before and after",
        "H1: is it warranted?",
        "H1: what does it mean?",
        "H1 beside truth",
        "H1: how many states?",
        "Arcs, strongest first",
        "Compared with simpler explanations",
        "Everything that was tried",
        "How it was done",
    ]


def test_every_state_has_a_profile_of_every_neighbour(report, html):
    (chart,) = re.findall(r'<svg[^>]*class="chart profiles".*?</svg>', html, re.S)[:1]
    meaning = report.meaning["H1"]
    for name in "abcd":
        share = meaning.values[name][0, 0]
        assert f"<title>{name} = low: {share:.1%}, overall" in chart
    order = [chart.index(f">{n}</text>") for n in meaning.information]
    assert order == sorted(order)
    for values in meaning.values.values():
        np.testing.assert_allclose(values.sum(axis=1), 1)


def test_the_tables_of_the_variable_and_its_children_are_there(report, html):
    assert "<summary>P(H1)" in html
    for child in report.network.dag.children("H1"):
        assert f"<summary>P({child} | " in html


def test_before_and_after_mark_what_changed(report, html):
    assert html.count('class="arc marked"') == len(report.network.dag.neighbours("H1"))
    assert html.count('class="arc gone"') == report.discovery.baseline.dag.n_arcs
    assert "New: H1 → a" in text(html)
    assert "Gone: " in text(html)


def test_strength_is_in_bits_that_people_can_read(html):
    assert "strength (bits)" in html
    assert "bits less to describe with H1 than without" in text(html)
    assert not re.search(r"\de\+\d", text(html))


def test_arcs_are_worth_what_the_completed_rows_say(report):
    arcs = report.arcs()
    assert {(a.parent, a.child) for a in arcs} == set(report.network.dag.arcs)
    assert min(a.loss for a in arcs) > 0


def test_the_number_of_states_is_where_the_curve_says(report, html):
    (first, *_) = report.discovery.rounds
    best = best_by_states(first)
    looked = (Verdict.FITTED, Verdict.FITTED_ANEW)
    assert not any(c.verdict in looked for c in best.values())
    assert max(best, key=lambda k: best[k].gain) == first.kept.n_states == 3
    assert "3 states score best." in html
    start = html.index("how many states?</h2>")
    curve = html[start : html.index("</svg>", start)]
    marked = re.findall(r'class="marked".*?<title>(.*?)</title>', curve)
    assert len(marked) == 1
    assert marked[0].startswith("states 3: ")
    assert "states 1: 0<" in curve


def test_another_number_of_states_is_explained(report):
    (first, *_) = report.discovery.rounds
    kept = first.kept
    rival = replace(kept, network=kept.network, verdict=Verdict.PREDICTS_NO_BETTER)
    rival = replace(rival.refused(rival.verdict), n_states=4, gain=kept.gain + 5, predicted=-1.0)
    other = replace(first, candidates=(*first.candidates, rival))
    told = replace(report, discovery=replace(report.discovery, rounds=(other,)))
    words = text(discover_page(told, "t").html())
    assert (
        "4 states score 5.0 nats more, but such a variable does not predict left-out rows better."
    ) in words
    tied = replace(rival, gain=kept.gain + 0.5, predicted=kept.predicted - 1, verdict="x")
    tied = replace(tied, verdict=Verdict.OUTDONE)
    other = replace(first, candidates=(*first.candidates, tied))
    told = replace(report, discovery=replace(report.discovery, rounds=(other,)))
    words = text(discover_page(told, "t").html())
    assert "4 states score 0.5 nats more, which is a tie" in words


def test_candidates_that_are_alike_are_listed_once(report, html):
    (first, *_) = report.discovery.rounds
    once = distinct(first.candidates)
    assert sum(times for _, times in once) == len(first.candidates)
    assert len(once) < len(first.candidates)
    kinds = [(frozenset(c.children), c.n_states, round(c.gain), c.verdict) for c, _ in once]
    assert len(kinds) == len(set(kinds))
    assert any(c is first.kept for c, _ in once)
    assert f"{len(first.candidates)} candidates in " in html


def test_typical_rows_have_their_names(report, html):
    who = report.meaning["H1"].profiles[0].typical_rows[0]
    assert f"<td>p{who:03}</td>" in html
    assert '<th scope="col">who</th>' in html


def test_the_column_kept_out_is_compared(report, html):
    assert report.agreements[0].words in text(html)
    assert "Cases by most probable state of H1 and value of truth" in html


def test_bic_is_on_the_usual_scale_beside_the_score(report, html):
    assert f"{usual_bic(report.network, report.table):,.1f}" in html
    assert f"{report.discovery.score:,.1f}" in html


def test_a_time_limit_is_told_at_the_top(report):
    stopped = replace(report, stopped="time limit")
    html = discover_page(stopped, "t").html()
    assert '<p class="notice">Stopped by the time limit' in html
    assert html.index('class="notice"') < html.index('class="facts"')
    assert "notice" not in discover_page(report, "t").html().split("</style>")[1]


def test_without_hidden_variables_the_page_says_the_headline(report):
    nothing = discover(report.table, settings=QUICK, seed=1, time_limit=0.0)
    html = discover_page(nothing, "t").html()
    assert nothing.headline in html
    assert "The network of what was observed" in html
