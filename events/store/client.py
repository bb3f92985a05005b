"""Talk to Redis. No other module imports redis-py. Arguments and answers are plain types.

A `RedisClient` connects to the event store: one server or a cluster. All scripts are safe to send twice (log.py), so a command is sent
again when its connection is lost. Only the modules of events/store use it.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from typing import Any, NoReturn
from urllib.parse import urlsplit

import redis
from redis.backoff import ExponentialWithJitterBackoff
from redis.cluster import ClusterNode, RedisCluster
from redis.driver_info import DriverInfo
from redis.exceptions import (
    AskError,
    ClusterDownError,
    MasterDownError,
    MovedError,
    NoPermissionError,
    NoScriptError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisClusterException,
    RedisError,
    ResponseError,
    TryAgainError,
)
from redis.exceptions import ConnectionError as Disconnected
from redis.exceptions import TimeoutError as TooLate
from redis.retry import Retry

from events.errors import DISK, MEMORY, StoreMoved, StoreRefused, StoreUnavailable
from events.store import holding, library
from events.store.guarantees import SETTINGS, Primary, judged
from events.store.library import Script
from events.store.wire import Ear, Wires

Item = tuple[bytes, dict[bytes, bytes]]  # a stream's id, and its fields

Call = tuple[Sequence[str], Sequence[str | bytes | int]]  # of a function: its keys, and its arguments

TRIES = 4
_PAUSES = (0.02, 0.1, 0.4)
_TIMEOUT = 5.0
_PATIENT = 60.0
_UNBOUNDED = 1 << 30
_NO_FUNCTION = "Function not found"

_DRIVER = DriverInfo()  # the name and version of redis-py; without it, each connection searches the installed packages for them

_UNAVAILABLE = (Disconnected, TooLate, OSError, RedisClusterException)
_AWAY = (
    ReadOnlyError,
    ClusterDownError,
    MasterDownError,
    AskError,
    TryAgainError,
)  # also MovedError, an AskError: another server must answer, or this one later
_BUSY = "BUSY "  # a script runs that does not end
_BEGUN = "{store}:begun"
_FULL_DISK = ("MISCONF", "NOREPLICAS")  # the keeper of the embedded store lets it refuse writes by NOREPLICAS
_DEMOTED = ("UNBLOCKED", "WAIT cannot be used with replica")  # the server became a replica after it was asked to wait for its own


class _Cluster(RedisCluster):
    """A cluster that finds the node of a function by the first key, without asking a server for the positions of its keys.

    It also holds what is read from it or written (holding.py): it sends all commands for a node on one connection.
    """

    def determine_slot(self, *args: Any) -> Any:
        """Return the slot of a command."""
        if args[0] in ("FCALL", "FCALL_RO"):
            return self.keyslot(args[3])  # type: ignore[no-untyped-call]
        return super().determine_slot(*args)

    def held(self, commands: Sequence[holding.Command], waits: holding.Waits, barrier: bool = True) -> list[Any]:
        """Send commands to the nodes of their keys, and return the answers when all are held (holding.py).

        After an error that a failover or a moved slot explains, the commands are sent again: once after each of the `_PAUSES`. Raises
        StoreUnavailable, and the errors of redis-py.
        """
        answers: list[Any] = [None] * len(commands)
        nodes: Any = self.nodes_manager
        slots = [self.keyslot(holding.tag_of(command)) for command in commands]  # type: ignore[no-untyped-call]
        left = list(range(len(commands)))
        for pause in (*_PAUSES, None):
            node = None
            try:
                while left:
                    node = nodes.get_node_from_slot(slots[left[0]])
                    here = [place for place in left if nodes.get_node_from_slot(slots[place]) == node]
                    sent = waits.added([commands[place] for place in here], node.name, barrier)
                    found = waits.taken(together(self.get_redis_connection(node), sent), len(here), node.name)
                    for place, answer in zip(here, found, strict=True):
                        answers[place] = answer
                    left = [place for place in left if place not in here]
                return answers
            except (*_AWAY, Disconnected, TooLate, OSError) as reason:
                if not isinstance(reason, TryAgainError):
                    nodes.initialize(last_failed_node_name=node and node.name)
                if pause is None or isinstance(reason, TooLate):  # who has waited for a frozen node does not wait again
                    raise
                time.sleep(0 if isinstance(reason, MovedError) else pause)
        raise AssertionError("unreachable")


def _joined(url: str, **options: Any) -> _Cluster:
    """Return a client of a cluster. Raises as its commands do.

    The URL names one node, and others after commas: `redis://user:password@a:7000,b:7000,c:7000`. One of them must answer.
    """
    first, *others = url.split(",")
    nodes = [urlsplit(f"//{other.strip()}") for other in others]
    named = [ClusterNode(node.hostname, node.port or 6379) for node in nodes]  # type: ignore[no-untyped-call]
    return _Cluster(url=first, startup_nodes=named, legacy_responses=False, driver_info=_DRIVER, **options)


class RedisClient:
    """The connections to a store: few, long-lived, and shared by the threads of a process.

    `clustered`: the keys of a call must all be in one slot. The URL may name several nodes of a cluster (`_joined`). `replicas`: how many
    replicas must have what was read or written before a method returns it, unless it was called with `held=False` (holding.py). If they do
    not answer in time, the method raises StoreUnavailable, and what was written may stay.
    """

    def __init__(self, url: str, cluster: bool = False, replicas: int = 0) -> None:
        self.url = url
        self.closed = False
        self.clustered = cluster
        self.replicas = replicas
        self._waits = holding.Waits(replicas)
        self._lock = threading.Lock()
        self._made: Any = None
        if not cluster:
            retry = Retry(ExponentialWithJitterBackoff(cap=0.5, base=0.02), 3)
            # There are never more connections than threads that send commands at once, so the limit of threads limits them, too.
            self._pool = redis.ConnectionPool.from_url(
                url, max_connections=_UNBOUNDED, socket_timeout=_TIMEOUT, legacy_responses=False, retry=retry, driver_info=_DRIVER
            )
            self._made = redis.Redis(connection_pool=self._pool)
            self._wires = Wires(self._pool)

    @property
    def _client(self) -> Any:
        """The client of redis-py. One of a cluster is made when it is needed, since that asks a node. Raises as its commands do."""
        if self._made is None:
            with self._lock:
                if self._made is None:
                    self._made = _joined(self.url, socket_timeout=_TIMEOUT)
        return self._made

    def run(self, script: Script, keys: Sequence[str], args: Sequence[str | bytes | int], held: bool = True, barrier: bool = True) -> Any:
        """Call the function of a script and return its answer. Raises StoreUnavailable.

        Without a `barrier`, what the function writes is held, and not what it reads.
        """
        return self.run_all(script, [(keys, args)], held, barrier)[0]

    def run_all(self, script: Script, calls: Sequence[Call], held: bool = True, barrier: bool = True) -> list[Any]:
        """Call a function several times, not atomically, and return its answers. A function that writes must be called once.

        On one server it is a single round trip. Raises StoreUnavailable.
        """
        commands = [(script.command, script.function, len(keys), *keys, *args) for keys, args in calls]
        if not self.clustered:
            return self._sent(lambda: self._by_wire(commands, held, barrier), again=True)
        if held and self.replicas:
            return self._sent(lambda: self._client.held(commands, self._waits, barrier))
        return self._sent(lambda: [self._client.execute_command(*command) for command in commands])

    def _sent(self, send: Callable[[], list[Any]], again: bool = False) -> list[Any]:
        """Return the answers that `send` returns. Load the functions if the server does not have them. Raises StoreUnavailable.

        `again`: send again if the connection is lost.
        """
        for attempt in range(TRIES):
            try:
                return send()
            except _UNAVAILABLE as reason:
                if attempt == TRIES - 1 or not again:
                    raise StoreUnavailable(str(reason)) from reason
            except RedisError as reason:
                if str(reason) != _NO_FUNCTION:
                    _raise_ours(reason)
                self._load_library(last=attempt == TRIES - 1)
            time.sleep(_PAUSES[attempt])
        raise AssertionError("unreachable")

    def _by_wire(self, commands: Sequence[Sequence[str | bytes | int]], held: bool = True, barrier: bool = True) -> list[Any]:
        if not (held and self.replicas and commands):
            return self._wires.exchange(commands)
        return self._waits.taken(self._wires.exchange(self._waits.added(commands, barrier=barrier)), len(commands))

    def hold(self, tags: Sequence[str]) -> None:
        """Wait until replicas have all that was written in these partitions, for who was told of it in another way. Raises
        StoreUnavailable."""
        if self.replicas:
            self.ask_all([("EXISTS", f"{tag}:barrier") for tag in (tags if self.clustered else tags[:1])])

    def _load_library(self, last: bool) -> None:
        """Load the functions if this user may. Otherwise wait for the keeper of the store, and raise StoreUnavailable on the last try."""
        try:
            _load_library(self._client, self.clustered, {})
        except NoPermissionError as reason:
            if last:
                raise StoreUnavailable(f"The store does not have the functions of this version ({library.NAME}); load them.") from reason
        except _UNAVAILABLE as reason:
            raise StoreUnavailable(str(reason)) from reason
        except RedisError as reason:
            _raise_ours(reason)

    def ask(self, *command: str | bytes | int) -> Any:
        """Send one command with a key and return its answer. Raises StoreUnavailable."""
        if self.replicas:
            return self.ask_all([command])[0]
        with translated():
            return self._client.execute_command(*command)

    def ask_all(self, commands: Sequence[Sequence[str | bytes | int]]) -> list[Any]:
        """Send several commands with keys together, not atomically, and return their answers. Raises StoreUnavailable."""
        if not commands:
            return []
        if not self.replicas:
            return self._sent(lambda: together(self._client, commands))
        if self.clustered:
            return self._sent(lambda: self._client.held(commands, self._waits))
        return self._sent(lambda: self._waits.taken(together(self._client, self._waits.added(commands)), len(commands)))

    def ranges(self, commands: Sequence[Sequence[str | bytes | int]]) -> list[list[Item]]:
        """Send XRANGE and XREVRANGE commands together, not atomically, and return their items. Raises StoreUnavailable."""
        if self.clustered:
            return [[(id, fields) for id, fields in items] for items in self.ask_all(commands)]
        answers = self._sent(lambda: self._by_wire(commands))
        return [[(id, dict(zip(fields[::2], fields[1::2], strict=True))) for id, fields in items] for items in answers]

    def items(self, key: str, first: str, last: str, count: int) -> list[Item]:
        """Return at most `count` entries of a stream between two ids. Raises StoreUnavailable."""
        return self.ranges([("XRANGE", key, first, last, "COUNT", count)])[0]

    def keys(self, pattern: str) -> Iterator[str]:
        """Yield every key that matches a pattern, on every node. Some may come twice. Raises StoreUnavailable."""
        with translated():
            for key in self._client.scan_iter(match=pattern, count=1000):
                yield key.decode(errors="replace")

    def subscribe(self, channels: Sequence[str], patience: float) -> Iterator[tuple[str, bytes] | None]:
        """Yield the messages on `channels`. Yield None first, and after each `patience` seconds of silence. Raises StoreUnavailable.

        What the messages tell of is held. No message is missed between the first None and a StoreUnavailable. After an error, subscribe
        again. After the client is closed, the iterator ends at the next message or silence.
        """
        with translated(), self._subscriber() as client, closing(Ear(client.connection_pool.make_connection(), patience)) as ear:
            ear.subscribe(channels)
            self.hold(_tags(channels))
            yield None
            while not self.closed:
                heard = ear.hear()
                if heard:
                    self.hold(_tags([channel for channel, _ in heard]))
                yield from heard
                if not heard:
                    yield None

    def _subscriber(self) -> Any:
        if self.clustered:
            node = random.choice(self._client.get_primaries())  # one may be down, and each has all messages
            options = {**self._client.get_connection_kwargs(), "socket_timeout": None, "retry": Retry(ExponentialWithJitterBackoff(), 0)}
            return redis.Redis(connection_pool=redis.ConnectionPool(host=str(node.host), port=int(node.port), **_without_address(options)))
        retry = Retry(ExponentialWithJitterBackoff(), 0)
        return redis.Redis.from_url(self.url, socket_timeout=None, legacy_responses=False, retry=retry, driver_info=_DRIVER)

    def what_is_full(self, script: Script, keys: Sequence[str], args: Sequence[str | bytes | int]) -> str:
        """Call a function that may write. Return MEMORY or DISK if the server answers but cannot write for that reason, "" if it can write.

        Raises StoreUnavailable.
        """
        client = None
        try:
            with translated():
                client = self._client if self.clustered else _impatient(self.url)
                client.ping()  # unlike the function, this is refused while the data is loading
            client.execute_command(script.command, script.function, len(keys), *keys, *args)
        except _UNAVAILABLE as reason:
            raise StoreUnavailable(str(reason)) from reason
        except RedisError as reason:
            if isinstance(reason, OutOfMemoryError):
                return MEMORY
            if str(reason).startswith(_FULL_DISK) and not (self.replicas and str(reason).startswith("NOREPLICAS")):
                return DISK
            if str(reason) != _NO_FUNCTION:
                _raise_ours(reason)
            self._load_library(last=True)
        finally:
            if client is not None and not self.clustered:
                client.close()
        return ""

    def memory(self) -> int:
        """Return the bytes that the data and the buffers of the server take, or -1 if this user may not ask. Raises StoreUnavailable.

        In a cluster they are those of the fullest primary.
        """
        with translated():
            nodes = [self._client.get_redis_connection(node) for node in self._client.get_primaries()] if self.clustered else [self._client]
            try:
                return max(map(_memory, nodes))
            except NoPermissionError:
                return -1

    def primaries(self, settings: bool = True) -> list[Primary]:
        """Return what the primaries say of their replicas, and of their `settings` if this user may ask. Raises StoreUnavailable."""
        with translated():
            if not self.clustered:
                return [_primary(self._client, _address(self.url), settings)]
            nodes = self._client.get_primaries()
            return [_primary(self._client.get_redis_connection(node), node.name, settings) for node in nodes]

    def close(self) -> None:
        """Close all connections, and end all subscriptions."""
        self.closed = True
        if not self.clustered:
            self._wires.close()
            self._pool.disconnect()
        if self._made is not None:
            self._made.close()


def queue_client(url: str, patient: bool = False) -> Any:
    """Return a client for RQ. A `patient` client retries and is for workers. Other clients give up at once: the sweep enqueues again."""
    if patient:
        return redis.Redis.from_url(url, retry=Retry(ExponentialWithJitterBackoff(cap=0.5, base=0.02), 3), driver_info=_DRIVER)
    return _impatient(url)


def is_out_of_memory(reason: Exception) -> bool:
    """Return True if a server refuses a write since its memory is full."""
    return isinstance(reason, OutOfMemoryError)


def together(client: Any, commands: Sequence[Sequence[str | bytes | int]]) -> list[Any]:
    """Send commands on one connection, not atomically, and return the answers; to a cluster, on one of each node. Raises as redis-py."""
    clustered = isinstance(client, RedisCluster)
    with client.pipeline() if clustered else client.pipeline(transaction=False) as pipeline:
        for command in commands:
            pipeline.execute_command(*command)
        answers = list(pipeline.execute(raise_on_error=clustered))
    for answer in answers:
        if isinstance(answer, Exception):  # as the server wrote it, without the command
            raise answer
    return answers


def _tags(channels: Iterable[str]) -> list[str]:
    """Return the hash tags of channels."""
    return sorted({channel[: channel.index("}") + 1] for channel in channels})


@contextmanager
def translated() -> Iterator[None]:
    """Translate errors of redis-py into our errors."""
    try:
        yield
    except _UNAVAILABLE as reason:
        raise StoreUnavailable(str(reason)) from reason
    except RedisError as reason:
        _raise_ours(reason)


def _raise_ours(reason: RedisError) -> NoReturn:
    """Raise our error for an error in an answer of the store."""
    if isinstance(reason, (OutOfMemoryError, *_AWAY)) or str(reason).startswith((*_FULL_DISK, _BUSY, library.HALTED, *_DEMOTED)):
        raise StoreUnavailable(str(reason)) from reason
    raise StoreRefused(str(reason)) from reason


def _without_address(options: dict[str, Any]) -> dict[str, Any]:
    """Return connection options without host and port."""
    return {name: value for name, value in options.items() if name not in ("host", "port")}


queue_errors: tuple[type[Exception], ...] = (Disconnected, TooLate, OSError, RedisError)


def is_unknown_script(reason: Exception) -> bool:
    """Return True if a server does not have a script."""
    return isinstance(reason, NoScriptError)


def is_unreadable(reason: Exception) -> bool:
    """Return True for an error of a script because of what it has read, such as a key of the wrong type."""
    return type(reason) is ResponseError


def answers(url: str) -> bool:
    """Return True if a server is up and has loaded its data."""
    client = _impatient(url)
    try:
        return bool(client.ping())
    except queue_errors:
        return False
    finally:
        client.close()


def _memory(client: Any) -> int:
    found = client.execute_command("MEMORY", "STATS")
    fields = found if isinstance(found, dict) else dict(zip(found[::2], found[1::2], strict=True))
    return int(fields[b"total.allocated"])


def _primary(client: Any, address: str, settings: bool) -> Primary:
    known: dict[str, str] = {}
    replicas = -1
    with suppress(ResponseError):  # the user may not ask, or a managed service does not say
        role = client.execute_command("ROLE")
        replicas = len(role[2]) if role[0] in (b"master", "master") else 0
    with suppress(ResponseError):
        known = client.config_get(*SETTINGS) if settings else {}
    return Primary(address, replicas, known)


def _address(url: str) -> str:
    """Return an URL without its user and password."""
    return urlsplit(url).netloc.rpartition("@")[2] or url


def configure(url: str, setting: str, value: str) -> bool:
    """Change a setting of a running server. Return False if it does not answer. `url`: for its keeper."""
    client = _impatient(url)
    try:
        return bool(client.config_set(setting, value))
    except queue_errors:
        return False
    finally:
        client.close()


def load_library(url: str, renamed: Mapping[str, str], cluster: bool = False, alone: bool = False) -> bool:
    """Load the functions into a server, or into every primary of a cluster. Return False if all had them already.

    `url`: for the keeper. `renamed`: the new names of commands. `alone`: remove the functions of other versions. Raises StoreUnavailable,
    StoreRefused.
    """
    with translated():
        client: Any = _joined(url) if cluster else _impatient(url)
        try:
            return _load_library(client, cluster, renamed, alone)
        finally:
            client.close()


def what_to_change(url: str, cluster: bool, replicas: int) -> list[str]:
    """Return what to change at the servers of a store whose service waits for so many replicas. `url`: for its keeper.

    Raises StoreUnavailable.
    """
    client = RedisClient(url, cluster)
    try:
        refusal, advice = judged(client.primaries(), replicas)
    finally:
        client.close()
    return [refusal, *advice] if refusal else advice


def _load_library(client: Any, cluster: bool, renamed: Mapping[str, str], alone: bool = False) -> bool:
    mark = client.get(_BEGUN) or b""
    if mark.startswith(library.MOVED):
        raise StoreMoved(library.moved_to(mark.decode().split()[1]))
    nodes = [client.get_redis_connection(node) for node in client.get_primaries()] if cluster else [client]
    changes = [load_into(node, renamed, alone) for node in nodes]
    return any(changes)


def load_into(client: Any, renamed: Mapping[str, str], alone: bool = False, halted: library.Halted | None = None) -> bool:
    """Load the functions into one server, by a client of its keeper. Return False if it had them. Raises the errors of redis-py."""
    if None in client.execute_command("COMMAND INFO", *[renamed.get(command, command) for command in library.RENAMED]):
        raise StoreUnavailable("The server has renamed the commands that the functions need.")
    code = library.code(renamed, halted)
    loaded = {}
    for found in client.execute_command("FUNCTION", "LIST", "LIBRARYNAME", f"{library.FAMILY}*", "WITHCODE"):
        fields = found if isinstance(found, dict) else dict(zip(found[::2], found[1::2], strict=True))
        loaded[fields[b"library_name"].decode()] = fields[b"library_code"].decode()
    changed = loaded.get(library.NAME) != code
    if changed:
        client.execute_command("FUNCTION", "LOAD", "REPLACE", code)
    for name in loaded.keys() - {library.NAME} if alone else ():
        client.execute_command("FUNCTION", "DELETE", name)
    return changed


def keeper_of(url: str, cluster: bool = False) -> Any:
    """Return a client of redis-py for the keeper of a server or a cluster. Raises StoreUnavailable, StoreRefused."""
    with translated():
        if cluster:
            return _joined(url, socket_timeout=_PATIENT)
        return redis.Redis.from_url(url, socket_timeout=_PATIENT, legacy_responses=False, driver_info=_DRIVER)


def rewrite_files(url: str) -> bool:
    """Let a server rewrite its append-only files. Return False if that fails, for example on a full disk. `url`: for its keeper.

    Raises StoreUnavailable, StoreRefused.
    """
    client: Any = _impatient(url)
    try:
        with translated():
            client.bgrewriteaof()
            while (state := client.info("persistence"))["aof_rewrite_in_progress"] or state["aof_rewrite_scheduled"]:
                time.sleep(0.02)
            return bool(state["aof_last_bgrewrite_status"] == "ok")
    finally:
        client.close()


def _impatient(url: str) -> redis.Redis:
    """Return a client that gives up soon and does not retry."""
    retry = Retry(ExponentialWithJitterBackoff(), 0)
    return redis.Redis.from_url(url, socket_timeout=1.0, socket_connect_timeout=0.5, retry=retry, driver_info=_DRIVER)
