"""What several rooms' tests share: a seed that can sweep a range, and the whole joint, enumerated.

`UNVEIL_SEEDS=20 pytest` runs every test that takes `random_seed` with the seeds 0 to 19.
"""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

# So that every room's tests can import the plain engine: `statistics` is also a standard module.
sys.path.append(str(Path(__file__).parent / "statistics"))

SEEDS = range(int(os.environ.get("UNVEIL_SEEDS", "1")))


@pytest.fixture(params=SEEDS, scope="session")
def random_seed(request):
    """A seed; 0 unless a sweep was asked for."""
    return request.param


@pytest.fixture(scope="session")
def joint_of():
    """A function from a small discrete network to P(x1, ..., xn), one axis per variable."""

    def joint(network):
        names = list(network.names)
        factors = []
        for cpd in network.cpds.values():
            family = [names.index(v.name) for v in (*cpd.parents, cpd.variable)]
            factors += [cpd.values, family]
        return np.einsum(*factors, range(len(names)))

    return joint


@pytest.fixture(scope="session", autouse=True)
def compiling_is_no_news():
    """On a new machine kernels are compiled while tests run, which commands would tell of once."""
    from unveil.cli import live

    live.COMPILED.told = True
