"""The Python reference is up to date, and tells of every argument of every public call."""

import pytest

from .pages import ROOT, tool

MAKER = tool("make_python_docs")


def test_the_python_reference_is_up_to_date():
    written = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    assert written == MAKER.page(), "run: python tools/make_python_docs.py"


def test_every_public_call_has_its_place():
    grouped = [name for names in MAKER.GROUPS.values() for name in names]
    assert sorted(grouped) == sorted(MAKER.public_calls())


@pytest.mark.parametrize("name", MAKER.public_calls())
def test_every_argument_is_in_the_docstring(name):
    assert MAKER.untold(MAKER.public_calls()[name]) == []


def test_an_argument_that_is_not_told_would_be_noticed():
    def call(told, untold):
        """What you get from `told`.

        >>> call(1, untold=2)
        """

    assert MAKER.untold(call) == ["untold"]
