"""Rows in order of time: told, and left out in blocks when asked."""

import numpy as np
import pytest

from unveil import Table, discover
from unveil.discovery import Settings
from unveil.errors import UnveilWarning

QUICK = {"max_hidden": 1, "max_candidates": 2, "max_adapted": 1, "max_polished": 1, "restarts": 1}


def epochs(n_epochs=8, length=50, n_columns=5, seed=0):
    """Every epoch prefers a state of every column: nothing is hidden but the calendar."""
    generator = np.random.default_rng(seed)
    favoured = generator.integers(4, size=(n_epochs, n_columns)).repeat(length, axis=0)
    noise = generator.integers(4, size=favoured.shape)
    rows = np.where(generator.random(favoured.shape) < 0.6, favoured, noise)
    return Table.from_frame(rows, names=list("abcde")[:n_columns])


def run(blocks):
    settings = Settings(**QUICK, blocks=blocks)
    return discover(epochs(), settings=settings, seed=1, n_jobs=1, resamples=0)


def test_a_series_is_told_and_blocks_take_its_neighbours_away():
    with pytest.warns(UnveilWarning, match="rows agree .*% more than chance"):
        at_random = run(blocks=False)
    in_blocks = run(blocks=True)  # nothing is told, or the warning would fail here
    assert in_blocks.discovery.settings.blocks
    (random_loss,) = [s.held_out for s in at_random.straw_men if s.name == "no hidden variable"]
    (block_loss,) = [s.held_out for s in in_blocks.straw_men if s.name == "no hidden variable"]
    assert block_loss.bits > random_loss.bits + 0.05
