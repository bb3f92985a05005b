"""Read and append to the logs of matches. Each log is one Redis stream, and each append is atomic.

The entry of version 42 has the stream id `42-0`. The length of a stream is the version of its match. Entries are packed (packed.py), which
nobody else knows.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import orjson
import structlog

from events.errors import StoreRefused
from events.store.client import RedisClient
from events.store.keys import Keys
from events.store.library import script, with_reserve
from events.store.packed import MARK, Turn, entry_in, fingerprint_of, pack, pack_standing, tag_of, unpack
from events.store.sidelog import running
from events.store.signing import SigningKeys, signed, stored_secret, verified
from events.telemetry import metrics
from evidence.statements import SideLog

logger = structlog.get_logger(__name__)

PAGE = 500
FILED = -2  # the head of a conflict with a match that is filed away (events/archive)

Fields = tuple[bytes, list[bytes]]

_APPEND = script("append")
_APPEND_WITH_RESERVE = with_reserve(_APPEND)
_SINCE = script("since")
_LOAD = script("load")
_ITEMS = script("items")
_FIELD = b"e"


class Item(NamedTuple):
    """An item of a stream: its id and the bytes of its entry. `foreign`: it has other fields than an entry, or another header.

    `tag`: of the request that the entry answers, or b"". `at`: the moment of the entry, or 0.
    """

    id: str
    raw: bytes
    foreign: bool
    tag: bytes = b""
    at: int = 0


class Changes(NamedTuple):
    """The changes of an append in addition to its entries. Empty values change nothing.

    `due`: by member of the due index, the moment (ms since 1970), or None to remove it. `turn`: what the standing has instead from these
    entries on until the next ones. `indexes`: by name, the moment that orders the match there, or None to
    leave the index. `snapshot`: a version, its bytes, and the older version that it replaces, or None. `tell`: the
    players whom the entries tell something, and as organiser `*` and the id. `updated`: the player in whose list of updates the match comes
    last. `leaf`: when the next leaf of the match is due in the server's log (events/notary/leaves.py), unless one is due earlier.
    `reserve`: append also if the memory of the store is full. `seat`: the seat that gets a receipt, which names the side log.
    """

    due: Mapping[str, int | None] = {}
    standing: bytes = b""
    turn: Turn | None = None
    indexes: Mapping[str, int | None] = {}
    snapshot: tuple[int, bytes, int | None] | None = None
    secret: str = ""
    tell: tuple[str, ...] = ()
    updated: str = ""
    leaf: int | None = None
    reserve: bool = False
    seat: str = ""


class Claim(NamedTuple):
    """A request in the form of the store. `name`: its owner and id. `after`: how many entries of the append come before its own."""

    name: str
    fingerprint: str
    after: int = 0


class Appended(NamedTuple):
    """The entries are in the log. `sidelog`: what the side log of the match had then, for the seat that gets a receipt.

    It is None if the side log was empty, without such a seat, and if the connection was lost meanwhile.
    """

    sidelog: SideLog | None = None


class Conflict(NamedTuple):
    """Nothing was written: the match has moved on to `head`. `tail`: the first entries after the expected version."""

    head: int
    tail: list[bytes]


class Known(NamedTuple):
    """Nothing was written: the request was carried out before, as the versions `first` to `last`."""

    first: int
    last: int
    fingerprint: str
    entries: list[bytes]


class Since(NamedTuple):
    """The news after a version: the head, the first entries after the version, and the request if it was carried out before."""

    head: int
    tail: list[bytes]
    known: Known | None


class Loaded(NamedTuple):
    """The head, a snapshot, the first entries after it, and the match's secret in hex.

    The snapshot is None if it is missing or its signature is wrong. The secret is None if it is missing.
    """

    head: int
    snapshot: bytes | None
    tail: list[bytes]
    secret: str | None


class Log(Protocol):
    """The interface to streams for all code outside the store. Every method raises StoreUnavailable."""

    def head(self, match: str) -> int:
        """Return the version of a match; 0 if it does not exist."""

    def heads(self, matches: Sequence[str]) -> list[int]:
        """Return the version of each match, in one round trip; 0 if it does not exist."""

    def last(self, matches: Sequence[str]) -> list[bytes | None]:
        """Return the last entry of each match, in one round trip; None for a match that does not exist."""

    def read(self, match: str, after: int = 0, limit: int = PAGE) -> list[bytes]:
        """Return the entries after a version, at most `limit`."""

    def newest(self, matches: Sequence[str]) -> list[tuple[int, bytes]]:
        """Return the version and the bytes of the newest entry of each match, in one round trip; 0 and b"" if there is none."""

    def spans(self, wanted: Sequence[tuple[str, int, int]]) -> list[list[tuple[int, bytes]]]:
        """Return the versions and the bytes of entries of several matches, in one round trip.

        A span is a match with a first and a last version. At most PAGE entries of a span are returned; none if the log is not a stream.
        """

    def read_all(self, match: str, after: int = 0) -> Iterator[bytes]:
        """Yield every entry after a version, fetched page by page."""

    def items(self, match: str) -> Iterator[Item]:
        """Yield every raw item of the stream, for the audit, which does not trust it."""

    def load(self, match: str, version: int | None = None) -> Loaded:
        """Return what is needed to build the position at `version`, or at the head. Use `read` for the rest of a long tail."""

    def since(self, match: str, version: int, claim: str = "", digest: str = "") -> Since:
        """Return the news after `version`, and the result of the request with the name `claim`.

        The head is -1 if the entry at `version` has another digest than `digest`.
        """

    def append(
        self, match: str, expected: int, entries: Sequence[bytes], changes: Changes, claim: Claim | None = None, digest: str = ""
    ) -> Appended | Conflict | Known:
        """Append `entries` after version `expected`, with everything that follows from them, or change nothing at all.

        `digest`: of the entry at the expected version. If another entry is there now, the conflict has the head -1.
        """

    def matches(self) -> Iterator[str]:
        """Yield the id of every match that has a log, in no order."""

    def secrets(self) -> Iterator[str]:
        """Yield the id of every match that has a secret, in no order. Some may come twice."""

    def misplaced(self, match: str | None = None) -> list[str]:
        """Return the keys of logs in another partition than their match, for one match or for all. Nobody reads them."""


class RedisLog:
    """The log over one server or a cluster."""

    def __init__(self, client: RedisClient, keys: Keys) -> None:
        self._client = client
        self._keys = keys
        self._signing = SigningKeys(client, keys)

    def head(self, match: str) -> int:
        """Return the version of a match; 0 if it does not exist."""
        return int(self._client.ask("XLEN", self._keys.of(match).stream))

    def heads(self, matches: Sequence[str]) -> list[int]:
        """Return the version of each match, in one round trip; 0 if it does not exist."""
        return [int(length) for length in self._client.ask_all([("XLEN", self._keys.of(match).stream) for match in matches])]

    def last(self, matches: Sequence[str]) -> list[bytes | None]:
        """Return the last entry of each match, in one round trip; None for a match that does not exist."""
        found = self._client.ranges([("XREVRANGE", self._keys.stream(match), "+", "-", "COUNT", 1) for match in matches])
        return [_spanned(match, items)[0][1] if items else None for match, items in zip(matches, found, strict=True)]

    def newest(self, matches: Sequence[str]) -> list[tuple[int, bytes]]:
        """Return the version and the bytes of the newest entry of each match, in one round trip."""
        found = self._ranges(matches, [("XREVRANGE", self._keys.stream(match), "+", "-", "COUNT", 1) for match in matches])
        return [items[0] if items else (0, b"") for items in found]

    def spans(self, wanted: Sequence[tuple[str, int, int]]) -> list[list[tuple[int, bytes]]]:
        """Return the versions and the bytes of the entries of several matches, in one round trip."""
        # An end without the second part of an id includes `7-1`. So a damaged id is in every span of its version.
        commands = [("XRANGE", self._keys.stream(match), f"{first}-0", str(last), "COUNT", PAGE) for match, first, last in wanted]
        return self._ranges([match for match, _, _ in wanted], commands)

    def _ranges(self, matches: Sequence[str], commands: Sequence[Sequence[str | int]]) -> list[list[tuple[int, bytes]]]:
        try:
            found = self._client.ranges(commands)
        except StoreRefused:  # one of them is not a stream
            found = [self._range(command) for command in commands]
        return [_spanned(match, items) for match, items in zip(matches, found, strict=True)]

    def _range(self, command: Sequence[str | int]) -> Any:
        try:
            return self._client.ask(*command)
        except StoreRefused:
            return []

    def read(self, match: str, after: int = 0, limit: int = PAGE) -> list[bytes]:
        """Return the entries after a version, at most `limit`."""
        page = self._client.items(self._keys.stream(match), f"{after + 1}-0", "+", limit)
        return [entry for _, entry in _spanned(match, page)]

    def page(self, match: str, after: int, limit: int) -> list[bytes] | None:
        """Return the entries after a version as `read` does, or None if the log has nothing from that version on: it may be archived.

        It reads the entry of that version, too. So an empty page of a match in the store is told from a match that is not there.
        """
        page = self._client.items(self._keys.stream(match), f"{max(1, after)}-0", "+", limit + bool(after))
        return [entry for version, entry in _spanned(match, page) if version > after] if page else None

    def read_all(self, match: str, after: int = 0) -> Iterator[bytes]:
        """Yield every entry after a version, fetched page by page."""
        return every(self.read, match, after)

    def items(self, match: str) -> Iterator[Item]:
        """Yield every raw item of the stream, with all fields in order."""
        stream, after = self._keys.of(match).stream, "0-0"
        while page := self._client.run(_ITEMS, [stream], [f"({after}", PAGE]):
            for id, fields in page:
                found = unpack(fields[1], match, _version(id))
                yield Item(id.decode(), found.raw, fields[::2] != [_FIELD] or not found.sound, found.tag, found.at)
            after = page[-1][0].decode()

    def load(self, match: str, version: int | None = None) -> Loaded:
        """Return what is needed to build the position at `version`, or at the head."""
        keys = self._keys.of(match)
        most = "" if version is None else version
        head, stored, tail, text, at = self._client.run(_LOAD, [keys.stream, keys.snapshots, keys.secret], [most, PAGE])
        secret = stored_secret(text)
        key = None if secret is None else self._signing.learn(match, secret)
        snapshot = verified(key, at, stored) if key is not None and stored else None
        if at and snapshot is None:
            metrics.snapshots_refused.inc()
            logger.warning("snapshot_refused", match=match, version=at)
            return Loaded(head, None, [], secret)  # the tail begins after the snapshot, so it is not usable
        return Loaded(head, snapshot, _entries(match, tail), secret)

    def since(self, match: str, version: int, claim: str = "", digest: str = "") -> Since:
        """Return the news after `version`, and the result of the request with the name `claim`."""
        keys = self._keys.of(match)
        words: list[str | bytes | int] = [version, tag_of(claim) if claim else b"", PAGE, bytes.fromhex(digest)]
        asked = [keys.stream, keys.requests], words
        head, tail, known = self._client.run(_SINCE, *asked, held=False)  # what the caller knows at `version` is held
        if self._client.replicas and (head != version or known):
            head, tail, known = self._client.run(_SINCE, *asked)
        return Since(head, _entries(match, tail), _known(match, known) if known else None)

    def append(
        self, match: str, expected: int, entries: Sequence[bytes], changes: Changes, claim: Claim | None = None, digest: str = ""
    ) -> Appended | Conflict | Known:
        """Append `entries` after version `expected`, with everything that follows from them, or change nothing at all.

        After a lost connection the script is sent again. It never writes twice, and it recognizes its own entries by the mark of the
        attempt.
        """
        mark = random.randbytes(MARK)  # each process has its own sequence, also after a fork
        snapshot = self._signed(match, changes.snapshot)
        items, own, last = [], 0 if claim is None else claim.after, len(entries) - 1
        tag = b"" if claim is None else tag_of(claim.name)
        for place, raw in enumerate(entries):
            turn = changes.turn if place == last else None
            items.append(pack(raw, match, expected + 1 + place, mark, tag if place >= own else b"", turn))
        change: dict[str, Any] = {"expected": expected, "most": PAGE}
        if snapshot is not None:
            change["snapshot"], _, change["replaces"] = snapshot
        if changes.secret:
            change["secret"] = changes.secret
        if changes.leaf is not None:
            change["leaf"] = changes.leaf
        if changes.indexes:
            change["indexes"] = changes.indexes
        if changes.updated:
            change["updated"] = changes.updated
        if changes.due:
            change["due"] = changes.due
        if changes.tell:
            change["tell"] = "".join([f" {player}" for player in changes.tell])
        if changes.seat:
            change["seat"] = changes.seat
        words: list[str | bytes | int] = [
            orjson.dumps(change),
            pack_standing(changes.standing, expected + len(entries)) if changes.standing else b"",
            snapshot[1] if snapshot else b"",
            bytes.fromhex(digest),
            *items,
        ]
        call = _APPEND_WITH_RESERVE if changes.reserve else _APPEND, [self._keys.stream(match)], words
        answer = self._client.run(*call, barrier=False)
        if self._client.replicas and answer[0] != 1:  # it has written nothing, so nothing of what it tells is known to be held
            answer = self._client.run(*call)
        if answer[0] == 1 or _is_mine(answer[-1], items[own if answer[0] == 2 else 0]):
            if changes.secret and expected == 0:
                self._signing.learn(match, changes.secret)
            return Appended(_sidelog(changes.seat, *answer[1:3]) if answer[0] == 1 and changes.seat else None)
        if answer[0] == 0:
            return Conflict(answer[1], _entries(match, answer[2]))
        return _known(match, answer[1])

    def matches(self) -> Iterator[str]:
        """Yield the id of every match that has a log, in no order."""
        seen = set()
        for tag, match in self._named("s"):
            if match not in seen and tag == self._keys.tag(match):
                seen.add(match)
                yield match

    def secrets(self) -> Iterator[str]:
        """Yield the id of every match that has a secret, in no order. Some may come twice."""
        yield from (match for _, match in self._named("x"))

    def misplaced(self, match: str | None = None) -> list[str]:
        """Return the keys of logs in another partition than their match, for one match or for all."""
        if match is None:
            return sorted({f"{tag}:s:{one}" for tag, one in self._named("s") if tag != self._keys.tag(one)})
        keys = [f"{tag}:s:{match}" for tag in self._keys.tags() if tag != self._keys.tag(match)]
        return [key for key, found in zip(keys, self._client.ask_all([("EXISTS", key) for key in keys]), strict=True) if found]

    def _signed(self, match: str, snapshot: tuple[int, bytes, int | None] | None) -> tuple[int, bytes, int | None] | None:
        """Return a snapshot with its signature, or None if there is none, or no secret to sign it with."""
        key = None if snapshot is None else self._signing.of(match)
        if snapshot is None or key is None:
            return None
        version, document, replaced = snapshot
        return version, signed(key, version, document), replaced

    def _named(self, kind: str) -> Iterator[tuple[str, str]]:
        """Yield the partition and the match of every key of a kind, with one scan."""
        tags = set(self._keys.tags())
        for key in self._client.keys(f"{{p*}}:{kind}:*"):
            tag, _, match = key.partition(f":{kind}:")
            if tag in tags:
                yield tag, match


def every(read: Callable[[str, int, int], list[bytes]], match: str, after: int) -> Iterator[bytes]:
    """Yield every entry after a version, page by page. A page that is not full is the last one."""
    while page := read(match, after, PAGE):
        yield from page
        after += len(page)
        if len(page) < PAGE:
            return


def _sidelog(seat: str, reads: bytes | None, refused: bytes | None) -> SideLog | None:
    """Return what a receipt for a seat says of the side log; None if that is empty."""
    return SideLog(seat, running(refused), running(reads)) if reads or refused else None


def _known(match: str, items: Sequence[Fields]) -> Known:
    """Return the answer to a request from the items of its entries."""
    entries = _entries(match, items)
    return Known(_version(items[0][0]), _version(items[-1][0]), fingerprint_of(entries[-1]), entries)


def _version(id: bytes) -> int:
    return int(id.partition(b"-")[0])


def _spanned(match: str, items: Iterable[tuple[bytes, Mapping[bytes, bytes]]]) -> list[tuple[int, bytes]]:
    """Return the versions and the bytes of the entries of items."""
    return [(version := _version(id), entry_in(fields.get(_FIELD, b""), match, version)) for id, fields in items]


def _entries(match: str, items: Iterable[Fields]) -> list[bytes]:
    """Return the bytes of entries in the answer of a script: each item is an id, and its fields as `e` and a packed entry."""
    return [entry_in(fields[1], match, _version(id)) for id, fields in items]


def _is_mine(items: Sequence[Fields], first: bytes) -> bool:
    """Return True if the first of these items has the digest and the mark of this one, so that this attempt wrote it."""
    return bool(items) and items[0][1][1][: 32 + MARK] == first[: 32 + MARK]
