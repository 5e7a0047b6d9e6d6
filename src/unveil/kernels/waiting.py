"""`while_compiling`: tell somebody when a kernel is being compiled, which takes seconds.

What was compiled is kept (`compiled.py`), so this happens once after an installation.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["while_compiling"]


@contextlib.contextmanager
def while_compiling(tell: Callable[[bool], object]) -> Iterator[None]:
    """Call `tell(True)` when compiling begins and `tell(False)` when it ends.

    A kernel that is made with others inside counts once; one that is found in the cache not at all.
    """
    from numba.core import event

    class Heard(event.Listener):
        depth = 0

        def on_start(self, event: Any) -> None:
            self.depth += 1
            if self.depth == 1:
                tell(True)

        def on_end(self, event: Any) -> None:
            self.depth -= 1
            if self.depth == 0:
                tell(False)

    with event.install_listener("numba:compile", Heard()):
        yield
