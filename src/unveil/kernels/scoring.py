"""Counting and scoring families, many per call.

The data term of a family's score is a sum over the cells of its counts S[x, u]:

- `LIKELIHOOD`: sum S[x, u] log(S[x, u] / S[u]), the maximised log-likelihood (Eq. 2.6, 2.8);
- `DIRICHLET`: the log marginal likelihood under a Dirichlet prior with the same pseudo-count in
  every cell (Eq. 2.15);
- `FACTORISED_NML`: the likelihood less the parametric complexity of every parent row.

Counts lie in a flat buffer, cell (u * n_states + x) * n_added + y: `u` runs over configurations of
the parents, `x` over the child, `y` over a parent about to be added (one dummy state if none).
Rows are read as `Rows`: codes always, bitmaps when every weight is one. With bitmaps and few cells
a family is counted by AND and popcount, otherwise by walking over the rows; both are exact.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from unveil.kernels.bits import count_common
from unveil.kernels.compiled import compiled
from unveil.kernels.numbers import whole

__all__ = [
    "DIRICHLET",
    "FACTORISED_NML",
    "LIKELIHOOD",
    "NO_MEMO",
    "DataTerm",
    "Rows",
    "base_positions",
    "data_term",
    "data_term_plain",
    "family_bitmaps",
    "log_complexity",
    "score_families",
    "score_toggles",
]

Array = npt.NDArray[Any]

LIKELIHOOD, DIRICHLET, FACTORISED_NML = 0, 1, 2


class Rows(NamedTuple):
    """What the kernels see of a table.

    `codes` has shape (n_variables, n_rows); `weights` is empty when every row counts once;
    `bits` holds a bitmap per state, variable v's from `first_bit[v]` on, and has no words unless
    weights are ones.
    """

    codes: Array
    weights: Array
    cards: Array
    bits: Array
    first_bit: Array


class DataTerm(NamedTuple):
    """Which data term: its mode, its pseudo-count, and whether that is spread over all cells."""

    mode: int
    alpha: float
    spread: bool


MANY_CASES, MANY_STATES = 64.0, 65_536.0
"""Of more cases the complexity of two states is taken from its asymptotic series (whose error is
below 1e-10 there), of more states the recurrence is not followed to the end."""


@compiled
def log_complexity(n: float, k: float) -> float:
    """The log of C(n, k), the parametric complexity of a multinomial: k states, n cases.

    C(n, k) is the sum over all counts of n cases in k states of their maximised likelihood. By the
    recurrence of Kontkanen and Myllymaki (2007), linear in the number of states,

        C(n, 1) = 1,   C(n, k + 2) = C(n, k + 1) + (n / k) C(n, k),

    here in the ratios R[k] = C(n, k + 1) / C(n, k), so that nothing overflows. Beyond
    `MANY_STATES` the rest of the way is that of `_rough_log_complexity`, whose error changes
    there by next to nothing. Cases may be fractional (see `_two_states`); zero for no cases or a
    single state.
    """
    if n <= 0.0 or k <= 1.0:
        return 0.0
    exact = min(k, MANY_STATES)
    ratio = _two_states(n)
    total, product = 0.0, ratio
    j = 1.0
    while j + 2.0 <= exact:
        ratio = 1.0 + n / (j * ratio)
        product *= ratio
        if product > 1e200:
            total += math.log(product)
            product = 1.0
        j += 1.0
    total += math.log(product)
    if k > exact:
        total += _rough_log_complexity(n, k) - _rough_log_complexity(n, exact)
    return total


@compiled
def _two_states(n: float) -> float:
    """C(n, 2): one, plus the sum over k > 0 of the products of 1 - j / n for j < k.

    That is Ramanujan's Q(n) (Mononen and Myllymaki 2008), which goes on between whole numbers; up
    to one case the complexity grows in proportion.
    """
    if n <= 1.0:
        return 1.0 + n
    if n > MANY_CASES:
        r = math.sqrt(math.pi / (2.0 * n))
        series = n + 1.0 / 12.0 + 1.0 / (288.0 * n) - 139.0 / (51840.0 * n * n)
        return 2.0 / 3.0 + r * series - (4.0 / 135.0 - (8.0 / 2835.0 + 16.0 / 8505.0 / n) / n) / n
    total, product, j = 1.0, 1.0, 0.0
    while j < n and product > 1e-17:
        product *= 1.0 - j / n
        total += product
        j += 1.0
    return total


@compiled
def _rough_log_complexity(n: float, k: float) -> float:
    """The approximation of Szpankowski and Weinberger (2012), good for many states."""
    a = k / n
    # c = 1/2 + sqrt(1 + 4/a) / 2; written by way of c - 1, which stays exact when k is huge.
    above_one = 2.0 / a / (1.0 + math.sqrt(1.0 + 4.0 / a))
    c = 1.0 + above_one
    inner = math.log(a) + (a + 2.0) * math.log1p(above_one) - 1.0 / c
    return n * inner - 0.5 * math.log(c + 2.0 / a)


NO_MEMO = np.zeros((0, 2, 0))


@compiled
def data_term(
    counts: Array, n_u: int, n_states: int, n_added: int, cells: float, term: DataTerm, memo: Array
) -> float:
    """The data term of one family from its flat counts; `cells` is the size of its full table.

    Log-gammas dominate where rows are few, and the same whole counts come again and again:
    `memo[cells, 0, count]` holds what was computed for a cell and `memo[cells, 1, count]` for a
    row, zeros where nothing was. A memo serves one term and one number of states; counts that are
    not whole need `NO_MEMO`.
    """
    alpha = term.alpha / cells if term.spread else term.alpha
    row_alpha = alpha * n_states
    bayes = term.mode == DIRICHLET
    cell, whole_row = whole(0), whole(1)
    slot = int(cells) if cells < memo.shape[0] else -1
    log_gamma_alpha = _log_gamma(0.0, alpha, memo, slot, cell) if bayes else 0.0
    log_gamma_row = _log_gamma(0.0, row_alpha, memo, slot, whole_row) if bayes else 0.0
    total = 0.0
    for u in range(n_u):
        for y in range(n_added):
            row = 0.0
            for x in range(n_states):
                count = counts[(u * n_states + x) * n_added + y]
                if count > 0.0:
                    row += count
                    if bayes:
                        total += _log_gamma(count, alpha, memo, slot, cell) - log_gamma_alpha
                    else:
                        total += count * math.log(count)
            if row > 0.0:
                if bayes:
                    total += log_gamma_row - _log_gamma(row, row_alpha, memo, slot, whole_row)
                else:
                    total -= row * math.log(row)
                    if term.mode == FACTORISED_NML:
                        total -= log_complexity(row, float(n_states))
    return total


@compiled
def _log_gamma(count: float, alpha: float, memo: Array, slot: int, kind: int) -> float:
    """The log of Gamma(alpha + count), looked up if it was computed before."""
    k = int(count)
    if slot < 0 or k >= memo.shape[2]:
        return math.lgamma(alpha + count)
    if memo[slot, kind, k] == 0.0:
        memo[slot, kind, k] = math.lgamma(alpha + count)
    return float(memo[slot, kind, k])


def data_term_plain(
    counts: Array, n_u: int, n_states: int, n_added: int, cells: float, term: DataTerm
) -> float:
    """The twin of `data_term`."""
    from scipy.special import gammaln, xlogy

    table = np.asarray(counts[: n_u * n_states * n_added]).reshape(n_u, n_states, n_added)
    rows = table.sum(axis=1)
    if term.mode == DIRICHLET:
        alpha = term.alpha / cells if term.spread else term.alpha
        inner = (gammaln(table + alpha) - gammaln(alpha)).sum()
        return float(inner - (gammaln(rows + alpha * n_states) - gammaln(alpha * n_states)).sum())
    likelihood = xlogy(table, table).sum() - xlogy(rows, rows).sum()
    if term.mode == FACTORISED_NML:
        likelihood -= sum(log_complexity(float(row), float(n_states)) for row in rows.ravel())
    return float(likelihood)


@compiled
def _tally(codes: Array, weights: Array, base: Array, added: int, card: int, counts: Array) -> None:
    """Count rows at base * card + (code of `added`); four interleaved tallies hide latencies."""
    cells = counts.size // 4
    column = codes[added]
    n = base.size
    step = np.int64(card)
    if weights.size > 0:
        for i in range(n):
            counts[base[i] * step + column[i]] += weights[i]
        return
    whole = n // 4 * 4
    for i in range(0, whole, 4):
        counts[base[i] * step + column[i]] += 1.0
        counts[cells + base[i + 1] * step + column[i + 1]] += 1.0
        counts[2 * cells + base[i + 2] * step + column[i + 2]] += 1.0
        counts[3 * cells + base[i + 3] * step + column[i + 3]] += 1.0
    for i in range(whole, n):
        counts[base[i] * step + column[i]] += 1.0
    for j in range(cells):
        counts[j] += counts[cells + j] + counts[2 * cells + j] + counts[3 * cells + j]


@compiled
def base_positions(codes: Array, cards: Array, members: Array, out: Array) -> None:
    """Every row's position over `members` as mixed-radix digits, the last member fastest."""
    out[:] = 0
    for member in members:
        card = np.int64(cards[member])
        column = codes[member]
        for i in range(out.size):
            out[i] = out[i] * card + column[i]


@compiled
def family_bitmaps(rows: Rows, members: Array, maps: Array, index: Array, sizes: Array) -> int:
    """The bitmaps of all configurations of `members` that occur; returns how many, or -1.

    `maps[i]` are the rows in configuration `index[i]` (mixed radix), `sizes[i]` how many. The
    answer is -1 when there are more than `maps` has room for. Level by level: each occurring
    configuration of the first members is split by the next, its last part taking its place.
    """
    bits, first_bit, cards = rows.bits, rows.first_bit, rows.cards
    words = bits.shape[1]
    n = 0
    for s in range(cards[members[0]]):
        size = count_common(bits[first_bit[members[0]] + s], bits[first_bit[members[0]] + s])
        if size > 0:
            if n == maps.shape[0]:
                return -1
            for w in range(words):
                maps[n, w] = bits[first_bit[members[0]] + s, w]
            index[n], sizes[n] = s, size
            n += 1
    for member in members[1:]:
        card = cards[member]
        made = n
        for i in range(n):
            left = sizes[i]
            for s in range(card):
                state = bits[first_bit[member] + s]
                size = count_common(maps[i], state)
                if size == 0:
                    continue
                left -= size
                target = i
                if left > 0:
                    if made == maps.shape[0]:
                        return -1
                    target = made
                    made += 1
                for w in range(words):
                    maps[target, w] = maps[i, w] & state[w]
                index[target], sizes[target] = index[i] * card + s, size
                if left == 0:
                    break
        n = made
    return n


@compiled
def _tally_bitmaps(
    rows: Rows, n_maps: int, maps: Array, index: Array, sizes: Array, added: int, counts: Array
) -> None:
    """Counts of every stored configuration with every state of `added`."""
    card = rows.cards[added]
    first = rows.first_bit[added]
    for i in range(n_maps):
        left = sizes[i]
        for s in range(card - 1):
            if left == 0:
                break
            size = count_common(maps[i], rows.bits[first + s])
            counts[index[i] * card + s] = size
            left -= size
        counts[index[i] * card + card - 1] = left


@compiled
def _tally_fewer(
    rows: Rows, members: Array, place: int, n_maps: int, index: Array, sizes: Array, counts: Array
) -> None:
    """Counts of a family without the parent at `place` of its members; of all if that is last."""
    cards = rows.cards
    last = members.size - 1
    if n_maps < 0:
        parents = np.empty(last - (place < last), np.int64)
        for i in range(parents.size):
            parents[i] = members[i + (i >= place)]
        base = np.empty(rows.codes.shape[1], np.int64)
        base_positions(rows.codes, cards, parents, base)
        _tally(rows.codes, rows.weights, base, members[last], cards[members[last]], counts)
        return
    after = 1
    for member in members[place + 1 :]:
        after *= cards[member]
    card = 1 if place == last else cards[members[place]]
    for i in range(n_maps):
        counts[index[i] // (after * card) * after + index[i] % after] += sizes[i]


@compiled
def score_toggles(
    rows: Rows,
    members: Array,
    largest: int,
    base: Array,
    n_maps: int,
    maps: Array,
    index: Array,
    sizes: Array,
    term: DataTerm,
    memo: Array,
    start: int,
    stop: int,
    out: Array,
) -> None:
    """Score a family with each of variables `start` to `stop` added to its parents or dropped.

    `members` are the parents, then the child, whose own entry is the family as it is. Families
    with more than `largest` cells get minus infinity. Positions over the members are given as
    bitmaps if `n_maps` >= 0, else as `base`, one per row; `memo` is that of `data_term`.
    """
    cards = rows.cards
    states = cards[members[-1]]
    n_u = whole(1)
    for parent in members[:-1]:
        n_u *= cards[parent]
    counts = np.zeros(4096, np.float64)
    for v in range(start, stop):
        place = whole(-1)
        for i in range(members.size):
            if members[i] == v:
                place = i
        if place < 0 and n_u * states * cards[v] > largest:
            out[v] = -np.inf
            continue
        added = cards[v] if place < 0 else 1
        dropped = cards[v] if 0 <= place < members.size - 1 else 1
        cells = n_u // dropped * states * added
        if 4 * cells > counts.size:
            counts = np.zeros(8 * cells, np.float64)
        counts[: 4 * cells] = 0.0
        if place >= 0:
            _tally_fewer(rows, members, place, n_maps, index, sizes, counts[: 4 * cells])
        elif n_maps >= 0:
            _tally_bitmaps(rows, n_maps, maps, index, sizes, v, counts)
        else:
            _tally(rows.codes, rows.weights, base, v, added, counts[: 4 * cells])
        out[v] = data_term(counts, n_u // dropped, states, added, float(cells), term, memo)


@compiled
def score_families(
    rows: Rows, families: Array, term: DataTerm, max_maps: int, start: int, stop: int, out: Array
) -> None:
    """Score families `start` to `stop`, rows of `families`: parents, then the child, then -1s.

    Their full tables must be small enough to be laid out; `max_maps` bounds the bitmaps that one
    family may use (0: walk over the rows).
    """
    cards = rows.cards
    n_rows = rows.codes.shape[1]
    base = np.empty(n_rows, np.int64)
    maps = np.empty((max_maps, rows.bits.shape[1]), np.uint64)
    index = np.empty(max_maps, np.int64)
    sizes = np.empty(max_maps, np.int64)
    counts = np.zeros(4096, np.float64)
    no_memo = np.zeros((0, 2, 0))
    for f in range(start, stop):
        size = 0
        while size < families.shape[1] and families[f, size] >= 0:
            size += 1
        members, child = families[f, : size - 1], families[f, size - 1]
        states = cards[child]
        n_u = whole(1)
        for member in members:
            n_u *= cards[member]
        cells = n_u * states
        if 4 * cells > counts.size:
            counts = np.zeros(8 * cells, np.float64)
        counts[: 4 * cells] = 0.0
        n_maps = -1
        if max_maps > 0 and size > 1:
            n_maps = family_bitmaps(rows, members, maps, index, sizes)
        if n_maps >= 0:
            _tally_bitmaps(rows, n_maps, maps, index, sizes, child, counts)
        else:
            base_positions(rows.codes, cards, members, base)
            _tally(rows.codes, rows.weights, base, child, states, counts[: 4 * cells])
        out[f] = data_term(counts, n_u, states, whole(1), float(cells), term, no_memo)
