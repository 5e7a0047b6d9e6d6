"""Where hidden variables come from, and how many states they have.

- `semi_cliques.py`: the signature in a learned graph (Ch. 4, Algorithm 5)
- `signatures.py`: fainter ones: paths, parts of neighbourhoods, overlapping semi-cliques (4.3)
- `candidate.py`: a hidden parent put in place of a semi-clique
- `agglomeration.py`: states from blanket assignments (Ch. 5, Algorithm 7)
- `cardinality.py`: the number of states, refined by a short EM
- `round_robin.py`: several hidden variables in turns (5.3)
"""

from unveil.hidden.agglomeration import Agglomeration, agglomerate_states
from unveil.hidden.candidate import fresh_name, naive_graph, with_hidden_parent
from unveil.hidden.cardinality import Cardinality, choose_cardinality
from unveil.hidden.round_robin import agglomerate_several
from unveil.hidden.semi_cliques import SemiClique, find_semi_cliques

__all__ = [
    "Agglomeration",
    "Cardinality",
    "SemiClique",
    "agglomerate_several",
    "agglomerate_states",
    "choose_cardinality",
    "find_semi_cliques",
    "fresh_name",
    "naive_graph",
    "with_hidden_parent",
]
