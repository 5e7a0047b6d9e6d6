"""Information-bottleneck EM (thesis Ch. 6): one solution followed from gamma = 0 to EM at 1.

- `call.py`: `ib_em`; `door.py`: what is refused; `result.py`: what comes back
- `lagrangian.py`: the Lagrangian and its two steps; `layout.py`: rows as they read them;
  `compression.py`: Q(T) taken apart by a graph
- `course.py`: how gamma is to grow, and where it is; `continuation.py`: from one gamma to the next;
  `settling.py`: at one gamma; `ending.py`: at the last; `race.py`: exchanges of states there
- `derivative.py`: how the fixed point moves; `splits.py`: where states split
- `exchange.py`, `cardinality.py`: which states are wanted elsewhere, which are to spare
- `exact.py`: all of these for what the continuation follows; `mean_field.py`: the same for many
  hidden variables, a factor each
- `hierarchy.py`: `learn_hierarchy`; `enrichment.py`: new hidden variables; `replacing.py`: their
  children; `expected.py`: the counts that both go by
"""

from unveil.bottleneck.call import ib_em
from unveil.bottleneck.course import Continuation, Point
from unveil.bottleneck.hierarchy import learn_hierarchy
from unveil.bottleneck.result import Bottlenecked, RandomStarts

__all__ = ["Bottlenecked", "Continuation", "Point", "RandomStarts", "ib_em", "learn_hierarchy"]
