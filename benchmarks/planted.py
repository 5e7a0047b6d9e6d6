"""Networks that rows are made from: some with a hidden variable, some with none.

`benchmark` is the one that all large tables of `engines.py` come from. The others have other
numbers of children and of states, and other arcs; those called `none-...` have nothing hidden.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["PLANTED", "planted_network", "random_star", "true_network"]

PLANTED: dict[str, dict[str, Any]] = {
    "four": {"seed": 11, "states": 2, "sizes": [2, 2, 3, 2]},
    "five": {"seed": 12, "states": 2, "sizes": [3, 2, 2, 3, 2]},
    "six": {"seed": 14, "states": 3, "sizes": [3, 3, 2, 2, 3, 2], "columns": 12},
    "eight": {"seed": 13, "states": 4, "sizes": [2, 3, 2, 3, 2, 4, 2, 3], "columns": 20},
    "none-1": {"seed": 21, "states": 0, "sizes": [2, 3, 2, 3, 2, 4], "columns": 20},
    "none-2": {"seed": 22, "states": 0, "sizes": [2, 3, 2, 3, 2, 4], "columns": 20},
    "none-3": {"seed": 23, "states": 0, "sizes": [2, 2, 3, 2]},
}
"""How each is made: the children of the hidden variable come first, of these `sizes`."""


def planted_network(name: str) -> Any:
    """The network of that name."""
    return true_network() if name == "benchmark" else _made(**PLANTED[name])


def _made(seed: int, states: int, sizes: list[int], columns: int = 16) -> Any:
    """A hidden variable of so many states behind the first columns, and a sparse graph."""
    from unveil import Network, TableCPD, Variable

    generator = np.random.default_rng(seed)
    cards = [*sizes, *generator.integers(2, 4, columns - len(sizes)).tolist()]
    shown = [Variable(f"c{i:02}", list(range(k))) for i, k in enumerate(cards)]
    cpds = []
    if states:
        hidden = Variable("H", list(range(states)), hidden=True)
        cpds.append(TableCPD(hidden, [], generator.dirichlet(np.full(states, 5.0))))
    for i, column in enumerate(shown):
        if states and i < len(sizes):
            parents = [hidden]
        else:
            chosen = generator.choice(i, size=min(2, i), replace=False)
            parents = [shown[j] for j in sorted(chosen.tolist())]
        values = generator.dirichlet(np.full(column.n_states, 0.6), [p.n_states for p in parents])
        cpds.append(TableCPD(column, parents, 0.9 * values + 0.1 / column.n_states))
    return Network(cpds)


def random_star(seed: int) -> Any:
    """A hidden variable of two to four states behind four to seven columns, and some others.

    How strong it is differs from seed to seed; one to five further columns depend on one or two of
    those before them.
    """
    from unveil import Network, TableCPD, Variable

    generator = np.random.default_rng([77, seed])
    states, n_children, n_others = (int(generator.integers(*r)) for r in ((2, 5), (4, 8), (1, 6)))
    hidden = Variable("H", range(states), hidden=True)
    cpds = [TableCPD(hidden, [], generator.dirichlet(np.full(states, 5.0)))]
    spread = float(generator.choice([0.5, 1.0, 2.0]))
    columns: list[Any] = []
    for i in range(n_children):
        column = Variable(f"q{i}", range(int(generator.integers(2, 5))))
        values = generator.dirichlet(np.full(column.n_states, spread), [states])
        cpds.append(TableCPD(column, [hidden], 0.95 * values + 0.05 / column.n_states))
        columns.append(column)
    for i in range(n_others):
        column = Variable(f"z{i}", range(int(generator.integers(2, 4))))
        chosen = generator.choice(len(columns), int(generator.integers(1, 3)), replace=False)
        parents = [columns[j] for j in sorted(chosen)]
        shape = [p.n_states for p in parents]
        values = generator.dirichlet(np.full(column.n_states, 0.7), shape)
        cpds.append(TableCPD(column, parents, 0.95 * values + 0.05 / column.n_states))
        columns.append(column)
    return Network(cpds)


def true_network() -> Any:
    """Twenty columns: six behind a hidden variable of three states, the others a sparse graph."""
    from unveil import Network, TableCPD, Variable

    generator = np.random.default_rng(7)
    sizes = [2, 3, 2, 3, 2, 4, *([2, 3] * 7)]
    hidden = Variable("H", [0, 1, 2], hidden=True)
    columns = [
        Variable(f"c{i:02}", [f"{'abcd'[s]}{i}" for s in range(k)] if i % 2 else list(range(k)))
        for i, k in enumerate(sizes)
    ]
    parents: dict[int, list[Any]] = {i: [hidden] for i in range(6)}
    for i in range(6, 20):
        chosen = generator.choice(i, size=min(2, i), replace=False)
        parents[i] = [columns[j] for j in sorted(chosen.tolist())]
    cpds = [TableCPD(hidden, [], np.array([0.5, 0.3, 0.2]))]
    for i, column in enumerate(columns):
        shape = [p.n_states for p in parents[i]]
        values = generator.dirichlet(np.full(column.n_states, 0.6), shape)
        values = 0.9 * values + 0.1 / column.n_states
        cpds.append(TableCPD(column, parents[i], values))
    return Network(cpds)
