"""Generate HTTP load: one process with many keep-alive connections. Each connection sends its next request when it has an answer."""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Callable, Generator, Mapping
from typing import Any, NamedTuple

import orjson

from games.choices import complete
from tools.client import in_the_game

Answer = tuple[int, bytes]
Conversation = Generator[bytes, Answer, None]
Address = tuple[str, int]


class Load(NamedTuple):
    """The result of a load: the answered requests, the seconds, the seconds of each request, and the processor seconds of the client."""

    answered: int
    seconds: float
    latencies: list[float]
    client: float

    @property
    def rate(self) -> float:
        """The requests answered per second."""
        return self.answered / self.seconds


def request(method: str, path: str, body: Any = None, key: str | None = None) -> bytes:
    """Return an HTTP/1.1 request with a JSON body as bytes."""
    content = b"" if body is None else orjson.dumps(body)
    lines = [f"{method} {path} HTTP/1.1", "Host: bench", f"Content-Length: {len(content)}"]
    if content:
        lines.append("Content-Type: application/json")
    if key is not None:
        lines.append(f"Authorization: Bearer {key}")
    return "\r\n".join([*lines, "", ""]).encode() + content


def drive(address: Address, conversations: list[Conversation], seconds: float) -> Load:
    """Run each conversation on its own connection for some seconds, or until the first one ends."""
    poll = select.poll()
    lines: dict[int, tuple[socket.socket, Conversation]] = {}
    sent: dict[int, float] = {}
    latencies: list[float] = []
    for conversation in conversations:
        line = socket.create_connection(address)
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        lines[line.fileno()] = (line, conversation)
        poll.register(line, select.POLLIN)
    began, worked = time.perf_counter(), time.process_time()
    for number, (line, conversation) in list(lines.items()):
        sent[number] = time.perf_counter()
        line.sendall(next(conversation))
    all_continue = True
    while all_continue and time.perf_counter() - began < seconds:
        for number, _ in poll.poll(1000):
            line, conversation = lines[number]
            answer = received(line)
            now = time.perf_counter()
            latencies.append(now - sent[number])
            try:
                asked = conversation.send(answer)
            except StopIteration:
                all_continue = False
                poll.unregister(line)
                continue
            sent[number] = time.perf_counter()
            line.sendall(asked)
    ended, used = time.perf_counter(), time.process_time() - worked
    for line, _ in lines.values():
        line.close()
    return Load(len(latencies), ended - began, latencies, used)


def received(line: socket.socket) -> Answer:
    """Read one whole answer. Return its status and its body."""
    data = line.recv(262_144)
    while (end := data.find(b"\r\n\r\n")) < 0:
        data += more(line)
    head = data[:end].lower()
    start = head.find(b"content-length:") + 15
    assert start > 14, "an answer without a length"
    stop = head.find(b"\r\n", start)
    length = int(head[start : stop if stop > 0 else len(head)])
    body = data[end + 4 :]
    while len(body) < length:
        body += more(line)
    return int(data[9:12]), body


def more(line: socket.socket) -> bytes:
    """Return the next bytes of a connection. Raises AssertionError if it ends."""
    data = line.recv(262_144)
    assert data, "the server closed the connection"
    return data


class Caller:
    """A connection for calls one after the other, with JSON in both directions."""

    def __init__(self, address: Address, key: str | None = None) -> None:
        self.line = socket.create_connection(address)
        self.line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.key = key

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request and return the body of its answer. Raises AssertionError if the status is not 2xx."""
        self.line.sendall(request(method, path, body, self.key))
        status, answer = received(self.line)
        assert 200 <= status < 300, f"{method} {path}: {status} {answer[:400]!r}"
        return orjson.loads(answer) if answer else None

    def turn(self, match: str) -> list[Mapping[str, Any]]:
        """Wait until the player must act. Return the choices, which are empty if the match is over."""

        def asked() -> Any:
            answer = self.call("GET", f"/v1/matches/{match}/choices")
            return answer if in_the_game(answer["choices"]) or not answer["to_act"] else None

        return in_the_game(until(asked)["choices"])


def until(ready: Callable[[], Any], seconds: float = 30.0, pause: float = 0.005) -> Any:
    """Call `ready` until its result is true, and return that. Raises AssertionError when the time is up."""
    deadline = time.monotonic() + seconds
    while not (found := ready()):
        assert time.monotonic() < deadline, "the time is up"
        time.sleep(pause)
    return found


def sorted_share(values: list[float], share: float) -> float:
    """Return a quantile: the value below which the given share of the values lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def drawn(choices: list[Mapping[str, Any]], number: Callable[[int], int]) -> Any:
    """Return a random action: any choice, and for an open choice any counts within its ranges."""
    choice = choices[number(len(choices))]
    return complete(dict(choice["action"]), choice["choose"], number) if "choose" in choice else choice["action"]
