"""Streams over real sockets, in the server that production uses."""

from __future__ import annotations

import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from queue import Empty, Queue
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests

from events import expiry, play
from events.platform import Platform
from service.app import create_app
from service.http.settings import Settings
from tests.conftest import within
from tests.service.conftest import Live

ADD = {"type": "add", "by": 1, "stay": True}


class Ear:
    """A reader of a stream: its lines, each with the time of its arrival."""

    def __init__(self, url: str, **headers: str) -> None:
        self.answer = requests.get(url, headers=headers, stream=True, timeout=30)
        self.lines: Queue[tuple[float, str]] = Queue()
        self.passed: list[str] = []
        self.ended = threading.Event()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        try:
            for line in self.answer.iter_lines(chunk_size=1):
                self.lines.put((time.monotonic(), line.decode()))
        except (requests.RequestException, AttributeError):
            pass
        self.ended.set()

    def next(self, beginning: str, seconds: float = 10) -> tuple[float, str]:
        """Return the next line with this beginning, and its time. `passed` has the lines before it."""
        self.passed.clear()
        deadline = time.monotonic() + seconds
        while True:
            try:
                found = self.lines.get(timeout=max(0.01, deadline - time.monotonic()))
            except Empty:
                raise AssertionError(f"no {beginning!r} within {seconds} seconds") from None
            if found[1].startswith(beginning):
                return found
            self.passed.append(found[1])

    def close(self) -> None:
        """End the connection, also while the thread waits for a line: closing alone would wait for it."""
        connection = self.answer.raw.connection
        if connection is not None and connection.sock is not None:
            with suppress(OSError):  # the server has ended it
                connection.sock.shutdown(socket.SHUT_RDWR)
        self.answer.close()


@contextmanager
def listening(url: str, **headers: str) -> Iterator[Ear]:
    ear = Ear(url, **headers)
    try:
        yield ear
    finally:
        ear.close()


@pytest.fixture
def match(begin: Callable[..., str]) -> str:
    return begin()


def test_an_entry_reaches_every_stream_at_once(live: Live, platform: Platform, match: str) -> None:
    with (
        listening(f"{live.url}/v1/matches/{match}/stream?after=2") as one,
        listening(f"{live.url}/v1/matches/{match}/stream?after=2") as two,
    ):
        for ear in (one, two):
            assert ear.answer.headers["Content-Type"].startswith("text/event-stream")
            ear.next(": still here")
        at_once = []
        for version in range(3, 13):
            play.play(platform, match, "one", [ADD])
            for ear in (one, two):
                ear.next(f"id: {version}")
                at_once.append(": still here" not in ear.passed)
        assert any(at_once), "a stream that is not woken looks for entries only after a comment"


def test_a_silent_stream_comments(live: Live, match: str) -> None:
    with listening(f"{live.url}/v1/matches/{match}/stream") as ear:
        first, _ = ear.next(": still here")
        second, _ = ear.next(": still here")
        assert second - first < 15


def test_a_silent_stream_comments_also_if_it_looks_for_entries_more_often(
    platform: Platform, match: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.http.hub.LOOK_SECONDS", 0.05)
    client = create_app(platform, Settings(comment_seconds=0.3, log_requests=False)).test_client()
    body = client.get(f"/v1/matches/{match}/stream?after=2&seconds=2").data
    assert body.startswith(b"retry: 1000\n\n: still here\n\n")
    assert body.count(b": still here") <= 6, "it looks forty times"


def test_a_body_that_breaks_off_is_not_carried_out(live: Live) -> None:
    address = urlsplit(live.url)
    with socket.create_connection((address.hostname, address.port)) as line:
        line.sendall(b"POST /v1/players HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n")
        line.sendall(b'{"name":"Half"}')
        line.shutdown(socket.SHUT_WR)
        line.settimeout(10)
        assert b" 201 " not in line.recv(4096)


def test_a_stream_resumes_after_the_last_event_without_gaps_or_duplicates(live: Live, platform: Platform, match: str) -> None:
    seen: list[str] = []
    done = threading.Event()

    def play_on() -> None:
        for _ in range(60):
            play.play(platform, match, "one", [ADD])
        done.set()

    threading.Thread(target=play_on, daemon=True).start()
    while len(seen) < 62:
        with listening(f"{live.url}/v1/matches/{match}/stream", **({"Last-Event-ID": seen[-1]} if seen else {})) as ear:
            for _ in range(20):
                if len(seen) < 62:
                    seen.append(ear.next("id: ")[1][4:])
    assert seen == [str(version) for version in range(1, 63)]
    assert done.wait(10)


def test_a_long_poll_wakes_with_the_entry(live: Live, platform: Platform, match: str) -> None:
    answers: list[Any] = []
    waiting = threading.Thread(
        target=lambda: answers.append(requests.get(f"{live.url}/v1/matches/{match}/entries?after=2&wait=8", timeout=20).json())
    )
    waiting.start()
    within(8, lambda: streams(live) >= 1)
    play.play(platform, match, "one", [ADD])
    waiting.join()
    assert [entry["version"] for entry in answers[0]["entries"]] == [3]


def test_a_client_that_disconnects_frees_its_place(live: Live, match: str) -> None:
    within(20, lambda: streams(live) == 0)  # those of earlier tests have ended
    ears = [Ear(f"{live.url}/v1/matches/{match}/stream") for _ in range(4)]
    within(20, lambda: streams(live) == 4)
    for ear in ears:
        ear.next("id: 2")
        ear.answer.raw._fp.fp.raw._sock.shutdown(socket.SHUT_RDWR)
    within(20, lambda: streams(live) == 0)


def test_streams_do_not_keep_the_server_from_stopping(serve: Callable[..., Live], match: str) -> None:
    live = serve()
    with listening(f"{live.url}/v1/matches/{match}/stream") as ear:
        ear.next("id: 2")
        live.process.send_signal(signal.SIGTERM)
        live.process.wait(20)


def test_the_removal_of_a_match_ends_its_streams_and_long_polls(
    live: Live, platform: Platform, ann: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as earlier:
        earlier.setattr(platform.clock, "now", lambda: time.time_ns() // 1_000_000 - 15 * 86_400_000)
        match = play.create(platform, ann, "tally", {"one": "me", "two": "open"}, {}).match
    polled: list[Any] = []
    poll = threading.Thread(target=lambda: polled.append(requests.get(f"{live.url}/v1/matches/{match}/entries?after=1&wait=9", timeout=20)))
    poll.start()
    with listening(f"{live.url}/v1/matches/{match}/stream") as ear:
        ear.next("id: 1")
        ear.next(": still here")
        assert expiry.remove(platform, match)
        assert ear.ended.wait(20)
    poll.join()
    assert polled[0].status_code in (200, 404)
    for path in ("", "/state", "/entries", "/stream", "/record", "/audit"):
        gone = requests.get(f"{live.url}/v1/matches/{match}{path}", timeout=5)
        assert (gone.status_code, gone.json()["code"]) == (404, "no_such_match")


def test_head_does_not_open_a_stream(live: Live, match: str) -> None:
    answer = requests.head(f"{live.url}/v1/matches/{match}/stream", timeout=5)
    assert (answer.status_code, answer.headers["Content-Type"].split(";")[0]) == (200, "text/event-stream")


def streams(live: Live) -> float:
    """Return the number of open streams, by the server's metrics."""
    for line in requests.get(f"{live.url}/metrics", timeout=5).text.splitlines():
        if line.startswith("warledger_streams "):
            return float(line.split()[1])
    raise AssertionError("not counted")
