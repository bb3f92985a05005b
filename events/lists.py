"""List matches page by page, newest first: the lobby, "my turns", results.

A match that is hidden from spectators is listed for them as it was when play began. Nothing that happened since changes what they find, or
its order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

from events.errors import BadCursor
from events.platform import Platform
from events.standings import DEADLINE, DESK, OWN, Standing
from events.store.lists import Lists, Place
from record.entries import Unreadable, parse

LONGEST_PAGE = 200

_EXAMINED = 2000


class Asker(NamedTuple):
    """Who asks for a list. `player`: the id of a player, or None. `referees`: the asker is a referee, who may follow every match."""

    player: str | None = None
    referees: bool = False

    def follows(self, standing: Standing) -> bool:
        """Return True if the asker may follow a match that is hidden from spectators."""
        return self.referees or (self.player is not None and any(one.get("player") == self.player for one in standing["seats"].values()))


ANYBODY = Asker()


class Page(NamedTuple):
    """Some standings, each with the version and the last change of its match, and the cursor of the next page, or None."""

    standings: list[dict[str, Any]]
    cursor: str | None


def standing_of(platform: Platform, match: str) -> Standing | None:
    """Return the stored standing of a match, for askers who may follow it. Raises StoreUnavailable."""
    return platform.store.lists.standings([match])[0]


def standings_of(platform: Platform, matches: Sequence[str], asker: Asker) -> list[dict[str, Any]]:
    """Return the standing of each match with its version and the time of its last change. Raises StoreUnavailable.

    It takes two round trips. A match that no longer exists is left out.
    """
    return _with_news(platform, [_shown(standing, asker) for standing in platform.store.lists.standings(matches) if standing is not None])


def matches(
    platform: Platform,
    filters: Mapping[str, str],
    limit: int = 50,
    cursor: str | None = None,
    *,
    asker: Asker = ANYBODY,
    by_deadline: bool = False,
    desk: str | None = None,
) -> Page:
    """Return a page of the matches that pass every filter, newest first. Raises BadCursor, StoreUnavailable.

    The filters are `status`, `game`, `player` (who has a seat), `invited` (a player for whom an open seat is kept), `to_act` (a player who
    must act now) and `practice` (`true` or `false`: they begin from a position of another match). `by_deadline`: only matches in which the
    asker must act, by the earliest deadline; matches without a deadline come last. `desk`: the matches with disputes, for referees:
    `waiting` for a ruling, by the time when it is due, or `all`. One request examines a bounded part of a long list. So a page may be
    short, even empty, and still have a cursor.
    """
    limit = min(limit, LONGEST_PAGE)
    choices = [indexes for name, value in filters.items() if (indexes := _indexes(name, value, asker))] or [["all"]]
    lists = platform.store.lists
    if desk is not None:
        read = partial(lists.earliest, [f"{DESK}:{desk}"])
    elif by_deadline:
        read = partial(lists.earliest, [f"{DEADLINE}:{asker.player}"])
    else:
        read = partial(lists.newest, choices[0] if len(choices) == 1 else _smallest(lists, choices))
    place = _parse(cursor)
    found: list[Standing] = []
    examined = 0
    while len(found) < limit and examined < _EXAMINED:
        batch = read(place, limit)
        if not batch:
            return Page(_with_news(platform, found), None)
        for at, stored in zip(batch, lists.standings([match for _, match in batch]), strict=True):
            place = at
            examined += 1
            standing = None if stored is None else _shown(stored, asker)
            if standing is not None and _passes(standing, filters):
                found.append(standing)
                if len(found) == limit:
                    break
    return Page(_with_news(platform, found), f"{place[0]}.{place[1]}" if place else None)


def _with_news(platform: Platform, standings: list[Standing]) -> list[dict[str, Any]]:
    """Return standings with the version and the time of the last change of their matches.

    Both come from the last entry of a match, so a standing need not be stored again at each version. A match without a readable last entry
    is left out: a damaged log must not break the list. A standing for spectators who may not follow the match already has both.
    """
    wanted = [standing["id"] for standing in standings if "version" not in standing]
    last = dict(zip(wanted, platform.store.log.last(wanted), strict=True)) if wanted else {}
    shown = []
    for standing in standings:
        if "version" in standing:
            shown.append(standing)
            continue
        with suppress(Unreadable):
            entry = parse(last[standing["id"]] or b"")
            shown.append({**standing, "version": entry.version, "updated": entry.at})
    return shown


def _shown(standing: Standing, asker: Asker) -> Standing:
    """Return a stored standing as the asker may see it. In a hidden match, a player who is offered a seat sees the offer."""
    public: Standing | None = standing.pop("public", None)
    if public is None or asker.follows(standing):
        return standing
    handovers = {seat: player for seat, player in standing["handovers"].items() if player == asker.player}
    return {**public, "handovers": handovers, "offers_made": {seat: standing["offers_made"][seat] for seat in handovers}}


def _smallest(lists: Lists, choices: list[list[str]]) -> list[str]:
    """Return the choice of indexes with the fewest matches in total."""
    sizes = iter(lists.sizes([index for indexes in choices for index in indexes]))
    return min((sum(next(sizes) for _ in indexes), indexes) for indexes in choices)[1]


def _indexes(name: str, value: str, asker: Asker) -> list[str]:
    """Return the indexes that hold every match that passes a filter, or [] if only the list of all matches does.

    The indexes of hidden matches are for their own players, and for referees.
    """
    if (name, value) == ("practice", "false"):
        return []  # most matches are no practice, so an index of them would repeat the list of all matches
    index = f"{'acts' if name == 'to_act' else name}:{value}"
    own = name in ("player", "to_act") and (asker.referees or asker.player == value)
    return [index, f"{OWN}:{index}"] if own else [index]


def _passes(standing: Standing, filters: Mapping[str, str]) -> bool:
    return all(value in _values(standing, name) for name, value in filters.items())


def _values(standing: Standing, name: str) -> Iterator[str]:
    seats = standing["seats"]
    if name == "player":
        yield from (occupant["player"] for occupant in seats.values() if "player" in occupant)
    elif name == "invited":
        yield from standing["invited"].values()
    elif name == "to_act":
        away = standing["substitutes"]
        yield from (seats[actor]["player"] for actor in standing["to_act"] if "player" in seats.get(actor, {}) and actor not in away)
    elif name == "practice":
        yield "true" if standing["practice"] else "false"
    else:
        yield standing[name]


def _parse(cursor: str | None) -> Place | None:
    if cursor is None:
        return None
    moment, _, match = cursor.partition(".")
    if not moment.isdigit() or not match:
        raise BadCursor(cursor)
    return int(moment), match
