"""Everything in the store that is derived from logs: read it as it is, replace it, remove what belongs to no log."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from events.store.client import RedisClient, script
from events.store.keys import Keys

_PROJECT = script("project")


class Derived(NamedTuple):
    """The projections of a match at `head`: requests with their answers, snapshots by version, and the rest as in Changes."""

    head: int
    created: int
    standing: bytes
    requests: Mapping[str, str]
    snapshots: Mapping[int, bytes]
    indexes: frozenset[str]
    due: Mapping[str, int]


class Listed(NamedTuple):
    """The places where a match is listed now, rightly or not: names of indexes, and members of the index of what is due."""

    indexes: set[str]
    due: set[str]


class Projections:
    """The projections in all partitions. Every method raises StoreUnavailable."""

    def __init__(self, client: RedisClient, keys: Keys) -> None:
        self._client = client
        self._keys = keys

    def snapshots(self, match: str) -> dict[int, bytes]:
        """Return the snapshots of a match, by version."""
        found = self._client.ask("HGETALL", self._keys.of(match).snapshots)
        return {int(version): snapshot for version, snapshot in found.items()}

    def listed(self) -> dict[str, Listed]:
        """Return where every match is listed now."""
        listed: defaultdict[str, Listed] = defaultdict(lambda: Listed(set(), set()))
        for tag in self._keys.tags():
            start = f"{tag}:i:"
            for key in self._client.keys(start + "*"):
                for match in self._client.ask("ZRANGE", key, 0, -1):
                    listed[_text(match)].indexes.add(key[len(start) :])
            for member in self._client.ask("ZRANGE", f"{tag}:due", 0, -1):
                name = _text(member)
                listed[name.split("|")[1] if name.count("|") > 1 else name].due.add(name)
        return listed

    def replace(self, match: str, derived: Derived, listed: Listed) -> bool:
        """Replace all projections of a match. Return False if the match has moved on."""
        keys = self._keys.of(match)
        indexes = sorted(derived.indexes | listed.indexes)
        due: dict[str, int | str] = {**dict.fromkeys(sorted(listed.due), ""), **derived.due}
        return bool(
            self._client.run(
                _PROJECT,
                [*keys[:5], *[keys.indexes + name for name in indexes]],
                [
                    derived.head,
                    match,
                    derived.created,
                    derived.standing,
                    len(derived.requests),
                    len(derived.snapshots),
                    len(due),
                    *[text for pair in sorted(derived.requests.items()) for text in pair],
                    *[value for pair in sorted(derived.snapshots.items()) for value in pair],
                    *["+" if name in derived.indexes else "-" for name in indexes],
                    *[value for member, moment in due.items() for value in (_bytes(member), moment)],
                ],
            )
        )

    def remove_strays(self, listed: Mapping[str, Listed]) -> int:
        """Remove what belongs to no log: where matches are `listed`, and keys of matches without a log. Return how many were removed."""
        removed = 0
        for match, places in listed.items():
            strays = [*[("due", member) for member in sorted(places.due)], *[(f"i:{name}", match) for name in sorted(places.indexes)]]
            for index, member in strays:
                removed += sum(self._client.ask("ZREM", f"{tag}:{index}", _bytes(member)) for tag in self._keys.tags())
        for key, match in self._derived_keys():
            if not self._client.ask("XLEN", self._keys.of(match).stream):
                removed += self._client.ask("DEL", key)
        return removed

    def _derived_keys(self) -> Iterator[tuple[str, str]]:
        for tag in self._keys.tags():
            for kind in "mrd":
                start = f"{tag}:{kind}:"
                for key in self._client.keys(start + "*"):
                    yield key, key[len(start) :]


def _text(member: bytes) -> str:
    """Return a member of an index as text. Any bytes have one, so that whatever is in an index can be named and removed."""
    return member.decode(errors="surrogateescape")


def _bytes(member: str) -> bytes:
    """Return the bytes of a member of an index."""
    return member.encode(errors="surrogateescape")
