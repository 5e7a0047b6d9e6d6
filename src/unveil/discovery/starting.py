"""Where candidates begin: at a place with a signature, as a parent of everything, or anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from unveil.discovery.adapting import Adapt, adapted, from_states, with_states
from unveil.discovery.evaluation import Bench, Candidate
from unveil.em.parametric import fit_em
from unveil.graph.dag import DAG
from unveil.hidden.agglomeration import Agglomeration
from unveil.hidden.candidate import naive_graph
from unveil.hidden.cardinality import choose_cardinality

__all__ = ["first_look", "random_candidate", "wide_candidate"]


def first_look(
    bench: Bench, dag: DAG, name: str, children: Sequence[str], adapt: Adapt
) -> list[Candidate]:
    """A place at the numbers of states worth a try, by EM alone; the best first."""
    found = _as_constructed(bench, dag, name, children, even_collapsed=adapt == "full")
    tree = found[0].agglomeration
    assert tree is not None
    if bench.too_many_parents(dag):
        words = "has more parents than are allowed, as constructed"
        found = [replace(found[0], network=None, verdict=words)]
    if adapt == "full":
        found += _anew(bench, tree, name, children)
    return sorted(found, key=lambda c: (c.network is None, -c.gain))


def _anew(bench: Bench, tree: Agglomeration, name: str, children: Sequence[str]) -> list[Candidate]:
    """Candidates of two, three and four states from one tree of merges, all arcs learned anew.

    More states come later, one at a time, where they pay.
    """
    wanted = (2, 3, 4) if bench.n_states is None else (bench.n_states,)
    blank = Candidate(name, tuple(children), 1, 0.0, None, tree, {}, "", frozenset(children))
    return [
        c for k in wanted if k <= tree.n_initial
        for c in from_states(bench, blank, tree.states(k), k)
    ]  # fmt: skip


def _as_constructed(
    bench: Bench, dag: DAG, name: str, children: Sequence[str], even_collapsed: bool
) -> list[Candidate]:
    """Candidates with the graph as constructed.

    Their numbers of states are the one that `choose_cardinality` prefers, and two and three from
    the same tree of merges: the graph as constructed is crude and often asks for too many, or for
    a single state (then it is the end of this place, unless `even_collapsed`).
    """
    found = choose_cardinality(bench.completed, dag, name, score_sample_size=bench.prior.size)
    tree, fixed, where = found.agglomeration, bench.n_states, frozenset(children)
    wanted = {found.n_states, 2, 3} if fixed is None else {fixed}
    wanted = {k for k in wanted if 2 <= k <= tree.n_initial}
    if not wanted or (found.n_states < 2 and fixed is None and not even_collapsed):
        words = "agglomeration leaves a single state: nothing hidden here"
        if fixed is not None:
            words = (
                f"the rows around it differ in {tree.n_initial} ways, too few for {fixed} states"
            )
        return [Candidate(name, tuple(children), 1, 0.0, None, tree, found.refined, words, where)]
    looked = []
    for k in sorted(wanted):
        fitted = with_states(bench, dag, name, tree, k)
        gain, words = bench.gain_at_a_glance(fitted), "fitted by EM"
        looked.append(
            Candidate(name, tuple(children), k, gain, fitted, tree, found.refined, words, where)
        )
    return looked


def wide_candidate(bench: Bench, k: int, name: str) -> Candidate:
    """A candidate that begins as the parent of everything, with k states of clustered rows.

    The signature is local; a variable behind much of the table (the mood of a market, a social
    class) leaves many small ones. Structural EM takes from it what others explain better.
    """
    names = bench.glanced.names
    start = fit_em(
        naive_graph(names, name), bench.glanced, bench.prior, {name: k}, start="cluster",
        max_iterations=50, tolerance=1e-6, seed=bench.seed,
    ).network  # fmt: skip
    candidate = Candidate(name, names, k, 0.0, start, None, {}, "", frozenset(names))
    return adapted(bench, candidate, "full")


def random_candidate(bench: Bench, name: str, seed: int) -> Candidate:
    """A candidate from a random place: structural EM with no arcs but those of the variable.

    For tables small enough to afford many: there the signature says little (all is linked to all),
    and the best place may differ much from the graph without the variable.
    """
    generator = np.random.default_rng([bench.seed, seed])
    names = bench.glanced.names
    size = int(generator.integers(2, min(len(names), 6) + 1))
    kids = [names[i] for i in sorted(generator.permutation(len(names))[:size])]
    dag = DAG([*names, name], [(name, kid) for kid in kids])
    k = bench.n_states or 2 + seed % 2
    start = fit_em(
        dag, bench.glanced, bench.prior, {name: k}, max_iterations=50, tolerance=1e-6, seed=seed
    ).network
    candidate = Candidate(name, tuple(kids), k, 0.0, start, None, {}, "", frozenset(kids))
    return adapted(bench, candidate, "full")
