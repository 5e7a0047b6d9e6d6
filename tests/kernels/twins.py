"""Plain twins of the compiled kernels: the same name, arguments and results, as short as can be.

`test_registry.py` compares each with its kernel on random input.
"""

from itertools import combinations, product

import numpy as np
from scipy.special import gammaln, xlogy

from unveil.kernels.classes import Lists
from unveil.kernels.propagate_logs import calibrate_logs, explain_logs
from unveil.kernels.scoring import DIRICHLET, FACTORISED_NML, data_term_plain

# Walking over rows -----------------------------------------------------------------------------


def push_digit(position, column, n_states):
    position *= n_states
    position += column.astype(position.dtype)


def tally(position, weights, counts):
    counts += np.bincount(position, weights, counts.size)


def add_looked_up(total, values, position):
    total += values[position]


def count_sets(codes, weights, members, strides, first_member, first_cell, out):
    mass = weights if weights.size else np.ones(codes.shape[1])
    for s in range(first_member.size - 1):
        own = slice(first_member[s], first_member[s + 1])
        position = strides[own] @ codes[members[own]].astype(np.int64)
        cells = slice(first_cell[s], first_cell[s + 1])
        out[cells] += np.bincount(position, mass, first_cell[s + 1] - first_cell[s])


def group_rows(cells, group):
    _, first, which = np.unique(cells, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    group[:] = np.argsort(order)[which.ravel()]
    return first[order]


def draw_states(cumulative, row, uniform, out):
    out[:] = (uniform[:, None] >= cumulative[row, :-1]).sum(axis=1)


def base_positions(codes, cards, members, out):
    out[:] = np.ravel_multi_index(codes[members].astype(int), cards[members])


def count_common(a, b):
    return int(np.bitwise_count(a & b).sum())


def state_bitmaps(codes, first, out):
    padded = np.zeros((out.shape[1] * 64,), np.uint8)
    for v in range(codes.shape[0]):
        last = first[v + 1] if v + 1 < codes.shape[0] else out.shape[0]
        for s in range(last - first[v]):
            padded[: codes.shape[1]] = codes[v] == s
            out[first[v] + s] = np.packbits(padded, bitorder="little").view(np.uint64)


# Scores ----------------------------------------------------------------------------------------


def log_complexity(n, k):
    """Kontkanen and Myllymaki 2007, from C(n, 2) as the sum of Mononen and Myllymaki 2008."""
    if n <= 0 or k <= 1:
        return 0.0
    products = np.cumprod(1 - np.arange(np.ceil(n)) / n)
    before, last = 0.0, np.log(1 + min(n, products.sum()))
    for j in range(1, int(k) - 1):
        before, last = last, np.logaddexp(last, np.log(n / j) + before)
    return last


def data_term(counts, n_u, n_states, n_added, cells, term, memo):
    return data_term_plain(counts, n_u, n_states, n_added, cells, term)


def score_sparse(
    rows, order, group_first, child, n_configurations, candidates, term, start, stop, out
):
    group = np.repeat(np.arange(len(group_first) - 1), np.diff(group_first))
    for c in range(start, stop):
        y = candidates[c]
        shape = (group[-1] + 1, rows.cards[child], 1 if y < 0 else rows.cards[y])
        counts = np.zeros(shape)
        added = rows.codes[y, order] if y >= 0 else 0 * order
        weights = rows.weights[order] if rows.weights.size else 1.0
        np.add.at(counts, (group, rows.codes[child, order], added), weights)
        cells = n_configurations * shape[1] * shape[2]
        out[c] = data_term_plain(counts.ravel(), *shape, cells, term)


def squeeze(subset, child):
    return (subset >> child + 1 << child) | (subset % (1 << child))


def widen(squeezed, child):
    return (squeezed >> child << child + 1) | (squeezed % (1 << child))


def set_terms(codes, weights, cards, prefix, first, most, term, r, out):
    n = len(cards)
    for subset in range(1 << n):
        members = [v for v in range(n) if subset >> v & 1]
        if len(members) > most or subset & ((1 << first) - 1) != prefix:
            continue
        rows = codes[members].astype(np.int64)
        _, cell = np.unique(rows, axis=1, return_inverse=True) if members else (0, 0 * codes[0])
        counts = np.bincount(np.ravel(cell), weights)
        alpha = term.alpha / np.prod(cards[members]) if term.spread else term.alpha
        if term.mode == DIRICHLET:
            out[subset] = (gammaln(alpha + counts) - gammaln(alpha)).sum()
        else:
            out[subset] = xlogy(counts, counts).sum()
        if term.mode == FACTORISED_NML:
            out[subset] += sum(log_complexity(float(c), r) for c in counts)


def fold_rows(codes, weights, cards):
    first, sums = {}, {}
    for i, row in enumerate(map(tuple, codes.T.tolist())):
        first.setdefault(row, i)
        sums[row] = sums.get(row, 0.0) + weights[i]
    return np.array(list(first.values())), np.array(list(sums.values()))


def family_terms(child, joint, rows, kinds, strides, penalty, allowed, required, most, out):
    for squeezed in range(out.size):
        parents = widen(squeezed, child)
        sizes = np.array([(parents & int(kind)).bit_count() for kind in kinds])
        legal = not (parents & ~allowed or required & ~parents or parents.bit_count() > most)
        score = joint[parents | 1 << child] - rows[parents] - penalty[sizes @ strides]
        out[squeezed] = score if legal else -np.inf


def best_over_subsets(values):
    old = values.copy()
    for subset in range(values.size):
        values[subset] = max(old[s] for s in range(subset + 1) if s & ~subset == 0)


def best_networks(families, start, stop, best):
    for subset in range(start, stop):
        members = [c for c in range(len(families)) if subset >> c & 1]
        rest = [subset - (1 << c) for c in members]
        best[subset] = max(
            best[w] + families[c, squeeze(w, c)] for c, w in zip(members, rest, strict=True)
        )


# Agglomeration ---------------------------------------------------------------------------------


def log_rising(alpha, count):
    if alpha == 0:
        return float(xlogy(count, count))
    return float(gammaln(count + alpha) - gammaln(alpha))


def state_term(first, listed, second, also, size, cells):
    counts = np.zeros(first.size)
    counts[listed] += first[listed]
    counts[also] += second[also]
    total = sum(log_rising(size * a, n) for a, n in zip(cells.alpha, counts, strict=True))
    for row in np.unique(cells.row[cells.row >= 0]):
        inside = cells.row == row
        total -= log_rising(size * cells.row_alpha[inside][0], counts[inside].sum())
    return float(total)


def whole_state_term(counts, size, cells):
    """T of a state with these counts."""
    return state_term(counts, np.arange(counts.size), counts, np.arange(0), size, cells)


def agglomerate(counts, sizes, cells, merges, changes):
    alive = list(range(len(counts)))
    for t in range(len(changes)):
        gains = {}
        for i, j in combinations(alive, 2):
            both = whole_state_term(counts[i] + counts[j], sizes[i] + sizes[j], cells)
            parts = (whole_state_term(counts[k], sizes[k], cells) for k in (i, j))
            gains[i, j] = both - sum(parts)
        i, j = merges[t] = max(gains, key=gains.get)
        changes[t] = gains[i, j]
        counts[i] += counts[j]
        sizes[i] += sizes[j]
        alive.remove(j)


def score_curve(counts, merges, cells, scores):
    alive = list(range(len(counts)))
    for kept, gone in [*merges.tolist(), (0, 0)]:
        k = len(alive)
        if k <= scores.size:
            scores[k - 1] = sum(whole_state_term(counts[i], 1 / k, cells) for i in alive)
        if k > 1:
            counts[kept] += counts[gone]
            alive.remove(gone)


# Graphs ----------------------------------------------------------------------------------------


def entries(matrix):
    listed = [np.flatnonzero(row) for row in matrix]
    return Lists(np.cumsum([0, *map(len, listed)]), np.concatenate(listed))


def matrix_of(lists):
    n = len(lists.first) - 1
    out = np.zeros((n, n), np.uint8)
    out[np.repeat(np.arange(n), np.diff(lists.first)), lists.members] = 1
    return out


def transposed(lists):
    return entries(matrix_of(lists).T)


def revised(lists, matrix, y, x):
    return entries(matrix)


def redraw(matrix, old, new, y, x):
    matrix[:] = matrix_of(new)


def differing(old, new):
    before, after = matrix_of(old), matrix_of(new)
    differs = before != after
    lost = (before > after).any(axis=1)
    return (differs.any(axis=0) | differs.any(axis=1)).astype(np.uint8), lost.astype(np.uint8)


def link(reach, parent, child):
    reach |= np.outer(reach[:, parent], reach[child])


def recompute_reach(parents, reach):
    step = np.eye(len(parents), dtype=int) + parents.T
    reach[:] = np.linalg.matrix_power(step, len(parents)) > 0


def reversible(parents, reach, parent, child):
    others = np.arange(len(parents)) != child
    return not (parents[:, parent] & reach[:, child])[others].any()


# Messages --------------------------------------------------------------------------------------


def reduced_pass(plan, logs, codes, weights, start, stop, log_z, posterior, counts):
    k = plan.n_configurations
    for r in range(start, stop):
        places = []
        for f in range(plan.first.size):
            inside = slice(int(plan.member_first[f]), int(plan.member_first[f + 1]))
            steps = [int(codes[m, r]) * int(s) for m, s in
                     zip(plan.member[inside], plan.step[inside], strict=True)]  # fmt: skip
            places.append(int(plan.first[f]) + sum(steps))
        total = np.sum([logs[p : p + k] for p in places], axis=0)
        log_z[r] = np.logaddexp.reduce(total)
        if log_z[r] == -np.inf:
            if posterior.size > 0:
                posterior[r] = 0.0
            continue
        share = np.exp(total - log_z[r])
        if posterior.size > 0:
            posterior[r] = share[: posterior.shape[1]]
        if counts.size > 0:
            for p in places:
                counts[p : p + k] += weights[r] * share


def add_rows(first, row, given, out):
    for i in range(len(out)):
        out[i] = given[row[first[i] : first[i + 1]]].sum(axis=0)


def hand_out_rows(first, row, given, out):
    np.add.at(out, row, np.repeat(given, np.diff(first), axis=0))


def exp_below(x):
    return np.exp(x) if x > -708 else 0.0


def _row_places(plan, codes, r):
    places = []
    for f in range(plan.first.size):
        inside = slice(int(plan.member_first[f]), int(plan.member_first[f + 1]))
        steps = [int(codes[m, r]) * int(s) for m, s in
                 zip(plan.member[inside], plan.step[inside], strict=True)]  # fmt: skip
        places.append(int(plan.first[f]) + sum(steps))
    return places


def bottleneck_pass(
    plan, logs, common, gamma, codes, weights, start, stop, log_z, posterior, counts
):
    k = plan.n_configurations
    for r in range(start, stop):
        places = _row_places(plan, codes, r)
        joint = np.sum([logs[p : p + k] for p in places], axis=0).reshape(common.size, -1)
        seen = np.logaddexp.reduce(joint, axis=1)  # log P(x, t)
        heated = gamma * seen + (1 - gamma) * common
        log_z[r] = np.logaddexp.reduce(heated)
        if log_z[r] == -np.inf:
            posterior[r] = 0.0
            continue
        seen = np.where(np.isfinite(seen), seen, 0.0)
        share = (np.exp(heated - log_z[r])[:, None] * np.exp(joint - seen[:, None])).ravel()
        posterior[r] = share
        for p in places:
            counts[p : p + k] += weights[r] * share


def collected_rows(plan, values, codes, start, stop, out):
    k = plan.n_configurations
    for r in range(start, stop):
        out[r] = np.sum([values[p : p + k] for p in _row_places(plan, codes, r)], axis=0)


def counted_rows(plan, mass, codes, start, stop, counts):
    k = plan.n_configurations
    for r in range(start, stop):
        for p in _row_places(plan, codes, r):
            counts[p : p + k] += mass[r]


def merged_entropies(posterior, weights, out):
    k = posterior.shape[1]
    for i in range(k):
        for j in range(i, k):
            q = posterior[:, i] + (posterior[:, j] if j > i else 0)
            out[i, j] -= weights @ (q * np.log(np.where(q > 0, q, 1.0)))


def in_logs(plan):
    with np.errstate(divide="ignore"):
        return plan._replace(potential=np.log(plan.potential))


def hard(plan, codes):
    """Soft evidence, as kernels take it, that says nothing."""
    return np.zeros((0, codes.shape[1])), np.full(len(codes), -1)


def agreeing_cells(plan, codes, missing, most, out):
    for r in range(codes.shape[1]):
        free = np.where(codes[plan.member, r] == missing, plan.n_states[plan.member], 1)
        total = np.multiply.reduceat(free, plan.member_first[:-1]).cumsum()
        over = total[total > most]
        out[r] = over[0] if over.size else total[-1]


def calibrate(
    plan, lanes, codes, missing, soft, soft_first, weights, rows, log_z, targets, target_first,
    marginals, expected,
):  # fmt: skip
    calibrate_logs(
        in_logs(plan), codes, missing, soft, soft_first, weights, rows, log_z, targets,
        target_first, marginals, expected,
    )  # fmt: skip


def calibrate_slices(
    plan, codes, missing, weights, rows, n_agreeing, log_z, targets, target_first, marginals,
    expected,
):  # fmt: skip
    calibrate_logs(
        in_logs(plan), codes, missing, *hard(plan, codes), weights, rows, log_z, targets,
        target_first, marginals, expected,
    )  # fmt: skip


def explain(
    plan, lanes, codes, missing, soft, soft_first, rows, by_entry, entry_first, uniform, top,
    log_z, out,
):  # fmt: skip
    explain_logs(in_logs(plan), codes, missing, soft, soft_first, rows, uniform, top, log_z, out)


def explain_slices(plan, codes, missing, rows, n_agreeing, uniform, top, log_z, out):
    explain_logs(in_logs(plan), codes, missing, *hard(plan, codes), rows, uniform, top, log_z, out)


# Factor graphs ---------------------------------------------------------------------------------


def row_buffers(graph):
    n = len(graph.n_states)
    return np.zeros(graph.n_states.sum()), np.zeros(n, np.int64), np.zeros(n, np.int64)


def read_row(graph, seen, r, local, low, high):
    for v, (a, k) in enumerate(zip(graph.state_first, graph.n_states, strict=False)):
        code, first = seen.codes[v, r], seen.soft_first[v]
        low[v], high[v] = (0, k) if code == seen.missing else (code, code + 1)
        likelihood = seen.soft[first : first + k, r] if first >= 0 else 1.0
        local[a : a + k] = likelihood * ((np.arange(k) >= low[v]) & (np.arange(k) < high[v]))


def permitted(graph, f, low, high):
    """The cells of factor f between low and high, with the states of its members."""
    edges = range(graph.edge_first[f], graph.edge_first[f + 1])
    ranges = [range(low[graph.member[e]], high[graph.member[e]]) for e in edges]
    for states in product(*ranges):
        steps = (s * graph.stride[e] for s, e in zip(states, edges, strict=True))
        yield graph.first[f] + sum(steps), states


def first_cell(graph, f, low, digit):
    cell, states = next(permitted(graph, f, low, graph.n_states))
    digit[: len(states)] = states
    return cell


def next_cell(graph, f, low, high, digit, cell):
    listed = dict(permitted(graph, f, low, high))
    cells = list(listed)
    following = (cells.index(cell) + 1) % len(cells)
    digit[: len(listed[cell])] = listed[cells[following]]
    return cells[following] if following else -1


# Classifiers -----------------------------------------------------------------------------------


def row_log_shares(scores, plus, minus, classes, out):
    total = scores + plus - minus
    out[:] = total[np.arange(len(out)), classes] - np.logaddexp.reduce(total, axis=1)


def pair_information(codes, sizes, classes, n_classes, weights, out):
    for i, j in combinations(range(len(codes)), 2):
        joint = np.zeros((sizes[i], sizes[j], n_classes))
        np.add.at(joint, (codes[i], codes[j], classes), weights)
        left, right = joint.sum(axis=1, keepdims=True), joint.sum(axis=0, keepdims=True)
        both = joint.sum(axis=(0, 1), keepdims=True)
        logs = xlogy(joint, joint) + xlogy(joint, both) - xlogy(joint, left) - xlogy(joint, right)
        out[i, j] = out[j, i] = logs.sum() / weights.sum()
