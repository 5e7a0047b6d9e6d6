"""Write docs/python.md, the Python reference, from the docstrings of the public names.

python tools/make_python_docs.py          # write the page
python tools/make_python_docs.py --check  # say whether it is up to date (exit code 1: it is not)
"""

from __future__ import annotations

import argparse
import inspect
import re
import sys
from pathlib import Path
from typing import Any

import unveil

__all__ = ["page", "public_calls", "untold"]

PAGE = Path(__file__).parent.parent / "docs" / "python.md"

HEAD = """\
# Python reference

What `import unveil` offers, from the docstrings; `tools/make_python_docs.py` writes this page. The
[command line](cli.md) has the same words, with hyphens. `data` is always a `Table`, a pandas,
polars or Arrow frame, a dict of columns, an array, or the path of a file; `weights` a column's name
or one number for every row.
"""

GROUPS = {
    "Learning": (
        "learn", "fit", "discover", "latent_classes", "fit_em", "ib_em", "structural_em",
    ),
    "Predicting one column": ("learn_classifier", "Classifier"),
    "Judging": ("log_loss", "cross_validate"),
    "Tables": ("Table", "Variable", "open_rows"),
    "Networks": ("Network", "DAG", "TableCPD", "load", "save"),
    "scikit-learn": (
        "BayesianNetwork", "BayesianNetworkClassifier", "LatentClassModel",
        "HiddenVariableDiscovery", "Discretizer",
    ),
    "Settings, scores and priors": (
        "Settings", "Constraints", "BDeu", "BDe", "BIC", "MDL", "AIC", "K2",
        "EquivalentSampleSize", "PseudoCount", "PriorNetwork",
    ),
}  # fmt: skip


def public_calls() -> dict[str, Any]:
    """The functions and classes that `unveil` offers, by name."""
    found = {name: getattr(unveil, name) for name in unveil.__all__}
    return {n: c for n, c in found.items() if inspect.isfunction(c) or inspect.isclass(c)}


def untold(call: Any) -> list[str]:
    """The arguments of a call that its docstring says nothing about.

    Told are those that stand in code in the text or in a list of parameters, not in examples.
    """
    text = inspect.getdoc(call) or ""
    prose = "\n".join(x for x in text.splitlines() if not x.lstrip().startswith((">>>", "...")))
    code = " ".join(re.findall(r"`([^`]+)`", prose))
    listed = "\n".join(re.findall(r"^[a-z_]+(?:, [a-z_]+)*$", prose, re.MULTILINE))
    names = [p.name for p in _signature(call).parameters.values()]
    return [n for n in names if not re.search(rf"(?<!\w){n}(?!\w)", f"{code}\n{listed}")]


def page() -> str:
    """The whole page."""
    parts = [HEAD]
    calls = public_calls()
    for title, names in GROUPS.items():
        parts.append(f"\n## {title}\n")
        parts += [_entry(name, calls[name]) for name in names]
    return "".join(parts)


def _entry(name: str, call: Any) -> str:
    lines = [f"\n### {name}\n\n```text\n{_call(name, call)}\n```\n\n{_prose(call)}\n"]
    if inspect.isclass(call):
        lines.append(_members(call))
    return "".join(lines)


def _call(name: str, call: Any) -> str:
    words = [_parameter(p) for p in _signature(call).parameters.values()]
    line = f"{name}({', '.join(words)})"
    return line if len(line) <= 96 else f"{name}(\n    " + ",\n    ".join(words) + ",\n)"


def _signature(call: Any) -> inspect.Signature:
    signature = inspect.signature(call)
    return signature.replace(
        parameters=[p.replace(annotation=p.empty) for p in signature.parameters.values()],
        return_annotation=inspect.Signature.empty,
    )


def _parameter(parameter: inspect.Parameter) -> str:
    text = str(parameter)
    # Defaults that are made anew for every object have no text of their own.
    return re.sub(r"=<factory>", "=...", text)


def _prose(call: Any) -> str:
    """The docstring as Markdown: examples in blocks, parameters as a list."""
    out: list[str] = []
    lines = (inspect.getdoc(call) or "").splitlines()
    at = 0
    while at < len(lines):
        line = lines[at]
        if line.startswith(">>>"):
            block = []
            while at < len(lines) and lines[at].strip():
                block.append(lines[at])
                at += 1
            out += ["```text", *block, "```"]
            continue
        if at + 1 < len(lines) and re.fullmatch(r"-{3,}", lines[at + 1]):
            out += [f"**{line}**", ""]
            at += 2
            continue
        if re.fullmatch(r"[a-z_]+(, [a-z_]+)*", line) and lines[at + 1 : at + 2]:
            names = ", ".join(f"`{name}`" for name in line.split(", "))
            out.append(f"- {names}: {lines[at + 1].strip()}")
            at += 2
            continue
        out.append(line)
        at += 1
    return "\n".join(out)


def _members(kind: type) -> str:
    """A table of the public methods and properties, a line each."""
    rows = []
    for name, member in inspect.getmembers(kind):
        if name.startswith("_") or not (callable(member) or isinstance(member, property)):
            continue
        if not getattr(inspect.unwrap(_function(member)), "__module__", "").startswith("unveil"):
            continue
        first = (inspect.getdoc(member) or "").splitlines()[:1]
        what = name if isinstance(member, property) else f"{name}(...)"
        rows.append(f"| `{what}` | {(first[0] if first else '').replace('|', chr(92) + '|')} |")
    if not rows:
        return ""
    return "\n| | |\n| --- | --- |\n" + "\n".join(rows) + "\n"


def _function(member: Any) -> Any:
    return member.fget if isinstance(member, property) else getattr(member, "__func__", member)


def main() -> int:
    """Write the page, or check it; returns the exit code."""
    parser = argparse.ArgumentParser(description="Write docs/python.md from the docstrings.")
    parser.add_argument("--check", action="store_true", help="only say whether it is up to date")
    if not parser.parse_args().check:
        PAGE.write_text(page(), encoding="utf-8")
        print(f"{PAGE.name} written")
        return 0
    fresh = PAGE.exists() and PAGE.read_text(encoding="utf-8") == page()
    print(f"{PAGE.name} is {'up to date' if fresh else 'out of date: run this without --check'}")
    return 0 if fresh else 1


if __name__ == "__main__":
    sys.exit(main())
