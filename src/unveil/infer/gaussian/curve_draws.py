"""Posteriors behind curves by weighted draws: right in the long run, for every curve and noise.

The nearest Gaussian (`curves.py`) is close where a row shows much, and far too narrow where it
shows little: a bounded curve of an unseen parent is anything but normal. So questions are answered
by importance sampling. A row's unseen cells x are drawn from a mixture of

- the network itself, parents first, what is seen kept (likelihood weighting);
- the nearest normal distribution, widened, where that is known;
- where few draws carry the weight, normal distributions fitted to the draws so far, their weights
  flattened as far as needed (adaptive multiple importance sampling, Cornuet and others 2012).

Every draw has the weight p(x, seen) / q(x) with q the whole mixture (balance heuristic, Veach and
Guibas 1995). Their mean is P(seen), and weighted moments are those of the posterior. The points are
Sobol's, the same for every row, so an answer depends on nothing but its row.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp, ndtri
from scipy.stats import qmc

from unveil.errors import UnveilWarning
from unveil.infer.answer import Posterior
from unveil.infer.gaussian.condition import patterns
from unveil.model.curves import noisy, noisy_moments
from unveil.model.network import Network
from unveil.model.nonlinear_cpd import NonlinearCPD

__all__ = ["Draws", "Nearest", "drawn_posterior", "row_draws"]

Matrix = npt.NDArray[np.float64]

POINTS = 1024
"""Draws of every part of a mixture."""
ENOUGH = 0.25
"""No further part is added where the effective number of draws is at least this share of them."""
PARTS, LEAST = 12, 200.0
"""So many parts at most; weights are flattened until so many draws count."""
FEW = 50.0
"""With an effective number of draws below this the answer is told to be rough."""
WIDER = 1.3
"""Parts that are fitted have so many times the standard deviation: tails must not be missed."""
AT_ONCE = 1 << 18
"""So many draws are worked on together."""


class Near(Protocol):
    """Normal distributions near the posteriors of rows, as `RowPosteriors` has them."""

    @property
    def means(self) -> Matrix:
        """Cells seen, or posterior means, shape (n_rows, n)."""

    @property
    def covariances(self) -> Matrix:
        """Of the unseen cells, shape (n_rows, d, d)."""


Nearest = Callable[[Sequence[str], Matrix], Near | None]
"""Of rows (n_rows, n), NaN where unseen, of some variables that all lack the same cells; `None` if
they are not known."""


@dataclass(frozen=True, eq=False)
class Draws:
    """Weighted completions of some rows that show the same cells.

    - `rows`: which rows; `names`: the variables, parents first; `unseen`: places among them
    - `values`: (n_rows, n_draws, n), cells seen as they are
    - `shares`: (n_rows, n_draws), normalised weights; `log_evidence`: (n_rows,), in nats
    - `effective`: (n_rows,), how many draws without weights would say as much
    """

    rows: npt.NDArray[np.intp]
    names: tuple[str, ...]
    unseen: npt.NDArray[np.intp]
    values: Matrix
    shares: Matrix
    log_evidence: Matrix
    effective: Matrix
    sampler: _Sampler = field(repr=False)

    def moments(self, name: str) -> tuple[Matrix, Matrix]:
        """Means and variances of a variable, shape (n_rows,).

        Of one that nothing else depends on, those given its parents are averaged (Rao and
        Blackwell): exact where all parents are seen.
        """
        place = self.names.index(name)
        x, own = self.values[:, :, place], np.zeros(1)
        if place in self.unseen and self.sampler.is_leaf[place]:
            x, own = self.sampler.given_parents(self.values, place)
        mean = (self.shares * x).sum(axis=1)
        return mean, (self.shares * (np.square(x - mean[:, None]) + own)).sum(axis=1)

    def covariance(self, names: Sequence[str]) -> Matrix:
        """The posterior covariance of some variables in the first row."""
        x = self.values[0][:, [self.names.index(n) for n in names]]
        away = x - self.shares[0] @ x
        return np.asarray(away.T @ (self.shares[0][:, None] * away))

    def one_each(self, generator: np.random.Generator) -> Matrix:
        """One completion of every row, drawn by weight, shape (n_rows, n)."""
        level = generator.random(len(self.rows))[:, None]
        chosen = (np.cumsum(self.shares, axis=1) < level).sum(axis=1)
        chosen = np.minimum(chosen, self.shares.shape[1] - 1)
        return np.asarray(self.values[np.arange(len(self.rows)), chosen])


def drawn_posterior(
    network: Network,
    columns: dict[str, Matrix],
    n_rows: int,
    targets: Sequence[str],
    near: Nearest,
) -> Posterior:
    """Means and variances of the targets, and the log-evidence, by weighted draws.

    `columns` are those of the table, NaN where missing; `near` gives the nearest Gaussians.
    """
    means = {name: np.empty(n_rows) for name in targets}
    variances = {name: np.empty(n_rows) for name in targets}
    log_evidence, rough = np.empty(n_rows), 0
    for draws in row_draws(network, columns, n_rows, targets, near):
        log_evidence[draws.rows] = draws.log_evidence
        rough += int((draws.effective < FEW).sum())
        for name in targets:
            means[name][draws.rows], variances[name][draws.rows] = draws.moments(name)
    if rough:
        warnings.warn(
            UnveilWarning(
                f"the answers for {rough:,} of {n_rows:,} rows are rough: what they show is so "
                "far from what the network expects, or so exact, that few draws agree with it"
            ),
            stacklevel=5,
        )
    return Posterior(
        {name: network.variable(name) for name in targets},
        {},
        log_evidence,
        method="weighting",
        means=means,
        variances=variances,
    )


def row_draws(
    network: Network,
    columns: dict[str, Matrix],
    n_rows: int,
    targets: Sequence[str],
    near: Nearest,
) -> Iterator[Draws]:
    """Weighted draws of all rows, some at a time; rows that show everything have one draw."""
    shown = list(columns)
    values = np.array([columns[n] for n in shown]).reshape(len(shown), n_rows).T
    for alike, seen, _ in patterns(np.isnan(values)):
        # What is neither asked about nor above anything else is no part of the question.
        wanted = [*(shown[i] for i in seen), *targets] or list(network.names[:1])
        needed = {*wanted, *network.dag.ancestors(*wanted)}
        names = tuple(n for n in network.dag.topological_order if n in needed)
        sampler = _Sampler(network, names)
        unseen = np.array([i for i, n in enumerate(names) if n not in wanted[: seen.size]], np.intp)
        size = max(1, AT_ONCE // (3 * POINTS)) if unseen.size else len(alike)
        for first in range(0, len(alike), size):
            rows = alike[first : first + size]
            here = np.full((len(rows), len(names)), np.nan)
            for i in seen.tolist():
                here[:, names.index(shown[i])] = values[rows, i]
            yield sampler.draws(rows, here, unseen, near)


class _Sampler:
    """The families of some variables, parents first, over arrays (n_rows, n_draws, n)."""

    def __init__(self, network: Network, names: tuple[str, ...]) -> None:
        place = {name: i for i, name in enumerate(names)}
        self.names = names
        self.cpds: list[Any] = [network.cpd(name) for name in names]
        self.parents = [[place[p.name] for p in cpd.parents] for cpd in self.cpds]
        self.logs = np.array(
            [isinstance(c, NonlinearCPD) and c.curve.noise == "log-normal" for c in self.cpds]
        )
        above = {p for own in self.parents for p in own}
        self.is_leaf = [i not in above for i in range(len(names))]

    def draws(
        self, rows: npt.NDArray[np.intp], seen: Matrix, unseen: npt.NDArray[np.intp], near: Nearest
    ) -> Draws:
        """Weighted draws of rows that lack the same cells."""
        if not unseen.size:
            values = seen[:, None, :]
            log_p = self.log_density(values, range(len(self.names)))[:, 0]
            one = np.ones((len(rows), 1))
            return Draws(
                rows, self.names, unseen, values, one, log_p, np.full(len(rows), np.inf), self
            )
        mixture = _Mixture(self, seen, unseen)
        mixture.add_forward()
        close = near(self.names, seen)
        if close is not None:
            mixture.add_normal(close.means[:, unseen], close.covariances)
        shares, log_evidence = mixture.weighed()
        effective = 1.0 / np.square(shares).sum(axis=1)
        poor = np.flatnonzero(effective < ENOUGH * shares.shape[1])
        if not poor.size:
            return Draws(
                rows, self.names, unseen, mixture.values, shares, log_evidence, effective, self
            )
        values, shares = mixture.values, shares.copy()
        for i in poor.tolist():
            better = mixture.of_row(i)
            better.adapt()
            share, log_evidence[i] = (a[0] for a in better.weighed())
            # As many draws for every row: those of one row are drawn again by their weights.
            effective[i] = 1.0 / np.square(share).sum()
            chosen = _resampled(share, shares.shape[1])
            values[i], shares[i] = better.values[0, chosen], 1.0 / shares.shape[1]
        return Draws(rows, self.names, unseen, values, shares, log_evidence, effective, self)

    def log_density(self, values: Matrix, places: Sequence[int]) -> Matrix:
        """The sum of the families' log-densities, shape (n_rows, n_draws)."""
        total = np.zeros(values.shape[0] * values.shape[1])
        for i in places:
            parents = [values[:, :, p].ravel() for p in self.parents[i]]
            with np.errstate(all="ignore"):
                self.cpds[i].add_log_probability(total, parents, values[:, :, i].ravel())
        return np.where(np.isnan(total), -np.inf, total).reshape(values.shape[:2])

    def given_parents(self, values: Matrix, place: int) -> tuple[Matrix, Matrix]:
        """Mean and variance of a variable given its parents in every draw."""
        cpd, shape = self.cpds[place], values.shape[:2]
        parents = [values[:, :, p].ravel() for p in self.parents[place]]
        g = cpd.means(parents, shape[0] * shape[1]).reshape(shape)
        if not _is_curve(cpd):
            return g, np.full(shape, cpd.variance)
        return noisy_moments(cpd.curve.noise, g, cpd.variance)

    def forward(self, values: Matrix, unseen: npt.NDArray[np.intp]) -> None:
        """Unseen cells drawn parents first, in place."""
        shape = values.shape[:2]
        normal = _normal_points(unseen.size)
        for column, i in enumerate(unseen.tolist()):
            cpd = self.cpds[i]
            parents = [values[:, :, p].ravel() for p in self.parents[i]]
            g = cpd.means(parents, shape[0] * shape[1]).reshape(shape)
            e = math.sqrt(cpd.variance) * normal[:, column]
            values[:, :, i] = noisy(cpd.curve.noise, g, e) if _is_curve(cpd) else g + e


class _Mixture:
    """Draws of some rows from a mixture of distributions, equally many from each."""

    def __init__(self, sampler: _Sampler, seen: Matrix, unseen: npt.NDArray[np.intp]) -> None:
        self.sampler, self.seen, self.unseen = sampler, seen, unseen
        self.values = np.empty((len(seen), 0, seen.shape[1]))
        self.normals: list[tuple[Matrix, Matrix]] = []
        """Means (n_rows, d) and roots (n_rows, d, d) of the parts that are normal."""

    def of_row(self, row: int) -> _Mixture:
        """The mixture of one row."""
        one = _Mixture(self.sampler, self.seen[row : row + 1], self.unseen)
        one.values = self.values[row : row + 1]
        one.normals = [(m[row : row + 1], r[row : row + 1]) for m, r in self.normals]
        return one

    def add_forward(self) -> None:
        """A part drawn from the network, what is seen kept."""
        values = np.repeat(self.seen[:, None, :], POINTS, axis=1)
        self.sampler.forward(values, self.unseen)
        self.values = np.concatenate([self.values, values], axis=1)

    def add_normal(self, means: Matrix, covariances: Matrix) -> None:
        """A part drawn from normal distributions (of logarithms, where noise is log-normal)."""
        roots = np.asarray(WIDER * np.linalg.cholesky(_definite(covariances)), np.float64)
        z = means[:, None, :] + np.einsum("rij,nj->rni", roots, _normal_points(self.unseen.size))
        values = np.repeat(self.seen[:, None, :], POINTS, axis=1)
        logs = self.sampler.logs[self.unseen]
        with np.errstate(over="ignore"):
            values[:, :, self.unseen] = np.where(logs, np.exp(np.where(logs, z, 0.0)), z)
        self.normals.append((means, roots))
        self.values = np.concatenate([self.values, values], axis=1)

    def weighed(self, power: float = 1.0) -> tuple[Matrix, Matrix]:
        """Normalised weights of all draws, and the logarithm of their mean."""
        log_w = self._log_weights()
        total = logsumexp(log_w, axis=1)
        shares = np.exp(power * (log_w - log_w.max(axis=1, keepdims=True)))
        return shares / shares.sum(axis=1, keepdims=True), total - math.log(log_w.shape[1])

    def adapt(self) -> None:
        """Add parts fitted to the draws there are, until enough of these count (one row)."""
        while len(self.normals) < PARTS:
            log_w = self._log_weights()[0]
            log_w -= log_w.max()
            if _effective(log_w) >= ENOUGH * log_w.size:
                break
            power = _flattened(log_w)
            shares = np.exp(power * log_w)
            shares /= shares.sum()
            z = self._unseen_values()[0]
            z = np.where(shares[:, None] > 0, z, 0.0)
            mean = shares @ z
            away = z - mean
            self.add_normal(mean[None], (away.T @ (shares[:, None] * away))[None])

    def _log_weights(self) -> Matrix:
        everyone = range(len(self.sampler.names))
        log_p = self.sampler.log_density(self.values, everyone)
        parts = [self.sampler.log_density(self.values, self.unseen.tolist())]
        z = self._unseen_values()
        inside = np.where(self.sampler.logs[self.unseen], z, 0.0).sum(axis=2)  # Jacobian of log
        for means, roots in self.normals:
            e = np.linalg.solve(roots, (z - means[:, None, :]).transpose(0, 2, 1))
            log_det = np.log(roots.diagonal(axis1=1, axis2=2)).sum(axis=1)
            d = self.unseen.size
            density = -0.5 * (np.square(e).sum(axis=1) + d * math.log(2 * math.pi))
            parts.append(density - log_det[:, None] - inside)
        log_q = logsumexp(np.array(parts), axis=0) - math.log(len(parts))
        with np.errstate(invalid="ignore"):
            found = log_p - log_q
        return np.where(np.isfinite(log_p), found, -1e300)

    def _unseen_values(self) -> Matrix:
        """What normal parts are about: unseen cells, or their logarithms."""
        z = self.values[:, :, self.unseen]
        logs = self.sampler.logs[self.unseen]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(logs, np.log(np.where(logs, np.maximum(z, 1e-300), 1.0)), z)


def _is_curve(cpd: Any) -> bool:
    return isinstance(cpd, NonlinearCPD)


@lru_cache(maxsize=32)
def _normal_points(d: int) -> Matrix:
    """Sobol's points, scrambled once for all, as standard normal ones: (POINTS, d)."""
    uniform = qmc.Sobol(d, scramble=True, seed=14).random(POINTS)
    points = ndtri(np.clip(uniform, 1e-12, 1 - 1e-12))
    points.flags.writeable = False
    return np.asarray(points)


def _definite(covariances: Matrix) -> Matrix:
    """The same with something to vary in every direction."""
    size = covariances.diagonal(axis1=1, axis2=2).copy()
    size = np.maximum(size, 1e-12 * np.maximum(size.max(axis=1, keepdims=True), 1e-300))
    out = covariances.copy()
    d = np.arange(covariances.shape[1])
    out[:, d, d] = size * (1.0 + 1e-6)
    return out


def _effective(log_w: Matrix) -> float:
    return float(np.exp(2 * logsumexp(log_w) - logsumexp(2 * log_w)))


def _flattened(log_w: Matrix) -> float:
    """The largest power of the weights with which `LEAST` draws count, at most 1."""
    low, high = 0.0, 1.0
    if _effective(log_w) >= LEAST:
        return high
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if _effective(middle * log_w) >= LEAST else (low, middle)
    return low


def _resampled(shares: Matrix, n: int) -> npt.NDArray[np.intp]:
    """`n` places by their shares, systematically."""
    levels = (np.arange(n) + 0.5) / n
    return np.minimum(np.searchsorted(np.cumsum(shares), levels), len(shares) - 1)
