"""`RunFolder`: a folder that remembers a discovery, so that an interrupted one can go on.

`state.json` is written after every round, with a fingerprint that says for which table and settings
it is; `log.jsonl` holds every step, one JSON object a line.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from unveil.discovery.call import DiscoveryReport, discover
from unveil.discovery.memory import rounds_as_json, rounds_from_json
from unveil.discovery.procedure import Round
from unveil.discovery.settings import Settings
from unveil.errors import UnveilWarning
from unveil.files import atomic_write
from unveil.progress import Listener, Step
from unveil.table.core import Table

__all__ = ["RunFolder"]


class RunFolder:
    """A discovery in a folder: `discover` goes on from the rounds that are `earlier`, if any.

    They are those of a run over the same table with the same settings (and the same seed, if one
    is given) that did not finish; `resume=False` forgets them. `seed` is then that of the earlier
    run.

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
    ) -> None:
        self.path = Path(path)
        self.table = table
        self.settings = settings or Settings()
        self.seed = secrets.randbelow(2**31) if seed is None else seed
        self.earlier: tuple[Round, ...] = ()
        self._fingerprint = fingerprint(table, self.settings)
        self.path.mkdir(parents=True, exist_ok=True)
        if resume:
            self._remember(seed)

    def discover(self, *, progress: Listener | None = None, **options: Any) -> DiscoveryReport:
        """What `discover` finds, going on from earlier rounds; the folder knows of every new one.

        `options` are those of `discover`.
        """
        with self._log(progress) as listener:
            return discover(
                self.table, settings=self.settings, earlier=self.earlier, seed=self.seed,
                progress=listener, on_round=self.save, **options,
            )  # fmt: skip

    def save(self, rounds: Sequence[Round], finished: bool = False) -> None:
        """Remember the rounds so far."""
        state = {
            "fingerprint": self._fingerprint,
            "finished": finished,
            "seed": self.seed,
            "rounds": rounds_as_json([r for r in rounds if r.kept is not None]),
        }
        with atomic_write(self.path / "state.json") as file:
            file.write(json.dumps(state))

    def close(self, report: DiscoveryReport) -> None:
        """Remember that this is all, unless the work was stopped early."""
        self.save(report.discovery.rounds, finished=report.stopped == "converged")

    def _remember(self, seed: int | None) -> None:
        """Take over rounds and seed of an earlier run that asked the same and was interrupted."""
        file = self.path / "state.json"
        if not file.exists():
            return
        try:
            known = json.loads(file.read_text(encoding="utf-8"))
            if known["fingerprint"] != self._fingerprint or known["finished"]:
                return
            if seed is None or seed == int(known["seed"]):
                self.earlier = rounds_from_json(known["rounds"], self.table, int(known["seed"]))
                self.seed = int(known["seed"])
        except Exception:  # another program's file of this name can hold anything
            warnings.warn(f"{file} cannot be read; starting afresh", UnveilWarning, stacklevel=3)

    @contextmanager
    def _log(self, listener: Listener | None) -> Iterator[Listener]:
        """A listener that also writes every step; to the end of the log when going on."""
        with (self.path / "log.jsonl").open("a" if self.earlier else "w", encoding="utf-8") as log:

            def tell(step: Step) -> object:
                log.write(json.dumps(_told(step)) + "\n")
                log.flush()
                return listener(step) if listener is not None else None

            yield tell


def fingerprint(table: Table, settings: Settings) -> str:
    """A text that differs where the table, its weights or the settings do."""
    digest = hashlib.sha256()
    for variable in table.variables:
        digest.update(repr(variable).encode())
        digest.update(table.column(variable.name).tobytes())
    digest.update(table.row_weights.tobytes())
    digest.update(repr(settings).encode())
    return digest.hexdigest()


def _told(step: Step) -> dict[str, Any]:
    """What a step says; what it leaves out (NaN, infinity, no words) is left out."""
    return {k: v for k, v in vars(step).items() if v == v and v not in ("", float("inf"))}
