"""Errors and warnings: one message, a hint in the words of each face, and a safe journey."""

import pickle
import warnings

import pytest

from unveil import errors
from unveil.errors import CycleError, DataError, Hint, UnveilError, UnveilWarning

HINT = Hint("Read it with header=False.", "Read it with --no-header.")
KINDS = [
    kind
    for name in errors.__all__
    if isinstance(kind := getattr(errors, name), type)
    and issubclass(kind, (UnveilError, UnveilWarning))
    and kind is not CycleError
]


@pytest.mark.parametrize("kind", KINDS)
def test_each_face_has_its_words(kind):
    error = kind("there are no rows.", hint=HINT)
    assert str(error) == "there are no rows. Read it with header=False."
    assert error.said("python") == str(error)
    assert error.said("command") == "there are no rows. Read it with --no-header."


@pytest.mark.parametrize("kind", KINDS)
def test_a_message_without_a_hint_is_the_same_for_all(kind):
    assert str(kind("no rows")) == kind("no rows").said("command") == "no rows"


def test_a_face_without_advice_gets_the_message_alone():
    assert DataError("no.", hint=Hint('Say quote="".')).said("command") == "no."


@pytest.mark.parametrize(
    "error", [*(kind("no rows.", hint=HINT) for kind in KINDS), CycleError(["a", "b", "a"])]
)
def test_errors_travel_between_processes(error):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert again.said("command") == error.said("command")
    assert again.__dict__ == error.__dict__


@pytest.mark.parametrize("kind", KINDS)
def test_errors_can_be_made_by_new_alone(kind):
    """As clusters do when they bring an error from a worker."""
    made = kind.__new__(kind, "no rows.")
    assert made.args == ("no rows.",)


def test_a_warning_keeps_its_hint_for_whoever_listens():
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        warnings.warn(UnveilWarning("only numbers.", hint=HINT), stacklevel=1)
    assert heard[0].message.said("command") == "only numbers. Read it with --no-header."
