"""`numbers_page`: what `unveil discover` found in a table of numbers, as a page to read."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from unveil.discovery.continuous.loadings import arc_weights
from unveil.discovery.continuous.report import NumbersReport
from unveil.discovery.summary import evidence_words, stop_in_words
from unveil.evaluate.column_checks import column_checks
from unveil.evaluate.log_loss import LogLoss
from unveil.model.network import Network
from unveil.model.nonlinear_cpd import NonlinearCPD
from unveil.report.loadings_chart import loadings_chart
from unveil.report.page import Cell, Page
from unveil.report.paths_part import CHECK_HEAD, check_rows
from unveil.report.picture import svg_text
from unveil.report.response_chart import Response, response_chart

__all__ = ["numbers_page"]

MOST_DRAWN = 80
"""Networks of more variables are told, not drawn."""
MOST_LOADINGS, MOST_CURVES = 40, 9


def numbers_page(report: NumbersReport, table_name: str) -> Page:
    """The page: network with standardised weights, evidence, loadings, what was tried."""
    page = Page(f"What is hidden in {table_name}", report.headline)
    early = stop_in_words(report.stopped)
    if early:
        page.notice(f"{early[0].upper()}{early[1:]}: this is the best so far, not the end of it.")
    page.facts(
        [
            ("rows", report.table.n_rows),
            ("columns", report.table.n_columns),
            ("missing cells", report.table.n_missing),
            ("hidden variables", len(report.hidden)),
            ("score gained (nats)", f"{report.gain:+,.1f}"),
            ("networks tried", len(report.tried)),
            ("time", f"{report.elapsed:,.1f} s"),
        ]
    )
    _add_network(page, report)
    for name in report.hidden:
        _add_hidden(page, report, name)
    _add_checks(page, report)
    _add_comparison(page, report)
    _add_tried(page, report)
    _add_method(page, report)
    return page


def _add_network(page: Page, report: NumbersReport) -> None:
    network = report.network
    page.section("The network")
    if len(network.names) > MOST_DRAWN:
        page.text(f"{network!r} has too many variables for a picture; see model.json.")
        return
    weights = arc_weights(network, report.table)
    labels = {arc: f"{w:+.2f}" for arc, w in weights.items()} if len(weights) <= 30 else None
    strength = {arc: min(abs(w), 1.0) for arc, w in weights.items()}
    tips = {arc: f"weight {w:+.3f} in standard units" for arc, w in weights.items()}
    shares = {
        n: 1 - float(cpd.variance) / float(np.nanvar(report.table.column(n)))
        for n, cpd in network.cpds.items()
        if n in report.table and cpd.parents and hasattr(cpd, "variance")
    }
    captions = {n: f"R² {max(share, 0.0):.2f}" for n, share in shares.items()}
    bent = " Of a curve, that is its slope on average." if report.settings.curve else ""
    page.figure(
        svg_text(network, strength, labels=labels, tips=tips, captions=captions),
        "Parents above children; hidden variables are dashed. The thicker an arc, the larger its "
        f"weight in standard units{', beside it' if labels else ''}.{bent} R² is the share of a "
        "column's variance that its parents explain.",
    )


def _add_hidden(page: Page, report: NumbersReport, name: str) -> None:
    own = report.loadings[name]
    page.section(f"{name}, behind {len(own)} columns")
    if name in report.evidence:
        page.items(evidence_words(report.evidence[name]))
    page.figure(
        loadings_chart([(x.child, x.weight, x.bits) for x in own[:MOST_LOADINGS]]),
        f"The loadings of {name}: how many standard deviations a column moves when {name} moves by "
        f"one, and how many bits per row {name} saves about it."
        + (f" {len(own) - MOST_LOADINGS} more are left out." * (len(own) > MOST_LOADINGS)),
    )
    values = report.values()[name]
    _add_curves(page, report, name, values)
    kept = report.beside
    order = np.argsort(values, kind="stable")
    ends = [*order[:3].tolist(), *order[-3:].tolist()] if len(order) >= 6 else order.tolist()
    shown = [x.child for x in own[:6]]
    rows: list[list[Cell]] = [
        [kept.name_of(row), float(values[row]),
         *(None if np.isnan(c := report.table.column(n)[row]) else float(c) for n in shown)]
        for row in ends
    ]  # fmt: skip
    who = "row" if kept.id is None else kept.id
    page.table([who, name, *shown], rows, caption=f"Rows where {name} is lowest and highest")


def _add_curves(
    page: Page, report: NumbersReport, name: str, values: npt.NDArray[np.float64]
) -> None:
    """The curves of the strongest children, other parents at their means."""
    panels = []
    along = np.linspace(float(values.min()), float(values.max()), 60)
    for child in (x.child for x in report.loadings[name][:MOST_CURVES]):
        cpd = report.network.cpd(child)
        if isinstance(cpd, NonlinearCPD):
            others = [
                along if p.name == name else np.full(60, _middle(report, p.name))
                for p in cpd.parents
            ]
            column = np.asarray(report.table.column(child), np.float64)
            panels.append(Response(child, (along, cpd.means(others, 60)), (values, column)))
    if panels:
        page.figure(
            response_chart(panels),
            f"The strongest children of {name} against its posterior mean, a dot per row; the "
            "curve is the model's, other parents at their means.",
        )


def _middle(report: NumbersReport, name: str) -> float:
    """The mean of a column; of a hidden variable zero."""
    return float(np.nanmean(report.table.column(name))) if name in report.table else 0.0


def _add_checks(page: Page, report: NumbersReport) -> None:
    if len(report.network.names) > MOST_DRAWN or not report.network.dag.n_arcs:
        return
    checks = column_checks(report.network, report.table)
    page.section("Does the network describe the columns?").text(
        "Every column predicted from the others of its row. R² is the share of its variance that "
        "they explain; what is left should look like noise: symmetric, without heavy tails, "
        "without a bend."
        + (" Where it is bent, try --family sigmoid." * (report.settings.curve is None))
    )
    page.table(CHECK_HEAD, check_rows(checks), sortable=True)


def _add_comparison(page: Page, report: NumbersReport) -> None:
    if not report.straw_men:
        return

    def line(name: str, network: Network, score: float, held_out: LogLoss | None) -> list[Cell]:
        bits = [None, None] if held_out is None else [held_out.bits, held_out.standard_error]
        # The mean and variance of a hidden variable are fixed, not fitted.
        n_parameters = network.n_parameters - 2 * len(network.hidden)
        return [name, round(score, 1), n_parameters, round(-2 * score, 1), *bits]

    page.section("Compared with simpler explanations")
    rows = [line(s.name, s.network, s.score, s.held_out) for s in report.straw_men]
    rows.append(line("what was found", report.network, report.score, report.held_out))
    page.table(
        ["model", "score (nats)", "free parameters", "BIC", "held-out bits per row",
         "standard error"],
        rows,
    )  # fmt: skip
    page.text(
        "The score is log L - d/2 log N: the larger, the better. BIC is on the usual scale, "
        "-2 log L + d log N: the smaller, the better. So are the bits, which are densities here "
        "and may be negative; only differences mean something."
    )


def _add_tried(page: Page, report: NumbersReport) -> None:
    if not report.tried:
        return
    page.section("Everything that was tried")
    rows: list[list[Cell]] = [
        [t.how, len(t.graph.hidden), t.graph.dag.n_arcs, t.gain] for t in report.tried[:40]
    ]
    page.table(["how it began", "hidden", "arcs", "gain (nats)"], rows, sortable=True)


def _add_method(page: Page, report: NumbersReport) -> None:
    page.section("How it was done").text(
        *(LINES_METHOD if report.settings.curve is None else CURVES_METHOD),
        "A hidden variable has to gain more than the best of all sets of children would by luck. "
        "Scores are BIC, in nats.",
        "A hidden variable has mean 0 and variance 1, and its sign is such that it pulls its "
        "children upwards on the whole: nothing in the table could tell scale, origin or sign.",
        *(
            [
                f"The columns {', '.join(report.given)} have states and were held fixed: every "
                "number is what is left of it beyond what they say of it on average. The network, "
                "and the model file, are about what is left."
            ]
            if report.given
            else []
        ),
        f"Seed {report.seed}.",
    )


LINES_METHOD = (
    "Every column is a linear function of its parents with Gaussian noise. A network was learned "
    "over the columns alone. Then hidden parents were introduced where the ideal further parents "
    "of several columns agree, or after all columns were given common parents whose axes were "
    "turned, or inside of the first network; columns chose their parents by structural EM, with "
    "and without arcs between them, and on walks over networks near by.",
)
CURVES_METHOD = (
    "Every column is a bounded curve of a weighted sum of its parents, with Gaussian noise. A "
    "network of curves was learned over the columns alone. Hidden parents were looked for with "
    "lines, over the columns and over their normal scores (ranks, spaced like those of normal "
    "numbers); curves were then fitted to the graphs found, and arcs learned anew by structural "
    "EM.",
    "What a curve's hidden parents are in a row has no closed form: every row gets the Gaussian "
    "that makes a bound of its likelihood largest. Scores and bits of networks with hidden "
    "variables come from that bound, so they are rather too modest.",
)
