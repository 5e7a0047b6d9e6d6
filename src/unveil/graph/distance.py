"""How far apart two structures are, arc by arc or class by class."""

from __future__ import annotations

from dataclasses import dataclass

from unveil.graph.dag import DAG
from unveil.graph.equivalence import completed_pdag
from unveil.graph.names import Pair, check_same_nodes

__all__ = [
    "StructuralDifference",
    "compare",
    "equivalence_class_distance",
    "structural_hamming_distance",
]


@dataclass(frozen=True)
class StructuralDifference:
    """What separates a learned DAG from the true one; each pair of nodes is counted once.

    `missing` arcs are joined in the true graph only (written as there), `extra` arcs in the
    learned graph only, and `reversed` arcs in both but in opposite directions (written as learned).
    """

    missing: tuple[Pair, ...]
    extra: tuple[Pair, ...]
    reversed: tuple[Pair, ...]

    @property
    def hamming(self) -> int:
        """The number of single-arc changes that lead from the learned to the true DAG."""
        return len(self.missing) + len(self.extra) + len(self.reversed)

    def __str__(self) -> str:
        return (
            f"{self.hamming} differences: {len(self.missing)} missing, "
            f"{len(self.extra)} extra, {len(self.reversed)} reversed"
        )


def compare(learned: DAG, true: DAG) -> StructuralDifference:
    """The arcs that are missing, extra and reversed in `learned`, as seen from `true`.

    >>> true = DAG(["A", "B", "C"], [("A", "B"), ("B", "C")])
    >>> learned = DAG(["A", "B", "C"], [("B", "A"), ("A", "C")])
    >>> print(compare(learned, true))
    3 differences: 1 missing, 1 extra, 1 reversed
    >>> compare(learned, true).missing
    (('B', 'C'),)
    """
    check_same_nodes(learned.nodes, true.nodes)
    return StructuralDifference(
        missing=tuple(arc for arc in true.arcs if not learned.adjacent(*arc)),
        extra=tuple(arc for arc in learned.arcs if not true.adjacent(*arc)),
        reversed=tuple((x, y) for x, y in learned.arcs if true.has_arc(y, x)),
    )


def structural_hamming_distance(first: DAG, second: DAG) -> int:
    """The number of arcs to add, remove or reverse to turn one DAG into the other.

    Directions that data cannot decide count too; `equivalence_class_distance` leaves them out.

    >>> chain = DAG(["A", "B", "C"], [("A", "B"), ("B", "C")])
    >>> structural_hamming_distance(chain, chain.reversed_arc("A", "B"))
    1
    """
    return compare(first, second).hamming


def equivalence_class_distance(first: DAG, second: DAG) -> int:
    """The number of pairs of nodes that the two completed PDAGs join differently.

    This is the SHD of Tsamardinos, Brown & Aliferis (2006): an arc against an edge, against the
    opposite arc or against nothing costs one. Zero exactly for equivalent DAGs.

    >>> chain = DAG(["A", "B", "C"], [("A", "B"), ("B", "C")])
    >>> equivalence_class_distance(chain, chain.reversed_arc("A", "B"))
    0
    >>> equivalence_class_distance(chain, chain.reversed_arc("B", "C"))
    2
    """
    check_same_nodes(first.nodes, second.nodes)
    return len({pair for pair, _ in _links(first) ^ _links(second)})


def _links(dag: DAG) -> set[tuple[frozenset[str], Pair | None]]:
    # Each joined pair with its direction in the completed PDAG, None where that is open.
    pdag = completed_pdag(dag)
    arcs = {(frozenset(arc), arc) for arc in pdag.arcs}
    return arcs | {(frozenset(edge), None) for edge in pdag.edges}
