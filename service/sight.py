"""Sight: the one place that decides what a viewer gets.

A viewer is a seat, `spectator` or `auditor`. The rules of the table and of the game redact documents and events. This module redacts what
is around them. Two positions that differ only in hidden information give the same bytes, except for digests and part hashes. Those cover
hidden information through salted hashes, so they reveal nothing. The secret of the dice is hidden from everybody until the match is over.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from events import recall
from events.due import thinking_of
from events.platform import Platform
from events.standings import standing
from games.choices import Choice, complete
from games.kernel import AUDITOR, SPECTATOR, Game, legal
from record.positions import Position
from record.shown import shown as shown
from service.http.directory import Company
from service.http.keys import Caller
from service.http.problems import Problem
from service.http.responses import sorted_json
from service.http.schemas import LARGEST
from table import rules as table_rules
from table.board import board as table_board
from table.state import kept_seats

UNLIMITED = LARGEST


def viewer_of(position: Position, caller: Caller, asked: str | None) -> str:
    """Return the viewer that the caller is: `asked`, or by default a seat of the caller or `spectator`.

    Raise Problem `no_such_seat` or `hidden_view`. `position` is the newest position, also if another version is shown,
    since more viewers are allowed when the match is over.
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
        raise no_such_seat(position, asked)
    if not (position.ended or referees(position, caller) or has_seat(position, caller, asked)):
        raise Problem("hidden_view", viewer=asked)
    return asked


def follows(position: Position, caller: Caller) -> bool:
    """Return True if the caller may see every version of a match at once, also if play is hidden from spectators."""
    return position.begun is None or caller.referees or plays(position, caller)


def seen(platform: Platform, position: Position, caller: Caller) -> Position:
    """Return the newest position that the caller may see of a match whose newest position is given."""
    if follows(position, caller):
        return position
    listed, version = position.listed, position.public_version
    return listed if version == listed.version else recall.state_at(platform, position.match, version)


def is_open(newest: Position, viewer: str) -> bool:
    """Return True if everybody may see what a viewer sees of a match, at every version up to the newest."""
    return newest.ended or (viewer == SPECTATOR and newest.begun is None)


def horizon(platform: Platform, caller: Caller | None, match: str, viewer: str, hides: bool) -> int:
    """Return the newest version that the caller may see as this viewer: 0 for none, or `UNLIMITED`.

    The caller, who is None if the key was revoked, may not be this viewer any more: a player may have left the seat since then, and a
    referee may have taken one or lost the role. `hides`: whether play is hidden from spectators of this match.
    """
    if caller is None:
        return 0
    if viewer == SPECTATOR and not hides:
        return UNLIMITED
    position = recall.position(platform, match)
    try:
        viewer_of(position, caller, viewer)
    except Problem:
        return 0
    return UNLIMITED if follows(position, caller) else position.public_version


def seat_of(position: Position, caller: Caller, asked: str | None) -> str:
    """Return the caller's seat: `asked`, or the one that must act, or the first.

    Raise Problem `no_such_seat`, `not_your_seat` or `not_seated`.
    """
    player = caller.player()
    if asked is not None:
        if asked not in position.roster:
            raise no_such_seat(position, asked)
        if not has_seat(position, caller, asked):
            raise Problem("not_your_seat", seat=asked)
        return asked
    seats = position.seats_of(player)
    if not seats:
        raise Problem("not_seated")
    return acting(position, seats)


def no_such_seat(position: Position, asked: str) -> Problem:
    """Return the problem of a seat that the match does not have."""
    return Problem("no_such_seat", seat=asked, seats=", ".join(sorted(position.roster)))


def seat_or_none(position: Position, caller: Caller, asked: str | None) -> str | None:
    """Return the caller's seat as `seat_of` does, or None if the caller has no seat and the match has an open one, or one is offered."""
    free = position.status == "open" or caller.id in position.table["handovers"].values()
    if asked is None and free and not plays(position, caller):
        return None
    return seat_of(position, caller, asked)


def acting(position: Position, seats: list[str]) -> str:
    """Return the seat that must act, or else the first."""
    to_act = position.document["to_act"]
    return next((seat for seat in seats if seat in to_act), seats[0])


def has_seat(position: Position, caller: Caller, seat: str) -> bool:
    """Return True if the seat is the caller's."""
    return caller.id is not None and position.roster[seat].get("player") == caller.id


def plays(position: Position, caller: Caller) -> bool:
    """Return True if the caller has a seat in the match."""
    return caller.id is not None and bool(position.seats_of(caller.id))


def referees(position: Position, caller: Caller) -> bool:
    """Return True if the caller is a referee who does not play in the match."""
    return caller.referees and not plays(position, caller)


def sees_more(position: Position, caller: Caller, viewer: str) -> bool:
    """Return True if the caller, as this viewer, sees more of a match than spectators do, and only because of being a referee."""
    return not position.ended and referees(position, caller) and (viewer != SPECTATOR or position.begun is not None)


def may_audit(position: Position, caller: Caller) -> bool:
    """Return True for everybody when the match has ended, and for referees at any time."""
    return position.ended or referees(position, caller)


def view(game: Game, position: Position, viewer: str) -> dict[str, Any]:
    """Return the document as its viewer may see it."""
    return game.view(position.document, viewer)


def view_read(game: Game, position: Position, viewer: str) -> dict[str, Any]:
    """Return the document as its viewer reads it: with its members in the order of their names, and so in no order that could tell more."""
    read: dict[str, Any] = orjson.loads(sorted_json(view(game, position, viewer)))
    return read


def board(game: Game, position: Position, viewer: str, company: Company) -> list[str]:
    """Return the match as lines of text, drawn from what its viewer may see: the table, then the game."""
    return table_board(table_rules.view(position.table, viewer), company.name) + game.board(view_read(game, position, viewer), viewer)


def choices(game: Game, position: Position, seat: str | None, player: str) -> list[Choice]:
    """Return what a player may do: as a seat in the game, if it is to act and no artificial player plays it, and then at the table.

    The action of each choice is complete. Those at the table have a mark, so that who only wants to play can leave them out.
    """
    table, document = position.table, position.document
    listed: list[Choice] = []
    at_table = table_rules.legal(game, table, document, player)
    if seat is not None:
        if seat in position.to_act and seat not in table["substitutes"]:
            listed += map(with_counts, legal(game, document, seat))
        at_table = table_rules.legal_for_seat(game, table, document, seat, position.version, position.fixed) + at_table
    return [*listed, *({**with_counts(choice), "at_table": True} for choice in at_table)]


def with_counts(choice: Choice) -> Choice:
    """Return a choice whose action can be submitted as it is: an open one with the least counts that its ranges allow."""
    if "choose" not in choice:
        return choice
    return {**choice, "action": complete(choice["action"], choice["choose"], lambda below: 0)}


def match_shown(platform: Platform, position: Position, caller: Caller, company: Company) -> dict[str, Any]:
    """Return the standing of a match, which everybody may see. It has the secret of the dice once the match has ended.

    The creator also sees the code that the match asks for while a seat is open.
    """
    code = recall.code_of(platform, position) if caller.id == position.table["creator"] else None
    thinking = thinking_of(position)
    return {
        **with_defaults(platform.games, standing(position)),
        **({} if code is None else {"code": code}),
        "thinking": None if thinking is None else thinking._asdict(),
        "version": position.version,
        "updated": position.at,
        "rules": position.rules,
        "players": company.players,
    }


def with_defaults(games: Mapping[str, Game], standing: Mapping[str, Any]) -> dict[str, Any]:
    """Return a standing with the defaults of the options that the match was not given, by the rules that it began with."""
    game = games[standing["game"]]
    rules = game.of_revision(standing["revision"]) or game
    return {**standing, "options": rules.with_defaults(standing["options"])}


def players_at(position: Position) -> set[str]:
    """Return the players of a match: its creator, those who have a seat, those for whom one is kept or offered, and its referees."""
    table = position.table
    return players_listed(
        {
            "creator": table["creator"],
            "seats": position.roster,
            "invited": kept_seats(table),
            "handovers": table["handovers"],
            "disputes": table["disputes"],
        }
    )


def players_listed(standing: Mapping[str, Any]) -> set[str]:
    """Return the players of a standing: the creator of the match, those who have a seat, those for whom one is kept or offered, and the
    referees of its disputes."""
    seated = (occupant["player"] for occupant in standing["seats"].values() if "player" in occupant)
    kept = standing["invited"].values()
    referees = (ruling["referee"] for dispute in standing["disputes"] for ruling in dispute["rulings"])
    return {standing["creator"], *seated, *kept, *standing["handovers"].values(), *referees}
