"""Lists of matches: the lobby, "my turns", results. Newest first, page by page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import orjson

from events.platform import Platform
from events.standings import Standing

LONGEST_PAGE = 200

_LOOKED_AT = 2000


class Page(NamedTuple):
    """Some standings, and the cursor that goes on after them, or None at the end."""

    standings: list[Standing]
    cursor: str | None


class BadCursor(ValueError):
    """A cursor that no page has given."""


def standing_of(platform: Platform, match: str) -> Standing | None:
    """The standing of one match as the lists have it, without its version. Raises StoreUnavailable."""
    found = platform.store.wire.ask("GET", platform.store.keys(match).standing)
    return orjson.loads(found) if found else None


def matches(platform: Platform, filters: Mapping[str, str], limit: int = 50, cursor: str | None = None) -> Page:
    """The matches that fit every filter: `status`, `game`, `player` (who holds a seat), `to_act` (a player who must act now).

    A page may be short, even empty, with a cursor to go on: little of a long list is looked at in one request.

    Raises BadCursor, StoreUnavailable.
    """
    limit = min(limit, LONGEST_PAGE)
    names = [f"{'acts' if name == 'to_act' else name}:{value}" for name, value in filters.items()] or ["all"]
    index = _shortest(platform, names)
    place = _placed(cursor)
    found: list[Standing] = []
    looked_at = 0
    while len(found) < limit and looked_at < _LOOKED_AT:
        batch = _newest(platform, index, place, limit)
        if not batch:
            return Page(found, None)
        ids = [match for _, match in batch]
        kept = platform.store.wire.ask_all([("GET", platform.store.keys(match).standing) for match in ids])
        for (created, match), written in zip(batch, kept, strict=True):
            place = (created, match)
            looked_at += 1
            standing = orjson.loads(written) if written else None
            if standing is not None and _fits(standing, filters):
                found.append(standing)
                if len(found) == limit:
                    break
    return Page(found, f"{place[0]}.{place[1]}" if place else None)


def _fits(standing: Standing, filters: Mapping[str, str]) -> bool:
    return all(value in _values(standing, name) for name, value in filters.items())


def _values(standing: Standing, name: str) -> Iterator[str]:
    seats = standing["seats"]
    if name == "player":
        yield from (holder["player"] for holder in seats.values() if "player" in holder)
    elif name == "to_act":
        yield from (seats[actor]["player"] for actor in standing["to_act"] if "player" in seats.get(actor, {}))
    else:
        yield standing[name]


def _shortest(platform: Platform, names: list[str]) -> str:
    """The index with the fewest matches in it."""
    if len(names) == 1:
        return names[0]
    tags = platform.store.tags()
    sizes = platform.store.wire.ask_all([("ZCARD", f"{tag}:i:{name}") for name in names for tag in tags])
    return min(names, key=lambda name: sum(sizes[names.index(name) * len(tags) : (names.index(name) + 1) * len(tags)]))


def _newest(platform: Platform, index: str, place: tuple[int, str] | None, limit: int) -> list[tuple[int, str]]:
    """The next matches of an index in all partitions, by the time they were created and then by id, the last first."""
    if place is None:
        commands: list[tuple[str | int, ...]] = [
            ("ZRANGE", f"{tag}:i:{index}", "+inf", "-inf", "BYSCORE", "REV", "LIMIT", 0, limit, "WITHSCORES")
            for tag in platform.store.tags()
        ]
    else:
        keys = [f"{tag}:i:{index}" for tag in platform.store.tags()]
        commands = [("ZRANGE", key, f"({place[0]}", "-inf", "BYSCORE", "REV", "LIMIT", 0, limit, "WITHSCORES") for key in keys]
        commands += [("ZRANGE", key, place[0], place[0], "BYSCORE", "REV", "WITHSCORES") for key in keys]
    merged = [(int(score), match.decode()) for answer in platform.store.wire.ask_all(commands) for match, score in answer]
    merged = [one for one in merged if place is None or one < place]
    merged.sort(reverse=True)
    return merged[:limit]


def _placed(cursor: str | None) -> tuple[int, str] | None:
    if cursor is None:
        return None
    created, _, match = cursor.partition(".")
    if not created.isdigit() or not match:
        raise BadCursor(f"{cursor!r} is no cursor of this list")
    return int(created), match
