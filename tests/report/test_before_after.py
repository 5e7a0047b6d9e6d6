"""Two networks on the same places, with what changed between them marked."""

from unveil import DAG, Network, TableCPD, Variable
from unveil.report.before_after import before_after, change_of


def network(parents: dict[str, str], hidden: str = "") -> Network:
    dag = DAG.from_parents({k: list(v) for k, v in parents.items()})
    of = {n: Variable(n, [0, 1], hidden=n in hidden) for n in dag.nodes}
    return Network([TableCPD.uniform(of[n], [of[p] for p in dag.parents(n)]) for n in dag.nodes])


BEFORE = network({"A": "", "B": "A", "C": "AB", "D": "C"})
AFTER = network({"A": "BH", "B": "H", "C": "H", "D": "C", "H": ""}, hidden="H")


def test_changes_are_added_removed_and_turned():
    change = change_of(BEFORE.dag, AFTER.dag)
    assert set(change.added) == {("H", "A"), ("H", "B"), ("H", "C")}
    assert set(change.removed) == {("A", "C"), ("B", "C")}
    assert change.turned == (("B", "A"),)


def test_nodes_are_in_the_same_places_in_both_pictures():
    first, second = before_after(BEFORE, AFTER)
    before = {n.label: n.box for n in first.nodes}
    after = {n.label: n.box for n in second.nodes}
    assert set(after) - set(before) == {"H"}
    assert all(after[name] == box for name, box in before.items())
    assert (first.width, first.height) == (second.width, second.height)


def test_arcs_that_change_are_marked_and_the_others_are_not():
    first, second = before_after(BEFORE, AFTER)
    looks = {a.tip: a.look for a in first.arrows}
    assert looks == {"A → B": "", "A → C": "gone", "B → C": "gone", "C → D": ""}
    looks = {a.tip: a.look for a in second.arrows}
    assert looks == {
        "B → A": "turned", "C → D": "", "H → A": "marked", "H → B": "marked", "H → C": "marked",
    }  # fmt: skip


def test_an_arc_that_turns_runs_the_same_way_backwards():
    first, second = before_after(BEFORE, AFTER)
    (forth,) = [a.points for a in first.arrows if a.tip == "A → B"]
    (back,) = [a.points for a in second.arrows if a.tip == "B → A"]
    assert forth == back[::-1]


def test_marks_are_seen_in_svg_and_on_paper(tmp_path):
    first, second = before_after(BEFORE, AFTER)
    assert first.svg().count('class="arc gone"') == 2
    assert "stroke-dasharray" in first.svg()
    assert second.svg().count('class="arc turned"') == 1
    first.save(tmp_path / "before.png")
    assert (tmp_path / "before.png").stat().st_size > 1000
