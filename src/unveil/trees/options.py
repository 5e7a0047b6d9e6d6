"""The arguments that all models of this room share: named once, shown by every call."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Sequence
from typing import Any, ParamSpec, TypedDict, TypeVar

from unveil.model.prior import DirichletPrior
from unveil.progress import Progress
from unveil.table.door import Data, Weights
from unveil.trees.door import Work, checked_work
from unveil.trees.fit import TreeSettings, checked_settings

__all__ = ["TreeOptions", "checked_options", "takes_options"]

P = ParamSpec("P")
R = TypeVar("R")
EPOCHS, MANY_ROWS = 20, 2000
"""With so many rows or more, EM goes over them in parts first, so often."""


class TreeOptions(TypedDict, total=False):
    """See `hidden_chow_liu`."""

    validation: Data | float | None
    prior: DirichletPrior | None
    equivalent_sample_size: float | None
    n_starts: int
    max_iterations: int
    tolerance: float
    epochs: int | None
    batch_size: int
    patience: int
    seed: int | None
    progress: Progress | None
    time_limit: float | None
    weights: Weights
    drop: Sequence[str] | str
    discretize: str | None
    n_bins: int
    keep: Collection[str]


def checked_options(
    data: Data,
    *,
    validation: Data | float | None = None,
    prior: DirichletPrior | None = None,
    equivalent_sample_size: float | None = None,
    n_starts: int = 1,
    max_iterations: int = 500,
    tolerance: float = 1e-7,
    epochs: int | None = None,
    batch_size: int = 200,
    patience: int = 10,
    seed: int | None = None,
    progress: Progress | None = None,
    time_limit: float | None = None,
    weights: Weights = None,
    drop: Sequence[str] | str = (),
    discretize: str | None = None,
    n_bins: int = 3,
    keep: Collection[str] = (),
) -> tuple[Work, TreeSettings]:
    """The table, what goes with it, and how EM is to go about it."""
    work = checked_work(
        data, validation, prior, equivalent_sample_size, seed, progress, time_limit, weights, drop,
        discretize, n_bins, keep,
    )  # fmt: skip
    if epochs is None:
        epochs = EPOCHS if work.table.n_rows >= MANY_ROWS else 0
    settings = TreeSettings(n_starts, max_iterations, tolerance, epochs, batch_size, patience)
    return work, checked_settings(settings)


def takes_options(call: Callable[P, R]) -> Callable[P, R]:
    """The same call, whose signature names the shared arguments one by one."""
    own = inspect.signature(call)
    shared = list(inspect.signature(checked_options).parameters.values())[1:]
    named = [p for p in own.parameters.values() if p.kind is not p.VAR_KEYWORD]
    told: Any = call
    told.__signature__ = own.replace(parameters=[*named, *shared])
    return call
