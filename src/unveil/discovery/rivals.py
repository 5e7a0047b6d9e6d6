"""Rival explanations: no further hidden variable, but tables written or weighed in another way.

A hidden variable can seem to pay because of something else that it happens to stand for. A parent
that matters only in some contexts makes a table larger than it has to be (2.1.3); parameters that
are hardly smoothed predict rare rows badly, and a hidden variable ties them together; so do arcs
that fit this table by chance. Each of these has a remedy without a hidden variable, and says
something else about the world.

A denser network is no rival: behind few columns, arcs between all of them say as much as any hidden
variable, at more parameters. That is what the score is for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from unveil.discovery.baseline import learn_complete
from unveil.discovery.bench import Bench
from unveil.discovery.compact import compacted
from unveil.discovery.patience import inside, steps_of
from unveil.discovery.predictions import FORGETTING
from unveil.discovery.settings import Settings
from unveil.em.short import short_em
from unveil.em.structural import structural_em
from unveil.model.fit import fit
from unveil.model.network import Network
from unveil.progress import Ticker
from unveil.table.core import Table

__all__ = ["RIVALS", "Rival", "readapted", "without_further"]


@dataclass(frozen=True)
class Rival:
    """Another way to learn, with or without a further hidden variable: its name, and what to try.

    Its prior is `smoother` times as strong, its score and the local structure of its tables are
    those named, if any is. Where only the prior is another one, graphs stay: smoothing is about
    parameters, and under a stronger prior a search adds arcs that predict worse than none.
    """

    name: str
    advice: str
    smoother: float = 1.0
    score: str | None = None
    local: str | None = None

    def settings(self, plain: Settings) -> Settings:
        """The settings it learns with."""
        size = self.smoother * plain.equivalent_sample_size
        return replace(plain, equivalent_sample_size=size, score=self.score or plain.score)

    def of(self, network: Network, bench: Bench, rows: Table, ticker: Ticker) -> Network | None:
        """What a network becomes if it is learned this way from these rows, if it can be."""
        bench = replace(bench, settings=self.settings(bench.settings))
        if self.local is None and self.score is None:
            return _refitted(network, bench, rows, ticker)
        if self.local is not None:
            return compacted(network, rows, bench.settings, bench.seed, ticker, self.local)
        if rows.is_complete and not set(network.names) - set(rows.names):
            return learn_complete(rows, bench.settings, 0, bench.seed, network.dag, ticker)
        return readapted(bench, network, rows, ticker)


RIVALS = (
    Rival("local structure inside of tables", "`unveil learn --local tree`", local="tree"),
    Rival("a prior five times as strong", "a larger equivalent sample size", smoother=5.0),
    Rival("a prior twenty times as strong", "a larger equivalent sample size", smoother=20.0),
    Rival("a sparser network", "`unveil learn --score bic`", score="bic"),
)
"""Trees of contexts hold most of what other kinds of local structure can say."""


def without_further(bench: Bench, rows: Table, ticker: Ticker) -> Network:
    """The network without a further hidden variable, searched for again.

    From nothing, where that can be: the graph that was learned from all rows knows those left out.
    """
    network, settings = bench.network, bench.settings
    if rows.is_complete and not network.hidden:
        return learn_complete(rows, settings, 0, bench.seed, settings.first_graph, ticker)
    return readapted(bench, network, rows, ticker)


def _refitted(network: Network, bench: Bench, rows: Table, ticker: Ticker) -> Network:
    """The same graph with parameters from these rows."""
    if rows.is_complete and not set(network.names) - set(rows.names):
        return fit(network, rows, bench.prior)
    return short_em(network, rows, bench.prior, *FORGETTING, progress=steps_of(ticker))


def readapted(bench: Bench, network: Network, rows: Table, ticker: Ticker) -> Network:
    """The network after structural EM and EM on these rows."""
    settings = bench.settings
    found = structural_em(
        rows, network, settings.criterion, prior=bench.prior, constraints=bench.limits(network),
        max_rounds=5, em_iterations=30, negligible=1e-3, seed=bench.seed,
        structure_prior=settings.structure_prior, **inside(ticker),
    ).network  # fmt: skip
    return short_em(found, rows, bench.prior, *FORGETTING, progress=steps_of(ticker))
