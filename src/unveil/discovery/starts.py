"""First networks of a hidden variable: as constructed at a place, from states alone, or a star."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from unveil.discovery.bench import Bench
from unveil.discovery.candidates import Candidate, Place, Refused, Verdict
from unveil.discovery.patience import inside
from unveil.discovery.states import from_states, with_states
from unveil.em.parametric import fit_em
from unveil.graph.dag import DAG
from unveil.hidden.candidate import with_hidden_parent
from unveil.hidden.cardinality import Cardinality, choose_cardinality
from unveil.progress import Ticker

__all__ = ["Star", "first_look", "graphs_at", "started"]


def graphs_at(bench: Bench, place: Place) -> list[DAG]:
    """The graphs with a hidden parent at a place, without and with its parents from outside.

    Those in which an earlier hidden variable would have no child are left out.
    """
    before = bench.network.dag
    graphs = [
        with_hidden_parent(before, place.name, place.nodes, max_parents=most)
        for most in (bench.settings.max_outside, 0)
    ]
    legal = dict.fromkeys(bench.made_legal(dag) for dag in graphs)
    return [dag for dag in legal if not bench.childless(dag) and dag.children(place.name)]


def first_look(bench: Bench, place: Place, dag: DAG, ticker: Ticker) -> list[Candidate | Refused]:
    """A graph at a place, at the numbers of states worth a try, by EM alone; the best first."""
    anew = bench.settings.adapt == "full"
    found = choose_cardinality(
        bench.completed,
        dag,
        place.name,
        score_sample_size=bench.prior.size,
        score=bench.settings.other_score,
        **inside(ticker),
    )
    tried = _as_constructed(bench, place, dag, found, anew, ticker)
    if anew:
        tried += _anew(bench, place, dag, found, ticker)
    return sorted(tried, key=lambda c: (isinstance(c, Refused), -c.gain))


def _as_constructed(
    bench: Bench,
    place: Place,
    dag: DAG,
    found: Cardinality,
    even_collapsed: bool,
    ticker: Ticker,
) -> list[Candidate | Refused]:
    """Candidates with the graph as constructed.

    Their numbers of states are the one that `choose_cardinality` prefers, and two and three from
    the same tree of merges: the graph as constructed is crude and often asks for too many, or for
    a single state (then it is the end of this place, unless `even_collapsed`).
    """
    tree, fixed = found.agglomeration, bench.n_states
    wanted = sorted({found.n_states, 2, 3} if fixed is None else {fixed})
    wanted = [k for k in wanted if 2 <= k <= tree.n_initial]
    crowded = bench.too_many_parents(dag)
    if not wanted or (found.n_states < 2 and fixed is None and not even_collapsed):
        verdict, detail = Verdict.SINGLE_STATE, ""
        if fixed is not None:
            verdict = Verdict.ROWS_TOO_ALIKE
            detail = f"of {tree.n_initial} kinds, too few for {fixed} states"
        if crowded:
            verdict, detail = Verdict.TOO_MANY_PARENTS, ""
        children = dag.children(place.name)
        return [
            Refused(
                place=place, verdict=verdict, detail=detail, refined=found.refined,
                children=children,
            )
        ]  # fmt: skip
    looked: list[Candidate] = []
    for k in wanted[:1] if crowded else wanted:
        if looked and not ticker.keep_going():
            break
        network = with_states(bench, dag, place.name, tree, k, ticker)
        gain = bench.gain_at_a_glance(network)
        looked.append(
            Candidate(
                place=place, network=network, gain=gain, agglomeration=tree, refined=found.refined
            )
        )
    return [c.refused(Verdict.TOO_MANY_PARENTS) if crowded else c for c in looked]


def _anew(
    bench: Bench, place: Place, dag: DAG, found: Cardinality, ticker: Ticker
) -> list[Candidate]:
    """Candidates of two, three and four states from one tree of merges, arcs learned anew.

    More states come later, one at a time, where they pay.
    """
    tree = found.agglomeration
    wanted = (2, 3, 4) if bench.n_states is None else (bench.n_states,)
    around = {*place.nodes, *dag.markov_blanket(place.name)}
    looked = []
    for k in wanted:
        if k > tree.n_initial or not ticker.keep_going():
            continue
        before = bench.network.dag
        network = from_states(bench, place.name, tree.states(k), k, before, around, ticker)
        if network is not None:
            looked.append(
                Candidate(
                    place=place, network=network, gain=bench.gain_at_a_glance(network),
                    agglomeration=tree, anew=True, verdict=Verdict.FITTED_ANEW,
                )
            )  # fmt: skip
    return looked


@dataclass(frozen=True)
class Star:
    """A hidden variable with arcs to its place and no others at all, and how EM starts there."""

    place: Place
    n_states: int
    start: Literal["cluster", "random"]
    seed: int


def started(bench: Bench, star: Star, ticker: Ticker) -> Candidate:
    """The star after a short EM: structural EM then takes from it what others explain better."""
    name, k = star.place.name, star.n_states
    nodes = [*bench.glanced.names, name]
    dag = bench.made_legal(DAG(nodes, [(name, child) for child in star.place.nodes]))
    network = fit_em(
        dag, bench.glanced, bench.prior, {name: k}, start=star.start, max_iterations=50,
        tolerance=1e-6, seed=star.seed, **inside(ticker),
    ).network  # fmt: skip
    return Candidate(place=star.place, network=network)
