"""Exchanges as a race: who goes on, and how many steps that takes."""

from types import SimpleNamespace

from unveil.bottleneck.race import FEW, FIRST, LEAD, LEG, _raced

PLACE = SimpleNamespace(objective=-1000.0, problem=None, gamma=1.0)
TARGET = -999.9


class Steps:
    """A settler whose runners are (values by the number of steps, steps taken)."""

    settings = SimpleNamespace(tolerance=1e-5)
    ticker = SimpleNamespace(keep_going=lambda: True)

    def __init__(self):
        self.n = 0

    def nearby(self, place):
        return None

    def settle(self, problem, runner, gamma, tolerance, most):
        curve, taken = runner
        self.n += most
        return (curve, taken + most), curve(taken + most)


def raced(curves):
    settler = Steps()
    found = _raced(settler, PLACE, 0, [(c, 0) for c in curves], TARGET)
    return [c for c, _ in found], settler.n


def test_where_some_are_ahead_at_once_only_they_go_on():
    ahead = [lambda t, x=x: -990.0 - x + 0.1 * x * t for x in range(4)]
    behind = [lambda t: -1001.0] * 16
    found, n = raced(behind + ahead)
    assert n == FIRST * 20 + LEG * 4
    assert found == sorted(ahead, key=lambda c: -c(FIRST + LEG))[:LEAD]


def test_not_all_that_are_ahead_go_on():
    many = [lambda t, x=x: -900.0 - x for x in range(20)]
    found, n = raced(many)
    assert n == FIRST * 20 + LEG * FEW
    assert found == many[:LEAD]


def test_who_is_behind_may_still_rise():
    late = lambda t: -1000.5 + 0.1 * t  # noqa: E731
    others = [lambda t, x=x: -1000.4 - 0.1 * x for x in range(9)]
    found, _ = raced([*others, late])
    assert found[0] is late


def test_who_lags_is_given_up():
    assert raced([lambda t: -1100.0] * 6)[0] == []
    assert raced([])[0] == []
