"""Hierarchies of hidden variables from nested groups of columns, or from the quadrants of images.

A group is a list of columns and of groups, or a name for one: `["a", "b", ["c", "d"]]`,
`{"stress": ["a", "b"], "growth": {"fast": ["c"], "slow": ["d", "e"]}}`, or the same as JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from os import PathLike
from pathlib import Path
from typing import Any

from unveil.errors import DataError, did_you_mean
from unveil.table.core import Table
from unveil.table.places import free_name, listing, tell
from unveil.table.variable import Variable
from unveil.trees.shape import TreeShape

__all__ = ["Groups", "hierarchy_shape", "quadrants"]

Groups = Any
"""Nested lists and dicts of column names, JSON text of these, the path of a file of it, or
`quadrants:16x16x4`."""
QUADRANTS = re.compile(r"quadrants:(\d+)x(\d+)x(\d+)")
ROOT = "root"


def hierarchy_shape(
    table: Table, groups: Groups, n_states: int | Mapping[str, int] = 2
) -> TreeShape:
    """A hidden variable for every group, above its columns and the variables of its groups.

    Groups without a name are called H1, H2 and so on. `n_states` is one number, or one for every
    hidden variable by name. A column that no group names is left out, which is told.

    >>> rows = Table.from_frame({"a": [0, 1], "b": [1, 0], "c": [0, 0], "d": [1, 1]})
    >>> print(hierarchy_shape(rows, {"top": ["a", ["b", "c", "d"]]}, 2))
    top (2 states)
      a
      H1 (2 states)
        b
        c
        d
    """
    parents: dict[str, str | None] = {}
    _enter(_read(groups, table.names), None, None, table, parents, count(1))
    inner = [name for name in parents if name not in table]
    left_out = [name for name in table.names if name not in parents]
    if left_out:
        tell(f"no group names {listing(left_out, 6)}: left out of the hierarchy")
    hidden = {name: Variable(name, range(_states(n_states, name, inner)), hidden=True)
              for name in inner}  # fmt: skip
    return TreeShape(parents, hidden)


def quadrants(
    height: int, width: int, levels: int, names: Sequence[str] | None = None
) -> list[Any]:
    """Nested groups of the pixels of an image: each group is a quarter of the one above (Fig. 6.5).

    The pixels are the last level. With three levels there is one hidden variable for the image and
    one for every quadrant (5 in all), with four also one for every quadrant of these (21). `names`
    are the columns of the pixels, row by row; p1, p2 and so on if not given.

    >>> quadrants(2, 4, 3, "abcdefgh")
    [['a', 'b'], ['c', 'd'], ['e', 'f'], ['g', 'h']]
    """
    if min(height, width) < 1 or levels < 2:
        raise DataError(
            f"{height} x {width} pixels in {levels} levels: give at least one pixel and two levels"
        )
    own = [f"p{i + 1}" for i in range(height * width)] if names is None else list(names)
    if len(own) != height * width:
        raise DataError(
            f"{height} x {width} pixels need as many columns, {height * width}; {len(own)} were "
            "given"
        )
    return _quarter(range(height), range(width), levels, width, own)


def _quarter(
    rows: range, columns: range, levels: int, width: int, names: Sequence[str]
) -> list[Any]:
    if levels <= 2 or len(rows) * len(columns) == 1:
        return [names[r * width + c] for r in rows for c in columns]
    return [
        _quarter(top, left, levels - 1, width, names)
        for top in _halves(rows)
        for left in _halves(columns)
    ]


def _halves(span: range) -> list[range]:
    middle = (span.start + span.stop + 1) // 2
    return [part for part in (range(span.start, middle), range(middle, span.stop)) if part]


def _read(groups: Groups, columns: Sequence[str]) -> Any:
    """The groups themselves, where words for them or the path of a file were given."""
    if not isinstance(groups, (str, PathLike)):
        return groups
    text, source = str(groups), "the groups"
    if image := QUADRANTS.fullmatch(text):
        height, width, levels = (int(number) for number in image.groups())
        return quadrants(height, width, levels, columns)
    if not text.lstrip().startswith(("[", "{")):
        path = Path(groups)
        source = str(path)
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(f"{path}: the groups cannot be read: {error}") from None
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise DataError(
            f"{source}: this is no JSON: {error}. Groups are nested lists of column names, such as "
            '[["a", "b"], ["c", "d"]], or named: {"top": {"left": ["a", "b"], "right": ["c"]}}'
        ) from None


def _enter(
    group: Any,
    name: str | None,
    parent: str | None,
    table: Table,
    parents: dict[str, str | None],
    numbers: Iterator[int],
) -> None:
    """Add a group and all below it."""
    if isinstance(group, Mapping) and len(group) == 1 and name is None:
        name, group = next(iter(group.items()))
    own = _group_name(name, parent, table, parents, numbers)
    parents[own] = parent
    members = group.items() if isinstance(group, Mapping) else ((None, m) for m in _items(group))
    n_before = len(parents)
    for called, member in members:
        if called is None and isinstance(member, str):
            _enter_column(member, own, table, parents)
        else:
            _enter(member, called, own, table, parents, numbers)
    if len(parents) == n_before:
        raise DataError(f"the group {own!r} is empty; a group needs a column or another group")


def _enter_column(name: str, group: str, table: Table, parents: dict[str, str | None]) -> None:
    if name not in table:
        raise DataError(
            f"group {group!r} names the column {name!r}, and the table has none; it has "
            f"{listing(table.names)}." + did_you_mean(name, table.names)
        )
    if name in parents:
        where = f"group {group!r} twice"
        if parents[name] != group:
            where = f"group {group!r} and in {parents[name]!r}"
        raise DataError(
            f"the column {name!r} is in {where}; in a hierarchy every column is in one group, once"
        )
    parents[name] = group


def _items(group: Any) -> list[Any]:
    if isinstance(group, (list, tuple)):
        return list(group)
    raise DataError(
        f"a group is a list of column names and groups, or a dict of named groups; got {group!r}"
    )


def _group_name(
    name: str | None,
    parent: str | None,
    table: Table,
    parents: Mapping[str, str | None],
    numbers: Iterator[int],
) -> str:
    if name is None:
        word = ROOT if parent is None else f"H{next(numbers)}"
        return free_name(word, [*table.names, *parents])
    name = str(name)
    if name in table:
        raise DataError(f"a group is called {name!r}, as a column is; call it something else")
    if name in parents:
        raise DataError(f"two groups are called {name!r}; every group needs its own name")
    return name


def _states(n_states: int | Mapping[str, int], name: str, known: Sequence[str]) -> int:
    if not isinstance(n_states, Mapping):
        return n_states
    for other in n_states:
        if other not in known:
            raise DataError(
                f"n_states names {other!r}; the hidden variables are {listing(known)}."
                + did_you_mean(other, known)
            )
    if name not in n_states:
        raise DataError(f"n_states says nothing about {name!r}; give one number for all, or all")
    return n_states[name]
