"""Store the server's log: the leaves of one Merkle tree for the whole server, its hashes, and the published checkpoint.

All keys of a server's log begin with `{log}:` and a hash of its origin, so that one script can change them together:

- `leaves`: a stream; the leaf with index 41 has the id `42-0`;
- `h:<level>`: the hashes of that level of tiles, a stream of the same form (evidence/tiles.py);
- `m:<match>`: the leaves of a match by name, such as `hour:57`, with their indexes and entries; those of bulk files and of signing keys
  have another name in place of the match;
- `state`: the published checkpoint and its size; the mark, which is the size and the root of all leaves; the lease.

A sorted set in each partition, `{p3}:pending`, has the moment when the next leaf of each match is due. Appends keep it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

from events.store.keys import OfMatches
from events.store.library import script

_SEQUENCE = script("sequence")
_PUBLISH = script("publish")
_LEAD = script("lead")

_ATTEMPTS = 3
_SETTLE = script("settle")


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


class ServerLogs(OfMatches):
    """The server's logs in a store, one for each origin. Every method raises StoreUnavailable."""

    def state(self, origin: str) -> State:
        """Return the size and the published checkpoint of a server's log."""
        start = start_of(origin)
        for _ in range(_ATTEMPTS):  # the leaves and the mark are read one after the other, and another process may write between
            size, stored = self._client.ask_all([("XLEN", start + "leaves"), ("HMGET", start + "state", "size", "note", "mark")])
            served, note, mark = ["" if text is None else text.decode() for text in stored]
            found = State(int(size), int(served or -1), note, mark)
            if mark.partition("\n")[0] == (str(found.size) if found.size else ""):
                break
        return found

    def lead(self, origin: str, holder: str, ms: int, lease: str = "") -> str:
        """Take or renew the lease of a server's log for so many ms. Return it, or "" if somebody else holds it.

        `holder`: 16 hex digits. `lease`: what the caller has. The number at its beginning grows whenever the lease changes.
        """
        answer = self._client.run(_LEAD, [start_of(origin) + "state"], [holder, ms, lease])
        return answer.decode() if answer else ""

    def leaves(self, origin: str, spans: Sequence[tuple[int, int]]) -> list[list[bytes]]:
        """Return the leaves of each span: the first index, and how many."""
        return self._rows([(start_of(origin) + "leaves", first, count) for first, count in spans])

    def hashes(self, origin: str, spans: Sequence[tuple[int, int, int]]) -> list[list[bytes]]:
        """Return the hashes of each span: the level of tiles, the first number, and how many."""
        return self._rows([(f"{start_of(origin)}h:{level}", first, count) for level, first, count in spans])

    def logged(self, origin: str, matches: Sequence[str]) -> list[list[Logged]]:
        """Return the leaves of each match in a server's log, by index."""
        start = start_of(origin)
        found = self._client.ask_all([("HGETALL", f"{start}m:{match}") for match in matches])
        return [sorted((_logged(name, noted) for name, noted in fields.items()), key=lambda leaf: leaf.number) for fields in found]

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

    def _rows(self, spans: Iterable[tuple[str, int, int]]) -> list[list[bytes]]:
        wanted = [(key, first, count) for key, first, count in spans]
        found = self._client.ask_all([("XRANGE", key, f"{first + 1}-0", "+", "COUNT", count) for key, first, count in wanted if count])
        rows = iter(found)
        return [[_value(fields) for _, fields in next(rows)] if count else [] for _, _, count in wanted]


def start_of(origin: str) -> str:
    """Return the beginning of every key of a server's log."""
    return f"{{log}}:{sha256(origin.encode()).hexdigest()[:16]}:"


def _value(fields: Mapping[bytes, bytes]) -> bytes:
    (value,) = fields.values()
    return value


def _note(noted: Logged) -> str:
    return f"{noted.version} {noted.digest} {noted.at} {noted.moment}"


def _logged(name: bytes, noted: bytes) -> Logged:
    number, version, digest, at, moment = noted.decode().split(" ")
    return Logged(name.decode(), int(number), int(version), digest, int(at), int(moment))
