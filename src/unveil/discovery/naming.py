"""Names for what was found: `H1` becomes `severity`, its states `low` and `high`, everywhere.

A discovery works with names of its own (`H1`, `H2`, ...), so that an interrupted one can go on
whatever its variables are called in the end. `named` gives the report with other names.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from unveil.discovery.candidates import Candidate
from unveil.discovery.evidence import Evidence, gain_in_words
from unveil.discovery.meaning import Meaning
from unveil.discovery.procedure import Discovery, Round
from unveil.errors import DataError
from unveil.model.network import Network
from unveil.table.places import tell
from unveil.table.variable import Label

if TYPE_CHECKING:
    from unveil.discovery.call import DiscoveryReport

__all__ = ["Names", "StateNames", "VariableNames", "check_names", "named"]

VariableNames = Mapping[str, str]
"""What to call hidden variables: `{"H1": "severity"}`."""
StateNames = Mapping[str, Sequence[Label]]
"""What to call their states, in order: `{"severity": ["low", "high"]}`; the old name will do."""


@dataclass(frozen=True)
class Names:
    """What hidden variables and their states are called, all by the names they had."""

    variables: VariableNames
    states: StateNames

    def of(self, name: str) -> str:
        """The new name of a variable; its own, if it has none."""
        return self.variables.get(name, name)

    def among(self, names: Collection[str]) -> Names:
        """Those that are for one of these variables."""
        return Names(
            {old: new for old, new in self.variables.items() if old in names},
            {old: states for old, states in self.states.items() if old in names},
        )

    def network(self, network: Network) -> Network:
        """The network with the new names, states first."""
        mine = self.among(network.hidden)
        return network.relabelled(mine.states).renamed(mine.variables)


def check_names(
    variables: VariableNames | None, states: StateNames | None, columns: Collection[str]
) -> Names:
    """The names, after making sure that they are different from each other and from the columns.

    >>> check_names({"H1": "severity"}, {"severity": ["low", "high"]}, ["age"]).states
    {'H1': ['low', 'high']}
    """
    new = dict(variables or {})
    for name in new.values():
        if name in columns:
            raise DataError(
                f"the table has a column {name!r}; call the hidden variable something else"
            )
        if list(new.values()).count(name) > 1:
            raise DataError(f"two hidden variables cannot both be called {name!r}")
    old = {name: had for had, name in new.items()}
    listed = {old.get(name, name): list(labels) for name, labels in (states or {}).items()}
    for name, labels in listed.items():
        if isinstance((states or {}).get(name), str) or len(set(labels)) < len(labels):
            raise DataError(f"the states of {name!r} need names that differ, got {labels!r}")
    return Names(new, listed)


def named(report: DiscoveryReport, names: Names) -> DiscoveryReport:
    """The report with its hidden variables and their states called so.

    Names for a variable that was not found, or for another number of states, are told of and not
    used: the work is done, and must not be lost for a word.
    """
    names = _fitting(report, names)
    if not (names.variables or names.states):
        return report
    return replace(
        report,
        discovery=_discovery(report.discovery, names),
        evidence={names.of(n): _evidence(e, names) for n, e in report.evidence.items()},
        meaning={
            names.of(n): _meaning(m, names, report.network) for n, m in report.meaning.items()
        },
        agreements=tuple(
            replace(
                a, name=names.of(a.name), states=tuple(names.states.get(a.name, a.states))
            )
            for a in report.agreements
        ),
    )  # fmt: skip


def _fitting(report: DiscoveryReport, names: Names) -> Names:
    """The names that can be used here; the others are told of."""
    found = report.hidden
    for name in dict.fromkeys([*names.variables, *names.states]):
        if name not in found:
            tell(f"no hidden variable {name} was found, so nothing is called so")
    states = dict(names.among(found).states)
    for name in [n for n in found if n in states]:
        n_states = report.network.variable(name).n_states
        if len(states[name]) != n_states:
            tell(
                f"{name} has {n_states} states, and {len(states[name])} names were given for "
                "them; they keep their numbers"
            )
            del states[name]
    return Names(names.among(found).variables, states)


def _discovery(found: Discovery, names: Names) -> Discovery:
    rounds = tuple(_round(round_, names) for round_ in found.rounds)
    return replace(found, network=names.network(found.network), rounds=rounds)


def _round(round_: Round, names: Names) -> Round:
    """A round: the variable it kept, and those kept before, have their new names.

    What else was tried in it was called the same, but is something else: it keeps its own.
    """
    before = names.among(round_.before.hidden)
    kept = None if round_.kept is None else _candidate(round_.kept, names)
    tried = tuple(
        kept if c is round_.kept and kept is not None
        else _candidate(c, before) if isinstance(c, Candidate)
        else replace(c, children=tuple(before.of(n) for n in c.children))
        for c in round_.candidates
    )  # fmt: skip
    return replace(round_, before=before.network(round_.before), candidates=tried, kept=kept)


def _candidate(candidate: Candidate, names: Names) -> Candidate:
    place = replace(
        candidate.place,
        name=names.of(candidate.name),
        nodes=tuple(names.of(n) for n in candidate.place.nodes),
    )
    tree = candidate.agglomeration
    if tree is not None:
        blanket = tuple(names.of(n) for n in tree.blanket)
        tree = replace(tree, name=names.of(tree.name), blanket=blanket)
    network = names.network(candidate.network)
    others = tuple(names.of(n) for n in candidate.others)
    return replace(candidate, place=place, network=network, agglomeration=tree, others=others)


def _evidence(proof: Evidence, names: Names) -> Evidence:
    name = names.of(proof.name)
    return replace(proof, name=name, words=gain_in_words(name, proof.gain))


def _meaning(meaning: Meaning, names: Names, network: Network) -> Meaning:
    def state(variable: str, label: Label) -> Label:
        if variable not in names.states:
            return label
        return names.states[variable][network.variable(variable).code_of(label)]

    profiles = tuple(
        replace(
            p,
            variable=names.of(p.variable),
            state=state(p.variable, p.state),
            traits=tuple(
                replace(t, variable=names.of(t.variable), value=state(t.variable, t.value))
                for t in p.traits
            ),
        )
        for p in meaning.profiles
    )
    return replace(
        meaning,
        name=names.of(meaning.name),
        information={names.of(n): bits for n, bits in meaning.information.items()},
        profiles=profiles,
        values={names.of(n): v for n, v in meaning.values.items()},
        overall={names.of(n): v for n, v in meaning.overall.items()},
    )
