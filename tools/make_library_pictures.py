"""Draw the pictures of the library: small networks, with numbers that are computed here.

    python tools/make_library_pictures.py

They go beside the texts, src/unveil/web/library/*.svg, which the documentation shows, too.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
from make_pictures import side_by_side

import unveil
from unveil import DAG, Network
from unveil.evaluate import log_loss
from unveil.report import draw
from unveil.report.charts import bar_chart

LIBRARY = Path(__file__).parent.parent / "src" / "unveil" / "web" / "library"
Arcs = list[tuple[str, str]]
LAWN: Arcs = [("rain", "grass wet"), ("grass wet", "shoes dirty")]


def graph(arcs: Arcs, alone: tuple[str, ...] = ()) -> DAG:
    """A graph by its arcs."""
    names = dict.fromkeys([*(name for arc in arcs for name in arc), *alone])
    return DAG(list(names), arcs)


def with_hidden(arcs: Arcs, hidden: str) -> Network:
    """A network of two states each, one variable of which is hidden."""
    dag = graph(arcs)
    rows = np.random.default_rng(1).choice(["no", "yes"], size=(20, len(dag.nodes)))
    fitted = unveil.fit(dag, unveil.Table.from_frame(dict(zip(dag.nodes, rows.T, strict=True))))
    return fitted.with_hidden([hidden])


def lawn_rows(n: int = 400) -> unveil.Table:
    """Rain wets the grass, and wet grass makes shoes dirty."""
    draw_one = np.random.default_rng(7)
    rain = draw_one.random(n) < 0.3
    grass = draw_one.random(n) < np.where(rain, 0.8, 0.1)
    shoes = draw_one.random(n) < np.where(grass, 0.7, 0.2)
    say = {"rain": rain, "grass wet": grass, "shoes dirty": shoes}
    return unveil.Table.from_frame({k: np.where(v, "yes", "no") for k, v in say.items()})


def learning() -> str:
    """Three networks of the same rows, each with its score."""
    rows = lawn_rows()
    names = list(rows.names)
    scores = unveil.score.FamilyScores(rows, unveil.BDeu(1))
    pictures = [
        draw(dag, title=f"{words}: {scores.total(dag):,.1f}").svg()
        for words, dag in (
            ("too few", DAG(names)),
            ("right", DAG(names, LAWN)),
            ("too many", DAG(names, [*LAWN, ("rain", "shoes dirty")])),
        )
    ]
    return side_by_side(side_by_side(pictures[0], pictures[1]), pictures[2])


def evidence() -> str:
    """Three classes of rows that have none: better on the rows they were learned from only."""
    draw_one = np.random.default_rng(3)

    def made(n: int) -> unveil.Table:
        cells = draw_one.choice(["no", "yes"], size=(n, 8))
        return unveil.Table.from_frame({f"x{i}": cells[:, i] for i in range(8)})

    rows, fresh = made(100), made(5000)
    found = {k: unveil.latent_classes(rows, [k], seed=1).network for k in (1, 3)}
    bars = [
        (f"{where}, {'without' if k == 1 else 'with it'}", round(log_loss(network, table).bits, 3))
        for where, table in (("its own rows", rows), ("rows left out", fresh))
        for k, network in found.items()
    ]
    return bar_chart(bars, width=560)


PICTURES = {
    "networks": lambda: draw(graph(LAWN)).svg(),
    "learning": learning,
    "arrows": lambda: side_by_side(
        draw(graph([("burglary", "alarm"), ("earthquake", "alarm")])).svg(),
        draw(graph([("rain", "grass wet")])).svg(),
    ),
    "hidden": lambda: side_by_side(
        draw(graph([("fever", "pulse"), ("fever", "pain"), ("pulse", "pain")])).svg(),
        draw(with_hidden([("severity", x) for x in ("fever", "pulse", "pain")], "severity")).svg(),
    ),
    "evidence": evidence,
    "asking": lambda: side_by_side(
        draw(graph([("weather", "barometer"), ("weather", "rain")]), title="seen").svg(),
        draw(graph([("weather", "rain")], ("barometer",)), title="done").svg(),
    ),
    "classes": lambda: draw(
        with_hidden([("kind of row", f"answer {i}") for i in range(1, 5)], "kind of row")
    ).svg(),
    "predicting": lambda: side_by_side(
        draw(graph([("class", x) for x in ("age", "pain", "pulse")])).svg(),
        draw(graph([*(("class", x) for x in ("age", "pain", "pulse")), ("age", "pulse")])).svg(),
    ),
}


def main() -> None:
    """Draw them all."""
    warnings.simplefilter("ignore", unveil.errors.UnveilWarning)
    for name, made in PICTURES.items():
        (LIBRARY / f"{name}.svg").write_text(made(), encoding="utf-8")
        print(f"{name}.svg")


if __name__ == "__main__":
    main()
