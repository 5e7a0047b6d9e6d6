"""Clients that send or take almost nothing are given up, and keep nobody out."""

import socket
import threading
import time
from contextlib import ExitStack, contextmanager
from dataclasses import replace

import pytest
import uvicorn

from unveil.web.app import create_app
from unveil.web.patience import patient

from .conftest import LIMITS

QUICK = replace(
    LIMITS, head_seconds=0.4, request_seconds=0.4, taking_seconds=0.4, connections=12, uploads=2
)
ASK = b"GET /api/examples HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    with server(tmp_path_factory.mktemp("slow"), patient(QUICK)) as where:
        yield where


@contextmanager
def server(folder, protocol):
    """A server with these limits; its port."""
    taken = socket.socket()
    taken.bind(("127.0.0.1", 0))
    config = uvicorn.Config(create_app(folder, QUICK), log_level="error", http=protocol, ws="none",
                            timeout_graceful_shutdown=1, timeout_keep_alive=60)  # fmt: skip
    running = uvicorn.Server(config)
    thread = threading.Thread(target=running.run, kwargs={"sockets": [taken]}, daemon=True)
    thread.start()
    while not running.started:
        time.sleep(0.01)
    yield taken.getsockname()[1]
    running.should_exit = True
    thread.join(timeout=10)
    taken.close()


def opened(port, first=b""):
    made = socket.create_connection(("127.0.0.1", port), timeout=4)
    made.sendall(first)
    return made


def answered(port):
    """The status that somebody else gets meanwhile."""
    with opened(port, ASK) as made:
        return int(made.recv(100).split()[1])


def ended(made):
    """Whether the server closes the connection, and what it said before."""
    said = b""
    try:
        while piece := made.recv(4096):
            said += piece
    except ConnectionResetError:
        pass
    return said


@pytest.mark.parametrize(
    "first", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: "],
    ids=["silent", "half a line", "half a head"],
)  # fmt: skip
def test_a_head_that_does_not_come_is_given_up(port, first):
    with opened(port, first) as made:
        assert ended(made) == b""


def test_the_head_of_a_further_request_is_given_up_too(port):
    with opened(port, ASK.replace(b"close", b"keep-alive")) as made:
        assert b" 200 " in made.recv(100_000)
        made.sendall(b"GET /")
        ended(made)


def test_a_body_that_does_not_come_is_refused(port):
    head = b"POST /api/a/" + b"A" * 22 + b"/jobs HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    head += b"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
    with opened(port, head) as made:
        assert b" 400 " in made.recv(200)


def test_at_the_bound_the_one_that_is_idle_longest_goes(port):
    with ExitStack() as stack:
        kept = [stack.enter_context(opened(port)) for _ in range(3 * QUICK.connections)]
        assert answered(port) == 200
        kept[0].settimeout(5)
        assert ended(kept[0]) == b""


def test_files_that_stand_still_leave_room_for_no_more_of_them(port):
    head = b"POST /api/analyses HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\na,b"
    with ExitStack() as stack:
        for _ in range(QUICK.uploads):
            stack.enter_context(opened(port, head))
        time.sleep(0.1)
        with opened(port, head) as made:
            assert b" 503 " in made.recv(200)
        assert answered(port) == 200
