"""Crowds of connections over real sockets, in the server that production uses: idle, not reading, sending slowly, and gone."""

from __future__ import annotations

import os
import resource
import signal
import socket
import statistics
import struct
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from urllib.parse import urlsplit

import pytest
import requests

from service.http import connections
from service.http.addresses import Addresses, network_of, networks
from service.http.connections import Connection, Progress, Watch, allowed
from service.http.settings import ANSWERS, Settings
from tests.conftest import within
from tests.service.conftest import Live

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells how a connection fares, and gives a machine many addresses")
IDLE, NOT_READING, HALF = 5000, 2000, 2000
PATIENCE = 4
PLACES = 400
ASSET = "/docs/assets/swagger-ui-bundle.js"
HERE, ELSEWHERE, POLITE = "127.0.0.1", "127.0.0.2", "127.0.0.3"
SOURCES = (f"127.0.1.{number}" for number in range(1, 255))
BODY = b"POST /v1/players HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n{"
NEW_PLAYER = b'POST /v1/players HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 14\r\n\r\n{"name":"Ada"}'


@pytest.fixture(scope="module")
def crowded(serve: Callable[..., Live]) -> Live:
    return serve(TEST_PATIENCE=str(PATIENCE), WARLEDGER_STREAMS=str(PLACES))


@pytest.fixture
def match(begin: Callable[..., str]) -> str:
    return begin()


@pytest.fixture
def source() -> str:
    """An address of which no other test has taken places."""
    return next(SOURCES)


@pytest.fixture
def open_files() -> Iterator[None]:
    """Let this process and the server open as many files as the crowd needs."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = IDLE + NOT_READING + 500
    if hard != resource.RLIM_INFINITY and hard < needed:
        pytest.skip(f"the hard limit of open files is {hard}, and the crowd needs {needed}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, needed), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@contextmanager
def lines(live: Live, count: int, sent: bytes = b"", source: str = HERE) -> Iterator[list[socket.socket]]:
    """Open connections from an address, and send the same on each of them."""
    with ExitStack() as stack:
        opened = []
        for _ in range(count):
            opened.append(stack.enter_context(connected(live, source)))
            opened[-1].sendall(sent)
        yield opened


def connected(live: Live, source: str = HERE) -> socket.socket:
    address = urlsplit(live.url)
    line = socket.create_connection((str(address.hostname), int(address.port or 0)), 10, (source, 0))
    line.settimeout(10)
    return line


def get(path: str, key: str | None = None) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: x\r\n{f'Authorization: Bearer {key}' if key else 'X-None: x'}\r\n\r\n".encode()


def status(line: socket.socket) -> int:
    """Wait for an answer and return its status."""
    return int(line.recv(4096)[9:12])


def asked(live: Live, sent: bytes, source: str = HERE) -> int:
    """Send a request on a connection of its own, and return the status of the answer."""
    with connected(live, source) as line:
        line.sendall(sent)
        return status(line)


def player(live: Live) -> str:
    key: str = requests.post(f"{live.url}/v1/players", json={"name": "polite"}, timeout=10).json()["key"]
    return key


def median(live: Live, match: str) -> float:
    """Return the median time of a reader who comes anew for each request, in seconds."""
    took = []
    for _ in range(60):
        began = time.perf_counter()
        assert asked(live, get(f"/v1/matches/{match}/state"), POLITE) == 200
        took.append(time.perf_counter() - began)
    return statistics.median(took)


@LINUX
@pytest.mark.usefixtures("open_files")
def test_readers_are_served_beside_thousands_who_are_idle_or_do_not_read(crowded: Live, match: str) -> None:
    alone = max(median(crowded, match) for _ in range(3))
    with lines(crowded, IDLE), lines(crowded, NOT_READING, get("/openapi.json"), ELSEWHERE) as unread:
        within(20, lambda: unread[-1].recv(1, socket.MSG_PEEK))
        beside = min(median(crowded, match) for _ in range(5))
    assert beside < 3 * max(alone, median(crowded, match))


@LINUX
def test_half_sent_bodies_delay_neither_readers_nor_those_who_send_theirs_with_a_key(crowded: Live, source: str, match: str) -> None:
    key = player(crowded)
    body = b'{"type":"add","by":1}'
    action = b"POST /v1/matches/%b/actions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %b\r\n" % (match.encode(), key.encode())
    action += b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
    with lines(crowded, HALF, BODY, source) as slow:
        assert asked(crowded, get("/v1/games"), POLITE) == 200
        assert asked(crowded, action) == 403  # it was read: the player has no seat
        counted = Counter(status(line) for line in slow[-HALF // 2 :])
        assert set(counted) == {429}
        within(PATIENCE + 10, lambda: asked(crowded, NEW_PLAYER, source) == 201)  # the server has ended those who do not go on
        assert slow[0].recv(1) == b""


def refuses(line: socket.socket, sent: bytes) -> bool:
    """Send something on a connection. Return True if it is closed."""
    try:
        line.sendall(sent)
    except OSError:
        return True
    return False


@LINUX
@pytest.mark.soak
def test_a_body_that_comes_byte_by_byte_is_ended(crowded: Live, source: str) -> None:
    with connected(crowded, source) as line:
        line.sendall(BODY)
        began = time.monotonic()
        within(PATIENCE + 10, lambda: refuses(line, b" "))
        assert time.monotonic() - began > PATIENCE / 2


@LINUX
@pytest.mark.soak
def test_large_answers_that_nobody_reads_take_their_share_and_are_ended(crowded: Live, source: str) -> None:
    with lines(crowded, 2 * ANSWERS, get(ASSET), source) as unread:
        counted = Counter(status(line) for line in unread)
        assert counted[200] == ANSWERS // 2
        assert counted[429] == 2 * ANSWERS - ANSWERS // 2
        assert asked(crowded, get(ASSET), ELSEWHERE) == 200
        within(PATIENCE + 6, lambda: asked(crowded, get(ASSET), source) == 200)


def test_a_large_answer_arrives_as_a_whole(crowded: Live) -> None:
    plain = {"Accept-Encoding": "identity"}
    whole = requests.get(crowded.url + ASSET, headers=plain, timeout=10)
    assert len(whole.content) == int(whole.headers["Content-Length"]) > 1_000_000
    assert requests.get(crowded.url + "/openapi.json", timeout=10).json()["openapi"]
    assert requests.get(crowded.url + ASSET, timeout=10).content == whole.content, "compressed"
    head = requests.head(crowded.url + ASSET, headers=plain, timeout=10)
    assert (head.content, head.headers["Content-Length"]) == (b"", whole.headers["Content-Length"])


@LINUX
@pytest.mark.parametrize("path", ["/v1/matches/{}/stream?after=2", "/v1/matches/{}/entries?after=2&wait=9"])
def test_a_caller_takes_a_share_of_the_places_and_another_one_gets_a_place_at_once(
    crowded: Live, source: str, match: str, path: str
) -> None:
    share, request = Settings().streams_per_key, get(path.format(match))
    with lines(crowded, share + 5, request, source) as taken:
        assert Counter(status(line) for line in taken) == {200: share, 429: 5}
        with connected(crowded, source) as line:
            line.sendall(request)
            refused = line.recv(4096)
        assert b"too_many_streams" in refused
        assert b"retry-after: 5" in refused
        assert asked(crowded, request, ELSEWHERE) == 200
        assert asked(crowded, get(path.format(match), player(crowded)), source) == 200


@LINUX
@pytest.mark.parametrize("path", ["/v1/matches/{}/stream?after=1", "/v1/matches/{}/entries?after=1&wait=9"])
def test_all_places_are_held_from_one_prefix_and_a_seat_gets_one_at_once(crowded: Live, path: str) -> None:
    key = player(crowded)
    bearer = {"Authorization": f"Bearer {key}"}
    seats = {"one": "me", "two": "ai:greedy"}
    match = requests.post(f"{crowded.url}/v1/matches", json={"game": "tally", "seats": seats}, headers=bearer, timeout=10).json()["id"]
    request = get(path.format(match))
    with ExitStack() as stack:
        crowd = [line for number in range(8) for line in stack.enter_context(lines(crowded, PLACES // 8, request, f"127.0.2.{number + 1}"))]
        assert {status(line) for line in crowd} == {200}
        asking = [(request, "127.0.2.9"), (get(path.format(match), key), POLITE), (get(path.format(match), key), "127.0.2.1")]
        others = [line for sent, source in asking for line in stack.enter_context(lines(crowded, 1, sent, source))]
        assert [status(line) for line in others] == [200] * 3
        ended: list[socket.socket] = []
        within(8, lambda: ended.extend(line for line in crowd if line not in ended and has_ended(line)) or len(ended) == 3)


def has_ended(line: socket.socket) -> bool:
    """Return True if an answer has come to its end. What has come is read."""
    line.setblocking(False)
    try:
        return line.recv(65_536).endswith(b"0\r\n\r\n")
    except BlockingIOError:
        return False


def closed(line: socket.socket) -> None:
    line.close()


def reset(line: socket.socket) -> None:
    line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    line.close()


@LINUX
@pytest.mark.parametrize("path", ["/v1/matches/{}/stream?after=2", "/v1/matches/{}/entries?after=2&wait=9"])
@pytest.mark.parametrize("leave", [closed, reset])
def test_places_come_back_when_connections_close(
    crowded: Live, source: str, match: str, path: str, leave: Callable[[socket.socket], None]
) -> None:
    request = get(path.format(match))
    with lines(crowded, Settings().streams_per_key, request, source) as taken:
        assert {status(line) for line in taken} == {200}
        assert asked(crowded, request, source) == 429
        for line in taken:
            leave(line)
        within(8, lambda: asked(crowded, request, source) == 200)


LISTENER = """
import socket, sys, time
lines = [socket.create_connection((sys.argv[1], int(sys.argv[2])), 10, (sys.argv[4], 0)) for _ in range(int(sys.argv[5]))]
for line in lines:
    line.sendall(sys.argv[3].encode())
    assert line.recv(4096)[9:12] == b"200"
print("listening", flush=True)
time.sleep(60)
"""


@LINUX
def test_places_come_back_when_the_client_is_killed(crowded: Live, source: str, match: str) -> None:
    address, request = urlsplit(crowded.url), get(f"/v1/matches/{match}/stream?after=2")
    arguments = [str(address.hostname), str(address.port), request.decode(), source, str(Settings().streams_per_key)]
    with subprocess.Popen([sys.executable, "-c", LISTENER, *arguments], stdout=subprocess.PIPE) as client:
        assert client.stdout is not None
        assert client.stdout.readline() == b"listening\n"
        assert asked(crowded, request, source) == 429
        os.kill(client.pid, signal.SIGKILL)
        within(8, lambda: asked(crowded, request, source) == 200)


@pytest.mark.parametrize(
    ("given", "counted"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
        ("no:address", "no:address"),
        ("", ""),
    ],
)
def test_an_ipv6_network_counts_as_one_address(given: str, counted: str) -> None:
    assert network_of(given) == counted


def history(*steps: tuple[float, int, int, bool]) -> list[bool]:
    """Look at a connection at these moments (seconds, received, acknowledged, behind). Return whether it is to be ended at each."""
    (began, *first), *rest = steps
    connection = Connection(HERE, Progress(*first), began)
    ended = [connection.keeps_waiting(began, 30, 75)]
    for now, *progress in rest:
        connection.note(Progress(*progress), now)
        ended.append(connection.keeps_waiting(now, 30, 75))
    return ended


def test_a_connection_is_ended_only_if_its_client_keeps_the_server_waiting() -> None:
    read, large = connections.READ_SECONDS, 10 * connections.READ_BYTES
    assert history((0, 0, 0, False), (59, 0, 0, False), (76, 0, 0, False)) == [False, False, True]  # idle
    assert history((0, 50, 0, False), (29, 60, 0, False), (31, 70, 0, False)) == [False, False, True]  # a body, byte by byte
    assert history((0, 50, 900, False), (50, 50, 900, False), (52, 99, 900, False), (54, 99, 1800, False)) == [False] * 4  # keep-alive
    assert not any(history(*((10 * n, 50, 900 + 14 * n, False) for n in range(20))))  # a silent stream
    assert history((0, 50, 900, True), (2, 50, 900, True), (read + 3, 50, 910, True)) == [False, False, True]  # not reading
    assert not any(history(*((10 * n, 50, large * n, True) for n in range(20))))  # reading much for long


class House:
    """A server of 16 connections, and a watch over them."""

    def __init__(self, stack: ExitStack, proxies: tuple[str, ...] = ()) -> None:
        self.stack = stack
        self.server = stack.enter_context(socket.create_server((HERE, 0)))
        self.watch = Watch(16, 30, 75, Addresses(networks(proxies)))
        self.now = 0.0
        self.look()

    def look(self) -> None:
        self.now += 1
        self.watch.look(self.now)

    def open(self, source: str, sent: bytes = b"") -> socket.socket:
        line = self.stack.enter_context(socket.create_connection(self.server.getsockname(), 5, (source, 0)))
        served = self.stack.enter_context(self.server.accept()[0])
        line.sendall(sent)
        if sent:
            served.recv(len(sent))
            served.sendall(b"answer")
            line.recv(6)
        self.look()
        return line


@pytest.fixture
def house() -> Iterator[House]:
    with ExitStack() as stack:
        yield House(stack)


@LINUX
def test_an_address_keeps_a_quarter_of_the_connections_once_half_are_open(house: House) -> None:
    many = [house.open(ELSEWHERE) for _ in range(8)]
    assert all(alive(line) for line in many)
    polite = house.open(POLITE)
    assert [alive(line) for line in many] == [False] * 4 + [True] * 4
    assert alive(polite)


@LINUX
def test_a_prefix_keeps_half_of_the_connections_and_those_that_asked_nothing_end_first(house: House) -> None:
    asked = [house.open(f"127.0.1.{number}", b"GET") for number in range(1, 4)]
    silent = [house.open(f"127.0.1.{number}") for number in range(1, 8)]
    assert sum(map(alive, silent)) < 7
    assert all(map(alive, asked))
    assert len(asked) + sum(map(alive, silent)) <= 8


@LINUX
def test_a_quarter_of_the_connections_stays_free_for_those_who_hold_fewer(house: House) -> None:
    crowd = [house.open(f"127.0.{1 + number % 3}.{1 + number % 2}") for number in range(15)]
    alone = house.open("127.0.9.1")
    house.look()
    assert sum(map(alive, crowd)) <= 12 - 1
    assert alive(alone)


@LINUX
def test_a_trusted_proxy_keeps_its_connections() -> None:
    with ExitStack() as stack:
        house = House(stack, (POLITE,))
        assert all(alive(house.open(POLITE)) for _ in range(14))


def alive(line: socket.socket) -> bool:
    line.setblocking(False)
    try:
        return line.recv(1) != b""
    except BlockingIOError:
        return True


def test_the_limit_of_open_files_bounds_the_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, 1024))
    assert allowed(8192) == 1024 - connections.OTHER_FILES
    assert allowed(100) == 100
    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, resource.RLIM_INFINITY))
    assert allowed(8192) == 8192
    for hard, can in ((320, 64), (319, None)):
        monkeypatch.setattr(resource, "getrlimit", lambda _, hard=hard: (16, hard))
        if can is None:
            with pytest.raises(connections.TooFewFiles, match="is 319, and a web process needs at least 320"):
                allowed(8192)
        else:
            assert allowed(8192) == can


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells how many wait")
def test_a_server_that_lets_nobody_in_who_waits_does_not_go_on_unless_it_is_full() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        accepting = connections.Accepting(listener.fileno(), 10_000)
        full = connections.Accepting(listener.fileno(), 1)
        assert accepting.goes_on()
        with socket.create_connection(listener.getsockname()), socket.create_connection(listener.getsockname()):
            assert [accepting.goes_on() for _ in range(3)] == [True, False, False]
            assert [full.goes_on() for _ in range(3)] == [True, True, True]
            with listener.accept()[0]:
                assert [accepting.goes_on() for _ in range(2)] == [True, False], "one was let in, another waits"
                with listener.accept()[0]:
                    assert accepting.goes_on()
