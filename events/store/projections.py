"""Read and replace the projections: everything in the store that is derived from logs. Remove keys that belong to no log."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import orjson

from events.store.client import RedisClient
from events.store.keys import Keys, OfMatches
from events.store.library import script
from events.store.packed import listed, pack_standing
from events.store.signing import SigningKeys, signed

UPDATED = "updated"  # the first part of the names of the lists of updates, which do not follow from the logs

_PROJECT = script("project")
_REMOVE = script("remove")
_STANDINGS = script("standings")
_FILED = b"filed"


class Derived(NamedTuple):
    """The projections of a match at `head`: tags of requests with their versions, snapshots by version, and the rest as in Changes.

    `updated`: the player in whose list of updates the match must be, at any place. `tags`: of the requests of all entries, by version.
    """

    head: int
    standing: bytes
    updated: str
    requests: Mapping[bytes, int]
    snapshots: Mapping[int, bytes]
    indexes: Mapping[str, int]
    due: Mapping[str, int]
    leaf: int | None = None
    tags: Mapping[int, bytes] = {}


class Listed(NamedTuple):
    """The places where a match is listed now, rightly or not: names of indexes, and members of the due index."""

    indexes: set[str]
    due: set[str]


class Listing(NamedTuple):
    """The places of each match in its own partition. `misplaced`: keys with the members that are in another partition than their match."""

    matches: dict[str, Listed]
    misplaced: list[tuple[str, str]]


class Stored(NamedTuple):
    """The stored projections of a match: its snapshots have their signatures, and the requested places have their scores."""

    standing: bytes | None
    requests: Mapping[bytes, bytes]
    snapshots: Mapping[str, bytes]
    indexes: Mapping[str, float]
    due: Mapping[str, float]
    leaf: float | None = None


class Projections(OfMatches):
    """The projections in all partitions. Every method raises StoreUnavailable."""

    def __init__(self, client: RedisClient, keys: Keys) -> None:
        super().__init__(client, keys)
        self._signing = SigningKeys(client, keys)

    def snapshots(self, match: str) -> dict[str, bytes]:
        """Return the stored snapshots of a match by version, with their signatures."""
        return {_text(version): snapshot for version, snapshot in self._client.ask("HGETALL", self._keys.of(match).snapshots).items()}

    def stored(self, match: str, places: Listed) -> Stored:
        """Return the stored projections of a match. `places`: where to look for it."""
        keys = self._keys.of(match)
        indexes, due = sorted(places.indexes), sorted(places.due)
        newest, requests, snapshots, leaf, moments, *scores = self._client.ask_all(
            [
                (_STANDINGS.command, _STANDINGS.function, 1, keys.stream),
                ("HGETALL", keys.requests),
                ("HGETALL", keys.snapshots),
                ("ZSCORE", keys.pending, match),
                ("ZMSCORE", keys.due, "", *map(_bytes, due)),  # it wants at least one member
                *[("ZSCORE", keys.indexes + name, match) for name in indexes],
            ]
        )
        standing, item, id = newest[0]
        return Stored(
            None if not standing or id == _FILED else listed(standing, item, match, int(id.partition(b"-")[0] or 0))[0],
            requests,
            {_text(version): snapshot for version, snapshot in snapshots.items()},
            {name: score for name, score in zip(indexes, scores, strict=True) if score is not None},
            {member: score for member, score in zip(due, moments[1:], strict=True) if score is not None},
            leaf,
        )

    def listed(self) -> Listing:
        """Return where every match is listed now."""
        listed: defaultdict[str, Listed] = defaultdict(lambda: Listed(set(), set()))
        misplaced = []
        for tag in self._keys.tags():
            start = f"{tag}:i:"
            for key in self._client.keys(start + "*"):
                for member in map(_text, self._client.ask("ZRANGE", key, 0, -1)):
                    if tag == self._keys.tag(member):
                        listed[member].indexes.add(key[len(start) :])
                    else:
                        misplaced.append((key, member))
            for member in map(_text, self._client.ask("ZRANGE", f"{tag}:due", 0, -1)):
                match = member.split("|")[1] if member.count("|") > 1 else member
                if tag == self._keys.tag(match):
                    listed[match].due.add(member)
                else:
                    misplaced.append((f"{tag}:due", member))
        return Listing(dict(listed), misplaced)

    def replace(self, match: str, derived: Derived, listed: Listed) -> bool:
        """Replace all projections of a match. Return False if the match has moved on. A match without a secret gets no snapshots."""
        key = self._signing.of(match)
        snapshots = {} if key is None else {version: signed(key, version, document) for version, document in derived.snapshots.items()}
        due: dict[str, int | str] = {**dict.fromkeys(sorted(listed.due), ""), **derived.due}
        indexes = {**dict.fromkeys(listed.indexes - {f"{UPDATED}:{derived.updated}"}), **derived.indexes}
        change = {
            "head": derived.head,
            "leaf": derived.leaf,
            "indexes": indexes,
            "updated": derived.updated,
        }
        kept: list[bytes | int] = [word for pair in sorted(snapshots.items()) for word in pair]
        kept += [word for pair in sorted(derived.requests.items()) for word in pair]
        moments = [value for member, moment in due.items() for value in (_bytes(member), moment)]
        standing = pack_standing(derived.standing, derived.head)
        words: list[str | bytes | int] = [orjson.dumps(change), standing, len(snapshots), len(derived.requests), *kept, *moments]
        return bool(self._client.run(_PROJECT, [self._keys.stream(match)], words))

    def remove_strays(self, listing: Listing) -> int:
        """Remove everything without a log: places in `listing`, and keys of matches. Return how many were removed."""
        strays = list(listing.misplaced)
        for match, places in listing.matches.items():
            keys = self._keys.of(match)
            strays += [(keys.due, member) for member in sorted(places.due)]
            strays += [(keys.indexes + name, match) for name in sorted(places.indexes)]
        removed: int = sum(self._client.run(_REMOVE, [key], [_bytes(member)]) for key, member in strays)
        return removed + sum(int(self._client.run(_REMOVE, [key], [])) for key in self.stray_keys())

    def stray_keys(self) -> Iterator[str]:
        """Yield the derived keys of matches that have no log or are in another partition."""
        return self._strays("mrd")


def _text(member: bytes) -> str:
    """Return a member of an index as text. Any bytes have a text, so any member can be named and removed."""
    return member.decode(errors="surrogateescape")


def _bytes(member: str) -> bytes:
    """Return the bytes of a member of an index."""
    return member.encode(errors="surrogateescape")
