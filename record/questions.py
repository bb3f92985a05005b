"""Questions: what waits for a player in a match, and the version at which it arose.

A seat must act, an open seat is kept for a player, a seat can answer an offer or vote, a player is offered a seat, or may take back a seat
that a substitute plays. A question arises when it was not there before, when it is another player's, or when its data differ: a turn with
another deadline is another question. So it can be told again with the same identity at any time (record/notices.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from games.kernel import Game, State
from table.clocks import deadline_of
from table.document import Table
from table.state import CLOSED, OPEN, STARTED, kept_seats

TURN = "turn"
INVITED = "invited"
OFFER = "offer"
VOTE = "vote"
SEAT_OFFERED = "seat_offered"
MAY_RETURN = "may_return"

Rows = dict[str, list[Any]]
"""By the name of a question, the members of a `Question` in a list: plain JSON, as a position has it."""


class Question(NamedTuple):
    """What waits for a player. It arose at `version` as the notice `place` of that entry, at the moment `at` in milliseconds since 1970."""

    kind: str
    version: int
    place: int
    at: int
    player: str
    data: dict[str, Any]


def asked(game: Game, before: Rows, table: Table, document: State, version: int, at: int, place: int, begun: int | None) -> Rows:
    """Return what waits at the position after an entry; the same object if nothing changes.

    `before`: what waited before the entry. `place`: that of the first question that arises. `begun`: if play is hidden from
    spectators, the version at which it began; then whoever is offered a seat is told this version in place of the entry's.
    """
    after: Rows = {}
    for name, (kind, player, data) in _waiting(game, table, document):
        known = before.get(name)
        if known is not None and known[4] == player and known[5] == data:
            after[name] = known
            continue
        if begun is not None and kind == SEAT_OFFERED and not _is_seated(table, player):
            after[name] = [kind, begun, place_of_offer(table, document, data["seat"]), at, player, data]
        else:
            after[name] = [kind, version, place, at, player, data]
            place += 1
    return before if after == before else after


def place_of_offer(table: Table, document: State, seat: str) -> int:
    """Return a number for the newest offer of a seat. No other offer of a seat in the match has it, and nothing else of play shows in it:
    whoever is offered a seat may know how many offers the seat has made."""
    seats: list[str] = document["seats"]
    return table["offered"][seat] * len(seats) + seats.index(seat)


def _waiting(game: Game, table: Table, document: State) -> Iterator[tuple[str, tuple[str, str, dict[str, Any]]]]:
    """Yield everything that waits at a position: a name, which is the same as long as it is about the same, the kind, the player, the
    data."""
    phase, roster = table["phase"], table["roster"]
    if phase == OPEN:
        for seat, player in kept_seats(table).items():
            yield f"{INVITED}/{seat}", (INVITED, player, {"seat": seat, "creator": table["creator"]})
    if phase in (OPEN, CLOSED) or document["outcome"] is not None:
        return
    away = table["substitutes"]
    for seat in document["to_act"] if phase == STARTED else ():
        if "player" in roster.get(seat, {}) and seat not in away:
            yield f"{TURN}/{seat}", (TURN, roster[seat]["player"], {"seat": seat, "deadline": deadline_of(table, seat)})
    if table["offers"] or table["votes"]:
        yield from _answers(table, roster, [seat for seat in game.playing(document) if "player" in roster[seat] and seat not in away])
    for seat, player in sorted(table["handovers"].items()):
        yield f"{SEAT_OFFERED}/{seat}", (SEAT_OFFERED, player, {"seat": seat, "player": roster[seat]["player"]})
    for seat, level in sorted(away.items()):
        if seat not in table["held"] and "player" in roster[seat]:
            yield f"{MAY_RETURN}/{seat}", (MAY_RETURN, roster[seat]["player"], {"seat": seat, "level": level})


def _answers(table: Table, roster: Mapping[str, Any], present: list[str]) -> Iterator[tuple[str, tuple[str, str, dict[str, Any]]]]:
    """Yield the offers and votes that seats can answer. `present`: the seats in play whose players play them."""
    for what, offer in sorted(table["offers"].items()):
        more = {"back_to": offer["version"]} if "version" in offer else {"hours": offer["hours"]} if "hours" in offer else {}
        for seat in present:
            if seat != offer["by"] and seat not in offer["accepted"]:
                yield f"{OFFER}/{what}/{seat}", (OFFER, roster[seat]["player"], {"seat": seat, "what": what, "by": offer["by"], **more})
    for about, vote in sorted(table["votes"].items()):
        for seat in present:
            if seat not in table["votes"] and seat not in vote["votes"]:
                yield f"{VOTE}/{about}/{seat}", (VOTE, roster[seat]["player"], {"seat": seat, "about": about, "until": vote["until"]})


def _is_seated(table: Table, player: str) -> bool:
    return any(one.get("player") == player for one in table["roster"].values())
