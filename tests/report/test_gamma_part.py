"""Groups of columns on a page: the words in their boxes."""

from unveil.report.gamma_part import MOST_LETTERS, _box
from unveil.report.text import shorten


def test_a_box_names_whole_columns_while_there_is_room():
    assert _box("H1", ["a", "b", "c", "d", "e"]) == "H1: a, b, c and 2 more"
    assert _box("H1", ["Sleep 0", "Sleep 1", "Sleep 2", "Sleep 3"]) == "H1: Sleep 0 and 3 more"
    assert _box("H1", ["a", "b"]) == "H1: a, b"


def test_the_picture_does_not_cut_it_again():
    columns = ["how often in the last month", "what else", "and when", "by whom"]
    for n in range(1, 5):
        words = _box("H12", columns[:n])
        assert len(words) <= MOST_LETTERS
        assert shorten(words) == words
