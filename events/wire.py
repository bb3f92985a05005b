"""The one place that speaks to redis-py: the commands that the platform uses, with plain types going in and coming out.

A `Wire` stands for the event store, one server or a cluster. Its scripts are safe to send twice (events/store.py), so that a lost
connection is simply tried again; there is no command here that changes or removes an entry.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha1
from pathlib import Path
from typing import Any, NamedTuple

import redis
from hiredis import pack_command
from redis.backoff import ExponentialWithJitterBackoff
from redis.cluster import RedisCluster
from redis.exceptions import ClusterDownError, MovedError, NoScriptError, OutOfMemoryError, ReadOnlyError, RedisClusterException, RedisError
from redis.exceptions import ConnectionError as Disconnected
from redis.exceptions import TimeoutError as TooLate
from redis.retry import Retry

Item = tuple[bytes, dict[bytes, bytes]]  # a stream's id, and its fields

TRIES = 4
_PAUSES = (0.02, 0.1, 0.4)
_TIMEOUT = 5.0
_UNBOUNDED = 1 << 30


_AWAY = (Disconnected, TooLate, OSError, RedisClusterException)


class StoreUnavailable(Exception):
    """The store does not answer. Whether the last append was carried out is not known; the same request again will tell."""


class Script(NamedTuple):
    """A Lua script and the SHA-1 by which a server knows it."""

    text: str
    sha: str


def script(name: str) -> Script:
    """The script of that name beside this file."""
    text = (Path(__file__).parent / f"{name}.lua").read_text()
    return Script(text, sha1(text.encode()).hexdigest())


class Wire:
    """A store's connections: few, long-lived, shared by the threads of a process."""

    def __init__(self, url: str, cluster: bool = False) -> None:
        self.url = url
        retry = Retry(ExponentialWithJitterBackoff(cap=0.5, base=0.02), 3)
        self._cluster: Any = None
        self._client: Any
        if cluster:
            self._cluster = RedisCluster.from_url(url, socket_timeout=_TIMEOUT, legacy_responses=False)
            self._client = self._cluster
        else:
            # As many connections as threads ask at once: the bound on threads is the bound on connections.
            self._pool = redis.ConnectionPool.from_url(
                url, max_connections=_UNBOUNDED, socket_timeout=_TIMEOUT, legacy_responses=False, retry=retry
            )
            self._client = redis.Redis(connection_pool=self._pool)
            self._idle: deque[Any] = deque()

    def run(self, script: Script, keys: Sequence[str], args: Sequence[str | bytes | int]) -> Any:
        """What a script answers; its keys lie in one slot. Raises StoreUnavailable."""
        if self._cluster is not None:
            return self._run_in_cluster(script, keys, args)
        for attempt in range(TRIES):
            try:
                return self._run_once(script, keys, args)
            except _AWAY as reason:
                if attempt == TRIES - 1:
                    raise StoreUnavailable(str(reason)) from reason
                time.sleep(_PAUSES[attempt])
            except RedisError as reason:
                if _unwilling(reason):
                    raise StoreUnavailable(str(reason)) from reason
                raise
        raise AssertionError("unreachable")

    def _run_once(self, script: Script, keys: Sequence[str], args: Sequence[str | bytes | int]) -> Any:
        # redis-py's own path from evalsha to the socket costs more than all the rest of an append; this is its last metre.
        try:
            line = self._idle.pop()
        except IndexError:
            line = self._pool.make_connection()
        try:
            line.send_packed_command(_packed("EVALSHA", script.sha, len(keys), *keys, *args), check_health=False)
            answer = line.read_response()
        except NoScriptError:
            line.send_packed_command(_packed("EVAL", script.text, len(keys), *keys, *args), check_health=False)
            answer = line.read_response()
        except RedisError as reason:
            line.disconnect()
            if isinstance(reason, (Disconnected, TooLate)):
                self._idle.clear()
            raise
        except BaseException:
            line.disconnect()
            raise
        self._idle.append(line)
        return answer

    def _run_in_cluster(self, script: Script, keys: Sequence[str], args: Sequence[str | bytes | int]) -> Any:
        with _or_down():
            try:
                return self._client.evalsha(script.sha, len(keys), *keys, *args)
            except NoScriptError:
                return self._client.eval(script.text, len(keys), *keys, *args)

    def ask(self, *command: str | bytes | int) -> Any:
        """What one command answers. Raises StoreUnavailable."""
        with _or_down():
            return self._client.execute_command(*command)

    def ask_all(self, commands: Sequence[Sequence[str | bytes | int]]) -> list[Any]:
        """What several commands answer, sent together; not atomic. Raises StoreUnavailable."""
        if not commands:
            return []
        with _or_down(), self._client.pipeline(transaction=False) if self._cluster is None else self._client.pipeline() as line:
            for command in commands:
                line.execute_command(*command)
            return list(line.execute())

    def items(self, key: str, first: str, last: str, count: int) -> list[Item]:
        """The entries of a stream between two ids, at most `count`. Raises StoreUnavailable."""
        return [(id, fields) for id, fields in self.ask("XRANGE", key, first, last, "COUNT", count)]

    def keys(self, pattern: str) -> Iterator[str]:
        """Every key that fits a pattern, on every node; some may come twice."""
        for key in self._client.scan_iter(match=pattern, count=1000):
            yield key.decode()

    def hear(self, channels: Sequence[str], patience: float) -> Iterator[tuple[str, bytes] | None]:
        """What is said on `channels`, as it is said: None first and whenever `patience` seconds pass in silence. Raises StoreUnavailable.

        Nothing is missed between the first None and a StoreUnavailable; after it, start anew.
        """
        try:
            with self._hearing_client() as client, client.pubsub(ignore_subscribe_messages=True) as ear:
                ear.subscribe(*channels)
                yield None
                while True:
                    said = ear.get_message(timeout=patience)
                    yield None if said is None else (said["channel"].decode(), said["data"])
        except _AWAY as reason:
            raise StoreUnavailable(str(reason)) from reason

    def _hearing_client(self) -> Any:
        if self._cluster is not None:
            node = self._cluster.get_primaries()[0]
            as_them = {**self._cluster.get_connection_kwargs(), "socket_timeout": None, "retry": Retry(ExponentialWithJitterBackoff(), 0)}
            return redis.Redis(connection_pool=redis.ConnectionPool(host=str(node.host), port=int(node.port), **_but_place(as_them)))
        return redis.Redis.from_url(self.url, socket_timeout=None, legacy_responses=False, retry=Retry(ExponentialWithJitterBackoff(), 0))

    def close(self) -> None:
        """Let go of every connection."""
        if self._cluster is None:
            while self._idle:
                self._idle.pop().disconnect()
            self._pool.disconnect()
        self._client.close()


def queue_client(url: str, patient: bool = False) -> Any:
    """A client for RQ. A `patient` one is a worker's own and tries again; the other gives up at once, the sweep will make good."""
    if patient:
        return redis.Redis.from_url(url, retry=Retry(ExponentialWithJitterBackoff(cap=0.5, base=0.02), 3))
    return redis.Redis.from_url(url, socket_timeout=1.0, socket_connect_timeout=0.5, retry=Retry(ExponentialWithJitterBackoff(), 0))


@contextmanager
def _or_down() -> Iterator[None]:
    """Whatever says that the store cannot do its work just now becomes StoreUnavailable."""
    try:
        yield
    except _AWAY as reason:
        raise StoreUnavailable(str(reason)) from reason
    except RedisError as reason:
        if isinstance(reason, MovedError) or _unwilling(reason):
            raise StoreUnavailable(str(reason)) from reason
        raise


def _but_place(said: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in said.items() if name not in ("host", "port")}


def _packed(*words: str | bytes | int) -> list[bytes]:
    """A command as it goes over the wire."""
    return [pack_command(words)]  # type: ignore[arg-type]  # its stub allows for one word only


def _unwilling(reason: RedisError) -> bool:
    """Whether a server that answers cannot write now: its memory or its disk is full, or it is not the one to write to."""
    if isinstance(reason, (OutOfMemoryError, ReadOnlyError, ClusterDownError)):
        return True
    return str(reason).startswith(("MISCONF", "NOREPLICAS", "OOM"))


queue_errors: tuple[type[Exception], ...] = (Disconnected, TooLate, OSError, RedisError)


def answers(url: str) -> bool:
    """Whether a server is up and has read its data."""
    client = redis.Redis.from_url(url, socket_timeout=1.0, socket_connect_timeout=0.5, retry=Retry(ExponentialWithJitterBackoff(), 0))
    try:
        return bool(client.ping())
    except queue_errors:
        return False
    finally:
        client.close()
