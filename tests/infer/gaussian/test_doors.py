"""The same calls as for discrete networks: posterior, predict, most_probable, do, draws."""

import numpy as np
import pytest

from unveil import Network, Table, TableCPD, Variable
from unveil.errors import DataError, ModelError
from unveil.infer import draw_missing, map_of
from unveil.model import ConditionalGaussianCPD, LinearGaussianCPD

dose, drug = Variable("dose"), Variable("drug", ["none", "some"])
effect, pain = Variable("effect"), Variable("pain")


def trial():
    return Network(
        [
            TableCPD(drug, [], [0.5, 0.5]),
            LinearGaussianCPD(dose, [], 2, [], 1),
            ConditionalGaussianCPD(effect, [drug, dose], [0, 1], [[0.0], [2.0]], [1, 0.5]),
            LinearGaussianCPD(pain, [effect], 10, [-1], 1),
        ]
    )


def test_one_record_for_both_kinds():
    found = trial().posterior({"pain": 4.0}, of=["drug", "effect"])
    assert found["drug"].shape == (1, 2)
    assert found["effect"].shape == (1,)
    assert found.best("drug") == ["some"]
    assert found.best("effect") == [found.means["effect"][0]]
    assert list(found.of("effect")) == ["mean", "standard deviation"]
    assert str(found).startswith("drug: none 0.")
    assert "effect: mean " in str(found)
    assert found.to_dict()["means"]["effect"] == [pytest.approx(found["effect"][0])]
    with pytest.raises(DataError, match="'dose' was not asked for; there are drug, effect"):
        found["dose"]


def test_doing_is_not_seeing():
    """Setting the effect tells nothing about the dose, seeing it does; the pain follows both."""
    network = trial()
    done = network.do({"effect": 3.0})
    assert done.posterior(of="dose").means["dose"][0] == pytest.approx(2.0)
    assert done.posterior(of="pain").means["pain"][0] == pytest.approx(7.0)
    assert done.posterior(of="effect").best("effect") == [pytest.approx(3.0)]
    assert network.posterior({"effect": 9.0}, of="dose").means["dose"][0] > 2.5
    set_dose = network.do({"dose": 5.0, "drug": "some"})
    assert set_dose.posterior(of="effect").means["effect"][0] == pytest.approx(11.0)
    with pytest.raises(DataError, match="'dose' is continuous; 'much' is not a finite number"):
        network.do({"dose": "much"})


def test_predictions_explanations_and_draws():
    network = trial()
    rows = network.sample(50, seed=1)
    np.testing.assert_allclose(
        network.predict(rows, "pain"), network.posterior(rows.without("pain"), of="pain")["pain"]
    )
    gaps = rows.knock_out(0.3, seed=2)
    found = network.most_probable(gaps)
    np.testing.assert_allclose(found.log_probability, network.row_log_likelihoods(found.table))
    drawn = draw_missing(network, gaps, seed=3)
    assert drawn == draw_missing(network, gaps, seed=3)
    for table in (found.table, drawn):
        assert table.is_complete
        for name in rows.names:
            shown = ~gaps.missing(name)
            np.testing.assert_array_equal(table.column(name)[shown], rows.column(name)[shown])
    with pytest.raises(ModelError, match="map_of needs discrete variables; 'pain' is continuous"):
        map_of(network, ["pain"])
    with pytest.raises(ModelError, match="soft evidence"):
        network.most_probable({"pain": 1.0}, likelihood={"drug": {"some": 0.5}})


def test_texts_that_are_numbers():
    one, other = (trial().posterior({"pain": value}) for value in (4, "4.0"))
    assert one.means["effect"][0] == other.means["effect"][0]
    assert trial().posterior(Table([pain], [[4.0]])).means["effect"][0] == one.means["effect"][0]
