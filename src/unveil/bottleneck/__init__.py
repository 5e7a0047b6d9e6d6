"""Information-bottleneck EM (thesis Ch. 6): one solution followed from gamma = 0 to EM at 1.

- `call.py`: `ib_em`; `door.py`: what is refused; `result.py`: what comes back
- `lagrangian.py`: the Lagrangian and its two steps; `layout.py`: rows as they read them;
  `compression.py`: Q(T) taken apart by a graph
- `course.py`: how gamma is to grow, and where it is; `continuation.py`: from one gamma to the next;
  `settling.py`: at one gamma; `ending.py`: at the last; `race.py`: exchanges of states there
- `derivative.py`: how the fixed point moves; `splits.py`: where states split
- `exchange.py`, `cardinality.py`: which states are wanted elsewhere, which are to spare
- `exact.py`: all of these for what the continuation follows; `mean_field.py`: the same for many
  hidden variables, a factor each; `forest.py`: exact for those that form a forest;
  `resplitting.py`: two states of one of several, split anew
- `hierarchy.py`: `learn_hierarchy`; `growing.py`: what changes between the steps; `enrichment.py`:
  new hidden variables; `replacing.py`: their children, `attaching.py`: where these are at home;
  `weighing.py`: their states; `expected.py`: expected counts
"""

from unveil.bottleneck.call import ib_em
from unveil.bottleneck.course import Continuation, Point
from unveil.bottleneck.hierarchy import learn_hierarchy
from unveil.bottleneck.result import Bottlenecked, RandomStarts

__all__ = ["Bottlenecked", "Continuation", "Point", "RandomStarts", "ib_em", "learn_hierarchy"]
