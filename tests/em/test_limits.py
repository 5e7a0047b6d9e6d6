"""Limits of time and wishes to stop bind inside of a round, whoever does the work there."""

import pytest

from unveil import DAG, datasets, progress
from unveil.em import fit_em, latent_classes, structural_em
from unveil.infer.unseen import UnseenCells

ASIA = datasets.network("asia")
GAPS = ASIA.sample(400, seed=1).knock_out(0.1, seed=2)
NAIVE = DAG(["H", *ASIA.names], [("H", name) for name in ASIA.names])

CALLS = {
    "EM": lambda **o: fit_em(NAIVE, GAPS, hidden={"H": 3}, n_starts=50, seed=1, **o),
    "structural EM": lambda **o: structural_em(GAPS, seed=1, em_iterations=500, restarts=9, **o),
    "latent classes": lambda **o: latent_classes(GAPS, range(1, 9), seed=1, **o),
}


@pytest.fixture
def passes(monkeypatch):
    """How often the rows were gone over."""
    made = []
    real = UnseenCells.expected

    def counted(self, *arguments, **settings):
        made.append(self)
        return real(self, *arguments, **settings)

    monkeypatch.setattr(UnseenCells, "expected", counted)
    return made


@pytest.mark.parametrize("name", list(CALLS))
def test_a_limit_binds_within_a_few_passes(name, passes, monkeypatch):
    """A clock that moves on by a second whenever somebody looks."""
    now = [0.0]

    def clock():
        now[0] += 1.0
        return now[0]

    monkeypatch.setattr(progress.time, "monotonic", clock)
    found = CALLS[name](time_limit=60.0)
    assert 0 < len(passes) <= 40
    assert getattr(found, "stopped", "time limit") == "time limit"


@pytest.mark.parametrize("name", list(CALLS))
def test_a_wish_to_stop_is_granted_at_once(name, passes):
    heard = []

    def listener(step):
        heard.append(len(passes))
        return len(heard) < 3

    CALLS[name](progress=listener)
    assert len(passes) <= heard[2] + 3


def test_a_part_of_larger_work_is_told_in_its_phase():
    phases = []
    whole = progress.Ticker(lambda step: phases.append(step.phase))
    structural_em(GAPS, seed=1, progress=whole.part("first network"), max_rounds=1)
    assert set(phases) == {"first network: structural EM: EM", "first network: structural EM"}
