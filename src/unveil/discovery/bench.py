"""What every candidate of a round is tried against: the network without it, and the rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from unveil.discovery.predictions import cross_validated
from unveil.discovery.settings import Settings
from unveil.em.completion import complete_rows
from unveil.em.scores import hidden_scores
from unveil.graph.dag import DAG
from unveil.infer.explain import most_probable
from unveil.model.network import Network
from unveil.model.prior import EquivalentSampleSize
from unveil.progress import Ticker
from unveil.table.core import Table

__all__ = ["Bench", "complete_hidden"]


@dataclass(frozen=True)
class Bench:
    """What every candidate of a round is tried against.

    `network` is the one without the candidate, with Cheeseman-Stutz score `score` on `table`;
    `completed` are the same rows with gaps and earlier hidden variables filled in. Candidates are
    tried on `glanced`, the rows with their gaps filled in: EM then sums over hidden variables only,
    which may be a thousand times less work. What comes out best is fitted and scored again with the
    gaps.
    """

    network: Network
    score: float
    table: Table
    completed: Table
    settings: Settings
    seed: int

    @classmethod
    def of(
        cls, network: Network, score: float, table: Table, settings: Settings, seed: int
    ) -> Bench:
        """The bench with the rows as the network completes them."""
        completed = complete_hidden(network, table, seed)
        return cls(network, score, table, completed, settings, seed)

    @property
    def prior(self) -> EquivalentSampleSize:
        """The prior that the scores imply."""
        return self.settings.prior

    @property
    def n_states(self) -> int | None:
        """The number of states that candidates have to have, if it is fixed."""
        return self.settings.n_states

    @cached_property
    def glanced(self) -> Table:
        """The rows to try candidates on: without gaps."""
        return self.table if self.table.is_complete else self.completed.select(self.table.names)

    @cached_property
    def _glanced_score(self) -> float:
        if self.glanced is self.table:
            return self.score
        return hidden_scores(self.network, self.glanced, self.prior).cheeseman_stutz

    @cached_property
    def with_gaps(self) -> Bench:
        """The bench on which candidates are tried on the rows as they are."""
        return replace(self, completed=self.table)

    def gain_at_a_glance(self, network: Network) -> float:
        """The gain of a network over the one without the candidate on `glanced`, in nats."""
        score = hidden_scores(network, self.glanced, self.prior).cheeseman_stutz
        return score - self._glanced_score

    def predicted(self, network: Network, ticker: Ticker) -> float:
        """What a network gains over the one without the candidate on rows left out, in nats.

        The log-likelihood of every row under parameters from the other folds, summed. NaN, if the
        ticker stopped it.
        """
        if "_left_out_without" not in vars(self):
            without = self._left_out(self.network, ticker)
            if without is None:
                return float("nan")
            vars(self)["_left_out_without"] = without
        found = self._left_out(network, ticker)
        return float("nan") if found is None else found - vars(self)["_left_out_without"]

    def _left_out(self, network: Network, ticker: Ticker) -> float | None:
        found = cross_validated(network, self.table, self.settings, 5, self.seed, ticker)
        if found is None:
            return None
        # Of a very large table some rows stand for all.
        return found.log_likelihood * self.table.total_weight / float(found.weights.sum())

    def childless(self, dag: DAG) -> list[str]:
        """The earlier hidden variables that would have no child in this graph."""
        return [h for h in self.network.hidden if not dag.children(h)]

    def too_many_parents(self, dag: DAG) -> bool:
        """Whether some variable has more parents than are allowed."""
        most = self.settings.max_parents
        return most is not None and any(len(dag.parents(n)) > most for n in dag.nodes)


def complete_hidden(network: Network, table: Table, seed: int) -> Table:
    """The rows with gaps and hidden variables filled in (not always in the same order).

    Gaps are filled by a draw from their posterior: their most probable explanation would make
    everything look more regular than it is. Rows that lack hidden variables only get that.
    """
    observed = table.select([n for n in network.names if n in table])
    if not observed.is_complete:
        return complete_rows(network, observed, cap=1, draws=1, seed=seed)
    if len(observed.names) == len(network.names):
        return observed.conform(network.variables)
    return most_probable(network, observed).table
