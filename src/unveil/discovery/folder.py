"""`RunFolder`: a folder that remembers a discovery, so that an interrupted one can go on.

`state.json` is written every few seconds, with a fingerprint that says for which table and settings
it is; `log.jsonl` holds every step, one JSON object a line. A folder serves one run at a time, and
results of another run that are in it are set aside.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import time
import warnings
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from unveil.discovery.call import DiscoveryReport, discover_states
from unveil.discovery.memory import rounds_as_json, rounds_from_json
from unveil.discovery.notes import Notes
from unveil.discovery.procedure import Round
from unveil.discovery.settings import Settings
from unveil.errors import DataError, Hint, UnveilWarning
from unveil.files import atomic_write, check_folder, open_for_one
from unveil.progress import Listener, Step
from unveil.seeds import seed_or_fresh
from unveil.table.core import Table

__all__ = ["RESULTS", "RunFolder"]

RESULTS = (
    "state.json",
    "log.jsonl",
    "model.json",
    "baseline.json",
    "posteriors.csv",
    "report.html",
)
"""The files that a run leaves in its folder."""
SECONDS = 2.0
"""So long the state is not written again, at least."""
COST = 0.05
"""Nor so often that writing takes more than this share of the time."""


class RunFolder:
    """A discovery in a folder: `discover` goes on from where an earlier run was interrupted.

    That was a run over the same table with the same settings (and the same seed, if one is given)
    that did not finish; `resume=False` forgets it. `earlier` are its rounds, `seed` is then its
    seed, and `resumed` says that there is something to go on from.

    >>> import tempfile
    >>> from unveil import datasets
    >>> plans = datasets.table("college_plans")
    >>> with tempfile.TemporaryDirectory() as path:
    ...     folder = RunFolder(path, plans, seed=1)
    ...     report = folder.discover(time_limit=0)
    ...     folder.close(report)
    ...     sorted(file.name for file in folder.path.iterdir())
    ['log.jsonl', 'state.json']
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        table: Table,
        settings: Settings | None = None,
        seed: int | None = None,
        resume: bool = True,
        sample: int | None = None,
    ) -> None:
        self.path = Path(path)
        self.table = table
        self.settings = settings or Settings()
        self.sample = sample
        self.seed = seed_or_fresh(seed)
        self.earlier: tuple[Round, ...] = ()
        self.notes = Notes()
        self._fingerprint = fingerprint(table, self.settings, sample)
        self._written, self._cost, self._complained = 0.0, 0.0, False
        self._ours = False
        check_folder(self.path)
        self.path.mkdir(parents=True, exist_ok=True)
        self._log = self._locked()
        self._unlock = weakref.finalize(self, os.close, self._log)
        self._remember(seed, resume)
        self._rounds: Sequence[Round] = self.earlier

    @property
    def resumed(self) -> bool:
        """Whether there is something to go on from."""
        return bool(self.earlier or self.notes.as_json())

    def discover(self, *, progress: Listener | None = None, **options: Any) -> DiscoveryReport:
        """What `discover` finds, going on from before; the folder knows of all that is done.

        `options` are those of `discover_states`: `everything` are the rows that the table's are
        drawn from, if they are; those of `sample` are drawn here.
        """
        if not self.resumed:
            self._make_room()

        def tell(step: Step) -> object:
            with self._no_reason_to_stop("log.jsonl"):
                os.write(self._log, (json.dumps(_told(step)) + "\n").encode())
            return progress(step) if progress is not None else None

        def on_round(rounds: Sequence[Round]) -> None:
            self._rounds = rounds
            self._save_anyway()

        self.notes.changed = self._save_now_and_then
        try:
            return discover_states(
                self.table, self.settings, earlier=self.earlier, seed=self.seed,
                progress=tell, on_round=on_round, notes=self.notes, sample=self.sample, **options,
            )  # fmt: skip
        except BaseException:
            self._save_anyway()
            self._unlock()  # whoever holds the traceback must not hold the folder
            raise
        finally:
            self.notes.changed = None

    def save(self, rounds: Sequence[Round], finished: bool = False) -> None:
        """Remember the rounds so far and, unless it is finished, all that was done in the next."""
        state = {
            "fingerprint": self._fingerprint,
            "finished": finished,
            "seed": self.seed,
            "rounds": rounds_as_json([r for r in rounds if r.kept is not None]),
            "notes": {} if finished else self.notes.as_json(),
        }
        began = time.monotonic()
        with atomic_write(self.path / "state.json") as file:
            file.write(json.dumps(state))
        self._written = time.monotonic()
        self._cost = self._written - began

    def close(self, report: DiscoveryReport, written: bool = True) -> None:
        """Remember that this is all (unless it was stopped early); leave the folder to others.

        If the results could not be `written`, the work can be taken up again and ends at once.
        """
        try:
            if written:
                self.save(report.discovery.rounds, finished=report.stopped == "converged")
            else:
                self._rounds = report.discovery.rounds
                self._save_anyway()
        finally:
            self._unlock()

    def _save_now_and_then(self) -> None:
        since = time.monotonic() - self._written
        if since > SECONDS and since * COST > self._cost:
            self._save_anyway()

    def _save_anyway(self) -> None:
        with self._no_reason_to_stop("state.json"):
            self.save(self._rounds)

    @contextlib.contextmanager
    def _no_reason_to_stop(self, name: str) -> Iterator[None]:
        """What is only written to go on later must not end the work: it is warned of, once."""
        try:
            yield
        except OSError as error:
            if not self._complained:
                self._complained = True
                words = f"{self.path / name} cannot be written ({error.strerror or error}); "
                words += "the work goes on, but could not be taken up again if it is interrupted"
                warnings.warn(words, UnveilWarning, stacklevel=4)

    def _locked(self) -> int:
        """The log, open for this run alone."""
        try:
            return open_for_one(self.path / "log.jsonl")
        except BlockingIOError:
            raise DataError(
                f"{self.path}: another run is at work in this folder.",
                hint=Hint("Wait for it, or take another.", "Wait for it, or give another with -o."),
            ) from None

    def _remember(self, seed: int | None, resume: bool) -> None:
        """Take over rounds, notes and seed of a run that asked the same and was interrupted."""
        file = self.path / "state.json"
        if not file.exists():
            return
        try:
            known = json.loads(file.read_text(encoding="utf-8"))
            if known["fingerprint"] != self._fingerprint:
                return
            self._ours = seed == int(known["seed"])
            if known["finished"] or not resume or not (seed is None or self._ours):
                return
            notes = Notes(known.get("notes"))
            notes.check(self.table)
            self.earlier = rounds_from_json(known["rounds"], self.table, int(known["seed"]))
            self.notes = notes
            self.seed = int(known["seed"])
        except Exception:  # another program's file of this name can hold anything
            if resume:
                words = f"{file} cannot be read; starting afresh"
                warnings.warn(words, UnveilWarning, stacklevel=3)

    def _make_room(self) -> None:
        """Set results of another run aside; those that this one will give again are replaced."""
        log = self.path / "log.jsonl"
        old = [self.path / name for name in RESULTS if os.path.lexists(self.path / name)]
        old = [file for file in old if file != log or log.stat().st_size]
        if old and not self._ours:
            number = 1
            while (aside := self.path / f"earlier-{number}").exists():
                number += 1
            aside.mkdir()
            for file in old:
                (shutil.copyfile if file == log else os.rename)(file, aside / file.name)
            words = f"{self.path} held the results of another run; they are in {aside} now"
            warnings.warn(words, UnveilWarning, stacklevel=3)
        os.ftruncate(self._log, 0)


def fingerprint(table: Table, settings: Settings, sample: int | None = None) -> str:
    """A text that differs where the table, its weights, the settings or what is drawn do."""
    digest = hashlib.sha256()
    for variable in table.variables:
        digest.update(repr(variable).encode())
        digest.update(table.column(variable.name).tobytes())
    digest.update(table.row_weights.tobytes())
    digest.update(repr((settings, sample)).encode())
    return digest.hexdigest()


def _told(step: Step) -> dict[str, Any]:
    """What a step says; what it leaves out (NaN, infinity, no words) is left out."""
    return {k: v for k, v in vars(step).items() if v == v and v not in ("", float("inf"))}
