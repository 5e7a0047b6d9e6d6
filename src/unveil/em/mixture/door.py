"""What is refused before any mixture is fitted: numbers of classes, names, tables, folds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Integral

import numpy as np

from unveil.em.mixture.choice import SCORES
from unveil.errors import DataError, Hint, did_you_mean
from unveil.evaluate.folds import check_dealing
from unveil.model.prior import DirichletPrior, EquivalentSampleSize
from unveil.table.core import Table
from unveil.table.variable import Label

__all__ = ["Dealing", "checked_classes", "checked_dealing", "checked_prior", "checked_table"]

TRIED = range(1, 7)
"""The numbers of classes tried when nothing is said."""

Dealing = tuple[int, float | None]
"""A number of folds, and the fraction if there is to be a single split instead."""


def checked_dealing(table: Table, folds: int | None, held_out: float | None) -> Dealing | None:
    """The number of folds, and the fraction if there is to be a single split instead."""
    if folds is None and held_out is None:
        return None
    if folds is not None and held_out is not None:
        raise DataError(
            f"rows are left out in {folds} folds or once, a fraction of {held_out}; give one of "
            "them"
        )
    if folds is not None and not (isinstance(folds, Integral) and folds >= 2):
        raise DataError(f"the number of folds is a whole number from 2, got {folds}")
    if held_out is not None and not 0 < held_out < 1:
        raise DataError(f"held_out is a fraction between 0 and 1, got {held_out}")
    dealing: Dealing = (1 if folds is None else int(folds), held_out)
    check_dealing(table, *dealing)
    return dealing


def checked_prior(prior: DirichletPrior | None, size: float | None) -> DirichletPrior | None:
    """The prior, given as such or by its equivalent sample size; none for maximum likelihood."""
    if size is None:
        return prior
    if prior is not None:
        raise DataError("an equivalent sample size is a prior; give it or another, not both")
    return EquivalentSampleSize(size)


def checked_classes(
    classes: int | Iterable[int] | None, states: Sequence[Label] | None
) -> list[int]:
    """The numbers of classes to try, after making sure that the names fit one of them."""
    if classes is None:
        classes = TRIED if states is None else len(states)
    given = [classes] if isinstance(classes, (int, np.integer)) else list(classes)
    if not given or any(k != int(k) or k < 1 for k in given):
        raise DataError(f"the number of classes is a whole number from 1, or several; got {given}")
    if states is not None and len(states) not in given:
        raise DataError(
            f"{len(states)} names of classes were given, but no mixture with so many classes is "
            f"to be fitted: {', '.join(str(k) for k in given)}"
        )
    return sorted({int(k) for k in given})


def checked_table(table: Table, score: str) -> Table:
    """The table folded and sorted, after making sure that a mixture can be fitted to it.

    Sorted, so that the order of the rows cannot matter, not even to the starts.
    """
    if score not in SCORES:
        raise DataError(
            f"there is no score {score!r}; choose one of {', '.join(SCORES)}."
            + did_you_mean(score, SCORES)
        )
    if table.total_weight <= 0:
        raise DataError("the weights of all rows are zero; there is nothing to learn from")
    for variable in table.variables:
        if not variable.is_discrete:
            raise DataError(
                f"column {variable.name!r} is continuous; latent classes need discrete columns. "
                "Leave it out or discretise it first, with",
                hint=Hint(
                    "unveil.Discretizer", "--discretize", "the choice for numbers on this page."
                ),
            )
        if table.missing(variable.name)[table.row_weights > 0].all():
            raise DataError(f"column {variable.name!r} has no values at all; leave it out")
    folded = table.folded()
    folded = folded.take(folded.row_weights > 0)
    return folded.take(np.lexsort([folded.column(n) for n in reversed(folded.names)]))
