"""Scores written down from their formulas, one cell at a time, without the code tested."""

from collections import defaultdict
from itertools import product
from math import lgamma, log, prod


def counts_of(table, child, parents):
    """Parent configuration -> list of weights by the child's state, for all configurations."""
    names = table.names
    cards = [table.variable(n).n_states for n in names]
    rows = {u: [0.0] * cards[child] for u in product(*(range(cards[p]) for p in parents))}
    columns = [table.column(n).tolist() for n in names]
    for i, weight in enumerate(table.row_weights.tolist()):
        rows[tuple(columns[p][i] for p in parents)][columns[child][i]] += weight
    return rows


def log_likelihood(rows):
    return sum(s * log(s / sum(row)) for row in rows.values() for s in row if s > 0)


def dirichlet(rows, alpha):
    total = 0.0
    for row in rows.values():
        total += lgamma(alpha * len(row)) - lgamma(alpha * len(row) + sum(row))
        total += sum(lgamma(alpha + s) - lgamma(alpha) for s in row)
    return total


def complexity(n, k):
    """Log C(n, k): Kontkanen and Myllymaki (2007) from the sum of Mononen and Myllymaki (2008)."""
    if n <= 0 or k <= 1:
        return 0.0
    two, product, j = 1.0, 1.0, 0
    while j < n:
        product *= 1 - j / n
        two += product
        j += 1
    before, last = 1.0, two if n > 1 else 1.0 + n
    for i in range(1, int(k) - 1):
        before, last = last, last + n / i * before
    return log(last)


def exact_complexity(n, most):
    """Log C(n, k) for k = 1 .. most (Kontkanen and Myllymaki 2007)."""
    second = 0.0
    for h in range(n + 1):
        term = lgamma(n + 1) - lgamma(h + 1) - lgamma(n - h + 1)
        term += sum(x * log(x / n) for x in (h, n - h) if x)
        second += 2.718281828459045**term
    values = [1.0, second]
    for k in range(1, most - 1):
        values.append(values[-1] + n / k * values[-2])
    return [log(v) for v in values[:most]]


def by_formula(name, table, child, parents, size=1.0):
    """The score of one family."""
    rows = counts_of(table, child, parents)
    r, q = len(next(iter(rows.values()))), len(rows)
    m, n = float(sum(table.row_weights)), len(table.names)
    formulas = defaultdict(lambda: None) | {
        "likelihood": lambda: log_likelihood(rows),
        "bic": lambda: log_likelihood(rows) - log(m) / 2 * q * (r - 1),
        "mdl": lambda: log_likelihood(rows) - log(m) / 2 * q * (r - 1) - len(parents) * log(n),
        "aic": lambda: log_likelihood(rows) - q * (r - 1),
        "k2": lambda: dirichlet(rows, 1.0),
        "bdeu": lambda: dirichlet(rows, size / (q * r)),
        "fnml": lambda: (
            log_likelihood(rows) - sum(complexity(sum(row), r) for row in rows.values())
        ),
        "qnml": lambda: log_likelihood(rows) - complexity(m, q * r) + complexity(m, q),
    }
    return formulas[name]()


def sequential_predictive(rows_in_order, alpha, n_states):
    """The log P of states one by one: (count so far + alpha) / (total so far + r alpha)."""
    seen = defaultdict(lambda: [0.0] * n_states)
    total = 0.0
    for configuration, state in rows_in_order:
        row = seen[configuration]
        total += log((row[state] + alpha) / (sum(row) + alpha * n_states))
        row[state] += 1
    return total


def n_cells(table, members):
    return prod(table.variable(table.names[m]).n_states for m in members)
