"""The house: light to enter, every public name there, and imports that go one way only."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import unveil

SOURCE = Path(unveil.__file__).parent

# A room may import, when it is loaded, from rooms above it in this list and never from below
# (imports inside functions and for type checkers may point anywhere).
ROOMS = [
    "errors",
    "seeds",
    "progress",
    "files",
    "records",
    "anneal",
    "kernels",
    "table",
    "statistics",
    "engines",
    "graph",
    "model",
    "formats",
    "datasets",
    "score",
    "infer",
    "search",
    "evaluate",
    "em",
    "trees",
    "ideal",
    "learning",
    "bottleneck",
    "hidden",
    "discovery",
    "classify",
    "estimators",
    "report",
    "cli",
    "web",
]
PRESENT = {p.stem for p in SOURCE.glob("*.py")} | {
    p.parent.name for p in SOURCE.glob("*/__init__.py")
}
PRESENT -= {"__init__", "__main__"}
HEAVY = ["numba", "pyarrow", "matplotlib", "scipy", "sklearn", "pandas", "polars", "typer", "rich"]


# Names -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", unveil.__all__)
def test_every_public_name_is_there(name):
    assert getattr(unveil, name) is not None
    assert name in dir(unveil)


def test_public_names_come_once():
    assert len(set(unveil.__all__)) == len(unveil.__all__)


def test_only_our_names_are_shown():
    asked = "import unveil.cli.app, unveil.kernels, unveil; print(*dir(unveil))"
    done = subprocess.run(
        [sys.executable, "-c", asked], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == sorted(["__version__", *unveil.__all__])


def test_other_names_are_not():
    with pytest.raises(AttributeError, match="module 'unveil' has no attribute 'nothing'"):
        unveil.nothing  # noqa: B018


def test_every_room_that_others_use_can_be_entered_by_name():
    inner = {"cli", "files", "kernels", "seeds", "web"}
    assert PRESENT - inner - set(dir(unveil)) == set()


def test_type_checkers_see_the_same_names():
    tree = ast.parse((SOURCE / "__init__.py").read_text())
    (block,) = [n for n in tree.body if isinstance(n, ast.If)]
    seen = {a.asname or a.name for n in block.body for a in n.names}
    assert seen == set(unveil.__all__)


def test_the_version_is_that_of_the_distribution():
    from importlib.metadata import version

    assert unveil.__version__ == version("unveil")


# Weight ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("statement", ["import unveil", "import unveil.errors, unveil.progress"])
def test_importing_is_light(statement):
    asked = f"{statement}; import sys; print([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", asked], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"


# Directions ------------------------------------------------------------------------------------


def loaded_at_once(tree):
    """The modules of unveil that a file imports when it is loaded itself."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are written from the root of the package"
            if node.module == "unveil":
                yield from (f"unveil.{alias.name}" for alias in node.names)
            else:
                yield node.module
        yield from loaded_at_once(node)


def test_what_counts_as_loaded_at_once():
    code = """
import unveil.a
from unveil import b
if TYPE_CHECKING:
    from unveil.no import x
try:
    from unveil.c.deep import y
except ImportError:
    pass
class K:
    from unveil.d import z
    def method(self):
        from unveil.no import x
def function():
    import unveil.no
"""
    found = set(loaded_at_once(ast.parse(code)))
    assert found == {"unveil.a", "unveil.b", "unveil.c.deep", "unveil.d"}


def test_every_room_has_its_place():
    assert PRESENT - set(ROOMS) == set()


@pytest.mark.parametrize(
    "path", sorted(SOURCE.rglob("*.py")), ids=lambda p: str(p.relative_to(SOURCE))
)
def test_imports_point_up_only(path):
    room = path.relative_to(SOURCE).with_suffix("").parts[0]
    if room == "__init__":
        return
    above = {f"unveil.{name}" for name in ROOMS[: ROOMS.index(room) + 1]}
    below = [
        module
        for module in loaded_at_once(ast.parse(path.read_text()))
        if module.split(".")[0] == "unveil" and ".".join(module.split(".")[:2]) not in above
    ]
    assert below == []


def test_kernels_know_arrays_only():
    for path in (SOURCE / "kernels").glob("*.py"):
        tree = ast.parse(path.read_text())
        outside = [m for m in loaded_at_once(tree) if m.startswith("unveil.")]
        assert all(m.startswith("unveil.kernels") for m in outside), path.name
