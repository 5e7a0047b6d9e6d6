"""What a process does that works for another: take a job, do its items, end when the other does.

It is started by `unveil.discovery.processes` and spoken to through its standard input and output.
A message is one letter, its length and its content: `J` a job (pickled: what to do, with what all
items share, and until when), `I` an item of it (pickled), `S` stop what you do. The answer to a job
and to every item is a pickled `Answer`. Both ends are the same program on the same machine; nothing
of this is ever read from a file or a network.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import struct
import threading
import time
import warnings
from dataclasses import dataclass
from typing import IO, Any

from unveil.progress import Ticker

__all__ = ["Answer", "receive", "send", "serve"]

HEAD = struct.Struct("!cQ")


@dataclass(frozen=True)
class Answer:
    """What came of a job or an item: a result (all of it, unless `cut_short`), or an error."""

    result: Any = None
    cut_short: bool = False
    error: BaseException | None = None


def send(stream: IO[bytes], kind: bytes, content: bytes = b"") -> None:
    """Write a message."""
    stream.write(HEAD.pack(kind, len(content)))
    stream.write(content)
    stream.flush()


def receive(stream: IO[bytes]) -> tuple[bytes, bytes]:
    """The next message; an `EOFError` if the other side is gone."""
    kind, length = HEAD.unpack(_exactly(stream, HEAD.size))
    return kind, _exactly(stream, length)


def serve() -> None:
    """Do what the process at the other end asks for, until it goes away."""
    # It was born with interrupts held back, and they stay with whoever asks.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warnings.simplefilter("ignore")  # the first item was done over there, and warned
    source, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # what is printed by chance is no answer
    inbox: queue.SimpleQueue[tuple[bytes, bytes]] = queue.SimpleQueue()
    stop = threading.Event()
    threading.Thread(target=_listen, args=(source, inbox, stop), daemon=True).start()
    work, shared, deadline = None, None, None
    while True:
        kind, content = inbox.get()
        try:
            if kind == b"J":
                work, shared, deadline = pickle.loads(content)
                answer = Answer()
            else:
                left = None if deadline is None else max(0.0, deadline - time.monotonic())
                ticker = Ticker(lambda step: not stop.is_set(), left)
                assert work is not None
                result = work(shared, pickle.loads(content), ticker)
                answer = Answer(result, cut_short=not ticker.keep_going() or stop.is_set())
        except BaseException as error:
            answer = Answer(error=error)
        send(answers, b"A", _pickled(answer))


def _listen(source: IO[bytes], inbox: queue.SimpleQueue[Any], stop: threading.Event) -> None:
    """Pass messages on; a stop is heard at once, and so is that nobody is there any more."""
    try:
        while True:
            kind, content = receive(source)
            if kind == b"S":
                stop.set()
                continue
            if kind == b"J":
                stop.clear()
            inbox.put((kind, content))
    finally:
        os._exit(0)


def _pickled(answer: Answer) -> bytes:
    try:
        content = pickle.dumps(answer)
        if answer.error is not None:
            pickle.loads(content)  # some errors go out and never come in again
        return content
    except Exception as failed:
        said = answer.error if answer.error is not None else failed
        return pickle.dumps(Answer(error=RuntimeError(f"{type(said).__name__}: {said}")))


def _exactly(stream: IO[bytes], length: int) -> bytes:
    content = stream.read(length)
    if len(content) < length:
        raise EOFError
    return content
