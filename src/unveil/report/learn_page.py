"""`learn_page`: what `unveil learn` found, as a page to read."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import numpy as np

from unveil.errors import UnveilError
from unveil.graph.names import Pair
from unveil.model.cpd import CPD
from unveil.model.marginal import marginal
from unveil.model.network import Network
from unveil.model.table_cpd import table_of
from unveil.report.charts import bar_chart
from unveil.report.page import Cell, Page
from unveil.report.picture import svg_text
from unveil.table.variable import label_text

__all__ = ["ArcRecord", "learn_page"]

MOST_ROWS = 50
"""Rows of a probability table that a page shows."""
MOST_STATES = 24
"""A variable with more states gets no chart and no table: nobody reads a page of numbers."""
MOST_VARIABLES = 300
"""With more variables the page lists families only, to stay light."""
CHEAP_CELLS = 100_000
"""A marginal that needs a larger table on the way is left out."""


class ArcRecord(Protocol):
    """An arc and what speaks for it."""

    @property
    def parent(self) -> str:
        """The parent."""

    @property
    def child(self) -> str:
        """The child."""

    @property
    def loss(self) -> float:
        """The nats that the score loses when the arc is removed."""

    @property
    def words(self) -> str:
        """A sentence about the arc."""

    @property
    def confidence(self) -> float | None:
        """The share of bootstrap samples that have the arc; `None` if none were drawn."""


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
) -> Page:
    """The page of a learned network: key facts, picture, arcs by strength, variables, notes."""
    page = Page(f"What depends on what in {table_name}", _summary(network, n_rows))
    page.facts(
        [
            ("rows", n_rows),
            ("variables", len(network.names)),
            ("arcs", network.dag.n_arcs),
            ("free parameters", network.n_parameters),
            (f"score ({score_name})", f"{score:,.1f}"),
            ("search", search_name),
            ("time", _duration(seconds)),
        ]
    )
    ranked = sorted(arcs, key=lambda arc: (-_rank(arc.loss), arc.parent, arc.child))
    page.section("The network").figure(
        svg_text(network, _strengths(ranked), tips={(a.parent, a.child): a.words for a in ranked}),
        "Parents above children. The thicker an arc, the more the score would lose without it."
        + (" Hidden variables are dashed." if network.hidden else ""),
    )
    _add_arcs(page, ranked)
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


def _strengths(arcs: Iterable[ArcRecord]) -> Mapping[Pair, float]:
    """Losses scaled to 0..1 by their square roots, so that one giant does not thin the rest."""
    losses = {(a.parent, a.child): max(0.0, _rank(a.loss)) for a in arcs}
    finite = [loss for loss in losses.values() if loss < math.inf]
    most = max(finite, default=0.0) or 1.0
    return {arc: math.sqrt(min(loss, most) / most) for arc, loss in losses.items()}


def _rank(loss: float) -> float:
    return -math.inf if math.isnan(loss) else loss


def _add_arcs(page: Page, arcs: Sequence[ArcRecord]) -> None:
    page.section("Arcs, strongest first")
    if not arcs:
        page.text(
            "No arc was worth its price: the table gives no reason to connect any two variables."
        )
        return
    sampled = any(arc.confidence is not None for arc in arcs)
    page.text(
        "Strength is what the score loses, in nats, when the arc is taken out and nothing else "
        "changes."
        + (" Confidence is the share of resampled tables in which the arc was found." * sampled)
        + " Click a heading to sort."
    )
    head = ["from", "to", "strength", *["confidence"] * sampled, "in words"]
    rows: list[list[Cell]] = [
        [a.parent, a.child, a.loss, *[a.confidence] * sampled, a.words] for a in arcs
    ]
    page.table(head, rows, sortable=True)


def _add_variables(page: Page, network: Network) -> None:
    page.section("Variables")
    if len(network.names) > MOST_VARIABLES:
        page.text(f"More than {MOST_VARIABLES} variables: their tables are in the model file.")
        page.items([_family(cpd) for cpd in network.cpds.values()])
        return
    for name, cpd in network.cpds.items():
        page.open_details(name, _remark(cpd))
        _add_marginal(page, network, name)
        _add_distribution(page, cpd)
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


def _add_distribution(page: Page, cpd: CPD) -> None:
    if not cpd.variable.is_discrete or cpd.variable.n_states > MOST_STATES:
        page.text(*cpd.describe().splitlines()[:MOST_ROWS])
        return
    if not cpd.parents:
        return
    cpd = table_of(cpd)
    shown = min(cpd.n_parent_rows, MOST_ROWS)
    digits = np.array(np.unravel_index(np.arange(shown), [v.n_states for v in cpd.parents])).T
    rows: list[list[Cell]] = [
        [label_text(v.labels[d]) for v, d in zip(cpd.parents, own, strict=True)]
        + [round(float(p), 4) for p in chances]
        for own, chances in zip(digits, cpd.rows[:shown], strict=True)
    ]
    head = [v.name for v in cpd.parents] + [label_text(s) for s in cpd.variable.labels]
    page.table(head, rows, caption=_family(cpd), shaded=True)
    if shown < cpd.n_parent_rows:
        page.text(f"The first {shown} of {cpd.n_parent_rows:,} rows; the model file has them all.")


def _is_cheap(network: Network, name: str) -> bool:
    """Whether the ancestors are few and their tables small, so that summing them out is quick."""
    relevant = [name, *network.dag.ancestors(name)]
    return len(relevant) <= 60 and all(
        network.variable(x).is_discrete and table_of(network.cpd(x)).values.size <= CHEAP_CELLS
        for x in relevant
    )


def _family(cpd: CPD) -> str:
    given = ", ".join(p.name for p in cpd.parents)
    return f"P({cpd.variable.name} | {given})" if given else f"P({cpd.variable.name})"


def _remark(cpd: CPD) -> str:
    kind = f"{cpd.variable.n_states} states" if cpd.variable.is_discrete else "continuous"
    given = ", ".join(p.name for p in cpd.parents)
    hidden = "hidden, " if cpd.variable.hidden else ""
    return f"{hidden}{kind}" + (f", given {given}" if given else "")


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds >= 0.1 else f"{seconds * 1000:.0f} ms"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
