"""Networks as the command line names them: a file, or one that comes with unveil."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from unveil.errors import DataError, did_you_mean
from unveil.files import no_such_file

if TYPE_CHECKING:
    from unveil.model import Network

__all__ = ["is_network", "network_from"]


def is_network(name: str) -> bool:
    """Whether a name stands for a network (by its ending, or as a bundled one), not a table."""
    from unveil import datasets
    from unveil.formats import FORMATS

    if not Path(name).exists() and name in datasets.network_names():
        return True
    plain = name.lower().removesuffix(".gz")
    return any(plain.endswith(ending) for f in FORMATS.values() for ending in f.endings)


def network_from(name: str) -> Network:
    """The network in a file of that name, or the bundled one when there is no such file."""
    from unveil import datasets
    from unveil.formats import load

    if Path(name).exists():
        return load(name)
    if name in datasets.network_names():
        return datasets.network(name)
    known = datasets.network_names()
    meant = did_you_mean(name, known)
    raise DataError(
        f"{no_such_file(name) if not meant else f'{name}: there is no such file.'} Nor is there a "
        f"bundled network of that name; there are {', '.join(known)}.{meant}"
    )
