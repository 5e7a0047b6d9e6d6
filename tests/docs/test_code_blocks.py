"""Every Python block of the documentation runs, and prints what the page says it prints.

The blocks of a page run in order and share their names, in an empty folder. A `text` block right
after a `python` block is what that one prints; `...` stands for anything.
"""

import contextlib
import doctest
import io
import math

import pytest

from .pages import blocks, page_id, pages

CHECK = doctest.OutputChecker()
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE

WITH_CODE = [page for page in pages() if any(b.language == "python" for b in blocks(page))]


def test_there_are_pages_with_code():
    assert len(WITH_CODE) >= 8


@pytest.mark.parametrize("page", WITH_CODE, ids=page_id)
def test_code_runs_and_prints_what_the_page_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    printed = ""
    for block in blocks(page):
        where = f"{page_id(page)}, line {block.line}"
        if block.language == "python":
            printed = _run(block.text, where, names)
        elif block.language == "text" and block.follows == "python":
            assert CHECK.check_output(block.text, printed, FLAGS), (
                f"{where}: the page says\n{block.text}\nbut it prints\n{printed}"
            )


def test_a_wrong_output_would_be_noticed():
    assert CHECK.check_output("H1: ... states\n", "H1: 2 states\n", FLAGS)
    assert not CHECK.check_output("0.1000\n", "0.1001\n", FLAGS)
    assert math.isclose(len(_run("print('x')", "here", {})), 2)


def _run(code, where, names):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, where, "exec"), names)
    return out.getvalue()
