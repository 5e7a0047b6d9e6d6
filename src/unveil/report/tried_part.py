"""What else there was, on a page: simpler explanations, and every candidate once."""

from __future__ import annotations

from collections.abc import Sequence

from unveil.discovery.call import DiscoveryReport
from unveil.discovery.candidates import Candidate, Refused, Verdict
from unveil.discovery.choice import luck, n_places
from unveil.discovery.summary import PAYING
from unveil.evaluate.log_loss import LogLoss
from unveil.evaluate.usual_bic import usual_bic
from unveil.model.network import Network
from unveil.report.page import Cell, Page
from unveil.table.places import in_short

__all__ = ["add_comparison", "add_tried", "distinct"]


def add_comparison(page: Page, report: DiscoveryReport) -> None:
    """What was found beside the straw men, if they were asked for."""
    if not report.straw_men:
        return

    def line(name: str, network: Network, score: float, held_out: LogLoss | None) -> list[Cell]:
        bits = [None, None] if held_out is None else [held_out.bits, held_out.standard_error]
        usual = usual_bic(network, report.table)
        return [name, f"{score:,.1f}", network.n_parameters, f"{usual:,.1f}", *bits]

    page.section("Compared with simpler explanations")
    rows = [line(s.name, s.network, s.score, s.held_out) for s in report.straw_men]
    found = report.discovery
    rows.append(line("what was found", found.network, found.score, report.held_out))
    page.table(
        [
            "model", "score (nats)", "free parameters", "BIC", "held-out bits per row",
            "standard error",
        ],
        rows,
    )  # fmt: skip
    page.text(
        "The score is the logarithm of a probability: the larger, the better. BIC is on the usual "
        "scale, -2 log L + d log N: the smaller, the better. So are the bits."
    )


def distinct(tried: Sequence[Candidate | Refused]) -> list[tuple[Candidate | Refused, int]]:
    """Every candidate once, with how often it was reached from different starts.

    Two are the same if they have the same children, the same number of states and (nearly) the
    same gain. The one that was kept stands for its like.
    """
    found: list[tuple[Candidate | Refused, int]] = []
    for c in sorted(tried, key=lambda c: c.verdict is not Verdict.KEPT):
        for i, (other, times) in enumerate(found):
            if _same(c, other):
                found[i] = (other, times + 1)
                break
        else:
            found.append((c, 1))
    return found


def _same(a: Candidate | Refused, b: Candidate | Refused) -> bool:
    near = a.n_states == b.n_states and abs(a.gain - b.gain) < 0.1
    fate = a.verdict == b.verdict or (a.verdict in PAYING and b.verdict in PAYING)
    return near and fate and set(a.children) == set(b.children)


def add_tried(page: Page, report: DiscoveryReport) -> None:
    """Everything that was tried, round by round, and what became of it."""
    rounds = [r for r in report.discovery.rounds if r.candidates]
    if not rounds:
        return
    page.section("Everything that was tried")
    for number, round_ in enumerate(rounds, start=1):
        once = distinct(round_.candidates)
        places = n_places(round_.candidates)
        n_tried = len(round_.candidates)
        page.open_details(
            f"Round {number}", f"{n_tried} candidates in {places} places, {len(once)} different"
        )
        page.text(
            f"The best of {places} places may gain {luck(round_.candidates):.1f} nats by luck: the "
            "score, and rows left out, have to gain more."
        )
        rows: list[list[Cell]] = [
            [
                in_short(c.children), c.n_states, c.gain,
                None if c.predicted != c.predicted else c.predicted, times, c.words,
            ]
            for c, times in once
        ]  # fmt: skip
        head = ["children", "states", "gain (nats)", "on rows left out", "reached", "verdict"]
        page.table(head, rows, sortable=True)
        page.close_details()
