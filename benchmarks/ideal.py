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
import json
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from common import machine, versions, write_json
from ideal_common import CLASSES, mean_of, split, yeast
from ideal_curved import curved
from ideal_layers import factors, few_rows, layers, number, yeast_layers

from unveil import DAG, Constraints, Table, Variable
from unveil.em.curve_structure import CurveRules, curve_structural_em, fitted_curves
from unveil.em.line_structure import fitted_graph, line_structural_em
from unveil.em.lines import Observed, expected_moments
from unveil.ideal import IdealFamilies, LinearGuide
from unveil.model import Curve, Network, fit, fit_curves
from unveil.score import BIC, CurveFamilies, GaussianFamilies, LogLikelihood
from unveil.search import hill_climbing

MAX_PARENTS = 8
"""No family has more: with 24 rows a fifth of which is held out, more would be read from noise."""


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
    parser.add_argument("--networks", type=int, default=10, help="of curved and factors")
    parser.add_argument("--seed", type=int, default=0, help="the first, of number and factors")
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
                fresh = args.seed and name in ("number", "factors")
                record[f"{name} from seed {args.seed}" if fresh else name] = found
                if args.out:
                    write_json(args.out, record)

            args.keep = keep
            keep(part(args) | {"seconds": time.process_time() - began})


if __name__ == "__main__":
    main()
