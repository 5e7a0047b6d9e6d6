"""Hidden parents behind sigmoids, and networks of sigmoids without any: a part of `ideal.py`."""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from unveil import Table, Variable
from unveil.em.lines import Observed
from unveil.model import Curve


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
