"""Choosing the number of states: agglomeration first, then a short EM at the best few (Ch. 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unveil.em.short import short_em
from unveil.em.structural import observed_score
from unveil.graph.dag import DAG
from unveil.hidden.agglomeration import Agglomeration, agglomerate_states
from unveil.model.beside import fit_beside
from unveil.model.network import Network
from unveil.model.prior import EquivalentSampleSize
from unveil.progress import Progress, Ticker
from unveil.score.base import Score
from unveil.score.bdeu import BDeu
from unveil.table.core import Table
from unveil.table.variable import Variable

__all__ = ["Cardinality", "all_observed", "choose_cardinality", "completed_fit", "local_graph"]


@dataclass(frozen=True)
class Cardinality:
    """The number of states chosen for a hidden variable, and why.

    `refined` maps each cardinality that was tried by EM to its Cheeseman-Stutz score (nats, up to
    a constant); `codes` is the chosen completion, the state of every row.
    """

    name: str
    n_states: int
    codes: npt.NDArray[np.int64]
    refined: dict[int, float]
    agglomeration: Agglomeration


def choose_cardinality(
    table: Table,
    dag: DAG,
    name: str,
    equivalent_sample_size: float = 5.0,
    score_sample_size: float = 1.0,
    iterations: int = 50,
    cap: int = 400,
    progress: Progress | None = None,
    time_limit: float | None = None,
    score: Score | None = None,
) -> Cardinality:
    """The number of states of `name` that Cheeseman-Stutz prefers among the best few.

    Agglomeration proposes its two best cardinalities (and, when they are large, halves of them:
    the score of completed data over-splits where joint assignments are few). They are tried by EM
    of at most `iterations` from their completions, in the part of the network around the variable;
    then one and two fewer and one more than the winner, until the winner stays. Stopped early, it
    chooses among those tried so far, one at least. The variable has no column in `table` (or one
    that is ignored). Another `score` (`BIC()`, `MDL()`) takes the place of BDeu and of
    Cheeseman-Stutz.

    >>> from unveil import datasets
    >>> alarm = datasets.network("alarm")
    >>> rows = alarm.sample(2000, seed=1)
    >>> choose_cardinality(rows.without("HR"), alarm.dag, "HR").n_states
    3
    """
    table = all_observed(table)
    tree = agglomerate_states(table, dag, name, equivalent_sample_size, cap, score=score)
    around = local_graph(dag, name)
    prior = EquivalentSampleSize(score_sample_size)
    ticker = Ticker.of(progress, time_limit)
    judge = BDeu(score_sample_size) if score is None else score
    refined: dict[int, float] = {}
    waiting = _first_to_try(tree)
    while waiting:
        for k in waiting:
            network = completed_fit(table, around, name, tree.states(k), k, prior)
            network = short_em(
                network, table, prior, iterations, progress=lambda _: ticker.keep_going()
            )
            refined[k] = observed_score(network, table, judge)[0]
            words = f"{name} with {k} states"
            if not ticker.offer("number of states", len(refined), refined[k], detail=words):
                break
        chosen = max(refined, key=lambda k: (refined[k], -k))
        near = (chosen - 2, chosen - 1, chosen + 1)
        waiting = [k for k in near if 1 <= k <= tree.n_initial and k not in refined]
        if not ticker.keep_going():
            break
    return Cardinality(name, chosen, tree.states(chosen), refined, tree)


def all_observed(table: Table) -> Table:
    """The table with other hidden variables taken as columns like any other."""
    for v in table.variables:
        if v.hidden:
            shown = v.as_hidden(False)
            table = table.with_column(shown, table.column(v.name))
    return table


def _first_to_try(tree: Agglomeration) -> list[int]:
    best = tree.candidates(2)
    halves = []
    k = best[0] // 2
    while best[0] > 8 and k >= 2:
        halves.append(k)
        k //= 2
    return [*best[: 1 if halves else 2], *(k for k in halves if k not in best)]


def local_graph(dag: DAG, name: str) -> DAG:
    """The hidden variable, its blanket, and the arcs into it and its children."""
    nodes = [n for n in dag.nodes if n == name or n in dag.markov_blanket(name)]
    heads = {name, *dag.children(name)}
    return DAG(nodes, [(p, c) for p, c in dag.arcs if c in heads])


def completed_fit(
    table: Table,
    dag: DAG,
    name: str,
    codes: npt.ArrayLike,
    n_states: int,
    prior: EquivalentSampleSize,
) -> Network:
    """The network fitted to the rows with the hidden variable's states filled in."""
    variable = Variable(name, range(n_states), hidden=True)
    observed: Sequence[str] = [n for n in dag.nodes if n != name]
    return fit_beside(table, table.select(observed).with_column(variable, codes), dag, prior)
