"""Networks that rows are made from: some with a hidden variable, some with none.

`benchmark` is the one that all large tables of `engines.py` come from. The others have other
numbers of children and of states, and other arcs; those called `none-...` have nothing hidden.
`star-N`, `inside-N` and `null-N`, for any number, are drawn afresh: with a hidden root, with a
hidden variable among the others, and with none.
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
    if name == "benchmark":
        return true_network()
    kind, _, number = name.partition("-")
    if kind in DRAWN:
        return DRAWN[kind](int(number))
    return _made(**PLANTED[name])


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


def random_inside(seed: int) -> Any:
    """A hidden variable of two to four states with a parent, and children with parents besides.

    Twelve to twenty columns; one of the first four is the parent, four to six others the children,
    every other one of which depends on a further column.
    """
    from unveil import Network, TableCPD, Variable

    generator = np.random.default_rng([79, seed])
    hidden = Variable("H", range(int(generator.integers(2, 5))), hidden=True)
    n_columns, n_children = int(generator.integers(12, 21)), int(generator.integers(4, 7))
    columns = [Variable(f"u{i:02}", range(int(generator.integers(2, 5)))) for i in range(n_columns)]
    parents: dict[Any, list[Any]] = {hidden: [columns[int(generator.integers(4))]]}
    for i, column in enumerate(columns):
        among = range(4, 4 + n_children)
        n_others = int(generator.integers(1, 3)) if i not in among else i % 2
        before = [j for j in range(i) if j not in among] or [0]
        chosen = generator.choice(before, min(n_others, len(before), i), replace=False)
        own = [columns[j] for j in sorted(chosen.tolist())]
        parents[column] = [hidden, *own] if i in among else own
    cpds = []
    for variable, own in parents.items():
        values = generator.dirichlet(np.full(variable.n_states, 0.7), [p.n_states for p in own])
        cpds.append(TableCPD(variable, own, 0.95 * values + 0.05 / variable.n_states))
    return Network(cpds)


def random_null(seed: int) -> Any:
    """Six to eighteen columns of two to four states, up to three parents each, nothing hidden."""
    from unveil import Network, TableCPD, Variable

    generator = np.random.default_rng([78, seed])
    columns: list[Any] = []
    cpds = []
    for i in range(int(generator.integers(6, 19))):
        column = Variable(f"v{i:02}", range(int(generator.integers(2, 5))))
        n_parents = min(i, int(generator.integers(0, 4)))
        chosen = generator.choice(max(i, 1), n_parents, replace=False)
        parents = [columns[j] for j in sorted(chosen.tolist())]
        spread = float(generator.choice([0.4, 0.8, 1.6]))
        shape = [p.n_states for p in parents]
        values = generator.dirichlet(np.full(column.n_states, spread), shape)
        cpds.append(TableCPD(column, parents, 0.95 * values + 0.05 / column.n_states))
        columns.append(column)
    return Network(cpds)


DRAWN = {"star": random_star, "inside": random_inside, "null": random_null}
"""What is drawn by a number."""


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
