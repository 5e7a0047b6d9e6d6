"""EM and structural EM: unveil against pyAgrum, pgmpy and StepMix.

    python benchmarks/em.py --out results.json              # ALARM, all cases
    python benchmarks/em.py --quick                         # smaller, a minute or two
    python benchmarks/em.py --data FOLDER --network hepar2  # another network from a BIF file

Cases: a known structure with hidden variables, and with missing cells; a latent class model; the
structure learned from missing cells; and a million rows with a hidden variable. Every measurement
runs in a process of its own with a time limit. A peer gets few rows (its column `rows`) and half
as many, and its time per iteration is scaled up to all rows along that line, marked with `~`;
likelihoods are compared on the peer's rows, from the same start and after the same number of
iterations. pyAgrum cannot do without
a prior, so both get the same pseudo-count there. Compiling kernels does not count; for unveil, the
time per iteration is the mean over iterations after the first (which also groups the rows), for
peers the whole call divided by its iterations. R packages (bnlearn's structural.em, poLCA) are
not measured.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from common import machine, markdown_table, network_file, versions, write_json

from unveil import Network, PseudoCount, Table, TableCPD, Variable, datasets, learn, log_loss
from unveil.em import fit_em, structural_em

PACKAGES = ("unveil", "numpy", "numba", "pyagrum", "pgmpy", "stepmix")
HIDDEN = ("HR", "INTUBATION", "LVFAILURE", "VENTLUNG")
PSEUDO_COUNT = 0.01

Answer = dict[str, Any]


@dataclass(frozen=True)
class Sizes:
    """How much of everything."""

    rows: int = 10_000
    iterations: int = 20
    pyagrum_rows: int = 500
    pyagrum_iterations: int = 3
    pgmpy_rows: int = 40
    pgmpy_iterations: int = 2
    latent: tuple[int, int, int, int] = (16_000, 100, 10, 30)
    structural: int = 5_000
    held_out: int = 10_000
    many: int = 1_000_000


QUICK = Sizes(2_000, 10, 100, 2, 4, 1, (4_000, 100, 10, 10), 1_000, 5_000, 100_000)


# unveil ----------------------------------------------------------------------------------------


class Clock:
    """A listener that knows the mean time of an iteration after the first."""

    def __init__(self) -> None:
        self.elapsed: list[float] = []

    def __call__(self, step: Any) -> None:
        self.elapsed.append(step.elapsed)

    @property
    def per_iteration(self) -> float:
        return (self.elapsed[-1] - self.elapsed[0]) / (len(self.elapsed) - 1)


def run_ours(start: Network, rows: Table, iterations: int, prior: Any = None) -> Answer:
    """EM for this many M-steps from a given start; the likelihood is that after the last."""
    fit_em(start, rows, prior, max_iterations=2, tolerance=0.0)
    clock = Clock()
    result = fit_em(
        start, rows, prior, max_iterations=iterations + 1, tolerance=-1.0, progress=clock
    )
    return {
        "seconds": clock.per_iteration,
        "setup": clock.elapsed[0] - clock.per_iteration,
        "iterations": iterations,
        "log_likelihood": result.log_likelihood,
    }


def start_of(network: Network, rows: Table) -> Network:
    """Random tables where a family is unseen, counts where it is seen."""
    return fit_em(network, rows, start="random", seed=1, max_iterations=1).network


# The cases -------------------------------------------------------------------------------------


def hidden_rows(network: Network, n_rows: int) -> Table:
    """Rows without four variables: those of the issue, or the ones with the most children."""
    by_children = sorted(network.names, key=lambda n: -len(network.dag.children(n)))
    named = set(HIDDEN) <= set(network.names)
    return network.sample(n_rows, seed=1).without(HIDDEN if named else by_children[:4])


def missing_rows(network: Network, n_rows: int) -> Table:
    """Rows with every tenth cell missing."""
    return network.sample(n_rows, seed=1).knock_out(0.1, seed=2)


ROWS: dict[str, Callable[[Network, int], Table]] = {"hidden": hidden_rows, "missing": missing_rows}


def known_structure(case: str, network: Network, sizes: Sizes) -> Answer:
    """All rows to convergence and by the iteration."""
    rows = ROWS[case](network, sizes.rows)
    found = run_ours(start_of(network, rows), rows, sizes.iterations)
    return {**found, "rows": sizes.rows, "truth": network.log_likelihood(rows)}


def with_pyagrum(case: str, network: Network, sizes: Sizes) -> Answer:
    """PyAgrum from the same start; its smoothing prior is our pseudo-count."""
    n = sizes.pyagrum_iterations
    return against_peer(
        run_pyagrum, ROWS[case](network, sizes.pyagrum_rows), network, n, PseudoCount(PSEUDO_COUNT),
        sizes,
    )  # fmt: skip


def run_pyagrum(start: Network, rows: Table, iterations: int) -> tuple[float, Network]:
    """Seconds of its call, and the network learned."""
    import pyagrum as gum

    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "start.bif")
        start.save(path)
        first = gum.loadBN(path)
        frame = _with_all_columns(start, rows).to_pandas().astype(object)
        learner = gum.BNLearner(frame.where(frame.notna(), "?").astype(str), first, ["?"])
        learner.useSmoothingPrior(PSEUDO_COUNT)
        learner.useEM(1e-300, 0.0)
        learner.EMsetMaxIter(iterations)
        started = time.perf_counter()
        learned = learner.learnParameters(first)
        seconds = time.perf_counter() - started
        assert learner.EMnbrIterations() == iterations
        gum.saveBN(learned, path)
        return seconds, Network.load(path)


def with_pgmpy(case: str, network: Network, sizes: Sizes) -> Answer:
    """Pgmpy from the same start; it has no answer to single missing cells."""
    if case == "missing":
        rows = missing_rows(network, sizes.rows)
        whole = ~np.any([rows.missing(n) for n in network.names], axis=0)
        return {"said": f"drops rows with missing cells: keeps {whole.sum()} of {sizes.rows:,}"}
    rows = ROWS[case](network, sizes.pgmpy_rows)
    return against_peer(run_pgmpy, rows, network, sizes.pgmpy_iterations, None, sizes)


def run_pgmpy(start: Network, rows: Table, iterations: int) -> tuple[float, Network]:
    """Seconds of its call, and the network learned; on codes instead of labels."""
    import pandas
    from pgmpy.factors.discrete import TabularCPD
    from pgmpy.models import DiscreteBayesianNetwork
    from pgmpy.parameter_estimator import DiscreteEM

    states = {v.name: list(range(v.n_states)) for v in start.variables}
    cpds = {}
    for cpd in start.cpds.values():
        names = [v.name for v in (*cpd.parents, cpd.variable)]
        cpds[names[-1]] = TabularCPD(
            names[-1], len(states[names[-1]]), cpd.rows.T, names[:-1],
            [len(states[p]) for p in names[:-1]], {n: states[n] for n in names},
        )  # fmt: skip
    unseen = {n: len(states[n]) for n in start.names if n not in rows}
    model = DiscreteBayesianNetwork(start.dag.arcs, latents=set(unseen))
    frame = pandas.DataFrame({n: rows.column(n).astype(int) for n in rows.names})
    learner = DiscreteEM(
        state_names=states, latent_card=unseen, max_iter=iterations, init_cpds=cpds,
        show_progress=False,
    )  # fmt: skip
    started = time.perf_counter()
    learner.fit(model, frame)
    seconds = time.perf_counter() - started
    found = {cpd.variable: cpd for cpd in learner.parameters_}
    return seconds, Network([_table_of(cpd, found[name]) for name, cpd in start.cpds.items()])


def _table_of(cpd: Any, learned: Any) -> TableCPD:
    """Pgmpy's values in the order of our parents."""
    order = [v.name for v in (*cpd.parents, cpd.variable)]
    axes = [learned.variables.index(name) for name in order]
    return TableCPD(cpd.variable, cpd.parents, np.transpose(learned.values, axes))


def _with_all_columns(network: Network, rows: Table) -> Table:
    for name in network.names:
        if name not in rows:
            rows = rows.with_column(network.variable(name), np.full(rows.n_rows, -1))
    return rows.select(network.names)


def against_peer(
    run: Callable[[Network, Table, int], tuple[float, Network]],
    rows: Table, network: Network, iterations: int, prior: Any, sizes: Sizes,
) -> Answer:  # fmt: skip
    """A peer on some rows and on half of them, and unveil on the same from the same start."""
    start = start_of(network, rows)
    half = rows.take(np.arange(rows.n_rows // 2))
    less, _ = run(start, half, iterations)
    seconds, learned = run(start, rows, iterations)
    mine = run_ours(start, rows, iterations, prior)
    slope = max(seconds - less, 0.0) / (rows.n_rows - half.n_rows)
    scaled = seconds + slope * (sizes.rows - rows.n_rows)
    return {
        "rows": rows.n_rows,
        "iterations": iterations,
        "seconds": scaled / iterations,
        "log_likelihood": learned.log_likelihood(rows),
        "ours_on_the_same": mine["log_likelihood"],
        "seconds_unscaled": seconds / iterations,
        "seconds_half": less / iterations,
        "ours_unscaled": mine["seconds"],
    }


def latent_class(_: Network, sizes: Sizes) -> Answer:
    """A latent class model of binary columns, from StepMix's own random start if it is there."""
    n_rows, n_columns, k, iterations = sizes.latent
    generator = np.random.default_rng(1)
    weights = generator.dirichlet(np.full(k, 5.0))
    truth = latent_network(weights, generator.beta(0.5, 0.5, (k, n_columns)))
    rows = truth.sample(n_rows, seed=2).without("H")
    codes = np.column_stack([rows.column(n) for n in rows.names]).astype(float)
    start, peer = _stepmix(codes, k, iterations)
    if start is None:
        start = start_of(truth, rows)
    return {**run_ours(start, rows, iterations), "rows": n_rows, "stepmix": peer}


def latent_network(weights: Any, ones: Any) -> Network:
    """A hidden class H and binary columns, `ones` (k, n_columns) their probabilities of 1."""
    root = Variable("H", range(len(weights)), hidden=True)
    cpds = [TableCPD(root, [], weights)]
    for i, p in enumerate(np.transpose(ones)):
        cpds.append(TableCPD(Variable(f"X{i}", [0, 1]), [root], np.column_stack([1 - p, p])))
    return Network(cpds)


def _stepmix(codes: Any, k: int, iterations: int) -> tuple[Network | None, Answer]:
    try:
        from stepmix import StepMix
    except ImportError:
        return None, {"said": "not installed"}
    options = {
        "n_components": k, "measurement": "binary", "max_iter": iterations, "n_init": 1,
        "abs_tol": 0.0, "rel_tol": 0.0, "random_state": 1, "progress_bar": 0,
    }  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        once = StepMix(**{**options, "max_iter": 1}).fit(codes)
        # What it drew before its first E-step, by the same calls in the same order.
        once._initialize_parameters(codes, np.random.RandomState(1))
        drawn = once.get_parameters()
        start = latent_network(np.asarray(drawn["weights"]), drawn["measurement"]["pis"])
        model = StepMix(**options)
        started = time.perf_counter()
        model.fit(codes)
        seconds = time.perf_counter() - started
        likelihood = float(model.score(codes)) * len(codes)
    return start, {
        "seconds": seconds / iterations,
        "iterations": iterations,
        "log_likelihood": likelihood,
    }


def structure(network: Network, sizes: Sizes) -> Answer:
    """Structure from rows with gaps, against structure from the same rows complete."""
    complete = network.sample(sizes.structural, seed=1)
    gaps, test = complete.knock_out(0.1, seed=2), network.sample(sizes.held_out, seed=3)
    small = np.arange(200)
    structural_em(gaps.take(small), seed=1, max_rounds=2)
    started = time.perf_counter()
    found = structural_em(gaps, seed=1)
    seconds = time.perf_counter() - started
    started = time.perf_counter()
    whole = learn(complete)
    seconds_complete = time.perf_counter() - started
    return {
        "rows": sizes.structural,
        "seconds": seconds,
        "rounds": len(found.trace),
        "stopped": found.stopped,
        "bits": log_loss(found.network, test).bits,
        "arcs": found.dag.n_arcs,
        "seconds_complete": seconds_complete,
        "bits_complete": log_loss(whole.network, test).bits,
        "arcs_complete": whole.dag.n_arcs,
        "bits_true": log_loss(network, test).bits,
    }


def many_rows(_: Network, sizes: Sizes) -> Answer:
    """Twenty columns of two to four states around a hidden variable of four."""
    generator = np.random.default_rng(1)
    root = Variable("H", range(4), hidden=True)
    cpds = [TableCPD(root, [], generator.dirichlet(np.full(4, 5.0)))]
    for i in range(20):
        child = Variable(f"X{i}", range(2 + i % 3))
        cpds.append(TableCPD(child, [root], generator.dirichlet(np.ones(2 + i % 3), 4)))
    truth = Network(cpds)
    rows = truth.sample(sizes.many, seed=2).without("H")
    fit_em(truth, rows.take(np.arange(5_000)), max_iterations=2)
    before = _peak_mib()
    started = time.perf_counter()
    found = run_ours(start_of(truth, rows), rows, 10)
    seconds = time.perf_counter() - started
    table = sum(rows.column(n).nbytes for n in rows.names) / 2**20
    return {
        **found, "rows": sizes.many, "peak_mib": _peak_mib(), "peak_before_mib": before,
        "table_mib": table, "seconds_all": seconds,
    }  # fmt: skip


def _peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


TASKS: dict[str, Callable[[Network, Sizes], Answer]] = {
    "hidden/unveil": lambda n, s: known_structure("hidden", n, s),
    "hidden/pyAgrum": lambda n, s: with_pyagrum("hidden", n, s),
    "hidden/pgmpy": lambda n, s: with_pgmpy("hidden", n, s),
    "missing/unveil": lambda n, s: known_structure("missing", n, s),
    "missing/pyAgrum": lambda n, s: with_pyagrum("missing", n, s),
    "missing/pgmpy": lambda n, s: with_pgmpy("missing", n, s),
    "latent class": latent_class,
    "structural EM": structure,
    "many rows": many_rows,
}


# Running and telling ---------------------------------------------------------------------------


def in_process(task: str, options: argparse.Namespace) -> Answer:
    """Run one task in a process of its own; what went wrong is an answer too."""
    command = [sys.executable, __file__, "--task", task]
    command += ["--quick"] if options.quick else []
    command += ["--data", str(options.data), "--network", options.network] if options.data else []
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=options.budget, check=False
        )
    except subprocess.TimeoutExpired:
        return {"said": f"stopped after {options.budget:.0f} s"}
    if done.returncode:
        return {"said": done.stderr.strip().splitlines()[-1][:200] if done.stderr else "crashed"}
    return json.loads(done.stdout.splitlines()[-1])


def lines_of(found: dict[str, Answer], sizes: Sizes) -> list[list[str]]:
    """The rows of the table of times and likelihoods."""
    lines = []
    for case in ("hidden", "missing"):
        words = {"hidden": "4 variables hidden", "missing": "10% of cells missing"}[case]
        mine = found.get(f"{case}/unveil", {})
        if "seconds" in mine:
            lines.append(_line(words, "unveil", mine, mine, f"{mine['rows']:,}", ""))
        for tool in ("pyAgrum", "pgmpy"):
            peer = found.get(f"{case}/{tool}")
            if peer is not None:
                on_same = peer.get("ours_on_the_same")
                ours = f"{on_same:,.2f}" if on_same is not None else ""
                lines.append(_line(words, tool, peer, mine, str(peer.get("rows", "")), ours))
    mine = found.get("latent class", {})
    if "seconds" in mine:
        n, columns, k, _ = sizes.latent
        case = f"latent class {n:,} x {columns}, k = {k}"
        lines.append(_line(case, "unveil", mine, mine, f"{n:,}", ""))
        ours = f"{mine['log_likelihood']:,.2f}"
        lines.append(_line(case, "StepMix", mine["stepmix"], mine, f"{n:,}", ours))
    mine = found.get("many rows", {})
    if "seconds" in mine:
        lines.append(_line("many rows x 20, k = 4", "unveil", mine, mine, f"{mine['rows']:,}", ""))
    return lines


def _line(case: str, tool: str, one: Answer, ours: Answer, rows: str, same: str) -> list[str]:
    if "seconds" not in one:
        return [case, tool, rows, one.get("said", ""), "", "", ""]
    mark = "~" if "seconds_unscaled" in one else ""
    ratio = f"{one['seconds'] / ours['seconds']:,.1f}" if "seconds" in ours else ""
    return [
        case, tool, rows, f"{mark}{one['seconds'] * 1000:,.2f}", ratio,
        f"{one['log_likelihood']:,.2f} ({one['iterations']})", same,
    ]  # fmt: skip


HEAD = (
    "case", "tool", "rows", "ms per iteration", "times unveil", "log-likelihood (iterations)",
    "unveil on the same",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="smaller cases")
    parser.add_argument("--data", type=Path, help="a folder of BIF files")
    parser.add_argument("--network", default="alarm", help="the network of the ALARM cases")
    parser.add_argument("--out", type=Path, help="where to write the JSON")
    parser.add_argument("--budget", type=float, default=180.0, help="seconds per measurement")
    parser.add_argument("--only", help="only the tasks whose name begins so")
    parser.add_argument("--task", help=argparse.SUPPRESS)
    options = parser.parse_args()
    sizes = QUICK if options.quick else Sizes()
    if options.task:
        path = network_file(options.data, options.network) if options.data else None
        network = Network.load(path) if path else datasets.network(options.network)
        print(json.dumps(TASKS[options.task](network, sizes)))
        return
    settings = {"network": options.network, "pseudo_count": PSEUDO_COUNT, **vars(sizes)}
    record = {"machine": machine(), "versions": versions(PACKAGES), "settings": settings}
    print(json.dumps(record, indent=1))
    found = {}
    for task in TASKS:
        if task.startswith(options.only or ""):
            found[task] = in_process(task, options)
            print(f"{task}: {json.dumps(found[task])}", file=sys.stderr, flush=True)
    print(markdown_table(HEAD, lines_of(found, sizes)))
    for task in ("structural EM", "many rows"):
        if task in found:
            print(f"\n{task}: {json.dumps(found[task], indent=1)}")
    if options.out:
        write_json(options.out, {**record, "found": found})


if __name__ == "__main__":
    main()
