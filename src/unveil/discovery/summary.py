"""What came of a discovery, in plain words that say no more and no less than its numbers do."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING

from unveil.discovery.candidates import Candidate, Refused, Verdict
from unveil.discovery.choice import luck, n_places
from unveil.discovery.confirmation import Confirmation
from unveil.discovery.evidence import Evidence, StrawMan
from unveil.progress import StopReason
from unveil.table.places import in_short

if TYPE_CHECKING:
    from unveil.discovery.call import DiscoveryReport

__all__ = ["evidence_words", "headline", "stop_in_words", "summary"]

PAYING = (
    Verdict.NOT_CONFIRMED,
    Verdict.PAYS,
    Verdict.KEPT,
    Verdict.NOT_CHECKED,
    Verdict.OUTDONE,
    Verdict.MAY_BE_LUCK,
)
"""Verdicts on candidates whose score is better than without them."""

STOPPED: dict[StopReason, str] = {
    "time limit": "stopped by the time limit",
    "asked to stop": "stopped when asked to",
    "iteration cap": "stopped after the most steps allowed",
    "stalled": "stopped because it got no further",
}


def summary(report: DiscoveryReport) -> str:
    """Every hidden variable with evidence and meaning, or why there is none."""
    if not report.hidden:
        return headline(report)
    lines = [] if report.whole is None else [report.whole.words]
    with_ = {name: _came_with(report, name) for name in report.hidden}
    for name in report.hidden:
        variable = report.network.variable(name)
        children = in_short(report.network.dag.children(name))
        parents = in_short(report.network.dag.parents(name))
        given = f", child of {parents}" if parents else ""
        lines.append(f"{name}: {variable.n_states} states, parent of {children}{given}")
        if name in report.evidence:
            lines += [f"  {sentence}" for sentence in evidence_words(report.evidence[name])]
        lines += [f"  came with {first}: the evidence is for all of them" for first in with_[name]]
        if name in report.meaning:
            lines += [f"  {p.words}" for p in report.meaning[name].profiles]
    return "\n".join([*lines, *_simpler_is_better(report)])


def _came_with(report: DiscoveryReport, name: str) -> list[str]:
    """The hidden variable that another came with, if it did."""
    kept = [r.kept for r in report.discovery.rounds if r.kept is not None]
    return [c.name for c in kept if name in c.others]


def headline(report: DiscoveryReport) -> str:
    """What was found in a sentence or two, and the doubts about it."""
    if report.hidden:
        whole = [] if report.whole is None else [report.whole.words]
        return " ".join([_found(report), *whole, *_simpler_is_better(report)])
    said, classes = _nothing_found(report), _latent_classes_fit(report)
    return " ".join([*said, *(classes or _simpler_is_better(report))])


def stop_in_words(stopped: StopReason) -> str:
    """Why the work ended early, as a phrase; nothing if it came to its end."""
    return STOPPED.get(stopped, "")


def _found(report: DiscoveryReport) -> str:
    parts = []
    for name in report.hidden:
        proof = report.evidence.get(name)
        doubt = ""
        if proof is not None and proof.interval[0] <= 0:
            doubt = f" (rows left out: {proof.verdict})"
        parts.append(
            f"{name} with {report.network.variable(name).n_states} states behind "
            f"{in_short(report.network.dag.children(name))}{doubt}"
        )
    return "Found: " + "; ".join(parts) + "."


def _nothing_found(report: DiscoveryReport) -> list[str]:
    """Why there is no hidden variable: nothing was tried, none pays, or it is too close to call."""
    found = report.discovery
    tried = [c for r in found.rounds for c in r.candidates]
    early = stop_in_words(found.stopped)
    if not tried and early:
        return [
            f"Nothing was tried: {early}, before any candidate was looked at.",
            "This says nothing about hidden variables; give it more time, fewer columns or fewer "
            "rows.",
        ]
    said = [early[0].upper() + early[1:] + "."] if early else []
    so_far = " so far" if early else ""
    paying = [c for c in tried if c.gain > 0 and c.verdict in PAYING]
    checked = [c for c in paying if c.predicted > 0]
    doubted = [c for c in tried if c.verdict in DOUBTS]
    if doubted and found.rounds[-1].confirmation is not None:
        words = DOUBTS[doubted[0].verdict]
        said.append(words(doubted[0], found.rounds[-1].confirmation, n_places(tried)))
    elif checked:
        said.append(_too_close(tried, checked, found.settings.min_gain))
    elif paying := [*paying, *(c for c in tried if c.verdict is Verdict.PREDICTS_NO_BETTER)]:
        best = max(paying, key=lambda c: c.gain)
        said.append(_unchecked(tried, best) if early and isnan(best.predicted) else (
            f"No hidden variable is warranted{so_far}: of {len(tried)} candidates tried, "
            f"{len(paying)} pay for their parameters (the best gains {best.gain:,.1f} nats), but "
            "none was seen to predict rows that were left out better."
        ))  # fmt: skip
    else:
        said.append(
            f"No hidden variable is warranted{so_far}: of {len(tried)} candidates tried, none "
            "pays for its parameters."
        )
    return said


def _unchecked(tried: Sequence[Candidate | Refused], best: Candidate | Refused) -> str:
    return (
        f"Nothing is decided: the best of {len(tried)} candidates tried ({best.n_states} states "
        f"behind {in_short(best.children)}) gains {best.gain:,.1f} nats, but there was no time to "
        "see whether it predicts rows that were left out better; give it more time."
    )


def _not_confirmed(best: Candidate | Refused, proof: Confirmation, places: int) -> str:
    if best.gain <= 0:  # found in drawn rows, judged by all
        return (
            f"No hidden variable is warranted: of {places} places tried in drawn rows, the best "
            f"({best.n_states} states behind {in_short(best.children)}) does not pay for its "
            f"parameters among all rows; it costs {-best.gain:,.1f} nats."
        )
    low, high = proof.interval
    return (
        f"Too close to call: of {places} places tried, the best candidate ({best.n_states} states "
        f"behind {in_short(best.children)}) gains {best.gain:.1f} nats of score, but chosen anew "
        f"without the rows left out it saves {proof.saved.bits:+.4f} bits on each of them (95% "
        f"interval {low:+.4f} to {high:+.4f}), in {proof.n_chosen} of {proof.n_folds} folds. "
        f"{_together(proof)}"
    )


def _explained(best: Candidate | Refused, proof: Confirmation, places: int) -> str:
    assert proof.rival is not None
    assert proof.without is not None
    assert proof.beyond is not None
    return (
        f"No hidden variable is warranted: of {places} places tried, the best candidate "
        f"({best.n_states} states behind {in_short(best.children)}) saves {proof.saved.bits:.4f} "
        f"bits per row left out, but {proof.rival.name} saves {proof.without.bits:.4f} without it, "
        f"and beyond that it saves {proof.beyond.bits:+.4f} (standard error "
        f"{proof.beyond.standard_error:.4f}). {_together(proof)} Try {proof.rival.advice}."
    )


def _together(proof: Confirmation) -> str:
    return (
        f"Score and rows left out, taken together, gain {proof.gained:.1f} nats; "
        f"{proof.lucky:.1f} would be luck."
    )


DOUBTS = {Verdict.NOT_CONFIRMED: _not_confirmed, Verdict.EXPLAINED: _explained}
"""What is said of the best candidate if it was not kept."""


def _too_close(
    tried: Sequence[Candidate | Refused], checked: Sequence[Candidate | Refused], min_gain: float
) -> str:
    best = max(checked, key=lambda c: c.gain)
    needed = max(luck(tried), min_gain)
    why = "would be luck" if luck(tried) >= min_gain else "are asked for"
    asked = f"{needed:.1f} {why}"
    if best.gain > needed:  # then it is the rows left out that say too little
        asked = f"{luck(tried):.1f} on rows left out would be luck"
    return (
        f"Too close to call: the best candidate ({best.n_states} states behind "
        f"{in_short(best.children)}) gains {best.gain:.1f} nats, and {best.predicted:.1f} on rows "
        f"left out; after {n_places(tried)} places tried, {asked}."
    )


def _latent_classes_fit(report: DiscoveryReport) -> list[str]:
    """A word about the plain latent class model, if it is better than no hidden variable."""
    tried = [c for r in report.discovery.rounds for c in r.candidates]
    plain = [c for c in tried if isinstance(c, Candidate) and c.is_latent_class]
    plain = [c for c in plain if c.gain > 0 and c.verdict in PAYING]
    if not plain:
        return []
    best = max(plain, key=lambda c: c.gain)
    return [
        f"Latent classes fit ({best.n_states} of them gain {best.gain:.1f} nats): "
        "see `unveil cluster`."
    ]


def _simpler_is_better(report: DiscoveryReport) -> list[str]:
    """A word about a straw man that beats the answer in score and on rows left out."""
    own, straw_men = report.held_out, report.straw_men
    if own is None:
        return []
    return [_beaten(report, s) for s in straw_men if _beats(s, report.discovery.score, own.bits)]


def _beats(straw_man: StrawMan, score: float, bits: float) -> bool:
    return straw_man.score > score + 0.05 and straw_man.held_out.bits < bits - 5e-5


def _beaten(report: DiscoveryReport, straw_man: StrawMan) -> str:
    assert report.held_out is not None
    nats = straw_man.score - report.discovery.score
    bits = report.held_out.bits - straw_man.held_out.bits
    return (
        f"{straw_man.name.capitalize()} scores {nats:.1f} nats more than this answer and saves "
        f"{bits:.4f} bits per row left out."
    )


def evidence_words(proof: Evidence) -> list[str]:
    """The evidence for one hidden variable, a sentence each."""
    low, high = proof.interval
    words = [
        f"evidence: {proof.words}",
        f"rows left out are predicted with {proof.held_out.bits:+.4f} bits per row saved "
        f"(95% interval {low:+.4f} to {high:+.4f}; {proof.verdict})",
        *([proof.luck_in_words] if proof.luck_in_words else []),
    ]
    if proof.n_resamples:
        words.append(
            f"still preferred in {proof.stability:.0%} of {proof.n_resamples} resampled tables"
        )
    return words
