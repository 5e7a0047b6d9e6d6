"""An order of the problem's own, so that the one in which columns come does not matter.

Where eigenvectors are looked for begins with some vector, and of two equal choices one comes first.
Both go by the order of variables. Columns are therefore put in an order that their cells say, and
hidden variables in that of their names; what is found is put back.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from unveil.bottleneck.course import Point
from unveil.bottleneck.door import Task
from unveil.graph.dag import DAG
from unveil.model.network import Network
from unveil.table.core import Table

__all__ = ["in_own_order", "put_back"]


def in_own_order(task: Task, table: Table) -> tuple[Task, Table]:
    """The same task and table with their variables in an order that the rows say.

    >>> from unveil import datasets
    >>> from unveil.bottleneck.door import checked_task
    >>> plans = datasets.table("college_plans")
    >>> dag = DAG(["T", *plans.names], [("T", name) for name in plans.names])
    >>> task = checked_task(dag, plans, {"T": 2}, "auto", 20)
    >>> in_own_order(task, plans)[0].dag.nodes
    ('T', 'SEX', 'PE', 'CP', 'SES', 'IQ')
    """
    columns = sorted((n for n in task.dag.nodes if n in table), key=lambda n: _place(table, n))
    order = sorted(range(len(task.hidden)), key=lambda i: task.hidden[i])
    hidden = tuple(task.hidden[i] for i in order)
    dag = DAG([*hidden, *columns], task.dag.arcs)
    states = tuple(task.states[i] for i in order)
    return replace(task, dag=dag, hidden=hidden, states=states), table.select(columns)


def _place(table: Table, name: str) -> tuple[Any, ...]:
    """What a column is put by: how many states it has, how often each is seen, its name."""
    n_states, codes = table.variable(name).n_states, table.column(name)
    seen = codes < n_states
    counts = np.bincount(codes[seen], table.row_weights[seen], n_states)
    return n_states, *sorted(counts.tolist(), reverse=True), name


def put_back(
    task: Task, own: Task, network: Network, course: tuple[Point, ...]
) -> tuple[Network, tuple[Point, ...]]:
    """The network and the course of `own` with their variables in the order of `task`."""
    at = [own.hidden.index(name) for name in task.hidden]

    def moved(point: Point) -> Point:
        return replace(
            point, information=tuple(point.information[i] for i in at),
            n_states=tuple(point.n_states[i] for i in at),
            effective=tuple(point.effective[i] for i in at),
        )  # fmt: skip

    cpds = [network.cpd(name) for name in task.dag.nodes]
    return Network(cpds, network.name, network.description), tuple(moved(p) for p in course)
