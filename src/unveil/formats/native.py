"""unveil's own format: versioned JSON that loses nothing. The schema is in docs/formats.md."""

from __future__ import annotations

import json
import math
import re
import warnings
from collections.abc import Mapping
from typing import Any

from unveil.errors import FormatError, ModelError, UnveilError, UnveilWarning
from unveil.formats.spelling import checked_variable
from unveil.model.conditional_gaussian_cpd import ConditionalGaussianCPD
from unveil.model.cpd import CPD
from unveil.model.default_cpd import DefaultTableCPD
from unveil.model.gaussian_cpd import LinearGaussianCPD
from unveil.model.network import Network
from unveil.model.noisy_or_cpd import NoisyOrCPD
from unveil.model.nonlinear_cpd import NonlinearCPD
from unveil.model.table_cpd import TableCPD
from unveil.model.tree_cpd import TreeCPD
from unveil.table.variable import Variable

__all__ = ["CPD_KINDS", "read_native", "write_native"]

FORMAT = "unveil-network"
VERSION = 1

CPD_KINDS: dict[str, type[CPD]] = {
    kind.kind: kind
    for kind in (
        TableCPD,
        TreeCPD,
        DefaultTableCPD,
        NoisyOrCPD,
        LinearGaussianCPD,
        ConditionalGaussianCPD,
        NonlinearCPD,
    )
}
"""The kinds of conditional distributions a file may hold; a new kind is one entry."""

_SURROGATE = re.compile("[\ud800-\udfff]")


def read_native(text: str) -> Network:
    """The network in an unveil JSON text; every part is checked."""
    root = _Place(_parsed(text), "$")
    _check_head(root)
    root.only("format", "version", "name", "description", "variables", "cpds")
    variables: dict[str, Variable] = {}
    for place in root.items("variables"):
        variable = _read_variable(place)
        if variable.name in variables:
            raise place.error(f"variable {variable.name!r} is declared twice")
        variables[variable.name] = variable
    cpds: dict[str, CPD] = {}
    for place in root.items("cpds"):
        cpd = _read_cpd(place, variables)
        if cpd.variable.name in cpds:
            raise place.error(f"variable {cpd.variable.name!r} has two distributions")
        cpds[cpd.variable.name] = cpd
    without = next((name for name in variables if name not in cpds), None)
    if without is not None:
        raise FormatError(f"$.cpds: variable {without!r} has no distribution")
    if not variables:
        raise FormatError("$.variables: the file declares no variables")
    ordered = [cpds[name] for name in variables]
    return Network(ordered, root.get("name", str, ""), root.get("description", str, ""))


def write_native(network: Network) -> str:
    """The network as unveil JSON text, one variable or row of a table per line."""
    variables = [_written_variable(v) for v in network.variables]
    lines = [
        "{",
        f' "format": "{FORMAT}",',
        f' "version": {VERSION},',
        f' "name": {_dumped(network.name)},',
        f' "description": {_dumped(network.description)},',
        f' "variables": [\n  {_lines(variables, 2)}\n ],',
        f' "cpds": [\n  {_cpd_lines(network)}\n ]',
        "}",
    ]
    return "\n".join(lines) + "\n"


def _written_variable(variable: Variable) -> dict[str, Any]:
    if variable.states is None:
        return {"name": variable.name, "kind": "continuous", "hidden": variable.hidden}
    fields = {"name": variable.name, "kind": "discrete", "states": list(variable.states)}
    if variable.cuts is not None:
        fields["cuts"] = list(variable.cuts)
    return {**fields, "hidden": variable.hidden}


def _cpd_lines(network: Network) -> str:
    return ",\n  ".join(map(_written_cpd, network.cpds.values()))


def _written_cpd(cpd: CPD) -> str:
    head = {"variable": cpd.variable.name, "parents": [p.name for p in cpd.parents]}
    fields = {**head, "kind": cpd.kind, **cpd.to_dict()}
    parts = [
        f'"{key}": [\n    {_lines(value, 4)}\n   ]'
        if isinstance(value, list) and value and isinstance(value[0], list)
        else f'"{key}": {_dumped(value)}'
        for key, value in fields.items()
    ]
    return "{" + ", ".join(parts) + "}"


def _lines(items: list[Any], indent: int) -> str:
    return (",\n" + " " * indent).join(map(_dumped, items))


def _dumped(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError:
        raise FormatError(
            "a state label or number is infinite or undefined (inf or nan); JSON cannot hold it. "
            "Relabel that state first."
        ) from None
    # Half a surrogate pair is a legal part of a Python string, but UTF-8 has no place for it.
    return _SURROGATE.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


class _Place:
    """A JSON value and the path to it, so that errors can say where they are."""

    def __init__(self, value: Any, path: str) -> None:
        if not isinstance(value, dict):
            raise FormatError(f"{path}: expected an object {{...}}, got {_kind(value)}")
        self.value: dict[str, Any] = value
        self.path = path

    def error(self, sentence: str) -> FormatError:
        return FormatError(f"{self.path}: {sentence}")

    def only(self, *keys: str) -> None:
        unknown = [key for key in self.value if key not in keys]
        if unknown:
            warnings.warn(
                f"{self.path}: unknown key {unknown[0]!r} was ignored", UnveilWarning, stacklevel=4
            )

    def get(self, key: str, kind: type, default: Any = None) -> Any:
        if key not in self.value:
            if default is None:
                raise self.error(f"the key {key!r} is missing")
            return default
        value = self.value[key]
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            words = {str: "a text", list: "a list", int: "a whole number", bool: "true or false"}
            raise FormatError(f"{self.path}.{key}: expected {words[kind]}, got {_kind(value)}")
        return value

    def items(self, key: str) -> list[_Place]:
        values = self.get(key, list)
        return [_Place(value, f"{self.path}.{key}[{i}]") for i, value in enumerate(values)]


def _parsed(text: str) -> Any:
    def refuse(constant: str) -> float:
        raise FormatError(f"the file holds {constant}, which is not a JSON number")

    try:
        return json.loads(text, object_pairs_hook=_without_repeats, parse_constant=refuse)
    except json.JSONDecodeError as error:
        cut_off = " (is the file cut off?)" if error.pos >= len(text.rstrip()) else ""
        raise FormatError(
            f"line {error.lineno}, column {error.colno}: this is not JSON: {error.msg}{cut_off}"
        ) from None
    except RecursionError:
        raise FormatError("the JSON is nested absurdly deep; no network looks like that") from None
    except ValueError as error:  # a whole number of thousands of digits
        if isinstance(error, UnveilError):
            raise
        raise FormatError(f"the JSON holds a number that cannot be read: {error}") from None


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for i, key in enumerate(keys) if key in keys[:i])
        raise FormatError(f"the key {twice!r} is given twice in one object")
    return found


def _check_head(root: _Place) -> None:
    if root.value.get("format") != FORMAT:
        came = root.value.get("format")
        raise FormatError(
            f"$.format: expected {FORMAT!r}, got {'nothing' if came is None else repr(came)[:60]}; "
            "this JSON is not a network that unveil wrote"
        )
    version = root.get("version", int)
    if version > VERSION:
        raise FormatError(
            f"$.version: the file was made by a newer unveil (version {version} of the format; "
            f"this one reads up to {VERSION}). Update unveil to read it."
        )
    if version < 1:
        raise FormatError(f"$.version: there is no version {version}; expected {VERSION}")


def _read_variable(place: _Place) -> Variable:
    place.only("name", "kind", "states", "cuts", "hidden")
    name, kind = place.get("name", str), place.get("kind", str, "discrete")
    if kind == "continuous":
        for key in ("states", "cuts"):
            if key in place.value:
                raise place.error(f"a continuous variable has no {key}")
        return checked_variable(name, None, place.get("hidden", bool, False), place.path)
    if kind != "discrete":
        raise FormatError(f"{place.path}.kind: expected 'discrete' or 'continuous', got {kind!r}")
    states = place.get("states", list)
    for i, state in enumerate(states):
        where = f"{place.path}.states[{i}]"
        if not isinstance(state, str | int | float):
            raise FormatError(
                f"{where}: expected a text, a number or a boolean, got {_kind(state)}"
            )
        if isinstance(state, float) and not math.isfinite(state):
            raise FormatError(f"{where}: the number is too large for a label")
    hidden = place.get("hidden", bool, False)
    return checked_variable(name, states, hidden, place.path, _read_cuts(place))


def _read_cuts(place: _Place) -> list[float] | None:
    if "cuts" not in place.value:
        return None
    cuts = place.get("cuts", list)
    for i, number in enumerate(cuts):
        if not isinstance(number, int | float) or isinstance(number, bool):
            raise FormatError(f"{place.path}.cuts[{i}]: expected a number, got {_kind(number)}")
    return cuts


def _read_cpd(place: _Place, variables: Mapping[str, Variable]) -> CPD:
    kind = place.get("kind", str)
    if kind not in CPD_KINDS:
        known = ", ".join(map(repr, CPD_KINDS))
        raise FormatError(f"{place.path}.kind: unknown kind {kind!r}; known are {known}")
    variable = _known(place.get("variable", str), variables, f"{place.path}.variable")
    parents = [
        _known(name, variables, f"{place.path}.parents[{i}]")
        for i, name in enumerate(place.get("parents", list))
    ]
    try:
        return CPD_KINDS[kind].from_dict(variable, parents, place.value)
    except UnveilError as error:
        raise type(error)(f"{place.path}: {error}") from None
    except OverflowError:
        raise ModelError(f"{place.path}: a number is too large to be a probability") from None


def _known(name: Any, variables: Mapping[str, Variable], path: str) -> Variable:
    if not isinstance(name, str) or name not in variables:
        raise FormatError(f"{path}: {name!r} is not one of the file's variables")
    return variables[name]


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    kinds = {dict: "an object", list: "a list", str: "a text", bool: "true or false"}
    return kinds.get(type(value), "a number")
