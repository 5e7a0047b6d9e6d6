"""Small partially directed graphs, all of a kind."""

from itertools import product

from unveil.errors import CycleError
from unveil.graph import PDAG

PAIRS = [("A", "B"), ("B", "C"), ("C", "D"), ("D", "A"), ("A", "C")]


def markings_of_a_square():
    """Every way to leave out, direct or not direct the sides of a square and one diagonal.

    Those with a cycle of arcs are left out.
    """
    for marks in product("-><o", repeat=len(PAIRS)):
        chosen = [(p, m) for p, m in zip(PAIRS, marks, strict=True) if m != "-"]
        arcs = [p if m == ">" else p[::-1] for p, m in chosen if m in "><"]
        try:
            yield PDAG(["A", "B", "C", "D"], arcs, [p for p, m in chosen if m == "o"])
        except CycleError:
            continue
