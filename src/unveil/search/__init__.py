"""Searches over structures: all see the data only through `Families`.

- `learn.py`: `learn`, from a complete table to a fitted network in one call
- `combined.py`: the default, equivalence search and tabu climbing in turns
- `hill_climbing.py`: add, delete, reverse; tabu list and random restarts (Algorithms 1 and 2)
- `equivalence_search.py`: greedy search over classes of equivalent graphs
- `exact.py`: the best graph of all, for up to about 25 variables; `all_families.py` scores for it
- `order_search.py`: search over orders with grow-shrink trees (BOSS)
- `chow_liu.py`: the best forest
- `annealing.py`: simulated annealing
- `best_few.py`: not only the best graph, but the best few
- `constraints.py`: what a search may not do; `legal.py`: a graph made to keep to it
- `graph_state.py`: the mutable graph that searches work on, and which moves are legal
- `ties.py`: when two scores are the same
- `sensitivity.py`: how the best graph depends on the equivalent sample size
- `result.py`: what every search gives back
"""

from unveil.search.annealing import simulated_annealing
from unveil.search.best_few import BestFew, best_few
from unveil.search.chow_liu import chow_liu
from unveil.search.combined import combined_search
from unveil.search.constraints import Constraints
from unveil.search.equivalence_search import equivalence_search
from unveil.search.exact import exact_search
from unveil.search.hill_climbing import hill_climbing
from unveil.search.learn import SEARCHES, Learned, learn
from unveil.search.order_search import order_search
from unveil.search.result import SearchResult
from unveil.search.sensitivity import Sensitivity, sample_size_sensitivity

__all__ = [
    "SEARCHES",
    "BestFew",
    "Constraints",
    "Learned",
    "SearchResult",
    "Sensitivity",
    "best_few",
    "chow_liu",
    "combined_search",
    "equivalence_search",
    "exact_search",
    "hill_climbing",
    "learn",
    "order_search",
    "sample_size_sensitivity",
    "simulated_annealing",
]
