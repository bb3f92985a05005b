"""List matches page by page, newest first: the lobby, "my turns", results.

A match that is hidden from spectators is listed for them as it was when play began. Nothing that happened since changes what they find, or
its order.
"""

from __future__ import annotations

import string
import threading
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from typing import NamedTuple

import orjson
from cachetools import LRUCache

from events.errors import BadCursor
from events.platform import Platform
from events.standings import ACTS, DESK, OF_STATUS, OFFERED, OWN, Standing
from events.store.filed import Filed
from events.store.lists import Filters, Place, Row
from record.entries import Unreadable, parse

LONGEST_PAGE = 200

_KEPT = 1024  # rows
# By filter, the first part of the names of its indexes. Nobody else fills the list of a creator, so it is read before that of a tag.
_INDEXES = {"to_act": ACTS, "invited": "invited", "offered": OFFERED, "player": "player", "creator": "creator", "tag": "tag"}
_BASE = 36
_DIGITS = string.digits + string.ascii_lowercase


class Asker(NamedTuple):
    """Who asks for a list. `player`: the id of a player, or None. Lists are not recorded as reads, so they show a referee no more."""

    player: str | None = None

    def follows(self, standing: Standing) -> bool:
        """Return True if the asker may follow a match that is hidden from spectators."""
        return self.player is not None and any(one.get("player") == self.player for one in standing["seats"].values())


ANYBODY = Asker()


class Page(NamedTuple):
    """Some standings, each with the version and the last change of its match, and the cursor of the next page, or None.

    Treat the standings as frozen: other pages have the same ones. `marks`: a digest of all that a standing follows from; "" for one of a
    hidden match for somebody who may not follow it.
    """

    standings: list[Standing]
    marks: list[str]
    cursor: str | None


class _Row(NamedTuple):
    """A stored standing for those who may follow the match, with its version and the time of its last change if the log can be read.

    `public`: the one for all others, if the match is hidden from them. `mark`: a digest of both and of what the last entry says.
    """

    standing: Standing
    public: Standing | None
    mark: str


# The rows of matches that are listed again and again. Reading one takes ten times as long as finding it.
_rows: LRUCache[Row, _Row] = LRUCache(_KEPT)
_lock = threading.Lock()


def standing_of(platform: Platform, match: str) -> Standing | None:
    """Return the stored standing of a match, for askers who may follow it. Raises StoreUnavailable."""
    return platform.store.lists.standings([match])[0]


def standings_of(platform: Platform, matches: Sequence[str], asker: Asker) -> list[Standing]:
    """Return the standing of each match with its version and the time of its last change. Raises StoreUnavailable.

    It takes one round trip. A match that no longer exists is left out.
    """
    return [standing for standing, _ in _with_news(platform.store.lists.with_entries(matches), asker)]


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

    The filters are `status`, `game`, `player` (who has a seat), `invited` (a player for whom an open seat is kept), `offered` (a player to
    whom another one offers a seat), `to_act` (a player who must act now), `creator`, `tag` and `practice` (`true` or `false`: they begin
    from a position of another match). `by_deadline`: only matches in which the asker must act, by the earliest deadline; matches without a
    deadline come last. `desk`: the matches with disputes, for referees: `waiting` for a ruling, by the time when it is due, or `all`; these
    standings are whole, so show of them nothing but the disputes. One request examines a bounded part of a long list, in two round trips.
    So a page may be short, even empty, and still have a cursor.
    """
    limit, place, lists = min(limit, LONGEST_PAGE), _parse(cursor), platform.store.lists
    order = f"{DESK}:{desk}" if desk is not None else f"{ACTS}:{asker.player}" if by_deadline else None
    indexes = _filters(filters, asker, order)
    stretch = lists.stretch("newest" if order is None else "earliest", indexes, place, limit)
    found = _with_news(lists.with_entries([match for _, match in stretch.places]), None if desk is not None else asker)
    passing = [one for one in found if _passes(one[0], filters) and (not by_deadline or asker.player in set(_values(one[0], "to_act")))]
    following = None if stretch.more is None else f"{stretch.more[0]}.{stretch.more[1]}"
    return Page([standing for standing, _ in passing], [mark for _, mark in passing], following)


def first_since(platform: Platform, matches: Sequence[str], moment: int) -> list[int]:
    """Return the first version of each match since a moment (ms since 1970), or one more than its head. Raises StoreUnavailable."""
    found = platform.store.lists.first_since(matches, moment)
    return [version or _first_since(platform, match, moment) for version, match in zip(found, matches, strict=True)]


def _first_since(platform: Platform, match: str, moment: int) -> int:
    """Return the first version since a moment of a match that is filed away. It reads a few of its entries."""
    log = platform.store.log
    return bisect_left(range(log.head(match)), moment, key=lambda before: parse(log.read(match, before, 1)[0]).at) + 1


class Updates(NamedTuple):
    """Matches of a creator in the order in which they last changed. `mark`: after all of them. `more`: others follow at once."""

    standings: list[Standing]
    marks: list[str]
    mark: str
    more: bool


def updates(platform: Platform, creator: str, since: str, filters: Mapping[str, str], limit: int, asker: Asker) -> Updates:
    """Return the matches that a player has created and that have changed since a moment (ms since 1970) or a mark, the earliest first.

    `filters`: as for `matches`. The list is written by the appends themselves, so no match comes before a mark after the mark was given.
    Raises BadCursor, StoreUnavailable.
    """
    limit, lists = min(limit, LONGEST_PAGE), platform.store.lists
    after = _places_of(since, platform.settings.partitions)
    found = lists.updates(creator, after, "." in since, limit)
    merged = sorted((moment, match, number) for number, places in enumerate(found) for match, moment in places)
    taken = merged[:limit]
    for moment, _, number in taken:
        after[number] = moment
    passing = [one for one in _with_news(lists.with_entries([match for _, match, _ in taken]), asker) if _passes(one[0], filters)]
    more = len(merged) > limit or any(len(places) == limit for places in found)
    return Updates([standing for standing, _ in passing], [mark for _, mark in passing], _mark_of(after), more)


def _mark_of(places: Sequence[int]) -> str:
    """Return a mark: the least moment of all partitions, then by how much that of each is later, in base 36; "" for 0."""
    least = max(0, min(places))
    return ".".join([str(least), *[_in_base_36(max(0, place - least)) for place in places]])


def _in_base_36(number: int) -> str:
    text = ""
    while number:
        number, digit = divmod(number, _BASE)
        text = _DIGITS[digit] + text
    return text


def _places_of(since: str, partitions: int) -> list[int]:
    """Return the moment of each partition from a mark, or a moment for all. Raises BadCursor."""
    least, *later = since.split(".")
    if len(later) not in (0, partitions):
        raise BadCursor(since)
    return [int(least) + int(one or "0", _BASE) for one in later] or [int(least) - 1] * partitions


def _with_news(found: Iterable[Row], asker: Asker | None) -> Iterator[tuple[Standing, str]]:
    """Yield stored standings as the asker may see them, with their marks. `asker`: None to get all of them whole.

    Version and time come from the last entry of a match, so a standing need not be stored again at each version. A match without a readable
    last entry is left out: a damaged log must not break the list. A standing for spectators who may not follow the match already has both.
    """
    for one in found:
        if not one.standing:
            continue
        row = _row(one)
        if row.public is not None and asker is not None and not asker.follows(row.standing):
            yield _offered(row.standing, row.public, asker), ""
        elif "version" in row.standing:
            yield row.standing, row.mark


def _row(stored: Row) -> _Row:
    with _lock:
        row = _rows.get(stored)
    if row is None:
        standing: Standing = orjson.loads(stored.standing)
        public = standing.pop("public", None)
        news = ""
        with suppress(Unreadable):
            last = stored.filed or parse(stored.entry)
            version, digest = (last.head, last.digest) if isinstance(last, Filed) else (last.version, last.digest)
            standing |= {"version": version, "updated": last.at}
            news = f"{version} {last.at} {digest}"
        row = _Row(standing, public, sha256(b"%d %b%b" % (len(stored.standing), stored.standing, news.encode())).hexdigest())
        with _lock:
            _rows[stored] = row
    return row


def _offered(standing: Standing, public: Standing, asker: Asker) -> Standing:
    """Return what a player who may not follow a hidden match sees of it: what all see, and that a seat is offered."""
    handovers = {seat: player for seat, player in standing["handovers"].items() if player == asker.player}
    return {**public, "handovers": handovers, "offers_made": {seat: standing["offers_made"][seat] for seat in handovers}}


def _filters(given: Mapping[str, str], asker: Asker, order: str | None) -> Filters:
    """Return the indexes of each filter. The first one is read: `order`, or that of the filter that the fewest matches pass as a rule."""
    names = [f"{index}:{given[name]}" for name, index in _INDEXES.items() if name in given]
    if given.get("practice") == "true":
        names.append("practice:true")
    if "game" in given:
        names.append(f"game:{given['game']}" + (f":{given['status']}" if "status" in given else ""))
    elif "status" in given:
        names.append(f"status:{given['status']}")
    wanted = [] if order is None else [_with_own(order, asker, names)]
    wanted += [_with_own(name, asker, names) for name in names]
    numbered = dict(enumerate(wanted or [["all"]], 1))
    # Most matches are no practice, so an index of them would repeat the list of all matches.
    return {**numbered, 0: ["practice:true"]} if given.get("practice") == "false" else numbered


def _with_own(name: str, asker: Asker, names: Sequence[str]) -> list[str]:
    """Return the index with a name, and the one of hidden matches that the asker may use. `names`: those of all filters.

    A player may use those of the matches that the player has a seat in.
    """
    mine = (f"player:{asker.player}", f"{ACTS}:{asker.player}")
    if name in mine:
        return [name, f"{OWN}:{name}"]
    if name.startswith(OF_STATUS) and not set(mine).isdisjoint(names):
        return [name, f"{OWN}:{name}:{asker.player}"]
    return [name]


def _passes(standing: Standing, filters: Mapping[str, str]) -> bool:
    return all(value in _values(standing, name) for name, value in filters.items())


def _values(standing: Standing, name: str) -> Iterator[str]:
    seats = standing["seats"]
    if name == "player":
        yield from (occupant["player"] for occupant in seats.values() if "player" in occupant)
    elif name == "invited":
        yield from standing["invited"].values()
    elif name == "offered":
        yield from standing["handovers"].values()
    elif name == "to_act":
        away = standing["substitutes"]
        yield from (seats[actor]["player"] for actor in standing["to_act"] if "player" in seats.get(actor, {}) and actor not in away)
    elif name == "tag":
        yield from standing["tags"]
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
