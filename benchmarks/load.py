"""Generate HTTP load: one process with many keep-alive connections. Each connection sends its next request when it has an answer."""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, NamedTuple, Self

import orjson

from games.choices import complete
from sdk.python.warledger_client import in_the_game

Answer = tuple[int, bytes]
Conversation = Generator[bytes | None, Answer | None, None]
"""What a connection says: it yields a request and is sent the answer. It yields None while it has nothing to ask."""
Address = tuple[str, int]
IDLE = 20.0  # seconds after which a connection is opened anew; the server closes it after 60


class Load(NamedTuple):
    """The result of a window of load: the seconds of each request that was answered in it, and of the window.

    `late`: how many requests were under way when it ended, and were answered then. `client`: the processor seconds of this process.
    """

    latencies: list[float]
    seconds: float
    late: int
    client: float

    @property
    def rate(self) -> float:
        """The requests answered per second."""
        return len(self.latencies) / self.seconds

    @property
    def requests(self) -> int:
        """All requests."""
        return len(self.latencies) + self.late

    def __add__(self, other: Load) -> Load:  # type: ignore[override]
        return Load(self.latencies + other.latencies, self.seconds + other.seconds, self.late + other.late, self.client + other.client)


def request(method: str, path: str, body: Any = None, key: str | None = None, **headers: str) -> bytes:
    """Return an HTTP/1.1 request with a JSON body as bytes. `_` in the name of a header stands for `-`."""
    content = b"" if body is None else orjson.dumps(body)
    lines = [f"{method} {path} HTTP/1.1", "Host: bench", f"Content-Length: {len(content)}"]
    if content:
        lines.append("Content-Type: application/json")
    if key is not None:
        lines.append(f"Authorization: Bearer {key}")
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + content


def connected(address: Address) -> socket.socket:
    """Return a new connection that sends small requests at once."""
    line = socket.create_connection(address)
    line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return line


class Lines:
    """Connections to an address for a block, each with a conversation that goes on from one window of load to the next."""

    def __init__(self, address: Address, conversations: list[Conversation]) -> None:
        self._address = address
        self._talks: list[tuple[Conversation, bytes | None]] = [(conversation, None) for conversation in conversations]
        self._lines: list[socket.socket] = []
        self._used = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._close()
        for conversation, _ in self._talks:
            conversation.close()

    def _close(self) -> None:
        while self._lines:
            self._lines.pop().close()

    def drive(self, seconds: float) -> Load:
        """Let each conversation go on for some seconds, or until one has nothing to ask. Then wait for the last answers."""
        if time.monotonic() > self._used + IDLE:
            self._close()
        self._lines = self._lines or [connected(self._address) for _ in self._talks]
        numbers = {line.fileno(): number for number, line in enumerate(self._lines)}
        poll, late = select.poll(), 0
        sent: dict[int, float] = {}
        latencies: list[float] = []
        self._talks = [(conversation, asked or next(conversation)) for conversation, asked in self._talks]
        began, worked = time.perf_counter(), time.process_time()
        ended = 0.0
        for line, (_, first) in zip(self._lines, self._talks, strict=True):
            if first:
                poll.register(line, select.POLLIN)
                sent[line.fileno()] = time.perf_counter()
                line.sendall(first)
        assert sent, "there is nothing to ask"
        while sent:
            ready = poll.poll(60_000)
            assert ready, "the server does not answer"
            for file, _ in ready:
                number = numbers[file]
                line, (conversation, _) = self._lines[number], self._talks[number]
                answer = received(line)
                now = time.perf_counter()
                took = now - sent.pop(file)
                if ended:
                    late += 1
                else:
                    latencies.append(took)
                asked = conversation.send(answer)
                self._talks[number] = conversation, asked
                if not ended and (asked is None or now - began >= seconds):
                    ended = now
                if not ended and asked:
                    sent[file] = time.perf_counter()
                    line.sendall(asked)
        self._used = time.monotonic()
        return Load(latencies, ended - began, late, time.process_time() - worked)


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
        self.address, self.line, self.used = address, connected(address), time.monotonic()
        self.key = key

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request and return the body of its answer. Raises AssertionError if the status is not 2xx."""
        if time.monotonic() > self.used + IDLE:
            self.line.close()
            self.line = connected(self.address)
        self.line.sendall(request(method, path, body, self.key))
        status, answer = received(self.line)
        self.used = time.monotonic()
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


def drawn(choices: Sequence[Mapping[str, Any]], number: Callable[[int], int]) -> Any:
    """Return a random action: any choice, and for an open choice any counts within its ranges."""
    choice = choices[number(len(choices))]
    return complete(dict(choice["action"]), choice["choose"], number) if "choose" in choice else choice["action"]
