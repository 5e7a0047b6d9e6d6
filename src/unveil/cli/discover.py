"""`unveil discover`: the main job, from a table to a folder with a report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unveil.cli.learn import prepared
from unveil.cli.live import live_progress
from unveil.cli.options import Bins, Discretize, Drop, Jobs, Seed, TableFile, TimeLimit, reads_table
from unveil.cli.screen import note, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unveil.discovery import DiscoveryReport, Round, Settings
    from unveil.progress import Listener, Step
    from unveil.table import Table

__all__ = ["discover"]


@reads_table
def discover(
    data: TableFile,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The folder for the results.")
    ] = Path("out"),
    max_hidden: Annotated[int, typer.Option(min=1, help="At most so many hidden variables.")] = 3,
    states: Annotated[
        int | None, typer.Option(min=2, help="A fixed number of states for hidden variables.")
    ] = None,
    adapt: Annotated[
        str, typer.Option(help="Adapt the structure: em (not), blanket (around), full.")
    ] = "full",
    soft: Annotated[
        int, typer.Option(help="Use arc confidence over so many resampled tables as signature.")
    ] = 0,
    ess: Annotated[float, typer.Option(help="Equivalent sample size of the scores.")] = 1.0,
    max_parents: Annotated[int | None, typer.Option(help="At most so many parents.")] = None,
    resamples: Annotated[int, typer.Option(min=0, help="Resampled tables to test stability.")] = 10,
    straw_men: Annotated[bool, typer.Option(help="Compare with simpler explanations.")] = True,
    resume: Annotated[
        bool, typer.Option(help="Go on from what an earlier run in the same folder found.")
    ] = True,
    drop: Drop = None,
    discretize: Discretize = None,
    bins: Bins = 3,
    time_limit: TimeLimit = None,
    jobs: Jobs = None,
    seed: Seed = None,
    *,
    reading: dict[str, Any],
) -> None:
    """Find hidden variables in a table; Ctrl-C keeps the best so far."""
    from unveil.discovery import Settings
    from unveil.discovery import discover as find
    from unveil.table import Table

    settings = Settings(
        ess=ess, adapt=adapt, max_hidden=max_hidden, n_states=states,  # type: ignore[arg-type]
        max_parents=max_parents, soft=soft,
    )  # fmt: skip
    table = prepared(Table.read(data, **reading), drop, discretize, bins)
    output.mkdir(parents=True, exist_ok=True)
    state = _State(output, table, settings, seed)
    earlier = state.load() if resume else ()
    if earlier:
        note(f"going on from the run in {output} (use --no-resume to start afresh)")
    with live_progress("nats") as listener, state.log(listener, bool(earlier)) as logging:
        report = find(
            table, settings=settings, straw_men=straw_men, resamples=resamples, earlier=earlier,
            seed=state.seed, progress=logging, time_limit=time_limit, n_jobs=jobs,
            on_round=state.save,
        )  # fmt: skip
    _write(report, data.name, output)
    stopped = report.stopped
    state.save(report.discovery.rounds, finished=stopped == "converged")
    say(report.summary)
    if stopped != "converged":
        more = "run again to go on from here" if report.hidden else "run again to look further"
        note(f"stopped early ({stopped}); {more}")
    say(f"the report is {output / 'report.html'}")


def _write(report: DiscoveryReport, name: str, output: Path) -> None:
    from unveil.report import discover_page
    from unveil.table import write_table

    discover_page(report, name).write(output / "report.html")
    report.network.save(output / "model.json")
    report.discovery.baseline.save(output / "baseline.json")
    write_table(report.posteriors(), output / "posteriors.csv")


class _State:
    """What a folder remembers of a run, so that an interrupted one can go on.

    `state.json` is written after every round. A fingerprint says for which table and settings.
    """

    def __init__(self, folder: Path, table: Table, settings: Settings, seed: int | None) -> None:
        import hashlib
        import secrets

        self._folder, self._table = folder, table
        self._given_seed = seed
        self.seed = secrets.randbelow(2**31) if seed is None else seed
        digest = hashlib.sha256()
        for variable in table.variables:
            digest.update(repr(variable).encode())
            digest.update(table.column(variable.name).tobytes())
        digest.update(table.row_weights.tobytes())
        digest.update(repr(settings).encode())
        self._fingerprint = digest.hexdigest()

    def load(self) -> tuple[Round, ...]:
        """The rounds of an earlier run that was interrupted; none if it asked something else.

        Going on, the seed is that of the earlier run.
        """
        from unveil.discovery import rounds_from_json
        from unveil.errors import UnveilError

        file = self._folder / "state.json"
        if not file.exists():
            return ()
        try:
            known = json.loads(file.read_text(encoding="utf-8"))
            if known["fingerprint"] != self._fingerprint or known["finished"]:
                return ()
            seed = int(known["seed"])
            if self._given_seed not in (None, seed):
                return ()
            rounds = rounds_from_json(known["rounds"], self._table, seed)
            self.seed = seed
            return rounds
        except (UnveilError, ValueError, KeyError, TypeError):
            note(f"{file} cannot be read; starting afresh")
            return ()

    def save(self, rounds: Sequence[Round], finished: bool = False) -> None:
        """Remember the rounds so far."""
        from unveil.discovery import rounds_as_json
        from unveil.files import atomic_write

        state = {
            "fingerprint": self._fingerprint,
            "finished": finished,
            "seed": self.seed,
            "rounds": rounds_as_json([r for r in rounds if r.kept is not None]),
        }
        with atomic_write(self._folder / "state.json") as file:
            file.write(json.dumps(state))

    def log(self, listener: Listener | None, go_on: bool) -> _Log:
        """A listener that also writes every step to log.jsonl, to its end or from its beginning."""
        return _Log(self._folder / "log.jsonl", listener, "a" if go_on else "w")


class _Log:
    """Steps to a file, one JSON object a line, and on to another listener."""

    def __init__(self, path: Path, listener: Listener | None, mode: str) -> None:
        self._path, self._listener, self._mode = path, listener, mode

    def __enter__(self) -> Listener:
        self._file = self._path.open(self._mode, encoding="utf-8")
        return self._tell

    def __exit__(self, *problem: object) -> None:
        self._file.close()

    def _tell(self, step: Step) -> object:
        fields = {k: v for k, v in vars(step).items() if v == v and v not in ("", float("inf"))}
        self._file.write(json.dumps(fields) + "\n")
        self._file.flush()
        return self._listener(step) if self._listener is not None else None
