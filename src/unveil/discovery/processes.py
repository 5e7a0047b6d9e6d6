"""Processes that work for this one: deaf to Ctrl-C from birth, and gone when this one is.

They are started as programs of their own (not by `multiprocessing`, which would run the main script
of somebody's program once more), and each is looked after by a thread here. A process that dies
takes nothing with it: what it was at is tried once more by a process that has the machine's memory
to itself, and everything else is left to whoever asked.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from multiprocessing.spawn import get_executable
from typing import Any

from unveil.discovery.served import Answer, receive, send
from unveil.progress import Ticker

__all__ = ["Died", "Processes"]

Work = Callable[[Any, Any, Ticker], Any]

PATIENCE = 2.0
"""Seconds that a process has to stop what it does before it is ended."""
HEARTBEAT = 0.3
"""Seconds after which whoever waits is asked whether to wait on."""

_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from unveil.discovery.served import serve; serve()"
)
_THREADS = ("OMP", "OPENBLAS", "MKL", "VECLIB_MAXIMUM", "NUMEXPR", "NUMBA")


class Died(Exception):
    """A process ended before it answered."""


class Processes:
    """So many processes, started at the first use and kept until `end`."""

    def __init__(self, n: int) -> None:
        self.n = n
        self._processes: list[_Process] = []
        weakref.finalize(self, _end, self._processes)

    def end(self) -> None:
        """End them all."""
        _end(self._processes)

    def results(
        self,
        work: Work,
        shared: Any,
        items: Sequence[Any],
        go_on: Callable[[], bool],
        time_left: float | None = None,
    ) -> Generator[Answer | Died | None, None, None]:
        """The answers for all items, in their order, as they come.

        `Died` stands for an item that ended two processes, `None` for one that nobody was left to
        begin. `go_on` is asked a few times a second while nothing comes. When it says no, that is
        the end; then, or when closed before the end, the processes are told to stop.
        """
        deadline = None if time_left is None else time.monotonic() + time_left
        try:
            job = pickle.dumps((work, shared, deadline))
        except (pickle.PicklingError, AttributeError, TypeError):
            yield from [None] * len(items)  # nothing that another process could be told
            return
        ready: dict[int, Answer | Died] = {}
        died: list[int] = []
        n_given = 0
        with closing(self._answers(job, items, range(len(items)), go_on)) as answers:
            for number, answer in answers:
                if isinstance(answer, Died):
                    died.append(number)
                    continue
                ready[number] = answer
                while n_given in ready:
                    yield ready.pop(n_given)
                    n_given += 1
        if died:
            self.end()  # perhaps there was not enough memory for all of them at once
        for number in died:
            ready.update(self._answers(job, items, [number], go_on))
        for number in range(n_given, len(items)):
            if not go_on():
                return
            yield ready.pop(number, None)

    def _answers(
        self, job: bytes, items: Sequence[Any], numbers: Sequence[int], go_on: Callable[[], bool]
    ) -> Generator[tuple[int, Answer | Died], None, None]:
        """What comes of the items with these numbers, each done by whoever is free.

        It ends before all is done if no process is left, or if `go_on` says no.
        """
        waiting = deque(numbers)
        answers: queue.SimpleQueue[tuple[int, Answer | Died] | None] = queue.SimpleQueue()
        watched = []
        for process in self._started(min(self.n, len(numbers))):
            looks_after = (process, job, items, waiting, answers)
            watched.append((threading.Thread(target=_look_after, args=looks_after), process))
        for thread, _ in watched:
            thread.daemon = True  # a second Ctrl-C does not wait for them
            thread.start()
        busy = len(watched)
        try:
            while busy:
                try:
                    answer = answers.get(timeout=HEARTBEAT)
                except queue.Empty:
                    if not go_on():
                        return
                    continue
                if answer is None:
                    busy -= 1
                else:
                    yield answer
        finally:
            if busy:
                waiting.clear()
                _stop(watched)
            self._processes[:] = [p for p in self._processes if p.alive]

    def _started(self, n: int) -> list[_Process]:
        """So many processes, or as many as there can be."""
        with contextlib.suppress(OSError):
            while len(self._processes) < n:
                self._processes.append(_Process(max(1, (os.cpu_count() or 1) // self.n)))
        return self._processes[:n]


class _Process:
    """One process: asked and answering, one thing at a time."""

    def __init__(self, n_threads: int) -> None:
        command = [get_executable(), "-c", _START, json.dumps(sys.path)]
        few = {f"{library}_NUM_THREADS": str(n_threads) for library in _THREADS}
        with _interrupts_held_back():
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=few | os.environ
            )
        self._speaking = threading.Lock()

    @property
    def alive(self) -> bool:
        """Whether it has not ended yet."""
        return self._process.poll() is None

    def ask(self, kind: bytes, content: bytes) -> Answer:
        """What it answers; `Died` if it ends before that."""
        assert self._process.stdout is not None
        try:
            self._say(kind, content)
            answer: Answer = pickle.loads(receive(self._process.stdout)[1])
        except (OSError, EOFError, ValueError, pickle.UnpicklingError) as error:
            self.end()
            raise Died from error
        return answer

    def stop(self) -> None:
        """Ask it to stop what it does."""
        if self._speaking.acquire(timeout=PATIENCE / 4):  # else it does not even listen
            self._speaking.release()
            with contextlib.suppress(OSError, ValueError):
                self._say(b"S", b"")

    def end(self) -> None:
        """End it, at once."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                assert pipe is not None
                pipe.close()

    def _say(self, kind: bytes, content: bytes) -> None:
        assert self._process.stdin is not None
        with self._speaking:
            send(self._process.stdin, kind, content)


def _look_after(
    process: _Process,
    job: bytes,
    items: Sequence[Any],
    waiting: deque[int],
    answers: queue.SimpleQueue[tuple[int, Answer | Died] | None],
) -> None:
    """Have a process do one item after another that waits, until there is none or it dies."""
    try:
        if process.ask(b"J", job).error is not None:
            return  # what it should do cannot be had over there
        while (number := _taken(waiting)) is not None:
            try:
                answers.put((number, process.ask(b"I", pickle.dumps(items[number]))))
            except Died as died:
                answers.put((number, died))
                return
    except Died:
        return
    finally:
        answers.put(None)


def _taken(waiting: deque[int]) -> int | None:
    try:
        return waiting.popleft()
    except IndexError:
        return None


def _stop(watched: Sequence[tuple[threading.Thread, _Process]]) -> None:
    """Have processes stop what they do; end those that do not listen."""
    for _, process in watched:
        process.stop()
    until = time.monotonic() + PATIENCE
    for thread, process in watched:
        thread.join(max(0.0, until - time.monotonic()))
        if thread.is_alive():
            process.end()
            thread.join(PATIENCE)


def _end(processes: list[_Process]) -> None:
    while processes:
        processes.pop().end()


@contextlib.contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """What is started inside never hears Ctrl-C; here it is heard afterwards."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
