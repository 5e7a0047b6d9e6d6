"""Parameters from rows with further columns: families of the table's own are counted only once.

What `score.beside` is for scores: a search for hidden variables fits thousands of networks to the
same rows completed again, and most families hold none of the columns that were filled in.
"""

from __future__ import annotations

from collections.abc import Hashable

from unveil.graph.dag import DAG
from unveil.model.cpd import CPD
from unveil.model.fit import estimated, fit
from unveil.model.network import Network
from unveil.model.prior import DirichletPrior
from unveil.statistics.memory import as_statistics
from unveil.table.core import Table

__all__ = ["fit_beside"]

ROOM = 20_000
"""So many distributions stay with a table."""


def fit_beside(
    table: Table, completed: Table, dag: DAG, prior: DirichletPrior | None = None
) -> Network:
    """`fit` of a graph to `completed`: the rows of `table` with further columns filled in.

    Completing takes rows apart, but what the table itself shows is counted as before. So the
    distributions of its columns given one another stay with it. A table with gaps says less than
    its completed rows: there everything is counted.

    >>> from unveil import datasets
    >>> asia = datasets.network("asia")
    >>> whole = asia.sample(100, seed=1)
    >>> found = fit_beside(whole.without("lung"), whole, asia.dag)
    >>> bool((found.cpd("tub").values == fit(asia.dag, whole).cpd("tub").values).all())
    True
    """
    if not table.is_complete or not isinstance(prior, Hashable):
        return fit(dag, completed, prior)
    variables = {v.name: v for v in completed.variables}
    own = {n for n in dag.nodes if n in table and table.variable(n) == variables[n]}
    kept: dict[tuple[str, ...], CPD] = table._cache.setdefault(("distributions", prior), {})
    families = {n: (n, *dag.parents(n)) for n in dag.nodes}
    new = [n for n in dag.nodes if families[n] not in kept or not own.issuperset(families[n])]
    asked = [(variables[n], [variables[p] for p in dag.parents(n)]) for n in new]
    found = dict(zip(new, estimated(as_statistics(completed), asked, prior), strict=True))
    for n, cpd in found.items():
        if own.issuperset(families[n]) and len(kept) < ROOM:
            kept[families[n]] = cpd
    return Network(found.get(n) or kept[families[n]] for n in dag.nodes)
