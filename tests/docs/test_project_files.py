"""What stands around the package: the citation, the pins, the picture, the claim about pickle."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

import unveil

from .pages import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
SOURCES = sorted(Path(unveil.__file__).parent.rglob("*.py"))


def test_the_citation_is_of_this_version():
    told = (ROOT / "CITATION.cff").read_text()
    fields = dict(re.findall(r"^([a-z-]+): (.+)$", told, re.MULTILINE))
    assert fields["cff-version"] == "1.2.0"
    assert fields["version"] == PROJECT["version"] == unveil.__version__
    assert fields["license"] == PROJECT["license"]
    assert {"title", "message"} <= set(fields)
    assert re.search(r"^authors:\n  - name: ", told, re.MULTILINE)


def test_mkdocs_stays_below_the_version_without_themes():
    (pin,) = [need for need in PROJECT["optional-dependencies"]["docs"] if "mkdocs" in need]
    assert pin.endswith("<2")


def test_the_readme_shows_a_report():
    picture = ROOT / "docs" / "images" / "report.png"
    assert "(docs/images/report.png)" in (ROOT / "README.md").read_text()
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size < 60_000


# docs/formats.md: no reader runs code that a file brings.

RUN_CODE = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "yaml", "runpy"}
CALLS = {"eval", "exec", "__import__"}
PIPES = {"discovery/processes.py", "discovery/served.py"}
"""Where worker processes and whoever started them pickle what they send each other."""


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_nothing_unpickles_or_evaluates(source):
    tree = ast.parse(source.read_text())
    piped = source.relative_to(Path(unveil.__file__).parent).as_posix() in PIPES
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            refused = RUN_CODE - {"pickle"} if piped else RUN_CODE
            assert not {alias.name.split(".")[0] for alias in node.names} & refused
        elif isinstance(node, ast.ImportFrom):
            assert (node.module or "").split(".")[0] not in RUN_CODE
            assert not (node.module == "joblib" and {"load"} & {a.name for a in node.names})
        elif isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            assert not (piped and called in ("open", "Path.open", "read_bytes", "pickle.load"))
            assert called not in CALLS
            assert called not in ("joblib.load", "np.load", "numpy.load", "pd.read_pickle")
