"""Derive standings and indexes: what lists such as the lobby show of a match, and which lists have it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from events.due import Owed, owed
from events.store.filed import Packed, pack
from events.store.log import Changes
from events.store.packed import Turn
from record.allowances import ALLOWANCES
from record.entries import canonical
from record.notices import ORGANISER, referees, seated
from record.positions import Position
from record.questions import INVITED, SEAT_OFFERED, TURN
from table.clocks import deadlines as clocks_that_run
from table.clocks import only_clocks_differ
from table.data import POLICY
from table.document import Table
from table.results import results_of
from table.state import APPEALED, UNDECIDED, kept_seats, removal
from table.state import OPEN as OPEN_DISPUTE

Standing = dict[str, Any]

# First parts of the names of indexes that count the matches created by a player, for quotas.
OPEN = "open"
AI_ONLY = "ai"
SEARCHING = "searching"
UNFINISHED = "unfinished"
SHORT = "short"
FORKED = "forked"

# First part of the names of indexes of matches with a dispute of a player that is not settled.
DISPUTING = "disputing"

SHORT_SECONDS = 60
GOING_ON = ("skip", "substitute")  # the policies by which a match goes on quickly although nobody plays

ACTS = "acts"
NEVER = 253_402_300_799_999  # the last millisecond of the year 9999: the place of matches without a deadline

# First part of the names of indexes of matches for those who may follow them.
OWN = "own"

# First parts of the names of indexes by status, also of those of one game.
OF_STATUS = ("status:", "game:")

# First parts of the names of indexes of matches that ask a player something, besides to act: to answer, to vote, to come back. And of
# matches in which a player is offered a seat.
ASKED = "asked"
OFFERED = "offered"

# First parts of the names of indexes by the moment when a match last told a player something: one in which the player has a seat, which the
# player has created or in which the player is a referee; any other; and one that the player has created, for its organiser.
NEWS = "news"
CALLED = "called"
NEWS_MS = 300_000
MADE = "made"

# First part of the names of the indexes of matches with disputes, for referees.
DESK = "desk"

# First parts of the names of the indexes behind the ratings of a game.
RATED = "rated"
AMENDED = "amended"

# First parts of the names of all indexes of one player, and of those of one player and one game.
OF_PLAYER = (
    *(
        "creator",
        "player",
        "waiting",
        "invited",
        ACTS,
        NEWS,
        CALLED,
        MADE,
        ASKED,
        OFFERED,
        OPEN,
        AI_ONLY,
        SEARCHING,
        UNFINISHED,
    ),
    *(SHORT, FORKED, DISPUTING),
    *(f"{OWN}:{kind}" for kind in ("player", ACTS)),
)


def standing(position: Position) -> Standing:
    """Return a match as lists show it: only public information, and nothing that changes with every version."""
    document, table = position.document, position.table
    return {
        "id": position.match,
        "game": position.game,
        "status": position.status,
        "created": position.created,
        "creator": table["creator"],
        "rematch_of": table["rematch_of"],
        "practice": table["practice"],
        "rated": table["rated"],
        "name": table["name"],
        "tags": table["tags"],
        "origin": table["origin"],
        "clock": table["clock"],
        "time_out": table["time_out"] or None,
        "spectators": table["spectators"],
        "dispute_days": table["dispute_days"],
        "signed": table["signed"],
        "revision": position.revision,
        "options": document["options"],
        "order": document["seats"],
        "seats": position.roster,
        "invited": kept_seats(table),
        "expires": removal(table, position.created, position.at),
        "code_needed": table["lock"] is not None and position.status == "open",
        "round": document["round"],
        "phase": document["phase"],
        "active": document["active"],
        "to_act": position.to_act,
        "outcome": outcome(position),
        "commitment": table["commitment"],
        "secret": position.secret,
        **at_table(table),
    }


def outcome(position: Position) -> dict[str, Any] | None:
    """Return the outcome of a match, with what a ruling after the end says of it (TBL-DIS-03); None while the match goes on."""
    found: dict[str, Any] | None = position.document["outcome"]
    overruled = position.table["overruled"]
    return found if found is None or overruled is None else {**found, "overruled": overruled}


def at_table(table: Table) -> dict[str, Any]:
    """Return the state of the table apart from play: clocks, offers, votes, substitutes, handovers, a pause."""
    return {
        "clocks": clocks(table),
        "offers": table["offers"],
        "offers_made": table["offered"],
        "votes": table["votes"],
        "substitutes": table["substitutes"],
        "held": table["held"],
        "handovers": table["handovers"],
        "paused_until": table["paused_until"],
        "disputes": table["disputes"],
        "disputed_since": table["disputed_since"],
        "continued": table["continued"],
    }


def stored(position: Position) -> Standing:
    """Return the standing in stored form. If play is hidden from spectators, `public` has what they see instead (docs/decisions/0056)."""
    listed = position.listed
    if listed is position:
        return standing(position)
    return {**standing(position), "public": {**standing(listed), "version": listed.version, "updated": listed.at}}


def packed(position: Position, at: int, object: str) -> Packed:
    """Return what stays in the store of a match that is filed away. `at`: the moment of its last entry. Raises filed.NotFit.

    `object`: the hash that its object is named by.
    """
    standing = canonical(stored(position))
    return pack(position.match, position.game, position.version, position.digest, at, standing, indexes(position), object)


def clocks(table: Table) -> dict[str, dict[str, int | None]]:
    """Return the clock of each seat that has one. Times are moments, so nothing needs to tick.

    `left`: the milliseconds of the seat from the start of its current stretch, or for its next one. `deadline`: when they are over, in ms
    since 1970, or None while the clock stands. `late`: how often in a row the seat has run out of time.
    """
    running = clocks_that_run(table)
    return {
        seat: {"left": clock["free"] + clock["bank"], "deadline": running.get(seat), "late": clock["late"]}
        for seat, clock in table["clocks"]["seats"].items()
    }


def acting(position: Position) -> dict[str, int]:
    """Return the indexes of the players who must act. Each orders matches by the player's deadline; those without one come last.

    If play is hidden from spectators, the indexes have the match as it was when play began, as far as others may ask for them.
    """
    moments: dict[str, int] = {}
    running = clocks_that_run(position.table)
    for seat, player in awaited(position):
        moments[player] = min(moments.get(player, NEVER), running.get(seat, NEVER))
    listed = position.listed
    if listed is position:
        return {f"{ACTS}:{player}": moment for player, moment in moments.items()}
    shown = {player for _, player in awaited(listed)}
    found = {f"{ACTS}:{player}": moments.get(player, NEVER) for player in shown}
    return found | {f"{OWN}:{ACTS}:{player}": moment for player, moment in moments.items() if player not in shown}


def awaited(position: Position) -> Iterator[tuple[str, str]]:
    """Yield the seats whose players must act now, each with its player. Seats with a substitute do not count."""
    for seat in position.to_act:
        if "player" in position.roster.get(seat, {}) and seat not in position.table["substitutes"]:
            yield seat, position.roster[seat]["player"]


def indexes(position: Position) -> dict[str, int]:
    """Return the indexes that a match belongs to, each with the moment that orders the match there.

    If play is hidden from spectators, the indexes depend only on what spectators may know, except those that begin with `own:`, and the
    moments of those of players who must act. Lists tell these moments to that player alone.
    """
    listed = position.listed
    names = _names(listed)
    if listed is not position:
        others = _names(position) - names
        names |= {f"{OWN}:{name}" for name in others if name.startswith("player:")}
        names |= {f"{OWN}:{name}:{player}" for name in others if name.startswith(OF_STATUS) for player in seated(position.table)}
    moments = dict.fromkeys([*names, *_asked(position)], position.created)
    return moments | _news(position) | acting(position) | _desk(position) | _rated(position)


def _news(position: Position, since: int = 0) -> dict[str, int]:
    """Return the indexes of those who were told something after version `since`, each with the moment when they were told last.

    But for CALLED, moments are rounded down to NEWS_MS, so that matches that go on quickly need not be moved each time.
    """
    table = position.table
    new = {player: at for player, (version, at) in position.told.items() if version > since}
    if not new:
        return {}
    creator = table["creator"]
    mine = {creator, *seated(table), *referees(table)}
    found = {}
    for player, at in new.items():
        if player == ORGANISER:
            found[f"{MADE}:{creator}"] = at - at % NEWS_MS
        elif player in mine:
            found[f"{NEWS}:{player}"] = at - at % NEWS_MS
        else:
            found[f"{CALLED}:{player}"] = at
    return found


def _told(position: Position, since: int) -> tuple[str, ...]:
    """Return the players who were told something after version `since`, the organiser as `*` and the id."""
    creator = position.table["creator"]
    new = [player for player, (version, _) in position.told.items() if version > since]
    return tuple(sorted(f"*{creator}" if player == ORGANISER else player for player in new))


def _rated(position: Position) -> dict[str, int]:
    """Return the indexes behind ratings: rated matches by when they were over, and those whose results a ruling has changed since."""
    table, finished = position.table, position.finished
    if not table["rated"] or finished is None or not position.ended or table["continued"] is not None:
        return {}
    amended = {} if table["overruled"] is None else {f"{AMENDED}:{position.game}": position.changed}
    return {f"{RATED}:{position.game}": finished, **amended}


def _desk(position: Position) -> dict[str, int]:
    """Return the indexes of the referees' desk: matches with disputes, and matches that wait for a ruling, ordered by when it is due."""
    disputes = position.table["disputes"]
    if not disputes:
        return {}
    owners = {position.roster[one["seat"]].get("player") for one in disputes if one["state"] in UNDECIDED}
    own = {f"{DISPUTING}:{player}": position.created for player in owners if player is not None}
    waiting = [one["until"] for one in disputes if one["state"] in (OPEN_DISPUTE, APPEALED) and one["until"] is not None]
    return {f"{DESK}:all": position.created, **own, **({f"{DESK}:waiting": min(waiting)} if waiting else {})}


def _names(position: Position) -> set[str]:
    """Return the names of the indexes that a match belongs to by its standing."""
    roster = position.roster
    return {
        *_counted(position),
        "all",
        f"status:{position.status}",
        f"game:{position.game}",
        f"game:{position.game}:{position.status}",
        f"creator:{position.table['creator']}",
        *(f"tag:{tag}" for tag in position.table["tags"]),
        *(["practice:true"] if position.table["practice"] else []),
        *(f"player:{occupant['player']}" for occupant in roster.values() if "player" in occupant),
        *(f"waiting:{occupant['player']}" for occupant in roster.values() if "player" in occupant and position.status == "open"),
        *_results(position),
        *(f"invited:{player}" for player in kept_seats(position.table).values()),
    }


def _asked(position: Position) -> Iterator[str]:
    """Yield the indexes of a match that asks players something. Only these players see them. For turns and kept seats lists have others."""
    for kind, _, _, _, player, _ in position.asked.values():
        if kind == SEAT_OFFERED:
            yield f"{OFFERED}:{player}"
        elif kind not in (TURN, INVITED):
            yield f"{ASKED}:{player}"


def _counted(position: Position) -> Iterator[str]:
    """Yield the indexes that count a match for its creator until it ends."""
    creator = position.table["creator"]
    if position.ended:
        return
    yield f"{UNFINISHED}:{creator}"
    origin = position.table["origin"]
    if origin is not None and "dispute" not in origin:
        yield f"{FORKED}:{creator}"
    if is_short(position.table["clock"], position.table["time_out"]):
        yield f"{SHORT}:{creator}"
    levels = {occupant.get("ai") for occupant in position.roster.values()} | {position.table["time_out"].get("level")}
    if any(level in ALLOWANCES for level in levels):
        yield f"{SEARCHING}:{creator}"
    if position.status == "open":
        yield f"{OPEN}:{creator}"
    elif not any("player" in occupant for occupant in position.roster.values()):
        yield f"{AI_ONLY}:{creator}"


def is_short(clock: Mapping[str, Any], time_out: Mapping[str, Any]) -> bool:
    """Return True if a match with these settings goes on quickly although nobody plays: every few seconds a worker plays for somebody."""
    return clock.get("seconds", SHORT_SECONDS) < SHORT_SECONDS and time_out.get("policy", POLICY) in GOING_ON


def _results(position: Position) -> Iterator[str]:
    """Yield the indexes that player profiles count, by player and game (TBL-RES-03)."""
    ended = position.document["outcome"]
    if ended is None or position.table["practice"]:
        return
    for seat, occupant in position.roster.items():
        if "player" in occupant:
            yield from (f"{what}:{occupant['player']}:{position.game}" for what in results_of(position.table, ended, seat))


def changes(
    before: Position | None, after: Position, works: Iterable[Owed], leaf: int | None = None, had: Iterable[Owed] | None = None
) -> Changes:
    """Return the changes in lists and in the due index when a match moves from one position to another, after which `works` are due.

    `leaf`: as in `Changes`. `had`: what was due before, if it is known.
    """
    creator = after.table["creator"]
    seen = before is None or after.begun is None or _seen_by(before, creator) != _seen_by(after, creator)
    if had is None:
        had = () if before is None else owed(before)
    due = _moves({work.member: work.due for work in had}, {work.member: work.due for work in works})
    return _changes(before, after, due, leaf, creator if seen else "")


def _seen_by(position: Position, player: str) -> tuple[Any, ...]:
    """Return what changes whenever the standing changes that a player sees. Without a seat, a player sees of a match that is hidden from
    spectators what lists show to all, and a seat that is offered to this player. Referees may see more, but do not count here."""
    if position.begun is None or position.seats_of(player):
        return (position.version,)
    offered = [seat for seat, other in position.table["handovers"].items() if other == player]
    return (position.begun["version"], [(seat, position.table["offered"].get(seat)) for seat in offered])


def _changes(before: Position | None, after: Position, due: dict[str, int | None], leaf: int | None, updated: str) -> Changes:
    """Return the changes. `due`, `leaf` and `updated`: as in `Changes`."""
    if before is None:
        return Changes(
            due=due,
            leaf=leaf,
            updated=updated,
            standing=canonical(stored(after)),
            turn=turn(after),
            indexes=_moves({}, indexes(after)),
            tell=_told(after, 0),
        )
    news: dict[str, int] = {}
    tell: tuple[str, ...] = ()
    if after.told is not before.told:
        known = _news(before)
        news = {name: at for name, at in _news(after, before.version).items() if known.get(name) != at}
        tell = _told(after, before.version)
    table_changed = not only_clocks_differ(before.table, after.table)
    unlisted = not table_changed and all(before.document[name] == after.document[name] for name in _LISTED)
    if unlisted:
        names: dict[str, int | None] = {} if before.table is after.table else {**acting(after)}
    else:
        derive = indexes if table_changed or before.begun is not None or before.status != after.status else acting
        names = _moves(derive(before), derive(after))
    whole = table_changed or after.begun is not None or any(before.document[name] != after.document[name] for name in ("outcome", "seats"))
    return Changes(
        due=due,
        leaf=leaf,
        updated=updated,
        standing=canonical(stored(after)) if whole or before.begun is not None or before.status != after.status else b"",
        turn=turn(after),
        indexes=names | news,
        tell=tell,
    )


_OF_TURN = ("round", "phase", "active")
_LISTED = (*_OF_TURN, "to_act", "outcome", "seats")
"""What a standing shows of the document of the game, as far as it changes."""


def turn(position: Position) -> Turn:
    """Return what changes in a standing while no fact of the table changes and the match goes on."""
    document = position.document
    return Turn(document["round"], document["phase"], document["active"], position.to_act, clocks(position.table), position.table["clock"])


def _moves(left: dict[str, int], belongs: dict[str, int]) -> dict[str, int | None]:
    """Return the indexes to enter, each with the moment that orders the match there, and those to leave."""
    if left == belongs:
        return {}
    return {name: moment for name, moment in sorted(belongs.items()) if left.get(name) != moment} | dict.fromkeys(
        sorted(left.keys() - belongs.keys())
    )
