"""What is refused before a continuation begins, and what it is given to work on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral

from unveil.bottleneck.course import Continuation
from unveil.bottleneck.forest import is_forest
from unveil.errors import DataError, Hint, SizeError, did_you_mean
from unveil.graph.dag import DAG
from unveil.infer.tree import memory_limit
from unveil.model.network import Network
from unveil.table.core import Table
from unveil.table.places import tell
from unveil.table.variable import Variable

__all__ = ["Task", "check_numbers", "checked_task", "refuse_large"]

MOST_JOINT = 500
"""Hidden variables with at most so many joint states have their posterior exactly."""
POSTERIORS = ("auto", "exact", "forest", "mean field")
MUCH = 1 << 30
"""So many bytes are told of before they are taken."""
COPIES = 8
"""So many numbers are held for every row and state, at most."""

Hidden = Mapping[str, "int | Variable | None"]


@dataclass(frozen=True)
class Task:
    """The graph, its variables, which are hidden, how many states each may have, and adaptation.

    `adapt`: the number of states is to be learned, and `states` are the most there may be.
    """

    dag: DAG
    variables: dict[str, Variable]
    hidden: tuple[str, ...]
    states: tuple[int, ...]
    adapt: bool
    posterior: str


def checked_task(
    structure: DAG | Network,
    table: Table,
    hidden: Hidden | None,
    posterior: str,
    max_states: int,
) -> Task:
    """What there is to do, or a sentence that says why it cannot be done."""
    if posterior not in POSTERIORS:
        raise DataError(
            f"posterior is one of {', '.join(POSTERIORS)}, not {posterior!r}."
            + did_you_mean(posterior, POSTERIORS)
        )
    dag = structure.dag if isinstance(structure, Network) else structure
    given = dict(hidden or {})
    for name in given:
        if name not in dag.nodes:
            raise DataError(
                f"{name!r} is to be hidden, but the structure has no such variable."
                + did_you_mean(name, dag.nodes)
            )
        if name in table:
            raise DataError(
                f"{name!r} is to be hidden, but the table has a column of that name.",
                hint=Hint("Leave the column out, or give the hidden variable another name."),
            )
    unseen = [name for name in dag.nodes if name not in table]
    if not unseen:
        raise DataError(
            "nothing is hidden: the table has a column for every variable of the structure.",
            hint=Hint("Use unveil.fit_em, or name a hidden variable in the structure."),
        )
    variables = _variables(structure, table, unseen, given, max_states)
    for name in unseen:
        if not dag.children(name):
            raise DataError(f"the hidden variable {name!r} has no children, so no row tells of it")
    learned = [name for name in unseen if name in given and given[name] is None]
    if learned and len(learned) < len(unseen):
        raise DataError(
            "the number of states is learned for all hidden variables or for none; "
            f"{', '.join(learned)} has none given"
        )
    states = tuple(variables[name].n_states for name in unseen)
    for v in variables.values():
        if not v.is_discrete:
            raise DataError(
                f"column {v.name!r} is continuous; the bottleneck needs discrete columns. Leave it "
                "out or discretise it first, with",
                hint=Hint("unveil.Discretizer", "--discretize"),
            )
    forest = is_forest(dag, unseen)
    if posterior == "auto":
        small = math.prod(states) <= MOST_JOINT and not (forest and len(unseen) > 1)
        posterior = "exact" if small else "forest" if forest else "mean field"
    if posterior == "forest" and not forest:
        raise DataError(
            "the posterior is to go through a forest, but this structure is none: in a forest "
            "everything has at most one parent, which is hidden"
        )
    return Task(dag, variables, tuple(unseen), states, bool(learned), posterior)


def _variables(
    structure: DAG | Network, table: Table, unseen: list[str], given: Hidden, max_states: int
) -> dict[str, Variable]:
    found: dict[str, Variable] = {}
    if isinstance(max_states, bool) or not isinstance(max_states, Integral) or max_states < 2:
        raise DataError(f"max_states is a whole number from 2, got {max_states!r}")
    for name in structure.dag.nodes if isinstance(structure, Network) else structure.nodes:
        if name not in unseen:
            known = structure.variable(name) if isinstance(structure, Network) else None
            found[name] = known or table.variable(name)
            continue
        wanted = given.get(name, 0)
        if wanted == 0 and isinstance(structure, Network):
            wanted = structure.variable(name)
        if wanted == 0:
            raise DataError(
                f"the table has no column {name!r}.",
                hint=Hint(
                    f"If it is hidden, say how many states it has: hidden={{{name!r}: 2}}, or "
                    f"{{{name!r}: None}} to have the number learned."
                ),
            )
        if isinstance(wanted, Variable):
            found[name] = wanted.as_hidden(True) if wanted.is_discrete else wanted
        else:
            found[name] = Variable(name, range(_number(name, wanted, max_states)), hidden=True)
        if found[name].is_discrete and found[name].n_states < 2:
            raise DataError(
                f"the hidden variable {name!r} has one state, which tells nothing; give it 2 or "
                "more"
            )
    return found


def _number(name: str, wanted: int | None, max_states: int) -> int:
    if wanted is None:
        return int(max_states)
    if isinstance(wanted, bool) or not isinstance(wanted, Integral) or wanted < 2:
        raise DataError(
            f"the hidden variable {name!r} needs a whole number of states from 2, got {wanted!r}"
        )
    return int(wanted)


def check_numbers(
    compare: int, max_iterations: int, tolerance: float, continuation: Continuation | None
) -> None:
    """The settings of a run that are numbers, and what says how gamma grows."""
    if isinstance(compare, bool) or not isinstance(compare, Integral) or compare < 0:
        raise DataError(f"compare takes a number of random starts, or 0 for none; got {compare!r}")
    if not isinstance(max_iterations, Integral) or max_iterations < 1:
        raise DataError(f"max_iterations is a whole number from 1, got {max_iterations!r}")
    if not tolerance >= 0:
        raise DataError(f"tolerance is a part of the objective, 0 or more; got {tolerance!r}")
    if not isinstance(continuation, Continuation | None):
        raise DataError(
            f"continuation says how gamma grows; got {continuation!r}.",
            hint=Hint("Give an unveil.bottleneck.Continuation, or None for the default."),
        )


def refuse_large(task: Task, table: Table) -> None:
    """More states than cases, or more memory than there is: said before anything begins."""
    cases = table.total_weight
    most = max(task.states)
    if not task.adapt and most > cases:
        name = task.hidden[task.states.index(most)]
        there = "there is only 1 case" if cases == 1 else f"there are only {cases:,.6g} cases"
        raise DataError(
            f"the hidden variable {name!r} is to have {most} states, but {there}; give it fewer"
        )
    wide = math.prod(task.states) if task.posterior == "exact" else sum(task.states)
    needed = 8 * COPIES * table.n_rows * wide
    if needed > memory_limit():
        raise SizeError(
            f"{table.n_rows:,} rows times {wide:,} states need about {needed / 2**30:,.1f} GiB; "
            f"the limit is {memory_limit() / 2**30:,.1f} GiB. Use fewer states or some of the rows."
        )
    if needed > MUCH:
        tell(
            f"{table.n_rows:,} rows times {wide:,} states: this will take up to "
            f"{needed / 2**30:,.1f} GiB of memory"
        )
