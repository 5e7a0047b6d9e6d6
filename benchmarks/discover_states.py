"""Numbers of states found by agglomeration (thesis 5.4). Parts of `discover.py`.

`cardinality`: the table of 5.4 with its EM comparison, Fig. 5.3 and 5.4; hours. `states`: the same
table as the thesis counts it, Fig. 5.1 and 5.2; minutes.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np
from common import clocked, markdown_table, shown

from unveil import DAG, Network, Table, TableCPD, Variable, datasets
from unveil.em import cheeseman_stutz, fit_em, structural_em
from unveil.evaluate import log_loss
from unveil.hidden import agglomerate_several, agglomerate_states, choose_cardinality
from unveil.hidden.cardinality import completed_fit, local_graph
from unveil.model.prior import EquivalentSampleSize
from unveil.score import BDeu

__all__ = ["cardinality", "states"]

PRIOR = EquivalentSampleSize(1.0)
TEST_ROWS = 10_000


def cardinality(arguments: argparse.Namespace) -> dict[str, Any]:
    """All of section 5.4 that is synthetic."""
    n_rows = 2000 if arguments.quick else 10_000
    sizes = [250, 1000] if arguments.quick else [250, 500, 1000, 2000, 5000, 10_000]
    return {
        "table": cardinality_table(n_rows, arguments.seed, sweep=not arguments.quick),
        "sizes": cardinality_by_size(sizes, arguments.seed),
        "several": several_hidden(2000 if arguments.quick else 5000, arguments.seed),
    }


def states(arguments: argparse.Namespace) -> dict[str, Any]:
    """Numbers of states as the thesis counts them, Fig. 5.1 and Fig. 5.2: minutes, not hours."""
    n_rows = 2000 if arguments.quick else 10_000
    return {
        "kinds": cardinality_kinds(n_rows, arguments.seed),
        "merges": merges_of("HYPOVOLEMIA", 1000, arguments.seed),
        "curves": score_curves("STROKEVOLUME", n_rows, arguments.seed),
    }


def inner_variables(network: Network, least: int = 3) -> list[str]:
    """Variables that are no leaf and have at least `least` others in their blanket (5.4)."""
    dag = network.dag
    return [n for n in dag.nodes if dag.children(n) and len(dag.markov_blanket(n)) >= least]


KINDS = ("exact", "one less", "one more", "collapsed", "other")


def cardinality_kinds(n_rows: int, seed: int) -> list[dict[str, Any]]:
    """The numbers of states as 5.4 counts them, with and without refinement by EM.

    ALARM has 21 variables that are no leaf and have three others or more in their blanket; with two
    or more it has 24, the number of the thesis.
    """
    alarm = datasets.network("alarm")
    rows = alarm.sample(n_rows, seed=seed)
    found = []
    for least in (3, 2):
        counts = {way: dict.fromkeys(KINDS, 0) for way in ("refined", "completed data")}
        for name in inner_variables(alarm, least):
            chosen = choose_cardinality(rows.without(name), alarm.dag, name)
            true = alarm.variable(name).n_states
            counts["refined"][kind_of(chosen.n_states, true)] += 1
            counts["completed data"][kind_of(chosen.agglomeration.best, true)] += 1
        n = len(inner_variables(alarm, least))
        for way, of in counts.items():
            found.append({"blanket": least, "variables": n, "way": way, **of})
    print(f"\nCardinality, ALARM, {n_rows} rows, as the thesis counts\n")
    head = ["way", "blanket at least", "variables", *KINDS]
    lines = [[x["way"], str(x["blanket"]), str(x["variables"]), *(str(x[k]) for k in KINDS)]
             for x in found]  # fmt: skip
    print(markdown_table(head, lines))
    return found


def kind_of(found: int, true: int) -> str:
    """How a number of states compares with the true one."""
    if found == 1 < true:
        return "collapsed"
    return {0: "exact", -1: "one less", 1: "one more"}.get(found - true, "other")


def merges_of(name: str, n_rows: int, seed: int) -> dict[str, Any]:
    """The agglomeration of Fig. 5.1: initial states, merges in their order, change of score."""
    alarm = datasets.network("alarm")
    tree = agglomerate_states(alarm.sample(n_rows, seed=seed).without(name), alarm.dag, name)
    blanket = [alarm.variable(n) for n in tree.blanket]
    return {
        "variable": name, "rows": n_rows, "blanket": list(tree.blanket), "chosen": tree.best,
        "initial": [[str(v.labels[c]) for v, c in zip(blanket, a, strict=True)]
                    for a in tree.assignments.tolist()],
        "merges": tree.merges.tolist(), "changes": tree.changes.tolist(),
    }  # fmt: skip


def score_curves(name: str, n_rows: int, seed: int, most: int = 8) -> dict[str, Any]:
    """Fig. 5.2: the completed data's score, EM from there, and the best of five EM runs."""
    alarm = datasets.network("alarm")
    table = alarm.sample(n_rows, seed=seed).without(name)
    tree = agglomerate_states(table, alarm.dag, name)
    sizes = range(1, min(most, len(tree.scores)) + 1)
    around = local_graph(alarm.dag, name)
    rows = table.select([n for n in around.nodes if n != name])
    from_tree = []
    for k in sizes:
        first = completed_fit(rows, around, name, tree.states(k), k, PRIOR)
        run = fit_em(first, rows, PRIOR, start="given")
        from_tree.append(cheeseman_stutz(run.network, rows, PRIOR))
    swept = em_sweep(rows, around, name, max(sizes))
    return {
        "variable": name, "rows": n_rows, "true": alarm.variable(name).n_states,
        "states": list(sizes), "completed": [float(tree.scores[k - 1]) for k in sizes],
        "em_from_tree": from_tree, "em_best_of_five": [swept[k] for k in sizes],
    }  # fmt: skip


def cardinality_table(n_rows: int, seed: int, sweep: bool) -> list[dict[str, Any]]:
    alarm = datasets.network("alarm")
    rows = alarm.sample(n_rows, seed=seed)
    agglomerate_states(rows, alarm.dag, "HR")  # compiled before the clock runs
    found = []
    for name in inner_variables(alarm):
        hidden = rows.without(name)
        tree, tree_time = clocked(lambda h=hidden, n=name: agglomerate_states(h, alarm.dag, n))
        chosen, time_ = clocked(lambda h=hidden, n=name: choose_cardinality(h, alarm.dag, n))
        line: dict[str, Any] = {
            "variable": name, "true": alarm.variable(name).n_states, "completed": tree.best,
            "refined": chosen.n_states, "agglomeration_s": tree_time, "with_refinement_s": time_,
        }  # fmt: skip
        if sweep:
            most = max(line["true"], chosen.n_states) + 2
            scores, em_time = clocked(lambda h=hidden, n=name, m=most: em_sweep(h, alarm.dag, n, m))
            best = max(scores, key=lambda k: scores[k])
            line.update(em=best, em_s=em_time, em_scores=scores)
        found.append(line)
    exact = sum(x["refined"] == x["true"] for x in found)
    near = sum(abs(x["refined"] - x["true"]) <= 1 for x in found)
    print(
        f"\nCardinality, ALARM, {n_rows} rows: {exact} of {len(found)} exact, {near} within one\n"
    )
    head = ["variable", "true", "completed data", "refined", "EM", "tree s", "refined s", "EM s"]
    keys = [
        "variable", "true", "completed", "refined", "em", "agglomeration_s", "with_refinement_s",
        "em_s",
    ]  # fmt: skip
    print(markdown_table(head, [[shown(x.get(k)) for k in keys] for x in found]))
    return found


def em_sweep(table: Table, dag: DAG, name: str, most: int) -> dict[int, float]:
    """Cheeseman-Stutz at every cardinality, the best of five random starts run to convergence.

    In the whole network, as in 5.4. (The part around the variable alone would give the same
    choice, some five times faster.)
    """
    scores = {}
    for k in range(1, most + 1):
        runs = fit_em(dag, table, PRIOR, {name: k}, n_starts=5 if k > 1 else 1, seed=k).starts
        scores[k] = max(cheeseman_stutz(run.network, table, PRIOR) for run in runs)
    return scores


def cardinality_by_size(sizes: Sequence[int], seed: int) -> list[dict[str, Any]]:
    """How the cardinality grows with the number of rows (Fig. 5.3)."""
    alarm = datasets.network("alarm")
    names = inner_variables(alarm)
    rows = alarm.sample(max(sizes), seed=seed)
    found = []
    for n in sizes:
        part = rows.take(np.arange(n))
        states = {v: choose_cardinality(part.without(v), alarm.dag, v).n_states for v in names}
        gap = [states[v] - alarm.variable(v).n_states for v in names]
        found.append({
            "rows": n, "states": states, "exact": sum(g == 0 for g in gap),
            "within_one": sum(abs(g) <= 1 for g in gap), "mean_gap": float(np.mean(gap)),
        })  # fmt: skip
    print("\nFig. 5.3: cardinality by sample size\n")
    head = ["rows", "exact", "within one", "mean difference from the truth"]
    keys = ["rows", "exact", "within_one", "mean_gap"]
    print(markdown_table(head, [[shown(x[k]) for k in keys] for x in found]))
    return found


def interacting(seed: int) -> Network:
    """Four interacting hidden variables of 3, 2, 4 and 3 states over binary nodes (Fig. 5.4)."""
    generator = np.random.default_rng(seed)
    states = {"h0": 3, "h1": 2, "h2": 4, "h3": 3}
    parents: dict[str, list[str]] = {"h0": [], "h1": ["h0"], "h2": ["h0"], "h3": ["h1", "h2"]}
    for h in states:
        parents.update({f"x{h[1]}{i}": [h] for i in range(6)})
    variables = {n: Variable(n, range(states.get(n, 2)), hidden=n in states) for n in parents}
    cpds = []
    for name, above in parents.items():
        shape = [variables[p].n_states for p in above]
        k = variables[name].n_states
        concentration = 0.5 if name in states else 0.25
        values = generator.dirichlet(np.full(k, concentration), shape)
        cpds.append(
            TableCPD(variables[name], [variables[p] for p in above], 0.95 * values + 0.05 / k)
        )
    return Network(cpds)


def several_hidden(n_rows: int, seed: int) -> dict[str, Any]:
    """Agglomeration in turns, then structural EM; against two states each and the true sizes."""
    truth = interacting(seed)
    names = list(truth.hidden)
    table = truth.sample(n_rows, seed=seed).without(names)
    test = truth.sample(TEST_ROWS, seed=seed + 1000).without(names)
    completed, elapsed = clocked(lambda: agglomerate_several(table, truth.dag, names))
    sizes = {h: completed.variable(h).n_states for h in names}
    book = agglomerate_several(table, truth.dag, names, refine=False)
    lines = {"original": {h: truth.variable(h).n_states for h in names}, "agglomeration": sizes,
             "two states": dict.fromkeys(names, 2)}  # fmt: skip
    result: dict[str, Any] = {
        "states": lines, "completed_data_alone": {h: book.variable(h).n_states for h in names},
        "agglomeration_s": elapsed, "test_bits": {},
    }  # fmt: skip
    for line, k in lines.items():
        hidden = {h: v for h, v in k.items() if v > 1}
        dag = truth.dag
        for h in names:
            dag = dag if h in hidden else dag.without_node(h)
        network = fit_em(dag, table, PRIOR, hidden, n_starts=3, start="cluster", seed=seed).network
        if line != "original":
            network = structural_em(table, network, BDeu(1.0), max_rounds=5, seed=seed).network
        result["test_bits"][line] = log_loss(network, test).bits
    print(f"\nFig. 5.4: states {lines}; test log-loss, bits per row: {result['test_bits']}\n")
    return result
