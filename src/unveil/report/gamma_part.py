"""The course in gamma of a hidden variable, and the groups of a hierarchy, on a page.

Likelihood and I(T; Y) against gamma with the steps taken (thesis Fig. 6.8), the states that the
score tells apart (Fig. 6.9), and the hierarchy with its groups (Fig. 6.16).
"""

from __future__ import annotations

from unveil.discovery.candidates import Candidate
from unveil.graph.dag import DAG
from unveil.model.network import Network
from unveil.report.charts import line_chart
from unveil.report.page import Page
from unveil.report.picture import svg_text
from unveil.report.text import shorten

__all__ = ["add_course", "add_groups", "groups_of"]

MOST_NAMED = 3
"""So many columns of a group are named in its box, at most."""
MOST_LETTERS, LEAST_LETTERS = 28, 8
"""There is room for so many letters in a box, of which a single name has some in any case."""


def add_course(page: Page, kept: Candidate) -> None:
    """How the hidden variable came about, step by step in gamma; nothing, if it did not so."""
    if not kept.course:
        return
    gamma = [p.gamma for p in kept.course]
    splits = [p for p in kept.course if "splits" in p.what]
    page.section(f"{kept.name}: how it came about")
    page.text(
        "Information-bottleneck EM followed one solution from gamma = 0, where a hidden variable "
        f"tells nothing, to gamma = {gamma[-1]:.3g}"
        + (", where it is EM's" if gamma[-1] == 1 else "")
        + f", in {len(gamma)} steps"
        + (f"; states split off at gamma {_listed([p.gamma for p in splits])}." if splits else "."),
        "The structure was adapted afterwards, so that what is shown elsewhere on this page may "
        "have other arcs.",
    )
    told = (
        ([p.log_likelihood for p in kept.course], "log-likelihood (nats)",
         "The log-likelihood of all rows at every step (circles)."),
        ([sum(p.information) for p in kept.course], "I(T;Y) (nats)",
         "How much the hidden states tell of single rows."),
        ([float(sum(p.effective)) for p in kept.course], "states told apart",
         "How many states the score tells apart."),
    )  # fmt: skip
    page.figures(
        [
            (line_chart(gamma, y, x_name="gamma", y_name=name, width=420, height=240), words)
            for y, name, words in told
        ]
    )


def _listed(numbers: list[float], most: int = 8) -> str:
    words = ", ".join(f"{x:.2f}" for x in numbers[:most])
    return words + (" and later" if len(numbers) > most else "")


def groups_of(network: Network) -> dict[str, list[str]]:
    """The columns below each hidden variable, by the hidden variable."""
    return {
        h: [c for c in network.dag.children(h) if c not in network.hidden] for h in network.hidden
    }


def add_groups(page: Page, network: Network) -> None:
    """Hidden variables above one another and their groups of columns, if there are several."""
    if len(network.hidden) < 2:
        return
    groups = groups_of(network)
    boxes = {h: _box(h, columns) for h, columns in groups.items() if columns}
    arcs = [(p, c) for p, c in network.dag.arcs if p in groups and c in groups]
    arcs += list(boxes.items())
    captions = {h: f"{network.variable(h).n_states} states" for h in groups}
    page.section("Groups")
    page.figure(
        svg_text(DAG([*groups, *boxes.values()], arcs), captions=captions),
        "The hidden variables, how they depend on one another, and the columns that each is a "
        "parent of.",
    )
    page.items([f"{h}: {', '.join(columns) or 'no column'}." for h, columns in groups.items()])


def _box(hidden: str, columns: list[str]) -> str:
    """The words in the box of a group; no two are the same, for they begin with the variable.

    As many columns are named as there is room for, so that what is left out is never the middle of
    the words.

    >>> _box("H1", ["height in cm", "weight in kg", "age"])
    'H1: height in cm and 2 more'
    """
    for n in range(min(MOST_NAMED, len(columns)), 0, -1):
        words = f"{hidden}: {', '.join(columns[:n])}" + _more(len(columns) - n)
        if len(words) <= MOST_LETTERS:
            return words
    ends = f"{hidden}: ", _more(len(columns) - 1)
    room = max(MOST_LETTERS - sum(map(len, ends)), LEAST_LETTERS)
    return ends[0] + shorten(columns[0], room) + ends[1]


def _more(n: int) -> str:
    return f" and {n} more" if n else ""
