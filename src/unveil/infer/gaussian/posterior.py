"""What follows from partly seen rows of a network with Gaussian variables.

Every row may show other cells. Rows with the same cells missing share one factorisation, after
which they are answered together. Networks that also have discrete variables go to `mixed.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from unveil.infer.answer import Posterior
from unveil.infer.gaussian.condition import Conditional, condition, patterns
from unveil.infer.gaussian.curves import (
    curve_fill_in,
    curve_log_likelihoods,
    curve_posterior,
    has_curves,
)
from unveil.infer.gaussian.joint import JointGaussian, joint_gaussian
from unveil.model.network import Network
from unveil.statistics.memory import refuse_infinite
from unveil.statistics.moments import GaussianMoments
from unveil.table.core import Table

__all__ = [
    "gaussian_expected_moments",
    "gaussian_fill_in",
    "gaussian_joint_posterior",
    "gaussian_log_likelihoods",
    "gaussian_posterior",
]

Matrix = npt.NDArray[np.float64]
Positions = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]


def gaussian_posterior(network: Network, table: Table, targets: Sequence[str]) -> Posterior:
    """The exact posterior mean and variance of the targets in every row.

    The means are also the most probable values. In a mixed network discrete targets get
    probabilities. Behind curves it is not exact, but by weighted draws (`curve_draws.py`).
    """
    if _is_mixed(network):
        from unveil.infer.gaussian.mixed import mixed_posterior

        return mixed_posterior(network, table, targets)
    if has_curves(network):
        return curve_posterior(network, table, targets)
    question = _ask(network, table, targets)
    wanted = question.joint.positions(targets)
    means, variances = question.values[:, wanted], np.zeros((table.n_rows, len(targets)))
    log_evidence = np.zeros(table.n_rows)
    for rows, given_seen, places, unseen in question.answers(wanted):
        log_evidence[rows] = given_seen.log_densities(question.deviations[rows])
        if places.size:
            found = given_seen.means(question.deviations[rows]) + question.joint.mean[unseen]
            means[np.ix_(rows, places)] = found
            variances[np.ix_(rows, places)] = given_seen.covariance.diagonal()
    return Posterior(
        {name: network.variable(name) for name in targets},
        {},
        log_evidence,
        means=dict(zip(targets, means.T, strict=True)),
        variances=dict(zip(targets, variances.T, strict=True)),
    )


def gaussian_joint_posterior(
    network: Network, targets: Sequence[str], table: Table
) -> tuple[Matrix, Matrix]:
    """The posterior means (n_rows, n_names) and covariances (n_rows, n_names, n_names) of names.

    All variables must be linear Gaussian. Rows and columns of variables that are seen are zero in
    the covariance.
    """
    question = _ask(network, table, targets)
    wanted = question.joint.positions(targets)
    means = question.values[:, wanted]
    covariances = np.zeros((table.n_rows, len(targets), len(targets)))
    for rows, given_seen, places, unseen in question.answers(wanted):
        if places.size:
            found = given_seen.means(question.deviations[rows]) + question.joint.mean[unseen]
            means[np.ix_(rows, places)] = found
            covariances[np.ix_(rows, places, places)] = given_seen.covariance
    return means, covariances


def gaussian_log_likelihoods(network: Network, table: Table) -> Matrix:
    """The log-density of what each row shows, in nats, shape (n_rows,); the rest is summed over."""
    if _is_mixed(network):
        from unveil.infer.gaussian.mixed import mixed_log_likelihoods

        return mixed_log_likelihoods(network, table)
    if has_curves(network):
        return curve_log_likelihoods(network, table)
    question = _ask(network, table, [])
    out = np.zeros(table.n_rows)
    for rows, given_seen, _, _ in question.answers(np.zeros(0, np.intp)):
        out[rows] = given_seen.log_densities(question.deviations[rows])
    return out


def gaussian_fill_in(
    network: Network, table: Table, generator: np.random.Generator | None = None
) -> Table:
    """The network's variables with every unseen cell filled in, by its posterior mean or a draw.

    Without a generator the means, which are the most probable values; with one, draws from the
    joint posterior of the row's unseen cells. A draw takes a row from the network and corrects it
    by what the row at hand shows: x_U = x*_U + E[X_U | x_O] - E[X_U | x*_O] (Matheron's rule),
    which needs no factor of the posterior covariance. In a mixed network without a generator the
    most probable configuration of discrete states is taken first.
    """
    if _is_mixed(network):
        from unveil.infer.gaussian.mixed import mixed_fill_in

        return mixed_fill_in(network, table, generator)
    if has_curves(network):
        return curve_fill_in(network, table, generator)
    question = _ask(network, table, network.names)
    joint, filled = question.joint, question.values.copy()
    drawn = np.zeros_like(filled)
    if generator is not None:
        sample = network.sample(table.n_rows, generator)
        drawn = np.column_stack([sample.column(name) for name in joint.names]) - joint.mean
    apart = np.where(question.missing, 0.0, question.deviations - drawn)
    for rows, given_seen, places, _ in question.answers(np.arange(len(joint.names))):
        if places.size:
            found = drawn[np.ix_(rows, places)] + given_seen.means(apart[rows])
            filled[np.ix_(rows, places)] = found + joint.mean[places]
    values = dict(zip(joint.names, filled.T, strict=True))
    return Table(network.variables, [values[name] for name in network.names], table.weights)


def gaussian_expected_moments(network: Network, table: Table) -> tuple[Matrix, GaussianMoments]:
    """What an EM step needs: log-densities (n_rows,) and the expected moments of all variables.

    The moments are in the order of `network.names`; the unseen cells count with their posterior
    mean and add their posterior covariance to the scatter (thesis Eq. 2.16, for moments).
    """
    question = _ask(network, table, network.names)
    joint = question.joint
    completed = question.deviations.copy()
    uncertain = np.zeros((len(joint.names),) * 2)
    log_evidence = np.zeros(table.n_rows)
    weights = table.row_weights
    for rows, given_seen, places, _ in question.answers(np.arange(len(joint.names))):
        log_evidence[rows] = given_seen.log_densities(question.deviations[rows])
        if places.size:
            completed[np.ix_(rows, places)] = given_seen.means(question.deviations[rows])
            uncertain[np.ix_(places, places)] += weights[rows].sum() * given_seen.covariance
    found = GaussianMoments.of_rows(completed, weights)
    moments = GaussianMoments(found.weight, found.mean + joint.mean, found.scatter + uncertain)
    return log_evidence, moments.of_columns(joint.positions(network.names).tolist())


# What is asked ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Question:
    """Rows of shape (n_rows, n_variables): values, NaN where `missing`, and deviations, zero there.

    Deviations are from the joint mean.
    """

    joint: JointGaussian
    values: Matrix
    deviations: Matrix
    missing: Mask

    def answers(
        self, wanted: Positions
    ) -> Iterator[tuple[Positions, Conditional, Positions, Positions]]:
        """For every pattern: its rows, the conditional, and which of `wanted` it is about.

        The latter twice: their places in `wanted`, and their positions in the joint, ascending.
        """
        order = np.argsort(wanted, kind="stable")
        for rows, seen, unseen in patterns(self.missing):
            places = order[np.isin(wanted[order], unseen)]
            about = wanted[places]
            yield rows, condition(self.joint, seen, unseen, about), places, about


def _ask(network: Network, table: Table, targets: Sequence[str]) -> _Question:
    columns = continuous_columns(network, table)
    seen = [name for name, column in columns.items() if not np.isnan(column).all()]
    names = [*seen, *targets] or network.names[:1]
    joint = joint_gaussian(network, names)
    values = np.full((table.n_rows, len(joint.names)), np.nan)
    for name, place in zip(seen, joint.positions(seen), strict=True):
        values[:, place] = columns[name]
    missing = np.isnan(values)
    return _Question(joint, values, np.where(missing, 0.0, values - joint.mean), missing)


def continuous_columns(network: Network, table: Table) -> dict[str, Matrix]:
    """The table's columns for the network's continuous variables, NaN where missing."""
    inside = [v for v in network.variables if v.name in table and not v.is_discrete]
    if not inside:
        return {}
    known = table.select([v.name for v in inside]).conform(inside)
    columns = {v.name: known.column(v.name) for v in inside}
    for name, column in columns.items():
        refuse_infinite(name, column)
    return columns


def _is_mixed(network: Network) -> bool:
    return any(v.is_discrete for v in network.variables)
