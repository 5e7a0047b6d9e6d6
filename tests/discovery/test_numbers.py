"""Continuous hidden parents, end to end: found where they are, and only there, and told well."""

import csv

import numpy as np
import pytest

import unveil
from unveil import Network, Table, Variable
from unveil.discovery import NumberSettings, NumbersReport, Settings, discover_numbers
from unveil.discovery.continuous import procedure
from unveil.discovery.continuous.left_out import predicts_worse
from unveil.discovery.continuous.procedure import find_hidden_parents
from unveil.em.lines import Observed
from unveil.errors import DataError, UnveilWarning
from unveil.evaluate.log_loss import LogLoss
from unveil.ideal.find_layers import joint_luck, luck


def rows(n=300, seed=1, gaps=0.0):
    """Two hidden parents, each above six of twelve columns."""
    generator = np.random.default_rng(seed)
    h = generator.normal(size=(n, 2))
    weights = np.kron(np.eye(2), np.array([[1.0], [-0.9], [0.8], [1.1], [1.0], [0.7]]))
    x = h @ weights.T + 0.5 * generator.normal(size=(n, 12))
    x[generator.random(x.shape) < gaps] = np.nan
    return Table([Variable(c) for c in "abcdefghijkl"], list(x.T)), h


@pytest.fixture(scope="module")
def report():
    return unveil.discover(rows()[0], seed=1, resamples=2)


def test_what_is_found(report):
    assert isinstance(report, NumbersReport)
    assert report.hidden == ("H1", "H2")
    behind = {frozenset(report.network.dag.children(h)) for h in report.hidden}
    assert behind == {frozenset("abcdef"), frozenset("ghijkl")}
    assert report.gain > report.needed
    for proof in report.evidence.values():
        assert proof.gain > 0
        assert proof.stability == 1.0
        assert proof.interval[0] < proof.held_out.bits < proof.interval[1]


def test_scale_origin_and_sign_are_fixed(report):
    for name in report.hidden:
        cpd = report.network.cpd(name)
        assert (cpd.intercept, cpd.variance) == (0.0, 1.0)
        assert sum(x.weight for x in report.loadings[name]) > 0
        assert all(x.bits > 0 for x in report.loadings[name])


def test_the_values_are_those_of_the_hidden_variables(report):
    _, h = rows()
    values = report.values()
    for true in h.T:
        best = max(abs(np.corrcoef(true, v)[0, 1]) for v in values.values())
        assert best > 0.9


def test_straw_men_do_worse(report):
    names = [man.name for man in report.straw_men]
    assert names[:2] == ["no hidden variable", "one hidden parent of everything"]
    assert names[2].startswith("factor analysis, 2 factors")
    assert all(man.held_out.bits > report.held_out.bits for man in report.straw_men)


def test_words_and_files(report, tmp_path):
    assert report.headline.startswith("Found: H")
    proof = report.evidence["H1"]
    assert f"({proof.gain / np.log(2):.1f} bits by the score; rows left out are predicted " in (
        report.headline
    )
    own, without = report.network.n_parameters - 2 * len(report.hidden), report.baseline
    fewer = f"{own} free parameters, the best one without hidden variables {without.n_parameters}."
    assert (fewer in report.headline) == (own < without.n_parameters)
    assert "loadings in standard units" in report.summary
    report.save(tmp_path / "out", "numbers.csv")
    page = (tmp_path / "out" / "report.html").read_text()
    assert "What is hidden in numbers.csv" in page
    assert "nan" not in page.lower().replace("finance", "")
    with (tmp_path / "out" / "posteriors.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == 300
    assert float(lines[0]["H1"]) == pytest.approx(report.values()["H1"][0])
    assert float(lines[0]["H1 (sd)"]) > 0
    assert Network.load(tmp_path / "out" / "model.json").hidden == report.hidden
    assert report.to_dict()["hidden"] == ["H1", "H2"]


def test_the_score_is_that_of_the_rows(report):
    table = rows()[0]
    n_parameters = report.network.n_parameters - 2 * len(report.hidden)
    expected = report.network.log_likelihood(table) - 0.5 * n_parameters * np.log(300)
    assert report.score == pytest.approx(expected, rel=1e-6)


def test_gaps_change_little():
    found = discover_numbers(rows(gaps=0.05)[0], seed=1, resamples=0, compare=False)
    assert len(found.hidden) == 2
    for true in ("abcdef", "ghijkl"):
        assert max(len({*true} & {*found.network.dag.children(h)}) for h in found.hidden) >= 5


def test_small_groups_pay_together():
    """None of three groups of four gains what it would need alone; all three are no luck."""
    generator = np.random.default_rng(2)
    x = np.repeat(generator.normal(size=(500, 3)), 4, axis=1) + 0.7 * generator.normal(
        size=(500, 12)
    )
    table = Table([Variable(c) for c in "abcdefghijkl"], list(x.T))
    found = find_hidden_parents(Observed.of(table), NumberSettings())
    behind = {frozenset(found.graph.dag.children(h)) for h in found.graph.hidden}
    assert behind == {frozenset("abcd"), frozenset("efgh"), frozenset("ijkl")}
    assert found.gain / 3 < luck(12, 4) < joint_luck(12, list(behind)) < found.gain


def test_nothing_is_found_in_a_graph_without_hidden_variables():
    generator = np.random.default_rng(3)
    x = generator.normal(size=(400, 8))
    for i in range(2, 8):
        x[:, i] += x[:, i - 1] - 0.8 * x[:, i - 2]
    table = Table([Variable(c) for c in "abcdefgh"], list(x.T))
    found = discover_numbers(table, seed=1, evidence=False, compare=False)
    assert found.hidden == ()
    assert found.headline.startswith("No hidden variable is warranted")
    assert found.posteriors().names == table.names


def test_a_hidden_parent_inside_a_graph():
    """One above four columns that a fifth causes and that cause a sixth."""
    generator = np.random.default_rng(5)
    h, cause = generator.normal(size=(2, 1500))
    four = np.outer(h, [1.0, 1.0, -1.0, 0.9]) + 0.6 * generator.normal(size=(1500, 4))
    four[:, 0] += cause
    last = four[:, 3] + generator.normal(size=1500)
    table = Table([Variable(c) for c in "abcdef"], [cause, *four.T, last])
    found = discover_numbers(table, seed=1, evidence=False, compare=False)
    assert len(found.hidden) == 1
    assert set(found.network.dag.children("H1")) == set("bcde")


def test_a_stop_is_honoured_and_marked():
    asked = discover_numbers(rows()[0], seed=1, progress=lambda step: False)
    assert asked.stopped == "asked to stop"
    late = discover_numbers(rows()[0], seed=1, time_limit=0.0)
    assert late.stopped == "time limit"
    assert "time limit" in late.headline


def test_odd_columns_are_told_and_left_out():
    table, _ = rows()
    more = table.with_column(Variable("same"), np.full(300, 2.0))
    more = more.with_column(Variable("copy"), 3 * table.column("a") + 1)
    with pytest.warns(UnveilWarning, match=r"'same'|'copy'"):
        found = discover_numbers(more, seed=1, evidence=False, compare=False)
    assert "same" not in found.network.names
    assert ("copy" in found.network.names) != ("a" in found.network.names)


def test_few_rows_are_told():
    generator = np.random.default_rng(2)
    h = generator.normal(size=12)
    rows = {f"g{i:02d}": generator.normal() * h + generator.normal(size=12) for i in range(20)}
    told = discover_numbers(Table.from_frame(rows), seed=1, resamples=0)
    words = "12 rows for 20 columns are few: the best network by BIC then has arcs that are luck"
    assert words in told.headline
    assert words in told.summary
    enough = {f"x{i}": generator.normal(size=100) for i in range(4)}
    plain = discover_numbers(Table.from_frame(enough), seed=1, resamples=0)
    assert "are few" not in plain.headline


@pytest.mark.parametrize(("size", "word"), [(1e200, "large"), (1e-200, "small")])
def test_columns_that_cannot_be_squared_get_a_sentence(size, word):
    generator = np.random.default_rng(2)
    rows = {n: generator.normal(size=40) for n in "abcd"}
    rows["b"] = rows["b"] * size
    with pytest.raises(DataError, match=f"column 'b' has values of about .*, too {word} to be"):
        discover_numbers(Table.from_frame(rows), seed=1)
    rows["a"][3] = np.nan
    with pytest.raises(DataError, match=f"column 'b' has values of about .*, too {word} to be"):
        unveil.learn(rows)


def test_few_rows_and_few_columns():
    table, _ = rows()
    few = discover_numbers(table.take(np.arange(6)), seed=1, resamples=0)
    assert np.isfinite(few.score)
    assert len(few.hidden) <= 1
    pair = discover_numbers(table.select(["a", "b"]), seed=1, resamples=0)
    assert pair.hidden == ()
    one = discover_numbers(table.select(["a"]), seed=1, resamples=0)
    assert one.hidden == ()
    with pytest.raises(DataError, match="needs 3"):
        discover_numbers(table.take([0, 1]))


def test_doors():
    table, _ = rows()
    with pytest.raises(DataError, match="Settings are for discrete tables"):
        unveil.discover(table, settings=Settings())
    with pytest.raises(TypeError, match="no setting 'n_states'"):
        unveil.discover(table, n_states=3)
    with pytest.raises(DataError, match="max_parents must be at least 1"):
        NumberSettings(max_parents=0)
    with pytest.raises(DataError, match=r"not reaction ones.*learn\(table"):
        unveil.discover(table, family="reaction")
    mixed = table.select(["a", "b"]).with_column(Variable("s", ["x", "y"]), np.arange(300) % 2)
    with pytest.raises(DataError, match=r"2 columns are continuous.*no number \(s\)"):
        unveil.discover(mixed)
    found = unveil.discover(table.to_pandas(), seed=1, max_hidden=1, evidence=False,
                            straw_men=False)  # fmt: skip
    assert len(found.hidden) <= 1


def test_noise_with_few_rows_has_no_hidden_parent_inside():
    values = np.random.default_rng(2).normal(size=(20, 25))
    table = Table([Variable(f"v{i:02d}") for i in range(20)], list(values))
    assert discover_numbers(table, seed=1, evidence=False, compare=False).hidden == ()


def bent(n=500, seed=8, columns=8):
    """Columns that bend, each below up to two others, and nothing hidden."""
    generator = np.random.default_rng(seed)
    x = np.zeros((columns, n))
    for i in range(columns):
        parents = generator.choice(i, size=min(i, 2), replace=False)
        s = sum((x[p] / x[p].std() for p in parents), np.zeros(n))
        x[i] = s + 0.5 * s**2 + generator.normal(size=n)
    return Table([Variable(c) for c in "abcdefghijklmnopqrst"[:columns]], list(x))


@pytest.mark.parametrize("seed", range(3))
def test_nothing_is_kept_that_predicts_rows_left_out_worse(seed):
    for table in (bent(200, seed), rows(60, seed)[0]):
        found = find_hidden_parents(Observed.of(table), NumberSettings())
        assert not (found.graph.hidden and predicts_worse(found.left_out))
        assert bool(found.graph.hidden) <= (found.left_out is not None)


def test_what_predicts_worse_is_refused_with_a_sentence(monkeypatch):
    worse = LogLoss.of(np.array([-0.3, -0.1, -0.2]), np.ones(3))
    monkeypatch.setattr(procedure, "left_out_gain", lambda *_: worse)
    report = discover_numbers(rows()[0], seed=1, evidence=False, compare=False)
    assert report.hidden == ()
    assert report.score == report.baseline_score
    assert "predicts rows left out no better: it loses 0.2000 bits per row" in report.headline
    same = LogLoss.of(np.array([-0.3, 0.1, 0.1]), np.ones(3))
    monkeypatch.setattr(procedure, "left_out_gain", lambda *_: same)
    report = discover_numbers(rows()[0], seed=1, evidence=False, compare=False)
    assert report.hidden == ("H1", "H2")


def test_true_hidden_parents_save_bits_where_folds_find_them_anew():
    for table in (rows()[0], rows(gaps=0.1)[0]):
        saved = find_hidden_parents(Observed.of(table), NumberSettings()).left_out
        assert saved is not None
        assert saved.bits > 2 * saved.standard_error
        assert len(saved.per_row) == table.n_rows
