"""`TrialFolder`: a folder that remembers which recipes were tried, so that a run can go on.

`state.json` is written after every trial, with a fingerprint that says for which table, class,
settings and seed it is.
"""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from unveil.classify.learn import LearnedClassifier, learn_classifier
from unveil.classify.recipes import Recipe
from unveil.classify.trial import Trial
from unveil.errors import UnveilWarning
from unveil.files import atomic_write, check_folder
from unveil.seeds import seed_or_fresh
from unveil.table.core import Table

__all__ = ["TrialFolder"]

KEPT = ("log_loss", "error", "accuracy", "strength", "n_folds", "seconds", "note")
"""What is remembered of a trial beside its recipe."""


class TrialFolder:
    """Learning a classifier in a folder: `learn` goes on from where an earlier run stopped.

    That was a run over the same table and class with the same settings (and the same seed, if one
    is given); `resume=False` forgets it. `known` are its trials.

    >>> import tempfile
    >>> from unveil import datasets
    >>> rows = datasets.network("asia").sample(300, seed=1)
    >>> with tempfile.TemporaryDirectory() as path:
    ...     first = TrialFolder(path, rows, "dysp", {"model": "naive"}, seed=1).learn()
    ...     len(TrialFolder(path, rows, "dysp", {"model": "naive"}, seed=1).known)
    2
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        table: Table,
        target: str,
        settings: Mapping[str, Any] | None = None,
        seed: int | None = None,
        resume: bool = True,
    ) -> None:
        self.path, self.table, self.target = Path(path), table, target
        self.settings = dict(settings or {})
        self.seed = seed_or_fresh(seed)
        self.known: dict[Recipe, Trial] = {}
        self._complained = False
        check_folder(self.path)
        self.path.mkdir(parents=True, exist_ok=True)
        if resume:
            self._remember(seed)

    def learn(self, **options: Any) -> LearnedClassifier:
        """What `learn_classifier` finds; every trial is remembered as soon as it is done.

        `options` are those of `learn_classifier` that change nothing about the answer: `progress`,
        `time_limit`, `judge`.
        """
        done = list(self.known.values())

        def heard(trial: Trial) -> None:
            done.append(trial)
            self._save(done)

        return learn_classifier(
            self.table, self.target, seed=self.seed, known=self.known, heard=heard,
            **self.settings, **options,
        )  # fmt: skip

    def _save(self, trials: list[Trial]) -> None:
        told = [
            {"recipe": asdict(t.recipe), **{name: getattr(t, name) for name in KEPT}}
            for t in trials
            if t.note != "time was up"
        ]
        state = {"fingerprint": self._fingerprint, "seed": self.seed, "trials": told}
        try:
            with atomic_write(self.path / "state.json") as file:
                file.write(json.dumps(state))
        except OSError as error:
            if not self._complained:
                self._complained = True
                words = f"{self.path / 'state.json'} cannot be written ({error.strerror or error})"
                warnings.warn(f"{words}; the work goes on", UnveilWarning, stacklevel=3)

    def _remember(self, seed: int | None) -> None:
        file = self.path / "state.json"
        if not file.exists():
            return
        try:
            found = json.loads(file.read_text(encoding="utf-8"))
            if found["fingerprint"] != self._fingerprint or seed not in (None, found["seed"]):
                return
            self.known = {
                (recipe := Recipe(**told.pop("recipe"))): Trial(recipe, **told)
                for told in map(dict, found["trials"])
            }
            self.seed = int(found["seed"])
        except Exception:  # another program's file of this name can hold anything
            words = f"{file} cannot be read; starting afresh"
            warnings.warn(words, UnveilWarning, stacklevel=3)

    @property
    def _fingerprint(self) -> str:
        """A text that differs where the table, its weights, the class or the settings do."""
        digest = hashlib.sha256()
        for variable in self.table.variables:
            digest.update(repr(variable).encode())
            digest.update(self.table.column(variable.name).tobytes())
        digest.update(self.table.row_weights.tobytes())
        digest.update(repr((self.target, sorted(self.settings.items()))).encode())
        return digest.hexdigest()
