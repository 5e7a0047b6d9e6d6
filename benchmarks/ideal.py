"""The figures of thesis chapter 7 on our copies of its data: ideal parents, hidden parents.

    python benchmarks/ideal.py --data FOLDER --out FILE.json --part all

Parts: `table` (Table 7.1: linear and sigmoid, genes and conditions as variables), `gaps` (the same
with missing values, linear), `curved gaps` (sigmoid), `bounds` (Fig. 7.1: C1 and C2 beside the true
gain), `growing` (Fig. 7.3: 44 variables, growing samples), `shortlists` (Fig. 7.4: K against
quality and speed), `layers` (Fig. 7.5: 7 hidden, 141 observed), `yeast` (Fig. 7.6), `few rows`
(fewer rows than columns, normal and heavy-tailed), `number` (how many hidden parents are found in
synthetic two-layer networks), `factors` (against factor analysis) and `curved` (how many hidden
parents are found behind sigmoids, and in networks of sigmoids without any). Times are CPU seconds
on one thread. Results of parts that were not run stay in the JSON file.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from common import machine, versions, write_json
from scipy.optimize import linear_sum_assignment
from scipy.stats import multivariate_normal
from sklearn.decomposition import FactorAnalysis
from sklearn.model_selection import cross_val_score

from unveil import DAG, Constraints, Table, Variable
from unveil.em.curve_structure import CurveRules, curve_structural_em, fitted_curves
from unveil.em.line_structure import fitted_graph, line_structural_em
from unveil.em.lines import Observed, expected_moments
from unveil.ideal import IdealFamilies, Layers, Leaves, LinearGuide, find_layers
from unveil.model import Curve, Network, fit, fit_curves
from unveil.score import BIC, CurveFamilies, GaussianFamilies, LogLikelihood
from unveil.search import hill_climbing
from unveil.statistics.moments import GaussianMoments

CLASSES = {"AA": "01/01", "Met": "01/"}
MAX_PARENTS = 8
"""No family has more: with 24 rows a fifth of which is held out, more would be read from noise."""


def yeast(data: Path, prefix: str, complete: bool = True) -> np.ndarray:
    """Genes of a functional class by conditions; genes with gaps left out, or their cells NaN."""
    with gzip.open(data / "expression" / "yeast_gasch1.csv.gz", "rt") as file:
        rows = list(csv.reader(file))[1:]
    own = [r for r in rows if any(c.startswith(prefix) for c in r[-1].split("@"))]
    cells = np.array([[float(c) if c else np.nan for c in r[1:-1]] for r in own])
    return cells[~np.isnan(cells).any(axis=1)] if complete else cells


def split(values: np.ndarray, folds: int, seed: int = 1) -> list[tuple[Table, Table]]:
    """Train and test tables of rows dealt to folds, in units of the training rows."""
    deal = np.random.default_rng(seed).permutation(len(values)) % folds
    names = [Variable(f"v{i:03d}") for i in range(values.shape[1])]
    out = []
    for fold in range(folds):
        train, test = values[deal != fold], values[deal == fold]
        mean, spread = np.nanmean(train, axis=0), np.nanstd(train, axis=0)
        pair = [Table(names, list(((part - mean) / spread).T)) for part in (train, test)]
        out.append((pair[0], pair[1]))
    return out


def families(family: str, table: Table) -> Any:
    if family == "linear":
        return GaussianFamilies(table, BIC())
    return CurveFamilies(table, BIC(), Curve(family))


def climbed(scores: Any, **options: Any) -> tuple[DAG, float, int]:
    """The graph, CPU seconds and the number of moves."""
    began = time.process_time()
    found = hill_climbing(scores, constraints=Constraints(max_parents=MAX_PARENTS), **options)
    return found.dag, time.process_time() - began, len(found.trace) - 1


def model(family: str, dag: DAG, table: Table) -> Network:
    return fit(dag, table) if family == "linear" else fit_curves(dag, table, Curve(family))


def per_cell(network: Network, table: Table) -> float:
    """Log-likelihood per instance and variable, in nats."""
    return float(network.log_likelihood(table)) / table.n_rows / table.n_columns


def compare(family: str, train: Table, test: Table, ks: Sequence[int]) -> dict[str, Any]:
    """Greedy search beside ideal parents with every K; both may replace parents (7.2)."""
    full = families(family, train)
    dag, seconds, moves = climbed(full, replace=True)
    network = model(family, dag, train)
    own = per_cell(network, train), per_cell(network, test)
    out: dict[str, Any] = {
        "greedy": {
            "seconds": seconds, "arcs": dag.n_arcs, "moves": moves, "scored": full.n_scored,
            "train": own[0], "test": own[1], "score": full.total(dag),
        }
    }  # fmt: skip
    for k in ks:
        base = families(family, train)
        dag, mine, steps = climbed(IdealFamilies(base, k, replace=True), replace=True)
        network = model(family, dag, train)
        out[f"K={k}"] = {
            "seconds": mine, "speedup": seconds / mine, "scored": base.n_scored,
            "evaluated": base.n_scored / full.n_scored, "arcs": dag.n_arcs,
            "edges": dag.n_arcs / max(out["greedy"]["arcs"], 1), "moves": steps / max(moves, 1),
            "train": per_cell(network, train) - own[0], "test": per_cell(network, test) - own[1],
            "score": base.total(dag) - out["greedy"]["score"],
        }  # fmt: skip
    return out


def mean_of(runs: Sequence[Any]) -> Any:
    """The mean of records of numbers, field by field."""
    if isinstance(runs[0], dict):
        return {key: mean_of([r[key] for r in runs]) for key in runs[0]}
    return float(np.mean(runs))


def table(args: argparse.Namespace) -> dict[str, Any]:
    """Table 7.1, complete data; 44 genes are as many as the thesis has for AA."""
    out = dict(args.before)
    few = yeast(args.data, CLASSES["Met"])[:44]
    tables = {
        label: values
        for name, prefix in CLASSES.items()
        for label, values in (
            (name, yeast(args.data, prefix).T), (f"{name} Cond", yeast(args.data, prefix)),
        )
    } | {"44 genes": few.T, "44 genes Cond": few}  # fmt: skip
    for family, (label, values) in product(("linear", "sigmoid"), tables.items()):
        if args.only and f"{family} {label}" not in args.only:
            continue
        _warm(family)
        runs = [compare(family, *pair, (2, 5)) for pair in split(values, 5)[: args.folds]]
        found = mean_of(runs)
        found |= {
            "variables": values.shape[1], "instances": values.shape[0], "folds": args.folds,
        }  # fmt: skip
        out[f"{family} {label}"] = found
        args.keep(out)
        print(family, label, _short(found), flush=True)
    return out


def gaps(args: argparse.Namespace) -> dict[str, Any]:
    """Table 7.1 with missing values, linear: structural EM, with shortlists and without."""
    out: dict[str, Any] = {}
    genes = yeast(args.data, CLASSES["AA"], complete=False)
    rules = Constraints(max_parents=MAX_PARENTS)
    for label, values in (("AA", genes.T), ("AA Cond", genes)):
        runs = []
        for train, test in split(values, 5)[: args.folds]:
            observed, held_out = Observed.of(train), Observed.of(test)
            first = fitted_graph(observed, DAG(train.names), max_iterations=20)
            found: dict[str, Any] = {}
            for k in (None, 2, 5):
                began = time.process_time()
                few = (lambda f: f) if k is None else (lambda f, k=k: IdealFamilies(f, k))
                graph = line_structural_em(observed, first, None, rules, few, 5)
                seconds = time.process_time() - began
                cells = [int((~np.isnan(o.values)).sum()) for o in (observed, held_out)]
                likely = [expected_moments(graph.lines, o)[0] for o in (observed, held_out)]
                found["greedy" if k is None else f"K={k}"] = {
                    "seconds": seconds, "arcs": graph.dag.n_arcs, "rounds": len(graph.trace),
                    "train": likely[0] / cells[0], "test": likely[1] / cells[1],
                }  # fmt: skip
            runs.append(found)
        out[label] = mean_of(runs) | {"variables": values.shape[1], "instances": values.shape[0]}
        print("gaps", label, out[label], flush=True)
    return out


def curved_gaps(args: argparse.Namespace) -> dict[str, Any]:
    """Table 7.1 with missing values, sigmoid: structural EM, whose likelihoods are bounds.

    44 genes of amino-acid metabolism with their gaps, and 44 conditions, as variables.
    """
    out: dict[str, Any] = dict(args.before)
    genes = yeast(args.data, CLASSES["AA"], complete=False)
    rules = CurveRules(Curve("sigmoid"), BIC(), None, Constraints(max_parents=MAX_PARENTS))
    search = partial(hill_climbing, replace=True)
    small = split(genes[:5].T, 5)[0][0]  # kernels are compiled before they are timed
    bare = fitted_curves(small, DAG(small.names), rules, max_iterations=2)
    for few in (_all, partial(IdealFamilies, k=2, replace=True)):
        curve_structural_em(small, bare, rules, search, few, 1)
    for label, values in (("AA", genes[:44].T), ("AA Cond", genes[:, :44])):
        runs = []
        for train, test in split(values, 5)[: args.folds]:
            first = fitted_curves(train, DAG(train.names), rules, max_iterations=20)
            cells = [t.n_rows * t.n_columns - t.n_missing for t in (train, test)]
            found: dict[str, Any] = {}
            for k in args.k or (2, 5, None):
                began = time.process_time()
                few = _all if k is None else partial(IdealFamilies, k=k, replace=True)
                graph = curve_structural_em(train, first, rules, search, few, 5)
                seconds = time.process_time() - began
                likely = [float(graph.network.log_likelihood(t)) for t in (train, test)]
                found["greedy" if k is None else f"K={k}"] = {
                    "seconds": seconds, "arcs": graph.dag.n_arcs, "rounds": len(graph.trace),
                    "scored": graph.n_scored, "train": likely[0] / cells[0],
                    "test": likely[1] / cells[1],
                }  # fmt: skip
                print("gaps, sigmoid", label, k, list(found.values())[-1], flush=True)
            runs.append(found)
            out[label] = out.get(label, {}) | mean_of(runs) | {
                "variables": values.shape[1], "instances": values.shape[0], "folds": len(runs),
                "missing": float(np.isnan(values).mean()),
            }  # fmt: skip
            args.keep(out)
    return out


def _all(families_: Any) -> Any:
    return families_


def _warm(family: str) -> None:
    """Kernels compiled before they are timed."""
    generator = np.random.default_rng(1)
    small = Table([Variable(n) for n in "abc"], list(generator.normal(size=(3, 60))))
    compare(family, small, small, (1,))


def _short(found: dict[str, Any]) -> str:
    parts = [f"greedy {found['greedy']['seconds']:.2f} s test {found['greedy']['test']:.3f}"]
    for k in (2, 5):
        r = found[f"K={k}"]
        parts.append(
            f"K={k}: train {r['train']:+.3f} test {r['test']:+.3f} edges {r['edges']:.0%} "
            f"ev {r['evaluated']:.1%} speed-up {r['speedup']:.1f}"
        )
    return "; ".join(parts)


def bounds(args: argparse.Namespace) -> dict[str, Any]:
    """Fig. 7.1: C1 and C2 beside the true gain, for every addition on the way of a search."""
    pair = split(yeast(args.data, CLASSES["AA"]).T, 5)[0][0]
    scores = GaussianFamilies(pair, LogLikelihood())
    judged = GaussianFamilies(pair, BIC())
    found = hill_climbing(judged).dag
    guides = {m: LinearGuide(scores.moments, m) for m in ("c1", "c2")}
    true, bound = [], {"c1": [], "c2": []}  # type: ignore[var-annotated]
    place = {name: i for i, name in enumerate(scores.names)}
    for child in scores.names:
        parents = sorted(place[p] for p in found.parents(child))
        for size in range(len(parents) + 1):
            own = tuple(parents[:size])
            gains = scores.toggles(place[child], own)
            inside = [v for v in range(len(place)) if v not in (*own, place[child])]
            true += gains[inside].tolist()
            for measure, guide in guides.items():
                bound[measure] += guide.gains(place[child], own)[inside].tolist()
    gains_, out = np.array(true), {"additions": len(true)}
    for measure, values in bound.items():
        low = np.array(values)
        out[measure] = {
            "never above the true gain": bool((low <= gains_ + 1e-7).all()),
            "share of the true gain": float(low.sum() / gains_.sum()),
            "correlation": float(np.corrcoef(low, gains_)[0, 1]),
        }  # type: ignore[assignment]
    print(json.dumps(out))
    return out


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
    out: dict[str, Any] = {}
    kinds = {"0.3 further parents": 0.3, "0.8 further parents": 0.8, "pure": 0.0}
    for name, more in kinds.items():
        for label, weights in (("", (0.5, 1.5)), (", weak", (0.2, 0.8))):
            runs = []
            for seed in range(10):
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
    out: dict[str, Any] = {}
    for name, n, k, rows, more in (
        ("50 observed, 5 hidden, 500 rows", 50, 5, 500, 0.3),
        ("20 observed, 3 hidden, 200 rows", 20, 3, 200, 0.3),
        ("141 observed, 7 hidden, 200 rows", 141, 7, 200, 0.3),
    ):
        runs = []
        for seed in range(5):
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


def growing(args: argparse.Namespace) -> dict[str, Any]:
    """Fig. 7.3: samples of a network of 44 genes; arcs and likelihoods as samples grow."""
    genes = yeast(args.data, CLASSES["Met"])[:44]
    whole = split(genes.T, 5)[0][0]
    out: dict[str, Any] = {}
    for family in ("linear", "sigmoid"):
        _warm(family)
        base = families(family, whole)
        truth = model(family, climbed(IdealFamilies(base, 5))[0], whole)
        true = {frozenset(arc) for arc in truth.dag.arcs}
        test = truth.sample(1000, seed=99)
        for rows in (100, 300, 1000) if family == "linear" else (100, 300):
            train = truth.sample(rows, seed=rows)
            for k in (None, 2, 5):
                scores = families(family, train)
                dag, seconds, _ = climbed(scores if k is None else IdealFamilies(scores, k))
                network = model(family, dag, train)
                own = {frozenset(arc) for arc in dag.arcs}
                out[f"{family}, {rows} rows, {'greedy' if k is None else f'K={k}'}"] = {
                    "train": per_cell(network, train), "test": per_cell(network, test),
                    "true arcs found": len(own & true) / len(true),
                    "arcs": len(own) / len(true), "seconds": seconds,
                }  # fmt: skip
                print(family, rows, k, list(out.values())[-1], flush=True)
    return out


def shortlists(args: argparse.Namespace) -> dict[str, Any]:
    """Fig. 7.4: K against quality and speed, genes of amino-acid metabolism and conditions."""
    out: dict[str, Any] = {}
    genes = yeast(args.data, CLASSES["AA"])
    for family in ("linear", "sigmoid"):
        _warm(family)
        runs = [
            compare(family, *pair, (1, 2, 3, 5, 8, 12)) for pair in split(genes.T, 5)[: args.folds]
        ]
        out[family] = mean_of(runs)
        print(family, {k: (round(v["test"], 3), round(v.get("speedup", 1), 1))
                       for k, v in out[family].items()}, flush=True)  # fmt: skip
    return out


def sigmoids(
    seed: int, n: int, k: int, rows: int, more: float = 0.3
) -> tuple[Table, list[set[str]]]:
    """Sigmoids of k hidden variables, a share `more` of them of two; and the children of each."""
    random = np.random.default_rng(seed)
    h = random.normal(size=(rows, k))
    columns, children = [], [set[str]() for _ in range(k)]
    for i in range(n):
        parents = [i % k]
        if k > 1 and random.random() < more:
            parents.append(int(random.choice([j for j in range(k) if j != i % k])))
        signed = random.uniform(1, 4, len(parents)) * random.choice([-1, 1], len(parents))
        x = 1 / (1 + np.exp(-random.normal(0, 0.7) - h[:, parents] @ signed))
        columns.append(x / x.std() + 0.3 * random.normal(size=rows))
        for parent in parents:
            children[parent].add(f"v{i:03d}")
    return Table([Variable(f"v{i:03d}") for i in range(n)], columns), children


def chained(seed: int, n: int, rows: int) -> Table:
    """Sigmoids of up to three earlier columns, nothing hidden."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(n, rows))
    for i in range(2, n):
        parents = random.choice(i, size=min(i, int(random.integers(1, 4))), replace=False)
        weights = random.uniform(0.8, 2, len(parents)) * random.choice([-1, 1], len(parents))
        s = sum(w * x[p] / x[p].std() for w, p in zip(weights, parents, strict=True))
        x[i] = 2 / (1 + np.exp(-s)) + 0.3 * random.normal(size=rows)
    return Table([Variable(f"v{i:03d}") for i in range(n)], list(x))


def curved(args: argparse.Namespace) -> dict[str, Any]:
    """How many hidden parents are found behind sigmoids, by curves and by lines."""
    from unveil.discovery.continuous import NumberSettings
    from unveil.discovery.continuous.curved import curve_kind, find_curved_parents

    settings, runs = NumberSettings(family="sigmoid"), list[dict[str, Any]]()
    for seed in range(101, 101 + args.networks):
        for k in (2, 0):
            rows, truth = sigmoids(seed, 12, k, 300) if k else (chained(seed, 10, 300), [])
            began = time.process_time()
            kind = curve_kind(rows, settings, Curve("sigmoid"))
            found = find_curved_parents(kind, Observed.of(rows))
            own = [{*found.graph.dag.children(h)} for h in found.graph.hidden]
            lines = found.lines
            assert lines is not None
            runs.append(
                {
                    "seed": seed, "hidden": k, "found": len(own),
                    "same children": sorted(map(sorted, own)) == sorted(map(sorted, truth)),
                    "by lines": len(lines.graph.hidden),
                    "gain": found.graph.score - found.baseline.score,
                    "gain over lines": found.graph.score - lines.graph.score,
                    "seconds": time.process_time() - began,
                }
            )  # fmt: skip
            print(runs[-1], flush=True)
    told: dict[str, Any] = {"runs": runs}
    for k in (2, 0):
        own_runs = [r for r in runs if r["hidden"] == k]
        told[f"{k} hidden"] = {
            "networks": len(own_runs),
            "exact": sum(r["found"] == k for r in own_runs),
            "exact by lines": sum(r["by lines"] == k for r in own_runs),
            "same children": sum(r["same children"] for r in own_runs),
        }
    return told


PARTS: dict[str, Callable[[argparse.Namespace], dict[str, Any]]] = {
    "table": table,
    "gaps": gaps,
    "curved gaps": curved_gaps,
    "bounds": bounds,
    "growing": growing,
    "shortlists": shortlists,
    "layers": layers,
    "yeast": yeast_layers,
    "few rows": few_rows,
    "number": number,
    "factors": factors,
    "curved": curved,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, help="folder with expression/")
    parser.add_argument("--out", type=Path, help="JSON file for the numbers")
    parser.add_argument("--part", choices=[*PARTS, "all"], default="all")
    parser.add_argument("--folds", type=int, default=5, help="how many folds are run")
    parser.add_argument("--networks", type=int, default=10, help="of the part curved")
    parser.add_argument("--k", nargs="*", type=int, help="of the part 'curved gaps': no others")
    parser.add_argument("--only", nargs="*", help="lines of the part table, as 'sigmoid AA'")
    args = parser.parse_args()
    record: dict[str, Any] = {}
    if args.out and args.out.exists():
        record = json.loads(args.out.read_text())
    record |= {
        "versions": versions(["numpy", "scipy", "numba", "scikit-learn", "unveil"]),
        "machine": machine(),
    }
    for name, part in PARTS.items():
        if args.part in (name, "all"):
            began, args.before = time.process_time(), record.get(name, {})

            def keep(found: dict[str, Any], name: str = name) -> None:
                record[name] = found
                if args.out:
                    write_json(args.out, record)

            args.keep = keep
            keep(part(args) | {"seconds": time.process_time() - began})


if __name__ == "__main__":
    main()
