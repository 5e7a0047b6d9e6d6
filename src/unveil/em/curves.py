"""EM for networks of curves and lines with unseen cells or hidden variables (thesis 7.4, 7.5).

The E-step finds the Gaussian nearest to every row's posterior; what EM raises is the bound of the
log-likelihood that this gives. The M-step refits every family to points that have the means and
covariances of those Gaussians, and keeps a fit only if the bound does not fall by it. So the bound
never falls.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from unveil.em.line_structure import fitted_graph
from unveil.em.lines import Observed
from unveil.em.loop import run_em
from unveil.errors import DataError
from unveil.graph.dag import DAG
from unveil.infer.gaussian.curves import RowPosteriors, row_posteriors
from unveil.model.cpd import CPD
from unveil.model.curve_fit import Fitter
from unveil.model.curve_network import curve_cpd
from unveil.model.curves import Curve
from unveil.model.fit import fit
from unveil.model.gaussian_cpd import LinearGaussianCPD
from unveil.model.network import Network
from unveil.model.nonlinear_cpd import NonlinearCPD
from unveil.progress import Progress, Ticker
from unveil.table.core import Table

__all__ = ["CurveEM", "fit_curves_em", "standard_roots"]

LEAST_VARIANCE = 1e-6
"""The least share of a column's variance that may stay unexplained."""
LONG = 200
"""The most iterations, unless told."""
CLOSE = 1e-6
"""Where EM stops, as a share of the bound."""


class CurveEM:
    """EM whose parameters are the network itself; its objective is the bound."""

    def __init__(self, network: Network, table: Table) -> None:
        inside = [name for name in network.names if name in table]
        if not inside:
            raise DataError("the table has none of the network's variables")
        self._table = table.select(inside).conform([network.variable(n) for n in inside])
        self._last: RowPosteriors | None = None
        spread = {n: float(np.nanvar(self._table.column(n))) for n in inside}
        self._floor = {n: LEAST_VARIANCE * spread.get(n, 1.0) for n in network.names}

    def pack(self, network: Network) -> Network:
        """The network; what was found for another start is forgotten."""
        self._last = None
        return network

    def unpack(self, parameters: Network) -> Network:
        """The network, hidden roots with mean 0 and variance 1."""
        hidden = [n for n in parameters.names if n not in self._table]
        return standard_roots(parameters, hidden)

    def e_step(self, network: Network) -> RowPosteriors:
        """The nearest Gaussian of every row, begun at that of the last step."""
        self._last = row_posteriors(network, self._table, start=self._last)
        return self._last

    def m_step(self, network: Network, found: RowPosteriors) -> Network:
        """Every family refitted, if that raises its part of the bound."""
        weights = self._table.row_weights
        points = found.completed(network, weights)
        fitters: dict[Curve, Fitter] = {}
        columns = np.array([points.column(n) for n in points.names], np.float64)
        place = {n: i for i, n in enumerate(points.names)}
        made: list[CPD] = []
        for name in network.names:
            old = network.cpd(name)
            parents = [p.name for p in old.parents]
            if isinstance(old, NonlinearCPD) and parents:
                if old.curve not in fitters:
                    fitters[old.curve] = Fitter(
                        columns, points.row_weights, old.curve, points.names
                    )
                fitter = fitters[old.curve]
                offered = [
                    curve_cpd(points, name, tuple(parents), fitter, place),
                    _continued(old, fitter, place),
                ]
            else:
                family = DAG([*parents, name], [(p, name) for p in parents])
                offered = [fit(family, points).cpd(name)]
            made.append(self._best(old, offered, found, weights))
        return Network(made, network.name, network.description)

    def _best(
        self, old: CPD, offered: Sequence[CPD], found: RowPosteriors,
        weights: npt.NDArray[np.float64],
    ) -> CPD:  # fmt: skip
        """The family that leaves least squares in expectation, with the variance they leave."""
        same = [cpd.with_variables(old.variable, old.parents) for cpd in (old, *offered)]
        squares = [found.squares(cpd, weights) for cpd in same]
        best = int(np.argmin(squares))
        variance = max(squares[best] / float(weights.sum()), self._floor[old.variable.name])
        return _with_variance(same[best], variance)

    def step(self, parameters: Network) -> tuple[Network, float]:
        """Both steps, and the bound at the network given."""
        found = self.e_step(parameters)
        return self.m_step(parameters, found), float(found.bounds @ self._table.row_weights)

    def log_prior(self, parameters: Network) -> float:
        """Priors say nothing about curves."""
        return 0.0

    @property
    def row_weights(self) -> npt.NDArray[np.float64]:
        """How often each row counts."""
        return self._table.row_weights

    def with_row_weights(self, weights: npt.NDArray[np.float64]) -> CurveEM:
        """The same with other weights of the same rows."""
        other = copy.copy(self)
        other._table = self._table.with_weights(weights)
        return other

    def row_scores(self, parameters: Network) -> npt.NDArray[np.float64]:
        """The bound of what each row shows."""
        return row_posteriors(parameters, self._table).bounds


def fit_curves_em(
    dag: DAG,
    table: Table,
    curve: Curve,
    hidden: Sequence[str] = (),
    max_iterations: int = LONG,
    progress: Progress | None = None,
    start: Network | None = None,
) -> tuple[Network, float]:
    """The network of curves over a known graph, and the bound of the log-likelihood it reached.

    It begins where lines end: these are fitted first, by exact EM, fill in what is unseen, and
    curves are fitted to that. Or it begins at `start`.

    >>> generator = np.random.default_rng(1)
    >>> u = generator.normal(size=100)
    >>> x = np.tanh(2 * u) + 0.1 * generator.normal(size=100)
    >>> rows = Table.from_frame({"u": u, "x": x}).knock_out(0.1, seed=1)
    >>> network, bound = fit_curves_em(DAG(["u", "x"], [("u", "x")]), rows, Curve("sigmoid"))
    >>> 3 < float(network.cpd("x").weights[0]) < 5  # tanh(2 u) is a sigmoid of 4 u
    True
    """
    ticker = Ticker.of(progress, None)
    columns = table.select([n for n in table.names if n in dag.nodes])
    first = start or _from_lines(dag, columns, curve, hidden)
    problem = CurveEM(first, columns)
    found = run_em(problem.step, first, max_iterations, CLOSE, ticker, "EM of curves")
    network = problem.unpack(found.parameters)
    return network, found.objective


def standard_roots(network: Network, names: Sequence[str]) -> Network:
    """The same distribution of all else, hidden roots with mean 0 and variance 1, pulling up."""
    cpds = dict(network.cpds)
    for name in names:
        root = cpds[name]
        if not isinstance(root, LinearGaussianCPD) or root.parents:
            continue
        children = [cpds[c] for c in network.dag.children(name)]
        scale = float(np.sqrt(root.variance))
        if sum(_pull(child, name) for child in children) < 0:
            scale = -scale
        for child in children:
            cpds[child.variable.name] = _rescaled(child, name, root.intercept, scale)
        cpds[name] = LinearGaussianCPD(root.variable, [], 0.0, [], 1.0)
    return Network(cpds.values(), network.name, network.description)


def _pull(child: CPD, parent: str) -> float:
    """How much a parent moves a child, in units of its noise."""
    place = [p.name for p in child.parents].index(parent)
    if isinstance(child, NonlinearCPD):
        slope = float(child.weights[place]) * (child.high - child.low)
        return slope / float(np.sqrt(child.variance))
    assert isinstance(child, LinearGaussianCPD)
    return float(child.coefficients[place]) / float(np.sqrt(child.variance))


def _rescaled(child: CPD, parent: str, origin: float, scale: float) -> CPD:
    """The family whose parent u is now given as (u - origin) / scale."""
    place = [p.name for p in child.parents].index(parent)
    if isinstance(child, NonlinearCPD):
        weights, offsets = child.weights.copy(), child.offsets.copy()
        offsets[0] += weights[place] * origin
        weights[place] *= scale
        return NonlinearCPD(
            child.variable, child.parents, child.curve, child.low, child.high, offsets, weights,
            child.variance,
        )  # fmt: skip
    assert isinstance(child, LinearGaussianCPD)
    own = child.coefficients.copy()
    intercept = child.intercept + own[place] * origin
    own[place] *= scale
    return LinearGaussianCPD(child.variable, child.parents, intercept, own, child.variance)


def _with_variance(cpd: CPD, variance: float) -> CPD:
    if isinstance(cpd, NonlinearCPD):
        return NonlinearCPD(
            cpd.variable, cpd.parents, cpd.curve, cpd.low, cpd.high, cpd.offsets, cpd.weights,
            variance,
        )  # fmt: skip
    assert isinstance(cpd, LinearGaussianCPD)
    return LinearGaussianCPD(cpd.variable, cpd.parents, cpd.intercept, cpd.coefficients, variance)


def _continued(old: NonlinearCPD, fitter: Fitter, place: dict[str, int]) -> NonlinearCPD:
    """The curve fitted on from where it is."""
    parents = [place[p.name] for p in old.parents]
    found = fitter.fit_from(
        place[old.variable.name], parents, old.low, old.high, old.offsets, old.weights
    )
    return NonlinearCPD(
        old.variable, old.parents, old.curve, found.low, found.high, found.offsets, found.weights,
        found.variance,
    )  # fmt: skip


def _from_lines(dag: DAG, table: Table, curve: Curve, hidden: Sequence[str]) -> Network:
    """Curves fitted to rows as lines fill them in."""
    observed = Observed.of(table)
    graph = fitted_graph(observed, dag, hidden)
    known = {v.name: v for v in table.variables}
    lines = graph.lines.network(known, dag, hidden)
    found = row_posteriors(lines, table)
    points = found.completed(lines, table.row_weights)
    columns = np.array([points.column(n) for n in points.names], np.float64)
    fitter = Fitter(columns, points.row_weights, curve, points.names)
    place = {n: i for i, n in enumerate(points.names)}
    return Network(
        curve_cpd(points, n, dag.parents(n), fitter, place).with_variables(
            lines.variable(n), [lines.variable(p) for p in dag.parents(n)]
        )
        for n in dag.nodes
    )
