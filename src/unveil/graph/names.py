"""Node names at the door: checked once, turned into positions, and drawn for `repr`.

All graphs of this room share these helpers. Wherever a function takes several names, a plain
string is one name, never its letters.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import islice

from unveil.errors import ModelError, did_you_mean

__all__ = [
    "Names",
    "Pair",
    "as_names",
    "as_pairs",
    "check_same_nodes",
    "drawing",
    "position_of",
    "positions_by_name",
]

Names = str | Iterable[str]
Pair = tuple[str, str]

_SHOWN = 8


def as_names(names: Names) -> tuple[str, ...]:
    """The names as a tuple; a plain string is one name.

    >>> as_names("rain"), as_names(["rain", "sprinkler"])
    (('rain',), ('rain', 'sprinkler'))
    """
    return (names,) if isinstance(names, str) else tuple(names)


def as_pairs(pairs: Iterable[Pair], word: str) -> list[Pair]:
    """The arcs or edges (`word` says which, for the message) as a list of pairs.

    >>> as_pairs([["rain", "grass"]], "arc")
    [('rain', 'grass')]
    """
    result = []
    for pair in pairs:
        ends = as_names(pair)
        if len(ends) != 2:
            raise ModelError(f"an {word} is a pair of node names, like ('A', 'B'); got {pair!r}")
        result.append((ends[0], ends[1]))
    return result


def positions_by_name(nodes: tuple[str, ...]) -> dict[str, int]:
    """Where each node stands in the node order; refuses names that are not distinct strings.

    >>> positions_by_name(("rain", "sprinkler"))
    {'rain': 0, 'sprinkler': 1}
    """
    positions: dict[str, int] = {}
    for place, name in enumerate(nodes):
        if not isinstance(name, str):
            raise ModelError(
                f"node names are strings; got {name!r} ({type(name).__name__}). "
                f"Rename it first, for example to {str(name)!r}."
            )
        if name in positions:
            raise ModelError(
                f"node {name!r} is listed twice, at places {positions[name] + 1} and {place + 1}; "
                "every node needs a name of its own"
            )
        positions[name] = place
    return positions


def position_of(positions: Mapping[str, int], name: str) -> int:
    """The position of a node, or a ModelError that lists the names one could have meant.

    >>> position_of({"rain": 0, "sprinkler": 1}, "Rain")
    Traceback (most recent call last):
    unveil.errors.ModelError: unknown node 'Rain'. Did you mean 'rain'? The nodes are 'rain', 'sprinkler'.
    """  # noqa: E501
    try:
        return positions[name]
    except (KeyError, TypeError):
        raise ModelError(_unknown(positions, name)) from None


def check_same_nodes(first: Collection[str], second: Collection[str]) -> None:
    """Nothing when both graphs have the same nodes, else a ModelError naming the odd ones.

    >>> check_same_nodes(["rain", "grass"], ["grass", "rain"])
    """
    odd = sorted(set(first) ^ set(second))
    if odd:
        raise ModelError(
            "only graphs over the same nodes can be compared; found in only one of the two: "
            f"{_listing(odd)}"
        )


def drawing(kind: str, nodes: tuple[str, ...], links: Iterable[tuple[str, str, str]]) -> str:
    """A readable one-line picture of a graph: its links, then its isolated nodes.

    >>> drawing("DAG", ("A", "B", "C"), [("A", "->", "B")])
    'DAG(A -> B, C)'
    """
    links = tuple(links)
    linked = {name for start, _, end in links for name in (start, end)}
    parts = [f"{start} {mark} {end}" for start, mark, end in links]
    parts += [name for name in nodes if name not in linked]
    if len(parts) > _SHOWN:
        parts[_SHOWN:] = [f"... {len(nodes)} nodes, {len(links)} links"]
    return f"{kind}({', '.join(parts)})"


def _unknown(positions: Mapping[str, int], name: object) -> str:
    known = f"The nodes are {_listing(positions)}." if positions else "The graph has no nodes."
    return f"unknown node {name!r}.{did_you_mean(name, positions)} {known}"


def _listing(names: Collection[str]) -> str:
    shown = ", ".join(repr(name) for name in islice(names, _SHOWN))
    return shown if len(names) <= _SHOWN else f"{shown}, ... ({len(names)} in all)"
