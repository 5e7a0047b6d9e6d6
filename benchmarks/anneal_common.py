"""What the parts of `anneal.py` share: a budget of CPU seconds, the rows of ALARM, runs of EM."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
from common import network_file

from unveil import EquivalentSampleSize, Network, Table, load, log_loss
from unveil.em.loop import run_em
from unveil.em.parametric import variables_of
from unveil.em.squared import squared_steps
from unveil.em.starts import network_to_start
from unveil.em.steps import TableEM
from unveil.progress import Ticker

PRIOR = EquivalentSampleSize(1.0)
HIDDEN = ("HR", "INTUBATION", "LVFAILURE", "VENTLUNG")
TEST_ROWS = 10_000
MANY = 10_000
"""So many cycles are more than the time allows."""

Answer = dict[str, Any]
cpu = time.process_time


class Deadline:
    """A listener that asks to stop when so many CPU seconds are used up."""

    def __init__(self, seconds: float) -> None:
        self.begun, self.seconds = cpu(), seconds

    def __call__(self, step: Any = None) -> bool:
        return self.left > 0

    @property
    def used(self) -> float:
        return cpu() - self.begun

    @property
    def left(self) -> float:
        return self.seconds - self.used


def bits(network: Network, test: Table) -> float:
    """The log-loss on rows never seen."""
    return float(log_loss(network, test).bits)


def alarm(folder: Path, seed: int) -> tuple[Network, Table, Table]:
    """The network, 1000 rows without four central variables, and rows to test on."""
    path = network_file(folder / "networks", "alarm")
    assert path is not None, f"no alarm in {folder}"
    network = load(path)
    rows = network.sample(1000 + TEST_ROWS, seed=2000 + seed).without(HIDDEN)
    return network, rows.take(np.arange(1000)), rows.take(np.arange(1000, rows.n_rows))


class EMCase:
    """EM for one network and one table, from random starts by number."""

    def __init__(self, network: Network, rows: Table, seed: int) -> None:
        self.network, self.rows, self.seed = network, rows, seed
        self.em = TableEM(network, rows, PRIOR)
        self.variables = variables_of(network, rows, {})

    def start(self, number: int) -> Any:
        generator = np.random.default_rng([self.seed, number])
        drawn = network_to_start(
            "random", self.network.dag, self.variables, self.rows, None, generator
        )
        return self.em.pack(drawn)

    def run_from(self, number: int, listener: Any = None, fast: bool = False) -> Any:
        step = squared_steps(self.em.step, self.em.layout.normalised) if fast else self.em.step
        return run_em(step, self.start(number), 500, 1e-8, Ticker(listener)).parameters

    def value(self, tables: Any) -> float:
        return float(self.em.step(tables)[1])

    def best(self, many: list[Any]) -> Any:
        return max(many, key=self.value)
