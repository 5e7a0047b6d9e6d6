"""Options of searches: what one does not have is refused, by name."""

import pytest

from unveil import datasets
from unveil.errors import DataError
from unveil.search import SEARCHES, learn

ROWS = datasets.network("asia").sample(50, seed=1)


@pytest.mark.parametrize("search", SEARCHES)
def test_an_option_that_a_search_does_not_have_is_refused(search):
    with pytest.raises(DataError, match=rf"the search '{search}' has no option 'stats'; it has"):
        learn(ROWS, search=search, stats={"x": [0, 1]})


def test_options_of_a_search_are_taken():
    assert learn(ROWS, search="tabu", restarts=1, seed=1).search.search == "tabu search"
    assert learn(ROWS, search="hill-climbing", tabu=5, patience=3).search.search == "tabu search"
