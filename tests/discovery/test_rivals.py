"""Rival explanations: what becomes of a network that is learned another way."""

import numpy as np
import pytest

from unveil import EquivalentSampleSize, datasets
from unveil.discovery import Settings
from unveil.discovery.bench import Bench
from unveil.discovery.rivals import RIVALS
from unveil.em import fit_em
from unveil.model import fit
from unveil.progress import Ticker

ASIA = datasets.network("asia")
SMOOTHER = [rival for rival in RIVALS if rival.smoother > 1]


def bench_of(network, rows):
    return Bench.of(network, 0.0, rows, Settings(equivalent_sample_size=2.0), 1)


@pytest.mark.parametrize("rival", SMOOTHER, ids=lambda rival: rival.name)
def test_a_stronger_prior_is_about_parameters_alone(rival):
    """The graph stays; its tables are those of the prior so many times as strong."""
    rows = ASIA.sample(300, seed=1)
    plain = fit(ASIA.dag, rows, EquivalentSampleSize(2.0))
    found = rival.of(plain, bench_of(plain, rows), rows, Ticker())
    assert found == fit(ASIA.dag, rows, EquivalentSampleSize(2.0 * rival.smoother))


@pytest.mark.parametrize("rival", SMOOTHER, ids=lambda rival: rival.name)
def test_so_it_is_with_hidden_variables(rival):
    """EM goes on under the stronger prior, whose objective is then higher than before."""
    rows = ASIA.sample(300, seed=1).without("either")
    prior = EquivalentSampleSize(2.0 * rival.smoother)
    plain = fit_em(ASIA.dag, rows, EquivalentSampleSize(2.0), {"either": 2}, seed=1).network
    found = rival.of(plain, bench_of(plain, rows), rows, Ticker())
    assert found.dag == plain.dag

    def objective(network):
        before = sum(
            float((prior.pseudo_counts(c.variable, c.parents) * np.log(c.values)).sum())
            for c in network.cpds.values()
        )
        return network.log_likelihood(rows) + before

    assert objective(found) > objective(plain) + 1


def test_names_say_how_much_stronger():
    assert [rival.smoother for rival in SMOOTHER] == [5.0, 20.0]
    assert ["five" in SMOOTHER[0].name, "twenty" in SMOOTHER[1].name] == [True, True]
