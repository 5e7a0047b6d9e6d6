"""However a file is damaged, the answer is a network or an error of ours, never a crash."""

import warnings
from contextlib import suppress

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from unveil import Network
from unveil.errors import UnveilError
from unveil.formats import dumps, loads

from .networks import plain_network

FORMATS = ["json", "bif", "xmlbif", "net", "xdsl", "uai"]
TEXTS = {name: dumps(plain_network(9, 4).with_hidden(["V1"]), name) for name in FORMATS}

pieces = st.one_of(
    st.sampled_from(list('{}()[];,|"=<>/\\%#&-.0e\n ')),
    st.sampled_from(
        ["table", "default", "variable", "potential", "/*", "//", "nan", "1e999", "9" * 30]
    ),
    st.text(max_size=5),
)


@pytest.mark.parametrize("format", FORMATS)
@settings(max_examples=150, deadline=None)
@given(
    damages=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 40), pieces), min_size=1, max_size=4)
)
@example(damages=[(0.5, 10**6, "")])
def test_damage_is_survived(format, damages):
    text = TEXTS[format]
    for where, length, piece in damages:
        at = int(where * len(text))
        text = text[:at] + piece + text[at + length :]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with suppress(UnveilError):
            assert isinstance(loads(text, format), Network)


@pytest.mark.parametrize("format", FORMATS)
@settings(max_examples=50, deadline=None)
@given(text=st.text(max_size=200))
def test_any_text_is_survived(format, text):
    with pytest.raises(UnveilError):
        loads(text, format)
