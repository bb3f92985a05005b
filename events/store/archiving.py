"""File finished matches away, and bring them back. The archive has their entries (events/archive). The store keeps where each one is.

What lists show of such a match is packed (filing.lua).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from events.store.client import RedisClient
from events.store.filed import Packed, head_of
from events.store.keys import Keys, OfMatches
from events.store.library import script
from events.store.lists import Place
from events.store.packed import pack, pack_standing
from events.store.projections import Derived
from events.store.sidelog import RawSideLog
from events.store.signing import SigningKeys, signed

PAGE = 500
_ARCHIVE = script("archive")
_BRING_BACK = script("bring_back")
_WHERE = script("where")


class Away(NamedTuple):
    """A match that is filed away: its last version, the digest of the entry there, and the hash of its object, by which that is named."""

    head: int
    digest: str
    object: str


class Where(NamedTuple):
    """Where a match is at one moment. `head`: in the store, or 0. `away`: how it is filed away, or None."""

    head: int
    away: Away | None


class Archiving(OfMatches):
    """What the store knows of archived matches. Every method raises StoreUnavailable."""

    def __init__(self, client: RedisClient, keys: Keys) -> None:
        super().__init__(client, keys)
        self._signing = SigningKeys(client, keys)

    def where(self, matches: Sequence[str]) -> list[Where]:
        """Return where each match is, in one round trip."""
        found = self._client.run_all(_WHERE, [([self._keys.stream(match)], []) for match in matches])
        return [Where(head, _away(text)) for head, text in found]

    def filed(self) -> Iterator[tuple[str, Away]]:
        """Yield every match that is filed away, those of a partition in the order in which they were."""
        for tag in self._keys.tags():
            after = "-"
            while page := self._client.items(f"{tag}:filed", after, "+", PAGE):
                for id, fields in page:
                    match, head, digest, object = head_of(fields[b"r"])
                    yield match, Away(head, digest, object)
                    after = f"({id.decode()}"

    def number(self) -> int:
        """Return how many matches are filed away."""
        return sum(self._client.ask_all([("XLEN", f"{tag}:filed") for tag in self._keys.tags()]))

    def over(self, after: Place | None, limit: int) -> list[Place]:
        """Return the next finished matches in the store after a place, the earliest created first."""
        (moment, match) = after or (0, "")
        keys = [f"{tag}:i:status:over" for tag in self._keys.tags()]
        pages = self._client.ask_all([("ZRANGE", key, moment, "+inf", "BYSCORE", "LIMIT", 0, limit + PAGE, "WITHSCORES") for key in keys])
        found = sorted((int(at), id.decode()) for page in pages for id, at in page)
        return [place for place in found if place > (moment, match)][:limit]

    def unsent(self) -> set[str]:
        """Return the matches of which hooks have still to send something."""
        found = self._client.ask_all([("HKEYS", f"{tag}:cursors") for tag in self._keys.tags()])
        return {item.decode(errors="surrogateescape").partition("|")[0] for items in found for item in items}

    def remove(self, match: str, packed: Packed, sidelog: RawSideLog) -> bool:
        """Remove a match that is in the archive with this side log, and file it away. Only the archivist may.

        Return False, and change nothing, if the match or its side log has changed, or if it needs a leaf. Raises StoreRefused for others.
        """
        words: list[str | bytes | int] = [orjson.dumps(sidelog.heads), packed.game, packed.row, *packed.news]
        return bool(self._client.run(_ARCHIVE, [self._keys.stream(match)], words))

    def bring_back(self, match: str, away: Away, secret: str, entries: Sequence[bytes], derived: Derived, sidelog: RawSideLog) -> bool:
        """Write a match that is filed away into the store again. Return False if it is not filed away like this, nor in the store."""
        key = self._signing.learn(match, secret)
        snapshots = {str(version): signed(key, version, document) for version, document in derived.snapshots.items()}
        what = {
            **away._asdict(),
            "secret": secret,
            "updated": derived.updated,
            "indexes": derived.indexes,
            "due": derived.due,
            "snapshots": len(snapshots),
            "requests": len(derived.requests),
            "refused": len(sidelog.refused),
            "reads": len(sidelog.reads),
        }
        kept: list[Mapping[Any, Any]] = [snapshots, derived.requests, sidelog.refused, sidelog.reads]
        words: list[str | bytes | int] = [word for fields in kept for pair in fields.items() for word in pair]
        items = [pack(raw, match, version, tag=derived.tags.get(version, b"")) for version, raw in enumerate(entries, 1)]
        arguments = [orjson.dumps(what), pack_standing(derived.standing, derived.head), *words, *items]
        return bool(self._client.run(_BRING_BACK, [self._keys.stream(match)], arguments))


def _away(text: bytes) -> Away | None:
    if not text:
        return None
    head, digest, object = text.decode().split(" ")
    return Away(int(head), digest, object)
