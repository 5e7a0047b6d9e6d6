"""`learn_page`: what `unveil learn` found, as a page to read."""

from __future__ import annotations

from collections.abc import Sequence

from unveil.errors import UnveilError
from unveil.evaluate.paths import PathDiagram
from unveil.model.cpd import CPD
from unveil.model.marginal import marginal
from unveil.model.network import COMPACT, Network
from unveil.model.table_cpd import table_of
from unveil.report.arcs_part import ArcRecord, add_arcs, ranked, strengths
from unveil.report.charts import bar_chart
from unveil.report.page import Page
from unveil.report.paths_part import add_checks, node_captions, path_labels
from unveil.report.picture import svg_text
from unveil.report.probability_table import MOST_STATES, add_distribution, family
from unveil.table.variable import label_text

__all__ = ["ArcRecord", "learn_page"]

MOST_VARIABLES = 300
"""With more variables the page lists families only, to stay light."""
LINES_CAPTION = (
    " Beside an arc, its weight: by how many of its standard deviations the child moves when the "
    "parent moves by one of its own, all else equal. Behind a name, the share explained."
)
CHEAP_CELLS = 100_000
"""A marginal that needs a larger table on the way is left out."""


def learn_page(
    network: Network,
    *,
    table_name: str,
    n_rows: int,
    score_name: str,
    score: float,
    seconds: float,
    search_name: str,
    arcs: Sequence[ArcRecord],
    notes: Sequence[str] = (),
    bic: float | None = None,
    paths: PathDiagram | None = None,
) -> Page:
    """The page of a learned network: key facts, picture, arcs by strength, variables, notes.

    `bic` is the one on the usual scale, to be shown beside the score (see `usual_bic`); `paths` are
    the weights and residual checks of continuous variables (see `path_diagram`).
    """
    page = Page(f"What depends on what in {table_name}", _summary(network, n_rows))
    page.facts(
        [
            ("rows", n_rows),
            ("variables", len(network.names)),
            ("arcs", network.dag.n_arcs),
            ("free parameters", network.n_parameters),
            (f"score ({score_name}, nats)", f"{score:,.1f}"),
            *([] if bic is None else [("BIC (-2 log L + d log N)", f"{bic:,.1f}")]),
            ("search", search_name),
            ("time", _duration(seconds)),
        ]
    )
    strongest = ranked(arcs)
    page.section("The network").figure(
        svg_text(
            network,
            strengths(strongest),
            labels=path_labels(paths) or None,
            tips={(a.parent, a.child): a.words for a in strongest},
            captions=node_captions(paths),
        ),
        "Parents above children. The thicker an arc, the more the score would lose without it."
        + (LINES_CAPTION if path_labels(paths) else "")
        + (" Hidden variables are dashed." if network.hidden else ""),
    )
    page.section("Arcs, strongest first")
    add_arcs(page, strongest)
    add_checks(page, paths)
    _add_variables(page, network)
    if notes:
        page.section("Worth knowing about the data").items(notes)
    return page


def _summary(network: Network, n_rows: int) -> str:
    alone = [x for x in network.names if not network.dag.neighbours(x)]
    text = f"A Bayesian network learned from {n_rows:,} row{'s' * (n_rows != 1)}."
    if alone:
        shown = ", ".join(alone[:6]) + (f" and {len(alone) - 6} more" if len(alone) > 6 else "")
        text += f" On its own, connected to nothing: {shown}."
    return text


def _add_variables(page: Page, network: Network) -> None:
    page.section("Variables")
    if len(network.names) > MOST_VARIABLES:
        page.text(f"More than {MOST_VARIABLES} variables: their tables are in the model file.")
        page.items([family(cpd) for cpd in network.cpds.values()])
        return
    for name, cpd in network.cpds.items():
        page.open_details(name, _remark(cpd))
        _add_marginal(page, network, name)
        add_distribution(page, cpd)
        page.close_details()


def _add_marginal(page: Page, network: Network, name: str) -> None:
    variable = network.variable(name)
    if variable.states is None or variable.n_states > MOST_STATES or not _is_cheap(network, name):
        return
    try:
        chances = marginal(network, [name])
    except UnveilError:
        return
    rows = [(label_text(s), float(p)) for s, p in zip(variable.states, chances, strict=True)]
    page.figure(bar_chart([(s, round(min(1.0, p), 4)) for s, p in rows], width=460, most=1.0))


def _is_cheap(network: Network, name: str) -> bool:
    """Whether the ancestors are few and their tables small, so that summing them out is quick."""
    relevant = [name, *network.dag.ancestors(name)]
    return len(relevant) <= 60 and all(
        network.variable(x).is_discrete and table_of(network.cpd(x)).values.size <= CHEAP_CELLS
        for x in relevant
    )


def _remark(cpd: CPD) -> str:
    kind = f"{cpd.variable.n_states} states" if cpd.variable.is_discrete else "continuous"
    given = ", ".join(p.name for p in cpd.parents)
    hidden = "hidden, " if cpd.variable.hidden else ""
    compact = f", as a {COMPACT[cpd.kind]}" if cpd.kind in COMPACT else ""
    return f"{hidden}{kind}" + (f", given {given}" if given else "") + compact


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds >= 0.1 else f"{seconds * 1000:.0f} ms"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
