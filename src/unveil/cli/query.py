"""`unveil query`: what follows from findings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unveil.cli.models import network_from
from unveil.cli.options import Seed, columns_named
from unveil.cli.outputs import writes_file
from unveil.cli.screen import note, say, show_table
from unveil.errors import DataError
from unveil.table.variable import Variable, label_text

if TYPE_CHECKING:
    from unveil.infer import Posterior
    from unveil.model import Network

__all__ = ["query"]


def query(
    model: Annotated[str, typer.Argument(help="A network file, or the name of a bundled network.")],
    given: Annotated[
        list[str] | None, typer.Option("--given", "-g", help="A finding, NAME=STATE; repeatable.")
    ] = None,
    do: Annotated[
        list[str] | None, typer.Option("--do", help="An action, NAME=STATE; repeatable.")
    ] = None,
    of: Annotated[
        list[str] | None,
        typer.Option("--of", help="Variables to ask about, 'A' or 'A,B'; repeatable."),
    ] = None,
    why: Annotated[
        bool, typer.Option("--why", help="Which finding mattered most for the first --of.")
    ] = False,
    ask_next: Annotated[
        bool, typer.Option("--next", help="What would tell most about the first --of.")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="The most probable states of everything together.")
    ] = False,
    picture: Annotated[
        Path | None,
        typer.Option(
            help="Draw the beliefs before and after (.svg).", callback=writes_file(".svg")
        ),
    ] = None,
    method: Annotated[
        str, typer.Option(help="exact, loopy, mean_field, gibbs or weighting.")
    ] = "exact",
    seed: Seed = None,
) -> None:
    """Ask a network what follows from findings (--given) and actions (--do)."""
    network = network_from(model)
    of = columns_named(of, network.names) or None
    findings = _pairs(network, given or [])
    actions = _pairs(network, do or [])
    acted = network.do(actions) if actions else network
    options: dict[str, Any] = {} if method == "exact" else {"method": method}
    if seed is not None and method != "exact":
        options["seed"] = seed
    if method == "exact" and acted.is_discrete:
        _forecast(acted, [*findings, *(of or acted.names)])
    after = acted.posterior(findings, of or None, **options)
    before = network.posterior(None, list(after.variables), **options)
    _show(before, after)
    import math

    if math.isfinite(float(after.log_evidence[0])) and findings:
        numbers = any(not network.variable(name).is_discrete for name in findings)
        what = "density" if numbers else "probability"
        say(f"{what} of the findings: {math.exp(float(after.log_evidence[0])):.6g}")
    if explain:
        _explain(acted, findings)
    if why or ask_next:
        _reasons(acted, findings, of, why, ask_next)
    if picture is not None:
        _draw(before, after, picture)


def _forecast(network: Network, names: list[str]) -> None:
    """Say beforehand how much memory a large question needs."""
    from unveil.infer.posterior import tree_of

    needed = tree_of(network, names).forecast
    if needed > 64 << 20:
        note(f"exact inference needs about {needed / 2**20:,.0f} MiB")


def _pairs(network: Network, words: list[str]) -> dict[str, Any]:
    """NAME=STATE texts as findings."""
    found: dict[str, Any] = {}
    for word in words:
        name, equals, state = word.partition("=")
        if not equals:
            raise DataError(f"a finding is written as NAME=STATE, not {word!r}")
        variable = network.variable(name.strip())
        if name.strip() in found:
            raise DataError(f"{name.strip()!r} is given twice")
        found[variable.name] = _value(variable, state.strip())
    return found


def _value(variable: Variable, text: str) -> Any:
    from unveil.infer.evidence import as_number

    if variable.is_discrete:
        return variable.labels[variable.code_of(text)]
    return as_number(variable, text)


def _show(before: Posterior, after: Posterior) -> None:
    rows = []
    for name, variable in after.variables.items():
        if not variable.is_discrete:
            for word in ("mean", "standard deviation"):
                p, q = before.of(name)[word], after.of(name)[word]
                rows.append([name if word == "mean" else "", word, f"{p:.4g}", f"{q:.4g}", ""])
            continue
        for s, label in enumerate(variable.labels):
            p, q = float(before[name][0, s]), float(after[name][0, s])
            row = [name if s == 0 else "", label_text(label), f"{p:.4f}", f"{q:.4f}", _bar(q)]
            if after.standard_errors:
                row.append(f"± {float(after.standard_errors[name][0, s]):.4f}")
            rows.append(row)
    head = ["variable", "state", "before", "after", ""]
    show_table([*head, "error"] if after.standard_errors else head, rows)


def _bar(share: float, width: int = 20) -> str:
    return "█" * round(share * width)


def _explain(network: Network, findings: dict[str, Any]) -> None:
    import math

    found = network.most_probable(findings)
    log_p = float(found.log_probability[0])
    what = "probability" if network.is_discrete else "density"
    say(f"most probable explanation ({what} {math.exp(log_p):.6g} with the findings):")
    for name, state in found.row().items():
        if name not in findings and state is not None:
            say(f"  {name} = {label_text(state)}")


def _reasons(
    network: Network, findings: dict[str, Any], of: list[str] | None, why: bool, ask_next: bool
) -> None:
    from unveil.infer import finding_influence, information_about

    if not of:
        raise DataError("--why and --next need a variable to ask about: --of NAME")
    target = of[0]
    if why and findings:
        say(f"what mattered most for {target}:")
        for item in finding_influence(network, findings, target):
            say(f"  {item.finding} = {label_text(item.value)}: {item.divergence:.4f} bits")
    if ask_next:
        say(f"what would tell most about {target}:")
        told = list(information_about(network, target, findings).items())[:8]
        for name, bits in told:
            say(f"  {name}: {bits:.4f} bits")
        if not told:
            say("  nothing: there is no other variable of its kind that is not given")


def _draw(before: Posterior, after: Posterior, path: Path) -> None:
    from unveil.files import atomic_write
    from unveil.report import before_after_chart

    rows = [
        (f"{name} = {label_text(label)}", float(before[name][0, s]), float(after[name][0, s]))
        for name, variable in after.variables.items()
        for s, label in enumerate(variable.labels)
    ]
    with atomic_write(path) as file:
        file.write(before_after_chart(rows))
    say(f"picture drawn to {path}")
