"""Name the keys of the store. Matches are spread over partitions. Every key of partition 3 has the hash tag `{p3}`, so all keys of a match
are in one slot of a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple
from zlib import crc32

from events.store.client import RedisClient

REMEMBERED = 16_384  # matches whose keys need not be made again


def partition_of(match: str, partitions: int) -> int:
    """Return the number of the partition of a match."""
    return crc32(match.encode(errors="surrogateescape")) % partitions


class MatchKeys(NamedTuple):
    """The keys of one match."""

    stream: str
    requests: str
    due: str
    standing: str
    snapshots: str
    secret: str
    pending: str
    indexes: str  # the prefix of the indexes of its partition
    refusals: str
    reads: str


class Keys:
    """Names the keys, for a number of partitions."""

    def __init__(self, partitions: int) -> None:
        self.partitions = partitions
        self.tag = lru_cache(REMEMBERED)(self._tag)
        self.stream = lru_cache(REMEMBERED)(self._stream)

    def tags(self) -> list[str]:
        """Return the hash tag of every partition."""
        return [f"{{p{number}}}" for number in range(self.partitions)]

    def _tag(self, match: str) -> str:
        """Return the hash tag of the partition of a match."""
        return f"{{p{partition_of(match, self.partitions)}}}"

    def _stream(self, match: str) -> str:
        """Return the key of the log of a match, without the others."""
        return f"{self.tag(match)}:s:{match}"

    def of(self, match: str) -> MatchKeys:
        """Return the keys of a match."""
        tag = self.tag(match)
        return MatchKeys(
            f"{tag}:s:{match}",
            f"{tag}:r:{match}",
            f"{tag}:due",
            f"{tag}:m:{match}",
            f"{tag}:d:{match}",
            f"{tag}:x:{match}",
            f"{tag}:pending",
            f"{tag}:i:",
            f"{tag}:f:{match}",
            f"{tag}:w:{match}",
        )


class OfMatches:
    """A part of the store with keys of matches. Every method of a part raises StoreUnavailable."""

    def __init__(self, client: RedisClient, keys: Keys) -> None:
        self._client = client
        self._keys = keys

    def _named(self, kinds: str) -> Iterator[tuple[str, str]]:
        """Yield every key of some kinds with its match, whether the match exists or not."""
        for tag in self._keys.tags():
            for kind in kinds:
                start = f"{tag}:{kind}:"
                for key in self._client.keys(start + "*"):
                    yield key, key[len(start) :]

    def _strays(self, kinds: str) -> Iterator[str]:
        """Yield the keys of some kinds whose matches have no log or are in another partition."""
        for key, match in self._named(kinds):
            keys = self._keys.of(match)
            if key not in keys or not self._client.ask("XLEN", keys.stream):
                yield key
