"""What a candidate is worth: cardinality, EM, and structure adapted around it (thesis 4.1, 8.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from unveil.discovery.observed import learn_complete
from unveil.em.align import permute_states
from unveil.em.completion import complete_rows
from unveil.em.parametric import fit_em
from unveil.em.scores import hidden_scores
from unveil.em.structural import structural_em
from unveil.graph.dag import DAG
from unveil.hidden.agglomeration import Agglomeration, agglomerate_states
from unveil.hidden.cardinality import choose_cardinality, completed_fit, short_em
from unveil.infer.explain import most_probable
from unveil.model.fit import fit
from unveil.model.network import Network
from unveil.model.prior import EquivalentSampleSize
from unveil.model.table_cpd import TableCPD
from unveil.progress import Ticker
from unveil.score.bdeu import BDeu
from unveil.search.constraints import Constraints
from unveil.table.core import Table

__all__ = [
    "Adapt",
    "Bench",
    "Candidate",
    "adapt_candidate",
    "check_candidate",
    "complete_hidden",
    "first_look",
    "fold_weights",
    "left_out_log_likelihood",
    "polish_candidate",
    "random_candidate",
    "redundancy",
]

Adapt = Literal["em", "blanket", "full"]


@dataclass(frozen=True)
class Candidate:
    """A hidden variable that was tried: where, with how many states, and what it scored.

    `gain` is the Cheeseman-Stutz score less that of the network without it, in nats. `verdict`
    says in words what became of it. `agglomeration` holds the merge tree it came from, `place` the
    set of nodes it was first put behind. `predicted` is the cross-validated gain in log-likelihood
    of the same rows (nats), for candidates that could be kept.
    """

    name: str
    children: tuple[str, ...]
    n_states: int
    gain: float
    network: Network | None
    agglomeration: Agglomeration | None
    refined: dict[int, float]
    verdict: str
    place: frozenset[str] = frozenset()
    predicted: float = float("nan")


def complete_hidden(network: Network, table: Table) -> Table:
    """The rows with every gap and hidden variable filled by its most probable explanation."""
    observed = table.select([n for n in network.names if n in table])
    if observed.is_complete and len(observed.names) == len(network.names):
        return observed.conform(network.variables)
    return most_probable(network, observed).table


@dataclass(frozen=True)
class Bench:
    """What every candidate of a round is tried against.

    `network` is the one without the candidate, with Cheeseman-Stutz score `score` on `table`;
    `completed` are the same rows with gaps and earlier hidden variables filled in. `n_states`
    fixes the number of states.
    """

    network: Network
    score: float
    table: Table
    completed: Table
    prior: EquivalentSampleSize
    max_parents: int | None
    n_states: int | None
    seed: int
    ticker: Ticker

    def score_of(self, network: Network) -> float:
        """The gain of a network over the one without the candidate, in nats."""
        return hidden_scores(network, self.table, self.prior).cheeseman_stutz - self.score


def check_candidate(bench: Bench, candidate: Candidate) -> Candidate:
    """The candidate with its cross-validated gain, if it could be kept.

    Cheeseman-Stutz rates some variables too high that explain a chance pattern; rows that were
    left out show it. The structure stays, the parameters are estimated without the fold.
    """
    if candidate.network is None or candidate.verdict != "kept":
        return candidate
    gain = left_out_log_likelihood(bench, candidate.network)
    gain -= left_out_log_likelihood(bench, bench.network)
    words = "kept" if gain > 0 else "does not predict left-out rows better"
    return replace(candidate, predicted=gain, verdict=words)


def left_out_log_likelihood(bench: Bench, network: Network, n_folds: int = 5) -> float:
    """The log-likelihood of every row under parameters from the other folds, summed (nats)."""
    table, total = bench.table, 0.0
    observed = [n for n in network.names if n in table]
    complete = table.is_complete and len(observed) == len(network.names)
    for share in fold_weights(table, n_folds, bench.seed):
        rest = table.row_weights - share
        inside, outside = table.take(rest > 0), table.take(share > 0)
        inside = inside.with_weights(rest[rest > 0])
        if complete:
            fitted = fit(network.dag, inside.select(network.names), bench.prior)
        else:
            fitted = short_em(network, inside, bench.prior, 30)
        total += float(share[share > 0] @ fitted.row_log_likelihoods(outside.select(observed)))
    return total


def fold_weights(table: Table, n_folds: int, seed: int) -> npt.NDArray[np.float64]:
    """How much of every row's weight lies in each fold, shape (n_folds, n_rows).

    A row of weight 3 is three rows: each goes to a fold of its own accord. Plain rows are dealt
    out evenly.
    """
    generator = np.random.default_rng(seed)
    weights = table.row_weights
    if (weights == 1).all():
        fold = np.arange(table.n_rows) % n_folds
        return np.eye(n_folds)[:, generator.permutation(fold)]
    whole = np.floor(weights).astype(np.int64)
    shares = generator.multinomial(whole, np.full(n_folds, 1 / n_folds)).T.astype(np.float64)
    rest = generator.integers(n_folds, size=table.n_rows)
    shares[rest, np.arange(table.n_rows)] += weights - whole
    return shares


def first_look(
    bench: Bench, dag: DAG, name: str, children: Sequence[str], iterations: int = 30
) -> list[Candidate]:
    """A candidate by EM alone with the graph as constructed, at the cardinalities worth a try.

    These are the one that `choose_cardinality` prefers, and two and three states from the same
    tree of merges: the graph as constructed is crude and often asks for too many. The best first.
    """
    found = choose_cardinality(bench.completed, dag, name, score_sample_size=bench.prior.size)
    tree, fixed = found.agglomeration, bench.n_states
    wanted = {found.n_states, 2, 3} if fixed is None else {fixed}
    wanted = {k for k in wanted if 2 <= k <= tree.n_initial}
    if not wanted or (found.n_states < 2 and fixed is None):
        words = "agglomeration leaves a single state: nothing hidden here"
        where = frozenset(children)
        return [Candidate(name, tuple(children), 1, 0.0, None, tree, found.refined, words, where)]
    looked = []
    for k in sorted(wanted):
        fitted = _with_states(bench, dag, name, tree, k, iterations)
        gain, where = bench.score_of(fitted), frozenset(children)
        candidate = Candidate(
            name, tuple(children), k, gain, fitted, tree, found.refined, "fitted by EM", where
        )
        looked.append(candidate)
    return sorted(looked, key=lambda c: -c.gain)


def adapt_candidate(bench: Bench, candidate: Candidate, adapt: Adapt) -> Candidate:
    """The candidate after structural EM around it (`blanket`), everywhere (`full`), or not (`em`).

    When the structure has settled, the number of states is chosen anew for it, and the structure
    adapted again, while that helps.
    """
    best = _adapted(bench, candidate, adapt)
    for _ in range(3):
        if bench.n_states is not None or not bench.ticker.keep_going():
            break
        assert best.network is not None
        dag, name = best.network.dag, best.name
        if redundancy(best.network, name):
            break
        found = choose_cardinality(bench.completed, dag, name, score_sample_size=bench.prior.size)
        if found.n_states < 2 or found.n_states == best.n_states:
            break
        network = _with_states(bench, dag, name, found.agglomeration, found.n_states)
        fresh = replace(
            best, n_states=found.n_states, network=network, agglomeration=found.agglomeration,
            refined=found.refined,
        )  # fmt: skip
        again = _adapted(bench, fresh, adapt)
        if again.gain <= best.gain + 1e-6:
            break
        best = again
    return best


def random_candidate(bench: Bench, name: str, seed: int) -> Candidate:
    """A candidate from a random place: structural EM with no arcs but those of the variable.

    For tables small enough to afford many: there the signature says little (all is linked to all),
    and the best place may differ much from the graph without the variable.
    """
    generator = np.random.default_rng([bench.seed, seed])
    names = bench.table.names
    size = int(generator.integers(2, min(len(names), 6) + 1))
    kids = [names[i] for i in sorted(generator.permutation(len(names))[:size])]
    dag = DAG([*names, name], [(name, kid) for kid in kids])
    k = bench.n_states or 2 + seed % 2
    start = fit_em(
        dag, bench.table, bench.prior, {name: k}, max_iterations=50, tolerance=1e-6, seed=seed
    ).network
    candidate = Candidate(name, tuple(kids), k, 0.0, start, None, {}, "", frozenset(kids))
    return _adapted(bench, candidate, "full")


def polish_candidate(bench: Bench, candidate: Candidate, max_turns: int = 6) -> Candidate:
    """The candidate after changes that reach beyond its blanket, while any of them helps.

    A turn tries structural EM everywhere, from the present graph and from the graph that a search
    from nothing finds on the completed rows; and, with them, one state fewer and one more.
    Structural EM alone stays near its start, and the graph as constructed is a crude start.
    """
    best = candidate
    for _ in range(max_turns):
        starts = [best, *_relearned(bench, best), *_neighbouring_states(bench, best)]
        better = best
        for start in starts:
            if not bench.ticker.keep_going():
                break
            found = _adapted(bench, start, "full")
            if found.verdict != "kept" and best.verdict == "kept":
                continue
            if found.gain > better.gain or (found.verdict == "kept" != better.verdict):
                better = found
        if better.gain <= best.gain + 0.1 and better.verdict == best.verdict:
            break
        best = better
    return best


def _relearned(bench: Bench, candidate: Candidate) -> list[Candidate]:
    """The candidate with all arcs learned anew on the rows as its network completes them."""
    assert candidate.network is not None
    network, name = candidate.network, candidate.name
    completed = complete_rows(network, bench.table, cap=32, draws=8, seed=bench.seed)
    learned = learn_complete(
        completed, bench.prior, bench.max_parents, 2, bench.seed,
        time_limit=bench.ticker.time_left(),
    )  # fmt: skip
    childless = any(not learned.dag.children(h) for h in (name, *bench.network.hidden))
    return [] if childless else [replace(candidate, network=learned)]


def _neighbouring_states(bench: Bench, candidate: Candidate) -> list[Candidate]:
    """The candidate with one state fewer and with one more, from a new tree of merges."""
    assert candidate.network is not None
    network, name = candidate.network, candidate.name
    if bench.n_states is not None or redundancy(network, name):
        return []
    tree = agglomerate_states(bench.completed, network.dag, name)
    near = [k for k in (candidate.n_states - 1, candidate.n_states + 1) if 2 <= k <= tree.n_initial]
    return [
        replace(
            candidate, n_states=k, agglomeration=tree,
            network=_with_states(bench, network.dag, name, tree, k),
        )
        for k in near
    ]  # fmt: skip


def _with_states(
    bench: Bench, dag: DAG, name: str, tree: Agglomeration, k: int, iterations: int = 30
) -> Network:
    """The network in which the hidden variable has the k states of a tree of merges, after EM."""
    start = completed_fit(bench.completed, dag, name, tree.states(k), k, bench.prior)
    start = start.map_variables(lambda v: v if v.name == name else bench.network.variable(v.name))
    return short_em(start, bench.table, bench.prior, iterations)


def _adapted(bench: Bench, candidate: Candidate, adapt: Adapt) -> Candidate:
    assert candidate.network is not None
    network, name = candidate.network, candidate.name
    if adapt != "em":
        around = {name, *network.dag.markov_blanket(name)}
        limits = Constraints(
            max_parents=bench.max_parents, changeable=None if adapt == "full" else sorted(around)
        )
        network = structural_em(
            bench.table, network, BDeu(bench.prior.size), prior=bench.prior, constraints=limits,
            max_rounds=12, em_iterations=30, seed=bench.seed, time_limit=bench.ticker.time_left(),
        ).network  # fmt: skip
    network = _by_size(short_em(network, bench.table, bench.prior, 200, 1e-8), name)
    gain = bench.score_of(network)
    words = redundancy(network, name) or ("kept" if gain > 0 else "does not pay for its parameters")
    return replace(
        candidate, children=network.dag.children(name), n_states=network.variable(name).n_states,
        gain=gain, network=network, verdict=words,
    )  # fmt: skip


def redundancy(network: Network, name: str) -> str:
    """Why a hidden variable is superfluous, in words; empty if it is not."""
    variable = network.variable(name)
    children = network.dag.children(name)
    if variable.n_states < 2:
        return "redundant: it has a single state"
    neighbours = len(network.dag.neighbours(name))
    if not children or neighbours < 2:
        return "redundant: it is linked to a single variable"
    if len(children) == 1 and not network.dag.parents(name):
        return "redundant: it has a single child and no parent"
    twins = _equal_states(network, name)
    return f"redundant: its states {twins[0]} and {twins[1]} are the same" if twins else ""


def _equal_states(network: Network, name: str, tolerance: float = 0.01) -> tuple[int, int] | None:
    """Two states under which all children behave alike."""
    k = network.variable(name).n_states
    distance = np.zeros((k, k))
    for child in network.dag.children(name):
        cpd = network.cpd(child)
        assert isinstance(cpd, TableCPD)
        axis = [v.name for v in cpd.parents].index(name)
        rows = np.moveaxis(cpd.values, axis, 0).reshape(k, -1, cpd.variable.n_states)
        gap = np.abs(rows[:, None] - rows[None, :]).sum(axis=-1).max(axis=-1) / 2
        distance = np.maximum(distance, gap)
    alike = np.argwhere((distance < tolerance) & ~np.eye(k, dtype=bool))
    return (int(alike[0][0]), int(alike[0][1])) if len(alike) else None


def _by_size(network: Network, name: str) -> Network:
    """The network with the states of a hidden variable ordered from the commonest."""
    share = network.posterior(of=name)[name][0]
    return permute_states(network, name, np.argsort(-share, kind="stable"))
