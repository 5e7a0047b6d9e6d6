"""No Python on the command line: sentences keep such words for the Python side of a hint."""

import ast
import re
from pathlib import Path

import pytest

import unveil

SOURCES = sorted(Path(unveil.__file__).parent.rglob("*.py"))
PYTHON_ONLY = {"estimators"}
"""Rooms that the command line does not reach."""

PYTHON = re.compile(
    r"""(?x)
    \b(?!sep|unveil)[a-z_]{2,}=(?=[\[{('"\d]|\.\.\.|\s|$|,|\)|;)  # name=..., as an argument
    | \b[a-z_]+\.[a-z_]+\(                                  # table.folded(
    | \bunveil\.[A-Za-z]                                    # unveil.Discretizer
    | \b[a-z_]+\(\)                                         # describe()
    | \b(True|False|None)\b
    """
)


def sentences(tree):
    """The texts of every error, warning and note in a file, without what hints say in Python."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _name(node.func).endswith(("Error", "Warning", "tell")):
            if _name(node.func) == "TypeError":
                continue  # a mistake in a program, not in data
            yield from ((node.lineno, text) for part in node.args for text in _texts(part))
        if isinstance(node, ast.Call) and _name(node.func) == "Hint" and len(node.args) > 1:
            yield from ((node.lineno, text) for text in _texts(node.args[1]))


def _name(function):
    return function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")


def _texts(node):
    if isinstance(node, ast.Call):
        return  # a hint, or a text made elsewhere
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        yield "".join(v.value if isinstance(v, ast.Constant) else "{}" for v in node.values)
    else:
        for child in ast.iter_child_nodes(node):
            yield from _texts(child)


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_no_sentence_speaks_python(path):
    if PYTHON_ONLY & set(path.parts):
        return
    tree = ast.parse(path.read_text(encoding="utf-8"))
    spoken = [(line, text) for line, text in sentences(tree) if PYTHON.search(text)]
    assert not spoken, f"{path}: say this in Hint(python, command): {spoken}"
