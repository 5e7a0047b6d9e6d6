"""How scores judge incomplete data: each by itself, also one that somebody adds."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from score.tables import random_table

from unveil import (
    BDe,
    BDeu,
    EquivalentSampleSize,
    Network,
    PriorNetwork,
    PseudoCount,
    TableCPD,
    datasets,
    structural_em,
)
from unveil.em import hidden_scores
from unveil.em.structural import observed_score
from unveil.graph import DAG
from unveil.model import fit
from unveil.score import K2, SCORES, FactorisedNML, FamilyScores, LogLikelihood, QuotientNML


@dataclass(frozen=True)
class HannanQuinn(LogLikelihood):
    """The score that the developer's page teaches to add."""

    name: ClassVar[str] = "hannan-quinn"

    def penalty(self, n_configurations, n_states, n_parents, sample):
        return math.log(math.log(sample.total_weight)) * n_configurations * (n_states - 1)


MADE = {**{name: made() for name, made in SCORES.items()}, "hannan-quinn": HannanQuinn()}
MADE["bdeu 7"] = BDeu(7.0)
MADE["bde"] = BDe(PseudoCount(0.5))


@pytest.mark.parametrize("name", sorted(MADE))
def test_complete_data_are_judged_by_the_score_itself(name):
    table = random_table(3, (2, 3, 2, 2), 50, "fractional")
    dag = DAG(table.names, [("A", "B"), ("C", "B"), ("B", "D")])
    expected = FamilyScores(table, MADE[name]).total(dag)
    found, likelihood = observed_score(fit(dag, table), table, MADE[name])
    assert found == pytest.approx(expected, rel=1e-9)
    assert likelihood == pytest.approx(fit(dag, table).log_likelihood(table))


@pytest.mark.parametrize("name", ["fnml", "qnml", "hannan-quinn", "bde", "k2", "bdeu 7"])
def test_structural_em_takes_every_score(name):
    rows = datasets.network("asia").sample(400, seed=1).knock_out(0.1, seed=2)
    found = structural_em(rows, score=MADE[name], seed=1)
    assert found.stopped == "converged"
    assert found.dag.n_arcs >= 4
    assert found.score == pytest.approx(observed_score(found.network, rows, MADE[name])[0])
    assert found.score > observed_score(fit_alone(rows), rows, MADE[name])[0]


def fit_alone(rows):
    """A network without arcs whose tables are the shares among the cells that are there."""
    cpds = []
    for v in rows.variables:
        shown = rows.take(np.flatnonzero(~rows.missing(v.name))).select([v.name])
        cpds.append(fit(DAG([v.name]), shown).cpd(v.name))
    return Network(cpds)


def test_marginal_likelihoods_are_those_of_cheeseman_and_stutz():
    rows = datasets.network("asia").sample(100, seed=1).knock_out(0.2, seed=2)
    network = datasets.network("asia")
    for score, prior in ((BDeu(3.0), EquivalentSampleSize(3.0)), (K2(), PseudoCount(1.0))):
        assert score.prior == prior
        expected = hidden_scores(network, rows, prior).cheeseman_stutz
        assert observed_score(network, rows, score)[0] == pytest.approx(expected, rel=1e-10)


def test_priors_that_scores_imply():
    x = TableCPD.uniform(datasets.network("asia").variable("lung"))
    prior = PriorNetwork(Network([x]), 2.0)
    assert BDe(prior).prior is prior
    assert BDeu(4.0).prior == EquivalentSampleSize(4.0)
    for score in (FactorisedNML(), QuotientNML(), HannanQuinn()):
        assert score.prior == EquivalentSampleSize(1.0)
