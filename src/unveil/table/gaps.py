"""What a look at the gaps of a table gives back: records, with sentences to print."""

from __future__ import annotations

from dataclasses import dataclass

from unveil.records import Record

__all__ = ["ColumnGaps", "GapHint", "GapPair", "GapPattern", "MissingnessReport"]


@dataclass(frozen=True)
class ColumnGaps:
    """How much of one column is missing; shares are weighted, `n_missing` counts stored rows."""

    name: str
    n_missing: int
    share: float


@dataclass(frozen=True)
class GapPattern:
    """Columns that are missing together (and no others), and the share of rows like that."""

    names: tuple[str, ...]
    share: float


@dataclass(frozen=True)
class GapPair:
    """Two columns that go missing together more (or less) often than by chance.

    `phi` is the correlation of the two missing indicators, from -1 to 1.
    """

    first: str
    second: str
    phi: float
    p_value: float

    @property
    def words(self) -> str:
        """The finding as a sentence."""
        how = "together" if self.phi > 0 else "in different rows"
        return f"`{self.first}` and `{self.second}` go missing {how} (phi {self.phi:+.2f})"


@dataclass(frozen=True)
class GapHint:
    """A column that goes missing more often for one value of another column than for the rest."""

    column: str
    given: str
    value: str
    rate: float
    rate_otherwise: float
    p_value: float

    @property
    def words(self) -> str:
        """The hint as a sentence."""
        return (
            f"`{self.column}` is missing more often when {self.given} = {self.value} "
            f"({_percent(self.rate)} against {_percent(self.rate_otherwise)})"
        )


@dataclass(frozen=True)
class MissingnessReport(Record):
    """How much is missing and where, what goes missing together, and what does not look random.

    `p_value`s are as computed; a pair or a hint is listed when it survives the correction for the
    number of pairs looked at (Benjamini and Hochberg's false discovery rate `level`).
    """

    n_rows: int
    n_columns: int
    n_cells: int
    cell_share: float
    row_share: float
    columns: tuple[ColumnGaps, ...]
    patterns: tuple[GapPattern, ...]
    n_patterns: int
    together: tuple[GapPair, ...]
    hints: tuple[GapHint, ...]
    level: float

    @property
    def sentences(self) -> tuple[str, ...]:
        """Everything in plain sentences."""
        if not self.n_cells:
            return ("no cell is missing",)
        gaps = [c for c in self.columns if c.n_missing]
        worst = ", ".join(f"`{c.name}` {_percent(c.share)}" for c in gaps[:5])
        more = f" and {len(gaps) - 5} more" if len(gaps) > 5 else ""
        lines = [
            f"{self.n_cells:,} cells are missing ({_percent(self.cell_share)} of all), in "
            f"{_percent(self.row_share)} of the rows",
            f"{len(gaps)} of {self.n_columns} columns have gaps: {worst}{more}",
        ]
        common = [p for p in self.patterns if p.names and p.share >= 0.01]
        if common and self.n_patterns > 2:
            lines.append(f"the commonest of {self.n_patterns} patterns: " + "; ".join(
                f"{_some(p.names)} missing in {_percent(p.share)} of the rows" for p in common[:3]
            ))  # fmt: skip
        lines += [pair.words for pair in self.together]
        lines += [hint.words for hint in self.hints]
        if self.hints:
            lines.append(
                "so the gaps are not completely random; if missing itself may mean something, "
                "make it a state (missing_as_state)"
            )
        else:
            lines.append("nothing seen in the other columns tells where the gaps are")
        return tuple(lines)

    def __str__(self) -> str:
        return "\n".join(self.sentences)


def _percent(share: float) -> str:
    if 0 < share < 0.01 or 0.99 < share < 1:
        return f"{share:.1%}"
    return f"{share:.0%}"


def _some(names: tuple[str, ...]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:4])
    return f"{shown} and {len(names) - 4} more" if len(names) > 4 else shown
