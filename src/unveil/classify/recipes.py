"""`Recipe`: one way to learn a classifier, and how it is carried out on rows.

Carried out, a recipe gives one network for every strength of its prior that is asked for; with
counted parameters, the best strength is found from the rows themselves by leaving each one out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from unveil.classify.columns import Columns, with_cuts
from unveil.classify.discriminative import PRECISIONS, climb
from unveil.classify.families import best_strength
from unveil.classify.hidden import discovered_network, hidden_network
from unveil.classify.networks import counted_network, weighted_network
from unveil.classify.search import conditional_search, selected
from unveil.classify.structure import Structure, k_dependence, naive, tree_augmented
from unveil.errors import DataError, did_you_mean
from unveil.model.network import Network
from unveil.progress import Ticker
from unveil.records import Record

__all__ = ["MODELS", "NUMBERS", "PARAMETERS", "Fit", "Recipe", "fits_of", "recipes_for"]

MODELS = {
    "naive": "naive Bayes",
    "tan": "tree-augmented naive Bayes",
    "kdb": "k-dependence",
    "network": "network around the class",
    "hidden": "naive Bayes with hidden states",
    "discover": "network with discovered hidden variables",
}
"""The models, with what they are called in words."""

PARAMETERS = ("generative", "discriminative")
NUMBERS = ("cut", "gaussian")

SEARCHED = 50_000
"""Structures and the strength of the prior are found from at most so many rows."""

SEARCH_STRENGTH = 4.0
"""While a network is searched for, the prior weighs at most this: a heavier one hides arcs."""


@dataclass(frozen=True)
class Recipe(Record):
    """A model, how its parameters are found, what becomes of numbers, and whether it selects.

    `k` is for `kdb` and `network` (most parents beside the class), `n_states` for `hidden`.
    """

    model: str = "naive"
    parameters: str = "generative"
    numbers: str = "cut"
    selective: bool = False
    k: int = 2
    n_states: int = 2

    def __post_init__(self) -> None:
        _check_choice("model", self.model, MODELS)
        _check_choice("parameters", self.parameters, PARAMETERS)
        _check_choice("numbers", self.numbers, NUMBERS)
        if self.k < 1 or self.n_states < 2:
            raise DataError(
                f"k is 1 or more and n_states 2 or more, got {self.k} and {self.n_states}"
            )
        if self.parameters == "discriminative" and self.model not in CLIMBED:
            raise DataError(
                f"discriminative parameters are for {', '.join(CLIMBED)}, whose conditional "
                f"likelihood has one maximum; the model {self.model!r} is learned with generative "
                "ones"
            )

    @property
    def words(self) -> str:
        """The recipe for people."""
        name = MODELS[self.model].replace("k-dep", f"{self.k}-dep")
        words = [("selective " if self.selective else "") + name]
        if self.model == "hidden":
            words[0] = f"naive Bayes with {self.n_states} hidden states"
        if self.parameters == "discriminative":
            words.append("discriminative")
        if self.numbers == "gaussian":
            words.append("numbers as Gaussians")
        return ", ".join(words)

    @property
    def left_out_is_exact(self) -> bool:
        """Whether taking counts back says how well it predicts new rows.

        Not where the structure was chosen by that very criterion, and not without counts.
        """
        counted = self.parameters == "generative" and self.model in ("naive", "tan", "kdb")
        return counted and not self.selective


@dataclass(frozen=True)
class Fit:
    """A network, the strength of its prior, and the structure it was counted or climbed over."""

    network: Network
    strength: float | None
    structure: Structure | None


def fits_of(
    recipe: Recipe,
    columns: Columns,
    strengths: Sequence[float] | None = None,
    seed: int | None = None,
    ticker: Ticker | None = None,
) -> Iterator[Fit]:
    """The networks that the recipe gives, for each of the strengths of its prior.

    Without strengths: those of `PRECISIONS` for discriminative parameters, the best by leave-one-
    out for counted ones.
    """
    ticker = ticker or Ticker()
    if recipe.model in LATENT:
        made = LATENT[recipe.model](recipe, with_cuts(columns), seed, ticker)
        yield Fit(made, None, None)
        return
    rows = with_cuts(columns) if recipe.numbers == "cut" else columns
    some = rows.at_most(SEARCHED)
    structure = _structure(recipe, some, ticker)
    if recipe.parameters == "generative":
        chosen = [best_strength(some, structure)] if strengths is None else strengths
        for strength in chosen:
            yield Fit(counted_network(rows, structure, strength), strength, structure)
        return
    start = None
    for strength in PRECISIONS if strengths is None else strengths:
        weights = climb(rows, structure, strength, start)
        start = weights.flat
        yield Fit(weighted_network(rows, structure, weights), strength, structure)


def recipes_for(
    columns: Columns,
    model: str = "auto",
    parameters: str = "auto",
    numbers: str = "auto",
    selective: bool = False,
    k: int = 2,
    n_states: int = 2,
) -> list[Recipe]:
    """The recipes that agree with what is asked for, the quick ones first.

    What is "auto" is left open. Numbers are taken both ways only where there are some.
    """
    _check_choice("model", model, ["auto", *MODELS])
    _check_choice("parameters", parameters, ["auto", *PARAMETERS])
    _check_choice("numbers", numbers, ["auto", *NUMBERS])
    if model != "auto" and model not in CLIMBED and parameters == "discriminative":
        Recipe(model, parameters)  # which says why not
    continuous = any(not v.is_discrete for v in columns.variables)
    ways = NUMBERS if numbers == "auto" and continuous else [numbers.replace("auto", "cut")]
    models = [model] if model != "auto" else TRIED if len(columns.names) > 1 else ["naive"]
    offers = [
        Recipe(name, way, number, chosen, max(k, 3) if name == "network" else k, n_states)
        for name in models
        for way in (PARAMETERS if name in CLIMBED else PARAMETERS[:1])
        for number in (ways if name not in LATENT else ["cut"])
        for chosen in ([True] if selective else [False, True] if model == "auto" else [False])
        if parameters in ("auto", way)
        if not chosen or selective or name == "naive"
    ]
    return [r for r in offers if not r.selective or r.model in CLIMBED]


def _check_choice(what: str, value: object, known: Sequence[str] | dict[str, str]) -> None:
    if value not in known:
        raise DataError(
            f"{what} is one of {', '.join(known)}, not {value!r}.{did_you_mean(value, known)}"
        )


def _structure(recipe: Recipe, columns: Columns, ticker: Ticker) -> Structure:
    if recipe.model == "network":
        strength = min(best_strength(columns, naive(columns)), SEARCH_STRENGTH)
        return conditional_search(columns, strength, recipe.k, ticker)
    structure = STRUCTURES[recipe.model](recipe, columns)
    if recipe.selective:
        structure = selected(columns, structure, best_strength(columns, structure), ticker)
    return structure


STRUCTURES: dict[str, Callable[[Recipe, Columns], Structure]] = {
    "naive": lambda recipe, columns: naive(columns),
    "tan": lambda recipe, columns: tree_augmented(columns),
    "kdb": lambda recipe, columns: k_dependence(
        columns, recipe.k, perfect=recipe.parameters == "discriminative"
    ),
}
"""The structures that follow from counts alone."""

LATENT: dict[str, Callable[[Recipe, Columns, int | None, Ticker], Network]] = {
    "hidden": lambda recipe, columns, seed, ticker: hidden_network(
        columns, recipe.n_states, seed, ticker
    ),
    "discover": lambda recipe, columns, seed, ticker: discovered_network(columns, seed, ticker),
}
"""The models with hidden variables."""

TRIED = ("naive", "tan", "kdb", "network", "hidden")
"""The models that `auto` tries."""

CLIMBED = tuple(STRUCTURES)
"""The models whose parameters can be discriminative."""
