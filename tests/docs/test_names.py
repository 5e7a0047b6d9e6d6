"""Nothing public goes unmentioned: names, scores, searches, methods, formats, errors."""

import re

import pytest

import unveil
from unveil import errors
from unveil.formats import FORMATS
from unveil.infer.approximate import METHODS
from unveil.score import SCORES
from unveil.search import SEARCHES

from .pages import ROOT, blocks


def _code(page):
    """What a page sets as code: its blocks, and what stands between backticks."""
    spans = re.findall(r"`([^`\n]+)`", page.read_text(encoding="utf-8"))
    return "\n".join([*spans, *(block.text for block in blocks(page))])


REFERENCES = ("cli.md", "python.md")
"""Pages made from the program itself, which mention everything."""

GUIDES = "\n".join(
    _code(page) for page in sorted((ROOT / "docs").glob("*.md")) if page.name not in REFERENCES
)


def mentioned(name):
    """Whether a guide has the name in code."""
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", GUIDES) is not None


@pytest.mark.parametrize("name", unveil.__all__)
def test_every_public_name_is_mentioned(name):
    assert mentioned(name)


@pytest.mark.parametrize(
    "room", ["score", "search", "evaluate", "infer", "em", "classify", "report"]
)
def test_every_name_of_a_room_is_mentioned(room):
    module = __import__(f"unveil.{room}", fromlist=["__all__"])
    assert [name for name in module.__all__ if not mentioned(name)] == []


@pytest.mark.parametrize("name", [*SCORES, *SEARCHES, *METHODS, *FORMATS, *errors.__all__])
def test_every_choice_is_mentioned(name):
    assert mentioned(name)


def test_a_missing_name_would_be_noticed():
    assert not mentioned("no_such_name_anywhere")
