"""Graphs: who depends on whom, and what follows from that alone.

- `dag`: `DAG`, the immutable directed acyclic graph that everything else builds on
- `separation`: `d_separated` and `reachable`, the independencies a DAG promises
- `undirected`: `UndirectedGraph`; `moral`: `moral_graph`
- `pdag`: `PDAG`, with arcs and undirected edges; `extension`: `consistent_extension` to a DAG
- `equivalence`: `skeleton`, `v_structures`, `equivalent`, `completed_pdag`
- `turning`: `is_covered`, `turned_away_from`: other members of an equivalence class
- `distance`: `compare`, `structural_hamming_distance`, `equivalence_class_distance`
- `random`: `random_dag`; `convert`: `to_networkx`, `from_networkx`
- `names` and `order`: checked names, topological orders and cycles, shared by the files above
"""

from unveil.graph.convert import from_networkx, to_networkx
from unveil.graph.dag import DAG
from unveil.graph.distance import (
    StructuralDifference,
    compare,
    equivalence_class_distance,
    structural_hamming_distance,
)
from unveil.graph.equivalence import completed_pdag, equivalent, skeleton, v_structures
from unveil.graph.extension import consistent_extension
from unveil.graph.moral import moral_graph
from unveil.graph.pdag import PDAG
from unveil.graph.random import random_dag
from unveil.graph.separation import d_separated, reachable
from unveil.graph.turning import is_covered, turned_away_from
from unveil.graph.undirected import UndirectedGraph

__all__ = [
    "DAG",
    "PDAG",
    "StructuralDifference",
    "UndirectedGraph",
    "compare",
    "completed_pdag",
    "consistent_extension",
    "d_separated",
    "equivalence_class_distance",
    "equivalent",
    "from_networkx",
    "is_covered",
    "moral_graph",
    "random_dag",
    "reachable",
    "skeleton",
    "structural_hamming_distance",
    "to_networkx",
    "turned_away_from",
    "v_structures",
]
