"""EM and structural EM with compact distributions."""

import numpy as np
import pytest

from unveil import (
    BIC,
    DAG,
    BDeu,
    Constraints,
    EquivalentSampleSize,
    Network,
    TableCPD,
    Variable,
    datasets,
    fit,
    fit_em,
    learn,
    structural_em,
)
from unveil.em.scores import hidden_scores
from unveil.em.structural import observed_score
from unveil.model import CPD, Split, TreeCPD
from unveil.model.compact import CompactCPD, same_structure
from unveil.score import Sample, local_score
from unveil.statistics.counting import family_counts


@pytest.fixture(scope="module")
def rows():
    return datasets.network("asia").sample(400, seed=1)


@pytest.fixture(scope="module")
def learned(rows):
    found = learn(rows, "bic", local="auto").network
    assert any(isinstance(cpd, CompactCPD) for cpd in found.cpds.values())
    return found


@pytest.mark.parametrize("prior", [None, EquivalentSampleSize(1.0)])
def test_em_never_falls_and_keeps_the_local_structure(rows, learned, prior):
    start = learned if prior is None else fit(learned, rows, prior)
    found = fit_em(start, rows.knock_out(0.2, seed=2), prior, max_iterations=20)
    assert (np.diff(found.trace) >= -1e-7 * abs(found.objective)).all()
    assert same_structure(found.network, learned)
    assert found.network.n_parameters == learned.n_parameters


def test_complete_rows_are_counted(rows, learned):
    """One step of EM on complete rows is `fit`, which is counting leaf by leaf."""
    prior = EquivalentSampleSize(3.0)
    counted = fit(learned, rows, prior)
    by_em = fit_em(learned, rows, prior, max_iterations=3).network
    for name in learned.names:
        np.testing.assert_allclose(by_em.cpd(name).values, counted.cpd(name).values, rtol=1e-9)


def test_a_leaf_counts_its_configurations_together():
    """A tree that ignores a parent is the table without it, in EM as in counting."""
    asia = datasets.network("asia")
    rows = asia.sample(300, seed=3).knock_out(0.2, seed=4)
    either, tub, lung = (asia.variable(n) for n in ("either", "tub", "lung"))
    tree = TreeCPD(either, [tub, lung], Split(1, (((0,), 0), ((1,), 1))), [[0.9, 0.1], [0.2, 0.8]])
    cpds = [tree if n == "either" else c for n, c in asia.cpds.items()]
    compact = Network(cpds)
    parents = {n: asia.dag.parents(n) for n in asia.names} | {"either": ["lung"]}
    plain = fit(DAG.from_parents(parents), asia.sample(300, seed=3), EquivalentSampleSize(1.0))
    given = {n: plain.cpd(n) for n in asia.names}
    start = Network([tree.with_values(np.stack([given["either"].values] * 2))
                     if n == "either" else given[n] for n in asia.names])  # fmt: skip
    assert isinstance(compact.cpd("either"), CPD)
    first, second = (
        fit_em(n, rows, EquivalentSampleSize(1.0), max_iterations=8) for n in (plain, start)
    )
    assert first.log_likelihood == pytest.approx(second.log_likelihood, rel=1e-9)


@pytest.mark.parametrize("score", [BDeu(1.0), BIC()], ids=["bdeu", "bic"])
def test_on_complete_rows_the_judge_is_the_score(rows, score):
    found = learn(rows, score, local="auto")
    network = found.network
    if score.name == "bic":
        network = fit(found.network, rows, maximum_likelihood=True)
    assert observed_score(network, rows, score)[0] == pytest.approx(found.score, abs=1e-3)


def test_cheeseman_stutz_on_complete_rows_is_the_marginal_likelihood(rows, learned):
    network = fit(learned, rows, EquivalentSampleSize(1.0))
    sample = Sample(rows.total_weight, len(rows.names))
    expected = sum(
        local_score(c, family_counts(rows, c.variable, c.parents), BDeu(1.0), sample)
        for c in network.cpds.values()
    )
    assert hidden_scores(network, rows).cheeseman_stutz == pytest.approx(expected)


def test_structural_em_finds_local_structure():
    a, b = Variable("a", [0, 1, 2]), Variable("b", [0, 1, 2, 3])
    x = Variable("x", [0, 1, 2])
    tree = Split(0, (((0,), Split(1, (((0, 1), 0), ((2, 3), 1)))), ((1, 2), 2)))
    chances = [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]
    truth = Network([TableCPD.uniform(a), TableCPD.uniform(b), TreeCPD(x, [a, b], tree, chances)])
    rows = truth.sample(600, seed=1).knock_out(0.1, seed=2)
    limits = Constraints(tiers=[["a", "b"], ["x"]])
    plain = structural_em(rows, score=BIC(), seed=1, max_rounds=6, constraints=limits)
    found = learn(rows, "bic", local="tree", seed=1, max_rounds=6, constraints=limits)
    assert found.score > plain.score
    assert found.network.cpd("x").n_parameters == 6


@pytest.mark.parametrize("moves", [1, 4])
def test_rows_completed_anew_every_few_moves(moves):
    rows = datasets.network("asia").sample(300, seed=1).knock_out(0.1, seed=2)
    found = structural_em(rows, score=BIC(), seed=1, moves=moves, max_rounds=40)
    arcs = [int(step.detail.split()[0]) for step in found.trace]
    assert max(np.diff(arcs)) <= moves
    assert (np.diff([s.objective for s in found.trace]) > -1e-6).all()
