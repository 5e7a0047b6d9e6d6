"""Random networks for the tests: one-state variables, odd names, typed labels, hidden marks."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from unveil import Network, TableCPD, Variable
from unveil.table.variable import label_key

ODD_TEXTS = [
    "a b", "a,b", "a|b", "(a)", "{a}", "[0, 5)", "<5", ">=5", "+", "-", "50%", "a/b", "a//b",
    "/* a */", "a;b", "a=b", 'a"b', '"', "a'b", "\\", "a\\", "é", "水", "a\nb", "\t", " ", " a ",
    "1", "1.0", "1e5", "-1", "true", "True", "table", "default", "variable", "node", "x_1", "&amp;",
    "<b>", "]]>", "nan", "unveil:", "% unveil: {}", "a_b", "_", "__", "0", "01", "\x00", "\ud800",
    "",
]  # fmt: skip

odd_texts = st.one_of(st.sampled_from(ODD_TEXTS), st.text(max_size=6))
odd_labels = st.one_of(
    odd_texts, st.integers(-3, 3), st.booleans(), st.floats(allow_nan=False, allow_infinity=False)
)


def random_table(variable, parents, generator) -> TableCPD:
    """A random table with some rows of zeros and ones, and some exact thirds."""
    shape = [v.n_states for v in (*parents, variable)]
    values = generator.dirichlet(np.ones(shape[-1]), size=shape[:-1])
    certain = generator.random(shape[:-1]) < 0.2
    values[certain] = np.eye(shape[-1])[generator.integers(shape[-1])]
    return TableCPD(variable, parents, values)


def random_network(variables, seed, name="", description="") -> Network:
    """Random arcs (at most three parents) and tables over the variables, in shuffled order."""
    generator = np.random.default_rng(seed)
    cpds = []
    for i, variable in enumerate(variables):
        count = int(generator.integers(0, min(i, 3) + 1))
        parents = [variables[j] for j in generator.permutation(i)[:count]]
        cpds.append(random_table(variable, parents, generator))
    return Network([cpds[i] for i in generator.permutation(len(cpds))], name, description)


def plain_network(seed, n_variables=7) -> Network:
    """A network whose names and labels every format and every peer can spell."""
    generator = np.random.default_rng(seed)
    variables = [
        Variable(f"V{i}", [f"s{i}_{k}" for k in range(generator.integers(2, 5))])
        for i in range(n_variables)
    ]
    return random_network(variables, seed + 1, "plain")


@st.composite
def odd_networks(draw) -> Network:
    """A network with odd names, odd and typed labels, one-state variables and hidden marks."""
    names = draw(st.lists(odd_texts.filter(bool), min_size=1, max_size=5, unique=True))
    variables = [
        Variable(
            name,
            draw(st.lists(odd_labels, min_size=1, max_size=4, unique_by=label_key)),
            hidden=draw(st.booleans()),
        )
        for name in names
    ]
    return random_network(variables, draw(st.integers(0, 999)), draw(odd_texts), draw(odd_texts))
