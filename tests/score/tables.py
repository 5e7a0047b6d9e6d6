"""Random complete tables with some dependence in them, and families and graphs over them."""

from itertools import combinations

import numpy as np
from hypothesis import strategies as st

from unveil.graph import DAG
from unveil.table import Table, Variable

NAMES = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def random_table(seed, cards, n_rows, weights="ones"):
    """Columns that follow some of those before them, with noise."""
    random = np.random.default_rng(seed)
    columns = []
    for card in cards:
        value = random.integers(card, size=n_rows)
        for earlier in columns:
            if random.random() < 0.5:
                value = np.where(random.random(n_rows) < 0.6, earlier + random.integers(3), value)
        columns.append(value % card)
    variables = [Variable(n, range(c)) for n, c in zip(NAMES, cards, strict=False)]
    chosen = {
        "ones": None,
        "whole": random.integers(1, 4, n_rows).astype(float),
        "fractional": random.gamma(1.0, size=n_rows) * (random.random(n_rows) < 0.9) + 1e-3,
    }[weights]
    return Table(variables, columns, chosen)


@st.composite
def tables(draw, min_variables=3, max_variables=5, weights=("ones", "whole", "fractional")):
    """A table of 3 to 5 variables with 1 to 4 states (mostly 2 to 4) and up to 90 rows."""
    n = draw(st.integers(min_variables, max_variables))
    cards = draw(st.lists(st.sampled_from([2, 3, 4, 2, 3, 1]), min_size=n, max_size=n))
    return random_table(
        draw(st.integers(0, 10**6)), cards, draw(st.integers(1, 90)), draw(st.sampled_from(weights))
    )


@st.composite
def tables_with_dags(draw, **options):
    """A table and a DAG over its columns."""
    table = draw(tables(**options))
    return table, draw(dags_over(table.names))


@st.composite
def dags_over(draw, names):
    """A DAG over these names, whose order need not be topological."""
    pairs = list(combinations(draw(st.permutations(names)), 2))
    kept = draw(st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs)))
    return DAG(names, [arc for arc, keep in zip(pairs, kept, strict=True) if keep])


def all_families(n):
    """Every child with every set of parents, as positions."""
    for child in range(n):
        others = [v for v in range(n) if v != child]
        for size in range(n):
            for parents in combinations(others, size):
                yield child, parents
