"""Delimited text: what is read as it should be, and what is refused with which words."""

import bz2
import gzip
import os

import pytest

from unveil import datasets
from unveil.errors import DataError, UnveilWarning
from unveil.table import Table, Variable, read_table


@pytest.fixture
def write(tmp_path):
    """A function that writes text or bytes to a file and gives its path."""

    def write(content, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def refusal(path, **options):
    """The words with which reading the file is refused."""
    with pytest.raises(DataError) as caught:
        read_table(path, **options)
    message = str(caught.value)
    assert str(path) in message or path.name in message
    return message


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(write, mark):
    table = read_table(write(f"a{mark}b\nx{mark}1\ny{mark}2\n"))
    assert table.to_dict() == {"a": ["x", "y"], "b": [1, 2]}


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("text", ["näme,b\nä,1\nö,2\n", "näme;b\n東京;1\nソウル;2\n"])
def test_wide_letters_without_a_mark(write, encoding, text):
    path = write(text.encode(encoding))
    with pytest.warns(UnveilWarning, match=f"read as {encoding}, which its bytes look like"):
        assert read_table(path).names == ("näme", "b")
    assert read_table(path, encoding=encoding[:6]).labels("b") == [1, 2]
    assert read_table(path, encoding=encoding).labels("b") == [1, 2]


def test_wide_letters_with_a_mark_of_the_other_order(write):
    text = "\ufeffa,b\nx,1\n"
    assert read_table(write(text.encode("utf-16-be"))).labels("b") == [1]
    assert read_table(write(text.encode("utf-32-be"))).labels("b") == [1]


@pytest.mark.parametrize("data", [bytes(range(256)) * 40, b"\x93NUMPY\x01\x00v\x00", b"\x00" * 50])
def test_binary_is_no_text(write, data):
    assert "is zero, so this is no text file" in refusal(write(data))


@pytest.mark.parametrize("encoding", ["hex", "zip", "rot13", "undefined", "klingon", "a\0b"])
def test_what_is_no_encoding_of_text(write, encoding):
    path = write("a,b\nx,1\n")
    assert f"no encoding of text is called {encoding!r}" in refusal(path, encoding=encoding)


@pytest.mark.parametrize("mark", ["é", "\N{GRINNING FACE}", "\n", "\0", "||", ""])
def test_what_is_no_delimiter(write, mark):
    words = f"delimiter must be one plain (ASCII) character, and it is {mark!r}"
    assert words in refusal(write("a,b\nx,1\n"), delimiter=mark)


def test_what_is_no_quote(write):
    assert "quote must be one plain" in refusal(write("a,b\nx,1\n"), quote="é")
    path = write("a,b\nx,1\n")
    assert "both the delimiter and the quote" in refusal(path, quote=",", delimiter=",")
    assert "delimiter must be one plain" in refusal(write("sep=é\naéb\nxé1\n"))


@pytest.mark.parametrize("text", ["sep=|", "sep=|\n\n", "", "\n \n"])
def test_files_without_a_line(write, text):
    assert "the file is empty; expected a header line" in refusal(write(text))


def test_integers_of_thousands_of_digits_are_text(write):
    long = "9" * 5000
    table = read_table(write(f"a,b\n{long},1\n1,2\n"))
    assert table.labels("a") == [long, "1"]
    table.describe()
    assert read_table(write(f"a\n{'9' * 300}\n")).labels("a") == [10**300 - 1]
    with pytest.raises(DataError, match="more than 300 digits"):
        Variable("x", [10**300])


def test_a_decimal_comma_is_no_delimiter(write):
    table = read_table(write("a;b\n1,5;x\n2,5;y\n"))
    assert table.labels("a") == ["1,5", "2,5"]
    assert "decimal commas" in " ".join(table.describe().sentences)


def test_a_delimiter_inside_quotes_does_not_count(write):
    table = read_table(write('a;b\n"x,1,2,3";p\n"y,1,2,3";q\n'))
    assert table.labels("a") == ["x,1,2,3", "y,1,2,3"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends(write, end):
    assert read_table(write(f"a,b{end}x,1{end}y,2{end}")).labels("b") == [1, 2]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-8"])
def test_byte_order_marks(write, encoding):
    table = read_table(write("näme,b\nä,1\nö,2\n".encode(encoding)))
    assert table.names == ("näme", "b")
    assert table.labels("näme") == ["ä", "ö"]


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_compression_is_told_by_the_content(write, pack):
    assert read_table(write(pack(b"a,b\nx,1\n"))).row(0) == {"a": "x", "b": 1}


def test_a_cut_off_archive_is_refused(write):
    packed = gzip.compress(os.urandom(3000).hex().encode())
    assert "cut off" in refusal(write(packed[: len(packed) // 2]))


def test_quoted_newlines_quotes_and_spaces(write):
    table = read_table(write('a,b\n"x\ny",1\n" z ",2\n"say ""hi""",3\n'))
    assert table.labels("a") == ["x\ny", "z", 'say "hi"']


def test_blocks_of_a_file_join_without_a_seam(write, monkeypatch):
    monkeypatch.setattr("unveil.table.io.csv.BLOCK_BYTES", 64)
    rows = [f'{i % 3},"line {i % 7}\nand, {i % 5}"' for i in range(200)]
    table = read_table(write("n,text\n" + "\n".join(rows) + "\n"))
    assert table.labels("text") == [f"line {i % 7}\nand, {i % 5}" for i in range(200)]
    assert table.labels("n") == [i % 3 for i in range(200)]


def test_a_quote_after_a_space_is_still_a_quote(write):
    assert read_table(write('a, b\n1, "yes"\n2, "no"\n')).labels("b") == ["yes", "no"]


def test_empty_lines_are_skipped_but_in_one_column_they_are_missing(write):
    assert read_table(write("\na,b\nx,1\n\ny,2\n\n")).n_rows == 2
    assert read_table(write("a\nx\n\ny\n")).labels("a") == ["x", None, "y"]


def test_one_row_and_one_column_will_do(write):
    assert read_table(write("a\nx\n")).to_dict() == {"a": ["x"]}
    assert read_table(write("a,b\nx,1")).to_dict() == {"a": ["x"], "b": [1]}


def test_weights_and_columns(write):
    path = write("a,b,n\nx,1,2.5\ny,2,0\n")
    table = read_table(path, weights="n", columns=["b"])
    assert table.names == ("b",)
    assert table.weights.tolist() == [2.5, 0.0]


def test_no_header(write):
    assert read_table(write("x,1\ny,2\n"), header=False).to_dict() == {
        "x1": ["x", "y"],
        "x2": [1, 2],
    }


def test_row_names_as_r_writes_them(write):
    with pytest.warns(UnveilWarning, match=r"column 1 has no name.*'column_1'"):
        table = read_table(write('"","a"\n"1","x"\n"2","y"\n'))
    assert table.names == ("column_1", "a")
    with pytest.warns(UnveilWarning, match="column 1 has no name"):
        table = read_table(write('"a","b"\n"r1","x",1\n"r2","y",2\n'))
    assert table.to_dict() == {"column_1": ["r1", "r2"], "a": ["x", "y"], "b": [1, 2]}


def test_a_delimiter_at_the_end_of_every_row(write):
    with pytest.warns(UnveilWarning) as told:
        table = read_table(write("a,b\nx,1,\ny,2,\n"))
    assert table.names == ("a", "b", "column_3")
    assert ["column 3 has no name" in str(told[0].message), "no values" in str(told[1].message)]


def test_a_header_of_numbers_is_doubted(write):
    with pytest.warns(UnveilWarning, match="header=False"):
        read_table(write("1,2\n3,4\n"))


def test_lines_before_the_table(write):
    with pytest.warns(UnveilWarning, match="the first 2 lines start with '#'"):
        table = read_table(write("# made by hand\n# in spring\na,b,c\nx,1,2\ny,2,3\n"))
    assert table.names == ("a", "b", "c")
    assert table.n_rows == 2
    assert read_table(write("#a,b\nx,1\n")).names == ("#a", "b")
    assert read_table(write("sep=;\r\na;b\r\nx;1\r\n")).row(0) == {"a": "x", "b": 1}


def test_columns_and_markers_given_as_one_word(write):
    path = write("ab,b\nx,10\ny,20\n")
    assert read_table(path, columns="ab").names == ("ab",)
    assert read_table(path, missing="10").labels("b") == [None, 20]


# Refusals ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", ["3", "3,4,5"])
def test_ragged_rows(write, bad):
    words = refusal(write(f'a,b\n1,"two\nlines"\n{bad}\n4,5\n'))
    assert "line 4 (row 2 of the data)" in words
    assert f"expected 2 fields as in the header, found {bad.count(',') + 1}" in words


def test_a_ragged_row_far_down(write):
    rows = ["1,2"] * 5000
    rows[4321] = "1,2,3"
    assert "line 4323 (row 4322 of the data)" in refusal(write("a,b\n" + "\n".join(rows)))


def test_rows_are_counted_from_the_first_row_of_data(write):
    assert "line 5 (row 2 of the data)" in refusal(write("sep=;\n\na;b\nx;1\ny\n"))
    words = refusal(write(b"x,1\n\xff,2\n"), header=False)
    assert "row 2, column 'x1'" in words


def test_the_wrong_encoding(write):
    words = refusal(write("a,b\nx,1\nna\xefve,2\n".encode("latin-1")))
    assert "row 2, column 'a'" in words
    assert "byte 0xef (byte 11 of the file) is not utf-8" in words
    assert 'encoding="latin-1"' in words
    path = write("a,b\nx,1\nna\xefve,2\n".encode("latin-1"))
    assert read_table(path, encoding="latin-1").labels("a") == ["x", "na\xefve"]
    assert "'klingon'" in refusal(path, encoding="klingon")


def test_the_wrong_encoding_in_the_header(write):
    words = refusal(write(b"a\xe4,b\n1,2\n"))
    assert "the header: byte 0xe4 (byte 2 of the file) is not utf-8" in words


def test_a_quote_that_is_never_closed(write):
    assert 'row 2: a quote (") opens and is never closed' in refusal(
        write('a,b\n0,z\n1,"x\n2,3\n4,5\n')
    )
    fine = read_table(write('a,b\n1,"x\n"\n'))
    assert fine.n_rows == 1


def test_binary_files(write):
    assert "byte 3 is zero" in refusal(write(b"ab\x00\x01\x02"))
    assert "Excel" in refusal(write(b"PK\x03\x04rest"))


@pytest.mark.parametrize("content", ["", "\n\n", "   "])
def test_empty_files(write, content):
    assert "the file is empty" in refusal(write(content))


@pytest.mark.parametrize("content", ["a,b\n", "a,b"])
def test_a_header_without_rows(write, content):
    assert "no rows of data" in refusal(write(content))


def test_duplicate_names(write):
    words = refusal(write("a,b,a\n1,2,3\n"))
    assert "columns 1 and 3 are both called 'a'" in words


def test_paths_that_are_no_files(tmp_path, write):
    assert "folder" in refusal(tmp_path)
    write("a\n1\n", "patients.csv")
    assert "no such file" in refusal(tmp_path / "patient.csv")
    assert "patients.csv" in refusal(tmp_path / "patient.csv")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_no_permission(write):
    path = write("a\n1\n")
    path.chmod(0)
    assert "permission" in refusal(path)


def test_infinity(write):
    words = refusal(write("a,x\np,1.5\nq,inf\nr,2\n"))
    assert "row 2, column 'x'" in words
    assert "infinite" in words


def test_bad_weights(write):
    path = write("a,n\nx,1\ny,\nz,-1\n")
    assert "row 2, column 'n'" in refusal(path, weights="n")
    assert "it is empty" in refusal(path, weights="n")
    assert "'m'" in refusal(path, weights="m")
    assert "'a', 'n'" in refusal(path, weights="m")
    assert "it is -1" in refusal(write("a,n\nx,1\nz,-1\n"), weights="n")


def test_options_that_name_nothing(write):
    path = write("a,b\nx,1\n")
    assert "there is no column 'c'; the columns are 'a', 'b'." in refusal(path, kinds={"c": "text"})
    assert "there is no column 'c'" in refusal(path, columns=["c"])
    assert "each column once, got ['a', 'a']" in refusal(path, columns=["a", "a"])
    assert "each column once, got []" in refusal(path, columns=[])
    with pytest.raises(DataError, match=r"one plain \(ASCII\) character, and it is '\|\|'"):
        read_table(path, delimiter="||")
    with pytest.raises(
        DataError, match=r"unknown kind 'ordinal'.*'discrete', 'text', 'continuous'"
    ):
        read_table(path, kinds={"a": "ordinal"})


def test_known_variables(write):
    path = write("extra,y,x\n1,2,b\n1,1.0,a\n1,,a\n")
    x, y = Variable("x", ["c", "b", "a"]), Variable("y", [2, 1])
    table = read_table(path, variables=[x, y, Variable("h", [0, 1], hidden=True)])
    assert table.variables == (x, y)
    assert table.column("x").tolist() == [1, 2, 2]
    assert table.labels("y") == [2, 1, None]
    words = refusal(path, variables=[Variable("x", ["a", "c"])])
    assert "row 1, column 'x': 'b' is not one of the known states 'a', 'c'" in words
    assert "'z'" in refusal(path, variables=[x, Variable("z", [0, 1])])
    assert "row 1, column 'x': 'b' is not a number" in refusal(path, variables=[Variable("x")])


def test_table_read_is_read_table(write):
    path = write("a,b\nx,1\n")
    assert Table.read(path) == read_table(path)


@pytest.mark.parametrize("ending", [".json", ".bif", ".xmlbif", ".net", ".xdsl"])
def test_a_network_is_not_a_table(tmp_path, ending):
    path = tmp_path / f"asia{ending}"
    datasets.network("asia").save(path)
    with pytest.raises(DataError, match="this is a network, not a table of data"):
        Table.read(path)
