"""Random DAGs for hypothesis: names in one order, arcs along another."""

from itertools import combinations

from hypothesis import strategies as st

from unveil.graph import DAG


@st.composite
def dags(draw, min_nodes=1, max_nodes=6):
    """A DAG whose node order need not be topological and whose arcs come shuffled."""
    nodes = list("ABCDEFGHIJKLMNOP"[: draw(st.integers(min_nodes, max_nodes))])
    along = draw(st.permutations(nodes))
    possible = list(combinations(along, 2))
    kept = draw(st.lists(st.booleans(), min_size=len(possible), max_size=len(possible)))
    arcs = [arc for arc, keep in zip(possible, kept, strict=True) if keep]
    return DAG(nodes, draw(st.permutations(arcs)))


@st.composite
def separation_questions(draw, max_nodes=6):
    """A DAG with three disjoint sets of its nodes: xs and ys, neither empty, and given."""
    dag = draw(dags(min_nodes=2, max_nodes=max_nodes))
    shuffled = draw(st.permutations(dag.nodes))
    roles = draw(st.lists(st.sampled_from("xyz-"), min_size=dag.n_nodes - 2, max_size=dag.n_nodes))
    chosen = dict(zip(shuffled, ["x", "y", *roles], strict=False))
    return dag, *({node for node, role in chosen.items() if role == wanted} for wanted in "xyz")
