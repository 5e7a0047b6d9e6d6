"""A candidate put into the graph in a clean way: a parent of columns that have no other.

Structural EM stays near where it begins, and arcs among the children stand for what is missing: the
more rows, the surer they stay, and with them a number of states that is too small or too large. So
the best candidates are also put into the graph without these arcs (the construction of 4.1), with
every number of states tried by EM from some random tables, and children that come and go one at a
time, as is done where all rows of a large table decide (`stars_of_all`).
"""

from __future__ import annotations

from dataclasses import replace

from unveil.discovery.adaptation import adapted
from unveil.discovery.all_rows import Everything
from unveil.discovery.bench import Bench
from unveil.discovery.candidates import Candidate, Verdict
from unveil.discovery.stars_of_all import put_in
from unveil.engines.rows import PartedRows
from unveil.progress import Ticker

__all__ = ["put_cleanly"]


def put_cleanly(
    bench: Bench, candidate: Candidate, ticker: Ticker, walk: bool = True
) -> list[Candidate]:
    """What becomes of the candidate put in cleanly, if that is better; none under constraints.

    Its children come and go if they are to `walk`.
    """
    if not bench.limits(candidate.network).only_max_parents:
        return []
    rows = PartedRows.of_tables([bench.glanced.folded()])
    everything = Everything.of(rows, bench.settings, bench.seed)
    dag, name = bench.network.dag, candidate.name
    starts = put_in(everything, dag, candidate.network, name, ticker, set(), walk)
    if not starts or not ticker.keep_going():
        return []
    first = replace(candidate, network=max(starts, key=everything.score))
    found = adapted(bench, first, "full", ticker)
    better = found.verdict is Verdict.PAYS and found.gain > candidate.gain + 0.1
    return [found] if better else []
