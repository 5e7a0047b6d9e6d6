"""UAI, the format of the inference competitions: numbers only, names and labels are lost.

Variables become `x0`, `x1`, ... with the states 0, 1, ... The last variable of a factor's scope is
the child and varies fastest, as in the competitions' definition.
"""

from __future__ import annotations

import re

from unveil.errors import FormatError
from unveil.formats.draft import Draft
from unveil.formats.spelling import checked_variable
from unveil.model.network import Network

__all__ = ["read_uai", "write_uai"]


def read_uai(text: str) -> Network:
    """The network in a UAI text of the BAYES kind."""
    words = _Words(text)
    kind = words.next("'BAYES'")
    if kind.upper() == "MARKOV":
        raise FormatError(
            "this is a MARKOV network (undirected); unveil reads Bayesian networks only, whose "
            "UAI files begin with BAYES"
        )
    if kind.upper() != "BAYES":
        raise FormatError(f"expected 'BAYES' at the beginning, got {kind[:40]!r}")
    draft = Draft()
    n_variables = words.count("the number of variables")
    sizes = words.counts(n_variables, "the number of states of variable")
    if sum(sizes) > words.left():
        raise FormatError(
            f"the variables are said to have {sum(sizes):,} states, but the file has only "
            f"{words.left():,} more numbers"
        )
    for i, n_states in enumerate(sizes):
        variable = checked_variable(f"x{i}", range(n_states), False, f"variable {i}")
        draft.add_variable(str(i), (), variable, f"variable {i}")
    n_factors = words.count("the number of factors")
    if n_factors != n_variables:
        raise FormatError(
            f"a Bayesian network has one factor per variable; this file has {n_factors} factors "
            f"for {n_variables} variables"
        )
    scopes = [_read_scope(words, i) for i in range(n_factors)]
    for i, scope in enumerate(scopes):
        family = draft.family(scope[-1], scope[:-1], f"factor {i}")
        listed = words.numbers(words.count(f"the number of entries of factor {i}"), f"factor {i}")
        draft.add_numbers(family, listed)
    if words.left():
        raise FormatError(f"{words.left()} more numbers than expected after the last factor")
    return draft.network()


def _read_scope(words: _Words, i: int) -> list[str]:
    size = words.count(f"the size of the scope of factor {i}")
    if size < 1:
        raise FormatError(f"factor {i} is over no variable")
    return [str(words.count(f"a variable in the scope of factor {i}")) for _ in range(size)]


class _Words:
    """The words of the file, one after the other."""

    def __init__(self, text: str) -> None:
        self._words = re.sub(r"#[^\n]*", "", text).split()
        self._at = 0

    def left(self) -> int:
        return len(self._words) - self._at

    def next(self, what: str) -> str:
        if not self.left():
            raise FormatError(f"expected {what}, got the end of the file (is it cut off?)")
        self._at += 1
        return self._words[self._at - 1]

    def count(self, what: str) -> int:
        word = self.next(what)
        if not (word.isascii() and word.isdigit() and len(word) < 19):
            raise FormatError(f"expected {what}, got {word[:40]!r}")
        return int(word)

    def counts(self, n: int, what: str) -> list[int]:
        return [self.count(f"{what} {i}") for i in range(n)]

    def numbers(self, n: int, what: str) -> list[float]:
        if n > self.left():
            raise FormatError(
                f"{what} is said to have {n:,} entries, but the file ends after {self.left()}"
            )
        words = self._words[self._at : self._at + n]
        self._at += n
        try:
            return [float(word) for word in words]
        except ValueError as error:
            raise FormatError(f"{what}: expected numbers; {error}") from None


def write_uai(network: Network) -> str:
    """The network as UAI text."""
    place = {name: i for i, name in enumerate(network.names)}
    lines = ["BAYES", str(len(place)), " ".join(str(v.n_states) for v in network.variables)]
    lines.append(str(len(place)))
    for name, cpd in network.cpds.items():
        scope = [*(place[p.name] for p in cpd.parents), place[name]]
        lines.append(" ".join(map(str, [len(scope), *scope])))
    for cpd in network.cpds.values():
        rows = cpd.to_dict()["values"]
        lines += ["", str(sum(map(len, rows)))]
        lines += [" ".join(map(repr, row)) for row in rows]
    return "\n".join(lines) + "\n"
