"""`NetworkMixture`: a hidden class, and a network of its own for each of its states."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from unveil.errors import DataError, FormatError, ModelError
from unveil.files import atomic_write
from unveil.formats.native import read_native, write_native
from unveil.model.network import Network
from unveil.table.core import Table
from unveil.table.door import Data, as_table

__all__ = ["NetworkMixture", "em_shares", "weighted_networks"]

Vector = npt.NDArray[np.float64]
Matrix = npt.NDArray[np.float64]
FORMAT, VERSION = "unveil-mixture", 1


@dataclass(frozen=True, eq=False)
class NetworkMixture:
    """P(row) = sum over c of share(c) P_c(row), each P_c a network over the same columns.

    The networks may differ in structure and have hidden variables of their own. Where a single
    network is needed, to draw or to query, `components` has them one by one.
    """

    shares: tuple[float, ...]
    components: tuple[Network, ...] = field(repr=False)

    def __post_init__(self) -> None:
        if not self.components or len(self.shares) != len(self.components):
            raise ModelError(
                f"a mixture has a share for every network; got {len(self.shares)} shares and "
                f"{len(self.components)} networks"
            )
        if min(self.shares) < 0 or abs(sum(self.shares) - 1) > 1e-9:
            raise ModelError(f"shares are from 0 and sum to one, got {list(self.shares)}")
        shown = [self._shown(c) for c in self.components]
        if any(names != shown[0] for names in shown):
            raise ModelError("the networks of a mixture need the same columns with the same states")

    @staticmethod
    def _shown(network: Network) -> set[Any]:
        return {(v.name, v.state_keys) for v in network.variables if not v.hidden}

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are modelled."""
        return tuple(v.name for v in self.components[0].variables if not v.hidden)

    @property
    def n_parameters(self) -> int:
        """Those of all networks, and the shares."""
        return len(self.shares) - 1 + sum(c.n_parameters for c in self.components)

    def log_joint(self, data: Data) -> Matrix:
        """log share(c) + log P_c(row), shape (n_rows, n_components)."""
        table = as_table(data, like=self.components[0])
        return self._log_joint(table)

    def _log_joint(self, table: Table) -> Matrix:
        with np.errstate(divide="ignore"):
            logs = np.log(self.shares)
        rows = [c.row_log_likelihoods(table) for c in self.components]
        return np.column_stack(rows) + logs

    def row_log_likelihoods(self, data: Data) -> Vector:
        """log P(row) for every row, in nats; missing cells are summed over."""
        return np.asarray(np.logaddexp.reduce(self.log_joint(data), axis=1), np.float64)

    def log_likelihood(self, data: Data) -> float:
        """The sum over rows of weight times log P(row)."""
        table = as_table(data, like=self.components[0])
        found = np.logaddexp.reduce(self._log_joint(table), axis=1)
        counted = table.row_weights > 0
        return float(found[counted] @ table.row_weights[counted])

    def posterior(self, data: Data) -> Matrix:
        """P(c | row), shape (n_rows, n_components)."""
        joint = self.log_joint(data)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.exp(joint - np.logaddexp.reduce(joint, axis=1)[:, None]))

    def sample(self, n: int, seed: int | None = None) -> Table:
        """`n` rows drawn from the mixture."""
        generator = np.random.default_rng(seed)
        chosen = generator.choice(len(self.shares), size=n, p=np.array(self.shares))
        drawn = [c.sample(n, seed=generator).select(self.columns) for c in self.components]
        columns = [np.choose(chosen, [d.column(name) for d in drawn]) for name in self.columns]
        return Table(drawn[0].variables, columns)

    def save(self, path: str | PathLike[str]) -> None:
        """Write it as JSON; `NetworkMixture.load` reads it."""
        written = {
            "format": FORMAT,
            "version": VERSION,
            "shares": list(self.shares),
            "components": [json.loads(write_native(c)) for c in self.components],
        }
        with atomic_write(path) as file:
            file.write(json.dumps(written, ensure_ascii=False))

    @classmethod
    def load(cls, path: str | PathLike[str]) -> NetworkMixture:
        """The mixture in a file that `save` has written; every part is checked."""
        try:
            found = json.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
            raise FormatError(f"{path}: the mixture cannot be read: {error}") from None
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise FormatError(f'{path}: this is no mixture; its "format" would be "{FORMAT}"')
        if found.get("version") != VERSION:
            raise FormatError(f"{path}: version {found.get('version')!r} is not known here")
        shares, components = found.get("shares"), found.get("components")
        if not (isinstance(shares, list) and isinstance(components, list)) or not all(
            isinstance(s, (int, float)) for s in shares
        ):
            raise FormatError(f"{path}: shares and components have to be lists")
        networks = tuple(read_native(json.dumps(c)) for c in components)
        return cls(tuple(float(s) for s in shares), networks)

    def __str__(self) -> str:
        shares = ", ".join(f"{s:.1%}" for s in self.shares[:12])
        more = ", ..." if len(self.shares) > 12 else ""
        return (
            f"mixture of {len(self.components)} networks ({shares}{more}) over "
            f"{len(self.columns)} columns, {self.n_parameters:,} parameters"
        )


def weighted_networks(
    networks: Sequence[Network], data: Data, max_iterations: int = 1000, tolerance: float = 1e-9
) -> NetworkMixture:
    """The mixture of given networks whose shares make rows most probable, by EM.

    Best with rows that the networks were not learned from: then a network that has only learned
    its own rows by heart gets a small share.

    >>> from unveil import datasets, fit
    >>> asia = datasets.network("asia")
    >>> draws = asia.sample(200, seed=1)
    >>> two = weighted_networks([asia, fit(asia.dag, draws)], asia.sample(500, seed=2))
    >>> round(sum(two.shares), 6)
    1.0
    """
    if not networks:
        raise DataError("there are no networks to mix")
    table = as_table(data, like=networks[0])
    logs = np.column_stack([n.row_log_likelihoods(table) for n in networks])
    shares, _ = em_shares(logs, table.row_weights, max_iterations, tolerance)
    return NetworkMixture(tuple(shares.tolist()), tuple(networks))


def em_shares(
    logs: Matrix, weights: Vector, max_iterations: int = 1000, tolerance: float = 1e-9
) -> tuple[Vector, float]:
    """The shares of components with these log-probabilities (n_rows, n), and the likelihood."""
    possible = np.logaddexp.reduce(logs, axis=1) > -np.inf
    logs, weights = logs[possible], weights[possible]
    shares = np.full(logs.shape[1], 1 / logs.shape[1])
    most = logs.max(axis=1, keepdims=True)
    ratio = np.exp(logs - most)
    before = -np.inf
    for _ in range(max_iterations):
        mixed = ratio @ shares
        likelihood = float((np.log(mixed) + most[:, 0]) @ weights)
        shares = shares * (ratio.T @ (weights / mixed)) / weights.sum()
        shares /= shares.sum()
        if likelihood - before <= tolerance * (1 + abs(likelihood)):
            break
        before = likelihood
    return shares, likelihood
