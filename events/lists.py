"""Lists of matches: the lobby, "my turns", results. Newest first, page by page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from events.entries import Unreadable, parse
from events.errors import BadCursor
from events.platform import Platform
from events.standings import Standing
from events.store.lists import Place

LONGEST_PAGE = 200

_EXAMINED = 2000


class Page(NamedTuple):
    """Some standings, each with the version of its match and the time of its last change, and the cursor of the next page, if any."""

    standings: list[dict[str, Any]]
    cursor: str | None


def standing_of(platform: Platform, match: str) -> Standing | None:
    """Return the standing of one match as it is stored. Raises StoreUnavailable."""
    return platform.store.lists.standings([match])[0]


def standings_of(platform: Platform, matches: Sequence[str]) -> list[dict[str, Any]]:
    """Return the standing of each match with its version and the time of its last change, in two round trips. Raises StoreUnavailable.

    A match that does not exist any more is left out.
    """
    return _with_news(platform, [standing for standing in platform.store.lists.standings(matches) if standing is not None])


def matches(platform: Platform, filters: Mapping[str, str], limit: int = 50, cursor: str | None = None) -> Page:
    """Return the matches that pass every filter: `status`, `game`, `player` (who has a seat), `invited` (a player for
    whom an open seat is kept), `to_act` (a player who must act now).

    A page may be short, even empty, and still have a cursor: one request examines a bounded part of a long list. Raises BadCursor,
    StoreUnavailable.
    """
    limit = min(limit, LONGEST_PAGE)
    names = [f"{'acts' if name == 'to_act' else name}:{value}" for name, value in filters.items()] or ["all"]
    lists = platform.store.lists
    index = names[0] if len(names) == 1 else min(zip(lists.sizes(names), names, strict=True))[1]
    place = _parse(cursor)
    found: list[Standing] = []
    examined = 0
    while len(found) < limit and examined < _EXAMINED:
        batch = lists.newest(index, place, limit)
        if not batch:
            return Page(_with_news(platform, found), None)
        for at, standing in zip(batch, lists.standings([match for _, match in batch]), strict=True):
            place = at
            examined += 1
            if standing is not None and _passes(standing, filters):
                found.append(standing)
                if len(found) == limit:
                    break
    return Page(_with_news(platform, found), f"{place[0]}.{place[1]}" if place else None)


def _with_news(platform: Platform, standings: list[Standing]) -> list[dict[str, Any]]:
    """Return standings with the version and the time of the last change of their matches.

    Both are in the last entry of a match. Standings are stored without, so that they need not be written so often. A match without a
    readable last entry is left out, so that a damaged log does not make the list fail.
    """
    shown = []
    for standing, last in zip(standings, platform.store.log.last([standing["id"] for standing in standings]), strict=True):
        with suppress(Unreadable):
            entry = parse(last or b"")
            shown.append({**standing, "version": entry.version, "updated": entry.at})
    return shown


def _passes(standing: Standing, filters: Mapping[str, str]) -> bool:
    return all(value in _values(standing, name) for name, value in filters.items())


def _values(standing: Standing, name: str) -> Iterator[str]:
    seats = standing["seats"]
    if name == "player":
        yield from (occupant["player"] for occupant in seats.values() if "player" in occupant)
    elif name == "invited":
        yield from standing.get("invited", {}).values()  # a standing of an earlier release has none
    elif name == "to_act":
        yield from (seats[actor]["player"] for actor in standing["to_act"] if "player" in seats.get(actor, {}))
    else:
        yield standing[name]


def _parse(cursor: str | None) -> Place | None:
    if cursor is None:
        return None
    created, _, match = cursor.partition(".")
    if not created.isdigit() or not match:
        raise BadCursor(f"{cursor!r} is not a cursor of this list.")
    return int(created), match
