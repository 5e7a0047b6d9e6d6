"""The JSON examples in docs/formats.md are network files, written exactly as unveil writes them."""

import pytest

from unveil.formats import dumps, loads

from .pages import ROOT, blocks

COMPACT = {"tree", "default_table", "noisy_or"}
"""Kinds whose keys the table of the page tells, and whose files `tests/model` writes and reads."""

EXAMPLES = [b.text for b in blocks(ROOT / "docs" / "formats.md") if b.language == "json"]


@pytest.mark.parametrize("text", EXAMPLES)
def test_examples_are_as_written(text):
    assert dumps(loads(text, "json"), "json") == text


def test_examples_show_every_kind_of_distribution():
    from unveil.formats.native import CPD_KINDS

    for kind in set(CPD_KINDS) - COMPACT:
        assert any(f'"kind": "{kind}"' in text for text in EXAMPLES), kind
