"""Names for hidden variables and their states: `--name H1=severity`, `--state-names H1=a,b`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from unveil.errors import DataError

if TYPE_CHECKING:
    from unveil.model import Network

__all__ = [
    "NewNames",
    "NewStates",
    "class_name",
    "class_states",
    "new_names",
    "new_states",
    "renamed",
]

NewNames = Annotated[
    list[str] | None,
    typer.Option("--name", help="What to call a variable, OLD=NEW, as H1=severity; repeatable."),
]
NewStates = Annotated[
    list[str] | None,
    typer.Option(
        "--state-names", help="What to call its states, as severity=low,high, in order; repeatable."
    ),
]


def renamed(network: Network, names: Iterable[str] | None, states: Iterable[str] | None) -> Network:
    """The network with variables and states called as the options say."""
    new, lists = new_names(names), new_states(states)
    network = network.renamed(new)
    # Either name will do: the one a variable had, or the one it was just given.
    return network.relabelled({new.get(n, n): labels for n, labels in lists.items()})


def new_names(words: Iterable[str] | None) -> dict[str, str]:
    """What variables are to be called, from words such as 'H1=severity'."""
    return dict(_pair(pair, "--name", "H1=severity") for pair in words or ())


def new_states(words: Iterable[str] | None) -> dict[str, list[str]]:
    """What states are to be called, from words such as 'severity=low,high'."""
    pairs = (_pair(pair, "--state-names", "severity=low,high") for pair in words or ())
    return {name: _listed(labels) for name, labels in pairs}


def class_name(words: str) -> str:
    """The name of the hidden class: 'severity', or 'class=severity' as other commands say it."""
    old, sign, new = words.partition("=")
    if not sign:
        return words
    if old.strip() != "class" or "," in new or not new.strip():
        raise DataError(
            f"--name {words}: give the name alone, as --name severity; the names of its classes "
            "go into --state-names low,high"
        )
    return new.strip()


def class_states(words: str | None) -> list[str] | None:
    """The names of the classes: 'low,high', or 'severity=low,high' as other commands say it."""
    return None if words is None else _listed(words.rpartition("=")[2])


def _pair(words: str, option: str, example: str) -> tuple[str, str]:
    name, sign, value = (part.strip() for part in words.partition("="))
    if not (name and sign and value):
        raise DataError(f"{option} {words}: give it as {option} {example}")
    return name, value


def _listed(words: str) -> list[str]:
    listed = [word.strip() for word in words.split(",")]
    if not all(listed):
        raise DataError(f"--state-names {words}: give a name for every state, separated by commas")
    return listed
