"""How many states a hidden variable has, on a page: what was decided on, and where it began."""

from __future__ import annotations

from unveil.discovery.candidates import Candidate, Refused, Verdict
from unveil.discovery.choice import luck
from unveil.discovery.procedure import Round
from unveil.hidden.agglomeration import Agglomeration
from unveil.report.charts import line_chart
from unveil.report.merge_tree import merge_tree
from unveil.report.page import Page
from unveil.table.variable import label_text

__all__ = ["add_states", "best_by_states"]

NO_NUMBER = (
    Verdict.SINGLE_STATE, Verdict.ROWS_TOO_ALIKE, Verdict.TOO_MANY_PARENTS, Verdict.TOO_LARGE,
    Verdict.REDUNDANT, Verdict.MAKES_REDUNDANT, Verdict.FITTED, Verdict.FITTED_ANEW,
)  # fmt: skip
"""Verdicts on what could not have been kept, whatever it scores, or was only looked at."""


def best_by_states(round_: Round) -> dict[int, Candidate | Refused]:
    """The best that was tried with each number of states, of what could have been kept.

    The one that was kept stands for its own number.
    """
    best: dict[int, Candidate | Refused] = {}
    for c in round_.candidates:
        comparable = c.filled_in is (round_.kept is not None and round_.kept.filled_in)
        if c.verdict in NO_NUMBER or not comparable:
            continue
        if c.n_states not in best or c.gain > best[c.n_states].gain:
            best[c.n_states] = c
    if round_.kept is not None:
        best[round_.kept.n_states] = round_.kept
    return dict(sorted(best.items()))


def add_states(page: Page, round_: Round) -> None:
    """The curve on which the number of states was decided; folded away, where it began."""
    kept = round_.kept
    assert kept is not None
    page.section(f"{kept.name}: how many states?")
    best = best_by_states(round_)
    counts = [1, *(k for k in best if k > 1)]
    gains = [0.0, *(best[k].gain for k in counts[1:])]
    page.figure(
        line_chart(
            counts, gains, x_name="states", y_name="score gained (nats)",
            highlight=counts.index(kept.n_states),
        ),
        "The best of everything tried with each number of states, its arcs adapted to it; one "
        "state is no hidden variable.",
    )  # fmt: skip
    page.text(_decision(round_, best))
    if kept.agglomeration is not None:
        _add_beginning(page, round_, kept.agglomeration)


def _decision(round_: Round, best: dict[int, Candidate | Refused]) -> str:
    """Why the number of states is what it is."""
    kept = round_.kept
    assert kept is not None
    rival = max(best.values(), key=lambda c: c.gain)
    if rival.gain <= kept.gain + 0.05:
        return f"{kept.n_states} states score best."
    if rival.predicted > 0 and rival.gain - kept.gain <= luck(round_.candidates):
        return (
            f"{rival.n_states} states score {rival.gain - kept.gain:.1f} nats more, which is a tie "
            f"after so many tries (up to {luck(round_.candidates):.1f} nats); {kept.n_states} "
            "states predict rows left out better."
        )
    return (
        f"{rival.n_states} states score {rival.gain - kept.gain:.1f} nats more, but such a "
        f"variable {rival.words}."
    )


def _add_beginning(page: Page, round_: Round, tree: Agglomeration) -> None:
    """The first guess: agglomeration with the arcs as they are, and its tree of merges."""
    kept = round_.kept
    assert kept is not None
    page.open_details("Where the search for it begins", "agglomeration")
    page.text(
        "A first guess, quick and coarse: every assignment of the surroundings has a state of its "
        "own, each row is in one state, and the two states that cost least are made one, again and "
        "again. The best few numbers are compared by a short EM, the arcs held fixed. The curve "
        "above, with arcs adapted and EM run to its end, is what was decided on; its top need not "
        "be that of these."
    )
    counts = [k + 1 for k, s in enumerate(tree.scores) if s > -float("inf")]
    page.figure(
        line_chart(
            counts, [float(tree.scores[k - 1]) for k in counts], x_name="states",
            y_name="score of the completed rows (nats)",
        ),
        "The score of the completed rows against the number of states.",
    )  # fmt: skip
    refined = dict(sorted(kept.refined.items()))
    if refined:
        page.figure(
            line_chart(
                list(refined), list(refined.values()), x_name="states",
                y_name="Cheeseman-Stutz (nats)",
            ),
            "The best few by a short EM.",
        )  # fmt: skip
    _add_merges(page, round_, tree, kept.n_states)
    page.close_details()


def _add_merges(page: Page, round_: Round, tree: Agglomeration, chosen: int) -> None:
    labels = [round_.before.variable(name).labels for name in tree.blanket]
    leaves = [
        ", ".join(label_text(of[code]) for of, code in zip(labels, row, strict=True))
        for row in tree.assignments
    ]
    merges = [
        (int(a), int(b), float(c)) for (a, b), c in zip(tree.merges, tree.changes, strict=True)
    ]
    if merges:
        page.figure(
            merge_tree(leaves, merges, chosen),
            f"The tree of merges, of the assignments of {', '.join(tree.blanket)}. Strong lines: "
            f"merges down to {chosen} states.",
        )
