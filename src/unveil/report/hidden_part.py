"""One hidden variable on a page: is it warranted, what does it mean, its tables."""

from __future__ import annotations

import numpy as np

from unveil.discovery.averaged import Averaged
from unveil.discovery.call import DiscoveryReport
from unveil.discovery.evidence import Evidence
from unveil.discovery.meaning import Meaning
from unveil.discovery.procedure import Round
from unveil.evaluate.agreement import Agreement
from unveil.report.charts import bar_chart
from unveil.report.gamma_part import add_course
from unveil.report.page import Cell, Page
from unveil.report.probability_table import MOST_STATES, add_distribution, family
from unveil.report.profile_chart import Profile, profile_chart
from unveil.report.states_part import add_states
from unveil.table.variable import label_text

__all__ = ["add_hidden"]

MOST_PROFILES = 12
"""So many columns a picture of the states shows: those that tell most."""


def add_hidden(page: Page, report: DiscoveryReport, round_: Round) -> None:
    """Evidence, meaning, number of states and tables of the hidden variable that a round kept."""
    assert round_.kept is not None
    name = round_.kept.name
    page.section(f"{name}: is it warranted?")
    if name in report.evidence:
        _add_evidence(page, report.evidence[name])
    else:
        page.text(f"The score gains {round_.kept.gain:,.1f} nats; no other evidence was asked for.")
    if name in report.meaning:
        _add_meaning(page, report, report.meaning[name])
    for found in report.agreements:
        if found.name == name:
            _add_agreement(page, found)
    add_course(page, round_.kept)
    add_states(page, round_)
    _add_tables(page, report, name)
    for other in round_.kept.others:
        _add_other(page, report, name, other)


def _add_other(page: Page, report: DiscoveryReport, name: str, other: str) -> None:
    """A hidden variable that came with another: the evidence is for both together."""
    page.section(f"{other}: came with {name}")
    page.text(f"The evidence for {name} is that for both together.")
    if other in report.meaning:
        _add_meaning(page, report, report.meaning[other])
    _add_tables(page, report, other)


def _add_evidence(page: Page, proof: Evidence) -> None:
    low, high = proof.interval
    how = "each half of them was predicted with parameters of the other"
    if not proof.of_all:
        how = "everything was chosen anew without them, and one was chosen in "
        how += f"{proof.chosen:.0%} of the folds"
    items = [
        f"Score: {proof.words}; {proof.gain:+,.1f} nats.",
        f"Prediction: {proof.held_out.bits:+.4f} bits per row saved on rows left out "
        f"(95% interval {low:+.4f} to {high:+.4f}; {proof.verdict}); {how}.",
        *([f"Luck: {proof.luck_in_words}."] if proof.luck_in_words else []),
    ]
    if proof.averaged is not None:
        items.append(_averaged_in_words(proof.name, proof.averaged))
    if proof.n_resamples:
        items.append(
            f"Stability: preferred in {proof.stability:.0%} of {proof.n_resamples} resampled "
            "tables."
        )
    page.items(items)


def _averaged_in_words(name: str, found: Averaged) -> str:
    links = ", ".join(f"{n} {p:.0%}" for n, p in found.links.items() if p >= 0.005)
    states = ", ".join(f"{k} states {p:.0%}" for k, p in found.states.items() if p >= 0.005)
    return (
        f"Over the best {found.n_structures} structures: {name} is there with probability "
        f"{found.hidden:.0%}; linked to {links}; {states}."
    )


def _add_meaning(page: Page, report: DiscoveryReport, meaning: Meaning) -> None:
    name, network = meaning.name, report.network
    page.section(f"{name}: what does it mean?")
    page.items([p.words[0].upper() + p.words[1:] + "." for p in meaning.profiles])
    near = network.dag.markov_blanket(name)
    shown = [n for n in meaning.information if n in near] or list(meaning.information)
    profiles = [
        Profile(
            n, [label_text(x) for x in network.variable(n).labels], meaning.values[n],
            meaning.overall[n], f"tells {meaning.information[n]:.2g} bits",
        )
        for n in shown[:MOST_PROFILES]
    ]  # fmt: skip
    heads = [
        (f"{name} = {label_text(p.state)}", f"{p.share:.0%} of rows") for p in meaning.profiles
    ]
    page.figure(
        profile_chart(heads, profiles),
        "How probable each value is in each state; the stroke is its share in all rows. What tells "
        f"most about {name} comes first."
        + (f" {len(shown) - MOST_PROFILES} more are left out." * (len(shown) > MOST_PROFILES)),
    )
    page.open_details(f"What tells most about {name}", "among all columns")
    page.figure(
        bar_chart(list(meaning.information.items())[:20]),
        f"How many bits each variable tells about {name}.",
    )
    page.close_details()
    _add_typical_rows(page, report, meaning)


def _add_typical_rows(page: Page, report: DiscoveryReport, meaning: Meaning) -> None:
    """The rows most typical of each state, under the names they have."""
    kept = report.beside
    names = list(meaning.information)[:6]
    rows: list[list[Cell]] = []
    for profile in meaning.profiles:
        for row in profile.typical_rows[:2]:
            cells = report.table.select(names).row(row)
            shown: list[Cell] = []
            for n in names:
                label = "" if (cell := cells[n]) is None else label_text(cell)
                number = kept.number(row, n)
                shown.append(f"{number} ({label})" if number else label)
            rows.append([label_text(profile.state), kept.name_of(row), *shown])
    who = "row" if kept.id is None else kept.id
    page.table(["state", who, *names], rows, caption="Rows most typical of each state")


def _add_agreement(page: Page, found: Agreement) -> None:
    """The hidden states beside a column that was kept out: a table and a picture."""
    page.section(f"{found.name} beside {found.column}")
    page.text(found.words + ".")
    total = found.counts.sum(axis=1, keepdims=True)
    shares = np.divide(found.counts, total, out=np.zeros_like(found.counts), where=total > 0)
    overall = found.counts.sum(axis=0) / max(found.counts.sum(), 1e-300)
    heads = [
        (f"{found.name} = {label_text(s)}", f"{n:,.6g} cases")
        for s, n in zip(found.states, total[:, 0], strict=True)
    ]
    values = [label_text(v) for v in found.values]
    page.figure(
        profile_chart(heads, [Profile(found.column, values, shares, overall)]),
        f"The shares of {found.column} in each state; the stroke is its share in all rows.",
    )
    if len(values) <= MOST_STATES:
        rows: list[list[Cell]] = [
            [label_text(s), *(float(x) for x in line)]
            for s, line in zip(found.states, found.counts, strict=True)
        ]
        caption = f"Cases by most probable state of {found.name} and value of {found.column}"
        page.table([found.name, *values], rows, caption=caption)


def _add_tables(page: Page, report: DiscoveryReport, name: str) -> None:
    """The probability tables of the variable and of its children, folded away."""
    network = report.network
    page.subsection("Probability tables")
    for member in (name, *network.dag.children(name)):
        cpd = network.cpd(member)
        page.open_details(family(cpd), f"{cpd.variable.n_states} states")
        if cpd.parents:
            add_distribution(page, cpd)
        else:
            labels = [label_text(x) for x in cpd.variable.labels]
            share = network.posterior(of=member)[member][0]
            pairs = [(s, round(float(p), 4)) for s, p in zip(labels, share, strict=True)]
            page.figure(bar_chart(pairs[:MOST_STATES], width=460, most=1.0))
        page.close_details()
