"""`discover_page`: what `unveil discover` found, as a page to read."""

from __future__ import annotations

from unveil.discovery.call import DiscoveryReport
from unveil.discovery.evidence import Evidence
from unveil.discovery.meaning import Meaning
from unveil.discovery.procedure import Round
from unveil.report.charts import bar_chart, line_chart
from unveil.report.merge_tree import merge_tree
from unveil.report.page import Page
from unveil.report.picture import svg_text
from unveil.table.core import Table
from unveil.table.variable import label_text

__all__ = ["discover_page"]


def discover_page(report: DiscoveryReport, table_name: str) -> Page:
    """The page of a discovery: networks before and after, evidence, meaning, what was tried."""
    found = report.discovery
    page = Page(f"What is hidden in {table_name}", _headline(report))
    page.facts(
        [
            ("rows", _rows(report.table)),
            ("columns", report.table.n_columns),
            ("hidden variables", len(report.hidden)),
            ("score gained (nats)", f"{found.gain:+,.1f}"),
            ("candidates tried", sum(len(r.candidates) for r in found.rounds)),
            ("time", f"{found.elapsed:,.1f} s"),
        ]
    )
    page.section("Before and after")
    page.figure(svg_text(found.baseline), "The network learned from what was observed.")
    if report.hidden:
        page.figure(
            svg_text(report.network, highlight=report.hidden),
            "With hidden variables, dashed.",
        )
    for round_ in found.rounds:
        if round_.kept is not None:
            name = round_.kept.name
            _hidden(page, report, round_, report.evidence.get(name), report.meaning.get(name))
    _straw_men(page, report)
    _candidates(page, report)
    page.section("How it was done").text(
        "A network was learned over the observed columns. Groups of variables that are linked more "
        "than their neighbours (semi-cliques) were each given a hidden parent; its number of "
        "states was found by merging the assignments of its surroundings, and the structure "
        "around it was adapted by structural EM. Scores are BDeu for the observed network and the "
        "Cheeseman-Stutz approximation with hidden variables, in nats.",
        f"Search ended: {found.stopped}. Seed {found.seed}; equivalent sample size "
        f"{found.settings.equivalent_sample_size:g}.",
    )
    return page


def _rows(table: Table) -> str:
    """How many rows there are, and how many cases they stand for."""
    total = table.total_weight
    return f"{table.n_rows:,}" + (f", of weight {total:,g}" if total != table.n_rows else "")


def _headline(report: DiscoveryReport) -> str:
    if not report.hidden and report.discovery.stopped != "converged":
        return report.summary
    if not report.hidden:
        return "No hidden variable is warranted by these rows."
    parts = []
    for name in report.hidden:
        proof = report.evidence.get(name)
        doubt = ""
        if proof is not None and proof.interval[0] <= 0:
            doubt = f" (rows left out: {proof.verdict})"
        parts.append(
            f"{name} with {report.network.variable(name).n_states} states behind "
            f"{', '.join(report.network.dag.children(name))}{doubt}"
        )
    return "Found: " + "; ".join(parts) + "."


def _hidden(
    page: Page,
    report: DiscoveryReport,
    round_: Round,
    proof: Evidence | None,
    meaning: Meaning | None,
) -> None:
    assert round_.kept is not None
    name = round_.kept.name
    page.section(f"{name}: is it warranted?")
    if proof is not None:
        low, high = proof.interval
        items = [
            f"Score: {proof.words} ({proof.gain:+,.1f} nats).",
            f"Prediction: {proof.held_out.bits:+.4f} bits per row saved on rows left out "
            f"(95% interval {low:+.4f} to {high:+.4f}; {proof.verdict}).",
        ]
        if proof.n_resamples:
            items.append(
                f"Stability: preferred in {proof.stability:.0%} of {proof.n_resamples} resampled "
                "tables."
            )
        page.items(items)
    if meaning is not None:
        _meaning(page, report.table, meaning)
    if round_.kept.agglomeration is not None:
        _states(page, round_)


def _meaning(page: Page, table: Table, meaning: Meaning) -> None:
    page.section(f"{meaning.name}: what does it mean?")
    page.items([p.words[0].upper() + p.words[1:] + "." for p in meaning.profiles])
    top = list(meaning.information.items())[:10]
    page.figure(bar_chart(top), f"How many bits each variable tells about {meaning.name}.")
    names = [name for name, _ in top[:6]]
    rows: list[list[str | float]] = []
    for profile in meaning.profiles:
        for row in profile.typical_rows[:2]:
            cells = table.row(row)
            shown = ["" if cells[n] is None else label_text(cells[n]) for n in names]  # type: ignore[arg-type]
            rows.append([label_text(profile.state), float(row + 1), *shown])
    page.table(["state", "row", *names], rows, caption="Rows most typical of each state")


def _states(page: Page, round_: Round) -> None:
    assert round_.kept is not None
    assert round_.kept.agglomeration is not None
    tree, refined, chosen = round_.kept.agglomeration, round_.kept.refined, round_.kept.n_states
    page.section(f"{tree.name}: how many states?")
    counts = [k + 1 for k, s in enumerate(tree.scores) if s > -float("inf")]
    best = counts.index(chosen) if chosen in counts else None
    page.figure(
        line_chart(
            counts,
            [float(tree.scores[k - 1]) for k in counts],
            x_name="states",
            y_name="score of the completed rows (nats)",
            highlight=best,
        ),
        "Agglomeration: the score of the completed rows against the number of states.",
    )
    if refined:
        tried = sorted(refined)
        page.figure(
            line_chart(
                tried,
                [refined[k] for k in tried],
                x_name="states",
                y_name="Cheeseman-Stutz (nats)",
                highlight=tried.index(chosen) if chosen in tried else None,
            ),
            "The best few by a short EM.",
        )
    labels = [round_.before.variable(name).labels for name in tree.blanket]
    leaves = [
        ", ".join(label_text(of[code]) for of, code in zip(labels, row, strict=True))
        for row in tree.assignments
    ]
    merges = [
        (int(a), int(b), float(c)) for (a, b), c in zip(tree.merges, tree.changes, strict=True)
    ]
    if merges:
        page.open_details("The tree of merges", f"assignments of {', '.join(tree.blanket)}")
        page.figure(merge_tree(leaves, merges, chosen), "Strong lines: merges that were made.")
        page.close_details()


def _straw_men(page: Page, report: DiscoveryReport) -> None:
    if not report.straw_men:
        return
    page.section("Compared with simpler explanations")
    rows: list[list[str | float]] = [
        [s.name, f"{s.score:,.1f}", f"{s.held_out.bits:.4f}", f"{s.held_out.standard_error:.4f}"]
        for s in report.straw_men
    ]
    own = report.held_out
    bits, error = (f"{own.bits:.4f}", f"{own.standard_error:.4f}") if own is not None else ("", "")
    rows.append(["what was found", f"{report.discovery.score:,.1f}", bits, error])
    page.table(["model", "score (nats)", "held-out bits per row", "standard error"], rows)


def _candidates(page: Page, report: DiscoveryReport) -> None:
    rounds = [r for r in report.discovery.rounds if r.candidates]
    if not rounds:
        return
    page.section("Everything that was tried")
    for number, round_ in enumerate(rounds, start=1):
        page.open_details(f"Round {number}", f"{len(round_.candidates)} candidates")
        page.table(
            ["children", "states", "gain (nats)", "verdict"],
            [
                [", ".join(c.children), float(c.n_states), f"{c.gain:+,.1f}", c.words]
                for c in round_.candidates
            ],
            sortable=True,
        )
        page.close_details()
