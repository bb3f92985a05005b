"""Sight: what leaves the server for a viewer is decided here and nowhere else.

A viewer is a seat, `spectator` or `auditor`. What a viewer gets of a match is made by `view` and `shown` of its game, and by what stands
here about the platform's own facts. Two positions that differ only in what a viewer may not know give that viewer the same bytes; so a
digest, which covers what is hidden, and the secret are shown to nobody who could test a guess with them.
"""

from __future__ import annotations

from typing import Any

import orjson

from events.entries import Entry
from events.positions import CREATE, CREATED, TAKE, TAKEN, Position
from events.standings import standing
from games.kernel import AUDITOR, SPECTATOR, Game, legal
from service.keys import Caller
from service.problems import Problem
from service.responses import written

PLATFORM_ACTIONS = (CREATE, TAKE)


def viewer_of(position: Position, caller: Caller, asked: str | None) -> str:
    """Through whose eyes the caller may look: `asked`, or what suits the caller. Raises Problem `no_such_seat` or `hidden_view`.

    `position` is the match as it stands now, whatever version is to be looked at: rights widen when it is over.
    """
    if asked is None:
        seats = position.seats_of(caller.id) if caller.id is not None else []
        return acting(position, seats) if seats else SPECTATOR
    if asked == SPECTATOR:
        return asked
    if asked == AUDITOR:
        if not may_audit(position, caller):
            raise Problem("hidden_view", viewer=asked)
        return asked
    if asked not in position.roster:
        raise Problem("no_such_seat")
    if not (position.status == "over" or referees(position, caller) or holds(position, caller, asked)):
        raise Problem("hidden_view", viewer=asked)
    return asked


def seat_of(position: Position, caller: Caller, asked: str | None) -> str:
    """The caller's seat: `asked`, or the one that must act, or the first.

    Raises Problem `no_such_seat`, `not_your_seat` or `not_seated`.
    """
    player = caller.player()
    if asked is not None:
        if asked not in position.roster:
            raise Problem("no_such_seat")
        if not holds(position, caller, asked):
            raise Problem("not_your_seat", seat=asked)
        return asked
    seats = position.seats_of(player)
    if not seats:
        raise Problem("not_seated")
    return acting(position, seats)


def acting(position: Position, seats: list[str]) -> str:
    """Of several seats the one that must act, else the first."""
    to_act = position.document["to_act"]
    return next((seat for seat in seats if seat in to_act), seats[0])


def holds(position: Position, caller: Caller, seat: str) -> bool:
    """Whether the caller sits there."""
    return caller.id is not None and position.roster[seat].get("player") == caller.id


def plays(position: Position, caller: Caller) -> bool:
    """Whether the caller holds a seat of the match."""
    return caller.id is not None and bool(position.seats_of(caller.id))


def referees(position: Position, caller: Caller) -> bool:
    """Whether the caller is a referee of this match: nobody is who plays in it."""
    return caller.referees and not plays(position, caller)


def may_audit(position: Position, caller: Caller) -> bool:
    """Referees at any time; the players of a match when it is over."""
    return referees(position, caller) or (position.status == "over" and plays(position, caller))


def view(game: Game, position: Position, viewer: str) -> dict[str, Any]:
    """The document as its viewer may see it."""
    return game.view(position.document, viewer)


def board(game: Game, position: Position, viewer: str) -> list[str]:
    """The match as lines of text for people, drawn from what its viewer may see; from the same bytes always the same board."""
    return game.board(orjson.loads(written(view(game, position, viewer))), viewer)


def choices(game: Game, position: Position, seat: str) -> list[dict[str, Any]]:
    """What a seat may do; nothing while seats are open.

    The rules list choices in the order of the document's keys, which differs between one folded in memory and one from a snapshot; so
    they are asked about the document with its keys in order, and the same position always gives the same list.
    """
    if position.status != "playing" or seat not in position.document["to_act"]:
        return []
    return legal(game, orjson.loads(written(position.document)), seat)


def shown(game: Game, entry: Entry, viewer: str) -> dict[str, Any]:
    """An entry as its viewer may see it; only an auditor sees its digest.

    Where an event hides something from the viewer, the action might tell it: then only its type is shown, but to its own actor.
    """
    events = [event_shown(game, event, viewer) for event in entry.events]
    action = entry.action
    if events != entry.events and viewer != entry.actor and action["type"] not in PLATFORM_ACTIONS:
        action = {"type": action["type"]}
    told = {"version": entry.version, "actor": entry.actor, "action": action, "events": events, "rules": entry.rules, "at": entry.at}
    if viewer == AUDITOR:
        told["digest"] = entry.digest
    return told


def event_shown(game: Game, event: dict[str, Any], viewer: str) -> dict[str, Any]:
    """A fact as its viewer may see it: the game says so, and for the platform's own facts the first document is a view too."""
    if event["type"] == CREATED:
        return {**event, "document": game.view(event["document"], viewer)}
    if event["type"] == TAKEN:
        return event
    return game.shown(event, viewer)


def match_shown(position: Position) -> dict[str, Any]:
    """Where a match stands, for anybody: every bit of it is open; the secret of the dice is told once the match is over."""
    return {**standing(position), "version": position.version, "rules": position.rules}
