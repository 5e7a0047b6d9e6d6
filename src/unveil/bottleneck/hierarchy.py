"""Hierarchies of hidden variables, learned from the rows: new ones, their children, their states.

Thesis 6.7, 6.10 and 6.11. The continuation begins with one hidden parent of all columns. Once a
hidden variable T tells enough of the rows, I(T; Y) beyond a part of log |T|, columns that it does
not explain are looked for among the 20 with the highest entropy given T. By Proposition 6.10.1 a
new hidden parent T' of columns C, below T, has

    E_Q[sum over i of log P'(X_i | T') + log P'(T' | T)]  <=  E_Q[log Q(C | T)] = -H_Q(C | T),

so it cannot gain more than sum over i of H_Q(X_i | T) - H_Q(C | T) a case. The thesis takes the
three columns with the highest H_Q(C | T); here the three with the highest bound of the gain come
first, among those whose entropy is beyond a part of the most there can be. They get a hidden parent
of their own, which begins where `ib_em` of the three alone ends. Columns and hidden variables then
move to the hidden parent under which they score best (replace-parent), a hidden variable that is
left with one child or none is removed, and all of it is kept if -L+ is higher.
"""

from __future__ import annotations

import itertools
import time
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from unveil.bottleneck.call import ib_em
from unveil.bottleneck.continuation import Follower
from unveil.bottleneck.course import Continuation, Place
from unveil.bottleneck.mean_field import FieldParameters, MeanField
from unveil.bottleneck.result import Bottlenecked
from unveil.em.starts import network_to_start
from unveil.errors import DataError, Hint
from unveil.graph.dag import DAG
from unveil.infer.rows import prepared_rows
from unveil.model.network import Network
from unveil.model.prior import DirichletPrior, EquivalentSampleSize
from unveil.model.table_cpd import TableCPD
from unveil.progress import Progress, Run, Step, StopReason, Ticker, run
from unveil.table.core import Table
from unveil.table.door import Data, Weights, as_table
from unveil.table.places import free_name
from unveil.table.variable import Variable

__all__ = ["learn_hierarchy", "subset_entropies"]

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]

CANDIDATES = 20
"""So many columns of a hidden variable, those with the highest entropy given it, are looked at."""
FIRST = 15
"""So many steps a new hidden variable has to show what it is worth."""
AGAIN = 1.25
"""After one was refused, the next is tried when gamma has grown by this factor."""
SEED = 3
"""A new hidden variable begins with so many children."""


def learn_hierarchy(
    data: Data,
    n_states: int | None = 2,
    prior: DirichletPrior | None = None,
    *,
    max_hidden: int = 10,
    information: float = 0.2,
    entropy: float = 0.5,
    max_states: int = 10,
    continuation: Continuation | None = None,
    max_iterations: int = 300,
    tolerance: float = 1e-7,
    seed: int | None = None,
    progress: Progress | None = None,
    time_limit: float | None = None,
    weights: Weights = None,
) -> Bottlenecked:
    """A hierarchy of hidden variables over the columns of a table, by information-bottleneck EM.

    Every column has one parent, a hidden variable; hidden variables have at most one. Each has
    `n_states`, or as many as the score tells apart (`None`, at most `max_states`). A hidden
    variable may get a new one below it once I(T; Y) is beyond `information` of log |T|, for three
    columns whose entropy given T is at least `entropy` of the most there can be; there will be at
    most `max_hidden`. The `prior`, an equivalent sample size of 1 unless another is given, is that
    of scores, too. The rest is as in `ib_em`: `data`, `weights`, `continuation`, `max_iterations`,
    `tolerance`, `seed`, `progress`, `time_limit`.

    >>> from unveil import datasets
    >>> found = learn_hierarchy(datasets.table("college_plans"), seed=1)
    >>> found.gamma
    1.0
    """
    table = as_table(data, weights)
    _check(table, n_states, max_hidden, information, entropy)
    if seed is None:
        seed = int(np.random.default_rng().integers(2**31))
    generator, ticker = np.random.default_rng(seed), Ticker.of(progress, time_limit)
    prior = prior or EquivalentSampleSize(1.0)
    began = time.process_time()
    root = Variable(free_name("H1", table.names), [0], hidden=True)
    dag = DAG([root.name, *table.names], [(root.name, name) for name in table.names])
    variables = {root.name: root, **{v.name: v for v in table.variables}}
    network = network_to_start("random", dag, variables, table, None, generator)
    problem = MeanField(network, table, [root.name], prior)
    most = max_states if n_states is None else n_states
    follower = Follower(
        continuation or Continuation(exchanges=0), [most], 1.0, n_states is None, tolerance,
        max_iterations, generator, ticker,
    )  # fmt: skip
    grower = _Grower(follower, most, max_hidden, information, entropy)
    found = grower.run(problem, network)
    place = found.state
    final = place.problem.network(place.parameters)
    return Bottlenecked(
        final, float(final.log_likelihood(table)), place.objective, place.gamma, place.course,
        place.problem.hidden, "mean field", found.stopped, seed, None,
        time.process_time() - began,
    )  # fmt: skip


def _check(
    table: Table, n_states: int | None, max_hidden: int, information: float, entropy: float
) -> None:
    for variable in table.variables:
        if not variable.is_discrete:
            raise DataError(
                f"column {variable.name!r} is continuous; a hierarchy needs discrete columns. "
                "Leave it out or discretise it first, with",
                hint=Hint("unveil.Discretizer", "--discretize"),
            )
    if table.n_columns < 2:
        raise DataError("a hierarchy needs at least two columns")
    if n_states is not None and (isinstance(n_states, bool) or n_states < 2):
        raise DataError(f"hidden variables need a whole number of states from 2, got {n_states!r}")
    if max_hidden < 1:
        raise DataError(f"there is at least one hidden variable; max_hidden is {max_hidden}")
    for name, value in (("information", information), ("entropy", entropy)):
        if not 0 < value <= 1:
            raise DataError(f"{name} is a part between 0 and 1, got {value}")


class _Grower:
    """The continuation with changes of structure between its steps."""

    def __init__(
        self, follower: Follower, most: int, max_hidden: int, information: float, entropy: float
    ) -> None:
        self.follower, self.most, self.max_hidden = follower, most, max_hidden
        self.information, self.entropy = information, entropy
        self.again = 0.0

    def run(self, problem: MeanField, network: Network) -> Run[Place]:
        first = self.follower.first(problem, problem.parameters(network))

        def step(place: Place) -> tuple[Place, Step]:
            place, info = self.follower.stepped(place)
            if place.gamma < 1:
                place = self.improved(place)
            return place, info

        def done(place: Place, info: Step) -> StopReason | None:
            return "converged" if place.gamma >= 1 else None

        if first.gamma >= 1:
            return Run(self.follower.ended(first), (), "converged")
        found = run(step, first, done, self.follower.ticker)
        self.again = 0.0
        place = self.improved(found.state)
        place = self.settled(self.pruned(self.moved(place)), self.follower.tolerance)
        place = replace(place, course=place.course[:-1])
        return replace(found, state=self.follower.recorded(place, found.state.course[-1].what))

    def improved(self, place: Place) -> Place:
        """New hidden variables where they are worth most, and children where they score best."""
        if not self.follower.ticker.keep_going():
            return place
        if len(place.problem.hidden) > 1:
            place = self.settled(self.pruned(self.moved(place)), 1e-5)
        while self.follower.ticker.keep_going():
            states = self.follower.states
            enriched = self.enriched(place) if place.gamma >= self.again else place
            if enriched is not place:
                enriched = self.settled(enriched, 1e-5, FIRST)
                enriched = self.settled(self.pruned(self.moved(enriched)), 1e-5, FIRST)
            if enriched.objective <= place.objective + _price(place, enriched) or enriched is place:
                if enriched is not place:
                    self.again = AGAIN * place.gamma
                self.follower.states = states
                return place
            place = enriched
        return place

    def settled(self, place: Place, tolerance: float, most: int | None = None) -> Place:
        """The fixed point at the same gamma, for what may be another structure."""
        parameters, objective = self.follower.settle(
            place.problem, place.parameters, place.gamma, tolerance, most
        )
        look = place.problem.look(parameters, place.gamma)
        return replace(place, parameters=parameters, objective=objective, look=look)

    def enriched(self, place: Place) -> Place:
        """The place with one more hidden variable, if some columns ask for it."""
        problem = place.problem
        if len(problem.hidden) >= self.max_hidden:
            return place
        best: tuple[float, int, tuple[str, ...]] | None = None
        for i, name in enumerate(problem.hidden):
            k = problem.shape[i]
            if k < 2 or place.look.information[i] < self.information * np.log(k):
                continue
            columns = [c for c in problem.layout.network.dag.children(name) if c in problem.table]
            if len(columns) <= SEED:
                continue
            for chosen, share, gain in subset_entropies(problem, place.look.parameters, i, columns):
                if share >= self.entropy:
                    if best is None or gain > best[0]:
                        best = (gain, i, chosen)
                    break
        if best is None:
            return place
        return self.inserted(place, best[1], best[2])

    def inserted(self, place: Place, i: int, chosen: tuple[str, ...]) -> Place:
        """The place with a hidden parent of its own for the chosen columns."""
        problem: MeanField = place.problem
        network = problem.network(place.look.parameters)
        number = len(problem.hidden) + 1
        while f"H{number}" in network.names:
            number += 1
        old = network.variable(problem.hidden[i])
        new = Variable(f"H{number}", range(old.n_states), hidden=True)
        alone, own = self.alone(problem, new, chosen)
        above = place.look.parameters.q[:, problem.columns(i)] * problem.weights[:, None]
        joint = _smooth(above.T @ own, problem.prior, new, [old])
        cpds: list[Any] = [alone.cpd(name) for name in chosen]
        cpds += [cpd for name, cpd in network.cpds.items() if name not in chosen]
        cpds.append(TableCPD(new, [old], joint))
        factors = {**_factors(problem, place.look.parameters), new.name: own}
        self.follower.states = (*self.follower.states, self.most)
        return self.rebuilt(place, Network(cpds), (*problem.hidden, new.name), factors)

    def alone(
        self, problem: MeanField, new: Variable, chosen: tuple[str, ...]
    ) -> tuple[Network, Matrix]:
        """The chosen columns with a hidden parent and nothing else, and its posterior by row."""
        part = problem.table.select(chosen)
        dag = DAG([new.name, *chosen], [(new.name, c) for c in chosen])
        found = ib_em(
            dag, part, problem.prior, {new.name: new}, posterior="exact", seed=0,
            continuation=Continuation(exchanges=0), max_iterations=100, tolerance=1e-6,
        )  # fmt: skip
        posterior = found.network.posterior(part, of=new.name)[new.name]
        which = prepared_rows(problem.layout.network, problem.table, fold=True).which
        own = np.empty((len(problem.weights), new.n_states))
        inside = which >= 0
        own[which[inside]] = posterior[inside]
        return found.network, own

    def rebuilt(
        self, place: Place, network: Network, hidden: tuple[str, ...], factors: dict[str, Matrix]
    ) -> Place:
        """The same rows and factors under another structure."""
        old = place.problem
        made = MeanField(network, old.table, hidden, old.prior)
        q = made.parameters(network).q
        for v in made.unseen.tolist():
            first, k = int(made.plan.at[v]), int(made.plan.n_states[v])
            q[:, first : first + k] = factors[made.layout.names[v]]
        parameters = FieldParameters(made.layout.pack(network), made._commons(q), q)
        vectors = tuple(made.begin(j, self.follower.generator) for j in range(len(hidden)))
        look = made.look(parameters, place.gamma)
        return replace(place, problem=made, parameters=parameters, vectors=vectors, look=look)

    def moved(self, place: Place) -> Place:
        """Every column and hidden variable under the hidden parent where it scores best (6.7)."""
        problem: MeanField = place.problem
        if len(problem.hidden) < 2:
            return place
        network = problem.network(place.look.parameters)
        dag = network.dag
        counts = _pair_counts(problem, place.look.parameters)
        for name in [*problem.table.names, *problem.hidden]:
            if name not in network.names or not dag.parents(name):
                continue
            scores = {
                h: _score(counts(name, h), problem.prior)
                for h in problem.hidden
                if h != name and not _below(dag, h, name)
            }
            now = dag.parents(name)[0]
            best = max(scores, key=lambda h: scores[h])
            if scores[best] > scores[now] + 1e-6:
                dag = DAG(dag.nodes, [(p, c) for p, c in dag.arcs if c != name] + [(best, name)])
        if set(dag.arcs) == set(network.dag.arcs):
            return place
        return self.with_dag(place, dag, problem.hidden, counts)

    def with_dag(self, place: Place, dag: DAG, hidden: tuple[str, ...], counts: Any) -> Place:
        """The place under another graph, tables from the factors as they are."""
        problem: MeanField = place.problem
        network = problem.network(place.look.parameters)
        cpds = []
        for name in dag.nodes:
            variable = network.variable(name)
            parents = [network.variable(p) for p in dag.parents(name)]
            if not parents:
                mass = counts(name, name).diagonal()
                cpds.append(TableCPD(variable, [], _smooth(mass, problem.prior, variable, [])))
                continue
            n = counts(name, parents[0].name)
            cpds.append(TableCPD(variable, parents, _smooth(n, problem.prior, variable, parents)))
        factors = {
            name: own
            for name, own in _factors(problem, place.look.parameters).items()
            if name in dag.nodes
        }
        return self.rebuilt(place, Network(cpds), hidden, factors)

    def pruned(self, place: Place) -> Place:
        """Hidden variables with one child or none are removed; the child goes to their parent."""
        while True:
            problem: MeanField = place.problem
            dag = problem.layout.network.dag
            spare = [h for h in problem.hidden if len(dag.children(h)) <= 1]
            if not spare or len(problem.hidden) == 1:
                return place
            name = spare[0]
            above, below = dag.parents(name), dag.children(name)
            arcs = [(p, c) for p, c in dag.arcs if name not in (p, c)]
            arcs += [(p, c) for p in above for c in below]
            nodes = [n for n in dag.nodes if n != name]
            hidden = tuple(h for h in problem.hidden if h != name)
            at = problem.hidden.index(name)
            states = self.follower.states
            self.follower.states = (*states[:at], *states[at + 1 :])
            counts = _pair_counts(problem, place.look.parameters)
            place = self.with_dag(place, DAG(nodes, arcs), hidden, counts)


def _price(before: Place, after: Place) -> float:
    """What more parameters have to gain: half of log N each (BIC), as much as gamma lets through.

    The Lagrangian itself does not ask how many parameters P has (6.7).
    """
    counts = [p.problem.layout.network.n_parameters for p in (before, after)]
    price = 0.5 * (counts[1] - counts[0]) * np.log(before.problem.n_cases)
    return float(max(0.0, before.gamma * price))


def subset_entropies(
    problem: MeanField, parameters: FieldParameters, i: int, columns: list[str]
) -> list[tuple[tuple[str, ...], float, float]]:
    """Triples of columns, H_Q(C | T) as part of its most, and the bound of the gain, best first.

    T is hidden variable i, Q its factor in every row. The most is the sum of log |X|, the bound is
    sum of H_Q(X | T) - H_Q(C | T), in nats a case. Triples are of the `CANDIDATES` columns with the
    highest entropy given T, as part of theirs; rows with gaps in a triple are left out of it.
    """
    q = parameters.q[:, problem.columns(i)] * problem.weights[:, None]
    place = {name: problem.layout.names.index(name) for name in columns}
    n_states = {name: problem.layout.network.variable(name).n_states for name in columns}

    def given(*names: str) -> float:
        codes = [problem.codes[place[n]] for n in names]
        return _entropy_given(codes, [n_states[n] for n in names], q)

    most = {n: np.log(max(n_states[n], 2)) for n in columns}
    own = {n: given(n) for n in columns}
    chosen = set(sorted(columns, key=lambda n: (-own[n] / most[n], n))[:CANDIDATES])
    found = []
    for names in itertools.combinations([n for n in columns if n in chosen], SEED):
        together = given(*names)
        share = together / sum(most[n] for n in names)
        found.append((names, float(share), sum(own[n] for n in names) - together))
    return sorted(found, key=lambda item: -item[2])


def _entropy_given(codes: list[Any], sizes: list[int], mass: Matrix) -> float:
    """H_Q(C | T) in nats: columns of codes, and w_y Q(t | y) of every row."""
    cell = np.zeros(len(mass), np.int64)
    seen = np.ones(len(mass), bool)
    for column, size in zip(codes, sizes, strict=True):
        seen &= column < size
        cell = cell * size + np.where(column < size, column, 0)
    counts = np.array([np.bincount(cell[seen], m[seen], int(np.prod(sizes))) for m in mass.T])
    total = counts.sum()
    if total <= 0:
        return 0.0
    each = counts.sum(axis=1)
    inside = counts[counts > 0]
    return float((each[each > 0] @ np.log(each[each > 0]) - inside @ np.log(inside)) / total)


def _factors(problem: MeanField, parameters: FieldParameters) -> dict[str, Matrix]:
    """The factors of every variable that rows lack, by name."""
    found = {}
    for v in problem.unseen.tolist():
        first, k = int(problem.plan.at[v]), int(problem.plan.n_states[v])
        found[problem.layout.names[v]] = parameters.q[:, first : first + k]
    return found


def _pair_counts(problem: MeanField, parameters: FieldParameters) -> Any:
    """A function from a variable and a hidden parent to expected counts, (parent, variable)."""
    factors = _factors(problem, parameters)
    weights = problem.weights

    def counts(name: str, parent: str) -> Matrix:
        above = factors[parent] * weights[:, None]
        if name == parent:
            return np.diag(above.sum(axis=0))
        if name in problem.hidden:
            return np.asarray(above.T @ factors[name], np.float64)
        codes = problem.codes[problem.layout.names.index(name)]
        n = problem.layout.network.variable(name).n_states
        seen = codes < n
        return np.array([np.bincount(codes[seen], a[seen], n) for a in above.T])

    return counts


def _pseudo(prior: DirichletPrior | None, shape: tuple[int, ...]) -> Vector:
    """Pseudo-counts of a table of this shape."""
    dummies = [Variable(f"v{i}", range(n)) for i, n in enumerate(shape)]
    alpha = (prior or EquivalentSampleSize(1.0)).pseudo_counts(dummies[-1], dummies[:-1])
    return np.asarray(np.broadcast_to(alpha, shape), np.float64)


def _score(counts: Matrix, prior: DirichletPrior | None) -> float:
    """The BDe score of a family from its expected counts, (parent, child)."""
    a = _pseudo(prior, counts.shape)
    rows = gammaln(a.sum(axis=1)) - gammaln((counts + a).sum(axis=1))
    return float((rows + (gammaln(counts + a) - gammaln(a)).sum(axis=1)).sum())


def _smooth(
    counts: Vector, prior: DirichletPrior | None, variable: Variable, parents: list[Variable]
) -> Vector:
    """The posterior mean of a table."""
    alpha = (prior or EquivalentSampleSize(1.0)).pseudo_counts(variable, parents)
    whole = counts + alpha
    return np.asarray(whole / whole.sum(axis=-1, keepdims=True), np.float64)


def _below(dag: DAG, name: str, top: str) -> bool:
    """Whether a node is a descendant of another in a hierarchy."""
    while True:
        parents = dag.parents(name)
        if not parents:
            return False
        if parents[0] == top:
            return True
        name = parents[0]
