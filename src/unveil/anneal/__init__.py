"""Weight annealing (thesis Ch. 3): learners get out of local maxima on reweighted rows.

The weights of the rows are perturbed while a temperature cools, and the learner, untouched, climbs
under them. Nothing here knows of networks; simulated annealing, which perturbs the *moves* of a
search, is another thing (`unveil.search.simulated_annealing`).

- `loop.py`: `anneal`, Algorithm 4, over any `Learner`; `learner.py` says what that is
- `random.py`, `adversary.py`: the two ways to reweight (3.3.1, 3.3.2)
- `cooling.py`: geometric cooling, and cooling by how far the weights moved
- `weights.py`: weights that stay a distribution, and how far they are from others
- `choice.py`: settings of an annealing by one word, as `anneal="adversary"`
- `estimator.py`: `WeightAnnealing`, around any scikit-learn estimator
"""

from typing import TYPE_CHECKING, Any

from unveil.anneal.adversary import Adversary
from unveil.anneal.choice import ANNEALINGS, Annealing, annealing_named
from unveil.anneal.cooling import Adaptive, Cooling, Geometric
from unveil.anneal.learner import Learner, Reweighting
from unveil.anneal.loop import Annealed, Annealer, Point, State, anneal
from unveil.anneal.random import Random

if TYPE_CHECKING:
    from unveil.anneal.estimator import WeightAnnealing

__all__ = [
    "ANNEALINGS",
    "Adaptive",
    "Adversary",
    "Annealed",
    "Annealer",
    "Annealing",
    "Cooling",
    "Geometric",
    "Learner",
    "Point",
    "Random",
    "Reweighting",
    "State",
    "WeightAnnealing",
    "anneal",
    "annealing_named",
]


def __getattr__(name: str) -> Any:
    if name == "WeightAnnealing":  # scikit-learn is slow to load, and our own learners need it not
        from unveil.anneal.estimator import WeightAnnealing

        return WeightAnnealing
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
