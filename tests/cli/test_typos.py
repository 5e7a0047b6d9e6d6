"""Slips of the finger: every wrong name is answered with the one that was meant."""

import pytest

from unveil import Table, datasets, load
from unveil.cli import main


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("typos")
    datasets.network("asia").sample(60, seed=1).write(place / "rows.csv")
    datasets.network("asia").save(place / "model.json")
    return place


@pytest.fixture
def said(folder, capsys, monkeypatch):
    """A function that runs the program in the folder and gives (exit code, standard error)."""
    monkeypatch.chdir(folder)

    def said(words):
        code = main(words.split())
        return code, capsys.readouterr().err

    return said


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("lern rows.csv", "'learn'"),
        ("learn rows.csv --scor bic", "--score"),
        ("learn rows.csv --score bdue", "'bdeu'"),
        ("learn rows.csv --search tabuu", "'tabu'"),
        ("learn rows.cvs", "'rows.csv'"),
        ("learn rows.csv --drop smok", "'smoke'"),
        ("learn rows.csv --discrete smok", "'smoke'"),
        ("learn rows.csv --weights Smokes", "'smoke'"),
        ("learn rows.csv --require smok->lung", "'smoke'"),
        ("learn rows.csv --discretize equal_widht", "'equal_width'"),
        ("query asai", "'asia'"),
        ("query modle.json", "'model.json'"),
        ("query model.json --given smok=yes", "'smoke'"),
        ("query model.json --given smoke=yess", "'yes'"),
        ("query model.json --of dyspp", "'dysp'"),
        ("query model.json --method gibs", "'gibbs'"),
        ("fit rows.csv --structure alarn", "'alarm'"),
        ("cluster rows.csv --score bicc", "'bic'"),
        ("discover rows.csv --adapt ful", "'full'"),
        ("datasets insurence", "'insurance'"),
        ("learn rows.csv --unknown mising", "'missing'"),
    ],
)
def test_the_name_that_was_meant(said, words, meant):
    code, err = said(words)
    assert code in (1, 2)
    assert meant in err.partition("id you mean")[2] or meant in err.partition("ossible options")[2]


def test_columns_separated_by_commas(said, folder):
    assert said("learn rows.csv --drop smoke,lung --drop tub -o few.json")[0] == 0
    assert load(folder / "few.json").names == ("asia", "bronc", "either", "xray", "dysp")
    assert said("predict model.json rows.csv --of lung,tub -o out.csv")[0] == 0
    assert {"predicted lung", "predicted tub"} <= set(Table.read(folder / "out.csv").names)
    assert said("query model.json --of lung,tub")[0] == 0


def test_a_name_with_a_comma_is_still_a_name(said, folder):
    (folder / "comma.csv").write_text('"a,b",c,d\nx,y,z\nx,w,z\n' * 3, encoding="utf-8")
    assert said("learn comma.csv --drop a,b -o few.json")[0] == 0
    assert load(folder / "few.json").names == ("c", "d")


def test_a_delimiter_that_leaves_one_column_is_questioned(said):
    code, err = said("info rows.csv --delimiter ;")
    assert code == 0
    assert "every row is a single cell; ',' would make 8 columns. Leave --delimiter out" in err


@pytest.mark.parametrize("command", ["query rows.csv", "predict rows.csv rows.csv -o out.csv"])
def test_a_table_where_a_model_is_wanted(said, command):
    code, err = said(command)
    assert code == 1
    assert "rows.csv: this is a table of data, not a network" in err
    assert "unveil learn rows.csv" in err


def test_a_model_where_a_table_is_wanted(said):
    code, err = said("learn model.json")
    assert code == 1
    assert "this is a network, not a table of data" in err


def test_a_column_called_class_does_not_stop_cluster(said, folder):
    (folder / "class.csv").write_text("class,x,y\na,b,c\nd,e,f\n" * 20, encoding="utf-8")
    code, err = said(
        "cluster class.csv --n-classes 2 -o classes.json --assignments who.csv --seed 1"
    )
    assert code == 0
    assert "the hidden variable is called 'class_' (choose another with --name)" in err
    assert load(folder / "classes.json").hidden == ("class_",)
    assert "class_" in Table.read(folder / "who.csv").names
