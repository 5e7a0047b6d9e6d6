"""Random arguments for every kernel that has a twin, by the kernel's name.

Each function takes a random generator and returns a tuple of arguments.
"""

import numpy as np
from infer.networks import as_table, build

from unveil.infer.approximate.question import Question
from unveil.infer.evidence import evidence_from
from unveil.infer.tree import JunctionTree
from unveil.kernels.agglomerate import Cells
from unveil.kernels.reduced import ReducedPlan
from unveil.kernels.scoring import DIRICHLET, FACTORISED_NML, LIKELIHOOD, NO_MEMO, DataTerm, Rows

from . import twins

TERMS = [
    DataTerm(LIKELIHOOD, 0.0, False),
    DataTerm(DIRICHLET, 0.7, False),
    DataTerm(DIRICHLET, 2.0, True),
    DataTerm(FACTORISED_NML, 0.0, False),
]
CARDS = np.array([2, 3, 1, 4, 2])


def random_term(random):
    return TERMS[random.integers(len(TERMS))]


def random_codes(random, n_rows, dtype=np.uint8):
    return np.array([random.integers(c, size=n_rows) for c in CARDS]).astype(dtype)


# Walking over rows -----------------------------------------------------------------------------


def push_digit(random):
    n = random.integers(0, 200)
    return random.integers(0, 50, n), random.integers(0, 5, n).astype(np.uint8), 5


def tally(random):
    n = random.integers(0, 200)
    return random.integers(0, 9, n), random.random(n), random.random(9)


def add_looked_up(random):
    n = random.integers(0, 200)
    return random.random(n), random.normal(size=9), random.integers(0, 9, n)


def count_sets(random):
    sets = [(0, 1), (4,), (3, 1, 0, 4, 2), (1, 3, 5), (5, 6)]
    cards = np.array([*CARDS, 20, 40])
    n = random.integers(1, 5000)
    codes = np.array([random.integers(c, size=n) for c in cards]).astype(np.uint8)
    members = np.concatenate([np.array(s) for s in sets])
    strides = np.concatenate(
        [[cards[list(s[i + 1 :])].prod() for i in range(len(s))] for s in sets]
    )
    first_cell = np.cumsum([0, *(cards[list(s)].prod() for s in sets)])
    weights = random.random(n) if random.integers(2) else np.zeros(0)
    out = random.random(first_cell[-1])
    return codes, weights, members, strides, np.cumsum([0, *map(len, sets)]), first_cell, out


def group_rows(random):
    n = random.integers(1, 300)
    cells = np.array([random.integers(c, size=n) for c in (2, 3, 2)]).astype(np.uint8).T.copy()
    return cells, np.zeros(n, np.int64)


def draw_states(random):
    n, k = random.integers(1, 200), random.integers(1, 5)
    cumulative = random.dirichlet(np.ones(k), 3).cumsum(axis=1)
    return cumulative, random.integers(0, 3, n), random.random(n), np.zeros(n, np.uint8)


def base_positions(random):
    n = random.integers(1, 200)
    members = random.permutation(len(CARDS))[: random.integers(1, 6)]
    return random_codes(random, n), CARDS, members, np.full(n, 9)


def count_common(random):
    return tuple(random.integers(0, 2**63, size=(2, 5)).astype(np.uint64))


def state_bitmaps(random):
    n = random.integers(1, 200)
    first = np.cumsum([0, *CARDS[:-1]])
    return random_codes(random, n), first, np.zeros((CARDS.sum(), -(-n // 64)), np.uint64)


# Scores ----------------------------------------------------------------------------------------


def log_complexity(random):
    return float(random.integers(0, 1000)), float(random.integers(1, 50))


def data_term(random):
    n_u, states, added = random.integers(1, 4, 3).tolist()
    size = n_u * states * added
    counts = random.integers(0, 4, size) * random.choice([1.0, 0.3])
    return counts, n_u, states, added, 1.0 * size, random_term(random), NO_MEMO


def score_sparse(random):
    n = random.integers(1, 100)
    weights = random.random(n) if random.random() < 0.5 else np.zeros(0)
    rows = Rows(random_codes(random, n), weights, CARDS, np.zeros((0, 0), np.uint64), CARDS)
    position = rows.codes[1] * 4 + rows.codes[3]
    order = np.argsort(position, kind="stable")
    starts = np.unique(position[order], return_index=True)[1]
    candidates = np.array([-1, 0, 2])
    return (
        rows, order, np.append(starts, n), 4, 12.0, candidates, random_term(random), 0, 3,
        np.zeros(3),
    )  # fmt: skip


def squeeze(random):
    child = int(random.integers(0, 6))
    return int(random.integers(0, 64)) & ~(1 << child), child


def widen(random):
    return int(random.integers(0, 32)), int(random.integers(0, 6))


def set_terms(random):
    n, first, most = random.integers(1, 60), int(random.integers(0, 3)), int(random.integers(2, 6))
    return (
        random_codes(random, n), random.poisson(2.0, n) * 1.0, CARDS,
        int(random.integers(0, 1 << first)), first, most, random_term(random), 3.0,
        np.full(32, np.nan),
    )  # fmt: skip


def fold_rows(random):
    n = random.integers(1, 100)
    return random_codes(random, n), random.random(n), CARDS


def family_terms(random):
    joint, rows = random.normal(size=(2, 16))
    kinds, strides = np.array([0b0101, 0b1010]), np.array([3, 1])
    child = int(random.integers(4))
    allowed, required = (int(x) & ~(1 << child) for x in random.integers(0, 16, 2))
    return (
        child, joint, rows, kinds, strides, random.normal(size=9), allowed | required,
        required & 1, int(random.integers(0, 4)), np.zeros(8),
    )  # fmt: skip


def best_over_subsets(random):
    return (random.normal(size=1 << random.integers(0, 7)),)


def best_networks(random):
    return random.normal(size=(4, 8)), 1, 16, np.zeros(16)


# Agglomeration ---------------------------------------------------------------------------------


def random_cells(random):
    """Cells of a variable with a few parent configurations and child rows of three."""
    n_parents, n_rows = int(random.integers(1, 5)), int(random.integers(1, 6))
    widths = [1] * n_parents + [3] * n_rows
    row = np.repeat([-1] * n_parents + list(range(n_rows)), widths)
    alpha = np.repeat(random.random(n_parents + n_rows), widths)
    if random.random() < 0.3:  # no pseudo-counts: the likelihood
        alpha = np.zeros_like(alpha)
    return Cells(row, alpha, 3 * alpha)


def log_rising(random):
    return float(random.choice([0.0, random.random()])), float(random.integers(1, 5))


def state_term(random):
    cells = random_cells(random)
    first, second = random.integers(0, 3, size=(2, len(cells.row))) * 1.0
    size = float(random.integers(1, 5))
    return first, np.flatnonzero(first), second, np.flatnonzero(second), size, cells


def agglomerate(random):
    cells = random_cells(random)
    counts = random.integers(0, 5, size=(5, len(cells.row))) * random.random(len(cells.row))
    return counts, np.ones(5), cells, np.zeros((4, 2), np.int64), np.zeros(4)


def score_curve(random):
    counts, _, cells, merges, _ = agglomerate(random)
    alive = list(range(5))
    for step in merges:
        step[:] = random.choice(alive, 2, replace=False)
        alive.remove(step[1])
    return counts, merges, cells, np.zeros(random.integers(1, 6))


# Graphs ----------------------------------------------------------------------------------------


def random_graph(random):
    """A random DAG as a matrix of parents."""
    n = random.integers(2, 10)
    lower = np.tril(random.random((n, n)) < 0.4, -1).astype(np.uint8)
    order = random.permutation(n)
    return lower[np.ix_(order, order)]


def random_lists(random, n=None):
    n = n or random.integers(1, 12)
    return twins.entries(random.random((n, n)) < 0.3)


def entries(random):
    return ((random.random((random.integers(1, 12),) * 2) < 0.3).astype(np.uint8),)


def matrix_of(random):
    return (random_lists(random),)


def transposed(random):
    return (random_lists(random),)


def revised(random):
    lists = random_lists(random)
    matrix = twins.matrix_of(lists)
    matrix[random.random(matrix.shape) < 0.3] = 0
    y, x = random.integers(len(matrix), size=2)
    matrix[y, x] = random.integers(2)
    return lists, matrix, int(y), int(x)


def redraw(random):
    old, matrix, y, x = revised(random)
    return matrix, old, random_lists(random, len(matrix)), y, x


def differing(random):
    n = random.integers(1, 12)
    return random_lists(random, n), random_lists(random, n)


def reach_of(parents):
    reach = np.zeros_like(parents)
    twins.recompute_reach(parents, reach)
    return reach


def link(random):
    parents = random_graph(random)
    reach = reach_of(parents)
    parent, child = random.permutation(len(parents))[:2].tolist()
    return (reach, child, parent) if reach[child, parent] else (reach, parent, child)


def recompute_reach(random):
    parents = random_graph(random)
    return parents, np.full_like(parents, 9)


def reversible(random):
    parents = random_graph(random)
    child, parent = random.permutation(len(parents))[:2].tolist()
    return parents, reach_of(parents), parent, child


# Messages --------------------------------------------------------------------------------------


def random_plan(random, n_families, k):
    """Families over random observed members, with random logs of which some are -inf."""
    first, members, steps, member_first = [0], [], [], [0]
    for _ in range(n_families):
        step = k
        for m in random.permutation(len(CARDS))[: random.integers(0, len(CARDS) + 1)]:
            members.append(m)
            steps.append(step)
            step *= CARDS[m]
        first.append(first[-1] + step)
        member_first.append(len(members))
    logs = np.log(random.random(first[-1]))
    logs[random.random(logs.size) < random.choice([0.0, 0.2, 0.7])] = -np.inf
    plan = ReducedPlan(
        np.array(first[:-1], np.uint32), np.array(member_first, np.int64),
        np.array(members, np.int64), np.array(steps, np.uint32), k,
    )  # fmt: skip
    return plan, logs


def reduced_pass(random):
    k, n_rows = int(random.integers(1, 9)), int(random.choice([1, 7, 300]))
    plan, logs = random_plan(random, random.integers(1, 5), k)
    return (
        plan, logs, random_codes(random, n_rows), random.random(n_rows), 0, n_rows,
        np.zeros(n_rows), np.zeros((n_rows, random.integers(1, k + 1))), np.zeros(logs.size),
    )  # fmt: skip


def _grouped_rows(random):
    first = np.concatenate([[0], random.integers(0, 4, size=5).cumsum()])
    return first, random.integers(0, 6, size=first[-1])


def add_rows(random):
    return *_grouped_rows(random), random.random((6, 9)), np.ones((5, 9))


def hand_out_rows(random):
    return *_grouped_rows(random), random.random((5, 9)), random.random((6, 9))


def exp_below(random):
    return (
        float(random.choice([0.0, -1e-9, -0.3466, -707.9, -708.5, -np.inf, -9 * random.random()])),
    )


def _bottleneck_rows(random):
    n_hidden, n_lacking = int(random.integers(1, 5)), int(random.integers(1, 4))
    n_rows = int(random.choice([1, 7, 300]))
    plan, logs = random_plan(random, random.integers(1, 5), n_hidden * n_lacking)
    return plan, logs, random_codes(random, n_rows, np.uint16), n_hidden


def bottleneck_pass(random):
    plan, logs, codes, n_hidden = _bottleneck_rows(random)
    n_rows = codes.shape[1]
    return (
        plan, logs, np.log(random.dirichlet(np.ones(n_hidden))), float(random.choice([0.3, 1.0])),
        codes, random.random(n_rows), 0, n_rows, np.zeros(n_rows),
        np.zeros((n_rows, plan.n_configurations)), np.zeros(logs.size),
    )  # fmt: skip


def collected_rows(random):
    plan, logs, codes, _ = _bottleneck_rows(random)
    n_rows = codes.shape[1]
    return plan, logs, codes, 0, n_rows, np.zeros((n_rows, plan.n_configurations))


def counted_rows(random):
    plan, logs, codes, _ = _bottleneck_rows(random)
    n_rows = codes.shape[1]
    mass = random.random((n_rows, plan.n_configurations))
    return plan, mass, codes, 0, n_rows, np.zeros(logs.size)


def merged_entropies(random):
    k = int(random.integers(1, 5))
    posterior = random.dirichlet(np.ones(k), 20)
    posterior[0] = np.eye(k)[0]
    return posterior, random.random(20), np.zeros((k, k))


def random_question(random):
    """A network of six variables without zeros, rows with gaps, and soft evidence of one."""
    sizes = random.integers(1, 4, size=6)
    parents = [random.permutation(i)[: random.integers(0, min(i, 2) + 1)] for i in range(6)]
    network = build(sizes, parents, random, 0.0)
    rows = np.column_stack([random.integers(v.n_states, size=12) for v in network.variables])
    rows[random.random(rows.shape) < random.random((12, 1))] = -1
    variable = network.variables[2]
    soft = {variable.name: {label: 0.1 + random.random() for label in variable.labels}}
    return network, as_table(network, rows), soft


def tree_arguments(random, soft=True):
    network, table, likelihood = random_question(random)
    tree = JunctionTree(network)
    return tree, evidence_from(network, network.names, table, likelihood if soft else {})


def agreeing_cells(random):
    tree, evidence = tree_arguments(random)
    most = int(random.integers(1, tree.n_cells + 1))
    return tree.plan, evidence.codes, evidence.missing, most, np.zeros(12, np.int64)


def answers(random, tree):
    """Row weights, rows, log_z, targets, their columns, marginals, expected counts."""
    targets = random.permutation(6)[:3]
    sizes = tree.plan.n_states[targets]
    rows = np.sort(random.permutation(12)[:10])
    marginals = np.zeros((12, sizes.sum()))
    return (
        random.random(12), rows, np.zeros(12), targets, np.cumsum(sizes) - sizes, marginals,
        np.zeros(tree.n_cells),
    )  # fmt: skip


def calibrate(random):
    tree, evidence = tree_arguments(random)
    lanes = (0,) * int(random.choice([1, 64]))
    weights, rows, *rest = answers(random, tree)
    return (
        tree.plan, lanes, evidence.codes, evidence.missing, evidence.soft, evidence.soft_first,
        weights, rows, *rest,
    )  # fmt: skip


def calibrate_slices(random):
    tree, evidence = tree_arguments(random, soft=False)
    weights, rows, *rest = answers(random, tree)
    return (
        tree.plan, evidence.codes, evidence.missing, weights, rows, tree.n_cells, *rest,
    )  # fmt: skip


def explain(random):
    tree, evidence = tree_arguments(random)
    lanes = (0,) * int(random.choice([1, 64]))
    return (
        tree.plan, lanes, evidence.codes, evidence.missing, evidence.soft, evidence.soft_first,
        np.arange(12), *tree.layout.cells_by_entry, random.random((12, tree.plan.parent.size)),
        bool(random.random() < 0.5), np.zeros(12), np.zeros((6, 12), np.int64),
    )  # fmt: skip


def explain_slices(random):
    tree, evidence = tree_arguments(random, soft=False)
    return (
        tree.plan, evidence.codes, evidence.missing, np.arange(12), tree.n_cells,
        random.random((12, tree.plan.parent.size)), bool(random.random() < 0.5), np.zeros(12),
        np.zeros((6, 12), np.int64),
    )  # fmt: skip


# Factor graphs ---------------------------------------------------------------------------------


def read_row(random):
    network, table, soft = random_question(random)
    question = Question.ask(network, table, network.names, soft)
    n, n_flat = question.graph.n_states.size, question.graph.state_first[-1]
    r = int(random.integers(question.n_rows))
    low, high = np.zeros((2, n), np.int64)
    return (*question.rows, r, np.zeros(n_flat), low, high)


def row_buffers(random):
    return (read_row(random)[0],)


def first_cell(random):
    graph, seen, r, local, low, high = read_row(random)
    twins.read_row(graph, seen, r, local, low, high)
    f = int(random.integers(graph.n_states.size))
    return graph, f, low, np.zeros(6, np.int64)


def next_cell(random):
    graph, seen, r, local, low, high = read_row(random)
    twins.read_row(graph, seen, r, local, low, high)
    f = int(random.integers(graph.n_states.size))
    listed = list(twins.permitted(graph, f, low, high))
    cell, states = listed[random.integers(len(listed))]
    digit = np.zeros(6, np.int64)
    digit[: len(states)] = states
    return graph, f, low, high, digit, int(cell)


# Classifiers -----------------------------------------------------------------------------------


def row_log_shares(random):
    n, k = random.integers(1, 50), random.integers(2, 5)
    parts = [random.normal(scale=20, size=(n, k)) for _ in range(3)]
    return *parts, random.integers(0, k, n), np.zeros(n)


def pair_information(random):
    n, k = random.integers(1, 60), 3
    codes = random_codes(random, n, np.int64)
    classes = random.integers(0, k, n)
    return codes, CARDS, classes, k, random.random(n) + 0.1, np.zeros((len(CARDS), len(CARDS)))
