"""Explanations, draws, actions and influences, all against the enumerated joint."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from unveil import Network, Table, TableCPD, Variable, datasets
from unveil.errors import DataError, ModelError, UnveilError
from unveil.infer import (
    bayes_factor,
    do,
    draw_missing,
    finding_influence,
    information_about,
    map_of,
    most_probable,
    posterior,
)
from unveil.model import LinearGaussianCPD

from .networks import as_table, networks, random_likelihood, random_network, random_rows
from .oracle import Enumeration

ASIA = datasets.network("asia")
seeds = st.integers(0, 10**6)


def possible_rows(network, generator, n_rows=6):
    """Rows of evidence that can happen."""
    oracle = Enumeration(network)
    rows = random_rows(network, n_rows, generator)
    return oracle, np.array([r for r in rows if oracle.log_likelihood(r) > -np.inf])


def findings_of(network, codes):
    pairs = zip(network.variables, codes, strict=True)
    return {v.name: v.labels[code] for v, code in pairs if code >= 0}


def codes_of(table, row):
    return [int(table.column(name)[row]) for name in table.names]


# Most probable ---------------------------------------------------------------------------------


@given(networks(), seeds)
@settings(max_examples=30, deadline=None)
def test_nothing_is_more_probable_than_the_most_probable(network, seed):
    oracle, rows = possible_rows(network, np.random.default_rng(seed))
    found = most_probable(network, as_table(network, rows))
    filled = found.table.select(network.names)
    for i, row in enumerate(rows):
        codes = codes_of(filled, i)
        assert all(c == r for c, r in zip(codes, row, strict=True) if r >= 0)
        assert found.log_probability[i] == pytest.approx(oracle.best(row), abs=1e-9)
        assert np.log(oracle.joint[tuple(codes)]) == pytest.approx(oracle.best(row), abs=1e-9)


@given(networks(), seeds)
@settings(max_examples=20, deadline=None)
def test_most_probable_with_soft_evidence(network, seed):
    generator = np.random.default_rng(seed)
    named, soft = random_likelihood(network, generator)
    oracle = Enumeration(network)
    unknown = np.full(len(network.names), -1)
    assume(oracle.log_likelihood(unknown, soft) > -np.inf)
    found = most_probable(network, likelihood=named)
    assert found.log_probability[0] == pytest.approx(oracle.best(unknown, soft), abs=1e-9)
    codes = tuple(codes_of(found.table.select(network.names), 0))
    assert np.log(oracle.with_evidence(unknown, soft)[codes]) == pytest.approx(
        oracle.best(unknown, soft), abs=1e-9
    )


def test_most_probable_is_not_state_by_state():
    """x = 0 is the more probable state, and yet x = 1 is in the most probable row."""
    x, y = Variable("x", [0, 1]), Variable("y", ["a", "b", "c"])
    network = Network(
        [TableCPD(x, [], [0.6, 0.4]), TableCPD(y, [x], [[0.4, 0.3, 0.3], [0.0, 0.0, 1.0]])]
    )
    assert posterior(network, of="x").best("x") == [0]
    assert most_probable(network).row() == {"x": 1, "y": "c"}
    assert math.exp(most_probable(network).log_probability[0]) == pytest.approx(0.4)
    assert map_of(network, ["x"]).row() == {"x": 0}


@given(networks(), seeds)
@settings(max_examples=20, deadline=None)
def test_map_maximises_the_marginal_of_its_names(network, seed):
    generator = np.random.default_rng(seed)
    oracle, rows = possible_rows(network, generator)
    names = list(generator.permutation(network.names)[: generator.integers(1, 3)])
    found = map_of(network, names, as_table(network, rows))
    assert found.table.names == tuple(names)
    for i, row in enumerate(rows):
        table = oracle.posterior(names, row)
        assert math.exp(found.log_probability[i]) == pytest.approx(table.max(), rel=1e-9)
        assert table[tuple(codes_of(found.table, i))] == pytest.approx(table.max(), rel=1e-9)


def test_map_of_asia():
    oracle = Enumeration(ASIA)
    given_ = {"dysp": "yes", "xray": "yes"}
    codes = [ASIA.variable(n).code_of(given_[n]) if n in given_ else -1 for n in ASIA.names]
    names = ["lung", "bronc", "smoke"]
    table = oracle.posterior(names, codes)
    best = np.unravel_index(table.argmax(), table.shape)
    expected = {n: ASIA.variable(n).labels[b] for n, b in zip(names, best, strict=True)}
    assert map_of(ASIA, names, given_).row() == expected
    full = most_probable(ASIA, given_)
    assert full.log_probability[0] == pytest.approx(oracle.best(codes), abs=1e-12)


# Draws -----------------------------------------------------------------------------------------


def test_draws_have_the_posterior_of_the_missing_cells(random_seed):
    n = 8000
    generator = np.random.default_rng(random_seed)
    for _ in range(4):
        network = random_network(generator, n_variables=4, max_states=3)
        oracle, rows = possible_rows(network, generator, 4)
        row = rows[-1]
        table = as_table(network, np.tile(row, (n, 1)))
        drawn = draw_missing(network, table, seed=random_seed).select(network.names)
        seen = np.zeros(oracle.joint.shape)
        np.add.at(seen, tuple(drawn.column(name).astype(int) for name in network.names), 1 / n)
        p = oracle.posterior(network.names, row)
        assert (np.abs(seen - p) <= 4.5 * np.sqrt(p * (1 - p) / n) + 1e-12).all()
        assert (seen[p == 0] == 0).all()


def test_draws_keep_what_is_there_and_repeat_by_seed():
    whole = ASIA.sample(300, seed=0).with_weights(np.arange(300.0))
    gaps = whole.knock_out(0.4, seed=1).without("smoke")
    drawn = draw_missing(ASIA, gaps, seed=2)
    assert drawn.is_complete
    assert set(drawn.names) == set(ASIA.names)
    assert drawn.row_weights.tolist() == whole.row_weights.tolist()
    for name in gaps.names:
        seen = ~gaps.missing(name)
        assert (drawn.column(name)[seen] == gaps.column(name)[seen]).all()
    assert np.isfinite(ASIA.row_log_likelihoods(drawn)).all()
    assert drawn == draw_missing(ASIA, gaps, seed=2)
    assert drawn != draw_missing(ASIA, gaps, seed=3)


# Actions ---------------------------------------------------------------------------------------


@given(networks(), seeds)
@settings(max_examples=25, deadline=None)
def test_do_leaves_out_the_factors_of_what_was_set(network, seed):
    """P(x | do(a)) = product of the other families, where x agrees with a (Pearl's truncation)."""
    generator = np.random.default_rng(seed)
    chosen = generator.permutation(len(network.names))[: generator.integers(1, 3)]
    actions = {}
    for place in chosen:
        variable = network.variables[place]
        actions[variable.name] = variable.labels[generator.integers(variable.n_states)]
    factors = []
    for i, (name, cpd) in enumerate(network.cpds.items()):
        if name in actions:
            values = np.eye(cpd.variable.n_states)[cpd.variable.code_of(actions[name])]
            factors += [values, [i]]
        else:
            family = [network.names.index(v.name) for v in (*cpd.parents, cpd.variable)]
            factors += [cpd.values, family]
    expected = np.einsum(*factors, range(len(network.names)))
    acted = do(network, actions)
    assert acted.names == network.names
    np.testing.assert_allclose(Enumeration(acted).joint, expected, atol=1e-15)
    for name in actions:
        assert acted.dag.parents(name) == ()
    assert network.do(actions) == acted


def test_setting_a_root_is_seeing_it_and_setting_an_effect_tells_nothing_of_its_causes():
    see = posterior(ASIA, {"smoke": "yes"}, of="dysp")["dysp"]
    np.testing.assert_allclose(posterior(do(ASIA, {"smoke": "yes"}), of="dysp")["dysp"], see)
    before = posterior(ASIA, of="lung")["lung"]
    np.testing.assert_allclose(posterior(do(ASIA, {"xray": "yes"}), of="lung")["lung"], before)
    assert do(ASIA, {}) == ASIA


def test_actions_that_cannot_be():
    with pytest.raises(DataError, match="'smoke' has no state 'maybe'; it has 'yes', 'no'"):
        do(ASIA, {"smoke": "maybe"})
    with pytest.raises(UnveilError, match="'smoek'"):
        do(ASIA, {"smoek": "yes"})
    height = Network([LinearGaussianCPD(Variable("height"), [], 170, [], 49)])
    with pytest.raises(DataError, match="'height' is continuous; 'tall' is not a finite number"):
        do(height, {"height": "tall"})


# Influence -------------------------------------------------------------------------------------


def divergence_bits(p, q):
    return sum(a * math.log2(a / b) for a, b in zip(p, q, strict=True) if a > 0)


@given(networks(), seeds)
@settings(max_examples=20, deadline=None)
def test_the_influence_of_a_finding_is_a_divergence(network, seed):
    oracle, rows = possible_rows(network, np.random.default_rng(seed))
    usable = [r for r in rows if (r >= 0).any() and (r < 0).any()]
    assume(usable)
    row = usable[-1]
    target = network.names[int(np.flatnonzero(row < 0)[0])]
    found = finding_influence(network, findings_of(network, row), target)
    assert {i.finding for i in found} == set(findings_of(network, row))
    assert [i.divergence for i in found] == sorted((i.divergence for i in found), reverse=True)
    with_all = oracle.posterior([target], row)
    for item in found:
        place = network.names.index(item.finding)
        rest = row.copy()
        rest[place] = -1
        without = oracle.posterior([target], rest)
        assert item.value == network.variables[place].labels[row[place]]
        assert item.divergence == pytest.approx(divergence_bits(with_all, without), abs=1e-9)
        np.testing.assert_allclose(list(item.with_it.values()), with_all, atol=1e-12)
        np.testing.assert_allclose(list(item.without_it.values()), without, atol=1e-12)
        assert list(item.with_it) == list(network.variable(target).labels)


@given(networks(), seeds)
@settings(max_examples=20, deadline=None)
def test_information_is_mutual_and_given_the_findings(network, seed):
    oracle, rows = possible_rows(network, np.random.default_rng(seed))
    row = rows[-1].copy()
    row[0] = -1
    target = network.names[0]
    gains = information_about(network, target, findings_of(network, row))
    unseen = [n for n, code in zip(network.names, row, strict=True) if code < 0 and n != target]
    assert set(gains) == set(unseen)
    assert list(gains.values()) == sorted(gains.values(), reverse=True)
    for name, bits in gains.items():
        joint = oracle.posterior([target, name], row)
        apart = np.outer(joint.sum(axis=1), joint.sum(axis=0))
        expected = divergence_bits(joint.ravel(), apart.ravel())
        assert bits == pytest.approx(expected, abs=1e-9)
        assert bits >= 0


def test_information_in_asia():
    gains = information_about(ASIA, "lung", {"either": "no"})
    assert max(gains.values()) == pytest.approx(0, abs=1e-12)
    few = information_about(ASIA, "lung", among=["xray", "asia", "lung"])
    assert list(few) == ["xray", "asia"]
    assert few["asia"] == pytest.approx(0, abs=1e-12)
    everything = information_about(ASIA, "lung")
    assert everything["xray"] == pytest.approx(few["xray"])


@given(networks(), seeds)
@settings(max_examples=20, deadline=None)
def test_bayes_factors_are_ratios_of_likelihoods(network, seed):
    generator = np.random.default_rng(seed)
    oracle = Enumeration(network)
    places = generator.permutation(len(network.names))
    target, seen = network.variables[places[0]], network.variables[places[1]]
    code = int(generator.integers(seen.n_states))
    first, second = 0, target.n_states - 1
    joint = np.einsum(oracle.joint, range(len(network.names)), places[:2].tolist())
    totals = joint.sum(axis=1)
    assume(totals[first] > 0 and totals[second] > 0 and joint[second, code] > 0)
    expected = (joint[first, code] / totals[first]) / (joint[second, code] / totals[second])
    got = bayes_factor(
        network,
        {target.name: target.labels[first]},
        {target.name: target.labels[second]},
        {seen.name: seen.labels[code]},
    )
    assert got == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_bayes_factors_at_the_edge():
    assert bayes_factor(ASIA, {"lung": "yes"}, {"lung": "no"}, {"either": "no"}) == 0.0
    sure = bayes_factor(ASIA, {"either": "yes"}, {"either": "no"}, {"lung": "yes"})
    assert sure == math.inf
    with pytest.raises(DataError, match="has probability zero; it explains nothing"):
        bayes_factor(ASIA, {"lung": "yes", "either": "no"}, {"lung": "no"}, {"xray": "yes"})


# Errors ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "ask",
    [
        lambda given: most_probable(ASIA, given),
        lambda given: map_of(ASIA, ["smoke"], given),
        lambda given: finding_influence(ASIA, given, "smoke"),
        lambda given: information_about(ASIA, "smoke", given),
    ],
)
def test_evidence_that_cannot_happen_is_refused(ask):
    with pytest.raises(ModelError, match="the evidence has probability zero"):
        ask({"lung": "yes", "either": "no"})
    with pytest.raises(UnveilError, match="'maybe'"):
        ask({"lung": "maybe"})
    with pytest.raises(UnveilError, match="'lnug'"):
        ask({"lnug": "yes"})


def test_impossible_rows_are_named():
    table = Table.from_frame({"lung": ["yes", "no", "yes"], "either": ["no", "no", "no"]})
    for ask in (lambda: most_probable(ASIA, table), lambda: draw_missing(ASIA, table, seed=0)):
        with pytest.raises(ModelError, match=r"2 rows has probability zero \(rows 1, 3\)"):
            ask()


def test_targets_that_make_no_sense():
    with pytest.raises(DataError, match="the target 'lung' is itself among the findings"):
        finding_influence(ASIA, {"lung": "yes"}, "lung")
    with pytest.raises(DataError, match="one or more different names"):
        map_of(ASIA, [])
    with pytest.raises(DataError, match="one or more different names"):
        map_of(ASIA, ["lung", "lung"])
    with pytest.raises(UnveilError, match="'zzz'"):
        information_about(ASIA, "zzz")
    with pytest.raises(UnveilError, match="'zzz'"):
        finding_influence(ASIA, {"lung": "yes"}, "zzz")
    assert finding_influence(ASIA, {}, "lung") == ()
