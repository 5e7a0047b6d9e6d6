"""One number of classes: EM from several starts, classes ordered by size.

Unless another way to start is asked for, half of the starts are hard clusters of the rows (K-means
first, then EM), half random. EM goes on from the best of them until it hardly gains any more.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from unveil.anneal.choice import Annealing
from unveil.em.align import align_states, permute_states
from unveil.em.mixture.k_means import k_means
from unveil.em.parametric import EMStart, fit_em
from unveil.graph.dag import DAG
from unveil.model.network import Network
from unveil.model.prior import DirichletPrior, EquivalentSampleSize
from unveil.model.table_cpd import table_of
from unveil.progress import Ticker
from unveil.table.core import Table
from unveil.table.variable import Label, Variable

__all__ = ["METHODS", "STARTS", "MixtureSettings", "fit_mixture", "reached", "table_values"]

REACHED = 1e-4
"""Starts whose objectives differ by at most so many nats (or a 10^-6 part of them, which is about
as far as EM's stopping rule tells) have reached the same maximum."""
POLISH = 1e-2
"""EM goes on from the best start until it gains less than this part of the tolerance."""

STARTS = ("both", "cluster", "random", "k-means")
"""How EM starts: from hard clusters around centres (`cluster`), from random parameters (`random`),
half of each (`both`), or where probabilistic K-means ends (`k-means`)."""

METHODS = ("em", "bottleneck")
"""EM from several starts, or one run of information-bottleneck EM."""

Plan = tuple[Any, Literal["random", "cluster", "given"], int]


@dataclass(frozen=True)
class MixtureSettings:
    """How a mixture is fitted: its hidden root's name, how many starts, when EM stops.

    `states` are names for the classes of the mixture that has as many; others are numbered.
    `start` is a word of `STARTS`. With `anneal`, the weights of the rows are annealed from the best
    start. `method` is a word of `METHODS`; the bottleneck needs no starts, and makes `compare`
    random ones to be compared with.
    """

    name: str = "class"
    n_starts: int = 10
    max_iterations: int = 2000
    tolerance: float = 1e-9
    states: tuple[Label, ...] = ()
    start: str = "both"
    anneal: Annealing | str | None = None
    method: str = "em"
    compare: int = 0

    def root(self, k: int) -> Variable:
        """The hidden root with k classes."""
        labels = self.states if len(self.states) == k else range(1, k + 1)
        return Variable(self.name, labels, hidden=True)


def fit_mixture(
    table: Table,
    k: int,
    settings: MixtureSettings,
    prior: DirichletPrior | None,
    seed: int,
    ticker: Ticker,
    given: Network | None = None,
) -> tuple[EMStart, ...]:
    """All starts of the mixture with k classes, best first, classes ordered by size and aligned.

    With a `given` network EM only goes on from there. Asked to stop, it gives the starts so far,
    at least one.
    """
    name = settings.name
    run = partial(
        fit_em, data=table, prior=prior, max_iterations=settings.max_iterations, seed=seed,
        hidden={name: settings.root(k)}, progress=ticker.tell,
    )  # fmt: skip
    starts: list[EMStart] = []
    if settings.method == "bottleneck" and k > 1 and given is None:
        starts.append(_bottleneck(table, k, settings, prior, seed, ticker))
    for structure, kind, how_many in _plans(table, k, settings, given, prior, seed):
        if how_many and (not starts or ticker.keep_going()):
            found = run(structure, n_starts=how_many, start=kind, tolerance=settings.tolerance)
            word = "k-means" if kind == "given" and given is None else kind
            starts += [replace(start, kind=word) for start in found.starts]
    starts.sort(key=lambda start: -start.objective)
    if ticker.keep_going():
        how = settings.anneal if k > 1 else None
        more = run(
            starts[0].network, start="given", tolerance=POLISH * settings.tolerance, anneal=how
        )
        went_on = {start.kind == "given": start for start in reversed(more.starts)}
        starts[0] = _continued(starts[0], went_on.pop(True))
        starts[:0] = went_on.values()  # where the annealing ended, if there was one
    return tuple(_with_reason(start, ticker) for start in _ordered(starts, name))


def reached(objective: float, best: float) -> bool:
    """Whether a start came as far as the best."""
    return objective >= best - max(REACHED, 1e-6 * abs(best))


def table_values(network: Network, name: str) -> npt.NDArray[np.float64]:
    """The table of a variable: P(class) of the root, P(x | class) of a column."""
    return table_of(network.cpd(name)).values


def _plans(
    table: Table,
    k: int,
    settings: MixtureSettings,
    given: Network | None,
    prior: DirichletPrior | None,
    seed: int,
) -> Iterable[Plan]:
    """From what to start, how, and how often."""
    dag = DAG([settings.name, *table.names], [(settings.name, column) for column in table.names])
    if given is not None:
        return [(_smoothed(given), "given", 1)]
    if k == 1:
        return [(dag, "random", 1)]
    if settings.method == "bottleneck":
        return [(dag, "random", settings.compare)]
    n = settings.n_starts
    if settings.start == "k-means":
        seeds = np.random.SeedSequence(seed).spawn(n)
        mild = prior or EquivalentSampleSize(1.0)
        roots = ((np.random.default_rng(own), settings.root(k)) for own in seeds)
        return ((k_means(table, root, mild, own).network, "given", 1) for own, root in roots)
    n_random = {"both": n // 2, "cluster": 0, "random": n}[settings.start]
    return [(dag, "cluster", n - n_random), (dag, "random", n_random)]


def _bottleneck(
    table: Table,
    k: int,
    settings: MixtureSettings,
    prior: DirichletPrior | None,
    seed: int,
    ticker: Ticker,
) -> EMStart:
    """Where information-bottleneck EM ends."""
    from unveil.bottleneck import ib_em

    name = settings.name
    dag = DAG([name, *table.names], [(name, column) for column in table.names])
    found = ib_em(
        dag, table, prior, {name: settings.root(k)}, max_iterations=settings.max_iterations,
        tolerance=settings.tolerance, seed=seed, progress=ticker,
    )  # fmt: skip
    n_iterations = sum(point.n_iterations for point in found.course)
    return EMStart(
        "bottleneck", found.log_likelihood, found.objective, n_iterations, found.stopped,
        found.network, found.course,
    )  # fmt: skip


def _smoothed(network: Network) -> Network:
    """The network with no zeros in its tables, from which EM with a prior can start."""
    return Network(table_of(cpd).without_zeros(1e-3) for cpd in network.cpds.values())


def _continued(before: EMStart, after: EMStart) -> EMStart:
    """One start whose EM was taken up again."""
    n_iterations = before.n_iterations + after.n_iterations
    return replace(after, kind=before.kind, n_iterations=n_iterations, course=before.course)


def _ordered(starts: list[EMStart], name: str) -> list[EMStart]:
    """The largest class of the best start first, and the others' classes in the same order."""
    order = np.argsort(-table_values(starts[0].network, name), kind="stable")
    best = permute_states(starts[0].network, name, order)
    rest = [replace(s, network=align_states(s.network, best, [name])) for s in starts[1:]]
    return [replace(starts[0], network=best), *rest]


def _with_reason(start: EMStart, ticker: Ticker) -> EMStart:
    """EM that was told to stop does not know why; the ticker does."""
    if ticker.reason is None or start.stopped != "asked to stop":
        return start
    return replace(start, stopped=ticker.reason)
