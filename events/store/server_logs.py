"""Store the server's log: the leaves of one Merkle tree for the whole server, its hashes, and the published checkpoint.

All keys of a server's log begin with `{log}:` and a hash of its origin, so that one script can change them together:

- `leaves`: a stream; the leaf with index 41 has the id `42-0`;
- `h:<level>`: the hashes of that level of tiles, a stream of the same form (evidence/tiles.py);
- `m:<match>`: the leaves of a match by name, such as `hour:57`, with their indexes and entries; those of bulk files and of signing keys
  have another name in place of the match; for a match that is filed away, its object says it;
- `state`: the published checkpoint and its size; the mark, which is the size and the root of all leaves; the lease.

The archive may have the first leaves and their hashes, in whole tiles (events/archive/tiles_away.py). `Archived` reads what it has.

A sorted set in each partition, `{p3}:pending`, has the moment when the next leaf of each match is due. Appends keep it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple, Protocol

from events.errors import StoreUnavailable
from events.store.keys import OfMatches
from events.store.library import script
from evidence.tiles import WIDTH
from games.patterns import MATCH
from games.patterns import matches as fits

_SEQUENCE = script("sequence")
_PUBLISH = script("publish")
_LEAD = script("lead")
_SETTLE = script("settle")
_SHED = script("shed")
_NOTE, _FORGET = script("note_leaves"), script("forget_leaves")

_BACK = b"back"  # the field with the number of times that a match came back from the archive

_ATTEMPTS = 3


class Logged(NamedTuple):
    """A leaf of a match: its name within the match, its index in the log (`number`), and the version, digest and time of its entry.

    `moment`: when the leaf was made. The name begins with `begin:`, `hour:` or `end:`, or with `seal:` for a sealed leaf.
    """

    name: str
    number: int
    version: int
    digest: str
    at: int
    moment: int

    @property
    def kind(self) -> str:
        """The part of the name before the colon."""
        return self.name.partition(":")[0]


class NewLeaf(NamedTuple):
    """A leaf to append: its bytes, its match, and its fields (`number` is not used)."""

    raw: bytes
    match: str
    noted: Logged


class State(NamedTuple):
    """The state of a server's log. `size`: its number of leaves. `note`: the published checkpoint, `served`: its size; or "" and -1.

    `mark`: the size and the root of all leaves as their lines in a checkpoint, written with the leaves; "" if there are none.
    """

    size: int
    served: int
    note: str
    mark: str = ""


Noted = dict[str, dict[str, str]]
"""The leaves of a match in stored form, by name, for each of the server's logs by the hash of its origin."""


class Archived(Protocol):
    """What the archive has of the server's logs. Every method raises ArchiveUnavailable, ArchiveDamaged, StoreUnavailable."""

    def leaves(self, log: str, number: int) -> list[bytes]:
        """Return the 256 leaves of a bundle. `log`: the hash of its origin."""

    def hashes(self, log: str, level: int, number: int) -> list[bytes]:
        """Return the 256 hashes of a tile."""

    def logged(self, match: str) -> Noted:
        """Return the leaves of a match that is filed away; none for others."""


class ServerLogs(OfMatches):
    """The server's logs in a store, one for each origin. Every method raises StoreUnavailable, and what `archived` raises."""

    archived: Archived | None = None

    def state(self, origin: str) -> State:
        """Return the size and the published checkpoint of a server's log."""
        start = start_of(origin)
        for _ in range(_ATTEMPTS):  # the leaves and the mark are read one after the other, and another process may write between
            last, stored = self._client.ask_all(
                [("XREVRANGE", start + "leaves", "+", "-", "COUNT", 1), ("HMGET", start + "state", "size", "note", "mark")]
            )
            served, note, mark = ["" if text is None else text.decode() for text in stored]
            found = State(_number(last[0][0]) + 1 if last else 0, int(served or -1), note, mark)
            if mark.partition("\n")[0] == (str(found.size) if found.size else ""):
                break
        return found

    def lead(self, origin: str, holder: str, ms: int, lease: str = "") -> str:
        """Take or renew the lease of a server's log for so many ms. Return it, or "" if somebody else holds it.

        `holder`: 16 hex digits. `lease`: what the caller has. The number at its beginning grows whenever the lease changes.
        """
        answer = self._client.run(_LEAD, [start_of(origin) + "state"], [holder, ms, lease])
        return answer.decode() if answer else ""

    def origins(self) -> list[str]:
        """Return the names of all logs with a published checkpoint."""
        notes = [self._client.ask("HGET", key, "note") for key in self._client.keys("{log}:*:state")]
        return sorted({note.decode().partition("\n")[0] for note in notes if note})

    def leaves(self, origin: str, spans: Sequence[tuple[int, int]]) -> list[list[bytes]]:
        """Return the leaves of each span: the first index, and how many."""
        log, key = hash_of(origin), start_of(origin) + "leaves"
        return self._rows([(key, first, count) for first, count in spans], lambda _, number: self._away.leaves(log, number))

    def hashes(self, origin: str, spans: Sequence[tuple[int, int, int]]) -> list[list[bytes]]:
        """Return the hashes of each span: the level of tiles, the first number, and how many."""
        return self._hashes(hash_of(origin), spans)

    def hash_at(self, log: str, level: int, number: int) -> bytes:
        """Return a hash of a level of tiles, or b"" if there is none. `log`: the hash of its origin."""
        return b"".join(self._hashes(log, [(level, number, 1)])[0])

    def _hashes(self, log: str, spans: Sequence[tuple[int, int, int]]) -> list[list[bytes]]:
        start = f"{{log}}:{log}:h:"
        return self._rows(
            [(f"{start}{level}", first, count) for level, first, count in spans],
            lambda key, number: self._away.hashes(log, int(key.removeprefix(start)), number),
        )

    def held(self, origin: str) -> int:
        """Return how many of the first leaves the store no longer has."""
        first = self._client.ask("XRANGE", start_of(origin) + "leaves", "-", "+", "COUNT", 1)
        return _number(first[0][0]) if first else 0

    def all_held(self) -> dict[str, int]:
        """Return how many of its first leaves the store no longer has of each server's log, by the hash of its origin."""
        logs = sorted(key.split(":")[1] for key in set(self._client.keys("{log}:*:leaves")))
        found = self._client.ask_all([("XRANGE", f"{{log}}:{log}:leaves", "-", "+", "COUNT", 1) for log in logs])
        return {log: _number(first[0][0]) if first else 0 for log, first in zip(logs, found, strict=True)}

    def shed(self, origin: str, size: int) -> bool:
        """Remove the first `size` leaves and their hashes, which the archive has. Only the archivist may.

        Return False, and change nothing, if no published checkpoint covers them, or if the log has no more leaves than these.
        """
        start, levels = start_of(origin), range(max(1, (size.bit_length() + 7) // 8))
        return bool(self._client.run(_SHED, [f"{start}state", f"{start}leaves", *[f"{start}h:{level}" for level in levels]], [size]))

    def logged(self, origin: str, matches: Sequence[str]) -> list[list[Logged]]:
        """Return the leaves of each match in a server's log, by index."""
        start = start_of(origin)
        found = self._client.ask_all([("HGETALL", f"{start}m:{match}") for match in matches])
        return [
            sorted(
                (_logged(name.decode(), noted.decode()) for name, noted in fields.items() if name != _BACK)
                if fields
                else self._logged_away(origin, match),
                key=lambda leaf: leaf.number,
            )
            for match, fields in zip(matches, found, strict=True)
        ]

    def noted(self, origins: Sequence[str], match: str) -> Noted:
        """Return the leaves of a match in some of the server's logs, in stored form, as far as the store has them."""
        found = self._client.ask_all([("HGETALL", f"{start_of(origin)}m:{match}") for origin in origins])
        texts = [{name.decode(): noted.decode() for name, noted in sorted(fields.items()) if name != _BACK} for fields in found]
        return {hash_of(origin): fields for origin, fields in zip(origins, texts, strict=True) if fields}

    def note(self, match: str, noted: Noted) -> None:
        """Note the leaves of a match again that comes back from the archive."""
        for log, fields in noted.items():
            self._client.run(_NOTE, [f"{{log}}:{log}:m:{match}"], [text for pair in fields.items() for text in pair])

    def returns(self, origins: Sequence[str], match: str) -> dict[str, bytes]:
        """Return how often the leaves of a match were noted again, for each log by the hash of its origin; b"" for never."""
        found = self._client.ask_all([("HGET", f"{start_of(origin)}m:{match}", _BACK) for origin in origins])
        return {hash_of(origin): number or b"" for origin, number in zip(origins, found, strict=True)}

    def forget(self, match: str, noted: Noted, returns: Mapping[str, bytes]) -> None:
        """Forget the leaves of a match, which its object in the archive says. Only the archivist may.

        `returns`: read before the match was seen to be filed away. If it has come back since, or has got a leaf, its leaves stay.
        """
        if noted:
            words = [word for log, fields in noted.items() for word in (returns[log], len(fields))]
            self._client.run(_FORGET, [f"{{log}}:{log}:m:{match}" for log in noted], [match, *words])

    def _logged_away(self, origin: str, match: str) -> Iterator[Logged]:
        noted = self.archived.logged(match) if self.archived is not None and fits(MATCH, match) else {}
        return (_logged(name, text) for name, text in noted.get(hash_of(origin), {}).items())

    @property
    def _away(self) -> Archived:
        if self.archived is None:
            raise StoreUnavailable("the store lacks leaves of the server's log, and there is no archive")
        return self.archived

    def named(self, origin: str, prefix: str) -> Iterator[str]:
        """Yield what a server's log has leaves under, in place of matches, if it begins with a prefix. Some may come twice."""
        start = f"{start_of(origin)}m:"
        for key in self._client.keys(f"{start}{prefix}*"):
            yield key.removeprefix(start)

    def sequence(self, origin: str, size: int, leaves: Sequence[NewLeaf], added: Sequence[Sequence[bytes]], lease: str, mark: str) -> bool:
        """Append leaves to a log of `size` leaves, with the hashes that they add to each level of tiles, and the mark of the result.

        Return False, and change nothing, if the log has another size or has one of the leaves already, or if another has the lease.
        """
        start = start_of(origin)
        keys = [start + "leaves", *[f"{start}h:{level}" for level in range(len(added))], *[f"{start}m:{leaf.match}" for leaf in leaves]]
        told = [text for leaf in leaves for text in (leaf.raw, leaf.noted.name, _note(leaf.noted))]
        hashes = [each for row in added for each in row]
        return bool(self._client.run(_SEQUENCE, keys, [size, len(leaves), len(added), *map(len, added), *told, *hashes, lease, mark]))

    def publish(self, origin: str, size: int, note: str, lease: str = "") -> bool:
        """Publish a checkpoint of all leaves. Return False if a larger one is published, or if another has the lease.

        Without a lease, publish the published checkpoint with more signatures. Return False if it has as many.
        """
        start = start_of(origin)
        return bool(self._client.run(_PUBLISH, [start + "state", start + "leaves"], [size, note.encode(), lease]))

    def pending(self, until: int, limit: int) -> dict[str, int]:
        """Return the matches with a leaf due at `until` or before, with the moments. At most `limit` of each partition."""
        keys = [f"{tag}:pending" for tag in self._keys.tags()]
        found = self._client.ask_all([("ZRANGE", key, "-inf", until, "BYSCORE", "LIMIT", 0, limit, "WITHSCORES") for key in keys])
        return {match.decode(errors="surrogateescape"): int(moment) for answer in found for match, moment in answer}

    def late(self, before: int) -> int:
        """Return the number of matches with a leaf that was due before a moment."""
        return sum(self._client.ask_all([("ZCOUNT", f"{tag}:pending", "-inf", before) for tag in self._keys.tags()]))

    def settle(self, match: str, version: int, moment: int | None) -> bool:
        """Set when the next leaf of a match is due, or None. Return False, and change nothing, if the match is at another version."""
        return bool(self._client.run(_SETTLE, [self._keys.stream(match)], [max(version, 1), "" if moment is None else moment]))

    def _rows(self, spans: Iterable[tuple[str, int, int]], away: Callable[[str, int], list[bytes]]) -> list[list[bytes]]:
        """Return the rows of spans. `away`: returns the 256 rows of a tile that the store no longer has, by the key and the number."""
        wanted = [(key, first, count) for key, first, count in spans]
        last = [("XRANGE", key, f"{first + 1}-0", f"{first + count}-0") for key, first, count in wanted if count]
        found = iter(self._client.ask_all(last))
        rows = []
        for key, first, count in wanted:
            stored = [(_number(id), _value(fields)) for id, fields in next(found)] if count else []
            row = [value for _, value in stored]
            until = stored[0][0] if stored else self._first(key, first + count) if count else first
            if until > first:
                tiles = range(first // WIDTH, -(-min(until, first + count) // WIDTH))
                early = [value for number in tiles for value in away(key, number)]
                row = [*early[first % WIDTH :][: min(until, first + count) - first], *row]
            rows.append(row)
        return rows

    def _first(self, key: str, least: int) -> int:
        """Return the number of the first row of a stream that the store has, but at most `least`."""
        first = self._client.ask("XRANGE", key, "-", "+", "COUNT", 1)
        return min(_number(first[0][0]), least) if first else 0


def hash_of(origin: str) -> str:
    """Return the hash of an origin that names its log in keys and objects."""
    return sha256(origin.encode()).hexdigest()[:16]


def start_of(origin: str) -> str:
    """Return the beginning of every key of a server's log."""
    return f"{{log}}:{hash_of(origin)}:"


def _number(id: bytes) -> int:
    """Return the index of a row, from its id in the stream."""
    return int(id.partition(b"-")[0]) - 1


def _value(fields: Mapping[bytes, bytes]) -> bytes:
    (value,) = fields.values()
    return value


def _note(noted: Logged) -> str:
    return f"{noted.version} {noted.digest} {noted.at} {noted.moment}"


def _logged(name: str, noted: str) -> Logged:
    number, version, digest, at, moment = noted.split(" ")
    return Logged(name, int(number), int(version), digest, int(at), int(moment))
