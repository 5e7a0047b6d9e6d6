"""Is a hidden variable claimed where there is one, and only there? Parts of `discover.py`.

`nulls`: nothing is hidden; how often is something claimed, and what is it worth on test rows?
`removed`: variables removed in turn; where is one claimed, and what does it save there?

Every run is a line of its own in the results, written as soon as it is done; runs that have a line
are not done again, so a long list can be done in pieces and interrupted. `--tag` names the sources
that were run (another checkout's, by PYTHONPATH), so that both have lines on the same cases. With
`--networks star1 star2 --hidden H` hidden parents of columns are removed whose place
and number of states are known and can be found with enough rows.
"""

from __future__ import annotations

import argparse
import json
import resource
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from common import markdown_table, network_file, write_json
from planted import random_star

import unveil
from unveil import Network, TableCPD, Variable, datasets
from unveil.discovery import Discovery, Verdict
from unveil.em import cheeseman_stutz, fit_em, structural_em
from unveil.evaluate import log_loss, paired_gain
from unveil.model.prior import EquivalentSampleSize
from unveil.score import BDeu

PRIOR = EquivalentSampleSize(1.0)
TEST_ROWS = 10_000
NULLS = ("asia", "alarm", "insurance", "hepar2", "water", "random1", "random2")
REMOVED = ("alarm", "insurance", "hailfinder", "hepar2", "random1")


def nulls(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Tables with nothing removed."""
    cases = [
        (name, "", n, seed)
        for n in arguments.rows or (1000, 5000)
        for seed in arguments.seeds
        for name in arguments.networks or NULLS
    ]
    return _run_all("nulls", cases, arguments)


def removed(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Every variable that is no leaf and has a blanket of three or more removed in turn."""
    cases = [
        (name, hidden, n, seed)
        for seed in arguments.seeds
        for n in arguments.rows or (2000,)
        for name in arguments.networks or REMOVED
        for hidden in _central(network_named(name, arguments.data))
    ]
    chosen = arguments.hidden
    return _run_all("removed", [c for c in cases if not chosen or c[1] in chosen], arguments)


def network_named(name: str, folder: Path | None) -> Network:
    """A bundled network, one of a folder of BIF files, or `random7` or `star7`: from that seed."""
    if name in datasets.network_names():
        return datasets.network(name)
    if name.startswith("star"):
        made: Network = random_star(int(name.removeprefix("star")))
        return made
    if name.startswith("random"):
        return random_network(int(name.removeprefix("random")))
    path = None if folder is None else network_file(folder, name)
    if path is None:
        raise SystemExit(f"{name} is not bundled: give its folder with --data")
    return unveil.load(path)


def random_network(seed: int, n: int = 20) -> Network:
    """Twenty variables of two to four states with up to three parents each."""
    generator = np.random.default_rng([20, seed])
    names = [f"v{i:02d}" for i in range(n)]
    variables = {x: Variable(x, range(int(generator.integers(2, 5)))) for x in names}
    cpds = []
    for i, x in enumerate(names):
        k = min(i, int(generator.integers(0, 4)))
        above = [names[j] for j in sorted(generator.choice(i, k, replace=False))] if k else []
        shape = [variables[p].n_states for p in above]
        r = variables[x].n_states
        values = 0.96 * generator.dirichlet(np.full(r, 0.6), shape) + 0.04 / r
        cpds.append(TableCPD(variables[x], [variables[p] for p in above], values))
    return Network(cpds)


def _central(network: Network) -> Iterator[str]:
    dag = network.dag
    return (n for n in dag.nodes if dag.children(n) and len(dag.markov_blanket(n)) >= 3)


def _run_all(
    part: str, cases: list[tuple[str, str, int, int]], arguments: argparse.Namespace
) -> list[dict[str, Any]]:
    record = _recorded(arguments.out)
    lines: list[dict[str, Any]] = record.get(part, [])
    known = {(x["tag"], x["network"], x["hidden"], x["rows"], x["seed"]) for x in lines}
    for case in cases:
        if (arguments.tag, *case) in known:
            continue
        line = {"tag": arguments.tag, **_one(*case, arguments.data)}
        lines.append(line)
        print(_words(line), flush=True)
        if arguments.out:
            write_json(arguments.out, {**_recorded(arguments.out), part: lines})
    _summary(part, lines)
    return lines


def _recorded(path: Path | None) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text()) if path and path.exists() else {}
    return found


def _one(name: str, hidden: str, n_rows: int, seed: int, data: Path | None) -> dict[str, Any]:
    truth = network_named(name, data)
    table, test = truth.sample(n_rows, seed=seed), truth.sample(TEST_ROWS, seed=seed + 1000)
    if hidden:
        table, test = table.without(hidden), test.without(hidden)
    started = _cpu()
    found = unveil.discover(
        table, max_hidden=1, seed=seed, n_jobs=1, evidence=False, straw_men=False
    ).discovery
    seconds = _cpu() - started
    none = log_loss(found.baseline, test)
    saved = paired_gain(log_loss(found.network, test), none)
    line = {
        "network": name, "hidden": hidden, "rows": n_rows, "seed": seed, "cpu_s": seconds,
        "claimed": bool(found.hidden), "gain": found.gain, "saved": saved.bits,
        "saved_error": saved.standard_error, "none": none.bits, **_claim(found, test, none),
    }  # fmt: skip
    return line | (_beside_truth(truth, hidden, table, test, found, none, seed) if hidden else {})


def _claim(found: Discovery, test: Any, none: Any) -> dict[str, Any]:
    """Where it was put, what it was said to save, and in what interval."""
    told: dict[str, Any] = {}
    proof = getattr(found.rounds[-1], "confirmation", None) if found.rounds else None
    if proof is not None:
        told = {
            "said": proof.saved.bits, "said_error": proof.saved.standard_error,
            "interval": list(proof.interval), "chosen": proof.n_chosen, "folds": proof.n_folds,
            "nats": proof.nats, "lucky_nats": proof.lucky_nats, "gained": proof.gained,
            "lucky": proof.lucky, **_best_of(found, test, none),
        }  # fmt: skip
        if proof.beyond is not None:
            told |= {"rival": proof.rival.name, "rival_saves": proof.without.bits,
                     "beyond": proof.beyond.bits,
                     "beyond_error": proof.beyond.standard_error}  # fmt: skip
    if not found.hidden:
        return told
    (name,) = found.hidden
    dag = found.network.dag
    return told | {
        "states": found.network.variable(name).n_states, "children": list(dag.children(name)),
        "parents": list(dag.parents(name)),
    }  # fmt: skip


def _best_of(found: Discovery, test: Any, none: Any) -> dict[str, Any]:
    """What the candidate that was decided on gains, and saves on test rows, kept or not."""
    last = (Verdict.KEPT, Verdict.NOT_CONFIRMED, Verdict.EXPLAINED)
    best = next(c for c in found.rounds[-1].candidates if c.verdict in last)
    saved = paired_gain(log_loss(best.network, test), none)  # type: ignore[union-attr]
    return {
        "best_gain": best.gain, "best_predicts": best.predicted, "best_saves": saved.bits,
        "best_saves_error": saved.standard_error, "best_near": sorted(best.neighbours),  # type: ignore[union-attr]
    }  # fmt: skip


def _beside_truth(
    truth: Network, hidden: str, table: Any, test: Any, found: Discovery, none: Any, seed: int
) -> dict[str, Any]:
    """What the true structure saves, fitted; what structural EM makes of it; and the place."""
    k = truth.variable(hidden).n_states
    starts = fit_em(truth.dag, table, PRIOR, {hidden: k}, n_starts=3, seed=seed).starts
    original = max((s.network for s in starts), key=lambda n: cheeseman_stutz(n, table, PRIOR))
    climbed = structural_em(table, original, BDeu(1.0), max_rounds=10, seed=seed)
    return {
        "true_states": k,
        "original_saves": paired_gain(log_loss(original, test), none).bits,
        "gain_from_truth": climbed.score - found.baseline_score,
        "from_truth_saves": paired_gain(log_loss(climbed.network, test), none).bits,
        "place": _place(truth, hidden, found),
    }


def _place(truth: Network, hidden: str, found: Discovery) -> str:
    """Whether it was put where it belongs: among its true neighbours, or its true blanket."""
    if not found.hidden:
        return "none"
    near = set(found.network.dag.neighbours(found.hidden[0]))
    true = set(truth.dag.neighbours(hidden))
    if near == true:
        return "exact"
    if near <= true:
        return "part"
    around = set(truth.dag.markov_blanket(hidden))
    return "near" if 2 * len(near & around) >= len(near) else "elsewhere"


def _words(x: dict[str, Any]) -> str:
    case = f"{x['tag']} {x['network']} {x['hidden'] or '-'} {x['rows']} seed {x['seed']}"
    claim = f"{x['states']} states behind {', '.join(x['children'])}" if x["claimed"] else "none"
    more = f"; original saves {x['original_saves']:+.4f}, {x['place']}" if x["hidden"] else ""
    return (
        f"{case}: {claim}; test rows {x['saved']:+.4f} ({x['saved_error']:.4f}) bits"
        f"{more}; {x['cpu_s']:.0f} CPU s"
    )


def _summary(part: str, lines: list[dict[str, Any]]) -> None:
    """Tables of what was claimed, by tag and network: where all tags have run, or all of each.

    "Truth above": structural EM from the true graph scores above the answer (by a nat); "above all
    found": also above the best candidate, whether it was kept or not.
    """
    tags = sorted({x["tag"] for x in lines})
    both = set.intersection(*({_case(x) for x in lines if x["tag"] == t} for t in tags))
    head = ["sources", "network", "rows", "runs", "claimed", "worse", "saved, mean", "CPU s, mean"]
    head += ["original saves, mean", "exact", "part", "near", "elsewhere", "none", "truth above"]
    head += ["above all found"]
    rows = []
    for tag in tags:
        here = [x for x in lines if x["tag"] == tag and (not both or _case(x) in both)]
        groups = sorted({(x["network"], x["rows"]) for x in here})
        for group in [*groups, ("all", 0)]:
            of = [x for x in here if group in ((x["network"], x["rows"]), ("all", 0))]
            group = ("all", 0) if len(of) == len(here) else group
            rows.append([tag, group[0], str(group[1] or ""), *_counts(of)])
    print(f"\n{part}, cases that all sources have run: {len(both)}\n")
    width = len(head) if part == "removed" else 8
    print(markdown_table(head[:width], [row[:width] for row in rows]))
    for tag in tags:
        said = [x for x in lines if x["tag"] == tag and "interval" in x and x["chosen"]]
        for words, of in (("claimed", [x for x in said if x["claimed"]]), ("decided on", said)):
            n = sum(x["interval"][0] <= _test_value(x) <= x["interval"][1] for x in of)
            print(f"\n{tag}: 95% intervals that hold the test value, {words}: {n} of {len(of)}")


def _test_value(x: dict[str, Any]) -> float:
    """What the candidate that was decided on saves on test rows, kept or not.

    What was kept may have been fitted to more rows since it was a candidate.
    """
    return float(x["saved"] if x["claimed"] else x.get("best_saves", x["saved"]))


def _case(x: dict[str, Any]) -> tuple[str, str, int, int]:
    return x["network"], x["hidden"], x["rows"], x["seed"]


def _counts(of: list[dict[str, Any]]) -> list[str]:
    claimed = [x for x in of if x["claimed"]]
    worse = sum(x["saved"] < -2 * x["saved_error"] for x in claimed)
    line = [str(len(of)), str(len(claimed)), str(worse)]
    line += [f"{np.mean([x[key] for x in of]):.4f}" for key in ("saved", "cpu_s")]
    line.append(f"{np.mean([x.get('original_saves', 0.0) for x in of]):.4f}")
    places = ("exact", "part", "near", "elsewhere", "none")
    line += [str(sum(x.get("place") == p for x in of)) for p in places]
    reached = [(x.get("gain_from_truth", 0.0), x["gain"], x.get("best_gain", 0.0)) for x in of]
    above = sum(truth > gain + 1.0 for truth, gain, _ in reached)
    above_all = sum(truth > max(gain, best) + 1.0 for truth, gain, best in reached)
    return [*line, str(above), str(above_all)]


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
