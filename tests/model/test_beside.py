"""Parameters of completed rows: the same, whoever counted the columns shown."""

import numpy as np
import pytest

from unveil import DAG, EquivalentSampleSize, Network, TableCPD, Variable, datasets
from unveil.model import beside
from unveil.model.beside import fit_beside
from unveil.model.fit import fit

PRIOR = EquivalentSampleSize(2.0)


@pytest.fixture(scope="module")
def rows():
    """Rows with weights, and with a hidden column filled in twice, each time with a part of it."""
    random = np.random.default_rng(1)
    shown = datasets.network("asia").sample(300, seed=1).with_weights(random.gamma(2.0, size=300))
    twice = shown.take(np.repeat(np.arange(300), 2))
    share = random.random(300)
    weights = twice.row_weights * np.column_stack([share, 1 - share]).ravel()
    hidden = Variable("H", [0, 1], hidden=True)
    return shown, twice.with_column(hidden, np.tile([0, 1], 300)).with_weights(weights)


def graph(shown, *arcs):
    return DAG([*shown.names, "H"], [*datasets.network("asia").dag.arcs, *arcs])


def same(a, b):
    assert a.names == b.names
    for one, other in ((a.cpd(n), b.cpd(n)) for n in a.names):
        assert [p.name for p in one.parents] == [p.name for p in other.parents]
        np.testing.assert_allclose(one.values, other.values, atol=1e-10)


@pytest.mark.parametrize("prior", [None, PRIOR])
def test_parameters_are_those_of_all_columns(rows, prior):
    shown, completed = rows
    for arcs in ([("H", "dysp"), ("H", "xray")], [("smoke", "H")], [("H", "dysp")]):
        dag = graph(shown, *arcs)
        same(fit_beside(shown, completed, dag, prior), fit(dag, completed, prior))


def test_what_was_counted_is_not_counted_again(rows, monkeypatch):
    shown, completed = rows
    fresh = shown.with_weights(shown.row_weights)
    first = fit_beside(fresh, completed, graph(shown, ("H", "dysp")), PRIOR)
    asked = []
    plain = beside.estimated
    monkeypatch.setattr(beside, "estimated", lambda s, f, p: asked.extend(f) or plain(s, f, p))
    again = fit_beside(fresh, completed, graph(shown, ("H", "xray")), PRIOR)
    assert {variable.name for variable, _ in asked} == {"dysp", "xray", "H"}
    assert again.cpd("tub") is first.cpd("tub")


def test_other_weights_and_other_priors_are_counted_anew(rows):
    shown, completed = rows
    dag = graph(shown, ("H", "dysp"))
    fit_beside(shown, completed, dag, PRIOR)
    half = shown.with_weights(shown.row_weights / 2)
    halved = completed.with_weights(completed.row_weights / 2)
    same(fit_beside(half, halved, dag, PRIOR), fit(dag, halved, PRIOR))
    stronger = EquivalentSampleSize(20.0)
    same(fit_beside(shown, completed, dag, stronger), fit(dag, completed, stronger))


def test_a_table_with_gaps_says_nothing_for_its_completed_rows(rows):
    shown, completed = rows
    dag = graph(shown, ("H", "dysp"))
    gaps = shown.knock_out(0.2, seed=1)
    same(fit_beside(gaps, completed, dag, PRIOR), fit(dag, completed, PRIOR))


def test_columns_with_other_states_are_not_taken_for_those_of_the_table(rows):
    """A column that was merged or renamed has the name of the table's, but not its counts."""
    shown, completed = rows
    dag = graph(shown, ("H", "dysp"))
    fit_beside(shown, completed, dag, PRIOR)
    turned = Variable("smoke", list(reversed(shown.variable("smoke").states)))
    codes = 1 - completed.column("smoke")
    other = completed.without("smoke").with_column(turned, codes).select(completed.names)
    same(fit_beside(shown, other, dag, PRIOR), fit(dag, other, PRIOR))


def test_variables_that_stay_keep_their_distributions():
    a, b = Variable("a", [0, 1]), Variable("b", [0, 1])
    cpds = [TableCPD(a, [], [0.5, 0.5]), TableCPD(b, [a], [[0.2, 0.8], [0.7, 0.3]])]
    network = Network(cpds)
    hidden = network.map_variables(lambda v: v.as_hidden() if v.name == "b" else v)
    assert hidden.cpd("a") is network.cpd("a")
    assert hidden.hidden == ("b",)
    both = network.map_variables(lambda v: v.as_hidden() if v.name == "a" else v)
    assert both.cpd("b").parents[0].hidden
