"""Networks as the command line names them: a file, or one that comes with unveil."""

from __future__ import annotations

from pathlib import Path

from unveil import datasets
from unveil.errors import DataError
from unveil.model import Network

__all__ = ["network_from"]


def network_from(name: str) -> Network:
    """The network in a file of that name, or the bundled one when there is no such file."""
    if not Path(name).exists() and name in datasets.network_names():
        return datasets.network(name)
    if not Path(name).exists():
        raise DataError(
            f"{name}: no such file, and no bundled network of that name "
            f"(there are {', '.join(datasets.network_names())})"
        )
    return Network.load(name)
