"""Which kind of distribution suits a family: decided by what is discrete and what is not."""

from __future__ import annotations

from collections.abc import Sequence

from unveil.errors import DataError, Hint
from unveil.model.conditional_gaussian_cpd import ConditionalGaussianCPD
from unveil.model.cpd import CPD
from unveil.model.gaussian_cpd import LinearGaussianCPD
from unveil.model.table_cpd import TableCPD
from unveil.table.variable import Variable

__all__ = ["kind_for"]


def kind_for(variable: Variable, parents: Sequence[Variable]) -> type[CPD]:
    """The kind of CPD for a variable with these parents.

    A discrete variable gets a table. A continuous one gets a linear Gaussian, or one for every
    configuration of its discrete parents if it has any.

    >>> kind_for(Variable("weight"), [Variable("height"), Variable("sex", ["f", "m"])]).kind
    'conditional_gaussian'
    """
    if not variable.is_discrete:
        return ConditionalGaussianCPD if any(p.is_discrete for p in parents) else LinearGaussianCPD
    for parent in parents:
        if not parent.is_discrete:
            raise DataError(
                f"the discrete column {variable.name!r} has the continuous parent "
                f"{parent.name!r}; its table needs discrete parents. Discretise the parent first.",
                hint=Hint("(unveil.Discretizer)"),
            )
    return TableCPD
