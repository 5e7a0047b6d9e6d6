"""Every command through `main`: exit codes, sentences, files; no traceback unless asked for."""

import csv
import json
import math
import re

import numpy as np
import pytest

from unveil import Network, Table, TableCPD, Variable, datasets, load
from unveil.cli import main
from unveil.cli.app import COMMANDS
from unveil.errors import DataError

ASIA = datasets.network("asia")


@pytest.fixture
def run(capsys):
    """A function that runs the program and gives (exit code, standard output, standard error)."""

    def run(*words):
        code = main([str(word) for word in words])
        out, err = capsys.readouterr()
        assert "Traceback" not in err + out
        return code, out, err

    return run


@pytest.fixture
def asia_csv(tmp_path):
    path = tmp_path / "asia.csv"
    ASIA.sample(800, seed=1).write(path)
    return path


@pytest.fixture
def gaps_csv(tmp_path):
    path = tmp_path / "gaps.csv"
    ASIA.sample(300, seed=2).knock_out(0.2, seed=3).write(path)
    return path


# The program -----------------------------------------------------------------------------------


def test_without_a_word_it_helps(run):
    code, out, err = run()
    assert (code, err) == (0, "")
    for command in COMMANDS:
        assert f"\n  {command.__name__} " in out
    assert run("--help")[0] == 0


def test_version(run):
    from unveil import __version__

    assert run("--version") == (0, f"unveil {__version__}\n", "")


@pytest.mark.parametrize("command", [c.__name__ for c in COMMANDS])
def test_every_command_has_help(run, command):
    code, out, err = run(command, "--help")
    assert (code, err) == (0, "")
    assert out.startswith(f"Usage: unveil {command}")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["lern"], "unveil: No such command 'lern'. Did you mean 'learn'? (try: unveil --help)"),
        (["learn"], "unveil: Missing argument 'data'. (try: unveil learn --help)"),
        (["info", "asia", "--zzz"], "unveil: No such option: --zzz (try: unveil info --help)"),
        (
            ["sample", "asia", "-o", "x.csv", "--seed", "-1"],
            "unveil: Invalid value for '--seed': Input should be greater than or equal to 0 "
            "(try: unveil sample --help)",
        ),
    ],
)
def test_wrong_usage_is_two(run, words, sentence):
    assert run(*words) == (2, "", sentence + "\n")


def test_debug_raises_wherever_it_stands(run, tmp_path):
    path = tmp_path / "empty.csv"
    path.touch()
    code, out, err = run("info", path)
    assert (code, out) == (1, "")
    assert err == (f"unveil: {path}: the file is empty; expected a header line and rows of data\n")
    for words in (["--debug", "info", str(path)], ["info", str(path), "--debug"]):
        with pytest.raises(DataError, match="the file is empty"):
            main(words)
    assert run("lern", "--debug")[0] == 2


def test_warnings_are_notes(run, tmp_path):
    path = tmp_path / "names.csv"
    path.write_text("a,,c\nx,1,p\ny,2,q\n")
    code, _, err = run("info", path)
    assert code == 0
    assert err == f"note: {path}: column 2 has no name in the header; called 'column_2'\n"
    rounded = tmp_path / "rounded.bif"
    rounded.write_text(
        "network n { }\nvariable v { type discrete [ 3 ] { a, b, c }; }\n"
        "probability ( v ) { table 0.33, 0.33, 0.33; }\n"
    )
    code, _, err = run("info", rounded)
    assert code == 0
    assert err.startswith("note: ")
    assert "did not sum to 1" in err


def test_the_filters_of_warnings_are_left_as_they_were(run):
    import warnings

    before = list(warnings.filters), warnings.showwarning
    run("info", "asia")
    assert (list(warnings.filters), warnings.showwarning) == before


# info, datasets --------------------------------------------------------------------------------


def test_info_about_a_table(run, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("who,age,dose\nann,31.5,1\nbob,,2\nann,44.25,1\ncat,20.5,2\n")
    code, out, err = run("info", path)
    assert (code, err) == (0, "")
    assert f"{path}: 4 rows, 3 columns" in out
    assert "missing cells: 1 (8.3%)" in out
    assert "20.5 to 44.25" in out
    code, out, _ = run("info", path, "--discrete", "age", "--text", "dose")
    assert code == 0
    assert "20.5 to" not in out


def test_info_about_weights(run, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,n\nx,3\ny,4.5\n")
    assert "2 rows, standing for 7.5 cases, 1 columns" in run("info", path, "--weights", "n")[1]


def test_info_about_a_network(run, tmp_path):
    assert run("info", "asia")[1] == ASIA.describe() + "\n"
    ASIA.save(tmp_path / "a.bif")
    code, out, _ = run("info", tmp_path / "a.bif")
    assert code == 0
    assert "8 variables, 8 arcs, 18 free parameters" in out


def test_info_about_nothing(run, tmp_path):
    for name in ("nope.csv", "nope.bif"):
        code, out, err = run("info", tmp_path / name)
        assert (code, out) == (1, "")
        assert "no such file" in err


def test_datasets(run, tmp_path):
    code, out, _ = run("datasets")
    assert code == 0
    assert all(entry.name in out and entry.title[:30] in out for entry in datasets.catalogue())
    assert "source: S. Lauritzen" in run("datasets", "asia")[1]
    assert "128 rows, 5 columns" in run("datasets", "college_plans")[1]
    assert run("datasets", "alarm", "-o", tmp_path / "alarm.net")[0] == 0
    assert len(load(tmp_path / "alarm.net").names) == 37
    assert run("datasets", "college_plans", "-o", tmp_path / "cp.csv")[0] == 0
    again = Table.read(tmp_path / "cp.csv", weights="weight")
    assert again.total_weight == 10_318
    code, out, err = run("datasets", "aisa")
    assert (code, out) == (1, "")
    assert "there are asia, alarm" in err


# learn -----------------------------------------------------------------------------------------


def test_learn_writes_everything(run, asia_csv, tmp_path):
    model, page, picture = tmp_path / "m.json", tmp_path / "m.html", tmp_path / "m.svg"
    code, out, err = run(
        "learn", asia_csv, "-o", model, "--page", page, "--picture", picture, "--seed", "1",
        "--search", "hill-climbing", "--bootstrap", "2",
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert f"{asia_csv}: 800 rows, 8 columns" in out
    assert "bdeu score -" in out
    assert "times less probable" in out
    assert "joined in" in out
    network = load(model)
    assert set(network.names) == set(ASIA.names)
    assert network.dag.n_arcs > 3
    assert page.read_text().lstrip().lower().startswith("<!doctype html>")
    assert "<svg" in picture.read_text()
    for path in (model, page, picture):
        assert str(path) in out


def test_learn_obeys(run, asia_csv, tmp_path):
    model = tmp_path / "m.json"
    code, out, _ = run(
        "learn", asia_csv, "-o", model, "--score", "bic", "--search", "hill-climbing",
        "--max-parents", "1", "--require", "dysp -> asia", "--forbid", "smoke -> lung",
        "--forbid", "lung->smoke", "--drop", "xray",
    )  # fmt: skip
    assert code == 0
    assert "bic score" in out
    dag = load(model).dag
    assert "xray" not in dag.nodes
    assert ("dysp", "asia") in dag.arcs
    assert not {("smoke", "lung"), ("lung", "smoke")} & set(dag.arcs)
    assert max(len(dag.parents(n)) for n in dag.nodes) == 1


def test_learn_is_repeatable_and_says_when_nothing_belongs_together(run, tmp_path):
    path = tmp_path / "noise.csv"
    generator = np.random.default_rng(0)
    Table([Variable(n, [0, 1]) for n in "ab"], generator.integers(2, size=(2, 300))).write(path)
    first = run("learn", path, "--seed", "3")[1]
    assert "no arc is worth its parameters" in first


def test_learn_from_a_table_with_gaps(run, gaps_csv, tmp_path):
    code, out, err = run("learn", gaps_csv, "-o", tmp_path / "m.json", "--max-parents", "2")
    assert code == 0
    n = Table.read(gaps_csv).n_missing
    assert err == f"note: {n:,} cells are empty: learning by structural EM\n"
    assert "structural EM" in out
    assert set(load(tmp_path / "m.json").names) == set(ASIA.names)


def test_learn_from_continuous_columns(run, tmp_path):
    path = tmp_path / "c.csv"
    generator = np.random.default_rng(0)
    x = generator.normal(size=200)
    rows = zip(x, x + 0.1 * generator.normal(size=200), strict=True)
    path.write_text("x,y\n" + "".join(f"{a:.4f},{b:.4f}\n" for a, b in rows))
    page = tmp_path / "c.html"
    code, out, _ = run("learn", path, "-o", tmp_path / "c.json", "--page", page)
    assert code == 0
    assert "1 arc, 5 free parameters" in out
    assert "bic score" in out
    assert load(tmp_path / "c.json").cpd("y").kind == "linear_gaussian"
    assert "R² 0.99" in page.read_text()
    assert "looks like noise" in page.read_text()
    code, out, _ = run("query", tmp_path / "c.json", "--given", "x=1.5", "--of", "y")
    assert code == 0
    assert "mean" in out
    code, out, _ = run("fit", path, "--structure", tmp_path / "c.json")
    assert "complete table, least squares" in out
    code, _, err = run("learn", path, "--score", "bdeu")
    assert code == 1
    assert "'bdeu' is not for continuous columns; take one of bic" in err
    assert "--discretize" in err
    code, out, _ = run("learn", path, "--discretize", "equal_frequency", "--n-bins", "4")
    assert code == 0
    assert "1 arc, 15 free parameters" in out
    # As it used to be called.
    old = run("learn", path, "--discretize", "frequency", "--bins", "4")[1]
    assert old.splitlines()[:2] == out.splitlines()[:2]


@pytest.mark.parametrize(
    ("content", "words", "advice"),
    [
        (b"x\n1\ncaf\xe9\n", [], "often --encoding latin-1 or --encoding cp1252."),
        (b"caf\xe9\n1\n", [], "often --encoding latin-1 or --encoding cp1252."),
        (b"1,2\n", [], "If the first line is data, read it with --no-header."),
        (b"1,2\n3,4\n", [], "if the file has no header, read it with --no-header"),
        (b"x\n1\nq\n", ["--continuous", "x"], "--missing, or read the column with --discrete x."),
        (b"x,y\n1,2\n1,2,3\n", [], "separates the columns, say --delimiter TEXT"),
    ],
)
def test_advice_is_in_the_words_of_the_command_line(run, tmp_path, content, words, advice):
    (tmp_path / "t.csv").write_bytes(content)
    err = run("info", tmp_path / "t.csv", *words)[2]
    assert advice in err
    assert not re.search(r"(header|encoding|missing|kinds|delimiter)=", err)


def test_learn_notes_what_looks_like_an_identifier(run, tmp_path):
    path = tmp_path / "id.csv"
    path.write_text("id,b\n" + "".join(f"n{i},{'xy'[i % 2]}\n" for i in range(120)))
    err = run("learn", path)[2]
    assert (
        err
        == "note: column 'id' looks like an identifier and is left out (--discrete id keeps it)\n"
    )
    assert run("learn", path, "--drop", "id")[2] == ""
    kept = run("learn", path, "--discrete", "id")
    assert "note: column 'id' has 120 states in 120 rows" in kept[2]


def test_a_column_of_counts_is_told(run, tmp_path):
    path = tmp_path / "counts.csv"
    rows = [(a, b, (7 * a + 13 * b) % 11 + 30 * a) for a in range(3) for b in range(8)]
    path.write_text("a,b,count\n" + "".join(f"{a},{b},{n}\n" for a, b, n in rows))
    _, _, err = run("learn", path)
    assert "note: column 'count' looks like how often each row counts" in err
    assert "--weights count" in err
    assert "--weights count" in run("info", path)[1]
    assert run("learn", path, "--weights", "count")[0] == 0


@pytest.mark.parametrize(
    ("content", "words", "sentence"),
    [
        ("a,n\nx,1\ny,2\n", "--weights a", "row 1, column 'a': 'x' is no weight. The weights are"),
        ("a,n\nx,1\ny,2\n", "--weights a", "It may be 'n' instead. Without --weights every row"),
        ("a,n\nx,1\ny,1e300\n", "--weights n", "row 2, column 'n': a weight of 1e+300 is more"),
        ("a,n\nx,1\n", "--delimiter é", "must be one plain (ASCII) character, and it is 'é'"),
        ("a,n\nx,1\n", "--encoding hex", "no encoding of text is called 'hex'"),
        ("sep=|\n", "", "the file is empty; expected a header line"),
        ("a,n\nx,1\n", '--delimiter "', "cannot be both the delimiter and the quote"),
    ],
)
def test_odd_requests_end_in_a_sentence(run, tmp_path, content, words, sentence):
    path = tmp_path / "t.csv"
    path.write_text(content)
    code, _, err = run("info", path, *words.split())
    assert (code, "Traceback" in err) == (1, False)
    assert sentence in err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--score", "bdx"], "there is no score 'bdx'; choose one of bdeu, bic"),
        (["--search", "luck"], "there is no search 'luck'; choose one of combined"),
        (["--forbid", "asia tub"], "an arc is written as 'A -> B', not 'asia tub'"),
        (["--forbid", "asia -> q"], "a constraint names 'q', but the variables are"),
        (["--require", "asia -> tub", "--require", "tub -> asia"], "the arcs form a cycle"),
        (
            ["--equivalent-sample-size", "0"],
            "the equivalent sample size must be a positive number, got 0.0",
        ),
        (["--drop", "zz"], "the table has no column 'zz'; it has 'asia'"),
        (["--weights", "zz"], "there is no column 'zz'"),
        (["--discrete", "asia", "--continuous", "asia"], "cannot be both discrete and continuous"),
        (["-o", "/nowhere/m.json"], "/nowhere: there is no such folder"),
        (["-o", "m.foo"], "the ending tells no format; known endings are .json, .bif"),
    ],
)
def test_learn_refuses_in_words(run, asia_csv, words, sentence):
    code, _, err = run("learn", asia_csv, "--search", "hill-climbing", *words)
    assert code == 1
    assert err.startswith("unveil: ")
    assert sentence in err
    assert err.count("\n") == 1


def test_a_time_limit_gives_the_best_so_far(run, asia_csv):
    code, out, _ = run("learn", asia_csv, "--time-limit", "0")
    assert code == 0
    assert "time limit" in out
    assert "no arc was found before the search stopped" in out


def test_a_column_without_values_is_named(run, tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n,x\nNA,y\n")
    code, _, err = run("learn", tmp_path / "t.csv")
    assert code == 1
    assert err.endswith(
        "unveil: column 'a' has no values, so nothing can be learned about it; leave it out with "
        "--drop a\n"
    )
    assert run("learn", tmp_path / "t.csv", "--drop", "a")[0] == 0


# query -----------------------------------------------------------------------------------------


def test_query(run):
    code, out, err = run("query", "asia", "--given", "smoke=yes", "--of", "lung")
    assert (code, err) == (0, "")
    lines = [line.split() for line in out.splitlines()]
    assert ["lung", "yes", "0.0550", "0.1000", "██"] in lines
    assert "probability of the findings: 0.5" in out


def test_query_says_why_and_what_next_and_explains(run, tmp_path):
    picture = tmp_path / "q.svg"
    code, out, _ = run(
        "query", "asia", "-g", "smoke=yes", "-g", "xray=yes", "--of", "lung", "--why", "--next",
        "--explain", "--picture", picture,
    )  # fmt: skip
    assert code == 0
    why = out.split("what mattered most for lung:")[1]
    assert why.index("xray = yes") < why.index("smoke = yes")
    assert out.split("what would tell most about lung:")[1].split()[0] == "either:"
    assert "most probable explanation (probability " in out
    assert "<svg" in picture.read_text()


def test_seeing_is_not_doing(run):
    seen = run("query", "asia", "--given", "dysp=yes", "--of", "lung")[1]
    done = run("query", "asia", "--do", "dysp=yes", "--of", "lung")[1]
    assert "0.1028" in seen
    assert "0.1028" not in done


@pytest.mark.parametrize("method", ["loopy", "mean_field", "gibbs", "weighting"])
def test_query_by_approximation(run, method):
    code, out, _ = run(
        "query", "asia", "-g", "smoke=yes", "--of", "bronc", "--method", method, "--seed", "1"
    )
    assert code == 0
    (after,) = [float(w[3]) for w in map(str.split, out.splitlines()) if w[:2] == ["bronc", "yes"]]
    assert after == pytest.approx(0.6, abs=0.1)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["asia", "-g", "smoke"], "a finding is written as NAME=STATE, not 'smoke'"),
        (
            ["asia", "-g", "smoke=maybe"],
            "variable 'smoke' has no state 'maybe'; it has 'yes', 'no'",
        ),
        (["asia", "-g", "smkoe=yes"], "'smkoe'"),
        (["asia", "--of", "zzz"], "'zzz'"),
        (["asia", "-g", "lung=yes", "-g", "either=no"], "the evidence has probability zero"),
        (["asia", "--method", "magic"], "there is no method 'magic'; there are exact, loopy"),
        (["asia", "--why"], "--why and --next need a variable to ask about: --of NAME"),
        (
            ["aisa"],
            "aisa: there is no such file. Nor is there a bundled network of that name; there are",
        ),
    ],
)
def test_query_refuses_in_words(run, words, sentence):
    code, _, err = run("query", *words)
    assert code == 1
    assert sentence in err


# predict, impute -------------------------------------------------------------------------------


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_predict_writes_posteriors_beside_every_row(run, asia_csv, tmp_path):
    out = tmp_path / "p.csv"
    code, text, _ = run("predict", "asia", asia_csv, "-o", out, "--of", "lung", "--of", "tub")
    assert code == 0
    assert "800 rows with posteriors of lung, tub" in text
    table = Table.read(asia_csv)
    expected = ASIA.posterior(table.without("lung"), of="lung")
    rows = rows_of(out)
    assert [r["predicted lung"] for r in rows] == expected.best("lung")
    got = [float(r["P(lung=yes)"]) for r in rows]
    np.testing.assert_allclose(got, expected["lung"][:, 0], rtol=1e-9)
    assert [r["lung"] for r in rows] == table.labels("lung")


def test_predict_asks_for_what_is_hidden_by_default(run, tmp_path, asia_csv):
    model, out = tmp_path / "m.json", tmp_path / "p.csv"
    ASIA.with_hidden(["either"]).save(model)
    Table.read(asia_csv).without("either").write(tmp_path / "seen.csv")
    assert run("predict", model, tmp_path / "seen.csv", "-o", out)[0] == 0
    assert set(rows_of(out)[0]) == {*ASIA.names, "predicted either", "P(either=yes)",
                                    "P(either=no)"} - {"either"}  # fmt: skip
    code, _, err = run("predict", "asia", asia_csv, "-o", out)
    assert code == 1
    assert "say which variable to predict: --of NAME" in err


@pytest.mark.parametrize("draw", [[], ["--draw", "--seed", "5"]])
def test_impute_fills_gaps_only(run, gaps_csv, tmp_path, draw):
    out = tmp_path / "full.csv"
    table = Table.read(gaps_csv)
    code, text, _ = run("impute", "asia", gaps_csv, "-o", out, *draw)
    assert code == 0
    assert f"{table.n_missing:,} empty cells filled in" in text
    full = Table.read(out).conform(ASIA.variables)
    assert full.is_complete
    assert np.isfinite(ASIA.row_log_likelihoods(full)).all()
    for name in table.names:
        pairs = zip(table.labels(name), full.labels(name), strict=True)
        assert all(a is None or a == b for a, b in pairs)
    if not draw:
        best = ASIA.most_probable(table)
        assert ASIA.log_likelihood(full) == pytest.approx(best.log_probability.sum())
    else:
        run("impute", "asia", gaps_csv, "-o", tmp_path / "again.csv", *draw)
        assert (tmp_path / "again.csv").read_bytes() == out.read_bytes()


@pytest.mark.parametrize("command", ["predict", "impute"])
def test_a_table_of_something_else_is_refused(run, tmp_path, command):
    (tmp_path / "t.csv").write_text("a,b\nx,y\n")
    code, _, err = run(command, "asia", tmp_path / "t.csv", "-o", tmp_path / "p.csv")
    assert code == 1
    assert "the table has none of the network's variables; it has ['a', 'b']" in err
    assert not (tmp_path / "p.csv").exists()


def test_impossible_rows_are_named(run, tmp_path):
    (tmp_path / "t.csv").write_text("lung,either\nyes,yes\nyes,no\nno,yes\n")
    code, _, err = run("impute", "asia", tmp_path / "t.csv", "-o", tmp_path / "p.csv")
    assert code == 1
    assert "probability zero (rows 2)" in err


# convert, sample -------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["json", "bif", "xmlbif", "net", "xdsl", "uai", "bif.gz"])
def test_convert_a_network_there_and_back(run, tmp_path, ending):
    path, back = tmp_path / f"a.{ending}", tmp_path / "back.json"
    assert run("convert", "asia", path)[0] == 0
    code, out, _ = run("convert", path, back)
    assert code == 0
    assert "8 variables, 8 arcs" in out
    table = ASIA.sample(50, seed=1)
    again = load(back)
    if ending == "uai":  # the format has numbers for names and states
        codes = {v.name: table.column(n) for v, n in zip(again.variables, ASIA.names, strict=True)}
        table = Table(again.variables, codes.values())
    assert again.log_likelihood(table) == pytest.approx(
        ASIA.log_likelihood(ASIA.sample(50, seed=1)), rel=1e-6
    )


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "parquet", "feather"])
def test_convert_a_table_there_and_back(run, tmp_path, gaps_csv, ending):
    path, back = tmp_path / f"t.{ending}", tmp_path / "back.csv"
    assert run("convert", gaps_csv, path)[0] == 0
    assert run("convert", path, back)[0] == 0
    assert back.read_bytes() == gaps_csv.read_bytes()


def test_convert_draws_dot_and_refuses_what_it_does_not_know(run, tmp_path, asia_csv):
    assert run("convert", "asia", tmp_path / "a.dot")[0] == 0
    assert "->" in (tmp_path / "a.dot").read_text()
    for source, target in (("asia", "a.foo"), (asia_csv, "t.foo"), (asia_csv, "t.bif")):
        code, _, err = run("convert", source, tmp_path / target)
        assert code == 1
        assert "ending" in err
        assert not (tmp_path / target).exists()


def test_sample(run, tmp_path):
    model, out = tmp_path / "m.json", tmp_path / "s.csv"
    hidden = Network(
        [
            TableCPD(Variable("h", [0, 1], hidden=True), [], [0.5, 0.5]),
            TableCPD(Variable("x", ["a", "b"]), [], [0.25, 0.75]),
        ]
    )
    hidden.save(model)
    code, text, _ = run("sample", model, "-o", out, "-n", "2000", "--seed", "4", "--missing", "0.1")
    assert code == 0
    assert "2,000 rows of 1 variables" in text
    table = Table.read(out)
    assert table.names == ("x",)
    assert abs(table.n_missing - 200) < 4.5 * math.sqrt(2000 * 0.09)
    run(
        "sample", model, "-o", tmp_path / "again.csv", "-n", "2000", "--seed", "4", "--missing", 0.1
    )
    assert (tmp_path / "again.csv").read_bytes() == out.read_bytes()
    run("sample", model, "-o", out, "-n", "10", "--keep-hidden")
    assert Table.read(out).names == ("h", "x")
    assert run("sample", model, "-o", out, "-n", "0")[0] == 2
    assert run("sample", model)[0] == 2


def test_model_files_that_are_broken_are_refused(run, tmp_path):
    path = tmp_path / "m.json"
    ASIA.save(path)
    fields = json.loads(path.read_text())
    for text in ("", "{", "[]", "{}", path.read_text()[:200], json.dumps({**fields, "format": 7})):
        path.write_text(text)
        code, out, err = run("info", path)
        assert (code, out) == (1, "")
        assert err.startswith(f"unveil: {path}")


def test_query_answers_for_every_curve(run, tmp_path):
    rng = np.random.default_rng(3)
    u = rng.uniform(0.5, 9.5, 200)
    x = 1 + 4 / (1 + np.exp(-u + 4)) * np.exp(0.1 * rng.normal(size=200))
    rows = tmp_path / "rows.csv"
    rows.write_text("u,x\n" + "\n".join(f"{a:.4f},{b:.4f}" for a, b in zip(u, x, strict=True)))
    model = tmp_path / "model.json"
    run("learn", rows, "--family", "reaction-log-normal", "--output", model)
    code, out, _ = run("query", model, "--given", "x=3.5", "--of", "u", "--explain")
    assert code == 0
    assert "most probable explanation (density " in out
