"""What all rows say of a hidden variable: each half is predicted with parameters of the other.

With folds and everything found anew in each, as `confirm` has it, rows that do not fit in memory
would be searched ten times over. Two halves share no row, and structures that many millions of rows
have chosen hardly know a single one of them; so only parameters are learned again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from unveil.discovery.all_rows import Everything, fitted, in_form_of
from unveil.discovery.confirmation import Confirmation
from unveil.discovery.rivals import RIVALS, Rival
from unveil.em.grouped import can_be_grouped, counted_sets
from unveil.engines.on_parts import added
from unveil.evaluate.log_loss import LogLoss
from unveil.model.network import Network
from unveil.progress import Ticker
from unveil.table.core import Table

__all__ = ["proven_by_halves", "saved_by"]

Numbers = npt.NDArray[np.float64]


def saved_by(everything: Everything, found: Network, plain: Network, ticker: Ticker) -> LogLoss:
    """The bits per row that one network saves over another on rows left out."""
    return _left_out(everything, [(None, plain), (None, found)], ticker).saved(1, 0)


def proven_by_halves(
    everything: Everything,
    plain: Network,
    found: Network,
    gain: float,
    lucky: float,
    ticker: Ticker,
) -> Confirmation:
    """What all rows say of a network with a further hidden variable beside the one without."""
    rivals = {r: in_form_of(r, everything, plain, ticker) for r in RIVALS}
    known = [(r, n) for r, n in rivals.items() if n is not None]
    losses = _left_out(everything, [(None, plain), (None, found), *known], ticker)
    proof = Confirmation(
        losses.saved(1, 0), 2, 2, gain, lucky, max_luck=everything.settings.max_luck, of_all=True
    )
    if proof.saved.bits <= 0 or not known:
        return proof
    best = max(range(2, 2 + len(known)), key=lambda i: losses.saved(i, 0).bits)
    if losses.saved(best, 0).bits <= 0:
        return proof
    rival, network = known[best - 2]
    beyond = losses.saved(1, best)
    formed = in_form_of(rival, everything, found, ticker)
    if formed is not None:
        pair = _left_out(everything, [(rival, network), (rival, formed)], ticker)
        beyond = max(beyond, pair.saved(1, 0), key=lambda saved: saved.bits)
    return replace(proof, rival=rival, without=losses.saved(best, 0), beyond=beyond)


@dataclass(frozen=True)
class _Losses:
    """Sums over all rows of bits and of products of bits, for some networks.

    Bits are those beyond the first network's: their squares would drown the differences.
    """

    weight: float
    sums: Numbers
    products: Numbers

    def saved(self, better: int, worse: int) -> LogLoss:
        """What one network saves over another, with its error."""
        mean = float(self.sums[worse] - self.sums[better]) / self.weight
        both = self.products[[better, worse]][:, [better, worse]]
        squares = float(both[0, 0] + both[1, 1] - 2 * both[0, 1])
        variance = max(0.0, squares - self.weight * mean**2) / max(self.weight - 1, 1)
        error = math.sqrt(variance / self.weight)
        return LogLoss(mean, error, np.array([mean]), np.array([self.weight]))


def _left_out(
    everything: Everything, networks: Sequence[tuple[Rival | None, Network]], ticker: Ticker
) -> _Losses:
    """Each half of the rows predicted with parameters of the other."""
    settings, halves = everything.settings, everything.halves
    sets = [
        s for _, n in networks if can_be_grouped(n, halves[0]) for s in counted_sets(n, halves[0])
    ]
    found = []
    for test, train in (halves, halves[::-1]):
        train.counts(sets)  # all at once
        known = []
        for rival, network in networks:
            prior = (settings if rival is None else rival.settings(settings)).prior
            known.append(fitted(network, train, prior, ticker, near=True))
        found.append(test.sum(_bits_and_products, known))
    weight, sums, products = added(*found)
    return _Losses(weight, sums, products)


def _bits_and_products(table: Table, networks: list[Network]) -> tuple[float, Numbers, Numbers]:
    weights = table.row_weights
    bits = np.array([-n.row_log_likelihoods(table) / math.log(2) for n in networks])
    bits -= bits[0].copy()
    return float(weights.sum()), bits @ weights, (bits * weights) @ bits.T
