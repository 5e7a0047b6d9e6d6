"""`learn_numbers`: networks over continuous columns with curves, shortlists or gaps."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from unveil.em.curve_structure import (
    SHORT,
    CurveRules,
    curve_structural_em,
    expected_families,
    fitted_curves,
)
from unveil.em.line_structure import fitted_graph, line_structural_em
from unveil.em.lines import Observed
from unveil.em.mixed_structure import mixed_structural_em
from unveil.errors import DataError, Hint, UnveilWarning
from unveil.graph.dag import DAG
from unveil.ideal.families import IdealFamilies
from unveil.model.curve_network import fit_curves
from unveil.model.curves import Curve, curve_named
from unveil.model.fit import fit
from unveil.model.gaussian_cpd import GaussianPrior
from unveil.model.prior import DirichletPrior
from unveil.progress import Progress, Ticker
from unveil.score.curve_families import CurveFamilies
from unveil.score.gaussian_families import GaussianFamilies
from unveil.score.protocol import Families
from unveil.score.structure import StructurePrior
from unveil.search.constraints import Constraints
from unveil.search.learn import SEARCHES, Learned, in_order
from unveil.search.result import SearchResult
from unveil.seeds import seed_or_fresh
from unveil.statistics.redundant import redundant_with_gaps
from unveil.table.core import Table

__all__ = ["learn_mixed_with_gaps", "learn_numbers", "learn_with_gaps", "needs_ideal"]

ORDINARY = (None, "linear")


def needs_ideal(family: str | Curve | None, ideal: int | None) -> bool:
    """Whether learning asks for curves or for shortlists."""
    return family not in ORDINARY or ideal is not None


def learn_numbers(
    table: Table,
    score: Any,
    search: str,
    family: str | Curve | None = None,
    ideal: int | None = None,
    *,
    constraints: Constraints | None = None,
    structure_prior: StructurePrior | None = None,
    start: DAG | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
    time_limit: float | None = None,
    **options: Any,
) -> Learned:
    """The network learned from continuous columns, with curves, shortlists or both.

    `family` names the curves (`unveil.model.curves.FAMILIES`); with `ideal`, only so many additions
    per family are scored. Curves of rows with gaps are learned by structural EM whose score is a
    bound (`curve_structural_em`). The rest is as in `unveil.learn`.
    """
    curve = _checked(table, family, score)
    if curve is not None and not table.is_complete:
        return _curves_with_gaps(
            table, score, search, curve, ideal, constraints, structure_prior, start, seed,
            Ticker.of(progress, time_limit), options,
        )  # fmt: skip
    table = _varying(table, lines=curve is None)
    rows = table.select(sorted(table.names))
    scores: Families
    if curve is None:
        scores = GaussianFamilies(rows, score, structure_prior)
    else:
        scores = CurveFamilies(rows, score, curve, structure_prior)
    seen = scores if ideal is None else IdealFamilies(scores, ideal)
    given = {
        "start": start, "constraints": constraints, "seed": seed, "progress": progress,
        "time_limit": time_limit,
    }  # fmt: skip
    result = SEARCHES[search](seen, **{k: v for k, v in given.items() if v is not None}, **options)
    dag = in_order(result.dag, table.names)
    network = fit(dag, table, GaussianPrior()) if curve is None else fit_curves(dag, table, curve)  # type: ignore[arg-type]
    return Learned(network, replace(result, dag=dag), seen)  # type: ignore[arg-type]


def _curves_with_gaps(
    table: Table, score: Any, search: str, curve: Curve, ideal: int | None,
    constraints: Constraints | None, structure_prior: StructurePrior | None, start: DAG | None,
    seed: int | None, ticker: Ticker, options: dict[str, Any],
) -> Learned:  # fmt: skip
    table = _varying(table)
    rules = CurveRules(curve, score, structure_prior, constraints)
    first = fitted_curves(
        table, start or DAG(table.names), rules, max_iterations=SHORT, ticker=ticker
    )
    found = curve_structural_em(
        table, first, rules, partial(SEARCHES[search], **options),
        (lambda f: f) if ideal is None else (lambda f: IdealFamilies(f, ideal)), ticker=ticker,
    )  # fmt: skip
    scores = expected_families(found, table, rules)
    name = f"{score.name} of {curve.link} curves (a bound)"
    result = SearchResult(
        found.dag, found.score, name, "structural EM", found.trace, found.stopped, seed,
        ticker.elapsed, found.n_scored,
    )  # fmt: skip
    return Learned(found.network, result, scores)  # type: ignore[arg-type]


def learn_with_gaps(
    table: Table,
    score: Any,
    ideal: int | None = None,
    *,
    constraints: Constraints | None = None,
    start: DAG | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
    time_limit: float | None = None,
) -> Learned:
    """The linear Gaussian network of continuous columns with gaps, by exact structural EM (7.4)."""
    if not hasattr(score, "cost"):
        raise DataError(
            f"with missing cells, continuous columns are scored by bic, aic, mdl or likelihood, "
            f"not by {score.name}"
        )
    ticker = Ticker.of(progress, time_limit)
    table = _varying(table)
    observed = Observed.of(table)
    shortlist: Callable[[Families], Families] = (
        (lambda families: families) if ideal is None else (lambda f: IdealFamilies(f, ideal))
    )
    first = fitted_graph(observed, start or DAG(table.names), score=score, ticker=ticker.part())
    found = line_structural_em(observed, first, score, constraints, shortlist, 30, ticker)
    known = {v.name: v for v in table.variables}
    dag = in_order(found.dag, table.names)
    scores = GaussianFamilies.of_moments(found.lines.names, found.moments(observed), score)
    result = SearchResult(
        dag, found.score, score.name, "structural EM", found.trace, found.stopped, seed,
        ticker.elapsed, scores.n_scored,
    )  # fmt: skip
    return Learned(found.lines.network(known, dag), result, scores)


def learn_mixed_with_gaps(
    table: Table,
    score: Any,
    *,
    constraints: Constraints | None = None,
    structure_prior: StructurePrior | None = None,
    start: DAG | None = None,
    prior: DirichletPrior | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
    time_limit: float | None = None,
) -> Learned:
    """The network of discrete and continuous columns with gaps (`mixed_structural_em`)."""
    ticker = Ticker.of(progress, time_limit)
    table = _varying(table)
    seed = seed_or_fresh(seed)
    found = mixed_structural_em(
        table, score, constraints, structure_prior, start, prior, seed=seed, progress=ticker
    )
    result = SearchResult(
        found.network.dag, found.score, score.name, "structural EM", found.trace, found.stopped,
        seed, ticker.elapsed, found.scores.n_scored,
    )  # fmt: skip
    return Learned(found.network, result, found.scores)


def _varying(table: Table, lines: bool = True) -> Table:
    """The table without continuous columns that say nothing of their own; each is told.

    Without `lines` only those of one value: a curve never follows another column exactly.
    """
    for v in table.variables:
        if table.n_rows and table.missing(v.name).all():
            raise DataError(f"column {v.name!r} has no values; leave it out")
    away = [r for r in redundant_with_gaps(table) if lines or not r.of]
    if not away:
        return table
    kept = [n for n in table.names if n not in {r.name for r in away}]
    if not kept:
        raise DataError(f"no column varies, so there is nothing to learn: {away[0]}")
    for one in away:
        without = f" (without {one.of[0]!r} it would stay)" if one.of else ""
        warnings.warn(UnveilWarning(f"{one}; it is left out{without}"), stacklevel=4)
    return table.select(kept)


def _checked(table: Table, family: str | Curve | None, score: Any) -> Curve | None:
    """The curve, after checking that table and score suit it."""
    curve = curve_named("linear" if family is None else family)
    discrete = [v.name for v in table.variables if v.is_discrete]
    if discrete:
        raise DataError(
            f"curves and ideal parents are for continuous columns; {discrete[0]!r} is discrete. "
            "Leave it out, or learn without them."
        )
    gaps = not table.is_complete
    if curve is not None and gaps and (curve.positive or curve.link == "reaction"):
        raise DataError(
            f"{table.n_missing:,} cells are missing; rows with gaps are for sigmoid and hyperbolic "
            "curves with additive noise.",
            hint=Hint(
                "Fill them in by a linear network first: learn(table).network.most_probable(table)",
                "Fill them in by a linear network first (unveil learn, then unveil impute).",
            ),
        )
    if curve is not None and not hasattr(score, "cost"):
        raise DataError(f"curves are scored by bic, aic, mdl or likelihood, not by {score.name}")
    return curve
