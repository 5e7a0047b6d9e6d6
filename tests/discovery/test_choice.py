"""Which candidates go on: the best, and with them the best of every small number of states."""

import numpy as np

from unveil import Network, TableCPD, Variable
from unveil.discovery.candidates import Candidate, Place
from unveil.discovery.choice import worth_polishing


def of_states(k, gain, child="a"):
    hidden = Variable("H1", range(k), hidden=True)
    seen = Variable(child, [0, 1])
    tables = [
        TableCPD(hidden, [], np.full(k, 1 / k)),
        TableCPD(seen, [hidden], np.full((k, 2), 0.5)),
    ]
    return Candidate(place=Place("H1", (child,)), network=Network(tables), gain=gain)


def test_fixed_small_sizes_are_starts_of_the_free_search():
    """However much better those with many states are, the best with two, three and four go on."""
    many = [of_states(6, 100.0 - i, child) for i, child in enumerate("abcdefg")]
    small = [of_states(k, 10.0 - k, child) for k in (2, 3, 4) for child in "ab"]
    weaker = [of_states(2, 1.0, "c")]
    chosen = worth_polishing([*many, *small, *weaker], 5)
    assert [c.n_states for c in chosen] == [2, 3, 4, 6, 6]
    assert [c.gain for c in chosen] == [8.0, 7.0, 6.0, 100.0, 99.0]
