"""Copy a store to another server or cluster while it is in use, as the keeper of both (ADR 124).

Each key is copied whole, by DUMP and RESTORE. The servers tell which keys change meanwhile (keyspace notifications), and these are copied
again. The service's user may do none of this (ADR 45).
"""

from __future__ import annotations

import re
import secrets
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from types import TracebackType
from typing import Any, NamedTuple

from events.errors import StoreRefused, StoreUnavailable
from events.store import library
from events.store.client import keeper_of, load_into, together, translated

AT_ONCE = 300  # keys whose values are copied in a round trip
_SCANNED = 2000  # keys that a server names in a round trip
BEGUN = b"{store}:begun"
PROGRESS = b"{store}:copied-from"  # in the target, until all is there: which store it comes from

_EVENTS = "__keyspace@0__:"
_NOTIFY = "notify-keyspace-events"
_OURS = re.compile(rb"\{([a-z]+)\d*\}:((?:i:)?[^:]+)")
_LENGTHS = {b"string": "STRLEN", b"stream": "XLEN", b"hash": "HLEN", b"zset": "ZCARD", b"set": "SCARD", b"list": "LLEN"}
_PATIENCE = 10.0


class Address(NamedTuple):
    """A server or a cluster as its keeper reaches it. `renamed`: the new names of its commands."""

    url: str
    renamed: Mapping[str, str]
    cluster: bool


class Side:
    """The source or the target of a copy. For one thread. Every method raises StoreUnavailable, StoreRefused."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self._client = keeper_of(address.url, address.cluster)

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def nodes(self) -> list[Any]:
        """Return a client of each primary."""
        if not self.address.cluster:
            return [self._client]
        with translated():
            return [self._client.get_redis_connection(node) for node in self._client.get_primaries()]

    def named(self, command: str) -> str:
        """Return the server's name of a command."""
        return self.address.renamed.get(command, command)

    def pages(self, count: int = AT_ONCE) -> Iterator[list[bytes]]:
        """Yield every key of Warledger, some at a time. Keys that are there all the time come; some may come twice."""
        for node in self.nodes():
            cursor = -1
            while cursor:
                with translated():
                    cursor, found = node.scan(max(cursor, 0), count=count)
                yield [key for key in found if _OURS.match(key)]

    def get(self, key: bytes) -> bytes:
        """Return the value of a string, or b"" without one."""
        return self._all([("GET", key)])[0] or b""

    def put_text(self, key: bytes, value: bytes) -> None:
        """Set a string."""
        self._all([(self.named("SET"), key, value)])

    def remove(self, keys: Iterable[bytes]) -> None:
        """Remove keys."""
        self._all([(self.named("UNLINK"), key) for key in keys])

    def dumped(self, keys: Sequence[bytes]) -> list[tuple[bytes, bytes | None, int]]:
        """Return each key with its value, or None without one, and with the moment when it expires, or 0."""
        found = self._all([command for key in keys for command in (("DUMP", key), ("PEXPIRETIME", key))])
        return [(key, value, max(0, int(at))) for key, value, at in zip(keys, found[::2], found[1::2], strict=True)]

    def put(self, values: Iterable[tuple[bytes, bytes | None, int]]) -> None:
        """Write or remove keys as `dumped` returns them."""
        self._all(
            [
                (self.named("UNLINK"), key) if value is None else ("RESTORE", key, at, value, "REPLACE", "ABSTTL")
                for key, value, at in values
            ]
        )

    def lengths(self, keys: Sequence[bytes]) -> list[int]:
        """Return how many parts the value of each key has; -1 without a value."""
        types = [found if isinstance(found, bytes) else found.encode() for found in self._all([("TYPE", key) for key in keys])]
        asked = [(_LENGTHS[type], key) for type, key in zip(types, keys, strict=True) if type in _LENGTHS]
        lengths = iter(self._all(asked))
        return [int(next(lengths)) if type in _LENGTHS else -1 for type in types]

    def newest(self, streams: Sequence[bytes]) -> list[Any]:
        """Return the last item of each stream, as the server tells it."""
        return self._all([("XREVRANGE", stream, "+", "-", "COUNT", 1) for stream in streams])

    def counts(self) -> Counter[str]:
        """Return how many keys there are of each kind, but for marks."""
        kinds: Counter[str] = Counter()
        for keys in self.pages(_SCANNED):
            kinds.update(kind_of(key) for key in set(keys) if key not in (BEGUN, PROGRESS))
        return kinds

    def libraries(self) -> set[str]:
        """Return the names of the libraries of functions of all versions."""
        found: set[str] = set()
        for node in self.nodes():
            with translated():
                for each in node.execute_command("FUNCTION", "LIST", "LIBRARYNAME", f"{library.FAMILY}*"):
                    fields = each if isinstance(each, dict) else dict(zip(each[::2], each[1::2], strict=True))
                    found.add(fields[b"library_name"].decode())
        return found

    def halt(self, sentence: str, seconds: float | None) -> None:
        """Let every function that writes answer with a sentence instead, for some seconds from now on. None: for good, all functions."""
        for node in self.nodes():
            with translated():
                now = int(node.time()[0])
                halted = library.Halted((1 << 53) if seconds is None else now + int(seconds) + 1, sentence, everything=seconds is None)
                load_into(node, self.address.renamed, halted=halted)

    def go_on(self) -> None:
        """Let the functions work again."""
        for node in self.nodes():
            with translated():
                load_into(node, self.address.renamed)

    def _all(self, commands: Sequence[Sequence[Any]]) -> list[Any]:
        with translated():
            return together(self._client, commands) if commands else []


class Changes:
    """Which keys of a store change, for as long as a block lasts. Raises StoreUnavailable, StoreRefused."""

    def __init__(self, side: Side) -> None:
        self._side = side
        self._nodes = side.nodes()
        self._lock = threading.Lock()
        self._changed: set[bytes] = set()
        self._failed: Exception | None = None
        self._token = secrets.token_hex(8)
        self._before: list[str] = []
        self._heard = [threading.Event() for _ in self._nodes]
        self._closed = False
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Changes:
        for node in self._nodes:
            with translated():
                self._before.append(_text(next(iter(node.config_get(_NOTIFY).values()))))
                try:
                    node.config_set(_NOTIFY, "KA")
                except Exception as reason:
                    if not {"K", "A"} <= set(self._before[-1]):
                        raise StoreRefused(f"The keeper may not set {_NOTIFY}. Set it to KA by hand.") from reason
        for number, node in enumerate(self._nodes):
            with translated():
                ear = node.pubsub()
                ear.psubscribe(f"{_EVENTS}*")
                if ear.get_message(timeout=_PATIENCE) is None:
                    raise StoreUnavailable("The source does not answer.")
            self._threads.append(threading.Thread(target=self._listen, args=(number, ear), daemon=True))
            self._threads[-1].start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._closed = True
        for thread in self._threads:
            thread.join()
        for node, before in zip(self._nodes, self._before, strict=False):
            try:
                node.config_set(_NOTIFY, before)
            except Exception:  # noqa: BLE001 - a setting that only costs some time
                continue

    def take(self) -> set[bytes]:
        """Return the keys that have changed since the last call."""
        if self._failed is not None:
            raise StoreUnavailable(f"The source has stopped to tell what changes: {self._failed}") from self._failed
        with self._lock:
            found, self._changed = self._changed, set()
        return found

    def take_all(self) -> set[bytes]:
        """Return the keys that have changed since the last call, all of those before this call included."""
        for number, node in enumerate(self._nodes):
            self._heard[number].clear()
            with translated():
                node.execute_command(self._side.named("PUBLISH"), f"{_EVENTS}{self._token}", str(number))
        until = time.monotonic() + _PATIENCE
        for heard in self._heard:
            while not heard.wait(0.05):
                if self._failed is not None or time.monotonic() > until:
                    raise StoreUnavailable("The source does not tell what changes.")
        return self.take()

    def _listen(self, number: int, ear: Any) -> None:
        own = self._token.encode()
        try:
            while not self._closed:
                told = ear.get_message(timeout=0.05)
                if told is None or told["type"] != "pmessage":
                    continue
                key = told["channel"][len(_EVENTS) :]
                if key == own:
                    if told["data"] == b"%d" % number:
                        self._heard[number].set()
                elif _OURS.match(key):
                    with self._lock:
                        self._changed.add(key)
        except Exception as reason:  # noqa: BLE001 - `take` raises it
            self._failed = reason
        finally:
            ear.close()


def kind_of(key: bytes) -> str:
    """Return the kind of a key, such as `{p}:s` or `{players}:p`."""
    found = _OURS.match(key)
    return f"{{{found[1].decode()}}}:{found[2].decode()}" if found and found[1] != b"log" else key.partition(b"}")[0].decode() + "}"


def batched(keys: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Yield lists of at most AT_ONCE keys."""
    rest = iter(keys)
    while some := list(islice(rest, AT_ONCE)):
        yield some


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
