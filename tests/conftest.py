"""Fixtures that many tests share: a real store and a real queue for each test process, and a platform on them."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
import redis
import structlog
from werkzeug.routing.rules import Rule

from events import accounts, play
from events.keeping import embedded
from events.notary import highwater
from events.platform import Platform, Settings, open_platform
from events.play import Played
from events.store import Store
from events.store.client import RedisClient
from events.store.library import FORMAT
from events.timing.clock import Clock
from games import GAMES
from tests import forks
from tests.tally import TALLY
from tools import private

if TYPE_CHECKING:
    from tests.nodes import Nodes

ALL_GAMES = {**GAMES, TALLY.id: TALLY}

_configure = structlog.configure


def _configured(**given: Any) -> None:
    """Configure structlog as a command in this process asks, but for loggers that stay as they are: `capture_logs` would not see theirs."""
    _configure(**{**given, "cache_logger_on_first_use": False})


pytest.MonkeyPatch().setattr(structlog, "configure", _configured)


@pytest.fixture(scope="session", autouse=True)
def _routes_are_compiled_once() -> Iterator[None]:
    """Hundreds of tests make an application, and Werkzeug compiles two functions for each of its routes. They depend on the route alone."""
    compile_builder, compiled = Rule._compile_builder, {}

    def once(rule: Rule, append_unknown: bool = True) -> Any:
        key = rule.rule, append_unknown
        if key not in compiled:
            compiled[key] = compile_builder(rule, append_unknown)
        return compiled[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Rule, "_compile_builder", once)
        yield


@pytest.fixture(scope="session", autouse=True)
def _receipts_are_kept_elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let clients of tests keep receipts and keys in a folder of their own, and not in the home of whoever runs the tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WARLEDGER_HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture(scope="session", autouse=True)
def _services_are_forks() -> Iterator[None]:
    """Let the services of tests be forks of one process that has imported everything."""

    def start(arguments: list[str], environment: dict[str, str]) -> private.Running:
        with Path(os.devnull).open("wb") as nothing:
            return forks.start("service.supervisor.serve", arguments, environment, nothing.fileno())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(private, "start", start)
        yield
    forks.PARENT.close()


class Keeper(redis.Redis):
    """The keeper of a store: it may do everything, and knows the names of the renamed commands."""

    renamed: Mapping[str, str] = {}

    def execute_command(self, *words: Any, **options: Any) -> Any:
        """Send a command by the name that the server has for it."""
        return super().execute_command(self.renamed.get(words[0], words[0]), *words[1:], **options)


def keeper_of(data: Path) -> Keeper:
    """Return a connection for the keeper of the store of a folder."""
    keeper = Keeper.from_url(embedded.keeper_url(data))
    keeper.renamed = embedded.renamed(data)
    return keeper


class Servers(NamedTuple):
    """The embedded servers of this test process, and connections to both. `keeper` may do everything to the store."""

    data: Path
    store_url: str
    queue_url: str
    keeper: Keeper
    queue: redis.Redis

    def empty(self) -> None:
        """Remove everything but the mark of the store: web servers of other tests go on, and know its secret."""
        mark = self.keeper.get("{store}:begun") or b""
        self.keeper.flushall()
        self.queue.flushall()
        if re.fullmatch(rb"%d 16 [0-9a-f]{64}" % FORMAT, mark):
            self.keeper.set("{store}:begun", mark)


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    with servers_in(tmp_path_factory.mktemp("servers")) as started:
        yield started


@pytest.fixture(scope="session")
def _quiet_servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    with servers_in(tmp_path_factory.mktemp("quiet")) as started:
        yield started


@pytest.fixture
def quiet_servers(_quiet_servers: Servers) -> Servers:
    """Empty servers to which no web server of other tests gives pulses."""
    _quiet_servers.empty()
    return _quiet_servers


@contextlib.contextmanager
def servers_in(data: Path) -> Iterator[Servers]:
    """Start servers in a folder until the end of the block."""
    store = embedded.start(data, embedded.STORE, "no")
    queue = embedded.start(data, embedded.QUEUE, "off")
    keeper = keeper_of(data)
    yield Servers(data, store.url, queue.url, keeper, redis.Redis.from_url(queue.url))
    store.stop()
    queue.stop()


@pytest.fixture
def platform(servers: Servers) -> Iterator[Platform]:
    """An empty platform with every game and the test game."""
    servers.empty()
    (servers.data / "keys" / highwater.FILE).unlink(missing_ok=True)  # how far the log was signed that the store had before
    opened = open_platform(Settings(store_url=servers.store_url, queue_url=servers.queue_url, keys=servers.data / "keys"), ALL_GAMES)
    yield opened
    opened.close()


@pytest.fixture
def another_platform(servers: Servers, platform: Platform) -> Iterator[Callable[..., Platform]]:
    """Open more platforms on the same servers, each with a cache of its own, as other processes have them.

    `at`: a moment at which its clock stands still, so that answers that are compared do not depend on how long the test takes.
    """
    with contextlib.ExitStack() as stack:

        def opened(at: int | None = None) -> Platform:
            clock = None if at is None else Clock(lambda: at, lambda: 0, "b1")
            other = open_platform(platform.settings, ALL_GAMES, clock=clock)
            stack.callback(other.close)
            return other

        yield opened


@pytest.fixture
def ann(platform: Platform) -> str:
    return accounts.register(platform, "Ann")[0].id


@pytest.fixture
def bob(platform: Platform) -> str:
    return accounts.register(platform, "Bob")[0].id


@pytest.fixture
def begin(platform: Platform, ann: str) -> Callable[..., str]:
    """Begin a match of the test game in which the first seat is to act. Without `seats`, Ann has seats one and two."""

    def begun(target: int = 1_000_000, **seats: str) -> str:
        match = play.create(platform, ann, "tally", seats or {"one": "me", "two": "me"}, {"target": target}).match
        play.play(platform, match, "system", [{"type": "advance"}])
        return match

    return begun


@pytest.fixture(scope="session")
def typed_client(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `ledger_client`, which openapi-python-client made from openapi.yaml: once for all processes of pytest."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "typed_client"
    folder.mkdir(exist_ok=True)
    made = folder / "ledger_client"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "done").exists():
            command = [Path(sys.executable).parent / "openapi-python-client", "generate", "--path", private.ROOT / "openapi.yaml"]
            done = subprocess.run([*command, "--meta", "none", "--overwrite", "--output-path", made], capture_output=True, text=True)
            assert done.returncode == 0, done.stdout + done.stderr
            assert "WARNING" not in done.stdout + done.stderr
            (folder / "done").touch()
    return folder


@pytest.fixture(scope="session")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    """A cluster of three primaries with a replica each. Whoever breaks something mends it."""
    from tests.nodes import Nodes

    joined = Nodes(tmp_path_factory.mktemp("nodes"))
    yield joined
    joined.end()


@pytest.fixture(scope="session")
def cluster_url(nodes: Nodes) -> str:
    """The URL of one node of the cluster."""
    return nodes.nodes[0].url


@pytest.fixture(params=["single", "cluster"])
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    """A store without a platform, on one server and on a cluster."""
    if request.param == "single":
        servers: Servers = request.getfixturevalue("servers")
        servers.keeper.flushall()
        client = RedisClient(servers.store_url)
    else:
        client = RedisClient(request.getfixturevalue("cluster_url"), cluster=True)
    yield Store(client)
    client.close()


def take_seat(
    platform: Platform, match: str, player: str, seat: str, contribution: str | None = None, request: str | None = None
) -> Played:
    """Let a player take a seat."""
    action = {"type": "take_seat", "seat": seat} | ({} if contribution is None else {"contribution": contribution})
    return play.act_at_table(platform, match, player, action, request=request)


def waits(servers: Servers, kind: str) -> list[str]:
    """Return the members of the index that wait in the queue, those of a creator in their order."""
    owners = sorted(servers.queue.scan_iter(f"fair:{kind}:of:*"))
    return [member.decode() for owner in owners for member in servers.queue.zrange(owner, 0, -1)]  # type: ignore[union-attr]


def tickets(servers: Servers, kind: str) -> int:
    """Return how many tickets of a kind wait for a worker."""
    return int(servers.queue.llen(f"rq:queue:{kind}"))  # type: ignore[arg-type]


def within(seconds: float, true: Callable[[], Any]) -> Any:
    """Return what `true` returns as soon as that is true. Raises AssertionError when the time is up."""
    deadline = time.monotonic() + seconds
    while not (answer := true()):
        assert time.monotonic() < deadline, f"not so within {seconds} seconds"
        time.sleep(0.01)
    return answer


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
