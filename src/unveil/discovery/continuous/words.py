"""What came of looking for continuous hidden parents, in plain words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from unveil.discovery.continuous.few import clearly_better
from unveil.discovery.summary import evidence_words, stop_in_words
from unveil.search.learn import FEW
from unveil.table.places import in_short

if TYPE_CHECKING:
    from unveil.discovery.continuous.report import NumbersReport

__all__ = ["headline", "summary"]

MOST_CHILDREN = 12


def summary(report: NumbersReport) -> str:
    """Every hidden variable with evidence and loadings, or why there is none."""
    if not report.hidden:
        return headline(report)
    lines = [f"beyond {_given(report)}:"] if report.given else []
    for name in report.hidden:
        own = report.loadings[name]
        lines.append(f"{name}: continuous, parent of {_children(report, name)}")
        if name in report.evidence:
            lines += [f"  {sentence}" for sentence in evidence_words(report.evidence[name])]
        strongest = ", ".join(f"{x.child} {x.weight:+.2f} ({x.bits:.2f} bits)" for x in own[:6])
        more = f" and {len(own) - 6} more" if len(own) > 6 else ""
        lines.append(f"  loadings in standard units: {strongest}{more}")
    return "\n".join([*lines, *_fewer(report), *_few_rows(report), *_simpler(report)])


def headline(report: NumbersReport) -> str:
    """What was found in a sentence or two, and the doubts about it."""
    if report.hidden:
        parts = [
            f"{name} behind {_children(report, name)}{_worth(report, name)}"
            for name in report.hidden
        ]
        beyond = f" beyond {_given(report)}" if report.given else ""
        said = [f"Found{beyond}: " + "; ".join(parts) + ".", *_fewer(report), *_few_rows(report)]
        return " ".join([*said, *_simpler(report)])
    early = stop_in_words(report.stopped)
    if early and not report.tried:
        return (
            f"Nothing was tried: {early}. This says nothing about hidden variables; give it more "
            "time, fewer columns or fewer rows."
        )
    said = [early[0].upper() + early[1:] + "."] if early else []
    beyond = f" beyond {_given(report)}" if report.given else ""
    if not report.tried:
        why = "no columns have enough in common to ask for one."
    else:
        why = _unclear(report) if _few(report) else _luck(report)
    said += [f"No hidden variable is warranted{beyond}: {why}", *_few_rows(report)]
    return " ".join([*said, *_simpler(report)])


def _given(report: NumbersReport) -> str:
    """The columns with states that were held fixed."""
    shown = [*report.given[:6], *["..."] * (len(report.given) > 6)]
    return ", ".join(shown)


def _few(report: NumbersReport) -> bool:
    """Whether rows were few for the columns, so that rows left out judged both sides."""
    few = report.table.total_weight < FEW * report.table.n_columns
    return few and report.settings.curve is None


def _few_rows(report: NumbersReport) -> list[str]:
    """What both sides were judged by where rows are few; of curves, a word of caution."""
    rows, columns = report.table.n_rows, report.table.n_columns
    if report.table.total_weight >= FEW * columns:
        return []
    said = (
        f"{rows:,} rows for {columns} columns are few: the best network by BIC then has arcs that "
        "are luck"
    )
    if not _few(report):
        weighed = ", and hidden variables were weighed against it."
        return [said + weighed] if report.baseline.dag.n_arcs else []
    n = report.baseline.dag.n_arcs
    arcs = f"{n} arc{'s' * (n != 1)}" if n else "no arcs"
    judged = "so sparser ones were searched, and rows left out judged them"
    return [f"{said}, {judged}: without hidden variables, one with {arcs} was taken."]


def _unclear(report: NumbersReport) -> str:
    """That rows left out do not bear out what was found in few rows."""
    n = max(len(one.graph.hidden) for one in report.tried)
    what = f"{n} hidden variable{'s' * (n != 1)} above columns"
    saved = report.left_out
    if saved is None:
        return f"{what} could not be judged by rows left out."
    verb = "save" if saved.bits > 0 else "lose"
    but = "which is not clearly better than none"
    if clearly_better(saved):
        but = "but most folds find none"
    return (
        f"{what} would {verb} {abs(saved.bits):.4f} bits per row left out (standard error "
        f"{saved.standard_error:.4f}), {but}."
    )


def _luck(report: NumbersReport) -> str:
    """That the score gains no more than luck, or rows left out refuse it."""
    best = max(report.tried, key=lambda t: t.gain)
    n = len(best.graph.hidden)
    each = f", {best.gain / n:.1f} for each" if n > 1 else ""
    return (
        f"of {len(report.tried)} networks tried, the best (with {n} hidden variable"
        f"{'s' * (n != 1)}) gains {best.gain:.1f} nats{each}, where {report.needed:.1f} "
        f"{'for one ' * (n > 1)}would be luck{_worse(report)}."
    )


def _worse(report: NumbersReport) -> str:
    """That more than luck was refused, because rows left out are predicted worse."""
    saved = report.left_out
    if saved is None:
        return ""
    return (
        f", but predicts rows left out no better: it loses {-saved.bits:.4f} bits per row "
        f"(standard error {saved.standard_error:.4f}) where it is found without them"
    )


def _worth(report: NumbersReport, name: str) -> str:
    """Why one is kept, the score first: it is what found it."""
    proof = report.evidence.get(name)
    if proof is None:
        return ""
    low, high = proof.interval
    predicts = "better" if low > 0 else "worse" if high < 0 else "about as well"
    return (
        f" ({proof.gain / math.log(2):.1f} bits by the score; rows left out are predicted "
        f"{predicts})"
    )


def _fewer(report: NumbersReport) -> list[str]:
    """What hidden variables save in parameters; their own origin and unit are fixed."""
    own = report.network.n_parameters - 2 * len(report.hidden)
    without = report.baseline.n_parameters
    if own >= without:
        return []
    return [
        f"The network has {own} free parameters, the best one without hidden variables {without}."
    ]


def _children(report: NumbersReport, name: str) -> str:
    return in_short([x.child for x in report.loadings[name]], MOST_CHILDREN)


def _simpler(report: NumbersReport) -> list[str]:
    """A word about straw men that predict rows left out better."""
    own = report.held_out
    if own is None:
        return []
    return [
        f"{man.name[0].upper()}{man.name[1:]} saves {own.bits - man.held_out.bits:.4f} bits per "
        "row left out over this answer."
        for man in report.straw_men
        if man.held_out.bits < own.bits - 5e-5
    ]
