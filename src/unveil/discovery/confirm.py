"""Cross-validation with choosing inside: would the choice have been made without the rows too?

What was chosen because it does well on all rows also does well on the rows left out, whatever it is
worth. So everything is chosen again in every fold, from the other folds alone: the network without
a further hidden variable, the structure of every finalist, which of them is best, and whether it
pays at all (if not, it saves nothing there). Then the rows left out are predicted.

What saves something has to hold against rival explanations as well: no further hidden
variable, but another form of the tables, another prior, another score (`rivals`). Both sides may
have the form of the best rival then.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace

import numpy as np

from unveil.discovery.afresh import Known, found_afresh, known_of
from unveil.discovery.baseline import learn_without
from unveil.discovery.bench import Bench
from unveil.discovery.candidates import Candidate
from unveil.discovery.confirmation import Confirmation
from unveil.discovery.predictions import cross_validated, drawn_rows
from unveil.discovery.rivals import RIVALS, without_further
from unveil.discovery.workers import Workers
from unveil.evaluate.folds import fold_tables, n_cases
from unveil.evaluate.log_loss import LogLoss, log_loss
from unveil.model.network import Network
from unveil.progress import Ticker
from unveil.table.core import Table

__all__ = ["confirm"]

FOLDS = 10
INNER_FOLDS = 3
GLANCED = 4
"""After so many folds what saves nothing is given up."""
PLAIN, PLAINLY = 5, 2.0
"""After so many folds it is enough if all chose it, what it gains and saves is so many times what
luck would, by the score and by the rows left out each, and its interval is above zero."""


@dataclass(frozen=True)
class _Task:
    """What one fold is about: what it is told, the rows to learn from, and those left out."""

    known: tuple[Known, ...]
    rows: Table
    left_out: Table


@dataclass(frozen=True)
class _Fold:
    """The rows learned from and left out, and the networks that were chosen without the latter."""

    rows: Table
    left_out: Table
    without: Network
    found: Network
    chosen: bool
    nats: float
    plain: LogLoss
    loss: LogLoss


def confirm(
    bench: Bench,
    finalists: Sequence[Candidate],
    ticker: Ticker,
    folds: int = FOLDS,
    places: int = 1,
    workers: Workers | None = None,
) -> Confirmation | None:
    """The confirmation for the best of so many places, or `None` if it was stopped.

    Once some folds have shown that nothing is saved, the others are left out.
    """
    table = drawn_rows(bench.table, bench.seed)
    folds = min(folds, n_cases(table))
    known = known_of(finalists, bench.settings.max_children, bench.seed)
    tasks = [
        _Task(known, rows, left_out)
        for rows, left_out in fold_tables(table, folds, bench.seed, bench.settings.blocks)
    ]
    done: list[_Fold] = []
    workers = workers or Workers(1)
    with closing(workers.each(_fold, bench, tasks, ticker, "fold")) as results:
        for fold in results:
            done.append(fold)
            if _is_enough(done, finalists, places, bench.settings.max_luck):
                break
    if len(done) < folds and not _is_enough(done, finalists, places, bench.settings.max_luck):
        return None
    first = _in_folds(done, finalists, places, bench.settings.max_luck)
    of_graph = finalists[0].predicted / (bench.table.total_weight * math.log(2))
    first = replace(first, of_graph=of_graph)
    return first if first.saved.bits <= 0 else _beside_rivals(bench, done, first, workers, ticker)


def _in_folds(
    done: Sequence[_Fold], finalists: Sequence[Candidate], places: int, max_luck: float
) -> Confirmation:
    """What some folds say, before rivals are asked."""
    nats = min(float(np.mean([f.nats for f in done])), max(c.gain for c in finalists))
    own = finalists[0].predicted
    return Confirmation(
        _found_saves(done), sum(f.chosen for f in done), len(done), nats,
        math.log(places / max_luck), max_luck=max_luck,
        predicted=math.inf if math.isnan(own) else own, by_fold=_error_by_fold(done),
    )  # fmt: skip


def _is_enough(
    done: Sequence[_Fold], finalists: Sequence[Candidate], places: int, max_luck: float
) -> bool:
    """Whether further folds are not needed: nothing is saved, or plainly more than by luck.

    Rows left out then are fewer, so what they say is wider, and sums of theirs are smaller.
    """
    if len(done) == GLANCED:
        return _is_hopeless(done)
    if len(done) != PLAIN or not all(f.chosen for f in done):
        return False
    first = _in_folds(done, finalists, places, max_luck)
    plainly = first.saved.bits > PLAINLY * first.luck and first.nats > PLAINLY * first.lucky_nats
    return plainly and first.saved.bits > first.half_width


def _beside_rivals(
    bench: Bench, done: Sequence[_Fold], first: Confirmation, workers: Workers, ticker: Ticker
) -> Confirmation | None:
    """The same beside the best rival: of what was found, whichever form predicts better counts."""
    plain, found = [f.plain for f in done], [f.loss for f in done]
    by_fold = list(workers.each(_rivals_of, bench, done, ticker, "rivals, fold"))
    if len(by_fold) < len(done):
        return None
    saved = {
        i: _saved([of[i] for of in by_fold], plain)
        for i in range(len(RIVALS))
        if all(i in of for of in by_fold)
    }
    best = max(saved, key=lambda i: saved[i].bits, default=None)
    if best is None or saved[best].bits <= 0:
        return first
    losses = [of[best] for of in by_fold]
    items = [(best, fold) for fold in done]
    both = list(workers.each(_in_form_of, bench, items, ticker, "in its form, fold"))
    if len(both) < len(done):
        return None
    beyond = max(_saved(found, losses), _saved(both, losses), key=lambda saved: saved.bits)
    return replace(first, rival=RIVALS[best], without=saved[best], beyond=beyond)


def _rivals_of(bench: Bench, fold: _Fold, ticker: Ticker) -> dict[int, LogLoss]:
    """What every rival that can be had loses on the rows left out, by its place among them."""
    networks = {i: r.of(fold.without, bench, fold.rows, ticker) for i, r in enumerate(RIVALS)}
    return {i: log_loss(n, fold.left_out) for i, n in networks.items() if n is not None}


def _in_form_of(bench: Bench, item: tuple[int, _Fold], ticker: Ticker) -> LogLoss:
    """What was found loses if it is learned the rival's way, or as it is, if it cannot be."""
    number, fold = item
    network = fold.found if fold.chosen else fold.without
    formed = RIVALS[number].of(network, bench, fold.rows, ticker)
    return fold.loss if formed is None else log_loss(formed, fold.left_out)


def _fold(bench: Bench, task: _Task, ticker: Ticker) -> _Fold:
    """All that is chosen without the rows left out, and how well it predicts them."""
    rows, settings = task.rows, bench.settings
    without = without_further(bench, rows, ticker)
    here = Bench.of(without, settings.score_of(without, rows), rows, settings, bench.seed)
    found = found_afresh(here, task.known, ticker)
    if found is not None:
        without = _fairly_without(here, found, ticker)
    chosen = found is not None and (
        _merit(bench, found, rows, ticker) > _merit(bench, without, rows, ticker)
    )
    network = found if found is not None and chosen else without
    nats = settings.score_of(network, rows) - settings.score_of(without, rows)
    plain, loss = (log_loss(n, task.left_out) for n in (without, network))
    return _Fold(rows, task.left_out, without, network, chosen, nats, plain, loss)


def _fairly_without(here: Bench, found: Network, ticker: Ticker) -> Network:
    """The network without the variable that was found, searched for from there as well.

    The search for the one had more to begin from than that for the other; what that gains is no
    merit of the variable. A round does the same, before it comes to folds.
    """
    new = [name for name in found.hidden if name not in here.network.names]
    other = learn_without(found, new, here.table, here.settings, here.seed, ticker)
    better = here.settings.score_of(other, here.table) > here.score
    return other if better else here.network


def _is_hopeless(done: Sequence[_Fold]) -> bool:
    """Whether nothing is saved so far, and not only by a little that other folds could make up."""
    saved = _found_saves(done)
    return saved.bits <= -saved.standard_error


def _found_saves(done: Sequence[_Fold]) -> LogLoss:
    return _saved([f.loss for f in done], [f.plain for f in done])


def _merit(bench: Bench, network: Network, rows: Table, ticker: Ticker) -> float:
    """What candidates are chosen by: the score, and the likelihood of rows left out once more."""
    settings = bench.settings
    folds = min(INNER_FOLDS, n_cases(rows))
    inner = (
        cross_validated(network, rows, settings, folds, bench.seed, ticker) if folds > 1 else None
    )
    return settings.score_of(network, rows) + (0.0 if inner is None else inner.log_likelihood)


def _error_by_fold(done: Sequence[_Fold]) -> float:
    """The standard error of the bits saved over all folds, each of them taken as one case."""
    if len(done) < 2:
        return 0.0
    weights = np.array([float(f.loss.weights.sum()) for f in done])
    saved = np.array([f.plain.bits - f.loss.bits for f in done])
    share = weights / weights.sum()
    squares = float((share**2) @ (saved - share @ saved) ** 2)
    return math.sqrt(squares * len(done) / (len(done) - 1))


def _saved(better: Sequence[LogLoss], worse: Sequence[LogLoss]) -> LogLoss:
    """The bits per row that one side saves over the other, over all folds."""
    bits = np.concatenate([w.per_row - b.per_row for b, w in zip(better, worse, strict=True)])
    return LogLoss.of(bits, np.concatenate([b.weights for b in better]))
