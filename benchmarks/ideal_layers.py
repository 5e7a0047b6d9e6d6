"""Two layers: hidden parents of columns that have no arcs of their own (thesis 7.3, Fig. 7.5, 7.6).

These are parts of `ideal.py`: `layers`, `yeast`, `few rows`, `number` and `factors`.
"""

from __future__ import annotations

import argparse
import time
from itertools import product
from typing import Any

import numpy as np
from ideal_common import CLASSES, mean_of, split, yeast
from scipy.optimize import linear_sum_assignment
from scipy.stats import multivariate_normal
from sklearn.decomposition import FactorAnalysis
from sklearn.model_selection import cross_val_score

from unveil.ideal import Layers, Leaves, find_layers
from unveil.statistics.moments import GaussianMoments


def two_layers(
    n: int,
    k: int,
    rows: int,
    seed: int,
    more: float = 0.3,
    weights: tuple[float, float] = (0.5, 1.5),
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, test rows and true arcs of a random two-layer network, in units of the rows.

    Every leaf has one root in turn and `more` further ones on average.
    """
    generator = np.random.default_rng(seed)
    arcs = np.zeros((n, k), bool)
    for i in range(n):
        arcs[i] = generator.random(k) < more / max(k - 1, 1)
        arcs[i, i % k] = True
    strength = generator.uniform(*weights, size=(n, k)) * generator.choice([-1, 1], size=(n, k))
    noise = np.sqrt(generator.uniform(0.3, 1.0, size=n))
    h = generator.normal(size=(rows + 2000, k))
    x = h @ (arcs * strength).T + noise * generator.normal(size=(rows + 2000, n))
    x = (x - x[:rows].mean(axis=0)) / x[:rows].std(axis=0)
    return x[:rows], x[rows:], arcs


def overlap(true: np.ndarray, found: np.ndarray) -> float:
    """The share of children that agree, roots matched as well as they can be."""
    if not found.shape[1]:
        return 0.0
    share = np.array([
        [(t & f).sum() / max((t | f).sum(), 1) for f in found.T > 0] for t in true.T
    ])  # fmt: skip
    pairs = linear_sum_assignment(-share)
    return float(share[pairs].sum() / max(true.shape[1], found.shape[1]))


def leaves_of(values: np.ndarray, max_parents: int | None = None) -> Leaves:
    return Leaves(GaussianMoments.of_rows(values, np.ones(len(values))), max_parents=max_parents)


def log_likelihood(layers: Layers, values: np.ndarray) -> float:
    """Per instance and variable, of standardised rows."""
    return float(row_likelihoods(layers, values).mean())


def row_likelihoods(layers: Layers, values: np.ndarray) -> np.ndarray:
    """Per variable, of every standardised row."""
    covariance = layers.weights @ layers.weights.T + np.diag(layers.variances)
    normal = multivariate_normal(np.zeros(len(covariance)), covariance)
    return np.atleast_1d(normal.logpdf(values)) / values.shape[1]


def factor_analysis(
    values: np.ndarray, test: np.ndarray, most: int
) -> tuple[int, float, np.ndarray]:
    """scikit-learn's, its number of factors by 5-fold cross-validation; test likelihood, by row."""
    scores = []
    for k in range(1, most + 1):
        model_ = FactorAnalysis(k, max_iter=300)
        scores.append(cross_val_score(model_, values, cv=5).mean())
        if len(scores) > 3 and max(scores) > max(scores[-2:]) + 1e-9 and scores[-1] < scores[-2]:
            break
    best = int(np.argmax(scores)) + 1
    scores = FactorAnalysis(best, max_iter=1000).fit(values).score_samples(test) / values.shape[1]
    return best, float(scores.mean()), scores


def number(args: argparse.Namespace) -> dict[str, Any]:
    """How many hidden parents are found: 50 observed, 5 hidden, 500 rows; ten networks each."""
    out: dict[str, Any] = {"first seed": args.seed}
    kinds = {"0.3 further parents": 0.3, "0.8 further parents": 0.8, "pure": 0.0}
    for name, more in kinds.items():
        for label, weights in (("", (0.5, 1.5)), (", weak", (0.2, 0.8))):
            runs = []
            for seed in range(args.seed, args.seed + 10):
                train, test, arcs = two_layers(50, 5, 500, seed, more, weights)
                began = time.process_time()
                found = find_layers(leaves_of(train)).layers
                seconds = time.process_time() - began
                runs.append(
                    {"hidden": found.n_hidden, "overlap": overlap(arcs, found.arcs),
                     "test": log_likelihood(found, test), "seconds": seconds}
                )  # fmt: skip
            exact = sum(r["hidden"] == 5 for r in runs)
            out[name + label] = {"exact": exact, "runs": runs}
            print(name + label, exact, "of 10;", mean_of(runs), flush=True)
    return out


def factors(args: argparse.Namespace) -> dict[str, Any]:
    """Held-out likelihood beside factor analysis with cross-validated factors."""
    out: dict[str, Any] = {"first seed": args.seed}
    for name, n, k, rows, more in (
        ("50 observed, 5 hidden, 500 rows", 50, 5, 500, 0.3),
        ("20 observed, 3 hidden, 200 rows", 20, 3, 200, 0.3),
        ("141 observed, 7 hidden, 200 rows", 141, 7, 200, 0.3),
    ):
        runs = []
        for seed in range(args.seed, args.seed + args.networks):
            train, test, _ = two_layers(n, k, rows, seed, more)
            found = find_layers(leaves_of(train)).layers
            n_factors, peer, _ = factor_analysis(train, test, k + 4)
            runs.append(
                {"hidden": found.n_hidden, "test": log_likelihood(found, test),
                 "factors": n_factors, "factor analysis": peer}
            )  # fmt: skip
        out[name] = {"runs": runs, **mean_of(runs)}
        print(name, mean_of(runs), flush=True)
    return out


def layers(args: argparse.Namespace) -> dict[str, Any]:
    """Fig. 7.5: 7 hidden and 141 observed, growing samples; ideal profiles beside greedy."""
    out: dict[str, Any] = {}
    for rows in (20, 50, 100, 200, 500):
        train, test, arcs = two_layers(141, 7, rows, 1, 0.3)
        for way in ("both", "ideal", "turned", "all"):
            began = time.process_time()
            found = find_layers(leaves_of(train), 15, way, rows=train).layers  # type: ignore[arg-type]
            out[f"{rows} rows, {way}"] = {
                "hidden": found.n_hidden, "overlap": overlap(arcs, found.arcs),
                "train": log_likelihood(found, train), "test": log_likelihood(found, test),
                "seconds": time.process_time() - began,
            }  # fmt: skip
            print(rows, way, out[f"{rows} rows, {way}"], flush=True)
    return out


def yeast_layers(args: argparse.Namespace) -> dict[str, Any]:
    """Fig. 7.6: two layers on yeast, up to 2 and 5 parents; test likelihood over greedy's."""
    out: dict[str, Any] = {}
    genes = yeast(args.data, CLASSES["AA"])
    for label, values in (("AA", genes.T), ("AA Cond", genes)):
        for most in (2, 5):
            runs, paired = [], list[np.ndarray]()
            for train, test in split(values, 5)[: args.folds]:
                a, b = (np.column_stack([t.column(n) for n in t.names]) for t in (train, test))
                own = leaves_of(a, most)
                rows = {
                    way: row_likelihoods(find_layers(own, 20, way, rows=a).layers, b)  # type: ignore[arg-type]
                    for way in ("all", "ideal", "both")
                }
                rows["both, by score alone"] = row_likelihoods(find_layers(own, 20).layers, b)
                rows["factor analysis"] = factor_analysis(a, b, 12)[2]
                runs.append({way: float(x.mean()) for way, x in rows.items()})
                paired.append(rows["both"] - rows["factor analysis"])
            over = np.concatenate(paired)
            out[f"{label}, up to {most} parents"] = mean_of(runs) | {
                "both over factor analysis": float(over.mean()),
                "its standard error": float(over.std(ddof=1) / np.sqrt(len(over))),
                "folds": len(runs),
            }
            args.keep(out)
            print(label, most, out[f"{label}, up to {most} parents"], flush=True)
    return out


def few_rows(args: argparse.Namespace) -> dict[str, Any]:
    """Fewer rows than columns: the number of roots by score alone, and with rows left out.

    Five roots above all columns, each weaker than the last, four above half of them, or one; rows
    are normal, or have the tails of t with 4 degrees. Two tables of each kind and size.
    """
    out: dict[str, Any] = {}
    for tails in (None, 4):
        for kind, k in (("fading", 5), ("half", 4), ("one", 1)):
            runs = []
            for n, rows, seed in product((60, 100), (15, 20, 30), (20, 21)):
                train, test = _few(n, rows, seed, kind, k, tails)
                own = leaves_of(train)
                by_score, asked = find_layers(own).layers, find_layers(own, rows=train).layers
                n_factors, peer, _ = factor_analysis(train, test, 8)
                runs.append(
                    {"roots by score": by_score.n_hidden, "roots": asked.n_hidden,
                     "by score": log_likelihood(by_score, test),
                     "test": log_likelihood(asked, test),
                     "factors": n_factors, "factor analysis": peer}
                )  # fmt: skip
            label = f"{kind}, {'normal' if tails is None else f't with {tails} degrees'}"
            out[label] = {"runs": runs, **mean_of(runs)}
            print(label, mean_of(runs), flush=True)
    return out


def _few(
    n: int, rows: int, seed: int, kind: str, k: int, tails: int | None
) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng([9, seed, n, rows, *map(ord, kind)])
    weights = random.normal(size=(n, k))
    weights *= 0.8 * (random.random((n, k)) < 0.5) if kind == "half" else 1.2 * 0.6 ** np.arange(k)
    noise = np.sqrt(random.uniform(0.3, 1.0, size=n))
    x = random.normal(size=(rows + 2000, k)) @ weights.T
    x += noise * random.normal(size=x.shape)
    if tails is not None:
        x /= np.sqrt(random.chisquare(tails, size=(len(x), 1)) / tails)
    x = (x - x[:rows].mean(axis=0)) / x[:rows].std(axis=0)
    return x[:rows], x[rows:]
