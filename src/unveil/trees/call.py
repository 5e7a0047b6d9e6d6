"""The models of this room, each made from a table in one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Unpack

from unveil.graph.dag import DAG
from unveil.table.core import Table
from unveil.table.door import Data
from unveil.table.places import free_name
from unveil.table.variable import Variable
from unveil.trees.door import Work, checked_states
from unveil.trees.fit import HiddenTree, TreeSettings, fit_structure, random_network
from unveil.trees.groups import Groups, hierarchy_shape
from unveil.trees.information import chow_liu_parents, indicators, mutual_information
from unveil.trees.options import TreeOptions, checked_options, takes_options
from unveil.trees.shape import TreeShape
from unveil.trees.shared import shared_trees

__all__ = ["MODELS", "hidden_chow_liu", "hierarchy", "mixture_of_trees", "naive_bayes"]


@takes_options
def naive_bayes(
    data: Data, n_states: int = 4, *, name: str = "class", **how: Unpack[TreeOptions]
) -> HiddenTree:
    """One hidden variable above all columns: the latent class model with a given number of classes.

    `latent_classes` also chooses the number, and says more about the classes. For the rest see
    `hidden_chow_liu`.

    >>> from unveil import datasets
    >>> found = naive_bayes(datasets.table("college_plans"), 3, seed=1)
    >>> print(found.outline.splitlines()[0])
    class (3 states)
    """
    work, settings = checked_options(data, **how)
    hidden = _hidden(work.table, {name: n_states})
    (root,) = hidden
    shape = TreeShape({root: None, **dict.fromkeys(work.table.names, root)}, hidden)
    return _fitted("naive Bayes", shape, work, settings)


@takes_options
def hierarchy(
    data: Data, groups: Groups, n_states: int | Mapping[str, int] = 4, **how: Unpack[TreeOptions]
) -> HiddenTree:
    """A hidden variable for every group of columns, arranged as the groups are (thesis 6.5).

    `groups` are nested lists of column names (`[["a", "b"], ["c", "d"]]`), dicts where groups have
    names, JSON text of these or the path of such a file; `quadrants` makes those of an image, and
    `"quadrants:16x16x4"` those of an image whose pixels are the columns in order.
    `n_states` is the number of states of every hidden variable, or one for each by name. For the
    rest see `hidden_chow_liu`.

    >>> from unveil import datasets
    >>> rows = datasets.table("college_plans")
    >>> groups = {"all": {"home": ["SES", "PE"], "pupil": ["SEX", "IQ", "CP"]}}
    >>> print(hierarchy(rows, groups, n_states=2, seed=1).outline)
    all (2 states)
      home (2 states)
        SES
        PE
      pupil (2 states)
        SEX
        IQ
        CP
    """
    work, settings = checked_options(data, **how)
    for number in n_states.values() if isinstance(n_states, Mapping) else [n_states]:
        checked_states(number, work.table)
    shape = hierarchy_shape(work.table, groups, n_states)
    return _fitted("hierarchy", shape, work, settings)


@takes_options
def hidden_chow_liu(data: Data, n_states: int = 4, **how: Unpack[TreeOptions]) -> HiddenTree:
    """A hidden variable behind every column, arranged as the Chow-Liu tree of the columns.

    The tree joins the columns that say most about one another (`mutual_information`). Each column
    hangs below its own hidden variable of `n_states` states, so dependences reach further than in
    a tree of the columns themselves, and inference stays a walk up and down the tree. A strong
    model of a table's distribution; with two states close to a Chow-Liu tree with noise.

    What all models of this room take besides:

    - `data`, `weights`, `drop`, `discretize`, `n_bins`, `keep` as `unveil.learn` does; cells may be
      missing.
    - `validation`: rows that say when to stop and which start is best, as another table or as the
      part of the rows to keep for it; `patience` is for how many steps they may be predicted no
      better.
    - `equivalent_sample_size` (1 unless given) or another `prior`.
    - `n_starts` random starts; `epochs` times over parts of `batch_size` rows first (20 times if
      there are at least 2,000 rows), then at most `max_iterations` steps over all rows, until they
      gain less than the part `tolerance` of the objective.
    - `seed`, `progress`, `time_limit` as everywhere.

    >>> from unveil import datasets
    >>> found = hidden_chow_liu(datasets.table("college_plans"), 2, seed=1)
    >>> len(found.hidden), found.network.dag.parents("SES")
    (5, ('H_SES',))
    """
    work, settings = checked_options(data, **how)
    table = work.table
    parents = chow_liu_parents(mutual_information(*indicators(table), table.row_weights))
    names = _free_names([f"H_{name}" for name in table.names], table)
    hidden = _hidden(table, dict.fromkeys(names, n_states))
    links: dict[str, str | None] = {
        name: None if p < 0 else names[p] for name, p in zip(names, parents, strict=True)
    }
    below = dict(zip(table.names, names, strict=True))
    shape = TreeShape(_parents_first({**links, **below}), hidden)
    return _fitted("hidden Chow-Liu tree", shape, work, settings)


@takes_options
def mixture_of_trees(
    data: Data, n_trees: int = 2, *, name: str = "tree", rounds: int = 5, **how: Unpack[TreeOptions]
) -> HiddenTree:
    """A hidden class above a tree of the columns: one tree for all classes, each with its tables.

    The tree joins the columns that say most about one another within the classes; it is chosen
    anew after EM until it stays the same, at most `rounds` times (Meila and Jordan 2000, with a
    shared structure; `mixture_of_networks` gives every class a structure of its own). For the rest
    see `hidden_chow_liu`.

    >>> from unveil import datasets
    >>> found = mixture_of_trees(datasets.table("college_plans"), 2, seed=1)
    >>> all("tree" in found.network.dag.parents(x) for x in ("SEX", "IQ", "CP", "PE", "SES"))
    True
    """
    work, settings = checked_options(data, **how)
    hidden = _hidden(work.table, {name: n_trees}, "trees")
    (root,) = hidden.values()
    return shared_trees(work, root, settings, rounds)


MODELS = {
    "naive-bayes": naive_bayes,
    "hierarchy": hierarchy,
    "hidden-chow-liu": hidden_chow_liu,
    "mixture-of-trees": mixture_of_trees,
}
"""The models by the names that the command line gives them."""


def _fitted(model: str, shape: TreeShape, work: Work, settings: TreeSettings) -> HiddenTree:
    """The model with the parameters EM finds."""
    table = work.table.select(shape.columns)
    variables = {**{v.name: v for v in table.variables}, **shape.hidden}
    start = partial(random_network, shape.dag, variables, table)
    kept = None if work.validation is None else work.validation.select(shape.columns)
    return fit_structure(model, start, table, work.prior, settings, work.seed, work.ticker, kept)


def _hidden(table: Table, n_states: Mapping[str, int], what: str = "states") -> dict[str, Variable]:
    """Hidden variables of so many states, by names that no column has."""
    return {
        own: Variable(own, range(checked_states(n, table, what)), hidden=True)
        for own, n in zip(_free_names(list(n_states), table), n_states.values(), strict=True)
    }


def _free_names(names: Sequence[str], table: Table) -> list[str]:
    taken, found = list(table.names), []
    for name in names:
        found.append(free_name(name, taken))
        taken.append(found[-1])
    return found


def _parents_first(parents: Mapping[str, str | None]) -> dict[str, str | None]:
    dag = DAG(parents, [(p, c) for c, p in parents.items() if p is not None])
    return {name: parents[name] for name in dag.topological_order}
