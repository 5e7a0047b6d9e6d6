"""`discover_page`: what `unveil discover` found, as a page to read."""

from __future__ import annotations

from unveil.discovery.call import DiscoveryReport
from unveil.discovery.summary import stop_in_words
from unveil.graph.names import Pair
from unveil.report.arcs_part import add_arcs, ranked, strengths
from unveil.report.before_after import before_after, change_of
from unveil.report.gamma_part import add_groups
from unveil.report.hidden_part import add_hidden
from unveil.report.page import Page
from unveil.report.picture import svg_text
from unveil.report.tried_part import add_comparison, add_tried
from unveil.table.core import Table
from unveil.table.places import in_short

__all__ = ["discover_page"]

CONSTRUCTED = (
    "Groups of variables that are linked more than their neighbours (semi-cliques) were each given "
    "a hidden parent; its number of states was found by merging the assignments of its "
    "surroundings, and the structure around it was adapted by structural EM. One hidden parent of "
    "everything (latent classes) was a candidate like any other."
)
FOLLOWED = (
    "A hidden parent of all columns was followed by information-bottleneck EM from telling nothing "
    "to EM's own solution, with several numbers of states and with the number that the rows ask "
    "for; structural EM then gave columns other parents where the score is better. Several hidden "
    "variables above one another were a candidate like any other."
)


def discover_page(report: DiscoveryReport, table_name: str) -> Page:
    """The page of a discovery: networks before and after, evidence, meaning, what was tried."""
    found = report.discovery
    page = Page(f"What is hidden in {table_name}", report.headline)
    early = stop_in_words(report.stopped)
    if early:
        page.notice(f"{early[0].upper()}{early[1:]}: this is the best so far, not the end of it.")
    page.facts(
        [
            ("rows", report.table.n_rows),
            *_cases(report.table),
            *_drawn(report),
            ("columns", report.table.n_columns),
            ("hidden variables", len(report.hidden)),
            ("score gained (nats)", f"{found.gain:+,.1f}"),
            ("candidates tried", sum(len(r.candidates) for r in found.rounds)),
            ("time", f"{found.elapsed:,.1f} s"),
        ]
    )
    arcs = ranked(report.arcs())
    widths = strengths(arcs)
    tips = {(a.parent, a.child): a.words for a in arcs}
    if report.hidden:
        _add_before_after(page, report, widths, tips)
    else:
        page.section("The network of what was observed")
        page.figure(
            svg_text(report.network, widths, tips=tips),
            "Parents above children. The thicker an arc, the more the score would lose without it.",
        )
    for round_ in found.rounds:
        if round_.kept is not None:
            add_hidden(page, report, round_)
    add_groups(page, report.network)
    page.section("Arcs, strongest first")
    add_arcs(page, arcs, " over the rows with hidden states filled in" if report.hidden else "")
    add_comparison(page, report)
    add_tried(page, report)
    _add_method(page, report)
    return page


def _drawn(report: DiscoveryReport) -> list[tuple[str, str]]:
    """How many rows candidates were looked for in, and how many judged them, if they differ."""
    if report.whole is None:
        return []
    drawn = ("rows drawn to look in", f"{report.whole.n_drawn:,.0f}")
    if report.whole.n_cases == report.table.total_weight:
        return [drawn]
    return [drawn, ("rows judged on", f"{report.whole.n_cases:,.0f}")]


def _cases(table: Table) -> list[tuple[str, str]]:
    """How many cases the rows stand for, if not each for one."""
    total = table.total_weight
    return [] if total == table.n_rows else [("total weight", f"{total:,.10g}")]


def _add_before_after(
    page: Page, report: DiscoveryReport, widths: dict[Pair, float], tips: dict[Pair, str]
) -> None:
    before, after = report.discovery.baseline, report.network
    change = change_of(before.dag, after.dag)
    first, second = before_after(before, after, widths, tips)
    page.section("Before and after")
    turned = " blue ones point the other way," if change.turned else ""
    page.figures(
        [
            (
                first.svg(),
                "Before: the network of what was observed."
                + (" Dashed arcs are gone afterwards." if change.removed else ""),
            ),
            (
                second.svg(),
                f"After: hidden variables are dashed. Orange arcs are new,{turned} and the "
                "thicker an arc, the more the score would lose without it.",
            ),
        ]
    )
    kinds = {"New": change.added, "Gone": change.removed, "Turned": change.turned}
    told = {kind: in_short([f"{a} → {b}" for a, b in arcs]) for kind, arcs in kinds.items() if arcs}
    page.items([f"{kind}: {words}." for kind, words in told.items()])


def _add_method(page: Page, report: DiscoveryReport) -> None:
    found = report.discovery
    size = found.settings.equivalent_sample_size
    way = FOLLOWED if found.settings.method_for(report.table) == "bottleneck" else CONSTRUCTED
    page.section("How it was done").text(
        f"A network was learned over the observed columns. {way} Scores are BDeu for the observed "
        "network and the Cheeseman-Stutz approximation with hidden variables, in nats.",
        f"The equivalent sample size is {size:g}: before any row was seen, each table of "
        f"probabilities counted as {size:g} case{'s' * (size != 1)}, spread evenly. With few rows, "
        "or close calls, another one can give another answer: try it.",
        f"The search {_ended(report)}. Seed {found.seed}.",
    )


def _ended(report: DiscoveryReport) -> str:
    early = stop_in_words(report.stopped)
    return f"was {early}" if early else "came to its end"
