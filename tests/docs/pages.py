"""The pages of the documentation and what is in them: code blocks, links and headings."""

from __future__ import annotations

import importlib.util
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

__all__ = ["ROOT", "Block", "anchors", "blocks", "links", "page_id", "pages", "tool"]

ROOT = Path(__file__).parent.parent.parent
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text and the line of the page it begins at.

    `follows` is the language of the block right before it, if only blank lines are between.
    """

    language: str
    text: str
    line: int
    follows: str


def pages() -> list[Path]:
    """All pages: those in docs/ and the ones at the top."""
    top = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    return [*top, *sorted((ROOT / "docs").glob("*.md"))]


def page_id(page: Path) -> str:
    """The name of a page in a test's name."""
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    found: list[Block] = []
    end, before = 0, ""
    for match in _FENCE.finditer(text):
        follows = before if not text[end : match.start()].strip() else ""
        line = text[: match.start()].count("\n") + 2
        found.append(Block(match[1], match[2], line, follows))
        end, before = match.end(), match[1]
    return found


def links(page: Path) -> list[str]:
    """The addresses that a page's links and pictures lead to, outside code."""
    return _LINK.findall(_without_code(page))


def anchors(page: Path) -> set[str]:
    """The names of a page's headings, as links spell them."""
    return {_slug(heading) for heading in _HEADING.findall(_without_code(page))}


def tool(name: str) -> ModuleType:
    """A script of tools/ as a module."""
    path = ROOT / "tools" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their own module up
    spec.loader.exec_module(module)
    return module


def _without_code(page: Path) -> str:
    return _FENCE.sub("", page.read_text(encoding="utf-8"))


def _slug(heading: str) -> str:
    """As Python-Markdown's table of contents makes them."""
    words = re.sub(r"[^\w\s-]", "", heading.replace("`", "")).strip().lower()
    return re.sub(r"[-\s]+", "-", words)
