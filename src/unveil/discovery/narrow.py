"""Candidates by information-bottleneck EM: all columns at once, where no signature is needed.

8.2: with many variables and few rows, the arcs that signatures are made of do not show, and EM has
many maxima. IB-EM (Ch. 6) begins with a hidden parent of all columns that tells nothing, and
follows it to EM's end: its states split off as the rows ask for them (6.8). From where it ends,
structural EM takes what arcs explain better (6.7, moves for general graphs). A hierarchy of several
hidden variables (6.10) is one candidate more.

In later rounds the columns keep the parents they have, and the hidden variables found before begin
anew together with the new one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from unveil.bottleneck.call import ib_em
from unveil.bottleneck.course import Point
from unveil.bottleneck.hierarchy import learn_hierarchy
from unveil.discovery.adaptation import adapted
from unveil.discovery.bench import Bench
from unveil.discovery.candidates import Candidate, Place, Refused, Verdict
from unveil.discovery.patience import inside
from unveil.discovery.polish import relearned
from unveil.discovery.redundancy import redundancy
from unveil.graph.dag import DAG
from unveil.model.network import Network
from unveil.progress import Ticker

__all__ = ["Narrow", "best_of_each", "distinct", "followed", "narrow_starts", "narrowed"]

SIZES = (None, 2, 3, 4, 6, 8, 12)
"""Numbers of states that are followed in the first round; `None` is learned."""
LATER_SIZES = (2, 3)
"""The same in later rounds, where there are other hidden variables beside."""
MOST_STATES = 20
"""More states than these are not looked for where their number is learned."""
LEAST_FOR_GROUPS = 6
"""Fewer columns than these make no hierarchy."""
MOST_CELLS = 5.0
"""Where a table has more cells than so many times the cases, columns lose their other parents."""


@dataclass(frozen=True)
class Narrow:
    """A hidden parent of all columns, or a hierarchy of them, to be followed from gamma = 0.

    `ends` says what is made of it at the end of its course: nothing (`plain`), structural EM too
    (`adapted`), all arcs learned anew as well (`anew`), or all of these.
    """

    place: Place
    n_states: int | None
    ends: Literal["all", "plain", "adapted", "anew"] = "all"

    @classmethod
    def again(cls, candidate: Candidate) -> Narrow:
        """The start that a candidate came of, and only the end it came to."""
        n_states = None if candidate.others else candidate.n_states
        if candidate.is_latent_class:
            return cls(candidate.place, n_states, "plain")
        return cls(candidate.place, n_states, "anew" if candidate.anew else "adapted")


def narrow_starts(bench: Bench, name: str) -> list[Narrow]:
    """What is followed in a round: all columns at each number of states, and a hierarchy."""
    columns = tuple(v.name for v in bench.glanced.variables if v.n_states > 1)
    if len(columns) < 2:  # nothing for a parent of all to explain
        return []
    place = Place(name, columns, "bottleneck")
    first = not bench.network.hidden
    sizes = (bench.n_states,) if bench.n_states else SIZES if first else LATER_SIZES
    found = [Narrow(place, k) for k in sizes]
    several = bench.settings.max_hidden > 1 and bench.settings.limits().only_max_parents
    if first and several and len(columns) >= LEAST_FOR_GROUPS:
        found.append(Narrow(replace(place, start="hierarchy"), bench.n_states))
    return found


def narrowed(bench: Bench, start: Narrow, ticker: Ticker) -> list[Candidate | Refused]:
    """All that comes of a start: as it is, after structural EM, and with all arcs learned anew."""
    try:
        plain = adapted(bench, followed(bench, start, ticker), "em", ticker)
    except MemoryError:
        return [
            Refused(place=start.place, verdict=Verdict.TOO_LARGE, children=start.place.nodes,
                    n_states=start.n_states or 1)
        ]  # fmt: skip
    adapt = bench.settings.adapt
    if adapt == "em" or start.ends == "plain":
        return [_without_redundant(plain)]
    found = [plain]
    if ticker.keep_going() and start.ends in ("all", "adapted"):
        found.append(adapted(bench, plain, adapt, ticker))
    afresh = adapt == "full" and not plain.others and start.ends in ("all", "anew")
    if afresh and ticker.keep_going():
        again = [replace(c, anew=True) for c in relearned(bench, plain, ticker)]
        found += [adapted(bench, c, "full", ticker) for c in again]
    return [_without_redundant(c) for c in distinct(found)]


def distinct(found: Sequence[Candidate]) -> list[Candidate]:
    """The candidates, the best first; those that ended alike as one."""
    kept: list[Candidate] = []
    for c in sorted(found, key=lambda c: -c.gain):
        if not any(_alike(c, other) for other in kept):
            kept.append(c)
    return kept


def best_of_each(found: Sequence[Candidate]) -> list[Candidate]:
    """Of candidates that began at the same place and have as many states the best, in order."""
    once: dict[object, Candidate] = {}
    for c in found:
        key = (c.place, c.n_states, len(c.others))
        if key not in once or c.gain > once[key].gain:
            once[key] = c
    return list(once.values())


def _alike(a: Candidate, b: Candidate) -> bool:
    near = abs(a.gain - b.gain) < 0.1 and a.n_states == b.n_states
    return near and set(a.network.dag.arcs) == set(b.network.dag.arcs)


def followed(bench: Bench, start: Narrow, ticker: Ticker) -> Candidate:
    """The candidate at the end of its course."""
    follow = _hierarchy if start.place.start == "hierarchy" else _parent_of_all
    network, course = follow(bench, start, ticker)
    known = {*bench.network.hidden, start.place.name}
    others = tuple(name for name in network.hidden if name not in known)
    return Candidate(place=start.place, network=network, course=course, others=others)


def _parent_of_all(
    bench: Bench, start: Narrow, ticker: Ticker
) -> tuple[Network, tuple[Point, ...]]:
    name, rows = start.place.name, bench.glanced
    dag = _graph(bench, name, start.place.nodes, start.n_states or 2)
    earlier = {h: bench.network.variable(h).n_states for h in bench.network.hidden}
    hidden: dict[str, int | None] = {**earlier, name: start.n_states}
    most = max(2, min(MOST_STATES, int(rows.total_weight)))
    found = ib_em(
        dag, rows, bench.prior, hidden, max_states=most, max_iterations=200, tolerance=1e-7,
        seed=bench.seed, **inside(ticker),
    )  # fmt: skip
    return found.network, found.course


def _graph(bench: Bench, name: str, columns: Sequence[str], n_states: int) -> DAG:
    """The network so far with a further parent of all columns; only hidden ones, if too large."""
    before = bench.network.dag if bench.network.hidden else DAG(bench.glanced.names)
    new = [(name, column) for column in columns]
    dag = DAG([*before.nodes, name], [*before.arcs, *new])
    sizes = {v.name: v.n_states for v in bench.network.variables} | {name: n_states}
    if _cells(dag, sizes) > MOST_CELLS * bench.table.total_weight:
        hidden = bench.network.hidden
        dag = DAG(dag.nodes, [*(arc for arc in before.arcs if arc[0] in hidden), *new])
    return bench.made_legal(dag)


def _cells(dag: DAG, sizes: dict[str, int]) -> int:
    """How many cells the tables of a graph have."""
    total = 0
    for node in dag.nodes:
        cells = sizes[node]
        for parent in dag.parents(node):
            cells *= sizes[parent]
        total += cells
    return total


def _hierarchy(bench: Bench, start: Narrow, ticker: Ticker) -> tuple[Network, tuple[Point, ...]]:
    rows = bench.glanced.select(start.place.nodes)
    found = learn_hierarchy(
        rows, start.n_states, bench.prior, max_hidden=bench.settings.max_hidden,
        root=start.place.name, seed=bench.seed, **inside(ticker),
    )  # fmt: skip
    alone = [c for c in bench.glanced.names if c not in rows]
    cpds = [*found.network.cpds.values(), *(bench.network.cpd(c) for c in alone)]
    return Network(cpds), found.course


def _without_redundant(candidate: Candidate) -> Candidate:
    """The candidate; what came with it must not be redundant either."""
    for other in candidate.others:
        if candidate.verdict is Verdict.PAYS and (why := redundancy(candidate.network, other)):
            detail = f"{other}, {why}"
            return replace(candidate, verdict=Verdict.MAKES_REDUNDANT, detail=detail)
    return candidate
